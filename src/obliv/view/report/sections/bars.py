"""Bars: the worst case, the average and patterns of each routing, best worst case first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from obliv.view.report.numbers import HOW, ends_of, how, text_of, value_of
from obliv.view.report.quantities import Row

__all__ = ["bar_series", "bars", "left_out"]

_BARS = ("worst", "average", "fabric")  # measures with a bar; patterns have a dot
_MOST_SERIES = 8
_MOST_ROWS = 40  # of a topology


def bar_series(rows: Sequence[Row]) -> list[str]:
    """Return the columns that get a bar: the worst case and the average first."""
    columns = dict.fromkeys(column for row in rows for column in row.values)
    return sorted(columns, key=lambda name: {"worst": 0, "average": 1}.get(name.split(" ")[0], 2))[:_MOST_SERIES]


def _rank(name: str) -> int:
    measure = name.split(" ")[0]
    return _BARS.index(measure) if measure in _BARS else len(_BARS)


def bars(rows: Sequence[Row], series: Sequence[str]) -> list[dict[str, Any]]:
    """Return the bars of the best rows of each topology, with the ends of estimates and bounds."""
    by_topology: dict[str, list[Row]] = {}
    for row in rows:
        by_topology.setdefault(row.topology, []).append(row)
    found: list[dict[str, Any]] = []
    for topology, own in by_topology.items():
        own = sorted(own, key=lambda row: -(value_of(row.values.get(series[0])) or 0.0))[:_MOST_ROWS]
        for place, row in enumerate(own):
            for what in series:
                value = row.values.get(what)
                number = value_of(value)
                if number is None:
                    continue
                bar: dict[str, Any] = {"topology": topology, "routing": row.routing, "place": place, "what": what}
                bar |= {"value": number, "text": text_of(value).partition(" = ")[0], "how": HOW[how(value)]}
                bar["full"] = text_of(value)
                bar["bar"] = what.split(" ")[0] in _BARS
                bar["slot"] = what if bar["bar"] else series[0]
                bar["low"], bar["high"] = ends_of(value) or (number, number)
                found.append(bar)
    return found


def left_out(rows: Sequence[Row], series: Sequence[str]) -> str:
    """Return what has no bar, in a sentence; empty if all have."""
    most = max(Counter(row.topology for row in rows).values())
    columns = len({column for row in rows for column in row.values}) - len(series)
    parts = [f"the best {_MOST_ROWS} of up to {most:,} routings"] * (most > _MOST_ROWS)
    parts += [f"the first {len(series)} of {len(series) + columns} columns"] * (columns > 0)
    return f"Shown are {' and '.join(parts)}; the table has all." if parts else ""
