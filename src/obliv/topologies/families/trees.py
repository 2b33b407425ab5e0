"""Fat trees by name, rail-optimized ones among them, and hosts on routers: meshes with several hosts each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from obliv._util.arrays import Array, FloatArray, NodeArray
from obliv._util.lazy import as_before
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Number, Topology, integers, positive_number, require_network
from obliv.topologies.cartesian import coordinate
from obliv.topologies.families.grids import mesh
from obliv.topologies.make import build
from obliv.topologies.trees import Tree


def xgft(children: Sequence[int], parents: Sequence[int], bandwidth: Sequence[Number] = ()) -> Tree:
    """XGFT: extended generalized fat tree XGFT(h; m1, ..., mh; w1, ..., wh).

    Parameters
    ----------
    children : sequence of int
        m1, ..., mh: children of the nodes of levels 1 to h.
    parents : sequence of int
        w1, ..., wh: parents of the nodes of levels 0 to h - 1.
    bandwidth : sequence of numbers, optional
        Bandwidth of the links below the nodes of levels 1 to h; default 1. With one parent a node and 1, 2, 4, ... it
        is a binary fat tree, whose capacities grow towards the root.

    Returns
    -------
    Tree
        Hosts come first and are the terminals, then the switches level by level; a node's channels lead first to its
        children, then to its parents.

    Raises
    ------
    TopologyError
        If there are not as many numbers of parents, or of bandwidths, as of children, or one of them is out of range.

    References
    ----------
    [OIDK95] S. R. Öhring, M. Ibel, S. K. Das, M. J. Kumar, "On generalized fat trees", IPPS 1995.

    Examples
    --------
    >>> xgft([4, 4, 8], [1, 2, 4])
    <Topology xgft:3;4,4,8;1,2,4: 184 nodes, 512 channels, 128 terminals>
    >>> xgft([2, 2, 2], [1, 1, 1], bandwidth=[1, 2, 4])
    <Topology xgft:3;2,2,2;1,1,1;1,2,4: 15 nodes, 28 channels, 8 terminals>
    """
    children, parents = integers("xgft", *children), integers("xgft", *parents)
    parts: list[Sequence[object]] = [(len(children),), children, parents]
    speeds = tuple(positive_number(speed, "xgft: the bandwidth of a level") for speed in bandwidth)
    if speeds:
        parts.append(speeds)
    spec = "xgft:" + ";".join(",".join(map(str, part)) for part in parts)
    if speeds and len(speeds) != len(children):
        raise TopologyError(f"{spec}: {len(children)} levels need that many bandwidths, not {len(speeds)}")
    tree = _tree(spec, children, parents, speeds)
    if all(speed == 1 for speed in speeds):
        return tree
    heights = tree.heights
    lower = np.minimum(heights[tree.tail], heights[tree.head])
    return replace(tree, bandwidth=tuple(speeds[height] for height in lower.tolist()))


@register_topology("xgft", example="xgft:3;4,4,8;1,2,4")
def _xgft_of(*shape: str) -> Tree:
    """XGFT (extended generalized fat tree): levels; children; parents; bandwidth of each level's links (default 1)."""
    text = ",".join(map(str, shape))
    parts = [[word.strip() for word in part.split(",")] for part in text.split(";")]
    whole = all(word.isdecimal() and len(word) < 10 for part in parts[:3] for word in part)
    if not 3 <= len(parts) <= 4 or not whole:
        spec = f"xgft:{text}" if text else "xgft"
        raise TopologyError(f"{spec}: write LEVELS;CHILDREN,...;PARENTS,...  as in xgft:3;4,4,8;1,2,4")
    levels, children, parents = ([int(word) for word in part] for part in parts[:3])
    if len(levels) != 1 or len(children) != levels[0] or len(parents) != levels[0]:
        raise TopologyError(f"xgft:{text}: {levels[0]} levels need that many numbers of children, and of parents")
    return xgft(children, parents, *parts[3:])


