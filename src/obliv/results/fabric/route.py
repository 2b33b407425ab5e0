"""The result of rerouting a fabric: new forwarding tables compared with the old ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.codec import TEXT_OR_NULL, Record, codec_of, derived, entry

__all__ = ["Attempt", "FabricRoute", "Standing"]

_TEXT = codec_of(str)


@dataclass(frozen=True)
class Standing(Record):
    """The quality of forwarding tables.

    Parameters
    ----------
    load : Fraction
        The exact worst load of a channel, over all permutations of the pairs that arrive.
    missing : int
        Ordered pairs of endpoints that do not reach each other.
    deadlock : bool
        Whether the routes form a credit loop.
    lmc : int
        Endpoints have 2**lmc LIDs.
    lanes : int
        The virtual lanes on which `deadlock` holds.
    """

    load: Fraction = entry(key="channel_load", column="channel_load")
    missing: int = entry(key="missing_pairs", column="missing_pairs")
    deadlock: bool = entry(column="deadlock")
    lmc: int = entry(column="lmc")
    lanes: int = entry(1, column="lanes", omit=lambda standing: standing.lanes == 1)

    @property
    def rank(self) -> tuple[bool, int, Fraction, int, int]:
        """Key for sorting: the smaller, the better."""
        return self.deadlock, self.missing, self.load, self.lmc, self.lanes

    def __str__(self) -> str:
        pairs = f"{self.missing} pairs missing" if self.missing else "all pairs"
        lanes = f" on {self.lanes} lanes" if self.lanes > 1 else ""
        return f"worst load {self.load}, {pairs}, {'credit loops' if self.deadlock else 'no credit loop'}{lanes}"


@dataclass(frozen=True)
class Attempt(Record):
    """An engine that was tried: the quality of its tables, or the reason why it gave no tables."""

    engine: str
    standing: Standing | None = None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the engine with the entries of its standing, or with the reason."""
        return {"engine": self.engine} | (self.standing.to_dict() if self.standing else {"reason": self.reason})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Attempt:
        """Return the attempt that :meth:`to_dict` wrote."""
        if "reason" in data:
            return cls(_TEXT.decode(data["engine"]), None, _TEXT.decode(data["reason"]))
        return cls(_TEXT.decode(data["engine"]), Standing.from_dict(data))


@dataclass(frozen=True, repr=False)
class FabricRoute(Result):
    """New forwarding tables for a fabric, compared with the old ones.

    Parameters
    ----------
    engine : str
        The engine of the tables; "kept" where the old ones are better and are returned.
    offset : str
        Which of a destination's LIDs a source uses, as :func:`obliv.fabric.routing` takes it.
    shape : str
        The fat tree that was recognized, or "".
    before : Standing or None
        Of the old tables, where there were any.
    after : Standing
        Of `tables`.
    tried : tuple of Attempt
        The engines tried.
    lower_bound : Fraction or None
        A lower bound of the worst load of single paths that connect all pairs (on fat trees, of paths that climb and
        then descend), also where cables are missing; None where no bound is known.
    bound_source : str
        The theorem or argument that gives it.
    notes : tuple of str
    output : str or None
        The file to which the tables were written.
    policy : str or None
        The file to which the service levels of pairs were written, where they take several lanes.
    rules : int or None
        The number of rules in it; the subnet manager goes through them for each path record.
    sl2vl : str or None
        The file to which the SL-to-VL tables were written, where packets change the lane on the way.
    tables, levels, lane_tables, fabric
        The tables, the service levels of pairs where they take several lanes, the SL-to-VL tables where packets change
        the lane on the way, and the fabric with the LIDs that they are for; not saved.

    Examples
    --------
    >>> import obliv
    >>> obliv.fabric.route(obliv.fabric.from_topology(obliv.fattree(4, 2)))
    fabric route: dmodk on FT(4,2)
      osrm2  worst load 2, all pairs, no credit loop, LMC 1
      dmodk  worst load 2, all pairs, no credit loop  <- written
      LMC    0
      bound  at least 2 for single paths (Yuan et al., Theorem 3), so these are optimal
    """

    kind: ClassVar[str] = "fabric-route"

    routing: str = entry("", codec=TEXT_OR_NULL)
    engine: str = ""

    @property
    @derived(label="LMC", text=lambda route: route.lmc_text)
    def lmc(self) -> int:
        """The LMC: every host has 2**lmc LIDs; OpenSM's option ``-l``."""
        return self.after.lmc

    offset: str = "0"
    shape: str = entry("", codec=TEXT_OR_NULL)
    before: Standing | None = None
    after: Standing = entry(Standing(Fraction(0), 0, False, 0))
    tried: tuple[Attempt, ...] = ()
    lower_bound: Fraction | None = entry(
        None,
        label="bound",
        text=lambda route: None if route.lower_bound is None else route.bound_text,
        omit=lambda route: route.lower_bound is None,
    )
    bound_source: str = entry("", omit=lambda route: not route.bound_source)
    notes: tuple[str, ...] = ()
    output: str | None = None
    policy: str | None = entry(None, omit=lambda route: route.policy is None)
    rules: int | None = entry(None, omit=lambda route: route.rules is None)
    sl2vl: str | None = entry(None, omit=lambda route: route.sl2vl is None)
    tables: Any = entry(None, compare=False, hidden=True)
    levels: Any = entry(None, compare=False, hidden=True)
    lane_tables: Any = entry(None, compare=False, hidden=True)
    fabric: Any = entry(None, compare=False, hidden=True)

    @property
    def kept(self) -> bool:
        """Whether the old tables are returned because no better ones were computed."""
        return self.engine == "kept"

    @property
    def lmc_text(self) -> str:
        """The LMC, and the offsets that sources use if it is not 0."""
        return str(self.lmc) + (f", sources use the offset {self.offset}" if self.lmc else "")

    @property
    def bound_text(self) -> str:
        """The lower bound as text, and whether the tables attain it."""
        best = ", so these are optimal" if self.after.load == self.lower_bound and not self.after.missing else ""
        return f"at least {self.lower_bound} for single paths ({self.bound_source}){best}"

    @property
    def title(self) -> str:
        """The heading: what was routed, in one line."""
        return f"fabric route: {self.engine} on {self.shape or self.topology.removeprefix('fabric:')}"

    @property
    def compared(self) -> tuple[Attempt, ...]:
        """The tables in use, then the engines tried."""
        return (() if self.before is None else (Attempt("in use", self.before),)) + self.tried

    def summary(self) -> list[tuple[str, str]]:
        """Return a line for each table, the LMC, and the notes."""
        lines = []
        for attempt in self.compared:
            text = str(attempt.standing or attempt.reason)
            text += f", LMC {attempt.standing.lmc}" if attempt.standing and attempt.standing.lmc else ""
            lines.append((attempt.engine, text + ("  <- written" if attempt.engine == self.engine else "")))
        return [*lines, *super().summary(), *(("note", note) for note in self.notes)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for the tables in use, and one for each engine that was tried."""
        for attempt in self.compared:
            written = attempt.engine == self.engine
            standing = dict.fromkeys(Standing.header()) if attempt.standing is None else attempt.standing.cells()
            yield {
                "tables": attempt.engine,
                "written": written,
                **standing,
                "offset": self.offset if written else None,
                "remark": attempt.reason,
            }
