"""The throughputs and hops behind the charts of a report, by topology and routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from obliv._util.text import printable
from obliv.results.analysis.compare import Comparison
from obliv.results.analysis.locality import Locality
from obliv.results.study import column_names, options_of
from obliv.view.report.contents import Item
from obliv.view.report.numbers import value_of

__all__ = ["Row", "first_choice", "rows_of"]

_THROUGHPUTS = ("worst", "average", "throughput", "fabric", "design")


@dataclass
class Row:
    """What the charts know about a routing on a topology.

    Parameters
    ----------
    topology, routing : str
        A design has its column as routing.
    values : dict
        Throughputs by column, in packets per node and cycle, or times the rates of terminals if these are `rated`.
    hops, times : Fraction, Estimate or None
        Mean hops, and these as a multiple of the least.
    """

    topology: str
    routing: str
    values: dict[str, Any] = field(default_factory=dict)
    hops: Any = None
    times: Any = None
    guaranteed: str = ""
    rated: bool = False


def rows_of(items: Sequence[Item]) -> list[Row]:
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


def _hops(item: Item) -> tuple[Any, Any]:
    result = item.result
    if isinstance(result, Locality):
        return result.hops, result.hops_over_minimal
    if isinstance(result, Comparison):
        entry = next(_entries(result, item))
        return entry.hops, entry.hops_over_minimal
    return item.row.figures.get(""), None


def _entries(result: Comparison, item: Item) -> Iterator[Any]:
    place = item.row.topology, item.row.routing
    return (entry for entry in result.entries if (entry.topology, entry.routing) == place)


def first_choice(topologies: Sequence[str]) -> str:
    """Return the topology that the charts show first: the last one of those with the most rows."""
    counts = Counter(topologies)
    most = max(counts.values())
    return [name for name, count in counts.items() if count == most][-1]
