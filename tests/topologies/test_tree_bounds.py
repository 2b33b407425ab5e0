"""What is said to bound single paths, and where nothing is."""

from __future__ import annotations

from itertools import product
from math import ceil, sqrt

import numpy as np
import pytest

import obliv
from obliv.topologies.trees import (
    bound_of,
    four_ports,
    several_heights,
    single_path_bound,
    theorem2,
    theorem5,
    two_levels,
    with_lids,
)


@pytest.mark.parametrize(
    ("spec", "bound", "source"),
    [
        ("fattree:6,2", 2, "Yuan et al., Theorem 3"),
        ("fattree:36,2", 5, "Yuan et al., Theorem 3"),
        ("eft2:8,8", 2, "Yuan et al., Theorem 3"),
        ("xgft:2;4,8;1,4", 2, "Yuan et al., Theorem 3"),
        ("eft2:8,6", 2, "Yuan et al., Theorem 2"),
        ("eft2:8,4", 2, "Yuan et al., Theorem 2"),
        ("eft2:8,3", 2, "covers of links, docs/explanation/fat-trees.md"),
        ("eft2:36,7", 4, "covers of links, docs/explanation/fat-trees.md"),
        ("eft2:8,9", 2, "Yuan et al., Theorem 2"),
        ("xgft:2;4,9;1,4", 2, "Yuan et al., Theorem 2"),
        ("fattree:8,3", 4, "Yuan et al., Theorem 4"),
        ("fattree:8,4", 6, "covers of links at several heights, docs/explanation/fat-trees.md"),
        ("fattree:4,4", 3, "pairs of one root, docs/explanation/fat-trees.md"),
        ("fattree:4,5", 3, "Theorem 5, sharpened"),
    ],
)
def test_the_theorem_that_is_named(spec: str, bound: int, source: str) -> None:
    assert bound_of(obliv.topology(spec)) == (bound, source)


@pytest.mark.parametrize("spec", ["eft2:8,2", "eft2:6,2", "sub-eft2:8,6", "xgft:1;4;1", "xgft:2;1,2;1,1"])
def test_a_bound_that_says_nothing_is_none(spec: str) -> None:
    assert bound_of(obliv.topology(spec)) is None


def test_no_bound_is_shown_or_kept_where_there_is_none() -> None:
    result = obliv.ratio(obliv.routing("dmodk", obliv.topology("eft2:8,2")), certificate=True)
    assert (result.ratio, result.lower_bound) == (1, None)
    assert "single paths" not in str(dict(result.summary()))
    assert result.to_dict()["lower_bound"] is None
    assert obliv.verify(result).proved


# EFT2.


