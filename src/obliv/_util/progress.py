"""Progress of long work: one signature for every function that reports it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple

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


# The cost of work: long work is announced before it begins, and refused where it cannot fit in memory


_SECONDS, _BYTES = 10.0, 2.0**30  # work below both is not announced
_TRIAL = 1.0  # seconds of work that tell how long the rest takes
_SMALL = 2**14  # bytes that are always granted, as asking the system takes longer than small problems


class Cost(Note):
    """What long work will take: passed to `progress` before the work begins.

    Attributes
    ----------
    seconds : float
        The time in it.
    """

    seconds: float

    def __new__(cls, text: str, seconds: float = 0.0) -> Cost:
        cost = super().__new__(cls, text)
        cost.seconds = seconds
        return cost


class Work(NamedTuple):
    """An estimate of work: seconds of processor time, and bytes of memory at a time."""

    seconds: float = 0.0
    memory: float = 0.0


def announce(progress: Progress, what: str, work: Work, *, rough: bool = False) -> None:
    """Pass what work will take to `progress` if that is more than 10 seconds or 1 GiB.

    Parameters
    ----------
    progress : callable
    what : str
    work : Work
    rough : bool
        Whether the estimate may be twice too large; work is then refused only if half of it does not fit.

    Raises
    ------
    TooLargeError
        If it needs more memory than is free.

    Examples
    --------
    >>> announce(lambda what, share: print(what), "the pair loads of ecmp", Work(200.0, 5e9))
    the pair loads of ecmp: about 3 minutes and 4.7 GiB
    """
    require_memory(work.memory / 2 if rough else work.memory, what)
    if work.seconds > _SECONDS or work.memory > _BYTES:
        memory = f" and {work.memory / 2**30:.2g} GiB" if work.memory > _BYTES / 10 else ""
        progress(Cost(f"{what}: about {duration(work.seconds)}{memory}", work.seconds), 0.0)


_LISTENER: ContextVar[Progress] = ContextVar("listener", default=silent)


@contextmanager
def listening(progress: Progress) -> Iterator[None]:
    """Pass the cost of work whose functions have no `progress` to this one, inside a ``with`` statement."""
    before = _LISTENER.set(progress)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def announce_here(what: str, work: Work) -> None:
    """Announce work to the progress function of :func:`listening`, as :func:`announce` does."""
    announce(_LISTENER.get(), what, work)


def announce_here_as(what: str, share: float) -> None:
    """Pass on to the progress function of :func:`listening` what another process announced."""
    _LISTENER.get()(what, share)


def forecast(progress: Progress, what: str, memory: float = 0.0) -> Progress:
    """Return a progress function for work in equal steps, which announces it a second after the first step.

    What comes before the end of the first step, such as compiling, tells nothing of the others, unless it takes long.

    Parameters
    ----------
    progress : callable
    what : str
        The work; it begins now.
    memory : float
        Bytes that it takes.
    """
    start = time.process_time(), time.perf_counter()
    begun: tuple[tuple[float, float], float] | None = None  # when the first step was done, and its share
    announced = False

    def step(part: str, share: float) -> None:
        nonlocal announced, begun
        if not announced and share > 0:
            if begun is None:
                long = _since(start) > _SECONDS
                begun = (start, 0.0) if long else ((time.process_time(), time.perf_counter()), share)
            spent = _since(begun[0])
            if spent > _TRIAL and share > begun[1]:
                announced = True
                announce(progress, what, Work(spent / (share - begun[1]), memory))
        progress(part, share)

    return step


def _since(start: tuple[float, float]) -> float:
    """Return seconds of work: several threads use more processor time, a busy machine takes more real time."""
    return min(time.process_time() - start[0], time.perf_counter() - start[1])


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
