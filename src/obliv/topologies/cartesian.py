"""Cartesian products of lines, rings and cliques: meshes, tori, hypercubes, HyperX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from obliv._util.typing import IntArray, NodeArray
from obliv.errors import TopologyError
from obliv.topologies.axes import Axis, Directions, first_links
from obliv.topologies.base import Topology
from obliv.topologies.checks import integers

__all__ = ["Cartesian", "coordinate"]


_COORDINATES = re.compile(r"\( *\d{1,9}( *, *\d{1,9})*,? *\)", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class Cartesian(Topology):
    """A product of axes; node = x + kx·(y + ky·z …), first dimension fastest.

    Parameters
    ----------
    axes : tuple of Axis
        The dimensions, x first.
    dim_of, link_of : int32 arrays, shape (channels,)
        The axis and the link of it that every channel runs along.

    Examples
    --------
    >>> import obliv
    >>> obliv.torus(3, 4).coordinates(7), obliv.torus(3, 4).radices
    ((1, 2), (3, 4))
    """

    axes: tuple[Axis, ...] = ()
    dim_of: NodeArray = field(default_factory=lambda: np.zeros(0, np.int32))
    link_of: NodeArray = field(default_factory=lambda: np.zeros(0, np.int32))

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The radix of every dimension, x first."""
        return tuple(along.radix for along in self.axes)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """The difference in node number of one step in each dimension."""
        return tuple(prod(self.radices[:dim]) for dim in range(len(self.axes)))

    def coordinates(self, node: int) -> tuple[int, ...]:
        """Return the coordinates of a node, x first."""
        return tuple(node // stride % radix for stride, radix in zip(self.strides, self.radices, strict=True))

    def at_coordinates(self, coordinates: Sequence[int]) -> int:
        """Return the node with these coordinates, x first; TopologyError where there is none."""
        place = integers(self.spec, **{f"coordinate {dim}": x for dim, x in enumerate(coordinates)})
        if len(place) != len(self.radices) or not all(0 <= x < k for x, k in zip(place, self.radices, strict=True)):
            last = ",".join(str(k - 1) for k in self.radices)
            raise TopologyError(
                f"{self.spec} has no node {_text(place)}; nodes are {_text([0] * len(self.radices))} to ({last})"
            )
        return sum(x * stride for x, stride in zip(place, self.strides, strict=True))

    @cached_property
    def directions(self) -> Directions:
        """Dimension and direction of every channel, and whether it is a wrap-around link."""
        step, wraps = np.zeros(self.channels, np.int64), np.zeros(self.channels, bool)
        for dim, along in enumerate(self.axes):
            of_dim = np.flatnonzero(self.dim_of == dim)
            links = self.link_of[of_dim]
            step[of_dim] = np.array(along.steps, np.int64)[links]
            wraps[of_dim] = np.isin(links, list(along.wraps))
        return Directions(self.dim_of.astype(np.int64), step, wraps)

    @property
    def mean_distance(self) -> Fraction | None:
        """Mean distance over all ordered pairs of nodes; None where not all nodes are terminals."""
        if not self.all_terminals:
            return None
        return sum((Fraction(int(along.distances.sum()), along.radix**2) for along in self.axes), Fraction(0))

    def name_of(self, node: int) -> str:
        """Return the coordinates of a node, in parentheses."""
        return str(node) if len(self.axes) == 1 else _text(self.coordinates(node))

    def _named(self, name: str) -> int | None:
        if _COORDINATES.fullmatch(name) is None:
            return None
        return self.at_coordinates([int(word) for word in name.strip("(), ").split(",")])

    @cached_property
    def link_zero(self) -> list[npt.NDArray[np.int64]]:
        """For every axis and node the channel along link 0 of the axis, as if it began at that node."""
        first, tables = self.first_channel[:-1], []
        for dim, along in enumerate(self.axes):
            links, at = first_links(along), coordinate(self.radices, dim)
            tables.append(first - links[at])
            first = first + np.diff(links)[at]
        return tables


def _text(coordinates: Sequence[int]) -> str:
    return f"({','.join(map(str, coordinates))})"


def coordinate(radices: Sequence[int], dim: int) -> IntArray:
    """Return the coordinate of every node of a Cartesian network in one dimension."""
    return np.arange(prod(radices)) // prod(radices[:dim]) % radices[dim]
