"""Jobs: the neighbours of a regular pattern, or groups that exchange all to all, placed at random on the terminals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.errors import TrafficError
from obliv.patterns.base import Traffic
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology

__all__ = ["flows_of", "placed"]


def placed(spec: str, topology: Topology, ranks: Array, seed: int) -> Traffic:
    """Flows between ranks on the terminals where a random placement puts them.

    Parameters
    ----------
    spec : str
    topology : Topology
    ranks : integer array, shape (flows, 2)
        Ranks that send and take one unit each.
    seed : int
        Of the placement.

    Returns
    -------
    Traffic
        Scaled so that no terminal sends or takes more than one packet per cycle, and one does.
    """
    n = len(topology.terminals)
    where = np.random.default_rng(seed).permutation(n)
    source, destination = (where[ranks[:, side]].astype(np.int32) for side in (0, 1))
    base = max((int(np.bincount(side, minlength=n).max()) for side in (source, destination) if len(side)), default=1)
    order = np.lexsort((destination, source))
    return Traffic(
        spec=spec,
        terminals=n,
        uniform=Fraction(0),
        source=source[order],
        destination=destination[order],
        amount=np.ones(len(source), np.int64),
        denominator=base,
    )


def flows_of(name: str, n: int, *shape: int) -> Array:
    """The pairs of ranks of a regular pattern on `n` ranks, each once.

    Parameters
    ----------
    name : str
        ``ring``, ``mesh2d``, ``mesh3d``, ``torus2d``, ``torus3d``, ``hypercube`` or ``tree``.
    n : int
    *shape : int
        Sides of a mesh or torus; default: the most nearly equal ones that multiply to n.

    Returns
    -------
    int64 array, shape (flows, 2)
        Both directions of every neighbourship.
    """
    rank = np.arange(n)
    if name == "ring":
        one_way = [np.column_stack([rank, (rank + 1) % n])]
    elif name == "tree":
        one_way = [np.column_stack([rank[1:], (rank[1:] - 1) // 2])]
    elif name == "hypercube":
        if n & (n - 1):
            raise TrafficError(f"hypercube: {n} terminals are no power of two; ring and tree fit any number")
        one_way = [np.column_stack([rank, rank ^ (1 << bit)]) for bit in range(n.bit_length() - 1)]
    else:
        dims = int(name[-2])
        sides = shape or _sides(n, dims)
        text = "x".join(map(str, sides))
        if len(sides) != dims or min(sides) < 1:
            example = "x".join(map(str, _sides(n, dims)))
            raise TrafficError(f"{name}: {text} is no shape of {dims} sides: write {name}:{example} or {name} alone")
        if prod(sides) != n:
            raise TrafficError(f"{name}: {text} are {prod(sides)} ranks, the network has {n} terminals")
        one_way = []
        stride = 1
        for k in sides:
            at = rank // stride % k
            wraps = name.startswith("torus")
            kept = rank if wraps else rank[at < k - 1]
            step = np.where(at[kept] < k - 1, stride, stride * (1 - k))
            one_way.append(np.column_stack([kept, kept + step]))
            stride *= k
    pairs = np.concatenate([*one_way, *(each[:, ::-1] for each in one_way)])
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _sides(n: int, dims: int) -> tuple[int, ...]:
    """Sides that multiply to n, as nearly equal as its divisors allow, smallest first."""
    if dims == 1:
        return (n,)
    found: list[tuple[int, ...]] = []
    for side in range(1, round(n ** (1 / dims)) + 2):
        if n % side == 0:
            found.append((side, *_sides(n // side, dims - 1)))
    return min((tuple(sorted(each)) for each in found), key=lambda each: (each[-1] - each[0], each))


def _register(name: str, about: str) -> None:
    def job(topology: Topology, seed: int = 0) -> Traffic:
        spec = f"{name}:seed={seed}" if seed else name
        return placed(spec, topology, flows_of(name, len(topology.terminals)), seed)

    def with_shape(topology: Topology, *shape: int, seed: int = 0) -> Traffic:
        options = ["x".join(map(str, shape))] * bool(shape) + [f"seed={seed}"] * bool(seed)
        spec = ":".join([name, ",".join(options)]) if options else name
        return placed(spec, topology, flows_of(name, len(topology.terminals), *shape), seed)

    made: Callable[..., Traffic] = with_shape if name[-1] == "d" else job
    made.__name__ = made.__qualname__ = name
    made.__doc__ = about
    register_pattern(name, example=name)(made)


_register("ring", "Every rank and the next, both ways; the last and the first too.")
_register("mesh2d", "Neighbours of a two-dimensional mesh, placed at random.")
_register("mesh3d", "Neighbours of a three-dimensional mesh, placed at random.")
_register("torus2d", "Neighbours of a two-dimensional torus, placed at random.")
_register("torus3d", "Neighbours of a three-dimensional torus, placed at random.")
_register("hypercube", "Neighbours of a hypercube, placed at random.")
_register("tree", "Every rank i > 0 and its parent (i - 1) // 2, both ways, placed at random.")


@register_pattern("clustered", example="clustered:8")
def clustered(topology: Topology, size: int, seed: int = 0) -> Traffic:
    """Random groups of `size` terminals, all to all within each; the last one may be smaller."""
    n = len(topology.terminals)
    if not 2 <= size <= n:
        raise TrafficError(f"clustered:{size}: groups have 2 to {n} terminals here")
    return placed(f"clustered:{size}" + f",seed={seed}" * bool(seed), topology, _groups(n, size), seed)


@register_pattern("hotspot", example="hotspot:4,16")
def hotspot(topology: Topology, spots: int, size: int, seed: int = 0) -> Traffic:
    """`spots` random groups of `size` terminals, all to all within each; the others are quiet."""
    n = len(topology.terminals)
    spec = f"hotspot:{spots},{size}"
    if spots < 1 or size < 2 or spots * size > n:
        raise TrafficError(f"{spec}: it takes {spots * size} terminals in groups of at least 2, there are {n}")
    return placed(spec + f",seed={seed}" * bool(seed), topology, _groups(spots * size, size), seed)


@register_pattern("bernoulli", example="bernoulli:0.1")
def bernoulli(topology: Topology, density: Fraction, seed: int = 0) -> Traffic:
    """Every terminal sends one unit to each other with this probability."""
    n = len(topology.terminals)
    spec = f"bernoulli:{density}" + f",seed={seed}" * bool(seed)
    if not 0 <= density <= 1:
        raise TrafficError(f"{spec}: the density is a probability, from 0 to 1")
    require_memory(24.0 * n * n, f"the flows of {spec}")
    rng = np.random.default_rng(seed)
    hit = rng.random((n, n)) < float(density)
    np.fill_diagonal(hit, False)
    return placed(spec, topology, np.argwhere(hit), seed)


def _groups(n: int, size: int) -> Array:
    """All pairs within groups of consecutive ranks."""
    require_memory(64.0 * n * size, f"groups of {size} terminals")
    rank = np.repeat(np.arange(n), size)
    other = rank // size * size + np.tile(np.arange(size), n)
    kept = (other < n) & (rank != other)
    return np.column_stack([rank[kept], other[kept]])
