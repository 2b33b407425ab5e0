"""Figures 1 to 7: paths, curves of worst and average cases, and patterns on meshes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import obliv
from obliv import view
from obliv.papers.panels import draw_pairs, draw_panels, draw_series, mark_ends
from obliv.papers.u2turn.averages import average_of
from obliv.papers.u2turn.figures26 import RADICES, optimum
from obliv.papers.u2turn.meshes import ROUTINGS, worst
from obliv.papers.u2turn.patterns import funnel, mirrored, split
from obliv.papers.u2turn.printed import COLUMNS, FIGURE6_MESHES
from obliv.papers.verdicts import Bounds, exactly

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES"]

_SIZES = [f"{kx}x{ky}" for kx, ky in FIGURE6_MESHES]


def figure1(path: str | Path) -> None:
    """Draw the paths of XYX and YXY between one pair of a 5x5 mesh."""
    mesh = obliv.topology("mesh:5x5")
    source, destination = 1 + 5 * 1, 3 + 5 * 4

    def paths(name: str, ax: Axes) -> None:
        view.draw_paths(obliv.routing(name, mesh), source, destination, ax, title=False)

    draw_panels(
        path,
        [("(a) XYX-Routing", partial(paths, "xyx")), ("(b) YXY-Routing", partial(paths, "yxy"))],
        "Figure 1: routing paths in a 5x5 mesh, five of probability 1/5 each; the pair of nodes is ours.",
    )


def figure2(path: str | Path) -> None:
    """Draw the worst case of every routing on odd square meshes, with that of the best routing."""

    def curves(ax: Axes) -> None:
        series = {name: [float(worst(f"mesh:{k}x{k}", ROUTINGS[name])) for k in RADICES] for name in COLUMNS}
        draw_series(ax, RADICES, series, [str(k) for k in RADICES], "network radix (k)")
        best = [_upper(k) for k in RADICES]
        ax.plot(RADICES, best, color="0.75", linewidth=6, label="Optimal Routing", zorder=1)
        ax.set_ylim(0.0, 0.7)
        ax.legend(loc="lower left", fontsize=9, frameon=False, ncols=2)

    draw_panels(
        path,
        [("Worst-case throughput for odd radix meshes", curves)],
        "Figure 2: exact values; the optimal routing by certified linear programs.",
        (6.2, 4.2),
    )


def _upper(k: int) -> float:
    """Return the proved upper bound of the throughput of all routings on a k x k mesh."""
    value = optimum(k, Fraction(k + 1, 2 * k + 1)).value
    if isinstance(value, Bounds):
        return float(value.upper)
    return float(exactly(value))


def figure3(path: str | Path) -> None:
    """Draw patterns that load DOR with (1 + kmax)/2."""
    _draw_patterns(
        path,
        [("DOR-XY, 7x6", 7, 6, "dor", 3), ("DOR-YX, 7x6", 7, 6, "dor:yx", 3)],
        "Figure 3: traffic that loads one channel with (1+kmax)/2 = 4; the size of the mesh is ours.",
    )


def figure4(path: str | Path) -> None:
    """Draw patterns that load DOR with kmax - 1."""
    _draw_patterns(
        path,
        [("(a) DOR-XY routing, 7x6", 7, 6, "dor", 5), ("(b) DOR-YX routing, 6x5", 6, 5, "dor:yx", 4)],
        "Figure 4: traffic that loads one channel with kmax-1.",
    )


def figure5(path: str | Path) -> None:
    """Draw patterns that load O1TURN with kmax/2."""
    _draw_patterns(
        path,
        [("(a) O1TURN routing, 7x6", 7, 6, "o1turn", 3), ("(b) O1TURN routing, 6x5", 6, 5, "o1turn", 2)],
        "Figure 5: traffic that loads one channel with kmax/2.",
    )


def figure6(path: str | Path) -> None:
    """Draw the exact worst case of every routing on asymmetric meshes."""
    values = {name: [float(worst(f"mesh:{size}", routing)) for size in _SIZES] for name, routing in ROUTINGS.items()}
    _draw_bars(
        path,
        "Worst-case throughput in asymmetric meshes",
        values,
        "Figure 6: exact values. The text does not name the sizes; these are all meshes kx > ky up to 7x6.",
    )


def figure7(path: str | Path) -> None:
    """Draw the average of every routing on asymmetric meshes, for random permutations."""
    values = {name: [average_of(f"mesh:{size}", routing) for size in _SIZES] for name, routing in ROUTINGS.items()}
    _draw_bars(
        path,
        "Average-case throughput in asymmetric meshes",
        values,
        "Figure 7: random permutations, reciprocal of the mean largest load. The paper does not define its matrices, "
        "and the text does not name the sizes; these are all meshes kx > ky up to 7x6.",
    )


def _draw_patterns(path: str | Path, cases: list[tuple[str, int, int, str, int]], caption: str) -> None:
    """Draw a pattern for the channel (i, 0) -> (i+1, 0), or its mirror image for DOR-YX, in every panel."""

    def pattern(kx: int, ky: int, routing: str, i: int, ax: Axes) -> None:
        pairs = split(kx, ky) if routing == "o1turn" else funnel(kx, ky, i)
        if routing == "dor:yx":
            pairs, i = mirrored(kx, pairs), kx - 2 - i
        mesh = obliv.topology(f"mesh:{kx}x{ky}")
        numbers = [(a[0] + kx * a[1], b[0] + kx * b[1]) for a, b in pairs]
        draw_pairs(ax, mesh, routing, numbers, mesh.channels_between(i, i + 1)[0])
        mark_ends(ax, pairs)

    panels = [(title, partial(pattern, kx, ky, routing, i)) for title, kx, ky, routing, i in cases]
    draw_panels(path, panels, f"{caption} Red squares send, green circles receive.")


def _draw_bars(path: str | Path, title: str, values: dict[str, list[float]], caption: str) -> None:
    """Draw a group of bars for every mesh."""

    def bars(ax: Axes) -> None:
        width = 0.8 / len(values)
        for number, (name, heights) in enumerate(values.items()):
            at = [place + (number - (len(values) - 1) / 2) * width for place in range(len(_SIZES))]
            ax.bar(at, heights, width, color=view.SERIES[number], label=name, zorder=3)
        ax.set_xticks(range(len(_SIZES)), _SIZES)
        ax.set_ylim(0.0, ceil(10 * max(map(max, values.values()))) / 10)
        ax.set_xlabel("mesh size (kx x ky)", fontsize=9)
        ax.set_ylabel("normalized throughput", fontsize=9)
        view.light_frame(ax, "both")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.09), fontsize=9, frameon=False, ncols=len(values))

    draw_panels(path, [(title, bars)], caption, (9.5, 3.9))


FIGURES: dict[str, Callable[[str | Path], None]] = {
    f"figure{number}": draw
    for number, draw in enumerate((figure1, figure2, figure3, figure4, figure5, figure6, figure7), start=1)
}
