"""The result of a comparison: one row per routing and topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import html_table, plural
from obliv.results.analysis.throughput import Bottleneck, Overload, PatternThroughput
from obliv.results.base import NO_CAPACITY, NO_LOAD, NOT_VERIFIED, Result, unit_of
from obliv.results.codec import Record, derived, entry
from obliv.results.format import short, shown
from obliv.results.numbers import Estimate, inverse, known, scaled

__all__ = ["Comparison", "Entry", "Figures"]

#: What the table of a comparison gives, and its heading.
UNITS = {"capacity": "fractions of capacity", "throughput": "throughput", "load": "largest channel loads"}
_DEADLOCK = ("acyclic", "virtual_channels", "scheme")  # columns of rows where deadlocks were asked for


@dataclass(frozen=True)
class Figures(Record):
    """The figures of a routing in the worst case, on average or under a pattern.

    Parameters
    ----------
    traffic : str
        The pattern, or "worst" or "average".
    channel_load : Fraction or None
        The largest; on average it is left out.
    throughput, fraction_of_capacity : Fraction, Estimate or None
    admissible : bool or None
        Whether no terminal sends or takes more than its rate; None in the worst case and on average.
    overload : Overload or None
        The terminal that exceeds its rate most, where the traffic is not admissible.
    limited_by : Bottleneck or None
        What limits the throughput under a pattern; None in the worst case and on average.
    hops : Fraction or None
        Mean hops of a pattern's packets; None in the worst case and on average.
    why : str
        Why the first missing number is missing.
    no_share : str
        Why there is no fraction of capacity where there is a throughput.
    """

    traffic: str = entry("", omit=lambda row: row.traffic in ("worst", "average"))
    channel_load: Fraction | None = entry(None, reason=lambda row: row.why, omit=lambda row: row.traffic == "average")
    throughput: Fraction | Estimate | None = entry(None, reason=lambda row: row.why)
    fraction_of_capacity: Fraction | Estimate | None = entry(None, reason=lambda row: row.no_share or row.why)
    admissible: bool | None = entry(None, omit=lambda row: row.admissible is None)
    overload: Overload | None = entry(None, omit=lambda row: row.overload is None)
    limited_by: Bottleneck | None = entry(None, omit=lambda row: row.limited_by is None)
    hops: Fraction | None = entry(None, omit=lambda row: row.hops is None)
    why: str = entry("", key="channel_load_reason", omit=lambda row: True)
    no_share: str = entry("", hidden=True)

    def under_pattern(self) -> PatternThroughput | None:
        """Return the figures of a pattern as a row of :func:`obliv.throughput`; None where it does not fit."""
        if self.admissible is None:
            return None
        shares = self.channel_load, self.throughput, self.fraction_of_capacity
        return PatternThroughput(self.traffic, *shares, self.admissible, self.overload, self.limited_by, self.hops)


@dataclass(frozen=True)
class Entry(Record):
    """One routing on one topology: loads, whose reciprocals are throughputs, and hops.

    Missing numbers have a reason in ``reasons``, under the pattern, or under ``"routing"`` for all of the row.

    Parameters
    ----------
    topology, routing : str
        Specs.
    capacity : Fraction, optional
        Throughput of uniform traffic under the best routing, where it is known.
    worst : Fraction, optional
        Worst-case channel load.
    average : Estimate, optional
        Throughput over random permutations, the reciprocal of the mean largest load.
    under : mapping from pattern to PatternThroughput or None
        Channel load, throughput and what limits it under each pattern.
    reasons : mapping
    hops, minimal_hops : Fraction, optional
        Mean hops over all pairs, and the least of any routing; of a partial routing, over the packets that arrive.
    skipped : int
        How many pairs a partial routing leaves out, as a whole or for a share of their packets.
    rated : bool
        Whether terminals have rates other than 1, of which the throughputs are multiples.
    acyclic : bool, optional
        Whether the channel dependency graph has no cycle on one virtual channel; None where it was not asked for.
    virtual_channels : int, optional
        The fewest virtual channels with which a known scheme has no cycle; None where all schemes have one.
    scheme : str
        That scheme.
    """

    topology: str = entry(column="topology")
    routing: str = entry(column="routing")
    capacity: Fraction | None = entry(None, reason=NO_CAPACITY, rank=1)
    worst: Fraction | None = entry(None, hidden=True)
    average: Estimate | None = entry(None, hidden=True)
    under: dict[str, PatternThroughput | None] = entry(default_factory=dict, hidden=True)
    reasons: dict[str, str] = entry(default_factory=dict, hidden=True)

    @property
    def patterns(self) -> dict[str, Fraction | None]:
        """The largest channel load under each pattern."""
        return {name: _load(row) for name, row in self.under.items()}

    @property
    def beyond(self) -> tuple[str, ...]:
        """Patterns in which some terminal sends or takes more than its rate: they are not admissible."""
        return tuple(name for name, row in self.under.items() if row is not None and not row.admissible)

    def throughput(self, name: str) -> Fraction | Estimate | None:
        """Return packets per node and cycle in the worst case, on average or under a pattern."""
        if name == "average":
            return self.average
        if name == "worst":
            return None if self.worst is None else inverse(self.worst)
        row = self.under.get(name)
        return None if row is None else row.throughput

    def of_capacity(self, name: str) -> Fraction | Estimate | None:
        """Return the same as a fraction of capacity, by the channels alone; None where the capacity is not known."""
        if row := self.under.get(name):
            return row.fraction_of_capacity
        through = self.throughput(name)
        if through is None or self.capacity is None:
            return None
        if isinstance(through, Estimate):
            return scaled(through, 1 / self.capacity)
        return through / self.capacity

    def load(self, name: str) -> Fraction | Estimate | None:
        """Return the largest channel load in the worst case, its mean on average, or that under a pattern."""
        if name == "average":
            return None if self.average is None else inverse(self.average)
        return self.worst if name == "worst" else self.patterns.get(name)

    def figure(self, quantity: str, name: str) -> Fraction | Estimate | None:
        """Return the worst case, the average or a pattern in a quantity of :data:`UNITS`."""
        return {"capacity": self.of_capacity, "throughput": self.throughput, "load": self.load}[quantity](name)

    def why_not(self, name: str) -> str:
        """Return why a number is missing."""
        return self.reasons.get(name) or self.reasons.get("routing") or NO_LOAD

    @property
    @derived(key="worst")
    def worst_figures(self) -> Figures:
        """The figures of the worst case."""
        return self._figures("worst", self.worst)

    @property
    @derived(key="average")
    def average_figures(self) -> Figures:
        """The figures on average, without a load."""
        return self._figures("average", None)

    @property
    @derived(key="patterns")
    def pattern_figures(self) -> tuple[Figures, ...]:
        """The figures under each pattern."""
        return tuple(self._figures(name, load) for name, load in self.patterns.items())

    def _figures(self, name: str, load: Fraction | None) -> Figures:
        row = self.under.get(name)
        through, of_capacity = self.throughput(name), self.of_capacity(name)
        no_share = NO_CAPACITY if self.capacity is None and through is not None else ""
        if row is None:
            return Figures(name, load, through, of_capacity, why=self.why_not(name), no_share=no_share)
        return Figures(
            traffic=name,
            channel_load=load,
            throughput=through,
            fraction_of_capacity=of_capacity,
            admissible=row.admissible,
            overload=row.overload,
            limited_by=row.limited_by,
            hops=row.hops,
            why=self.why_not(name),
            no_share=no_share,
        )

    hops: Fraction | None = entry(None, label="hops", column="hops", reason=lambda row: row.no_hops)
    minimal_hops: Fraction | None = entry(None, reason=lambda row: row.no_hops)
    skipped: int = entry(0, omit=lambda row: not row.skipped)
    rated: bool = entry(False, omit=lambda row: not row.rated)

    @property
    @derived(label="× minimal", column="hops_over_minimal", reason=lambda row: row.no_hops)
    def hops_over_minimal(self) -> Fraction | None:
        """Mean hops divided by the minimum for any routing; None if there is only one terminal."""
        return self.hops / self.minimal_hops if self.hops is not None and self.minimal_hops else None

    acyclic: bool | None = entry(
        None,
        column="acyclic",
        omit=lambda row: row.acyclic is None and "deadlock" not in row.reasons,
        reason=lambda row: row.why_not("deadlock"),
    )
    virtual_channels: int | None = entry(
        None,
        column="virtual_channels",
        omit=lambda row: row.acyclic is None,
        reason="every scheme that was tried is cyclic",
    )
    scheme: str = entry("", column="scheme", omit=lambda row: not row.scheme)

    @property
    def deadlock(self) -> str:
        """The verdict on deadlocks in a word."""
        return "-" if self.acyclic is None else "free" if self.acyclic else "possible"

    @property
    def fewest(self) -> str:
        """The fewest virtual channels and their scheme, as text."""
        if self.virtual_channels is None:
            return "-"
        return f"{self.virtual_channels}" if self.scheme == "none" else f"{self.virtual_channels} by {self.scheme}"

    @property
    def no_hops(self) -> str:
        """The reason why mean hops are missing."""
        return self.reasons.get("routing", "no terminal has another one to send to")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Entry:
        """Return the entry that :meth:`to_dict` wrote; the loads among its figures give the rest again."""
        figures = {key: Figures.from_dict(data[key]) for key in ("worst", "average") if key in data}
        patterns = [Figures.from_dict(row) for row in data["patterns"]]
        average = figures["average"].throughput if "average" in figures else None
        if average is not None and not isinstance(average, Estimate):
            raise ValueError("the average is not an estimate")
        reasons = {row.traffic: row.why for row in patterns if row.admissible is None}
        if figures["worst"].channel_load is None:
            reasons = {"routing": figures["worst"].why}
        elif "acyclic_reason" in data:
            reasons["deadlock"] = str(data["acyclic_reason"])
        return cls(
            **cls._fields_from(data),
            worst=figures["worst"].channel_load,
            average=average,
            under={row.traffic: row.under_pattern() for row in patterns},
            reasons=reasons,
        )


def _load(row: PatternThroughput | None) -> Fraction | None:
    return None if row is None or row.channel_load is None else known(row.channel_load)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A comparison of routings: worst case, average, patterns and hops, one row per routing and topology.

    Examples
    --------
    >>> import obliv
    >>> obliv.compare("mesh:3x3", "dor", "o1turn")
    compare: fractions of capacity on mesh:3x3
      routing  worst         hops          × minimal
      dor      1/3 = 0.3333  16/9 = 1.778  1
      o1turn   4/9 = 0.4444  16/9 = 1.778  1
    """

    kind: ClassVar[str] = "compare"

    entries: tuple[Entry, ...] = entry((), key="rows")
    samples: int = 0
    deadlocks: bool = entry(False, omit=lambda result: not result.deadlocks)
    unit: str = entry("", omit=lambda result: not result.unit)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The traffic patterns, in the requested order."""
        return tuple(self.entries[0].patterns) if self.entries else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with averages where they were sampled."""
        data = super().to_dict()
        for row in data["rows"] if not self.samples else ():
            del row["average"]
        return data

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each routing; the patterns give the columns."""
        for row in self.entries:
            cells: dict[str, Any] = {"topology": row.topology, "routing": row.routing, "worst_channel_load": row.worst}
            for name in self._names:
                cells[f"{name}_throughput"] = row.throughput(name)
                cells[f"{name}_fraction_of_capacity"] = row.of_capacity(name)
                if name in row.under:
                    figures = row.under[name]
                    cells[f"{name}_admissible"] = None if figures is None else figures.admissible
                    over = None if figures is None else figures.overload
                    excess = dict.fromkeys(Overload.header()) if over is None else over.cells()
                    cells |= {f"{name}_{column}": value for column, value in excess.items()}
                    limit = None if figures is None else figures.limited_by
                    cells[f"{name}_limited_by"] = None if limit is None else limit.text
                    cells[f"{name}_hops"] = None if figures is None else figures.hops
            cells |= row.cells()
            yield cells if self.deadlocks else {name: value for name, value in cells.items() if name not in _DEADLOCK}

    @property
    def _names(self) -> list[str]:
        return ["worst", *(["average"] if self.samples else []), *self.patterns]

    def __repr__(self) -> str:
        cells = self.table_cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in lines), *self._notes()])

    def _repr_html_(self) -> str:
        cells = self.table_cells()
        named = cells[0].index("routing") + 1
        return html_table(self.caption, cells, [*[False] * named, *[True] * (len(cells[0]) - named)])

    @property
    def caption(self) -> str:
        """What stands at a table of the result, in one line: its title and its notes."""
        return "; ".join([self.title.removeprefix("compare: "), *(note.lstrip(" -") for note in self._notes())])

    @property
    def title(self) -> str:
        """The heading: what was analyzed, in one line."""
        of = unit_of(self.rated)
        if self.patterns:
            of = f"times the traffic; {f'otherwise {of}' if self.rated else f'{of} where each sends one'}"
        return f"compare: {UNITS[self.quantity]}{f' ({of})' * (self.quantity == 'throughput')} on {self.topology}"

    @property
    def rated(self) -> bool:
        """Whether terminals of some topology have rates, of which the worst case and the average are multiples."""
        return any(row.rated for row in self.entries)

    @property
    def quantity(self) -> str:
        """What the table gives: the `unit` that was chosen; else fractions of capacity where all are known."""
        if self.unit in UNITS:  # a file may have any
            return self.unit
        known = all(row.capacity is not None for row in self.entries)
        figures = [row for entry in self.entries for row in entry.under.values() if row is not None]
        return "capacity" if known and not any(row.by_terminal for row in figures) else "throughput"

    def table_cells(self) -> list[list[str]]:
        """Return the table as text, its heading first."""
        several = len({row.topology for row in self.entries}) > 1
        labels = {name: how.label for name, how in Entry.declared().items() if how.label}
        verdicts = ["deadlock", "virtual channels"] if self.deadlocks else []
        quantity, names = self.quantity, self._names  # by all rows
        rows = [[*(["topology"] if several else []), "routing", *names, *labels.values(), *verdicts]]
        for row in self.entries:
            numbers: list[Any] = [row.figure(quantity, name) for name in names]
            numbers += [getattr(row, name) for name in labels]
            cells = [row.routing, *(short(number, 11) for number in numbers)]
            rows.append([*([row.topology] if several else []), *cells])
            rows[-1] += [row.deadlock, row.fewest] if self.deadlocks else []
        return rows

    def _notes(self) -> list[str]:
        """Return why numbers are missing, which traffic is not admissible or loads no channel, what is declared."""
        missing: dict[str, None] = {}
        quantity = self.quantity  # by all rows
        for row in self.entries:
            for name in row.beyond:
                figures = row.under[name]
                missing[f"  - {name} on {row.topology}: {figures.verdict if figures else ''}"] = None
            for name, figures in row.under.items():
                limit = None if figures is None else figures.limited_by
                if figures is not None and limit is not None and limit.kind != "channel":
                    most = f"limited to {shown(figures.throughput)} times the traffic by {limit}"
                    idle = "" if figures.channel_load else "loads no channel, "
                    alone = "; its fractions of capacity are by the channels alone" if figures.by_terminal else ""
                    shown_so = quantity == "capacity" and figures.fraction_of_capacity is not None
                    missing[f"  - {name} on {row.topology}: {idle}{most}{alone * shown_so}"] = None
            if row.skipped:
                pairs = plural(row.skipped, "pair")
                missing[f"  - {row.routing} on {row.topology}: leaves out {pairs} whose packets do not arrive"] = None
            for what, reason in row.reasons.items():
                missing[f"  - {'' if what == 'routing' else what + ' '}on {row.topology}: {reason}"] = None
        relied = self.provenance is not None and NOT_VERIFIED in self.provenance.exactness
        return [*missing, f"  - {NOT_VERIFIED}"] if relied else list(missing)
