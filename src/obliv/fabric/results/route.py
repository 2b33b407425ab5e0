"""The result of rerouting a fabric: new forwarding tables compared with the old ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import shortened
from obliv.results.base import Bar, Bars, Mark, Result
from obliv.results.codec import TEXT_OR_NULL, Record, codec_of, derived, entry
from obliv.results.numbers import Estimate, as_float, brief

__all__ = ["FIGURES", "IN_USE", "Attempt", "FabricRoute", "ShiftLoads", "Standing"]

IN_USE = "in use"  #: The name of the old tables among the candidates.

_TEXT, _FLAG = codec_of(str), codec_of(bool)

#: The figures of tables by name, the smaller, the better, and the headings of their columns.
FIGURES = {
    "worst": "worst",
    "uniform": "uniform",
    "worst-shift": "shifts",
    "mean-shift": "mean shift",
    "random": "random",
    "idle": "idle",
    "lids": "LIDs",
}

_REASON = 52  # characters of the reason why an engine gave no tables


@dataclass(frozen=True)
class ShiftLoads(Record):
    """The largest loads under shifts of the hosts, in the order of the file, all but that by 0.

    Parameters
    ----------
    worst, mean : Fraction
        Over all shifts.
    """

    worst: Fraction = entry(Fraction(0), column="worst_shift")
    mean: Fraction = entry(Fraction(0), column="mean_shift")


@dataclass(frozen=True)
class Standing(Record):
    """The quality of forwarding tables; pairs that do not reach each other are in no load.

    Parameters
    ----------
    worst : Fraction
        The exact worst load of a channel, over all permutations.
    uniform : Fraction
        The exact largest load under uniform traffic, self-pairs included.
    shifts : ShiftLoads or None
        None for a single host.
    random : Estimate or None
        The mean largest load of random permutations, the same ones for all tables.
    idle_channels : int
        Channels between switches that no route uses.
    missing : int
        Ordered pairs of endpoints that do not reach each other.
    credit_loops : bool
        Whether the routes form a credit loop.
    lmc : int
        Endpoints have 2**lmc LIDs.
    lids : int
        LIDs of all ports.
    lanes : int
        The virtual lanes on which `credit_loops` holds.
    """

    worst: Fraction = entry(column="worst_load")
    uniform: Fraction = entry(column="uniform_load")
    shifts: ShiftLoads | None = entry(None, column="shifts")
    random: Estimate | None = entry(None, column="random_load")
    idle_channels: int = entry(0, column="idle_channels")
    missing: int = entry(0, key="missing_pairs", column="missing_pairs")
    credit_loops: bool = entry(False, column="credit_loops")
    lmc: int = entry(0, column="lmc")
    lids: int = entry(0, column="lids")
    lanes: int = entry(1, column="lanes", omit=lambda standing: standing.lanes == 1)

    @property
    def figures(self) -> dict[str, Fraction | int | float]:
        """What can be better or worse, by the names of `FIGURES`; 0 for what a single host does not have."""
        shifts = self.shifts or ShiftLoads()
        random = 0 if self.random is None else self.random.value
        values = self.worst, self.uniform, shifts.worst, shifts.mean, random, self.idle_channels, self.lids
        return dict(zip(FIGURES, values, strict=True))

    def grown(self, before: Standing | None) -> set[str]:
        """Return the names of the figures that are larger than before; estimates beyond three standard errors."""
        if before is None:
            return set()
        old, new = before.figures, self.figures
        larger = {name for name in new if new[name] > old[name]}
        if self.random is not None and before.random is not None:
            error = (self.random.stderr**2 + before.random.stderr**2) ** 0.5
            if self.random.value <= before.random.value + 3 * error:
                larger.discard("random")
        return larger

    def __str__(self) -> str:
        figures = [f"worst load {brief(self.worst)}", f"uniform {brief(self.uniform)}"]
        figures += [] if self.shifts is None else [f"mean shift {brief(self.shifts.mean)}"]
        figures += [f"{self.missing} pairs missing"] if self.missing else []
        figures += ["credit loops"] if self.credit_loops else []
        return ", ".join(figures) + (f" on {self.lanes} lanes" if self.lanes > 1 else "")


@dataclass(frozen=True)
class Attempt(Record):
    """Tables in use or of an engine: their quality, or the reason why there are none.

    Parameters
    ----------
    engine : str
        Its name, or ``in use``.
    standing : Standing or None
    reason : str
    chosen : bool
        Whether these tables are the answer.
    """

    engine: str
    standing: Standing | None = None
    reason: str = ""
    chosen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the engine with the entries of its standing, or with the reason."""
        rest = self.standing.to_dict() if self.standing else {"reason": self.reason}
        return {"engine": self.engine, "chosen": self.chosen} | rest

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Attempt:
        """Return the attempt that :meth:`to_dict` wrote."""
        engine, chosen = _TEXT.decode(data["engine"]), _FLAG.decode(data["chosen"])
        if "reason" in data:
            return cls(engine, None, _TEXT.decode(data["reason"]), chosen)
        return cls(engine, Standing.from_dict(data), "", chosen)