def test_two_levels_contain_theorem_2() -> None:
    for m in range(4, 74, 2):
        for leaves in range(2, m + 1):
            assert two_levels(m, leaves) == max(1, ceil(min(sqrt(m // 2), leaves / 2)))
            assert theorem2(m, leaves) <= two_levels(m, leaves) <= max(1, min(m // 2, leaves - 1))
    assert (theorem2(8, 3), two_levels(8, 3)) == (1, 2)


@pytest.mark.parametrize("m", [4, 6, 8, 10, 12, 18])
def test_no_ratio_on_eft2_is_below_the_bound(m: int) -> None:
    for leaves in range(2, min(m, 12) + 1):
        for name in ("dmodk", "osrm2", "osrm2-c"):
            result = obliv.ratio(obliv.routing(name, obliv.eft2(m, leaves)))
            assert two_levels(m, leaves) <= result.ratio
            assert (result.lower_bound or 1) == two_levels(m, leaves)
        assert result.ratio <= ceil(sqrt(m // 2))  # osrm2-c


def least_on_two_levels(k: int, leaves: int) -> int:
    """The least ratio of all routings of one root a pair, by trying them."""
    pairs = [(a, i, b, j) for a, i, b, j in product(range(leaves), range(k), range(leaves), range(k)) if a != b]

    def placed(at: int, most: int, on: dict[tuple[str, int, int], list[tuple[int, int, int, int]]]) -> bool:
        if at == len(pairs):
            return True
        a, _, b, _ = pair = pairs[at]
        for root in range(k if at else 1):
            links = [on.setdefault(key, []) for key in (("up", a, root), ("down", b, root))]
            if all(disjoint([*link, pair]) <= most for link in links):
                for link in links:
                    link.append(pair)
                if placed(at + 1, most, on):
                    return True
                for link in links:
                    link.pop()
        return False

    most = 1
    while not placed(0, most, {}):
        most += 1
    return most


def disjoint(pairs: list[tuple[int, int, int, int]]) -> int:
    """The largest set of node-disjoint pairs, by augmenting."""
    met: dict[tuple[int, int], tuple[int, int]] = {}

    def augmented(source: tuple[int, int], seen: set[tuple[int, int]]) -> bool:
        for a, i, b, j in pairs:
            if (a, i) == source and (b, j) not in seen:
                seen.add((b, j))
                if (b, j) not in met or augmented(met[b, j], seen):
                    met[b, j] = source
                    return True
        return False

    return sum(augmented(source, set()) for source in sorted({(a, i) for a, i, _, _ in pairs}))


@pytest.mark.parametrize(("k", "leaves", "least"), [(2, 2, 1), (2, 3, 2), (3, 2, 1), (3, 3, 2), (2, 4, 2)])
def test_the_bound_on_small_eft2_by_trying_all(k: int, leaves: int, least: int) -> None:
    assert two_levels(2 * k, leaves) <= least_on_two_levels(k, leaves) == least


# Several heights.

HEIGHTS = {
    4: [2, 4, 6, 9, 12, 19, 36, 67],
    5: [2, 6, 10, 16, 23, 42, 97, 222],
    6: [3, 9, 18, 32, 52, 109, 312, 881],
}


@pytest.mark.parametrize("n", HEIGHTS)
def test_several_heights(n: int) -> None:
    for k, bound in zip((2, 3, 4, 5, 6, 8, 12, 18), HEIGHTS[n], strict=True):
        assert several_heights(2 * k, n) == bound
        known, _ = bound_of(obliv.fattree(2 * k, n)) if k < 5 else (bound, "")
        assert known == max(bound, single_path_bound(2 * k, n), four_ports(n) if k == 2 else 1)
    assert (single_path_bound(4, 5), single_path_bound(4, 6)) == (3, 4)  # larger


@pytest.mark.parametrize("n", range(2, 12))
def test_several_heights_by_counting(n: int) -> None:
    """The least X that passes all inequalities, one after another; never above what alternating digits have."""
    for k in range(2, 9):
        x = 1
        while any(2 * ((n - 1 - g) * k * x**2 + k**g * x) < 2 * k**n - k ** (n - 1) for g in range(n - 1)):
            x += 1
            if x > 5000:
                break
        if x <= 5000:
            assert several_heights(2 * k, n) == x
        alternating = k ** ((n - 1) // 2) * (1 if n % 2 else ceil(sqrt(k)))
        assert max(several_heights(2 * k, n), single_path_bound(2 * k, n), theorem5(2 * k, n)) <= alternating


# LIDs.


def test_no_lids_at_all() -> None:
    for lids in (0, -1):
        with pytest.raises(obliv.InputError, match="at least 1"):
            with_lids(8, lids)


# Four ports.


def pairs_of_a_root(up: np.ndarray, down: np.ndarray) -> int:
    """Pairs of hosts in different quarters that a root can have, by the lines that cover its links up and down.

    ``up[a]`` and ``down[a]`` hold hosts: those of quarter a are sources (destinations), the others the reverse.
    """
    quarter = np.arange(up.shape[1]) // (up.shape[1] // 4)
    apart = quarter[:, None] != quarter[None]
    own = quarter[None] == np.arange(4)[:, None]
    leave = (up & own).any(axis=0)[:, None] | (up & ~own)[quarter]
    arrive = (down & own).any(axis=0)[None] | (down & ~own)[quarter].T
    return int((leave & arrive & apart).sum())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 30))])
def test_two_lines_a_link_leave_a_root_its_share_at_most(seed: int) -> None:
    """Climb to the covers with most pairs, from random ones; the extreme ones are those of the proof."""
    rng, hosts = np.random.default_rng(seed), 4 * (8 << seed % 2)
    best = -1
    lines = rng.integers(hosts, size=(2, 4, 2))

    def pairs() -> int:
        covers = np.zeros((2, 4, hosts), bool)
        np.put_along_axis(covers, lines, True, axis=2)
        return pairs_of_a_root(*covers)

    for step in range(1500):
        place, old = tuple(rng.integers((2, 4, 2))), lines.copy()
        lines[place] = rng.integers(hosts) if step % 2 else lines[tuple(rng.integers((2, 4, 2)))]
        count = pairs()
        assert count <= 3 * hosts
        if count < best - (step % 7 == 0):
            lines = old
        else:
            best = count
    lines[0], lines[1] = [[0, 1], [2, 3], [2, 3], [2, 3]], [[2, 3], [0, 1], [0, 1], [0, 1]]
    assert pairs() == 3 * hosts
