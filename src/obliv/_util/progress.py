"""Progress of long work: one signature for every function that reports it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["IDLE", "Note", "Progress", "rising", "silent", "within"]

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
