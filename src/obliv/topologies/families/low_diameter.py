"""Networks of low diameter: dragonflies, megafly (dragonfly+), and Slim Flies (McKay, Miller and Širáň)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import isqrt

import numpy as np

from obliv._util.arrays import Array, FloatArray, NodeArray
from obliv._util.text import did_you_mean
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, integers, require_network
from obliv.topologies.families.trees import circles, fan, with_hosts
from obliv.topologies.make import build

ARRANGEMENTS = ("absolute", "relative", "palm-tree", "circulant")


@register_topology("dragonfly", example="dragonfly:p=2,a=4,h=2")
def dragonfly(p: int, a: int, h: int, g: int | None = None, arrangement: str = "absolute") -> Topology:
    """Dragonfly of `g` groups of `a` routers, each with `p` hosts and `h` global links.

    Parameters
    ----------
    p : int
        Hosts on every router; 0 makes the routers the terminals.
    a : int
        Routers of a group, all joined to each other by local links.
    h : int
        Global ports of every router. A balanced dragonfly has a = 2·p = 2·h.
    g : int, optional
        Groups, 2 to a·h + 1; default a·h + 1, where every two groups share one global link.
    arrangement : {"absolute", "relative", "palm-tree", "circulant"}
        Which group each of the a·h global ports of group i leads to, port k belonging to router ⌊k/h⌋: 0, 1, 2 ...
        without i (absolute); i + 1, i + 2 ... (relative); i - 1, i - 2 ... (palm-tree, the same mirrored); i + 1,
        i - 1, i + 2, i - 2 ... (circulant), all modulo g. The two ports of a pair of groups are joined.

    Returns
    -------
    Topology
        Host j of router r is node p·r + j, after all hosts come the routers; router r is the one number r mod a of
        group ⌊r/a⌋. They are called ``(group,router).j`` and ``(group,router)``. At a router local channels come
        first, then global ones by their ports, then hosts. With fewer groups than a·h + 1 the ports go round the
        other groups again as often as all of them can be served; the ports that are left stay unused.

    Raises
    ------
    TopologyError
        If a parameter is out of range, the arrangement is unknown, or the network is too large.

    Notes
    -----
    Routers are at most 3 channels apart. The "minimal routing" of dragonflies, local - global - local by the link that
    joins the two groups, is not always a shortest path: two global links in a row can be shorter, hence ``shortest``
    and ``ecmp`` are other routings.

    References
    ----------
    [KDSA08] J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.

    [Has15] E. Hastings et al., "Comparing global link arrangements for dragonfly networks", IEEE Cluster 2015.

    [CVB14] C. Camarero, E. Vallejo, R. Beivide, "Topological characterization of Hamming and dragonfly networks and its
    implications on routing", ACM TACO 11 (4), 2014.

    Examples
    --------
    >>> dragonfly(2, 4, 2)
    <Topology dragonfly:p=2,a=4,h=2: 108 nodes, 324 channels, 72 terminals>
    """
    p, a, h = integers("dragonfly", p=p, a=a, h=h)
    full = a * h + 1
    (groups,) = integers("dragonfly", g=full if g is None else g)
    spec = f"dragonfly:p={p},a={a},h={h}" + f",g={groups}" * (groups != full)
    spec += f",arrangement={arrangement}" * (arrangement != "absolute")
    if arrangement not in ARRANGEMENTS:
        raise TopologyError(f"{spec}: unknown arrangement {arrangement!r}: {did_you_mean(arrangement, ARRANGEMENTS)}")
    if p < 0 or a < 1 or h < 1:
        raise TopologyError(f"{spec}: needs p >= 0, a >= 1 and h >= 1")
    if not 2 <= groups <= full:
        raise TopologyError(f"{spec}: with {a}·{h} global ports per group, g can be 2 to {full}")
    rounds, unused = divmod(a * h, groups - 1)
    routers = groups * a
    channels = routers * (a - 1 + 2 * p) + groups * (groups - 1) * rounds
    require_network(routers * (p + 1), channels, spec)
    towards = towards_groups(groups, arrangement)
    places, angle = circles(groups, a)
    return with_hosts(
        spec,
        np.concatenate([_local(groups, a), global_links(towards, rounds, a, h)]),
        p,
        names=[f"({i},{j})" for i in range(groups) for j in range(a)],
        places=places,
        spots=fan(angle, p, 0.9),
        maps=_maps(groups, a, arrangement, _mirrors(arrangement, groups, h, unused)),
        notes=(
            f"{unused} of the {a * h} global ports of every group stay unused, {a * h - unused} serve the other "
            f"{groups - 1} groups equally",
        )
        * bool(unused),
    )


def _local(groups: int, a: int) -> Array:
    """Return the channels inside groups: from every router to all others, in their order."""
    one = np.repeat(np.arange(a), a - 1)
    other = np.tile(np.arange(a - 1), a)
    pairs = np.column_stack([one, other + (other >= one)])
    links: Array = (np.arange(groups)[:, None, None] * a + pairs).reshape(-1, 2)
    return links


def towards_groups(groups: int, arrangement: str) -> Array:
    """Return the group that each port of each group leads to in the first round, shape (groups, groups - 1)."""
    i, k = np.arange(groups)[:, None], np.arange(groups - 1)
    if arrangement == "absolute":
        return k + (k >= i)
    step = {"relative": k + 1, "palm-tree": -k - 1, "circulant": (k // 2 + 1) * (-1) ** (k % 2)}[arrangement]
    towards: Array = (i + step) % groups
    return towards


def global_links(towards: Array, rounds: int, a: int, h: int) -> Array:
    """Return the channels between groups, group by group and port by port."""
    groups = len(towards)
    i = np.arange(groups)[:, None]
    back = np.zeros((groups, groups), np.int64)  # the port of the first round by which one group leads to another
    back[i, towards] = np.arange(groups - 1)
    first = np.arange(rounds)[:, None] * (groups - 1)
    port = first + np.arange(groups - 1)
    tail = i[:, None] * a + port // h
    head = towards[:, None] * a + (first + back[towards, i][:, None]) // h
    return np.column_stack([tail.ravel(), head.ravel()])


def _mirrors(arrangement: str, groups: int, h: int, unused: int) -> bool:
    """Return whether the order of groups can be reversed."""
    if arrangement == "circulant":  # ports change places in twos, which have to be of one router
        return h % 2 == 0 and groups % 2 == 1
    return not unused  # the order of ports is reversed along with it


def _maps(groups: int, a: int, arrangement: str, mirrors: bool) -> list[NodeArray]:
    group, router = np.divmod(np.arange(groups * a), a)
    maps = []
    if arrangement != "absolute":
        maps.append((group + 1) % groups * a + router)
    if mirrors:
        other = router if arrangement == "circulant" else a - 1 - router
        turned = groups - 1 - group if arrangement == "absolute" else -group % groups
        maps.append(turned * a + other)
    return [node_map.astype(np.int32) for node_map in maps]


# Megafly (dragonfly+): groups of leaf and spine routers, with global links between the spines of every two groups


@register_topology("megafly", example="megafly:p=2,leaves=2,spines=2,h=2")
def megafly(p: int, leaves: int, spines: int, h: int, g: int | None = None, arrangement: str = "absolute") -> Topology:
    """Megafly or dragonfly+: `g` groups of leaf routers with hosts and spine routers with global links.

    Parameters
    ----------
    p : int
        Hosts on every leaf router.
    leaves, spines : int
        Leaf and spine routers of a group; every leaf router has a link to every spine router of its group.
    h : int
        Global ports of every spine router.
    g : int, optional
        Groups, 2 to spines·h + 1; default spines·h + 1, where every two groups share one global link.
    arrangement : {"absolute", "relative", "palm-tree", "circulant"}
        As for :func:`obliv.dragonfly`.

    Returns
    -------
    Topology
        Hosts come first and are the terminals: host j of leaf router ``(i,l)`` is called ``(i,l).j``. Then come the
        leaf routers, group by group, and the spine routers ``[i,s]``. At a spine router local channels come first, then
        global ones. Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a parameter is out of range, the arrangement is unknown, or the network is too large.

    References
    ----------
    [FBP18] M. Flajslik, E. Borch, M. A. Parker, "Megafly: a topology for exascale systems", ISC 2018.

    [Shp17] A. Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017.

    Examples
    --------
    >>> megafly(2, 2, 2, 2)
    <Topology megafly:p=2,leaves=2,spines=2,h=2: 40 nodes, 100 channels, 20 terminals>
    """
    p, leaves, spines, h = integers("megafly", p=p, leaves=leaves, spines=spines, h=h)
    full = spines * h + 1
    (groups,) = integers("megafly", g=full if g is None else g)
    spec = f"megafly:p={p},leaves={leaves},spines={spines},h={h}" + f",g={groups}" * (groups != full)
    spec += f",arrangement={arrangement}" * (arrangement != "absolute")
    if arrangement not in ARRANGEMENTS:
        raise TopologyError(f"{spec}: unknown arrangement {arrangement!r}: {did_you_mean(arrangement, ARRANGEMENTS)}")
    if min(p, leaves, spines, h) < 1:
        raise TopologyError(f"{spec}: needs p, leaves, spines and h of at least 1")
    if not 2 <= groups <= full:
        raise TopologyError(f"{spec}: with {spines}·{h} global ports per group, g can be 2 to {full}")
    rounds, unused = divmod(spines * h, groups - 1)
    lower, hosts = groups * leaves, groups * leaves * p
    nodes = hosts + lower + groups * spines
    require_network(nodes, 2 * (hosts + lower * spines) + groups * (groups - 1) * rounds, spec)
    host = np.arange(hosts)
    at_hosts = np.column_stack([hosts + host // p, host])
    leaf = np.repeat(np.arange(lower), spines)
    spine = leaf // leaves * spines + np.tile(np.arange(spines), lower)
    local = np.column_stack([hosts + leaf, hosts + lower + spine])
    far = hosts + lower + global_links(towards_groups(groups, arrangement), rounds, spines, h)
    places = [(i, x) for i in range(groups) for x in range(leaves)]
    return build(
        spec,
        nodes,
        np.concatenate([local, local[:, ::-1], far, at_hosts, at_hosts[:, ::-1]]),
        terminals=range(hosts),
        labels=(
            *(f"({i},{x}).{j}" for i, x in places for j in range(p)),
            *(f"({i},{x})" for i, x in places),
            *(f"[{i},{x}]" for i in range(groups) for x in range(spines)),
        ),
        positions=_rows(groups, leaves * p, leaves, spines),
        generators=_megafly_maps(groups, p, leaves, spines, arrangement),
        notes=(f"{unused} of the {spines * h} global ports of every group stay unused",) * bool(unused),
    )


def _rows(groups: int, *sizes: int) -> FloatArray:
    """Return places in rows, the first at the bottom, with the nodes of a group above each other."""
    wide, height = max(sizes) + 1, groups * max(sizes) / 6
    rows = []
    for level, size in enumerate(sizes):
        group, place = np.divmod(np.arange(groups * size), size)
        rows.append(np.column_stack([(group + (place + 0.5) / size) * wide, np.full(len(group), level * height)]))
    return np.concatenate(rows)


def _megafly_maps(groups: int, p: int, leaves: int, spines: int, arrangement: str) -> tuple[NodeArray, ...]:
    """Return maps: one host on at every leaf router, one leaf router on in every group, and often one group on."""
    lower, hosts = groups * leaves, groups * leaves * p
    i, x, j = (part.ravel() for part in np.indices((groups, leaves, p)))
    group, leaf = np.divmod(np.arange(lower), leaves)
    high, spine = np.divmod(np.arange(groups * spines), spines)

    def moved(turn: int, step: int, next_host: int) -> NodeArray:
        to_host = ((i + turn) % groups * leaves + (x + step) % leaves) * p + (j + next_host) % p
        to_leaf = hosts + (group + turn) % groups * leaves + (leaf + step) % leaves
        to_spine = hosts + lower + (high + turn) % groups * spines + spine
        together: NodeArray = np.concatenate([to_host, to_leaf, to_spine]).astype(np.int32)
        return together

    maps = [moved(0, 0, 1), moved(0, 1, 0)]
    if arrangement != "absolute":
        maps.append(moved(1, 0, 0))
    return tuple(g for g in maps if (g != np.arange(len(g))).any())


# Slim Flies: the graphs of McKay, Miller and Širáň, of diameter two and close to the Moore bound


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
        maps=_slimfly_maps(field, even, odd),
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


def _slimfly_maps(field: _Field, even: Array, odd: Array) -> list[NodeArray]:
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
