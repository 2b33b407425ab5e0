"""Lower bounds on the oblivious performance ratio of single-path routings on fat trees (Yuan et al., section IV)."""

from __future__ import annotations

from math import isqrt

from obliv.topology.tree import Tree

__all__ = ["bound_of", "single_path_bound", "theorem2", "theorem3", "theorem4", "theorem5", "with_lids"]


def theorem2(m: int, k: int) -> int:
    """EFT2(m, k): at least √(m/2), rounded up, where k ≥ √(2m); 1 where the theorem says nothing.

    Examples
    --------
    >>> theorem2(8, 8), theorem2(8, 3)
    (2, 1)
    """
    return _root(m // 2) if k * k >= 2 * m else 1


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

    The argument of Theorem 5 gives more than is printed. Count sub-trees of i levels as switches with 2 (m/2)^i ports
    under what connects them, which is at least EFT2 with 2 (m/2)^(n - i) of them. Theorem 2 applies where
    2 (m/2)^(n - i) ≥ 2 (m/2)^(i/2), that is for i ≤ 2n/3, and gives √((m/2)^i).

    Examples
    --------
    >>> [single_path_bound(8, n) for n in range(2, 7)]
    [2, 4, 4, 8, 16]
    """
    return _root((m // 2) ** (2 * n // 3))


def with_lids(m: int, lids: int) -> int:
    """FT(m, 2) with so many LIDs a destination, forwarded by them alone: at least max(⌈(m/2)/L⌉, ⌈√(m/2)⌉).

    At a leaf some LID class of a destination is used by at least (m/2)/L of its hosts, and on that link the
    destination has to be covered.

    Examples
    --------
    >>> [with_lids(8, lids) for lids in (1, 2, 3)]
    [4, 2, 2]
    """
    return max(-(-(m // 2) // lids), theorem3(m))


def bound_of(tree: Tree) -> tuple[int, str] | None:
    """The best bound that holds for single paths on a tree, and where it is from; None where none is known."""
    k, n = tree.children[0], tree.levels
    if tree.parents != (1,) + (k,) * (n - 1) or k < 2:
        return None
    if n == 2 and tree.children[1] <= 2 * k:
        return theorem2(2 * k, tree.children[1]), "Yuan et al., Theorem 2"
    if tree.children == (k,) * (n - 1) + (2 * k,):
        return single_path_bound(2 * k, n), "Yuan et al., Theorem 4" if n == 3 else "Theorem 5, sharpened"
    return None


def _root(square: int) -> int:
    """The square root, rounded up."""
    root = isqrt(square)
    return root if root * root == square else root + 1
