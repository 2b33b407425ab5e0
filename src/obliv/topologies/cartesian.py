"""Cartesian products of lines, rings and cliques (meshes, tori, HyperX), their maps of nodes, and undirected links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array, IntArray, NodeArray
from obliv._util.files import Value
from obliv.errors import RoutingError, TopologyError
from obliv.topologies.axes import Axis, Directions, first_links
from obliv.topologies.base import Topology, integers

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


def axes_of(topology: Topology) -> tuple[Axis, ...]:
    """Return the dimensions of a product of lines, rings and cliques, x first; empty for other networks."""
    return topology.axes if isinstance(topology, Cartesian) else ()


def directions_of(topology: Topology) -> Directions | None:
    """Return the dimension and direction of every channel; None in a network without coordinates."""
    return topology.directions if isinstance(topology, Cartesian) else None


def coordinate(radices: Sequence[int], dim: int) -> IntArray:
    """Return the coordinate of every node of a Cartesian network in one dimension."""
    return np.arange(prod(radices)) // prod(radices[:dim]) % radices[dim]


# Maps of nodes as maps of channels and of terminals; on Cartesian networks, as maps of dimensions and coordinates


def channel_map(topology: Topology, node_map: Array) -> Array | None:
    """Return the channel that each channel becomes when nodes are relabeled; None where the map is not an automorphism.

    Of parallel channels the k-th becomes the k-th; bandwidths must agree.
    """
    n = topology.nodes
    if (
        node_map.shape != (n,)
        or not np.issubdtype(node_map.dtype, np.integer)
        or not np.array_equal(np.sort(node_map), np.arange(n))
    ):
        return None
    return matched_channels(topology, node_map[topology.tail], node_map[topology.head])


def matched_channels(topology: Topology, tail: Array, head: Array) -> Array | None:
    """Return the channel that each channel becomes when it leads from `tail` to `head`; None where some have no match.

    Of parallel channels the k-th becomes the k-th; bandwidths must agree.
    """
    ends, image = (
        of[0].astype(np.int64) * topology.nodes + of[1] for of in ((topology.tail, topology.head), (tail, head))
    )
    here, there = np.argsort(ends, kind="stable"), np.argsort(image, kind="stable")
    if not np.array_equal(image[there], ends[here]):
        return None
    moved = np.empty(topology.channels, np.int64)
    moved[there] = here
    speeds = topology.bandwidth
    if speeds and any(speed != speeds[channel] for speed, channel in zip(speeds, moved.tolist(), strict=True)):
        return None
    return moved


def terminal_map(topology: Topology, node_map: Array) -> Array | None:
    """Return the terminal that each terminal becomes; None where terminals or their rates are not kept."""
    place: Array = topology.number_of[node_map[topology.terminals]]
    if (place < 0).any():
        return None
    for rates in (topology.injection, topology.ejection):
        if rates and any(rates[i] != rates[int(place[i])] for i in range(len(rates))):
            return None
    return place


def split_map(topology: Cartesian, node_map: Array) -> tuple[list[int], list[Array]] | None:
    """Return a node map as maps of dimensions and of coordinates; None where it is not a product of such."""
    radices, strides = topology.radices, topology.strides
    origin = topology.coordinates(int(node_map[0]))
    to_dim: list[int] = []
    to_coordinate: list[Array] = []
    for stride, radix in zip(strides, radices, strict=True):
        line = [topology.coordinates(int(node_map[x * stride])) for x in range(radix)]
        moves = [j for j in range(len(radices)) if any(at[j] != origin[j] for at in line)]
        if len(moves) != 1 or topology.axes[moves[0]] is not topology.axes[strides.index(stride)]:
            return None
        to_dim.append(moves[0])
        to_coordinate.append(np.array([at[moves[0]] for at in line]))
    numbers = np.arange(topology.nodes)
    image = np.zeros(topology.nodes, np.int64)
    for dim, stride in enumerate(strides):
        image += to_coordinate[dim][numbers // stride % radices[dim]] * strides[to_dim[dim]]
    if sorted(to_dim) != list(range(len(radices))) or not np.array_equal(image, node_map):
        return None
    return to_dim, to_coordinate


def keeps_steps(axis: Axis, to: Array) -> bool:
    """Return whether a map of a ring's coordinates carries steps onto steps all round: x to ±x + c."""
    steps = (np.roll(to, -1) - to) % axis.radix
    return axis.kind == "ring" and bool((steps == steps[0]).all()) and steps[0] in (1, axis.radix - 1)


