"""Maps of nodes as maps of channels and of terminals; on Cartesian networks, as maps of dimensions and coordinates."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.topologies.axes import Axis
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import Cartesian

__all__ = ["channel_map", "keeps_steps", "link_map", "matched_channels", "split_map", "terminal_map"]


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
