"""Meshes, tori, twisted tori, hypercubes and other Cartesian networks by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.axes import Axis, axis, first_links
from obliv.topologies.base import Number, RatesLike, Topology, integers, positive_number, rates_of, require_network
from obliv.topologies.cartesian import Cartesian, coordinate
from obliv.topologies.make import build

#: Packets per cycle of all channels, or of the channels along each dimension; text as in ``1x1/2``.
Bandwidth = Number | Sequence[Number]


def _grid(
    name: str,
    kind: str,
    radices: Sequence[int],
    share: Fraction | None = None,
    bandwidth: Bandwidth = 1,
    injection: RatesLike = 1,
    ejection: RatesLike = 1,
) -> Cartesian:
    """Return a product of axes of one kind whose capacity load is a share of the mesh's; without one it is unknown."""
    radices = integers(name, *radices)
    spec = f"{name}:{'x'.join(map(str, radices))}"
    if not radices:
        raise TopologyError(f"{name} needs its radices, for example {name}:8x8")
    for radix in radices:
        if radix < 2:
            raise TopologyError(f"{spec}: radix {radix}; every radix must be at least 2")
    nodes = prod(radices)
    per_node = sum(radix - 1 for radix in radices) if kind == "clique" else 2 * len(radices)
    require_network(nodes, nodes * per_node, spec)
    speeds = _speeds(spec, len(radices), bandwidth)
    loads = [] if share is None else [share * _bisection_load(k) / b for k, b in zip(radices, speeds, strict=True)]
    network = product(spec, [axis(kind, radix) for radix in radices], max(loads, default=None))
    return _with_speeds(network, speeds, injection, ejection)


def _speeds(spec: str, dimensions: int, bandwidth: Bandwidth) -> list[Fraction]:
    """Return the bandwidth of the channels along each dimension, from one number or several as in ``1x1/2``."""
    if isinstance(bandwidth, str):
        values: list[Number] = list(bandwidth.split("x"))
    else:
        values = list(bandwidth) if isinstance(bandwidth, Sequence | np.ndarray) else [bandwidth]
    if len(values) not in (1, dimensions):
        text = "x".join(map(str, values))
        raise TopologyError(f"{spec}: {len(values)} bandwidths {text}; give one, or one for each dimension")
    speeds = [positive_number(value, f"{spec}: bandwidth") for value in values]
    return speeds * dimensions if len(speeds) == 1 else speeds


def _with_speeds(network: Cartesian, speeds: list[Fraction], injection: RatesLike, ejection: RatesLike) -> Cartesian:
    """Return the network, and its spec, with the bandwidth of each dimension and the rates of all terminals."""
    if set(speeds) == {1} and all(isinstance(rate, int) and rate == 1 for rate in (injection, ejection)):
        return network
    send, take = rates_of(network, "injection", injection), rates_of(network, "ejection", ejection)
    speed = "x".join(map(str, speeds)) if len(set(speeds)) > 1 else str(speeds[0])
    named = {"bandwidth": speed, "injection": send.text, "ejection": take.text}
    spec = ",".join([network.spec, *(f"{key}={value}" for key, value in named.items() if value != "1")])
    if spec == network.spec:
        return network
    unit = set(send.values + take.values) <= {1}
    return replace(
        network,
        spec=spec,
        bandwidth=() if set(speeds) == {1} else tuple(speeds[dim] for dim in network.dim_of.tolist()),
        injection=send.values,
        ejection=take.values,
        sources=send.sources + take.sources,
        capacity_load=network.capacity_load if unit else None,
    )


def _bisection_load(k: int) -> Fraction:
    """Return the largest load of uniform traffic along a dimension of a mesh: k/4, or (k² - 1)/(4k) for odd k."""
    return Fraction(k, 4) if k % 2 == 0 else Fraction(k * k - 1, 4 * k)


