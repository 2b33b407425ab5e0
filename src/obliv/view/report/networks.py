"""The networks of a report: drawn with loads as color, and proved by the page itself."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from obliv._util.progress import Progress
from obliv._util.text import plural, printable
from obliv.errors import OblivError
from obliv.results import WorstCase
from obliv.view.interactive.payload import Limits, untrusted_payload
from obliv.view.report.contents import Contents, Item
from obliv.view.report.quantities import Row, first_choice

__all__ = ["Networks", "networks_of"]

_ROOM = 2_000_000  # characters of all networks
_LIMITS = Limits(room=400_000, seconds=120.0)
_MOST_CELLS = 50_000  # terminals squared of the networks that are chosen from a study


@dataclass
class Networks:
    """The networks of a page, for its script, and why others are not there."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    worst_cases: int = 0

    @property
    def note(self) -> str:
        """How many worst cases the page has of all, in a sentence; empty if it has all."""
        missing = self.worst_cases - len(self.entries) - len(self.left_out)
        return f"The page has {len(self.entries)} of {plural(self.worst_cases, 'worst case')}." if missing > 0 else ""


def networks_of(
    contents: Contents, rows: Sequence[Row], most: int, budget: float, files: Sequence[Path], progress: Progress
) -> Networks:
    """Return up to `most` networks: those of saved results first, then the best ones of the topology shown first.

    What files name is built within `budget` seconds for all of them, from files in their folders and in `files`.
    """
    end = time.monotonic() + budget
    items = [item for item in contents.items if isinstance(item.result, WorstCase)]
    networks = Networks(worst_cases=len(items))
    room = _ROOM
    for item in _chosen(contents, items, rows):
        if len(networks.entries) == most:
            break
        result = item.result
        name = printable(item.row.label.partition(": ")[2])
        progress(f"drawing {name}", 0.4 + 0.5 * len(networks.entries) / most)
        try:
            folders = [contents.inputs[item.input].folder, *files]
            payload = untrusted_payload(result, _LIMITS, end - time.monotonic(), folders, name)  # type: ignore[arg-type]
        except (OblivError, NotImplementedError) as error:
            networks.left_out.append(printable(f"{name}: {error}"))
            continue
        size = len(json.dumps(payload, separators=(",", ":")))
        if size > room:
            networks.left_out.append(f"{name}: the networks of a page take up to {_ROOM / 1e6:g} MB")
            continue
        room -= size
        networks.entries.append(
            {
                "name": name,
                "topology": printable(item.row.topology),
                "routing": printable(item.row.routing or ""),
                "payload": payload,
            }
        )
    return networks


def _chosen(contents: Contents, items: Sequence[Item], rows: Sequence[Row]) -> Iterator[Item]:
    """Yield items in the order in which they get a network."""
    single = [item for item in items if contents.inputs[item.input].single]
    yield from single
    others = [item for item in items if not contents.inputs[item.input].single and _small(item)]
    if not others:
        return
    topology = first_choice([item.row.topology for item in others])
    here = {item.row.routing: item for item in others if item.row.topology == topology}
    known = {row.routing: row for row in rows if row.topology == printable(topology)}
    different: dict[Any, Item] = {}  # one of those that share a point of the plane
    for routing, item in here.items():
        row = known.get(printable(routing or ""))
        different.setdefault((row.hops, row.values.get("worst")) if row else routing, item)
    best = sorted(different.values(), key=lambda item: -_throughput(item))[:1]
    yield from best
    yield from (item for item in different.values() if item not in best)
    seen = {id(item) for item in different.values()}
    yield from (item for item in others if id(item) not in seen)  # other topologies, and what looks the same


def _small(item: Item) -> bool:
    permutation = getattr(item.result, "permutation", None) or ()
    return 0 < len(permutation) ** 2 <= _MOST_CELLS


def _throughput(item: Item) -> float:
    value = item.row.figures.get("")
    return float(value) if isinstance(value, Fraction) else 0.0
