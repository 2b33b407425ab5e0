"""Interrupts that wait while code in C runs that does not bear them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["admitted", "deferred"]


class _Waiting:
    """A handler that keeps an interrupt for the handler that was there before."""

    def __init__(self, before: Callable[[int, FrameType | None], Any]) -> None:
        self.before = before
        self._seen: tuple[int, FrameType | None] | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._seen = number, frame

    def deliver(self) -> None:
        seen, self._seen = self._seen, None
        if seen is not None:
            self.before(*seen)


@contextmanager
def deferred() -> Iterator[None]:
    """Let an interrupt come at the end of a ``with`` statement instead of within it.

    Extensions in C that are interrupted while they are imported print a traceback, report another error or crash; so
    does compiled code that calls Python, as it does for records.
    """
    before = signal.getsignal(signal.SIGINT)
    waits = isinstance(before, _Waiting)  # for the end of a statement around this one
    if waits or not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting = _Waiting(before)
    signal.signal(signal.SIGINT, waiting)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        waiting.deliver()


@contextmanager
def admitted() -> Iterator[None]:
    """Let an interrupt come within a ``with`` statement although it stands within :func:`deferred`."""
    waiting = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not isinstance(waiting, _Waiting):
        yield
        return
    signal.signal(signal.SIGINT, waiting.before)
    try:
        waiting.deliver()
        yield
    finally:
        signal.signal(signal.SIGINT, waiting)