@register_topology("mesh", example="mesh:8x8")
def mesh(*radices: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """Mesh of any number of dimensions; radices may differ.

    Parameters
    ----------
    *radices : int
        Nodes per dimension, x first, each at least 2.
    bandwidth : number, sequence or str, optional
        Packets per cycle of every channel, default 1; or one for each dimension, as in ``1x1/2`` or ``[1, "1/2"]``.
    injection, ejection : number, sequence, mapping or str, optional
        Packets per cycle that terminals send and receive at most, as for :meth:`Topology.with_rates`; default 1.

    Returns
    -------
    Cartesian
        Capacity (exact, as a load): k/4 for even k, (k² - 1)/(4k) for odd k, k the longest side (Dally and Towles).

    Raises
    ------
    TopologyError
        If there is no radix, one is less than 2, or the network is too large.

    Examples
    --------
    >>> mesh(8, 8)
    <Topology mesh:8x8: 64 nodes, 224 channels, 64 terminals>
    """
    return _grid("mesh", "line", radices, Fraction(1), bandwidth, injection, ejection)


@register_topology("torus", example="torus:9x9")
def torus(*radices: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """Torus (k-ary n-cube, radices may differ) with channels in both directions around every ring.

    Parameters
    ----------
    *radices : int
        Nodes per dimension, x first, each at least 2; radix 2 has two parallel channels between its nodes.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian
        Capacity (exact, as a load): half that of the mesh.

    Examples
    --------
    >>> torus(9, 9).capacity_load
    Fraction(10, 9)
    """
    return _grid("torus", "ring", radices, Fraction(1, 2), bandwidth, injection, ejection)


@register_topology("line", example="line:9")
def line(nodes: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """Linear array: a mesh of one dimension.

    Parameters
    ----------
    nodes : int
        At least 2.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian

    Examples
    --------
    >>> line(9)
    <Topology line:9: 9 nodes, 16 channels, 9 terminals>
    """
    return _grid("line", "line", [nodes], Fraction(1), bandwidth, injection, ejection)


@register_topology("ring", example="ring:16")
def ring(nodes: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """Ring with channels in both directions: a torus of one dimension.

    Parameters
    ----------
    nodes : int
        At least 2.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian

    Examples
    --------
    >>> ring(16).capacity_load
    Fraction(2, 1)
    """
    return _grid("ring", "ring", [nodes], Fraction(1, 2), bandwidth, injection, ejection)


@register_topology("hypercube", example="hypercube:6")
def hypercube(
    dimensions: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1
) -> Cartesian:
    """Binary hypercube of 2^dimensions nodes, with a channel in each direction between neighbors.

    Parameters
    ----------
    dimensions : int
        1 to 30.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian

    Examples
    --------
    >>> hypercube(6)
    <Topology hypercube:6: 64 nodes, 384 channels, 64 terminals>
    """
    (dimensions,) = integers("hypercube", dimensions=dimensions)
    if dimensions < 1:
        raise TopologyError(f"hypercube:{dimensions}: at least 1 dimension is needed")
    if dimensions > 30:
        raise TopologyError(f"hypercube:{dimensions}: 2^{dimensions} nodes are too many")
    require_network(2**dimensions, 2 * dimensions * 2**dimensions, f"hypercube:{dimensions}")
    speeds = _speeds(f"hypercube:{dimensions}", dimensions, bandwidth)
    network = product(f"hypercube:{dimensions}", [axis("line", 2)] * dimensions, Fraction(1, 2) / min(speeds))
    return _with_speeds(network, speeds, injection, ejection)


@register_topology("hyperx", aliases=("flattened-butterfly",), example="hyperx:4x4")
def hyperx(*radices: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """HyperX (flattened butterfly): all-to-all in each dimension.

    Parameters
    ----------
    *radices : int
        Nodes per dimension, x first, each at least 2.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian

    References
    ----------
    [Ahn09] J. H. Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC 2009.

    Examples
    --------
    >>> hyperx(4, 4)
    <Topology hyperx:4x4: 16 nodes, 96 channels, 16 terminals>
    """
    return _grid("hyperx", "clique", radices, None, bandwidth, injection, ejection)


@register_topology("complete", aliases=("clique",), example="complete:8")
def complete(nodes: int, bandwidth: Bandwidth = 1, injection: RatesLike = 1, ejection: RatesLike = 1) -> Cartesian:
    """Complete graph: a channel from every node to every other.

    Parameters
    ----------
    nodes : int
        At least 2.
    bandwidth, injection, ejection : optional
        As for :func:`mesh`.

    Returns
    -------
    Cartesian

    Examples
    --------
    >>> complete(8).channels
    56
    """
    return _grid("complete", "clique", [nodes], None, bandwidth, injection, ejection)


def product(spec: str, axes: Sequence[Axis], capacity_load: Fraction | None) -> Cartesian:
    """Return the product of axes, x first."""
    radices = [along.radix for along in axes]
    nodes = prod(radices)
    tails, dims, links, heads = [], [], [], []
    for dim, along in enumerate(axes):
        at, first = coordinate(radices, dim), first_links(along)
        degree = np.diff(first)[at]
        tails.append(np.repeat(np.arange(nodes), degree))
        links.append(np.arange(degree.sum()) + np.repeat(first[at] - np.cumsum(degree) + degree, degree))
        dims.append(np.full(len(tails[-1]), dim))
        steps = np.diff(np.asarray(along.links))[:, 0] * prod(radices[:dim])
        heads.append(tails[-1] + steps[links[-1]])
    tail = np.concatenate(tails)
    order = np.argsort(tail, kind="stable")
    return Cartesian(
        spec=spec,
        nodes=nodes,
        tail=tail[order].astype(np.int32),
        head=np.concatenate(heads)[order].astype(np.int32),
        terminals=np.arange(nodes, dtype=np.int32),
        capacity_load=capacity_load,
        positions=_positions(radices),
        generators=_generators(axes),
        translations=_translations(axes),
        axes=tuple(axes),
        dim_of=np.concatenate(dims)[order].astype(np.int32),
        link_of=np.concatenate(links)[order].astype(np.int32),
    )


def _positions(radices: Sequence[int]) -> npt.NDArray[np.float64]:
    """Place dimensions x and y as a tile, and further ones as tiles side by side, right and up in turn."""
    place = np.zeros((prod(radices), 2))
    scale = [1.0, 1.0]
    for dim, radix in enumerate(radices):
        place[:, dim % 2] += coordinate(radices, dim) * scale[dim % 2]
        scale[dim % 2] *= radix + 0.6
    return place


def _moved(axes: Sequence[Axis], dim: int, to: npt.NDArray[Any]) -> NodeArray:
    """Return the node map that moves coordinate `dim` only."""
    radices = [along.radix for along in axes]
    at = coordinate(radices, dim)
    moved: NodeArray = (np.arange(len(at)) + (to[at] - at) * prod(radices[:dim])).astype(np.int32)
    return moved


def _translations(axes: Sequence[Axis]) -> tuple[NodeArray, ...]:
    if any(along.kind == "line" and along.radix > 2 for along in axes):
        return ()
    return tuple(_moved(axes, dim, (np.arange(along.radix) + 1) % along.radix) for dim, along in enumerate(axes))


def _generators(axes: Sequence[Axis]) -> tuple[NodeArray, ...]:
    maps = []
    for dim, along in enumerate(axes):
        at = np.arange(along.radix)
        if along.kind != "line":
            maps.append(_moved(axes, dim, (at + 1) % along.radix))
        if along.kind == "clique" and along.radix > 2:
            swap = at.copy()
            swap[:2] = [1, 0]
            maps.append(_moved(axes, dim, swap))
        elif along.kind == "line" or along.radix > 2:
            maps.append(_moved(axes, dim, at[::-1].copy()))
    grid = np.arange(prod(along.radix for along in axes)).reshape([along.radix for along in axes[::-1]])
    for dim in range(len(axes) - 1):
        if axes[dim] is axes[dim + 1]:
            last = len(axes) - 1 - dim  # the grid counts dimensions from the slowest
            maps.append(grid.swapaxes(last, last - 1).ravel().astype(np.int32))
    return tuple(maps)


# Twisted tori: tori whose wrap-around links of one dimension lead to a shifted place


@register_topology("twisted-torus", example="twisted-torus:8x4,twist=4")
def twisted_torus(*radices: int, twist: int) -> Topology:
    """Twisted torus of two dimensions: going once round in y moves a packet by `twist` in x.

    Parameters
    ----------
    *radices : int
        kx and ky, each at least 2.
    twist : int
        Shift in x of the wrap-around links of y, 0 to kx - 1. With kx = 2·ky and twist = ky the network is symmetric in
        its two dimensions, unlike the torus.

    Returns
    -------
    Topology
        Node x + kx·y is at (x, y). Its channels lead to x + 1, x - 1, y + 1 and y - 1; that from y = ky - 1 up leads to
        (x + twist, 0). Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a radix or the twist is out of range, or the network is too large.

    References
    ----------
    [Cam10] J. M. Cámara, M. Moretó, E. Vallejo, R. Beivide et al., "Twisted torus topologies for enhanced
    interconnection networks", IEEE TPDS 21 (12), 2010.

    Examples
    --------
    >>> twisted_torus(8, 4, twist=4)
    <Topology twisted-torus:8x4,twist=4: 32 nodes, 128 channels, 32 terminals>
    """
    (twist,), radices = integers("twisted-torus", twist=twist), integers("twisted-torus", *radices)
    spec = f"twisted-torus:{'x'.join(map(str, radices))},twist={twist}"
    if len(radices) != 2 or min(radices) < 2:
        raise TopologyError(f"{spec}: two radices of at least 2 are needed, as in twisted-torus:8x4,twist=4")
    kx, ky = radices
    if not 0 <= twist < kx:
        raise TopologyError(f"{spec}: the twist is out of range; it is 0 to {kx - 1}")
    n = kx * ky
    require_network(n, 4 * n, spec)
    node = np.arange(n)
    y, x = np.divmod(node, kx)

    def at(x: NodeArray, y: NodeArray) -> NodeArray:
        """Return the node that a packet at x, y has reached, y from -1 to ky."""
        turns = y // ky
        place: NodeArray = (x + twist * turns) % kx + kx * (y - ky * turns)
        return place

    heads = np.column_stack([at(x + 1, y), at(x - 1, y), at(x, y + 1), at(x, y - 1)])
    steps = tuple(at(x + dx, y + dy).astype(np.int32) for dx, dy in ((1, 0), (0, 1)))
    return build(
        spec,
        n,
        np.column_stack([np.repeat(node, 4), heads.ravel()]),
        positions=np.column_stack([x, y]).astype(float),
        generators=(*steps, at(-x, -y).astype(np.int32)),
    )
