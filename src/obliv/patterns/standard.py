"""Standard traffic patterns, and jobs placed at random on the terminals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array, reversed_bits, whole
from obliv._util.progress import require_memory
from obliv._util.rationals import integer
from obliv.errors import TopologyError, TrafficError
from obliv.patterns.base import Traffic, from_flows
from obliv.patterns.files import permutation
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology, terminal_reader
from obliv.topologies.cartesian import axes_of

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
    if not axes_of(topology) or not topology.all_terminals:
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


# Jobs: neighbors of a regular pattern, or groups that exchange all to all, placed at random on the terminals


def placed(spec: str, topology: Topology, ranks: Array, seed: int) -> Traffic:
    """Return flows of one unit between `ranks`, shape (flows, 2), on the terminals where a random placement puts them.

    The traffic is scaled so that the busiest terminal sends or takes one packet per cycle.
    """
    n = len(topology.terminals)
    where = _generator(spec, seed).permutation(n)
    source, destination = where[ranks].T
    base = max((int(np.bincount(side).max()) for side in (source, destination) if len(side)), default=1)
    flows = np.sort(source * n + destination)
    source, destination = (side.astype(np.int32) for side in np.divmod(flows, n))
    return Traffic(
        spec=spec,
        terminals=n,
        uniform=Fraction(0),
        source=source,
        destination=destination,
        amount=np.ones(len(source), np.int64),
        denominator=base,
    )


def _generator(spec: str, seed: int) -> np.random.Generator:
    if seed < 0:
        raise TrafficError(f"{spec}: a random seed must be 0 or more")
    return np.random.default_rng(seed)


def flows_of(name: str, n: int, *shape: int) -> Array:
    """Return the pairs of neighbors, in both directions, of a regular pattern on `n` ranks; int64, shape (flows, 2).

    `shape` are the sides of a mesh or torus; by default the most nearly equal ones whose product is n.
    """
    rank = np.arange(n)
    if name == "ring":
        one_way = [np.column_stack([rank, (rank + 1) % n])]
    elif name == "tree":
        one_way = [np.column_stack([rank[1:], (rank[1:] - 1) // 2])]
    elif name == "hypercube":
        if n & (n - 1):
            raise TrafficError(f"hypercube: {n} terminals are not a power of two; ring and tree fit any number")
        one_way = [np.column_stack([rank, rank ^ (1 << bit)]) for bit in range(n.bit_length() - 1)]
    else:
        dims = int(name[-2])
        sides = shape or equal_sides(n, dims)
        text = "x".join(map(str, sides))
        if len(sides) != dims or min(sides) < 1:
            example = "x".join(map(str, equal_sides(n, dims)))
            raise TrafficError(f"{name}: {text} is not a shape of {dims} sides: write {name}:{example} or {name} alone")
        if prod(sides) != n:
            raise TrafficError(f"{name}: {text} are {prod(sides)} ranks, the network has {n} terminals")
        one_way = []
        stride = 1
        for k in sides:
            at = rank // stride % k
            wraps = name.startswith("torus")
            start = rank if wraps else rank[at < k - 1]
            step = np.where(at[start] < k - 1, stride, stride * (1 - k))
            one_way.append(np.column_stack([start, start + step]))
            stride *= k
    pairs = np.concatenate([*one_way, *(flows[:, ::-1] for flows in one_way)])
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    source, destination = np.divmod(keys, n)
    apart: Array = np.column_stack([source, destination])[source != destination]
    return apart


def equal_sides(n: int, dims: int) -> tuple[int, ...]:
    """Return sides that multiply to n, as nearly equal as its divisors allow, smallest first."""
    if dims == 1:
        return (n,)
    shapes: list[tuple[int, ...]] = []
    for side in range(1, round(n ** (1 / dims)) + 2):
        if n % side == 0:
            shapes.append((side, *equal_sides(n // side, dims - 1)))
    return min((tuple(sorted(sides)) for sides in shapes), key=lambda sides: (sides[-1] - sides[0], sides))


@register_pattern("ring")
def ring(topology: Topology, seed: int = 0) -> Traffic:
    """Neighbors of a ring of ranks, in both directions, placed at random."""
    return _job("ring", topology, (), seed)


@register_pattern("mesh2d")
def mesh2d(topology: Topology, *shape: int, seed: int = 0) -> Traffic:
    """Neighbors of a two-dimensional mesh, placed at random."""
    return _job("mesh2d", topology, shape, seed)


@register_pattern("mesh3d")
def mesh3d(topology: Topology, *shape: int, seed: int = 0) -> Traffic:
    """Neighbors of a three-dimensional mesh, placed at random."""
    return _job("mesh3d", topology, shape, seed)


@register_pattern("torus2d")
def torus2d(topology: Topology, *shape: int, seed: int = 0) -> Traffic:
    """Neighbors of a two-dimensional torus, placed at random."""
    return _job("torus2d", topology, shape, seed)


@register_pattern("torus3d")
def torus3d(topology: Topology, *shape: int, seed: int = 0) -> Traffic:
    """Neighbors of a three-dimensional torus, placed at random."""
    return _job("torus3d", topology, shape, seed)


@register_pattern("hypercube")
def hypercube(topology: Topology, seed: int = 0) -> Traffic:
    """Neighbors of a hypercube, placed at random."""
    return _job("hypercube", topology, (), seed)


@register_pattern("tree")
def tree(topology: Topology, seed: int = 0) -> Traffic:
    """Every rank i > 0 and its parent (i - 1) // 2, in both directions, placed at random."""
    return _job("tree", topology, (), seed)


