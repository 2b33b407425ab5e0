"""Figure 1 of the paper, and routing times against the terms of the theorems, below what its constants bound them by.

The paper has no figure of times; those two are the rows of its theorems as pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

import obliv
from obliv import view
from obliv._util.arrays import starts
from obliv.papers.bufferless.formulas import Formulas
from obliv.papers.bufferless.growth import fit
from obliv.papers.bufferless.instances import times
from obliv.papers.bufferless.printed import BUTTERFLIES, FAMILIES
from obliv.papers.panels import keep
from obliv.topologies.leveled.base import given
from obliv.view.figures import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw", "networks"]

_SEEDS = 10
_THEOREMS = {"theorem3.1": ("centralized", 3, "C log(DN)"), "theorem4.1": ("distributed", 12, "C log²(DN)")}


def draw(path: str | Path, name: str) -> None:
    """Draw the routing times of a theorem, ``theorem3.1`` or ``theorem4.1``, into a file."""
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(5.1, 4.1), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    ax = figure.subplots()
    _panel(ax, name)
    ax.set_ylabel("routing time (steps)", fontsize=9)
    caption = (
        f"Butterflies 2² to 2¹² and meshes 4x4 to 32x32, random paths, {_SEEDS} seeds each, the paper's constants."
    )
    keep(figure, path, fill(caption, 75))


def _panel(ax: Axes, name: str) -> None:
    algorithm, alpha, term = _THEOREMS[name]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ends: list[float] = []
    for specs, label, color, mark in zip(
        FAMILIES.values(), ("butterflies", "meshes"), view.SERIES, view.MARKERS, strict=False
    ):
        runs = [times(spec, algorithm, seed) for spec in specs for seed in range(_SEEDS)]
        x = [float(size.congestion * size.log ** (1 if alpha == 3 else 2)) for size, _, _ in runs]
        bound = [Formulas(size, alpha, boats - 1).time for size, _, boats in runs]
        ax.plot(x, bound, linestyle="none", marker="_", markersize=6, color=view.INK, alpha=0.6, zorder=2)
        ax.plot(
            x,
            [time for _, time, _ in runs],
            linestyle="none",
            marker=mark,
            markersize=4.5,
            markerfacecolor="none",
            color=color,
            label=label,
            zorder=3,
        )
        ends += [min(x), max(x)]
    _line(ax, (min(ends), max(ends)), fit(BUTTERFLIES, algorithm, _SEEDS)[0].value, term)
    ax.plot([], [], linestyle="none", marker="_", markersize=6, color=view.INK, label="bound, " + _BOUNDS[name])
    ax.set_xlabel(term, fontsize=9)
    ax.set_title(f"Theorem {name[-3:]}: {algorithm}", fontsize=11)
    view.light_frame(ax, "both")
    ax.legend(loc="upper left", fontsize=9, frameon=False)


_BOUNDS = {"theorem3.1": "2mτ", "theorem4.1": "2m · 3ξ · 2τ"}


def _line(ax: Axes, ends: Sequence[float], per: float, term: str) -> None:
    """Draw the fitted growth of butterflies."""
    ax.plot(
        ends,
        [per * x for x in ends],
        color=view.SERIES[0],
        linewidth=1.0,
        label=f"{float(f'{per:.3g}'):,.0f} {term}, fitted",
        zorder=1,
    )


def networks(path: str | Path) -> None:
    """Draw Figure 1 into a file: a leveled network, the butterfly and the mesh, with levels from left to right."""
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(11.0, 3.9), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    panels = {
        "Leveled network": _uneven(),
        "Butterfly": obliv.topology("butterfly:3"),
        "Mesh": obliv.topology("leveled-mesh:4x4"),
    }
    network: Any
    for ax, (title, network) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        rank, level = np.asarray(network.positions, float).T
        for low, high in zip(*network.edge_ends, strict=True):
            ax.plot(level[[low, high]], -rank[[low, high]], color="0.6", linewidth=0.9, zorder=1)
        ax.scatter(level, -rank, s=26, facecolor="white", edgecolor=view.INK, linewidth=1.1, zorder=2)
        ax.set_title(title, fontsize=11)
        ax.set_xticks(range(network.depth + 1))
        ax.set_yticks([])
        ax.set_xlabel("level", fontsize=9)
        for side in ("left", "right", "top", "bottom"):
            ax.spines[side].set_visible(False)
        ax.margins(0.08)
    view.save(figure, path)


def _uneven() -> Any:
    """Return a leveled network whose levels have different numbers of nodes."""
    counts = (3, 5, 4, 6, 4, 3)
    first = starts(counts)
    ends = [
        (first[level] + a, first[level + 1] + b)
        for level, (one, two) in enumerate(pairwise(counts))
        for a in range(one)
        for b in range(two)
        if abs((a + 0.5) / one - (b + 0.5) / two) < 0.5 / min(one, two) + 0.02
    ]
    low, high = np.array(ends).T
    return given("a leveled network", low, high, np.repeat(np.arange(len(counts)), counts))


FIGURES: dict[str, Callable[[str | Path], None]] = {
    "figure1": networks,
    **{name: partial(draw, name=name) for name in _THEOREMS},
}
