"""Packets on leveled networks without buffers: instances, schedules, and the check of every move."""

from __future__ import annotations

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
