"""Interrupts that wait while libraries are imported that do not bear them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["deferred"]


@contextmanager
def deferred() -> Iterator[None]:
    """Let an interrupt come at the end of a ``with`` statement instead of within it.

    Extensions in C that are interrupted while they are imported print a traceback, report another error or crash.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    seen: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if seen:
            before(*seen[0])
