"""What a report is about: cells of studies and figures of saved results, with their numbers, throughputs and hops."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from obliv._util.files import GZIP, require_file, without_mark
from obliv._util.text import plural, printable
from obliv.errors import FileError, InputError
from obliv.questions.compare import Comparison
from obliv.questions.locality import Locality
from obliv.questions.ratio import TrafficRatio
from obliv.questions.throughput import Throughput
from obliv.results.base import Result
from obliv.results.claims import is_certified
from obliv.results.markup import Results, load
from obliv.results.numbers import Bounds, Estimate, as_float, bounds_of, short, shown
from obliv.results.study import Study, StudyRow, column_names, options_of
from obliv.study.measures import MEASURES, Cell
from obliv.study.store import intact, opened
from obliv.study.tables import cells_of, entry_of

_SQLITE = b"SQLite format 3\0"

#: The measure whose figures a saved result has, by its kind, where the names differ.
_MEASURE_OF = {"locality": "hops", "virtual-channels": "deadlock"}


@dataclass(frozen=True)
class Input:
    """A file, or a result in memory, with what it holds."""

    name: str
    holds: str
    digest: str = ""
    single: bool = True  #: One result, and not a store of many.
    folder: str = "."  #: Where the files that its specs name may be.


@dataclass(frozen=True)
class ReportCell:
    """A cell of the table, with the result that it comes from where there is one, and the number of the input."""

    row: StudyRow
    result: Result | None
    input: int


@dataclass
class Contents:
    """Everything that a report shows; results without figures for the table have the number of their input."""

    inputs: list[Input] = field(default_factory=list)
    items: list[ReportCell] = field(default_factory=list)
    reproductions: list[Any] = field(default_factory=list)
    others: list[tuple[Result, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def damaged(self) -> list[str]:
        """Cells that cannot be shown, with the input and the reason."""
        rows = [(self.inputs[item.input].name, item.row) for item in self.items if item.row.status == "damaged"]
        return [f"{name}: {row.label}: {row.reason}" for name, row in rows]

    def results(self) -> Iterator[Result]:
        """Yield all results, those of several items once."""
        loaded = [item.result for item in self.items if item.result is not None]
        distinct = {
            id(result): result for result in (*loaded, *self.reproductions, *(other for other, _ in self.others))
        }
        yield from distinct.values()


def gather(inputs: Sequence[str | Path | Result], study: str = "") -> Contents:
    """Read stores of studies and saved results; of stores one study, if it is named."""
    contents = Contents()
    seen: set[Path] = set()
    for source in inputs:
        if isinstance(source, Result):
            _add(contents, source, Input(source.title, "result in memory"))
            continue
        require_file(source)
        if (real := Path(source).resolve()) in seen:
            continue
        seen.add(real)
        with open(source, "rb") as stream:
            head = stream.read(len(_SQLITE))
        if head == _SQLITE:
            _add_store(contents, source, study)
        else:
            if not (head.startswith(GZIP) or without_mark(head, source).lstrip().startswith(b"{")):
                raise FileError("is neither a store of studies nor a saved result: name what obliv wrote", source)
            result = load(source)
            digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
            holds = f"saved {result.title}" if isinstance(result, Results) else f"saved result of {result.kind}"
            _add(contents, result, Input(Path(source).name, holds, digest, folder=str(Path(source).parent)))
    if not (contents.items or contents.reproductions or contents.others):
        names = ", ".join(entry.name for entry in contents.inputs)
        raise InputError(f"there is nothing to report: {names or 'no input'} has no results")
    contents.items = _distinct(contents)
    return contents


def _add_store(contents: Contents, path: str | Path, study: str) -> None:
    with opened(path) as db:
        number = len(contents.inputs)
        cells = [intact(db, stored) for stored in cells_of(db, study)]
        count = Counter(stored.status for stored, _ in cells)
        counts = [f"{count['done']:,} of {plural(len(cells), 'cell')} done"]
        counts += [f"{count[status]:,} {status}" for status in ("failed", "damaged") if count[status]]
        names = study or ", ".join(db.names())
        contents.inputs.append(
            Input(Path(path).name, f"study {names}: {', '.join(counts)}", single=False, folder=str(Path(path).parent))
        )
        contents.items += [ReportCell(entry_of(stored), result, number) for stored, result in cells]


def _add(contents: Contents, result: Result, source: Input) -> None:
    number = len(contents.inputs)
    contents.inputs.append(source)
    _sort(contents, result, number)


def _sort(contents: Contents, result: Result, number: int) -> None:
    """Enter a result of an input where it belongs."""
    if isinstance(result, Results):
        for single in result.entries:
            _sort(contents, single, number)
        return
    if result.beside_published:
        contents.reproductions.append(result)
        return
    entries = list(_entries(result))
    # The figures of a saved table come without the results behind them.
    own = None if isinstance(result, Study) else result
    contents.items += [ReportCell(entry, own, number) for entry in entries]
    if not entries:
        contents.others.append((result, number))


def _entries(result: Result) -> Iterable[StudyRow]:
    """Yield the figures of a result as cells of a study."""
    if isinstance(result, Study):
        yield from result.entries
    elif isinstance(result, Comparison):
        yield from _compared(result)
    elif isinstance(result, Throughput):
        for row in result.patterns:
            yield _done(result, "throughput", {"": row.throughput}, {"traffic": row.traffic})
    elif isinstance(result, TrafficRatio):
        for ratio in result.patterns:
            yield _done(result, "ratio", {"": ratio.ratio}, {"traffic": ratio.traffic})
    elif (measure := _measure_of(result)) is not None:
        options = _options(result)
        try:
            figures = MEASURES[measure].headline(result, options)
        except AttributeError:  # another result of the kind
            return
        yield _done(result, measure, figures, options)


def _measure_of(result: Result) -> str | None:
    if hasattr(result, "hottest"):
        return "fabric"
    measure = _MEASURE_OF.get(result.kind, result.kind)
    return measure if measure in MEASURES else None


def _options(result: Result) -> dict[str, Any]:
    """Return the options behind a result that a study would set, where they are not the default."""
    if result.kind == "virtual-channels":
        return {"vc": "fewest"}
    if result.kind == "deadlock" and getattr(result, "scheme", "none") != "none":
        return {"vc": result.scheme}  # type: ignore[attr-defined]
    if result.kind == "average":
        defaults = {"samples": 100_000, "ensemble": "permutations"}
        return {name: value for name, less in defaults.items() if (value := getattr(result, name)) != less}
    if result.kind == "design":
        constraints = ", ".join(getattr(result, "constraints", ()))
        ratio = {"objective": "ratio"} if hasattr(result, "ratio") else {}
        return ratio | ({"limits": constraints} if constraints else {})
    return {}


def _done(result: Result, measure: str, figures: dict[str, Any], options: dict[str, Any]) -> StudyRow:
    seed = result.provenance.seed if MEASURES[measure].random else None
    return StudyRow(
        topology=result.topology,
        routing=result.routing if MEASURES[measure].of_routing else None,
        measure=measure,
        options=options,
        seed=seed,
        status="done",
        figures=figures,
    )


def _compared(result: Comparison) -> Iterator[StudyRow]:
    """Yield the worst case, the average, patterns, hops and deadlock of each row of a comparison."""
    for row in result.entries:
        cells: list[tuple[str, dict[str, Any], Any, str]] = [
            ("worst", {}, row.throughput("worst"), row.why_not("worst"))
        ]
        if result.samples:
            samples = {} if result.samples == 100_000 else {"samples": result.samples}
            cells.append(("average", samples, row.throughput("average"), row.why_not("average")))
        cells += [
            ("throughput", {"traffic": name}, row.throughput(name), row.why_not(name)) for name in result.patterns
        ]
        cells.append(("hops", {}, row.hops, row.no_hops))
        if result.deadlocks:
            cells.append(("deadlock", {}, None if row.acyclic is None else row.deadlock, row.why_not("deadlock")))
            fewest = None if row.virtual_channels is None else f"{row.virtual_channels} by {row.scheme}"
            cells.append(("deadlock", {"vc": "fewest"}, fewest, ""))
        seed = result.provenance.seed
        for measure, options, value, reason in cells:
            yield StudyRow(
                topology=row.topology,
                routing=row.routing,
                measure=measure,
                options=options,
                seed=seed if MEASURES[measure].random else None,
                reason="" if value is not None else reason,
                status="done",
                figures={"": value},
            )


def _distinct(contents: Contents) -> list[ReportCell]:
    """Return one item for each cell, the most precise one; what is left out for it is noted."""
    items: dict[str, ReportCell] = {}
    for item in contents.items:
        row = item.row
        name = Cell(row.topology, row.routing, row.measure, row.options, row.seed).identity
        other = items.setdefault(name, item)
        if other is item:
            continue
        differ = _answered(other) and _answered(item) and other.row.figures != row.figures
        if differ and not _agree(other.row.figures, row.figures):
            first, second = (contents.inputs[each.input].name for each in (other, item))
            where = f"two studies in {first}" if other.input == item.input else f"{first} and {second}"
            raise InputError(f"{row.label}: {where} have different figures; make a report of each")
        worse, better = sorted((item, other), key=_weight)  # of two equal ones the first counts
        items[name] = better
        if differ:
            left, kept = (
                f"{_PRECISE[_precision(each)[0]]} of {contents.inputs[each.input].name}" for each in (worse, better)
            )
            contents.notes.append(f"{row.label}: the report shows the {kept}, not the {left}")
    return list(items.values())


_PRECISE = ("estimate", "bounds", "exact figures")


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether figures can be about the same numbers: estimates leave all open, bounds what is between them."""
    return one.keys() == other.keys() and all(_can_be(value, other[name]) for name, value in one.items())


