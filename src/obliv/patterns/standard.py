"""Standard traffic patterns."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import reversed_bits, whole
from obliv._util.cost import require_memory
from obliv.errors import TopologyError, TrafficError
from obliv.patterns.base import Traffic, from_flows
from obliv.patterns.matrices import permutation
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology
from obliv.topologies.terminals import terminal_reader

__all__ = [
    "anti_transpose",
    "bit_complement",
    "bit_reverse",
    "complement",
    "hot_nodes",
    "nearest_neighbor",
    "random_permutation",
    "shift",
    "shuffle",
    "tornado",
    "transpose",
    "uniform",
]

Coordinates = tuple[int, ...]


@register_pattern("uniform", aliases=("random",))
def uniform(topology: Topology) -> Traffic:
    """Every terminal sends 1/N to each terminal, itself included."""
    empty = np.zeros(0, np.int32)
    return Traffic("uniform", len(topology.terminals), Fraction(1), empty, empty, np.zeros(0, np.int64))


@register_pattern("transpose")
def transpose(topology: Topology) -> Traffic:
    """(x, y) sends to (y, x); needs a square network of two dimensions."""
    _square(topology, "transpose")
    return _on_coordinates("transpose", topology, lambda at, radices: (at[1], at[0]))


@register_pattern("anti-transpose", aliases=("dor-wc",))
def anti_transpose(topology: Topology) -> Traffic:
    """(x, y) sends to (k-1-y, k-1-x); needs a square network of two dimensions."""
    _square(topology, "anti-transpose")
    return _on_coordinates("anti-transpose", topology, lambda at, k: (k[0] - 1 - at[1], k[0] - 1 - at[0]))


@register_pattern("complement")
def complement(topology: Topology) -> Traffic:
    """Every coordinate is mirrored, x to k-1-x (Towles' "bit-complement")."""
    return _on_coordinates(
        "complement", topology, lambda at, radices: tuple(k - 1 - x for x, k in zip(at, radices, strict=True))
    )


@register_pattern("tornado")
def tornado(topology: Topology) -> Traffic:
    """Every node sends to the node ⌈k/2⌉ - 1 positions ahead in the first dimension, modulo k."""
    return _on_coordinates("tornado", topology, lambda at, k: ((at[0] + (k[0] + 1) // 2 - 1) % k[0], *at[1:]))


@register_pattern("bit-complement", aliases=("bitcomp", "bitcomplement"))
def bit_complement(topology: Topology) -> Traffic:
    """Every terminal sends to its number with all bits inverted; needs a power of two."""
    return _on_bits("bit-complement", topology, lambda number, bits: number ^ ((1 << bits) - 1))


@register_pattern("bit-reverse", aliases=("bitrev",))
def bit_reverse(topology: Topology) -> Traffic:
    """Every terminal sends to its number with the bits in reverse order; needs a power of two."""
    return _on_bits("bit-reverse", topology, reversed_bits)


@register_pattern("shuffle")
def shuffle(topology: Topology) -> Traffic:
    """Every terminal sends to its number with the bits rotated left by one; needs a power of two."""
    return _on_bits(
        "shuffle", topology, lambda number, bits: ((number << 1) | (number >> (bits - 1))) & ((1 << bits) - 1)
    )


@register_pattern("shift", example="shift:3")
def shift(topology: Topology, by: int) -> Traffic:
    """Terminal i sends to terminal i + BY, modulo the number of terminals."""
    n = len(topology.terminals)
    return permutation((np.arange(n) + by) % n, f"shift:{by}")


@register_pattern("nearest-neighbor", aliases=("nearest-neighbour",))
def nearest_neighbor(topology: Topology) -> Traffic:
    """Every terminal splits one packet per cycle evenly among the terminals one channel away."""
    index = topology.number_of
    flows: dict[tuple[int, int], Fraction] = {}
    first = topology.first_channel
    for s, node in enumerate(topology.terminals.tolist()):
        near = sorted({int(index[head]) for head in topology.head[first[node] : first[node + 1]] if index[head] >= 0})
        for d in near:
            flows[s, d] = Fraction(1, len(near))
    if not flows:
        raise TrafficError(f"nearest-neighbor: no terminal of {topology.spec} is one channel away from another")
    return from_flows("nearest-neighbor", len(topology.terminals), flows, Fraction(0))


@register_pattern("hot-nodes", example="hot-nodes:5,10,share=1/2")
def hot_nodes(topology: Topology, *nodes: int | str, share: Fraction = Fraction(1)) -> Traffic:
    """Share of every terminal's packets to the given terminals, evenly (BookSim's "hotspot"); the rest is uniform."""
    n = len(topology.terminals)
    spec = ",".join([f"hot-nodes:{','.join(map(str, nodes))}", *([f"share={share}"] if share != 1 else [])])
    if not nodes:
        raise TrafficError("hot-nodes: no terminals are given; write for example hot-nodes:5,10,share=1/2")
    try:
        hot = list(map(terminal_reader(topology), map(str, nodes)))
    except TopologyError as error:
        raise TrafficError(f"{spec}: {error}") from None
    if len(set(hot)) < len(hot):
        twice = next(number for number in hot if hot.count(number) > 1)
        raise TrafficError(
            f"{spec}: terminal {twice} is named twice; the share is split evenly among different terminals"
        )
    if not 0 < share <= 1:
        raise TrafficError(f"{spec}: the share is {share}; it must be above 0 and at most 1")
    require_memory(16.0 * n * len(nodes), f"the flows of {spec}")
    amount = share / len(nodes)
    numerator = whole([amount.numerator])
    return Traffic(
        spec=spec,
        terminals=n,
        uniform=1 - share,
        source=np.repeat(np.arange(n, dtype=np.int32), len(nodes)),
        destination=np.tile(np.array(hot, np.int32), n),
        amount=np.repeat(numerator, n * len(nodes)),
        denominator=amount.denominator,
    )


@register_pattern("random-permutation", aliases=("randperm",), example="random-permutation:seed=1")
def random_permutation(topology: Topology, seed: int = 0) -> Traffic:
    """Random permutation, drawn uniformly; fixed points allowed."""
    if seed < 0:
        raise TrafficError(f"random-permutation:seed={seed}: a random seed must be 0 or more")
    order = np.random.default_rng(seed).permutation(len(topology.terminals))
    return permutation(order, f"random-permutation:seed={seed}")


def _on_coordinates(name: str, topology: Topology, move: Callable[[Coordinates, Coordinates], Coordinates]) -> Traffic:
    grid = _with_coordinates(topology, name)
    strides = [prod(grid.radices[:dim]) for dim in range(len(grid.radices))]
    images = []
    for node in range(grid.nodes):
        moved = move(grid.coordinates(node), grid.radices)
        images.append(sum(x * stride for x, stride in zip(moved, strides, strict=True)))
    return permutation(images, name)


def _on_bits(
    name: str, topology: Topology, move: Callable[[npt.NDArray[np.int64], int], npt.NDArray[np.int64]]
) -> Traffic:
    n = len(topology.terminals)
    if n < 2 or n & (n - 1):
        raise TrafficError(
            f"{name} needs a power of two terminals, {topology.spec} has {n}; "
            "complement, tornado, shift and random-permutation fit other sizes"
        )
    return permutation(move(np.arange(n), n.bit_length() - 1), name)


def _with_coordinates(topology: Topology, name: str) -> Topology:
    if not topology.axes or not topology.all_terminals:
        raise TrafficError(
            f"{name} needs a network with coordinates (mesh, torus, hypercube, hyperx); {topology.spec} has none: "
            "shift, uniform, ring and random-permutation fit any network"
        )
    return topology


def _square(topology: Topology, name: str) -> None:
    grid = _with_coordinates(topology, name)
    if len(grid.radices) != 2 or grid.radices[0] != grid.radices[1]:
        raise TrafficError(
            f"{name} needs a square network of two dimensions, {topology.spec} is not one: "
            "complement and tornado fit it"
        )
