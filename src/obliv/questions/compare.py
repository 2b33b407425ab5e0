"""Routings side by side, on one or several topologies: the comparison and its result, one row for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any, ClassVar, Generic, TypeVar

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer
from obliv._util.rng import Rng, drawn_seed
from obliv._util.text import html_table, plural
from obliv.errors import InputError, Interrupted, RoutingError, TooLargeError, TrafficError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.average import average_case
from obliv.questions.deadlocks.deadlock import deadlock as find_deadlock
from obliv.questions.deadlocks.deadlock import fewest_virtual_channels
from obliv.questions.locality import minimal_hops, served_pairs
from obliv.questions.subject import with_known_capacity
from obliv.questions.throughput import Bottleneck, Overload, PatternThroughput, pattern_throughput
from obliv.questions.worst_case import worst_load
from obliv.results.base import NO_CAPACITY, NO_LOAD, NOT_VERIFIED, Result, provenance, unit_of
from obliv.results.codec import Record, derived, entry
from obliv.results.numbers import Estimate, inverse, known, scaled, short, shown
from obliv.routings.base import Routing, RoutingLike
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology, require_pairs
from obliv.topologies.make import topology as topology_of

# The result of a comparison: one row per routing and topology


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


T = TypeVar("T", Routing, Traffic)


@dataclass(frozen=True)
class Misfit:
    """The error of what fits some topologies but not this one."""

    error: InputError


@dataclass(frozen=True)
class _Named(Generic[T]):
    """A routing or a pattern on every topology, or why it does not fit there."""

    name: str
    on: tuple[T | Misfit, ...]


#: A row of the table, or why there is none.
Cell = Entry | Misfit


def compare(
    topology: Topology | str | Iterable[Topology | str],
    *routings: str | RoutingLike | Callable[[Topology], Any],
    traffic: str | Traffic | Iterable[str | Traffic] = (),
    samples: int = 0,
    deadlock: bool = False,
    unit: str = "",
    rng: Rng = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare routings: worst case, average, traffic patterns and hops side by side.

    Parameters
    ----------
    topology : Topology, str, or several of them in a list
        The networks, or their specs.
    *routings : str, Routing, class or function that makes one, or several in a list
        Specs, classes and functions are used on every topology; a Routing has its own.
    traffic : str or Traffic, or several of them in a list
        Patterns, or their specs.
    samples : int
        How many random permutations to take for the average; 0 leaves it out. The same ones for all rows.
    deadlock : bool
        Whether to check for deadlocks, and to find the scheme with the fewest virtual channels; it can take longer
        than all the rest.
    unit : {"", "capacity", "throughput", "load"}
        What the table gives: fractions of capacity, throughputs or the largest channel loads. By default fractions of
        capacity, or throughputs where a capacity is not known or a terminal limits traffic that is not admissible.
    rng : numpy.random.Generator or int, optional
        Source of the seed of the average, or the seed itself; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Comparison
        One row a topology and routing; exact except for the average. What does not fit one of several topologies is
        left out there, with the reason.

    Raises
    ------
    RoutingError, TrafficError, TooLargeError
        If a routing or a pattern fits none of the topologies.
    InputError
        If no topology or no routing is given, the unit is unknown, or the average is asked of terminals with rates.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.compare("mesh:5x5", "dor", "o1turn", "u2turn", traffic="transpose")
    >>> [str(row.of_capacity("worst")) for row in result.entries]
    ['3/10', '12/25', '6/11']
    """
    deadlock = boolean(deadlock, "deadlock")
    began = time.perf_counter()
    networks: list[Topology] = [topology_of(given) for given in _several(topology)]
    for network in networks:
        require_pairs(network)
    columns = [_on_all(_routing, given, networks) for part in routings for given in _several(part)]
    if not networks or not columns:
        raise InputError("compare needs a topology and a routing: compare('mesh:8x8', 'dor', 'o1turn')")
    if unit not in ("", *UNITS):
        raise InputError(f"unit {unit!r:.40} is unknown: choose {', '.join(UNITS)}")
    samples = integer(samples, "samples")
    if samples < 0 or samples == 1:
        raise InputError(f"{samples} samples: at least 2 are needed for a standard error, 0 leaves the average out")
    seed = drawn_seed(rng)
    patterns = [_on_all(traffic_of, given, networks) for given in _several(traffic)]
    cells: list[Cell] = []
    total = len(networks) * len(columns)
    try:
        for cell in _cells(networks, columns, patterns, samples, seed, deadlock, rising(progress)):
            cells.append(cell)
    except KeyboardInterrupt:
        if not cells:
            raise
    else:
        for k in range(len(columns)):
            _require_one(cells[k :: len(columns)])
    for network in networks if unit == "capacity" else ():
        if with_known_capacity(network).capacity is None:
            raise InputError(f"the capacity of {network.spec} is not known (see obliv.bounds): choose another unit")
    names, labels = [pattern.name for pattern in patterns], [column.name for column in columns]
    rows = zip(cells, product(networks, labels), strict=False)
    entries = [
        cell if isinstance(cell, Entry) else _empty(network, label, names, cell) for cell, (network, label) in rows
    ]
    cases = [*(x for column in columns for x in column.on), *(x for pattern in patterns for x in pattern.on)]
    used = [x for x in cases if not isinstance(x, Misfit)]
    specs = {"topology": [network.spec for network in networks], "routing": labels, "traffic": names}
    result = Comparison(
        topology=",".join(network.spec for network in networks),
        routing=",".join(labels),
        provenance=provenance(
            specs,
            time.perf_counter() - began,
            NOT_VERIFIED
            if any(x.declared for x in used if isinstance(x, Routing))
            else "exact but for the average"
            if samples
            else "exact",
            seed if samples else None,
            tuple(dict.fromkeys(source for x in (*networks, *used) for source in x.sources)),
        ),
        entries=tuple(entries),
        samples=samples,
        deadlocks=deadlock,
        unit=unit,
    )
    if len(cells) < total:
        raise Interrupted(f"after {len(cells)} of {total} rows; name the others to go on", result)
    return result


