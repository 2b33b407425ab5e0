"""Packets on leveled networks without buffers: instances, schedules, and the check of every move."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "instances": "obliv.bufferless.orient",
    "schedule": "obliv.bufferless.algorithms",
    "schedules": "obliv.bufferless.algorithms",
    "verify": "obliv.bufferless.algorithms",
    "load_instance": "obliv.bufferless.instance",
    "ALGORITHMS": "obliv.bufferless.algorithms",
}

__all__ = ["ALGORITHMS", "instance", "instances", "load_instance", "schedule", "schedules", "verify"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "instance":  # a module that can be called
        return importlib.import_module("obliv.bufferless.instance")
    raise AttributeError(f"module 'obliv.bufferless' has no attribute {name!r}")