def _job(name: str, topology: Topology, shape: tuple[int, ...], seed: int) -> Traffic:
    options = ["x".join(map(str, shape))] * bool(shape) + [f"seed={seed}"] * bool(seed)
    spec = ":".join([name, ",".join(options)]) if options else name
    return placed(spec, topology, flows_of(name, len(topology.terminals), *shape), seed)


@register_pattern("clustered", example="clustered:8")
def clustered(topology: Topology, size: int, seed: int = 0) -> Traffic:
    """Random groups of `size` terminals with all-to-all traffic in each; the last group may be smaller."""
    n, size = len(topology.terminals), integer(size, "clustered: size")
    if not 2 <= size <= n:
        raise TrafficError(f"clustered:{size}: groups have 2 to {n} terminals here")
    return placed(f"clustered:{size}" + f",seed={seed}" * bool(seed), topology, _groups(n, size), seed)


@register_pattern("hotspot", example="hotspot:4,16")
def hotspot(topology: Topology, spots: int | str, size: int | str = "", seed: int = 0) -> Traffic:
    """`spots` random groups of `size` terminals with all-to-all traffic in each; the other terminals send nothing."""
    if isinstance(spots, str) or isinstance(size, str):
        nodes = ",".join(str(part) for part in (spots, size) if part != "")
        raise TrafficError(
            f"hotspot:{nodes}: groups need their number and their size, as in hotspot:4,16; for packets to given "
            f"nodes write hot-nodes:{nodes}"
        )
    n, spots, size = len(topology.terminals), integer(spots, "hotspot: spots"), integer(size, "hotspot: size")
    spec = f"hotspot:{spots},{size}"
    if spots < 1 or size < 2 or spots * size > n:
        raise TrafficError(f"{spec}: it needs {spots * size} terminals in groups of at least 2, there are {n}")
    return placed(spec + f",seed={seed}" * bool(seed), topology, _groups(spots * size, size), seed)


@register_pattern("bernoulli", example="bernoulli:0.1")
def bernoulli(topology: Topology, density: Fraction, seed: int = 0) -> Traffic:
    """Every terminal sends one unit to each other terminal with probability `density`."""
    n = len(topology.terminals)
    spec = f"bernoulli:{density}" + f",seed={seed}" * bool(seed)
    if not 0 <= density <= 1:
        raise TrafficError(f"{spec}: the density is a probability, from 0 to 1")
    require_memory(24.0 * n * n, f"the flows of {spec}")
    rng = _generator(spec, seed)
    hit = rng.random((n, n)) < float(density)
    np.fill_diagonal(hit, False)
    return placed(spec, topology, np.argwhere(hit), seed)


def _groups(n: int, size: int) -> Array:
    """Return all pairs within groups of consecutive ranks."""
    require_memory(64.0 * n * size, f"groups of {size} terminals")
    rank = np.repeat(np.arange(n), size)
    other = rank // size * size + np.tile(np.arange(size), n)
    pairs: Array = np.column_stack([rank, other])[(other < n) & (rank != other)]
    return pairs
