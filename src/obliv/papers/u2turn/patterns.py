"""Figures 3 to 5: traffic patterns for DOR and O1TURN, built as partial permutations and evaluated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import obliv
from obliv.papers.paper import Step, Value, agreeing, require
from obliv.papers.u2turn.meshes import ASYMMETRIC, worst_load

__all__ = ["figure3", "figure4", "figure5", "funnel", "load_of", "mirrored", "split"]

Node = tuple[int, int]
Pairs = list[tuple[Node, Node]]


def funnel(kx: int, ky: int, i: int) -> Pairs:
    """Return pairs for DOR-XY: nodes (0, 0) to (i, 0) send one unit each over (i, 0) -> (i+1, 0).

    Behind the channel there are (kx-1-i) ky destinations, those of the same row first.
    """
    free = [(x, y) for y in range(ky) for x in range(i + 1, kx)]
    return list(zip([(x, 0) for x in range(i + 1)], free, strict=False))


def mirrored(kx: int, pairs: Pairs) -> Pairs:
    """Return the reversed pairs in a mirror: DOR-YX sends them over the mirror image of the channel of DOR-XY."""
    return [((kx - 1 - b[0], b[1]), (kx - 1 - a[0], a[1])) for a, b in pairs]


def split(kx: int, ky: int) -> Pairs:
    """Return pairs for O1TURN: the left half of row 0 sends across the middle, the right half receives.

    Pairs inside the row load (i, 0) -> (i+1, 0) with one, those that only begin in it with one half.
    """
    i = (kx - 1) // 2
    inside = min(i + 1, kx - 1 - i)
    pairs = [((x, 0), (i + 1 + x, 0)) for x in range(inside)]
    return pairs + [((x, 0), (i + 1 + x - inside, 1)) for x in range(inside, i + 1)]


def load_of(kx: int, ky: int, routing: str, pairs: Pairs, i: int, y: int = 0) -> Fraction:
    """Return the load on (i, y) -> (i+1, y); no node may send or receive more than once."""
    sources, destinations = zip(*pairs, strict=True)
    require(len(set(sources)) == len(sources) == len(set(destinations)), "the pairs are a partial permutation")
    topology = obliv.topology(f"mesh:{kx}x{ky}")
    loads: Any = obliv.routing(routing, topology).pair_loads()
    (channel,) = topology.channels_between(i + kx * y, i + 1 + kx * y)
    weights = loads.on_channel(channel).tocsr()
    total = sum(int(weights[a[0] + kx * a[1], b[0] + kx * b[1]]) for a, b in pairs)
    return Fraction(total, loads.denominator)


def figure3(step: Step) -> dict[str, Value]:
    """Compute the patterns that send half of a row over one channel."""
    return {
        "DOR-XY, 7x6": Value(_dor_xy(7, 6, 3)),
        "DOR-YX, 7x6": Value(_dor_yx(7, 6, 3)),
        "DOR-XY, 8x7": Value(_dor_xy(8, 7, 3)),
        "DOR-YX, 8x7": Value(_dor_yx(8, 7, 3)),
        "DOR-XY, 8x7, left half to right half": Value(_halves(8, 7)),
    } | {
        f"DOR-{order}, meshes with the bound": agreeing(
            ((f"{kx}x{ky}", load(kx, ky, (kx - 1) // 2) == Fraction(kx // 2 + kx % 2)) for kx, ky in ASYMMETRIC),
            "meshes kx > ky up to 8x7",
        )
        for order, load in (("XY", _dor_xy), ("YX", _dor_yx))
    }


def figure4(step: Step) -> dict[str, Value]:
    """Compute the patterns of a row into the last column, and of the first column into a row."""
    return {
        "(a) DOR-XY, 7x6": Value(_dor_xy(7, 6, 5), against=worst_load("mesh:7x6", "dor")),
        "(b) DOR-YX, 6x5": Value(_dor_yx(6, 5, 4), against=worst_load("mesh:6x5", "dor:yx")),
        "meshes kx - ky = 1, both orders": agreeing(
            (
                (f"{kx}x{kx - 1}", _dor_xy(kx, kx - 1, kx - 2) == _dor_yx(kx, kx - 1, kx - 2) == kx - 1)
                for kx in range(3, 9)
            ),
            "meshes up to 8x7",
            "The patterns are whole worst cases there.",
        ),
    }


def figure5(step: Step) -> dict[str, Value]:
    """Compute the patterns of row 0 across the middle."""
    return {
        f"({letter}) O1TURN, {kx}x{ky}": Value(
            load_of(kx, ky, "o1turn", split(kx, ky), (kx - 1) // 2),
            f"The exact worst case is {worst_load(f'mesh:{kx}x{ky}', 'o1turn')}.",
        )
        for letter, kx, ky in (("a", 7, 6), ("b", 6, 5))
    } | {
        "meshes with kmax/2": agreeing(
            (
                (f"{kx}x{ky}", load_of(kx, ky, "o1turn", split(kx, ky), (kx - 1) // 2) == Fraction(kx, 2))
                for kx, ky in ASYMMETRIC
            ),
            "meshes kx > ky up to 8x7",
        )
    }


def _halves(kx: int, ky: int) -> Fraction:
    """Return the largest load of DOR if every node of the left half sends across the middle of its row."""
    pairs = [((x, y), (x + kx // 2, y)) for y in range(ky) for x in range(kx // 2)]
    loads = {load_of(kx, ky, "dor", pairs, i, y) for y in range(ky) for i in range(kx - 1)}
    return max(loads)


def _dor_xy(kx: int, ky: int, i: int) -> Fraction:
    return load_of(kx, ky, "dor", funnel(kx, ky, i), i)


def _dor_yx(kx: int, ky: int, i: int) -> Fraction:
    return load_of(kx, ky, "dor:yx", mirrored(kx, funnel(kx, ky, i)), kx - 2 - i)