def _cells(
    networks: list[Topology],
    columns: list[_Named[Routing]],
    patterns: list[_Named[Traffic]],
    samples: int,
    seed: int,
    deadlock: bool,
    progress: Progress,
) -> Iterator[Cell]:
    """Yield the cells in order, topology by topology."""
    total = len(networks) * len(columns)
    for at, network in enumerate(networks):
        under = {pattern.name: pattern.on[at] for pattern in patterns}
        least = cache(partial(minimal_hops, network))
        for k, column in enumerate(columns):
            done = at * len(columns) + k
            part = within(_where(progress, f"{column.name} on {network.spec}"), done / total, (done + 1) / total)
            routing = column.on[at]
            if isinstance(routing, Misfit):
                yield routing
                continue
            try:
                row = _entry(routing, column.name, under, least, samples, seed, part)
                yield _with_deadlocks(row, routing, part) if deadlock else row
            except _MISFIT as error:
                yield Misfit(error)


def _entry(
    routing: Routing,
    label: str,
    under: dict[str, Traffic | Misfit],
    least: Callable[[], Fraction],
    samples: int,
    seed: int,
    progress: Progress,
) -> Entry:
    """Return one row; patterns that do not fit are noted with the reason."""
    network = routing.topology
    loads = routing.pair_loads(progress=within(progress, 0.0, 0.2))
    worst = worst_load(loads, progress=within(progress, 0.2, 0.7))
    average = None
    if samples and network.channels:
        average = average_case(loads, samples, seed, progress=within(progress, 0.7, 1.0)).throughput
    fitting = {name: flow for name, flow in under.items() if not isinstance(flow, Misfit)}
    carried = {name: pattern_throughput(routing, loads, flow) for name, flow in fitting.items()}
    hops = loads.hops()
    if routing.partial:  # the same packets in both means
        served = served_pairs(routing)
        hops, minimal = hops * len(network.terminals) ** 2 / served.pairs, served.minimal_hops
    else:
        minimal = least()
    return Entry(
        topology=network.spec,
        routing=label,
        capacity=with_known_capacity(network).capacity,
        worst=worst,
        average=average if isinstance(average, Estimate) else None,
        under={name: carried.get(name) for name in under},
        hops=hops,
        minimal_hops=minimal,
        skipped=routing.skipped if routing.partial else 0,
        rated=not network.unit_rates,
        reasons={name: str(flow.error) for name, flow in under.items() if isinstance(flow, Misfit)},
    )


def _with_deadlocks(row: Entry, routing: Routing, progress: Progress) -> Entry:
    """Return a row with the verdict on deadlocks and the scheme with the fewest virtual channels."""
    step = within(progress, 1.0, 1.0)  # after all else
    try:
        acyclic = find_deadlock(routing, progress=step).acyclic
        fewest = None if acyclic else fewest_virtual_channels(routing, progress=step)
    except _MISFIT as error:
        return replace(row, reasons=row.reasons | {"deadlock": str(error)})
    if fewest is None:
        return replace(row, acyclic=True, virtual_channels=1, scheme="none")
    return replace(row, acyclic=False, virtual_channels=fewest.fewest, scheme=fewest.best or "")


def _empty(network: Topology, label: str, names: list[str], misfit: Misfit) -> Entry:
    """Return the row of a routing that does not fit a topology."""
    reasons = {"routing": str(misfit.error)}
    capacity, rated = with_known_capacity(network).capacity, not network.unit_rates
    return Entry(network.spec, label, capacity, under=dict.fromkeys(names), rated=rated, reasons=reasons)


def _where(progress: Progress, where: str) -> Progress:
    """Return a progress function whose texts begin with a place."""

    def step(what: str, share: float) -> None:
        progress(f"{where}: {what}", min(share, 1.0))

    return step


def _several(given: Any) -> list[Any]:
    """Return one thing, or several of them, as a list."""
    return list(given) if isinstance(given, Sequence | Iterator) and not isinstance(given, str) else [given]


#: What one topology cannot carry, another may.
_MISFIT = (RoutingError, TrafficError, TooLargeError)


def _on_all(make: Callable[[Any, Topology], T], given: Any, networks: list[Topology]) -> _Named[T]:
    """Return a routing or a pattern on every topology; raise its first error where it fits none of them."""
    on: list[T | Misfit] = []
    for network in networks:
        try:
            on.append(make(given, network))
        except _MISFIT as error:
            on.append(Misfit(error))
    _require_one(on)
    name = next((str(x.spec) for x in on if not isinstance(x, Misfit)), "")
    return _Named(name or str(given), tuple(on))


def _require_one(cells: Sequence[Any]) -> None:
    """Raise the first error where there is nothing else."""
    if cells and all(isinstance(cell, Misfit) for cell in cells):
        raise cells[0].error


def _routing(given: Any, network: Topology) -> Routing:
    if isinstance(given, PairLoads):
        raise InputError(
            "compare needs a routing (a spec, a Routing, or a class or function that makes one), not pair loads; "
            "use worst_case or throughput for pair loads"
        )
    routing = routing_of(given, network)
    if routing.topology is not network and routing.topology.spec != network.spec:
        raise RoutingError(f"{routing.spec} was made for {routing.topology.spec}; give its spec to have it made here")
    return routing