def link_map(axis: Axis, image: Axis, to: Array) -> list[int]:
    """Return the link that each link becomes; of parallel links the k-th becomes the k-th, as channel numbers do."""
    places: dict[tuple[int, int], list[int]] = {}
    for link, ends in enumerate(image.links):
        places.setdefault(ends, []).append(link)
    seen: dict[tuple[int, int], int] = {}
    mapped = []
    for tail, head in axis.links:
        ends = int(to[tail]), int(to[head])
        rank = seen.get(ends, 0)
        seen[ends] = rank + 1
        mapped.append(places[ends][rank])
    return mapped


# Undirected links: channels paired with their opposites, and flows over them


@dataclass(frozen=True, eq=False)
class Links(Value):
    """The links of an undirected network.

    Attributes
    ----------
    forward, backward : int64 arrays, shape (links,)
        The two channels of every link.
    link : int64 array, shape (channels,)
        The link of every channel.
    sign : int64 array, shape (channels,)
        1 for the forward channel of its link, -1 for the backward one.
    """

    forward: Array
    backward: Array
    link: Array
    sign: Array


@dataclass(frozen=True, eq=False)
class LinkFlows(Value):
    """A unit flow from every terminal to one root; the flow between two terminals is a difference of two of them.

    Attributes
    ----------
    links : Links
    root : int
        A node.
    denominator : int
        All amounts are over it.
    amount : int64 array, shape (links, terminals)
        What the flow of each terminal carries over each link along the forward channel; negative against it.
    """

    links: Links
    root: int
    denominator: int
    amount: Array

    def over(self, channel: int) -> Array:
        """Return what the flow of every terminal carries along a channel, negative where it runs against it."""
        amount: Array = self.amount[self.links.link[channel]] * self.links.sign[channel]
        return amount

    def between(self, source: int, destination: int) -> Array:
        """Return the flow of a pair of terminals over every channel, in units of 1/denominator."""
        across = self.amount[:, source] - self.amount[:, destination]
        flow: Array = np.maximum(0, across[self.links.link] * self.links.sign)
        return flow


def links_of(topology: Topology, spec: str) -> Links:
    """Return the links of a network whose channels all have an opposite of the same bandwidth.

    Parallel channels are paired in the order of their bandwidths.
    """
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    speed = topology.bandwidth
    rank = np.zeros(topology.channels, np.int64)
    if speed:
        place = {value: k for k, value in enumerate(sorted(set(speed)))}
        rank = np.array([place[value] for value in speed], np.int64)
    here = np.lexsort((rank, head, tail))
    there = np.lexsort((rank, tail, head))
    lost = (
        (tail[here] != head[there]) | (head[here] != tail[there]) | (rank[here] != rank[there]) | (tail == head)[here]
    )
    if lost.any():
        channel = int(here[np.argmax(lost)])
        named = topology.channel_name(channel)
        raise RoutingError(
            f"{spec} needs an undirected network, where every channel has an opposite of the same bandwidth: "
            f"channel {channel} ({named}) has none"
        )
    opposite = np.empty(topology.channels, np.int64)
    opposite[here] = there
    forward = np.flatnonzero(tail < head)
    link = np.empty(topology.channels, np.int64)
    link[forward] = link[opposite[forward]] = np.arange(len(forward))
    return Links(forward, opposite[forward], link, np.where(tail < head, 1, -1))
