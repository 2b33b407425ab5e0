"""Rules of legal paths: which channel may follow which, and how many turns of a kind a path may take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rationals import integer
from obliv.errors import InputError
from obliv.routings.shortest import UpDown
from obliv.topologies.axes import Directions
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import axes_of, directions_of

__all__ = ["Rule", "rule_of"]

_FORBIDDEN = -1


@dataclass(frozen=True, eq=False)
class Rule:
    """Channels of some kinds, and what a path pays where one kind follows another: nothing, one, or it is forbidden.

    Parameters
    ----------
    kind : int64 array, shape (channels,)
    price : int64 array, shape (kinds, kinds)
        0, 1, or -1 where the second kind must not follow the first.
    limit : int
        Largest sum of prices along a path, at most the number of nodes: paths without loops pay less.
    constraint : str
        The rule in words, as a claim states it.
    """

    kind: Array
    price: Array
    limit: int
    constraint: str

    @property
    def table(self) -> Array:
        """The automaton that reads kinds: from each memory the next one, -1 where forbidden; 0 is that of the start."""
        kinds = len(self.price)
        after = np.arange(self.limit + 1)[:, None, None] + self.price
        legal = (self.price != _FORBIDDEN) & (after <= self.limit)
        following = np.where(legal, 1 + after * kinds + np.arange(kinds), -1)
        return np.concatenate([1 + np.arange(kinds)[None, :], following.reshape(-1, kinds)])


def rule_of(topology: Topology, max_turns: int | None, vc: int | None) -> Rule | None:
    """Return the rule that a limit of turns, or of virtual channels, sets; None without a limit."""
    if max_turns is None and vc is None:
        return None
    if max_turns is None:
        return _virtual_channels(topology, integer(vc, "vc"))
    if vc is not None:
        raise InputError("a limit of turns cannot be combined with one of virtual channels: choose one of them")
    limit = integer(max_turns, "max_turns")
    if limit < 0:
        raise InputError(f"at most {limit} turns: choose a number from 0")
    where = _grid_directions(topology)
    if where is None:
        raise InputError(f"{topology.spec}: turns are counted on meshes, tori and hypercubes only")
    kind, dim = _kinds(where)
    price = np.where(dim[:, None] != dim, 1, np.where(np.eye(len(dim), dtype=bool), 0, _FORBIDDEN))
    return Rule(kind, price, min(limit, topology.nodes), f"at most {limit} turn{'s' if limit != 1 else ''}")


def _virtual_channels(topology: Topology, number: int) -> Rule:
    """Return the rule of the scheme that fits the topology: ``turn``, ``turn+dateline`` or ``updown``."""
    if number < 1:
        raise InputError(f"{number} virtual channels: choose a number from 1")
    most = min(number, 2 * topology.nodes)
    where = _grid_directions(topology)
    if where is None:
        rank = UpDown(topology).rank
        down = (rank[topology.head] < rank[topology.tail]).astype(np.int64)
        price = np.array([[0, 0], [1, 0]])
        return Rule(down, price, most - 1, f"at most {number} virtual channel{'s' if number != 1 else ''} by updown")
    kind, dim = _kinds(where)
    straight = np.eye(len(dim), dtype=bool)
    price = np.where((dim[:, None] == dim) & ~straight, _FORBIDDEN, dim[:, None] > dim)
    if not where.wraps.any():
        return Rule(kind, price, most - 1, f"at most {number} virtual channel{'s' if number != 1 else ''} by turn")
    if number < 2:
        raise InputError(f"{topology.spec} has rings: without deadlock it takes at least 2 virtual channels")
    return Rule(kind, price, most // 2 - 1, f"at most {number // 2} × 2 virtual channels by turn+dateline")


def _grid_directions(topology: Topology) -> Directions | None:
    """Return the directions of the channels of a mesh, torus or hypercube; None for other networks."""
    if any(along.kind == "clique" and along.radix > 2 for along in axes_of(topology)):
        return None
    return directions_of(topology)


def _kinds(where: Directions) -> tuple[Array, Array]:
    """Return the kind of every channel by dimension and direction, and the dimension of every kind."""
    names, kind = np.unique(np.stack([where.dim, where.step], axis=1), axis=0, return_inverse=True)
    return kind.ravel(), names[:, 0]