@register_topology("fattree", example="fattree:8,3")
def fattree(m: int, n: int) -> Tree:
    """Fat tree FT(m, n): the m-port n-tree.

    Parameters
    ----------
    m : int
        Ports of every switch; even, at least 4.
    n : int
        Levels of switches; at least 2.

    Returns
    -------
    Tree
        m (m/2)^(n-1) hosts and (2n - 1) (m/2)^(n-1) switches, named as by Yuan et al.

    Raises
    ------
    TopologyError
        If the number of ports is odd or less than 4, there are fewer than 2 levels, or the network is too large.

    References
    ----------
    [YNDM09] X. Yuan, W. Nienaber, Z. Duan, R. Melhem, "Oblivious routing in fat-tree based system area networks with
    uncertain traffic demands", IEEE/ACM Transactions on Networking, 2009.

    Examples
    --------
    >>> fattree(8, 3)
    <Topology fattree:8,3: 208 nodes, 768 channels, 128 terminals>
    """
    m, n = integers("fattree", m=m, n=n)
    spec = f"fattree:{m},{n}"
    k = _half(spec, m)
    if n < 2:
        raise TopologyError(f"{spec}: {n} levels of switches; a fat tree needs at least 2")
    return _tree(spec, (k,) * (n - 1) + (m,), (1,) + (k,) * (n - 1))


@register_topology("subft", example="subft:8,2")
def subft(m: int, levels: int) -> Tree:
    """Sub-tree SUBFT(m, l) of a fat tree: l levels of switches with m ports, whose up-link ports are open.

    Parameters
    ----------
    m : int
        Ports of every switch; even, at least 4.
    levels : int
        Levels of switches; at least 1.

    Returns
    -------
    Tree
        SUBFT(m, 1) is a switch with m/2 hosts; SUBFT(m, l) has (m/2)^(l-1) top switches above m/2 of SUBFT(m, l-1).
        Top switch i is connected to up-link port i of each of these.

    Raises
    ------
    TopologyError
        If the number of ports is odd or less than 4, there is no level, or the network is too large.

    Notes
    -----
    The (m/2)^l up-link ports have no channels, since they are open: ``up_link_ports[j]`` is the top switch of port j,
    number j // (m/2) among them. FT(m, n) connects port j of each of its m SUBFT(m, n-1) to its root j. As in every
    tree, names count levels from the top.

    References
    ----------
    [YNDM09] X. Yuan, W. Nienaber, Z. Duan, R. Melhem, "Oblivious routing in fat-tree based system area networks with
    uncertain traffic demands", IEEE/ACM Transactions on Networking, 2009, section II-B.

    Examples
    --------
    >>> subft(8, 2)
    <Topology subft:8,2: 24 nodes, 64 channels, 16 terminals>
    >>> subft(4, 2).up_link_ports  # nodes 6 and 7 are its top switches
    array([6, 6, 7, 7], dtype=int32)
    """
    m, levels = integers("subft", m=m, levels=levels)
    spec = f"subft:{m},{levels}"
    k = _half(spec, m)
    if levels < 1:
        raise TopologyError(f"{spec}: {levels} levels of switches; a sub-tree needs at least 1")
    return replace(_tree(spec, (k,) * levels, (1,) + (k,) * (levels - 1)), open_ports=k)


@register_topology("eft2", example="eft2:8,6")
def eft2(m: int, k: int) -> Tree:
    """Two-level fat tree EFT2(m, k) of `k` leaf switches under m/2 roots; FT(m, 2) where k = m.

    Parameters
    ----------
    m : int
        Ports of a leaf switch; even, at least 4.
    k : int
        Leaf switches, which are the ports of a root; at least 2.

    Returns
    -------
    Tree

    Raises
    ------
    TopologyError
        If a parameter is out of range.

    Examples
    --------
    >>> eft2(8, 6)
    <Topology eft2:8,6: 34 nodes, 96 channels, 24 terminals>
    """
    return _two_levels("eft2", m, k)


