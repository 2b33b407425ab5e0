"""Progress of long work: one signature for every function that reports it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Note", "Progress", "silent", "within"]

#: Called with what is being done and the share of it that is finished, from 0 to 1.
Progress = Callable[[str, float], None]


class Note(str):
    """What the user should know: passed to `progress` in place of an activity, and shown to stay."""


def silent(what: str, share: float) -> None:
    """Report nothing."""


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
