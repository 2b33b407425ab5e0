"""Figures 11 to 15: mean performance ratios against density and size, with their standard errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from obliv import view
from obliv.papers.fat_tree.study import DENSITIES, SIZES, curves

__all__ = ["FIGURES"]


def _draw(
    path: str | Path,
    m: int,
    n: int,
    routings: tuple[str, ...],
    traffics: list[str],
    at: list[float],
    label: str,
    title: str,
) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    ax = figure.subplots()
    for (name, values), mark in zip(curves(m, n, routings, traffics).items(), "os^", strict=False):
        ax.errorbar(at, [v.value for v in values], [v.stderr for v in values], marker=mark, capsize=3, label=name)
    if max(at) > 1:
        ax.set_xscale("log", base=2)
        ax.set_xticks(at, [f"{x:g}" for x in at])
    ax.axhline(1.0, color="0.6", linewidth=0.8)
    ax.set_xlabel(label)
    ax.set_ylabel("mean performance ratio, 32 instances")
    ax.set_title(title)
    ax.legend(frameon=False)
    view.save(figure, path)


_GROUPS, _SPOTS = ([f"{kind}{size}" for size in SIZES] for kind in ("clustered:", "hotspot:4,"))
_LOW = [f"bernoulli:{p}" for p in DENSITIES]
_SHARES = [float(Fraction(p)) for p in DENSITIES]
_AT = [float(size) for size in SIZES]

FIGURES: dict[str, Callable[[str | Path], None]] = {
    "figure11": partial(
        _draw,
        m=16,
        n=3,
        routings=("MLID", "WSR", "OSRM3"),
        traffics=_LOW,
        at=_SHARES,
        label="probability that a pair sends",
        title="Random traffic on FT(16,3)",
    ),
    "figure12": partial(
        _draw,
        m=32,
        n=2,
        routings=("MLID/WSR", "OSRM2"),
        traffics=_GROUPS,
        at=_AT,
        label="size of the groups",
        title="Clustered traffic on FT(32,2)",
    ),
    "figure13": partial(
        _draw,
        m=8,
        n=3,
        routings=("MLID/WSR", "OSRM3"),
        traffics=_GROUPS,
        at=_AT,
        label="size of the groups",
        title="Clustered traffic on FT(8,3)",
    ),
    "figure14": partial(
        _draw,
        m=32,
        n=2,
        routings=("MLID/WSR", "OSRM2"),
        traffics=_SPOTS,
        at=_AT,
        label="size of the hot spots",
        title="Four hot spots on FT(32,2)",
    ),
    "figure15": partial(
        _draw,
        m=16,
        n=3,
        routings=("MLID/WSR", "OSRM3"),
        traffics=_SPOTS,
        at=_AT,
        label="size of the hot spots",
        title="Four hot spots on FT(16,3)",
    ),
}
