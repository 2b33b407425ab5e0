"""What failures of cables and switches do to the guarantees of a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import plural
from obliv.results.base import CERTIFICATE, Result
from obliv.results.codec import Record, entry
from obliv.results.format import shown

__all__ = ["FailureRow", "FailureState", "Failures", "unfinished"]

_LISTED = 2  # failures in the short form


@dataclass(frozen=True)
class FailureState(Record):
    """A network without failures.

    Parameters
    ----------
    channel_load : Fraction
        The worst channel load.
    channel : str
        A channel that has it.
    missing : int
        Ordered pairs whose packets do not arrive.
    deadlock : bool or None
        Whether there is a credit loop on a single lane; None where it was not checked.
    """

    channel_load: Fraction = Fraction(0)
    channel: str = ""
    missing: int = 0
    deadlock: bool | None = entry(None, reason="not checked")


@dataclass(frozen=True)
class FailureRow(Record):
    """What is left after a failure.

    Parameters
    ----------
    failed : str
    pairs_lost : int
        Ordered pairs of hosts whose packets arrived before and no longer do.
    channel_load : Fraction
        The worst channel load over all admissible traffic, exact.
    channel : str
        A channel that has it.
    deadlock : bool or None
        Whether there is a credit loop on a single lane; None where it was not checked.
    alike : int
        How many failures this row stands for: those that a verified symmetry carries onto each other.
    """

    failed: str = entry("", column="failed")
    pairs_lost: int = entry(0, column="pairs_lost")
    channel_load: Fraction = entry(Fraction(0), column="channel_load")
    channel: str = entry("", column="channel")
    deadlock: bool | None = entry(None, column="deadlock", reason="not checked")
    alike: int = entry(1, column="alike")

    @property
    def rank(self) -> tuple[bool, int, Fraction]:
        """What failures are compared by: a credit loop, then lost pairs, then the worst load."""
        return bool(self.deadlock), self.pairs_lost, self.channel_load


@dataclass(frozen=True, repr=False)
class Failures(Result):
    """The exact worst case after each failure, the most harmful first.

    Failures are ranked by whether a credit loop comes up, then by the pairs that they cut off, then by the worst load.

    Parameters
    ----------
    of : str
        What failed: ``cables``, ``lanes``, ``switches``, ``links``, ``nodes``, or ``given``.
    repair : str
        What happens to the routes: ``keep``, ``refill``, or how they are computed anew.
    before : FailureState
    failures : tuple of FailureRow
    orbits : int, optional
        How many kinds of failures there are, if those that verified symmetries carry onto each other are one kind; None
        where no symmetries were sought.
    notes : tuple of str
        What else to know.
    certificate : dict, optional
        What proves the figures.
    top : int, optional
        How many failures the text and the rows list; default: two in the text, and all in rows. JSON has all.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> obliv.fabric.failures(routing)
    failures: lft:dmodk on fabric:fattree:4,2
      failures      8 cables, routes: keep
      before        worst load 2
      largest load  2
      most lost     12 pairs
      rank 1        12 pairs lost, worst load 2   switch((0),1) port 3 - switch((0),0) port 1
      rank 2        12 pairs lost, worst load 2   switch((0),1) port 4 - switch((1),0) port 1
                    and 6 more, all in CSV
    """

    kind: ClassVar[str] = "failures"
    table: ClassVar[str] = "failures"

    of: str = "cables"
    repair: str = "keep"
    before: FailureState = entry(default_factory=FailureState)
    failures: tuple[FailureRow, ...] = entry((), key="rows", rank=2)
    orbits: int | None = entry(None, omit=lambda after: after.orbits is None, rank=3)
    notes: tuple[str, ...] = entry((), rank=3)
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda after: after.certificate is None, rank=4
    )
    top: int | None = entry(None, compare=False, hidden=True)

    @property
    def count(self) -> int:
        """The number of failures, each of those that are alike counted."""
        return sum(row.alike for row in self.failures)

    @property
    def worst_load(self) -> Fraction:
        """The largest worst load after a failure."""
        return max((row.channel_load for row in self.failures), default=Fraction(0))

    @property
    def most_lost(self) -> int:
        """The largest number of pairs that a failure cuts off."""
        return max((row.pairs_lost for row in self.failures), default=0)

    @property
    def _listed(self) -> int:
        return _LISTED if self.top is None else self.top

    def _after(self) -> str:
        """Return the failure after which the load is largest, if it is not among those that are listed."""
        worst = self.worst_load  # a maximum over all rows
        at = next((place for place, row in enumerate(self.failures) if row.channel_load == worst), 0)
        return "" if at < self._listed else f"   after {self.failures[at].failed}"

    def cells(self) -> dict[str, Any]:
        """Return nothing: rows have the columns of their failures alone."""
        return {}

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from (row.cells() for row in self.failures[: self.top])

    def summary(self) -> list[tuple[str, str]]:
        many = "of what is given" if self.of == "given" else f"{self.count:,} {self.of}"
        loops = sum(row.alike for row in self.failures if row.deadlock)
        lines = [
            ("failures", f"{many}, routes: {self.repair}"),
            ("before", state_text(self.before)),
            ("largest load", shown(self.worst_load) + self._after()),
            ("most lost", plural(self.most_lost, "pair")),
        ]
        if self.orbits is not None:
            lines.append(("kinds", f"{self.orbits:,}, by verified symmetries"))
        if loops and not self.before.deadlock:
            lines.append(("credit loops", f"on one lane, after {plural(loops, 'failure')}"))
        for number, row in enumerate(self.failures[: self._listed], 1):
            alike = f"   (and {row.alike - 1:,} alike)" if row.alike > 1 else ""
            lines.append((f"rank {number}", f"{row_text(row)}   {row.failed}{alike}"))
        if (more := len(self.failures) - self._listed) > 0:
            lines.append(("", f"and {more:,} more" + ", all in CSV" * (self.top is None)))
        return [*lines, *(("note", text) for text in self.notes)]


def state_text(state: FailureState) -> str:
    """Return in words the worst load, missing pairs and a credit loop."""
    missing = f", {plural(state.missing, 'pair')} missing" if state.missing else ""
    return f"worst load {shown(state.channel_load)}{missing}{', a credit loop on one lane' if state.deadlock else ''}"


def row_text(row: FailureRow) -> str:
    """Return what a failure does in words."""
    loop = ", credit loop on one lane" if row.deadlock else ""
    return f"{plural(row.pairs_lost, 'pair')} lost, worst load {shown(row.channel_load)}{loop}"


def unfinished(done: int, count: int) -> tuple[str, ...]:
    """Return the notes of a result that was interrupted after some of its failures; none where all are done."""
    return (f"interrupted: {count - done:,} of {plural(count, 'failure')} are not among these",) if done < count else ()
