"""Oblivious routing in interconnection networks: exact worst-case traffic with proofs.

>>> import obliv
>>> topology = obliv.topology("torus:9x9")
>>> obliv.worst_case(obliv.routing("romm", topology)).channel_load
Fraction(32, 5)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from obliv import _builtin as _builtin
from obliv import capabilities as _capabilities
from obliv._util.lazy import attach

__version__ = "0.2.0"


class _OldNames:
    """The last finder of modules: it says where those of earlier releases are now, by the table ``_moved.txt``."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for a module that was moved; called for missing modules only."""
        if name.startswith("obliv."):
            for line in Path(__file__).with_name("_moved.txt").read_text("ascii").splitlines():
                new, _, old = line.partition(": ")
                if name.removeprefix("obliv.") in old.split():
                    raise ModuleNotFoundError(
                        f"{name} is in obliv.{new} now; what is public is in obliv itself", name=name
                    )


if not any(finder.__name__ == "_OldNames" for finder in sys.meta_path if isinstance(finder, type)):
    sys.meta_path.append(_OldNames)
_exported, __dir__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return what the package exports, or the function of a capability, such as one that another package declares."""
    try:
        return _exported(name)
    except AttributeError:
        one = None if name.startswith("_") else _capabilities.named(name.replace("_", "-"))
        if one is None or not one.function or not one.summary:
            raise
    return _capabilities.load(one.function)
