"""Lower bounds on the oblivious performance ratio of single paths on fat trees (Yuan et al., section IV, and beyond).

All of them hold for paths that climb and then descend; the proofs are in docs/explanation/fat-trees.md.
"""

from __future__ import annotations

from math import isqrt

from obliv.errors import TopologyError
from obliv.topologies.trees import Tree

__all__ = [
    "bound_of",
    "four_ports",
    "several_heights",
    "single_path_bound",
    "theorem2",
    "theorem3",
    "theorem4",
    "theorem5",
    "two_levels",
    "with_lids",
]


def theorem2(m: int, k: int) -> int:
    """EFT2(m, k): at least √(m/2), rounded up, where k ≥ √(2m); 1 where the theorem says nothing.

    Examples
    --------
    >>> theorem2(8, 8), theorem2(8, 3)
    (2, 1)
    """
    return _root(m // 2) if k * k >= 2 * m else 1


def two_levels(m: int, k: int) -> int:
    """EFT2(m, k): at least min(√(m/2), k/2), rounded up; contains Theorem 2.

    Examples
    --------
    >>> two_levels(8, 8), two_levels(8, 3), two_levels(36, 7)
    (2, 2, 4)
    """
    return max(1, min(_root(m // 2), -(-k // 2)))


def theorem3(m: int) -> int:
    """FT(m, 2): at least √(m/2), rounded up since sets of pairs have whole sizes.

    Examples
    --------
    >>> [theorem3(m) for m in (4, 8, 24, 36)]
    [2, 2, 4, 5]
    """
    return _root(m // 2)


def theorem4(m: int) -> int:
    """FT(m, 3): at least m/2.

    Examples
    --------
    >>> theorem4(24)
    12
    """
    return m // 2


def theorem5(m: int, n: int) -> int:
    """FT(m, n): at least (m/2)^⌊(n - 1)/3⌋, as printed.

    Examples
    --------
    >>> [theorem5(8, n) for n in range(2, 7)]
    [1, 1, 4, 4, 4]
    """
    return int((m // 2) ** ((n - 1) // 3))


def single_path_bound(m: int, n: int) -> int:
    """FT(m, n): at least (m/2)^(⌊2n/3⌋/2), rounded up; never below Theorems 3 to 5.

    For paths that climb and then descend.  The proof, by covers of the links up from sub-trees of ⌊2n/3⌋ levels, is
    in docs/explanation/fat-trees.md under "Lower bounds".

    Examples
    --------
    >>> [single_path_bound(8, n) for n in range(2, 7)]
    [2, 4, 4, 8, 16]
    """
    return _root((m // 2) ** (2 * n // 3))


def several_heights(m: int, n: int) -> int:
    """FT(m, n): the least whole X with 2((n - 1 - g) k X² + k^g X) ≥ 2kⁿ - kⁿ⁻¹ for every g ≤ n - 2; k = m/2.

    For paths that climb and then descend.  For n > 3 mostly more than :func:`single_path_bound`, but less for some n
    where k = 2.  The proof is in docs/explanation/fat-trees.md under "Four levels and more".

    Examples
    --------
    >>> [(n, several_heights(8, n), single_path_bound(8, n)) for n in range(2, 7)]
    [(2, 2, 2), (3, 4, 4), (4, 6, 4), (5, 10, 8), (6, 18, 16)]
    """
    k = m // 2
    pairs = 2 * k**n - k ** (n - 1)
    return max(_least(2 * (n - 1 - g) * k, 2 * k**g, pairs) for g in range(n - 1))


def four_ports(n: int) -> int:
    """FT(4, n): at least 3 from four levels on, which a rule attains on four; 2 below, where rules attain it.

    For paths that climb and then descend.  The proof, by the pairs that one root can have, is in
    docs/explanation/fat-trees.md under "Four ports".

    Examples
    --------
    >>> [four_ports(n) for n in range(2, 6)]
    [2, 2, 3, 3]
    """
    return 3 if n > 3 else 2


def with_lids(m: int, lids: int) -> int:
    """FT(m, 2) with so many LIDs a destination, forwarded by them alone: at least max(⌈(m/2)/L⌉, ⌈√(m/2)⌉).

    For paths that climb and then come down; `osrm2-c` attains it up to L = ⌈√(m/2)⌉.  The proof is in
    docs/explanation/fat-trees.md under "Why one LID is enough".

    Examples
    --------
    >>> [with_lids(8, lids) for lids in (1, 2, 3)]
    [4, 2, 2]
    """
    if lids < 1:
        raise TopologyError(f"{lids} LIDs: a destination needs at least 1")
    return max(-(-(m // 2) // lids), theorem3(m))


def bound_of(tree: Tree) -> tuple[int, str] | None:
    """Return the best bound for single paths on a tree, and its source; None if no bound says anything.

    For paths that climb and then descend.

    Examples
    --------
    >>> from obliv.topologies.families.fat_trees import eft2, fattree
    >>> [bound_of(tree) for tree in (fattree(8, 2), fattree(8, 3), eft2(6, 2))]
    [(2, 'Yuan et al., Theorem 3'), (4, 'Yuan et al., Theorem 4'), None]
    >>> bound_of(fattree(8, 4))
    (6, 'covers of links at several heights, docs/explanation/fat-trees.md')
    >>> bound_of(fattree(4, 4))
    (3, 'pairs of one root, docs/explanation/fat-trees.md')
    """
    k, n = tree.children[0], tree.levels
    if tree.half is not None and n > 3:
        sharpened = single_path_bound(2 * k, n), "Theorem 5, sharpened"
        heights = several_heights(2 * k, n), "covers of links at several heights, docs/explanation/fat-trees.md"
        roots = four_ports(n) if k == 2 else 1, "pairs of one root, docs/explanation/fat-trees.md"
        return max(heights, sharpened, roots, key=lambda bound: bound[0])
    if tree.half is not None:
        return single_path_bound(2 * k, n), "Yuan et al., Theorem 3" if n == 2 else "Yuan et al., Theorem 4"
    if n == 2 and k > 1 and tree.parents == (1, k):
        bound = two_levels(2 * k, tree.children[1])
        printed = theorem2(2 * k, tree.children[1]) == bound  # k ≥ √(2m), where it says as much
        source = "Yuan et al., Theorem 2" if printed else "covers of links, docs/explanation/fat-trees.md"
        return (bound, source) if bound > 1 else None  # 1 needs no theorem
    return None


def _root(square: int) -> int:
    """Return the square root, rounded up."""
    root = isqrt(square)
    return root if root * root == square else root + 1


def _least(a: int, b: int, c: int) -> int:
    """Return the least whole X with a X² + b X ≥ c."""
    x = max(0, (isqrt(b * b + 4 * a * c) - b) // (2 * a) - 1)
    while a * x * x + b * x < c:
        x += 1
    return x