def _can_be(one: Any, other: Any) -> bool:
    if one == other or isinstance(one, Estimate) or isinstance(other, Estimate):
        return True
    if not all(isinstance(value, Fraction | Bounds) for value in (one, other)):
        return False
    (low, high), (least, most) = bounds_of(one), bounds_of(other)
    return low <= most and least <= high


def _precision(item: ReportCell) -> tuple[int, float]:
    """Return how precise the figures of an item are: exact ones before bounds, these before estimates by samples."""
    values = item.row.figures.values()
    estimates = [value.samples for value in values if isinstance(value, Estimate)]
    if estimates:
        return 0, float(min(estimates))
    widths = [float(value.upper - value.lower) for value in values if isinstance(value, Bounds)]
    return (1, -max(widths)) if widths else (2, 0.0)


def _answered(item: ReportCell) -> bool:
    return item.row.status == "done" and any(value is not None for value in item.row.figures.values())


def _weight(item: ReportCell) -> tuple[Any, ...]:
    """Return which of two items about a cell is kept: one with an answer, precise, with a proof, with its result."""
    result, alone = item.result, not isinstance(item.result, Comparison)
    return _answered(item), _precision(item), is_certified(result), result is not None and alone, result is not None


# Numbers of a page: exact, estimated and bounded ones never look alike