@register_topology("sub-eft2", example="sub-eft2:8,6")
def sub_eft2(m: int, k: int) -> Tree:
    """SEFT2(m, k): EFT2(m, k) with only one of its roots.

    Parameters
    ----------
    m : int
        Ports of a leaf switch; even, at least 4.
    k : int
        Leaf switches, which are the ports of a root; at least 2.

    Returns
    -------
    Tree

    Raises
    ------
    TopologyError
        If a parameter is out of range.

    Examples
    --------
    >>> sub_eft2(8, 6)
    <Topology sub-eft2:8,6: 31 nodes, 60 channels, 24 terminals>
    """
    return _two_levels("sub-eft2", m, k, roots=1)


def _two_levels(name: str, m: int, k: int, roots: int = 0) -> Tree:
    """Return `k` leaf switches with m ports under `roots` switches with `k` ports, m/2 by default."""
    m, k = integers(name, m=m, k=k)
    spec = f"{name}:{m},{k}"
    half = _half(spec, m)
    if k < 2:
        raise TopologyError(f"{spec}: at least 2 leaf switches are needed, not {k}")
    return _tree(spec, (half, k), (1, roots or half))


def _half(spec: str, m: int) -> int:
    if m < 4 or m % 2:
        raise TopologyError(f"{spec}: {m} ports; the number of ports must be even, at least 4")
    return m // 2


