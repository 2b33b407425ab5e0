"""Slim Flies: the graphs of McKay, Miller and Širáň, of diameter two and close to the Moore bound."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import isqrt

import numpy as np

from obliv._util.typing import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.families.concentrated import circles, fan, with_hosts

__all__ = ["slimfly"]


@register_topology("slimfly", aliases=("slim-fly",), example="slimfly:5")
def slimfly(q: int, p: int = 0) -> Topology:
    """Slim Fly: 2·q² routers, any two at most 2 channels apart, for a prime power q.

    Parameters
    ----------
    q : int
        A prime power q = 4·w + δ with δ in {-1, 0, 1}: 3, 4, 5, 7, 8, 9, 11, 13 ... (all but 2).
    p : int
        Hosts on every router; 0, the default, makes the routers the terminals. The authors take half the degree.

    Returns
    -------
    Topology
        Every router has (3·q - δ)/2 neighbors. Routers (0,x,y) and (1,m,c), with x, y, m, c in the field of q
        elements, are numbered q²·s + q·x + y; element e of the field has the digits of e in base p as coefficients,
        lowest first. Joined are (0,x,y) to (0,x,y') where y - y' is in X, (1,m,c) to (1,m,c') where c - c' is in X',
        and (0,x,y) to (1,m,c) where y = m·x + c. With hosts, host j of router r is node p·r + j, after all hosts
        come the routers.

    Raises
    ------
    TopologyError
        If `q` is not a prime power of at least 3, or `p` is negative.

    Notes
    -----
    X and X' are the even and the odd powers of a primitive element where δ is 0 or 1; where δ is -1, X is 0, 2 ...
    2·w - 2 and 2·w - 1, 2·w + 1 ... 4·w - 3, and X' has exponents larger by one. ``slimfly:5`` is the graph of Hoffman
    and Singleton, which meets the Moore bound.

    References
    ----------
    [MMS98] B. D. McKay, M. Miller, J. Širáň, "A note on large graphs of diameter two and given maximum degree", J.
    Combin. Theory B 74, 1998.

    [BH14] M. Besta and T. Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014.

    Examples
    --------
    >>> slimfly(5)
    <Topology slimfly:5: 50 nodes, 350 channels, 50 terminals>
    >>> slimfly(5, p=4)
    <Topology slimfly:5,p=4: 250 nodes, 750 channels, 200 terminals>
    """
    q, p = integers("slimfly", q=q, p=p)
    spec = f"slimfly:{q}" + f",p={p}" * (p != 0)
    if p < 0:
        raise TopologyError(f"{spec}: p, the hosts of a router, must not be negative")
    if q < 3:
        raise TopologyError(f"{spec}: q must be a prime power of at least 3")
    delta = (0, 1, 0, -1)[q % 4]
    require_network(2 * q * q * (p + 1), q * q * (3 * q - delta + 4 * p), spec)
    power = _prime_power(q)
    if power is None:
        near = [next(n for n in count(q + step, step) if _prime_power(n)) for step in (-1, 1)]
        raise TopologyError(f"{spec}: {q} is not a prime power; the nearest are {near[0]} and {near[1]}")
    field = _field(*power)
    even, odd = _exponents(q, delta)
    places, angle = circles(2 * q, q)
    return with_hosts(
        spec,
        _links(field, even, odd),
        p,
        names=[f"({s},{x},{y})" for s in range(2) for x in range(q) for y in range(q)],
        places=places,
        spots=fan(angle, p, 0.9),
        maps=_maps(field, even, odd),
    )


@dataclass(frozen=True)
class _Field:
    """A field of q elements, numbered from 0; element 0 is zero, element 1 is one."""

    q: int
    add: Array
    times: Array
    negative: Array
    powers: Array  # the powers 0 to q - 2 of a primitive element


def _prime_power(q: int) -> tuple[int, int] | None:
    """Return the prime p and the m with q = p^m; None if q is not a prime power."""
    p = next((p for p in range(2, isqrt(q) + 1) if q % p == 0), q)
    m = 1
    while p**m < q:
        m += 1
    return (p, m) if p**m == q else None


def _field(p: int, m: int) -> _Field:
    """Return the polynomials over the integers modulo p, modulo the first of degree m for which z is primitive."""
    q = p**m
    weights = p ** np.arange(m)
    digits = np.arange(q)[:, None] // weights % p
    powers = np.array(next(powers for e in range(1, q) if (powers := _powers(p, digits[e].tolist()))))
    log = np.zeros(q, np.int64)
    log[powers] = np.arange(q - 1)
    times = powers[(log[:, None] + log) % (q - 1)]
    times[0] = times[:, 0] = 0
    return _Field(q, (digits[:, None] + digits) % p @ weights, times, -digits % p @ weights, powers)


def _powers(p: int, feed: list[int]) -> list[int]:
    """Return the powers of z, where z^m = feed[0] + feed[1]·z + …, if they are all elements except zero."""
    at = [1] + [0] * (len(feed) - 1)
    powers: dict[int, None] = {}
    while (number := sum(digit * p**k for k, digit in enumerate(at))) not in powers:
        powers[number] = None
        at = [(low + at[-1] * by) % p for low, by in zip([0, *at[:-1]], feed, strict=True)]
    return list(powers) if len(powers) == p ** len(feed) - 1 and 0 not in powers else []


def _exponents(q: int, delta: int) -> tuple[Array, Array]:
    """Return the exponents of the primitive element in X and in X'."""
    w = (q - delta) // 4
    at = np.arange(2 * w)
    even = 2 * at - (at >= w) if delta < 0 else 2 * at
    return even % (q - 1), (even + 1) % (q - 1)


def _links(field: _Field, even: Array, odd: Array) -> Array:
    """Return the channels; those of a router inside its group of q come before those to the other side."""
    q = field.q
    x, y = (column[:, None] for column in np.divmod(np.arange(q * q), q))
    top = x * q + y
    above = x * q + field.add[y, np.sort(field.powers[even])]
    below = x * q + field.add[y, np.sort(field.powers[odd])]
    m = np.arange(q)
    across = m * q + field.add[y, field.negative[field.times[m, x]]]  # (1,m,c) where c = y - m·x
    up = m * q + field.add[field.times[x, m], y]  # (0,x,y) where y = m·x + c
    parts = [(top, above), (top, across + q * q), (top + q * q, below + q * q), (top + q * q, up)]
    return np.concatenate([np.stack(np.broadcast_arrays(*part), axis=-1).reshape(-1, 2) for part in parts])


def _maps(field: _Field, even: Array, odd: Array) -> list[NodeArray]:
    """Return automorphisms, computed as the images of (0,x,y) and of (1,m,c)."""
    q, add, times, negative, powers = field.q, field.add, field.times, field.negative, field.powers
    x, y = np.divmod(np.arange(q * q), q)
    m, c = x, y
    images = [
        ((0, add[x, 1], y), (1, m, add[c, negative[m]])),
        ((0, x, add[y, x]), (1, add[m, 1], c)),
        ((0, times[powers[1], x], y), (1, times[powers[-1], m], c)),
    ]
    one, two = set(even.tolist()), set(odd.tolist())
    for e, s in enumerate(powers.tolist()):
        moved = [{(k + e) % (q - 1) for k in exponents} for exponents in (one, two)]
        if e and moved == [one, two]:
            images.append(((0, x, times[s, y]), (1, times[s, m], times[s, c])))
        if moved == [two, one]:
            images.append(((1, x, times[s, y]), (0, negative[times[s, m]], times[s, c])))
        if e and len(images) > 3:
            break
    numbers = [[side * q * q + a * q + b for side, a, b in image] for image in images]
    return [np.concatenate(sides).astype(np.int32) for sides in numbers]
