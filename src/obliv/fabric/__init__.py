"""InfiniBand fabrics: read what a cluster says of itself, check it, find its worst traffic, route it anew."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Fabric": "fabric",
    "Finding": "fabric",
    "Tables": "tables",
    "read": "read",
    "read_fabric": "read",
    "read_tables": "read",
    "check": "check",
    "network": "network",
    "routing": "routing",
    "worst": "worst",
    "ratio": "ratio",
    "throughput": "throughput",
    "shifts": "shifts",
    "average": "average",
    "bisection": "bisection",
    "route": "route",
    "export": "export",
    "to_networkx": "export",
    "write_net": "net",
    "write_tables": "write",
    "from_topology": "generate",
    "from_routing": "generate",
    "tables_of": "generate",
    "trace": "trace",
    "recognise": "shape",
}
#: Modules with a function of their name, which can be called: ``obliv.fabric.read(...)``.
_CALLED = {name for name, home in _HOMES.items() if name == home}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'obliv.fabric' has no attribute {name!r}")
    module = importlib.import_module(f"obliv.fabric.{_HOMES[name]}")
    return module if name in _CALLED else getattr(module, name)


def __dir__() -> list[str]:
    return __all__