def _tree(spec: str, children: tuple[int, ...], parents: tuple[int, ...], speeds: Sequence[Fraction] = ()) -> Tree:
    if not children or len(children) != len(parents):
        raise TopologyError(f"{spec}: it needs at least one level, and the children and parents of each level")
    if min(children) < 1 or min(parents) < 1:
        raise TopologyError(f"{spec}: every switch needs a child, every node below the roots a parent")
    levels = len(children)
    below = [prod(children[:level]) for level in range(levels + 1)]
    width = [prod(parents[:level]) for level in range(levels + 1)]
    sizes = [below[-1] // below[level] * width[level] for level in range(levels + 1)]
    degree = [(children[level - 1] if level else 0) + (*parents, 0)[level] for level in range(levels + 1)]
    require_network(sum(sizes), sum(size * ports for size, ports in zip(sizes, degree, strict=True)), spec)
    first = np.cumsum([0, *sizes])
    heads = []
    for level in range(levels + 1):
        sub, at = np.divmod(np.arange(sizes[level])[:, None], width[level])
        ends = []
        if level:
            child = sub * children[level - 1] + np.arange(children[level - 1])
            ends.append(first[level - 1] + child * width[level - 1] + at // parents[level - 1])
        if level < levels:
            up = at * parents[level] + np.arange(parents[level])
            ends.append(first[level + 1] + sub // children[level] * width[level + 1] + up)
        heads.append(np.concatenate(ends, axis=1).ravel())
    hosts = np.arange(sizes[0], dtype=np.int32)
    return Tree(
        spec=spec,
        nodes=int(first[-1]),
        tail=np.repeat(np.arange(first[-1]), np.repeat(degree, sizes)).astype(np.int32),
        head=np.concatenate(heads).astype(np.int32),
        terminals=hosts,
        positions=_positions(sizes),
        generators=tuple(_shifts(children, parents, below, width, sizes)),
        children=children,
        parents=parents,
        capacity_load=_capacity_load(spec, below, width, speeds),
    )


def _capacity_load(spec: str, below: list[int], width: list[int], speeds: Sequence[Fraction]) -> Fraction | None:
    """Return the least load of uniform traffic: the part of it that leaves a sub-tree, over the links above that.

    Equal use of all shortest paths attains it. It is (N - 1)/N on FT(m, n), where the links of the hosts are loaded
    most: what a host sends to itself does not leave it.
    """
    if as_before("the capacity of fat trees is 1 on FT(m, n), and is not known on others"):
        return Fraction(1) if spec.startswith("fattree:") else None
    hosts = below[-1]
    loads = [
        Fraction(below[level] * (hosts - below[level]), hosts * width[level + 1]) / (speeds[level] if speeds else 1)
        for level in range(len(below) - 1)
    ]
    return max(loads) or None


def _positions(sizes: list[int]) -> FloatArray:
    """Place level above level, each spread over the width of the hosts."""
    x = np.concatenate([(np.arange(size) + 0.5) * sizes[0] / size for size in sizes])
    y = np.repeat(np.arange(len(sizes)) * max(1.0, sizes[0] / 8), sizes)
    return np.column_stack([x, y])


def _shifts(
    children: Sequence[int], parents: Sequence[int], below: Sequence[int], width: Sequence[int], sizes: Sequence[int]
) -> list[NodeArray]:
    """Return the automorphisms that move each child, or each parent, of a level to the next one."""
    first = np.cumsum([0, *sizes])
    maps: list[NodeArray] = []
    for j in range(len(children)):
        for side, count in (("children", children[j]), ("parents", parents[j])):
            if count == 1:
                continue
            moved = []
            for level, size in enumerate(sizes):
                sub, at = np.divmod(np.arange(size), width[level])
                if side == "children" and level <= j:
                    sub = _next_digit(sub, below[j] // below[level], count)
                if side == "parents" and level > j:
                    at = _next_digit(at, width[level] // width[j + 1], count)
                moved.append(first[level] + sub * width[level] + at)
            maps.append(np.concatenate(moved).astype(np.int32))
    return maps


def _next_digit(number: Array, place: int, base: int) -> Array:
    digit = number // place % base
    return np.asarray(number + ((digit + 1) % base - digit) * place)


# Rail-optimized fat trees: the i-th adapters of all nodes of a GPU cluster meet at the switches of rail i


@register_topology("rail", example="rail:rails=4,nodes=8,leaf=4,spines=2")
def rail(rails: int, nodes: int, leaf: int, spines: int, links: int = 1) -> Topology:
    """Rail-optimized fat tree: `nodes` nodes with `rails` adapters, a rail has leaf switches of its own.

    Parameters
    ----------
    rails : int
        Adapters of a node, one a GPU. All i-th adapters are on the leaf switches of rail i.
    nodes : int
        Nodes of the cluster.
    leaf : int
        Nodes on a leaf switch; the last leaf switches may have fewer.
    spines : int
        Spine switches, each with cables to all leaf switches of all rails; 0: rails that are not joined, which fits on
        one leaf switch a rail only.
    links : int
        Parallel cables between a leaf and a spine switch. Leaf switches are oversubscribed leaf : spines · links.

    Returns
    -------
    Topology
        Adapters are the terminals: adapter i of node v is node rails·v + i, called ``node0 rail1``. Then come the leaf
        switches ``leaf(i,j)``, rail by rail, and the spine switches ``spine(k)``. At a leaf switch the channels to
        adapters come first. Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large or falls apart.

    Notes
    -----
    What GPUs of one node send each other inside the node is not part of the network.

    Examples
    --------
    >>> rail(4, 8, 4, 2)
    <Topology rail:rails=4,nodes=8,leaf=4,spines=2: 42 nodes, 96 channels, 32 terminals>
    """
    rails, nodes, leaf, spines, links = integers(
        "rail", rails=rails, nodes=nodes, leaf=leaf, spines=spines, links=links
    )
    spec = f"rail:rails={rails},nodes={nodes},leaf={leaf},spines={spines}" + f",links={links}" * (links != 1)
    if min(rails, nodes, leaf, links) < 1 or spines < 0:
        raise TopologyError(f"{spec}: every number must be at least 1")
    per_rail = -(-nodes // leaf)
    if not spines and rails * per_rail > 1:
        raise TopologyError(
            f"{spec}: {rails * per_rail} leaf switches without spines are not joined: write spines=1 or more"
        )
    hosts, leaves = rails * nodes, rails * per_rail
    require_network(hosts + leaves + spines, 2 * (hosts + leaves * spines * links), spec)
    host = np.arange(hosts)
    node, at = np.divmod(host, rails)
    above = hosts + at * per_rail + node // leaf
    down = np.column_stack([above, host])
    low = hosts + np.repeat(np.arange(leaves), spines * links)
    high = hosts + leaves + np.tile(np.repeat(np.arange(spines), links), leaves)
    up = np.column_stack([low, high])
    return build(
        spec,
        hosts + leaves + spines,
        np.concatenate([down, down[:, ::-1], up, up[:, ::-1]]),
        terminals=range(hosts),
        labels=(
            *(f"node{v} rail{i}" for v in range(nodes) for i in range(rails)),
            *(f"leaf({i},{j})" for i in range(rails) for j in range(per_rail)),
            *(f"spine({k})" for k in range(spines)),
        ),
        positions=_rows(
            at * (nodes + 1) + node,
            (np.arange(leaves) // per_rail * (nodes + 1)) + (np.arange(leaves) % per_rail + 0.5) * leaf - 0.5,
            (np.arange(spines) + 0.5) * (rails * (nodes + 1) - 1) / max(spines, 1) - 0.5,
        ),
        generators=_maps(rails, nodes, leaf, spines),
    )


def _rows(*across: Array) -> Array:
    """Return places of nodes in rows, the first at the bottom."""
    height = max(len(row) for row in across) / 6
    return np.concatenate([np.column_stack([row, np.full(len(row), k * height)]) for k, row in enumerate(across)])


def _maps(rails: int, nodes: int, leaf: int, spines: int) -> tuple[NodeArray, ...]:
    """Return maps: one rail on, one spine on, and, if all leaf switches are full, one node or one leaf switch on."""
    per_rail = -(-nodes // leaf)
    v, i = np.divmod(np.arange(rails * nodes), rails)
    rail_of, j = np.divmod(np.arange(rails * per_rail), per_rail)
    k = np.arange(spines)

    def moved(node: Array, rail_: Array, leaf_rail: Array, number: Array, spine: Array) -> NodeArray:
        hosts, leaves = rails * nodes, rails * per_rail
        parts = node * rails + rail_, hosts + leaf_rail * per_rail + number, hosts + leaves + spine
        together: NodeArray = np.concatenate(parts).astype(np.int32)
        return together

    maps = [moved(v, (i + 1) % rails, (rail_of + 1) % rails, j, k)]
    if spines > 1:
        maps.append(moved(v, i, rail_of, j, (k + 1) % spines))
    if nodes % leaf == 0:
        maps.append(moved(v // leaf * leaf + (v + 1) % leaf, i, rail_of, j, k))
        maps.append(moved((v + leaf) % nodes, i, rail_of, (j + 1) % per_rail, k))
    return tuple(g for g in maps if (g != np.arange(len(g))).any())


# Hosts on routers, and the mesh with hosts on every router


@register_topology("cmesh", aliases=("concentrated-mesh",), example="cmesh:4x4,c=4")
def cmesh(*radices: int, c: int) -> Topology:
    """Concentrated mesh: routers in a mesh, `c` hosts on each.

    Parameters
    ----------
    *radices : int
        Routers per dimension, x first, each at least 2.
    c : int
        Hosts on every router, at least 1.

    Returns
    -------
    Topology
        Hosts are the terminals. Host j of router r is node c·r + j, after all hosts come the routers, numbered as
        in :func:`mesh`; they are called ``(x,y).j`` and ``(x,y)``. A host and its router have a channel each way. At
        a router the channels of the mesh come first, x before y, hence ``shortest`` goes by dimension order.
        Capacity (exact, as a load): c times that of the mesh, but at least 1 - 1/N for N hosts, the channel of a host.

    Raises
    ------
    TopologyError
        If a radix or the number of hosts is out of range, or the network is too large.

    References
    ----------
    [BD06] J. Balfour and W. J. Dally, "Design tradeoffs for tiled CMP on-chip networks", ICS 2006.

    Examples
    --------
    >>> cmesh(4, 4, c=4)
    <Topology cmesh:4x4,c=4: 80 nodes, 176 channels, 64 terminals>
    >>> cmesh(4, 4, c=4).name_of(27)
    '(2,1).3'
    """
    (c,) = integers("cmesh", c=c)
    text = "x".join(map(str, radices))
    spec = f"cmesh:{text},c={c}"
    if not radices or min(radices) < 2:
        raise TopologyError(f"{spec}: every radix must be at least 2, as in cmesh:4x4,c=4")
    if c < 1:
        raise TopologyError(f"{spec}: a router needs at least 1 host; if routers are the terminals, use mesh:{text}")
    routers = prod(radices)
    require_network(routers * (c + 1), 2 * routers * (len(radices) + c), spec)
    base = mesh(*radices)
    return with_hosts(
        spec,
        np.column_stack([base.tail, base.head]),
        c,
        names=[f"({x})" if len(radices) == 1 else base.name_of(x) for x in range(routers)],
        places=2.4 * _aslant(np.asarray(base.positions), radices),
        spots=_between_the_links(c),
        maps=base.generators,
    )


def with_hosts(
    spec: str,
    links: Array,
    hosts: int,
    *,
    names: Sequence[str],
    places: Array,
    spots: Array,
    maps: Sequence[NodeArray],
    **more: Any,
) -> Topology:
    """Build a network of routers with hosts on each; if `hosts` is 0, the routers themselves are the terminals.

    Host j of router r is node hosts·r + j, called "R.j" if the router is "R"; router r is node hosts·routers + r.
    `links` between routers are in the order in which routers number their channels. `places` of routers have the shape
    (routers, 2), `spots` of hosts relative to their router (hosts, 2) or (routers, hosts, 2). Hosts move along with the
    automorphisms `maps` of the routers. `more` are further fields of :class:`Topology`.
    """
    routers = len(names)
    if not hosts:
        return build(spec, routers, links, labels=tuple(names), positions=places, generators=tuple(maps), **more)
    host = np.arange(routers * hosts)
    router = host // hosts + len(host)
    everything = [links + len(host), np.column_stack([router, host]), np.column_stack([host, router])]
    moved = [np.concatenate([(g[:, None] * hosts + np.arange(hosts)).ravel(), g + len(host)]) for g in maps]
    if hosts > 1:
        turned = host // hosts * hosts + (host + 1) % hosts  # one host further on every router at once
        moved.append(np.concatenate([turned, np.arange(len(host), len(host) + routers)]))
    return build(
        spec,
        len(host) + routers,
        np.concatenate(everything),
        terminals=range(len(host)),
        labels=(*(f"{name}.{j}" for name in names for j in range(hosts)), *names),
        positions=np.concatenate([(places[:, None] + spots).reshape(-1, 2), places]),
        generators=tuple(g.astype(np.int32) for g in moved),
        **more,
    )


def circles(groups: int, size: int) -> tuple[Array, Array]:
    """Return places of routers, each group on a circle on a large circle, and the angle at which each faces out."""
    small = 0.8 / np.sin(np.pi / size) if size > 1 else 0.0
    large = (small + 1.4) / np.sin(np.pi / groups)
    group, router = np.divmod(np.arange(groups * size), size)
    towards = np.pi / 2 - 2 * np.pi * group / groups
    angle = towards - 2 * np.pi * (router - (size - 1) / 2) / size
    places = large * np.column_stack([np.cos(towards), np.sin(towards)])
    return places + small * np.column_stack([np.cos(angle), np.sin(angle)]), angle


def fan(angle: Array, hosts: int, reach: float) -> Array:
    """Return places of the hosts of each router, in a fan that opens at `angle`; shape (routers, hosts, 2)."""
    aside = (np.arange(hosts) - (hosts - 1) / 2) * min(0.75, 2.6 / max(hosts, 1))
    at = angle[:, None] + aside
    return reach * np.stack([np.cos(at), np.sin(at)], axis=-1)


def _aslant(places: Array, radices: Sequence[int]) -> Array:
    """Return the places of a mesh, its tiles slightly shifted so that links between tiles miss other routers."""
    moved = places.copy()
    for dim in range(2, len(radices)):
        moved[:, 1 - dim % 2] += 0.4 * coordinate(radices, dim)
    return moved


def _between_the_links(c: int) -> Array:
    """Return places of `c` hosts round a router, in the four corners that the links of a mesh leave free."""
    corner, number = np.arange(c) % 4, np.arange(c) // 4
    together = (c - corner + 3) // 4  # in one corner
    angle = np.pi / 2 * (corner + (number + 1) / (together + 1))
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)
