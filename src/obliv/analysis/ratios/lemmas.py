"""Lemmas 1 to 9 of Yuan et al. (section IV and Lemma 9 of section V), each as the number or the routes that it gives.

A is a set of (source, destination) pairs, L(A) the size of its largest node-disjoint subset; see
:mod:`obliv.analysis.ratios.disjoint_sets` for the definitions.
"""

from __future__ import annotations

from collections.abc import Iterable

from obliv.analysis.ratios.disjoint_sets import (
    destination_set,
    destinations,
    is_disjoint,
    largest_disjoint_subset,
    largest_star,
    max_disjoint_size,
    pairs_on_links,
    source_set,
    sources,
)
from obliv.errors import InputError
from obliv.routings.base import Routing
from obliv.routings.trees.base import way_channels
from obliv.topologies.trees import Tree

__all__ = ["lemma1", "lemma2", "lemma3", "lemma3a", "lemma4", "lemma5", "lemma6", "lemma7", "lemma8", "lemma9"]

Pair = tuple[int, int]


def lemma1(pairs: Iterable[Pair]) -> int:
    """Return the smaller number of SRC(A) and DST(A), which is at least L(A).

    Examples
    --------
    >>> lemma1([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    3
    """
    distinct = set(pairs)
    return min(len(sources(distinct)), len(destinations(distinct)))


def lemma2(one: Iterable[Pair], two: Iterable[Pair]) -> int:
    """Return L(A) + L(B), which is at least L(A ∪ B).

    Examples
    --------
    >>> lemma2([(1, 2), (1, 3)], [(2, 1), (3, 1)])
    2
    """
    return _size(set(one)) + _size(set(two))


def lemma3(pairs: Iterable[Pair], source: int) -> int:
    """Return L(A) - 1, which is L of A without the pairs of a source that has more than L(A) of them.

    Raises
    ------
    InputError
        If the source has no more than L(A) pairs.

    Examples
    --------
    >>> lemma3([(1, 2), (1, 3), (1, 4), (2, 2)], 1)
    1
    """
    distinct = set(pairs)
    return _without_one(distinct, source_set(distinct, source), f"source {source}")


def lemma3a(pairs: Iterable[Pair], destination: int) -> int:
    """Return L(A) - 1, which is L of A without the pairs of a destination that has more than L(A) of them.

    Raises
    ------
    InputError
        If the destination has no more than L(A) pairs.

    Examples
    --------
    >>> lemma3a([(2, 1), (3, 1), (4, 1), (2, 2)], 1)
    1
    """
    distinct = set(pairs)
    return _without_one(distinct, destination_set(distinct, destination), f"destination {destination}")


def _without_one(pairs: set[Pair], star: set[Pair], name: str) -> int:
    size = _size(pairs)
    if len(star) <= size:
        raise InputError(f"{name} has {len(star)} pairs; the lemma is for more than L(A) = {size}")
    return size - 1


def lemma4(pairs: Iterable[Pair]) -> tuple[set[Pair], int]:
    """Return A without the k sources and l destinations that have more than L(A) pairs, and L(A) - k - l, its L.

    Examples
    --------
    >>> lemma4([(1, 2), (1, 3), (1, 4), (2, 2)])
    ({(2, 2)}, 1)
    """
    distinct = set(pairs)
    size = _size(distinct)
    heavy_sources = {s for s in sources(distinct) if len(source_set(distinct, s)) > size}
    heavy_destinations = {d for d in destinations(distinct) if len(destination_set(distinct, d)) > size}
    rest = {(s, d) for s, d in distinct if s not in heavy_sources and d not in heavy_destinations}
    return rest, size - len(heavy_sources) - len(heavy_destinations)


def lemma5(pairs: Iterable[Pair]) -> int:
    """Return L(A) LS(A), which is at least the number of pairs in A.

    Examples
    --------
    >>> lemma5([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    6
    """
    distinct = set(pairs)
    return _size(distinct) * largest_star(distinct)


def lemma6(tree: Tree, pairs: Iterable[Pair]) -> dict[Pair, tuple[int, ...]]:
    """Return link-disjoint paths of node-disjoint pairs on EFT2(m, k), each by a root of its own.

    Parameters
    ----------
    tree : Tree
        EFT2(m, k), FT(m, 2), or another tree of two levels whose hosts have one link.
    pairs : iterable of (source, destination)
        Node-disjoint, at most one for each root.

    Returns
    -------
    dict
        The channels of the path of every pair, in the order of the pairs; none from a host to itself.

    Raises
    ------
    InputError
        If the tree has other levels, the pairs are not node-disjoint or too many, or a host does not exist.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.eft2(8, 6)
    >>> paths = lemma6(tree, [(0, 4), (1, 8), (2, 3), (3, 12)])
    >>> channels = [c for path in paths.values() for c in path]
    >>> len(channels) == len(set(channels))
    True
    """
    distinct = list(dict.fromkeys(pairs))
    if tree.levels != 2 or tree.parents[0] != 1:
        raise InputError(f"{tree.spec}: Lemma 6 is for two levels of switches whose hosts have one link, as in eft2")
    roots, hosts = tree.width[2], tree.below[-1]
    if not is_disjoint(distinct):
        raise InputError("two pairs have the same source or the same destination; the pairs must be node-disjoint")
    if len(distinct) > roots:
        raise InputError(f"{len(distinct)} pairs on {tree.spec}: it has {roots} roots, one for each pair")
    for host in (host for pair in distinct for host in pair):
        if not 0 <= host < hosts:
            raise InputError(f"{tree.spec} has no host {host}; hosts are 0 to {hosts - 1}")
    paths = {}
    for root, (s, d) in enumerate(distinct):
        turn = tree.turn(s, d)
        paths[s, d] = way_channels(tree, s, d, turn, root if turn == 2 else 0)
    return paths


def lemma7(routing: Routing) -> int:
    """Return a lower bound on PERF(r) of single paths on EFT2(m, k): the largest disjoint size of a link, up to m/2.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dmodk", obliv.eft2(8, 6))
    >>> lemma7(routing), obliv.ratio(routing).ratio
    (4, Fraction(4, 1))
    """
    tree = routing.topology
    if not isinstance(tree, Tree) or tree.levels != 2:
        raise InputError(f"{tree.spec}: Lemma 7 is for two levels of switches, as in eft2")
    return min(max_disjoint_size(routing), tree.width[2])


def lemma8(m: int, k: int, x: int) -> int:
    """Return k(k - 1) X²: on SEFT2(m, k) the root carries no more pairs if no disjoint size of a link exceeds X.

    Raises
    ------
    InputError
        If X < m/k, of which the lemma says nothing.

    Examples
    --------
    >>> lemma8(4, 4, 1), lemma8(8, 8, 2)
    (12, 224)
    """
    if x * k < m:
        raise InputError(f"X = {x} is below m/k = {m}/{k}; Lemma 8 is for X from m/k on")
    return k * (k - 1) * x * x


def lemma9(routing: Routing) -> int:
    """Return an upper bound on PERF(r) of single paths on FT(m, n): the largest min(sources, destinations) of a link.

    Examples
    --------
    >>> import obliv
    >>> lemma9(obliv.OSRM3(obliv.fattree(4, 3))), lemma9(obliv.DModK(obliv.fattree(4, 3)))
    (2, 3)
    """
    return max((lemma1(pairs) for pairs in pairs_on_links(routing).values()), default=0)


def _size(pairs: set[Pair]) -> int:
    return len(largest_disjoint_subset(pairs))
