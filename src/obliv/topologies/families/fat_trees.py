"""Fat trees by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from obliv._util.earlier import as_before
from obliv._util.typing import Array, FloatArray, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Number, require_network
from obliv.topologies.checks import integers, positive_number
from obliv.topologies.trees import Tree

__all__ = ["eft2", "fattree", "sub_eft2", "subft", "xgft"]


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
