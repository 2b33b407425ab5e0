"""Names of nodes: in their discs where they fit, else below or beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from obliv.errors import InputError
from obliv.topologies.base import Topology
from obliv.view.layout.base import Points
from obliv.view.layout.curves import RADIUS
from obliv.view.literal import LITERAL, shortened
from obliv.view.network.name_places import stand_beside, stand_upright
from obliv.view.style import INK, MANY, NODE

if TYPE_CHECKING:
    from obliv.view.network.canvas import Canvas

__all__ = ["Labels", "Names", "draw_names", "names_of", "require_labels", "short_names"]

Labels = str | bool

_SMALLEST, _LARGEST = 5.0, 7.0  # points; font size of names outside the discs
_NAMED = 60  # nodes; networks up to this size have long names beside the nodes
_LONG, _LONGEST = 26, 34  # letters of a name, and of a name at the highlighted channel
_ROW = 5  # least number of terminals in a row
_LETTER = 0.57  # width of a letter over its size


@dataclass(frozen=True)
class Names:
    """Names of nodes by their place.

    Parameters
    ----------
    inside : sequence of str
        Names in discs, in the order of the nodes.
    below : dict
        Names by node that are written upright under terminals.
    beside : dict
        All other names by node.
    size : float
        Font size of the names inside or below, in points.
    row : frozenset of int
        Terminals that lie side by side below all other nodes.
    under : float
        Distance from these terminals to the flows drawn under them, in data units.
    """

    inside: Sequence[str] = ()
    below: Mapping[int, str] = field(default_factory=dict)
    beside: Mapping[int, str] = field(default_factory=dict)
    size: float = _LARGEST
    row: frozenset[int] = frozenset()
    under: float = 0.0


def require_labels(labels: Labels) -> None:
    """Raise InputError unless a choice of labels is ``"auto"``, True or False."""
    if labels not in ("auto", True, False):
        raise InputError(f"labels={labels!r}: use 'auto', True or False")


def names_of(topology: Topology, points: Points, unit: float, labels: Labels, ends: Mapping[int, str]) -> Names:
    """Return the names to draw where a data unit has `unit` points; long names only if they fit or are requested.

    Nodes in `ends` always have names, followed by the suffix given there.
    """
    row, pitch = ([], 0.0) if topology.axes else _row(topology, points, unit)
    below: dict[str, Any] = {"row": frozenset(row), "under": 1.3 * RADIUS}
    if labels is False:
        return Names(**below)
    at_ends = {node: f"{shortened(topology.name_of(node), _LONGEST)}{more}" for node, more in ends.items()}
    inside = short_names(topology)
    size = _size_inside(inside, unit)
    if size >= _SMALLEST:
        return Names(inside, beside=at_ends, size=size, **below)
    all_names = {node: shortened(topology.name_of(node), _LONG) for node in range(topology.nodes)} | at_ends
    beside = all_names if labels is True or topology.nodes <= _NAMED else _routers(topology, all_names) | at_ends
    under = {node: all_names[node] for node in row}
    small, long = min(_LARGEST, 0.9 * pitch), max(map(_long, under.values()), default=0.0)
    if not row or small < _SMALLEST or _LARGEST * long + 4.0 <= pitch:
        below["under"] += 1.6 * _LARGEST / unit if beside is all_names else 0.0
        return Names(beside=beside, **below)
    rest = {node: name for node, name in beside.items() if node not in under}
    below["under"] += (small * long + 4.0) / unit
    return Names(below=under, beside=rest, size=small, **below)


def _routers(topology: Topology, names: Mapping[int, str]) -> dict[int, str]:
    """Return the names of the nodes that are not terminals, if these are few."""
    routers = sorted(set(names) - set(topology.terminals.tolist()))
    return {node: names[node] for node in routers} if len(routers) <= _NAMED and topology.nodes <= MANY else {}


def draw_names(on: Canvas, terminal: Any) -> None:
    """Draw the names above everything else."""
    names = on.names
    for (x, y), name, white in zip(on.points.tolist() if names.inside else (), names.inside, terminal, strict=False):
        look: dict[str, Any] = {"fontsize": names.size, "color": INK if white else NODE, "zorder": 8, **LITERAL}
        on.ax.text(x, y, name, ha="center", va="center_baseline", **look)
    stand_upright(on, names.below, names.size)
    stand_beside(on, names.beside, _LARGEST)


def _row(topology: Topology, points: Points, unit: float) -> tuple[list[int], float]:
    """Return the terminals that lie side by side below all other nodes, if they are most, and their distance."""
    row = np.flatnonzero(points[:, 1] < points[:, 1].min() + 1e-6)
    ends = np.isin(row, topology.terminals).all()
    if not ends or len(row) < max(_ROW, len(topology.terminals) / 2) or len(row) == topology.nodes:
        return [], 0.0
    return row.tolist(), float(np.diff(np.sort(points[row, 0])).min()) * unit


def _long(name: str) -> float:
    """Return the length of a name over its font size."""
    return _LETTER * sum(1.8 if east_asian_width(letter) in "WF" else 1.0 for letter in name)


def _size_inside(names: Sequence[str], unit: float) -> float:
    """Return the font size at which all names fit into their discs, in points."""
    longest = max(len(name) - 0.5 * name.count(",") for name in names)
    return min(9.0, 0.92 * 2 * RADIUS * unit / (0.6 * max(longest, 1.6)))


def short_names(topology: Topology) -> list[str]:
    """Return coordinates such as ``0,1,2`` for up to four dimensions, else numbers or names."""
    if not topology.axes:
        return [topology.name_of(node) for node in range(topology.nodes)]
    if len(topology.axes) > 4:
        return [str(node) for node in range(topology.nodes)]
    places = product(*(range(radix) for radix in reversed(topology.radices)))
    return [",".join(map(str, reversed(place))) for place in places]
