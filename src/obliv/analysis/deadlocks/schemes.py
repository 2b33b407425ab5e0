"""Virtual-channel schemes: which virtual channel each hop of a path takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from obliv._util.text import did_you_mean
from obliv.errors import RoutingError, SpecError
from obliv.routings.graphs.updown import UpDown
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology

__all__ = [
    "COORDINATES",
    "PHASES",
    "PLANE",
    "PROGRAMS",
    "SCHEMES",
    "UP_DOWN",
    "Move",
    "Scheme",
    "bits_of",
    "directions",
    "find",
]

COORDINATES = "coordinates"
PLANE = "two dimensions"
PHASES = "phases"
PROGRAMS = "phase programs"

Label = Any  # a class of virtual channels: a number, or a tuple of numbers


class Move(NamedTuple):
    """One hop of a path, or several in a row that agree in all fields.

    `step` is the direction, +1 or -1 (in a clique the sign of the difference of coordinates); `phase` and `order` are
    those of the phase program, `first` the dimension that the order of its first phase begins with.
    """

    dim: int
    step: int
    phase: int = 0
    order: tuple[int, ...] = ()
    first: int = 0


Labels = Callable[[Sequence[Move]], list[Label]]
Turned = Callable[[Any, Any, Any, Any], Any]  # dimension and direction of a hop and of the next one; or arrays of them


@dataclass(frozen=True)
class Scheme:
    """A rule that gives every hop its virtual channel.

    Parameters
    ----------
    name : str
    summary : str
        One line for help and documentation.
    labels : callable
        The class of every move of a path.
    turned : callable, optional
        For rules that count turns between consecutive hops: whether there is one.
    needs : tuple of str
        Requirements: ``coordinates``, ``two dimensions``, ``phases``, ``phase programs``.
    directed : bool
        Whether directions matter.
    ordered : bool
        Whether the orders of a program matter, where some of its segments are empty too.
    dateline : bool
        Whether each class is split by a dateline bit.
    ranked : bool
        Whether `dim` of a hop is 0 for a channel that leads up, by the ranks of ``updown``, and 1 for one down.
    """

    name: str
    summary: str
    labels: Labels
    turned: Turned | None = None
    needs: tuple[str, ...] = ()
    directed: bool = False
    ordered: bool = False
    dateline: bool = False
    ranked: bool = False


def _never(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    return dim > dim  # False, or an array of it


def _back_in_order(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    """Return whether it is a turn from a later dimension to an earlier one."""
    return dim > next_dim


def _back_or_reversed(dim: Any, step: Any, next_dim: Any, next_step: Any) -> Any:
    """Return whether it is such a turn, or one by 180 degrees."""
    return (dim > next_dim) | ((dim == next_dim) & (step != next_step))


def _counted(turned: Turned) -> Labels:
    """Return a rule whose class is the number of turns so far."""

    def labels(moves: Sequence[Move]) -> list[Label]:
        classes, count = [], 0
        for at, move in enumerate(moves):
            if at:
                last = moves[at - 1]
                count += bool(turned(last.dim, last.step, move.dim, move.step))
            classes.append(count)
        return classes

    return labels


def _by_x_direction(moves: Sequence[Move]) -> list[Label]:
    """Y split by the direction that the packet takes in X, earlier or later; without X it goes with the upward ones."""
    taken = {move.step for move in moves if move.dim == 0}
    if len(taken) > 1:
        raise RoutingError(
            "double-y needs packets that go one way in X, some of this routing go both: turn and turn+uturn fit it"
        )
    return [1 if move.dim and taken == {-1} else 0 for move in moves]


PLAIN = (
    Scheme("none", "one virtual channel", _counted(_never), _never),
    Scheme(
        "phase",
        "the phase of the routing: to the intermediate, from it",
        lambda moves: [move.phase for move in moves],
        needs=(PHASES,),
    ),
    Scheme(
        "turn",
        "one more after each turn from a later dimension to an earlier one (Y to X)",
        _counted(_back_in_order),
        _back_in_order,
        (COORDINATES,),
    ),
    Scheme(
        "turn+uturn",
        "one more after each such turn and after each turn by 180 degrees",
        _counted(_back_or_reversed),
        _back_or_reversed,
        (COORDINATES,),
        directed=True,
    ),
    Scheme(
        "family",
        "the dimension that the routing's first phase begins with (XYX or YXY, XY or YX)",
        lambda moves: [move.first for move in moves],
        needs=(PROGRAMS,),
        ordered=True,
    ),
    Scheme(
        "phase-order",
        "the phase and the order of dimensions in it",
        lambda moves: [(move.phase, move.order) for move in moves],
        needs=(PROGRAMS,),
        ordered=True,
    ),
    Scheme(
        "double-y",
        "in Y the direction that the packet takes in X; in X one virtual channel",
        _by_x_direction,
        needs=(PLANE,),
        directed=True,
    ),
)

UP_DOWN = Scheme(
    "updown",
    "one more after each turn from down to up, by the ranks of the routing updown",
    _counted(_back_in_order),
    _back_in_order,
    ranked=True,
)


def _with_dateline(scheme: Scheme) -> Scheme:
    alone = scheme.name == "none"
    return replace(
        scheme,
        name="dateline" if alone else f"{scheme.name}+dateline",
        summary="one more behind the wrap-around link of a ring" if alone else f"{scheme.name}, each split by dateline",
        needs=tuple(dict.fromkeys((*scheme.needs, COORDINATES))),
        directed=True,
        dateline=True,
    )


#: Every scheme by its name.
SCHEMES = {scheme.name: scheme for scheme in (*PLAIN, *map(_with_dateline, PLAIN), UP_DOWN)}


def find(name: Any) -> Scheme:
    """Return the scheme of a name; raise SpecError with a hint where it is unknown."""
    if not isinstance(name, str):
        raise SpecError(f"a virtual-channel scheme is a name or a function, not {name!r}")
    if name not in SCHEMES:
        fewest = "; {fewest_virtual_channels} finds the one with the fewest virtual channels" if name.isdigit() else ""
        raise SpecError.naming("unknown virtual-channel scheme {0!r}: {1}" + fewest, name, did_you_mean(name, SCHEMES))
    return SCHEMES[name]


def bits_of(moves: Sequence[Move], labels: Sequence[Label], wraps: Sequence[bool]) -> list[int]:
    """Return the dateline bit of every hop: set after a wrap-around link, cleared by a turn or a change of class."""
    bits: list[int] = []
    for at, move in enumerate(moves):
        straight = at > 0 and moves[at - 1][:2] == move[:2] and labels[at - 1] == labels[at]
        bits.append(int(bits[-1] or wraps[at - 1]) if straight else 0)
    return bits


def directions(topology: Topology, scheme: Scheme | None = None) -> Directions:
    """Return the directions of all channels as a scheme sees them; without coordinates all channels are alike."""
    zeros = np.zeros(topology.channels, np.int64)
    if scheme is not None and scheme.ranked:
        rank = UpDown(topology).rank
        return Directions((rank[topology.head] < rank[topology.tail]).astype(np.int64), zeros, zeros.astype(bool))
    return topology.directions or Directions(zeros, zeros, zeros.astype(bool))