#: How a number was obtained, by the letter that stands for it in the data of the page.
HOW = {"x": "exact", "e": "estimated", "b": "bounded"}


def how(value: Any) -> str:
    """Return the letter for how a value was obtained; empty for text and for what is missing."""
    if isinstance(value, Estimate):
        return "e"
    if isinstance(value, Bounds):
        return "b"
    return "x" if isinstance(value, Fraction | int) and not isinstance(value, bool) else ""


def value_of(value: Any) -> float | None:
    """Return the number by which rows are sorted and bars drawn: of bounds the lower one; None for all else."""
    if isinstance(value, Bounds):
        value = value.lower
    if isinstance(value, Fraction):
        value = as_float(value)
    if not isinstance(value, Estimate | int | float) or isinstance(value, bool):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def ends_of(value: Any) -> tuple[float, float] | None:
    """Return the ends of a bounded number, or one standard error below and above an estimate; None of exact ones."""
    if isinstance(value, Bounds):
        ends = as_float(value.lower), as_float(value.upper)
    elif isinstance(value, Estimate):
        ends = value.value - value.stderr, value.value + value.stderr
    else:
        return None
    return ends if all(map(math.isfinite, ends)) else None


def text_of(value: Any) -> str:
    """Return a value as the page writes it: bounds as an interval, exact numbers without a sign of approximation.

    Examples
    --------
    >>> text_of(Fraction(5, 12)), text_of(Estimate(0.41, 0.002, 100)), text_of(Bounds(Fraction(2, 5), Fraction(1, 2)))
    ('5/12 = 0.4167', '0.410 ± 0.002', '0.4 to 0.5')
    >>> text_of(Fraction(10**20 + 1, 10**21))
    '0.1000…'
    """
    if isinstance(value, Bounds):
        return shown(value, 4).removeprefix("between ").removeprefix("≈ ").replace(" and ", " to ")
    if isinstance(value, str):
        return printable(value)
    text = short(value)
    return f"{_first_digits(value)}…" if isinstance(value, Fraction) and text.startswith("≈") else text