@dataclass(frozen=True, repr=False)
class FabricRoute(Result):
    """New forwarding tables for a fabric, compared with the old ones.

    Parameters
    ----------
    engine : str
        The engine of the tables; "kept" where the old ones are better and are returned.
    by : str
        The figure by which tables are chosen: ``worst``, ``uniform``, ``shifts`` or ``balanced``.
    offset : str
        Which of a destination's LIDs a source uses, as :func:`obliv.fabric.routing` takes it.
    shape : str
        The tree that was recognized, or "".
    candidates : tuple of Attempt
        The tables in use, if any, and those of the engines tried.
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
      tables   worst  uniform  shifts  mean shift  random       idle  LIDs
      osrm2    2      7/8      1       1           1.61 ± 0.03  0     22    LMC 1
      osrm2-c  2      7/8      1       1           1.58 ± 0.03  0     22    LMC 1
      dmodk    2      7/8      1       1           1.58 ± 0.03  0     14    <- written
      updown   one LID a host allows no smaller worst case, uniform load or shift than dmodk
      bound    worst load at least 2 for single paths (Yuan et al., Theorem 3): none have a smaller one
    """

    kind: ClassVar[str] = "fabric-route"

    routing: str = entry("", codec=TEXT_OR_NULL)
    engine: str = ""
    by: str = "worst"

    @property
    @derived()
    def lmc(self) -> int:
        """The LMC: every host has 2**lmc LIDs; OpenSM's option ``-l``."""
        return self.after.lmc

    offset: str = "0"
    shape: str = entry("", codec=TEXT_OR_NULL)
    candidates: tuple[Attempt, ...] = ()
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
    def before(self) -> Standing | None:
        """The quality of the tables in use, None without any."""
        return next((one.standing for one in self.candidates if one.engine == IN_USE), None)

    @property
    def after(self) -> Standing:
        """The quality of the tables of the answer."""
        return next(one.standing for one in self.candidates if one.chosen and one.standing is not None)

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """The engines tried."""
        return tuple(one for one in self.candidates if one.engine != IN_USE)

    @property
    def kept(self) -> bool:
        """Whether the old tables are returned because no better ones were computed."""
        return self.engine == "kept"

    @property
    def bound_text(self) -> str:
        """The lower bound as text, and whether the tables attain it."""
        best = ": none have a smaller one" if self.after.worst == self.lower_bound and not self.after.missing else ""
        return f"worst load at least {self.lower_bound} for single paths ({self.bound_source}){best}"

    @property
    def title(self) -> str:
        """The heading: what was routed, in one line."""
        return f"fabric route: {self.engine} on {self.shape or self.topology.removeprefix('fabric:')}"

    def summary(self) -> list[tuple[str, str]]:
        """Return a table of all figures, and the notes; figures that are larger than those in use have a star."""
        before, grown = self.before, False
        table: list[tuple[str, ...]] = [tuple(FIGURES.values())]
        for one in self.candidates:
            larger = set() if one.standing is None else one.standing.grown(before)
            grown |= bool(larger)
            table.append(() if one.standing is None else _cells(one.standing, larger))
        width = [max(len(row[column]) for row in table if row) for column in range(len(FIGURES))]
        text = ["  ".join(f"{cell:<{size}}" for cell, size in zip(row, width, strict=False)) for row in table]
        lines = [("tables", text[0].rstrip())]
        for one, row in zip(self.candidates, text[1:], strict=True):
            lines.append((one.engine, "  ".join([row, *self._remarks(one)]).rstrip() if row else one.reason))
        if grown:
            lines.append(("*", "larger than in use"))
        if self.after.lmc and self.offset != "0":
            lines.append(("offsets", f"sources use {self.offset}"))
        return [*lines, *super().summary(), *(("note", note) for note in self.notes)]

    def _remarks(self, one: Attempt) -> Iterator[str]:
        """Yield what else is to be said about some tables."""
        standing = one.standing
        if standing is None:
            return
        words = [
            f"{standing.missing} pairs missing" if standing.missing else "",
            "credit loops" if standing.credit_loops else "",
            f"{standing.lanes} lanes" if standing.lanes > 1 else "",
            f"LMC {standing.lmc}" if standing.lmc else "",
        ]
        if any(words):
            yield ", ".join(word for word in words if word)
        if one.chosen:
            yield "<- kept" if self.kept else "<- written"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for the tables in use, and one for each engine that was tried."""
        for one in self.candidates:
            standing = dict.fromkeys(Standing.header()) if one.standing is None else one.standing.cells()
            yield {
                "tables": one.engine,
                "chosen": one.chosen,
                **standing,
                "offset": self.offset if one.chosen else None,
                "remark": one.reason,
            }

    def bars(self) -> Bars:
        """Return the worst loads of the tables in use and of each engine tried, beside the lower bound."""
        bars = []
        for attempt in self.candidates:
            name = attempt.engine + ("\n(kept)" if self.kept else "\n(written)") * attempt.chosen
            if (standing := attempt.standing) is None:
                bars.append(Bar(name, None, text=shortened(attempt.reason, _REASON)))
            else:
                role = "warning" if standing.credit_loops else "plain"
                bars.append(Bar(name, standing.worst, role, str(standing)))
        if self.lower_bound is None:
            return Bars(bars, "worst load", ["{title}"])
        least = as_float(self.lower_bound)
        mark = Mark(least, f"single paths: at least {self.lower_bound}", "left")
        return Bars(bars, "worst load", ["{title}"], marks=[mark], least=least)


def _cells(standing: Standing, larger: set[str]) -> tuple[str, ...]:
    """Return the figures of tables as text, in the order of the headings."""
    values: dict[str, Any] = {**standing.figures, "random": standing.random}
    if standing.shifts is None:
        values |= dict.fromkeys(("worst-shift", "mean-shift"))
    return tuple(brief(value) + "*" * (name in larger) for name, value in values.items())
