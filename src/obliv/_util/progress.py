"""Progress of long work, interrupts that wait, time limits, and memory that is refused before the work begins."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from obliv.errors import TooLargeError

#: Called with what is being done and the share of it that is finished, from 0 to 1.
Progress = Callable[[str, float], None]

#: How names of threads begin that wait and hold no lock: a process with such threads can be copied.
IDLE = "obliv-idle"


class Note(str):
    """What the user should know: passed to `progress` in place of an activity, and shown to stay."""


def silent(what: str, share: float) -> None:
    """Report nothing."""


def rising(progress: Progress | None) -> Progress:
    """Return a progress function whose share never falls, for all of one call; one that reports nothing for None.

    Examples
    --------
    >>> step = rising(lambda what, share: print(what, share))
    >>> step("first search", 0.9), step("second search", 0.2)
    first search 0.9
    second search 0.9
    (None, None)
    """
    if progress is None or progress is silent:
        return silent
    most = 0.0

    def step(what: str, share: float) -> None:
        nonlocal most
        most = min(max(most, share), 1.0)
        progress(what, most)

    return step


def within(progress: Progress, begin: float, end: float) -> Progress:
    """Return a progress function for one part of a longer task, from share `begin` to share `end`.

    Examples
    --------
    >>> within(lambda what, share: print(what, share), 0.5, 1.0)("second half", 0.5)
    second half 0.75
    """

    def part(what: str, share: float) -> None:
        progress(what, begin + (end - begin) * share)

    return part


# Memory: what does not fit is refused before the work begins, and times as they are said


_SMALL = 2**14  # bytes that are always granted, as asking the system takes longer than small problems


def duration(seconds: float) -> str:
    """Return a time in the largest unit of which it has two.

    Examples
    --------
    >>> duration(119), duration(120)
    ('119 seconds', '2 minutes')
    """
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 2 else "a second"


def require_memory(needed: float, what: str) -> None:
    """Raise TooLargeError, with `what` at the start of its message, unless `needed` bytes fit in the free memory."""
    if needed <= _SMALL:
        return
    free = free_memory()
    if needed > 0.9 * free:
        room = f"{_gigabytes(free)} are free" + ", a tenth of which is not used" * (needed <= free)
        raise TooLargeError(f"{what} would need about {_gigabytes(needed)} and {room}: choose a smaller network")


def _gigabytes(size: float) -> str:
    return f"{size / 2**30:,.0f} GiB" if size >= 100 * 2**30 else f"{size / 2**30:.3g} GiB"


def free_memory() -> float:
    """Return the bytes of memory that are free."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    return 8.0 * 2**30  # if the system does not say


# Interrupts that wait while code in C runs that does not bear them


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


# A time limit that long checks consult between units of work


class OutOfTimeError(Exception):
    """The time limit of a check has passed."""


@dataclass(frozen=True)
class TimeLimit:
    """The moment at which a check ends, on the clock of ``time.perf_counter``."""

    end: float

    def check(self) -> None:
        """Raise OutOfTimeError if the moment has passed."""
        if time.perf_counter() > self.end:
            raise OutOfTimeError

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.end - time.perf_counter())
