"""The result of a comparison: one row a routing on a topology."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.numbers import Estimate, Number, as_float, from_number, inverse, number

__all__ = ["Comparison", "Entry"]

_NO_CAPACITY = "no closed form of the capacity is known for this topology"
_IDLE = "no traffic loads any channel"


@dataclass(frozen=True)
class Entry:
    """What one routing does on one topology: loads, whose reciprocals are throughputs, and hops.

    What does not fit has no number; ``reasons`` says why, under the pattern, or ``"routing"`` for all of the row.

    Parameters
    ----------
    topology, routing : str
        Specs.
    capacity : Fraction, optional
        Throughput of uniform traffic under the best routing, where it has a closed form.
    worst : Fraction, optional
        Worst-case channel load.
    average : Estimate, optional
        Throughput over random permutations, the reciprocal of the mean largest load.
    patterns : mapping from pattern to Fraction or None
        Largest channel load under each.
    hops, minimal_hops : Fraction, optional
        Mean hops over all pairs, and the least of any routing.
    beyond : tuple of str
        Patterns in which some terminal takes more than one packet per cycle: they are not admissible.
    reasons : mapping
    """

    topology: str
    routing: str
    capacity: Fraction | None = None
    worst: Fraction | None = None
    average: Estimate | None = None
    patterns: dict[str, Fraction | None] = field(default_factory=dict)
    hops: Fraction | None = None
    minimal_hops: Fraction | None = None
    beyond: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)

    def throughput(self, name: str) -> Fraction | Estimate | None:
        """Packets per node and cycle in the worst case, on average or under a pattern; None where there is none."""
        if name == "average":
            return self.average
        load = self.worst if name == "worst" else self.patterns.get(name)
        return None if load is None else inverse(load)

    def of_capacity(self, name: str) -> Fraction | Estimate | None:
        """The same as a fraction of capacity; None where the capacity is not known."""
        through = self.throughput(name)
        if through is None or self.capacity is None:
            return None
        if isinstance(through, Estimate):
            share = float(self.capacity)
            return Estimate(through.value / share, through.stderr / share, through.samples)
        return through / self.capacity

    def best_known(self, name: str) -> Fraction | Estimate | None:
        """The fraction of capacity, or the throughput where the capacity is not known."""
        return self.throughput(name) if self.capacity is None else self.of_capacity(name)

    @property
    def hops_over_minimal(self) -> Fraction | None:
        """Mean hops over the least of any routing; None where there is nowhere to go."""
        return self.hops / self.minimal_hops if self.hops is not None and self.minimal_hops else None

    def why_not(self, name: str) -> str:
        """Why a number is missing."""
        return self.reasons.get(name) or self.reasons.get("routing") or _IDLE

    def to_dict(self, sampled: bool) -> dict[str, Any]:
        """The row as JSON types."""
        made: dict[str, Any] = {"topology": self.topology, "routing": self.routing}
        made["worst"] = self._figures("worst", self.worst)
        if sampled:
            made["average"] = self._figures("average")
        made["patterns"] = []
        for name, load in self.patterns.items():
            row = {"traffic": name} | self._figures(name, load)
            made["patterns"].append(row if load is None else row | {"admissible": name not in self.beyond})
        for name in ("hops", "minimal_hops", "hops_over_minimal"):
            made[name] = number(getattr(self, name))
            if made[name] is None:
                made[f"{name}_reason"] = self.reasons.get("routing", "no terminal has another one to send to")
        made["capacity"] = number(self.capacity)
        if self.capacity is None:
            made["capacity_reason"] = _NO_CAPACITY
        return made

    def _figures(self, name: str, load: Number = None) -> dict[str, Any]:
        made: dict[str, Any] = {} if name == "average" else {"channel_load": number(load)}
        made |= {"throughput": number(self.throughput(name)), "fraction_of_capacity": number(self.of_capacity(name))}
        for what, value in list(made.items()):
            if value is None:
                known = what == "fraction_of_capacity" and made["throughput"] is not None
                made[f"{what}_reason"] = _NO_CAPACITY if known else self.why_not(name)
        return made

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Entry:
        """The inverse of :meth:`to_dict`."""
        average = from_number(row["average"]["throughput"]) if "average" in row else None
        reasons = {p["traffic"]: p["channel_load_reason"] for p in row["patterns"] if "channel_load_reason" in p}
        if "channel_load_reason" in row["worst"]:
            reasons = {"routing": row["worst"]["channel_load_reason"]}
        return cls(
            topology=row["topology"],
            routing=row["routing"],
            capacity=_exact(row["capacity"]),
            worst=_exact(row["worst"]["channel_load"]),
            average=average if isinstance(average, Estimate) else None,
            patterns={each["traffic"]: _exact(each["channel_load"]) for each in row["patterns"]},
            hops=_exact(row["hops"]),
            minimal_hops=_exact(row["minimal_hops"]),
            beyond=tuple(each["traffic"] for each in row["patterns"] if not each.get("admissible", True)),
            reasons=reasons,
        )


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Routings side by side: worst case, average, patterns and hops, one row a routing on a topology."""

    kind: ClassVar[str] = "compare"

    entries: tuple[Entry, ...] = ()
    samples: int = 0

    @property
    def patterns(self) -> tuple[str, ...]:
        """The traffic patterns, in the order in which they were asked for."""
        return tuple(self.entries[0].patterns) if self.entries else ()

    def rows(self) -> Iterator[dict[str, Any]]:
        for each in self.entries:
            row: dict[str, Any] = {"topology": each.topology, "routing": each.routing, "worst_channel_load": each.worst}
            for name in ("worst", *(("average",) if self.samples else ()), *self.patterns):
                row[f"{name}_throughput"] = each.throughput(name)
                row[f"{name}_fraction_of_capacity"] = each.of_capacity(name)
            yield row | {"hops": each.hops, "hops_over_minimal": each.hops_over_minimal}

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made["rows"] = [each.to_dict(bool(self.samples)) for each in self.entries]
        return made | {"samples": self.samples, "provenance": self.provenance}

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Comparison:
        """The inverse of :meth:`to_dict`."""
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            entries=tuple(Entry.from_dict(row) for row in made["rows"]),
            samples=made["samples"],
        )

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([f"compare: {self._what()}", *(f"  {line}".rstrip() for line in lines), *self._notes()])

    def _repr_html_(self) -> str:
        head, *body = (
            "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) for row in self._cells()
        )
        caption = html.escape("; ".join([self._what(), *self._notes()]))
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        return f"<table><caption style='text-align:left'>{caption}</caption><tr><b>{head}</b></tr>{rows}</table>"

    @property
    def relative(self) -> bool:
        """Whether the table gives fractions of capacity: where every topology's is known, so that units never mix."""
        return all(each.capacity is not None for each in self.entries)

    def _what(self) -> str:
        what = "fractions of capacity" if self.relative else "throughput (packets per node and cycle)"
        return f"{what} on {self.topology}"

    def _cells(self) -> list[list[str]]:
        """The table as text, its heading first."""
        several = len({each.topology for each in self.entries}) > 1
        names = ["worst", *(["average"] if self.samples else []), *self.patterns]
        rows = [[*(["topology"] if several else []), "routing", *names, "hops", "× minimal"]]
        for each in self.entries:
            figures = each.of_capacity if self.relative else each.throughput
            numbers = [figures(name) for name in names] + [each.hops, each.hops_over_minimal]
            start = [each.topology] if several else []
            rows.append([*start, each.routing, *(_short(value) for value in numbers)])
        return rows

    def _notes(self) -> list[str]:
        """What the table leaves open: why a number is missing, and which traffic no worst case covers."""
        missing: dict[str, None] = {}
        for each in self.entries:
            for name in each.beyond:
                missing[f"  - {name} on {each.topology}: not admissible, terminals take more than 1 a cycle"] = None
            for name in each.patterns:
                if each.patterns[name] == 0:
                    missing[f"  - {name} on {each.topology}: loads no channel, its throughput is infinite"] = None
            for what, reason in each.reasons.items():
                missing[f"  - {'' if what == 'routing' else what + ' '}on {each.topology}: {reason}"] = None
        return list(missing)


def _exact(value: Any) -> Fraction | None:
    found = from_number(value)
    return found if isinstance(found, Fraction) else None


def _short(value: Number) -> str:
    """A number for a cell: an exact one as its fraction, where that is short, and its decimals."""
    if value is None:
        return "-"
    if isinstance(value, Estimate):
        return f"{value.value:.4f} ± {value.stderr:.1g}" if value.stderr > 1e-6 else f"{value.value:.4f} ± <1e-6"
    if value.denominator == 1:
        return str(value)
    text, decimal = str(value), f"{as_float(value):.4g}"
    return f"{text} = {decimal}" if len(text) <= 11 else f"≈ {decimal}"