def _first_digits(value: Fraction) -> str:
    """Return the first four digits of a number, cut off and not rounded."""
    with localcontext() as context:
        context.prec, context.rounding = 4, ROUND_DOWN
        return str(Decimal(value.numerator) / Decimal(value.denominator))


# The throughputs and hops behind the charts of a report, by topology and routing


_THROUGHPUTS = ("worst", "average", "throughput", "fabric", "design")


@dataclass
class Row:
    """What the charts know about a routing on a topology."""

    topology: str
    routing: str  #: The column of a design.
    values: dict[str, Any] = field(default_factory=dict)  #: Throughputs by column.
    hops: Any = None
    times: Any = None  #: The mean hops as a multiple of the least.
    guaranteed: str = ""
    rated: bool = False


def rows_of(items: Sequence[ReportCell]) -> list[Row]:
    """Return the rows that have a throughput, with the columns that the table has too."""
    names = column_names(tuple(item.row for item in items))
    rows: dict[tuple[str, str], Row] = {}
    for item in items:
        entry = item.row
        if entry.status != "done":
            continue
        column = printable(names[entry.measure, options_of(entry)])
        routing = printable(entry.routing or (column if entry.measure == "design" else ""))
        if not routing:
            continue
        row = rows.setdefault((entry.topology, routing), Row(printable(entry.topology), routing))
        if entry.measure == "hops":
            row.hops, row.times = _hops(item)
        row.rated = row.rated or getattr(item.result, "rated", False)
        value = entry.figures.get("")
        if entry.measure not in _THROUGHPUTS or value_of(value) is None:
            continue
        if entry.measure == "design":  # the bar of a design is beside the worst cases of routings
            column = "worst"
            row.hops, row.times = entry.figures.get("hops"), None
        row.values[column] = value
        if entry.measure in ("worst", "fabric", "design") and not row.guaranteed:
            row.guaranteed = column
    _complete(rows.values())
    return [row for row in rows.values() if row.values]


def _complete(rows: Any) -> None:
    """Give designs the least hops of their topology, which other rows know."""
    least: dict[str, Fraction] = {}
    for row in rows:
        if isinstance(row.hops, Fraction) and isinstance(row.times, Fraction) and row.times:
            least[row.topology] = row.hops / row.times
    for row in rows:
        if isinstance(row.hops, Fraction) and row.times is None and row.topology in least:
            row.times = row.hops / least[row.topology]


def _hops(item: ReportCell) -> tuple[Any, Any]:
    result = item.result
    if isinstance(result, Locality):
        return result.hops, result.hops_over_minimal
    if isinstance(result, Comparison):
        entry = next(_quantity_entries(result, item))
        return entry.hops, entry.hops_over_minimal
    return item.row.figures.get(""), None


def _quantity_entries(result: Comparison, item: ReportCell) -> Iterator[Any]:
    place = item.row.topology, item.row.routing
    return (entry for entry in result.entries if (entry.topology, entry.routing) == place)


def first_choice(topologies: Sequence[str]) -> str:
    """Return the topology that the charts show first: the last one of those with the most rows."""
    counts = Counter(topologies)
    most = max(counts.values())
    return [name for name, count in counts.items() if count == most][-1]
