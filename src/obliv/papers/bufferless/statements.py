"""Statements of the text that can be checked one by one, exactly, and Figure 1 of the paper."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import comb, e
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

import obliv
from obliv import view
from obliv._util.arrays import starts
from obliv.bufferless.frames import assign, group_frames
from obliv.bufferless.leveled.base import given
from obliv.errors import InputError
from obliv.papers.bufferless.theorems import BUTTERFLIES, FAMILIES, Formulas, Size, fit, times
from obliv.papers.panels import blank, keep
from obliv.papers.paper import ComputedEntry, Step, Value, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def compute(step: Step) -> Iterator[Value]:
    """Check every statement."""
    yield _chernoff()
    yield _graphs()
    yield _levels_of_a_group()
    yield _groups_of_a_path()
    pairs = [(d, lam) for d in range(1, 301) for lam in range(2, 102, 2)]
    yield min(group_frames(d, lam) * lam - 2 * d for d, lam in pairs)
    yield max(group_frames(d, lam) * lam - 2 * d - 2 * lam for d, lam in pairs)
    yield _no_group()
    yield _two_sessions()
    frame = min(12 * log - 2 * (4 * log + 1) for log in range(1, 61))
    yield ComputedEntry(Fraction(frame), "Least at log(DN) = 1.")
    yield _failure()
    yield min(size.frame - 6 * size.boats for size in (Formulas(Size(2**log, 1, 1), 12) for log in range(1, 61)))


def _chernoff() -> ComputedEntry:
    """Compute the largest tail over its bound; for t from k to k + 1 the bound 2^-t is least at the end."""
    best = (Fraction(0), "")
    for q in range(2, 41):
        for n in range(1, 41):
            tail = 0
            for k in range(n, 0, -1):
                tail += comb(n, k) * (q - 1) ** (n - k)
                if k <= 2 * e * n / q:
                    break
                best = max(best, (Fraction(tail * 2**k, q**n), f"n = {n}, p = 1/{q}, δμ just below {k}"))
    return ComputedEntry(*best)


def _graphs() -> ComputedEntry:
    """Count the pairs of frames that hold an edge of a path, for all lengths and positions."""
    most = max(_most_graphs(d, lam) - d for d in range(2, 61) for lam in range(2, 102, 2))
    note = f"With D = 1: {_most_graphs(1, 24)} graphs, in which a packet has the same neighbors."
    return ComputedEntry(Fraction(most), note)


def _most_graphs(dilation: int, lam: int) -> int:
    """Return the largest number of pairs of frames with an edge of a path, over all positions of the path."""
    level = np.arange(lam, 2 * lam)[:, None] + np.arange(dilation)  # of edges; rows are paths
    # an edge from the last level of F_j is in F_j and F_{j+1} only, the others also in F_{j-1} and F_j
    first = np.where(level % lam == lam - 1, level // lam, level // lam - 1).min(axis=1)
    return int(((level // lam).max(axis=1) - first).max() + 1)


def _levels_of_a_group() -> ComputedEntry:
    levels = {d: group_frames(d, 60) * 60 for d in (31, 60)}
    multiple = ComputedEntry(Fraction(levels[60]), against=Fraction(2 * 60))
    return ComputedEntry(Fraction(levels[31]), readings={"where λ divides D, as D = 60, where 2D = 120": multiple})


def _groups_of_a_path() -> ComputedEntry:
    gamma = group_frames(31, 60)
    first, last = 60 // 60, 91 // 60  # frames of the ends, from 0
    holding = [
        sum(start <= first and last < start + gamma for start in range(shift, 4 * gamma, gamma))
        for shift in (0, gamma // 2)
    ]
    session = int(assign(np.array([60]), np.array([31]), 60, gamma).session[0])
    return ComputedEntry(
        Fraction(sum(holding)), readings={"of the groups of its session": ComputedEntry(Fraction(holding[session - 1]))}
    )


def _no_group() -> ComputedEntry:
    """Check every path on an array with the length of four groups."""
    outside = paths = 0
    for lam in range(2, 22, 2):
        for d in range(1, 61):
            gamma = group_frames(d, lam)
            level = np.repeat(np.arange(2 * gamma * lam), d)
            length = np.tile(np.arange(1, d + 1), 2 * gamma * lam)
            paths += len(level)
            try:
                assign(level, length, lam, gamma)
            except InputError:
                outside += 1
    return ComputedEntry(Fraction(outside), f"{paths} paths; also that their group begins at a level of the network.")


def _two_sessions() -> ComputedEntry:
    """Route two packets, the second of which no group of the first session holds."""
    one = obliv.bufferless.instance("array:72", [range(2), range(47, 49)])
    run = obliv.bufferless.schedule(one, "centralized")
    constants = run.constants
    group = group_frames(2, constants["lambda"])
    session = (2 * constants["s"] + group - 1) * constants["tau"]  # m phases
    require(run.makespan > session, "the second session begins after m phases")
    later = ComputedEntry(Fraction(run.makespan - session, session))
    return ComputedEntry(Fraction(run.makespan, session), readings={"of one session, the second": later})


def unsuccessful(packets: int, chi: int, rounds: int) -> Fraction:
    """Return the probability that a packet has no valid color after all rounds.

    All packets are neighbors, and a packet with a valid color arrives at once, so that its color is free again.
    """
    after: dict[int, Counter[int]] = {}  # in how many of chi^n cases how many of n packets have no valid color
    for n in range(packets + 1):
        draws = product(range(chi), repeat=n)
        after[n] = Counter(n - sum(drawn.count(color) == 1 for color in drawn) for drawn in draws)
    waiting = {packets: Fraction(1)}
    for _ in range(rounds):
        later: dict[int, Fraction] = defaultdict(Fraction)
        for n, share in waiting.items():
            for left, count in after[n].items():
                later[left] += share * Fraction(count, chi**n)
        waiting = later
    return 1 - waiting.get(0, Fraction(0))


def _failure() -> ComputedEntry:
    """Compute the probability exactly for paths of three edges from level 0, the last two of them shared."""
    shares = []
    for packets in (2, 3):
        size = Size(packets, packets, 3)
        constants = Formulas(size, 12)
        two, three = (unsuccessful(n, constants.boats, constants.rounds) for n in (2, 3))
        same = Fraction(1, constants.sets)
        failure = same * two if packets == 2 else same**2 * three + 3 * same * (1 - same) * two
        most = Fraction(size.dilation * packets, constants.frame * (size.dilation * packets) ** 2)
        shares.append((failure / most, f"N = {packets}: {float(failure):.2g} of {float(most):.2g}"))
    return ComputedEntry(max(shares)[0], "; ".join(note for _, note in shares) + ".")


# Figure 1 of the paper, and routing times against the terms of the theorems, below what its constants bound them by.
#
# The paper has no figure of times; those two are the rows of its theorems as pictures.


_SEEDS = 10
_THEOREMS = {
    "theorem3.1": ("centralized", 3, "C log(DN)", "2mτ"),
    "theorem4.1": ("distributed", 12, "C log²(DN)", "2m · 3ξ · 2τ"),
}


def draw(path: str | Path, name: str) -> None:
    """Draw the routing times of a theorem, ``theorem3.1`` or ``theorem4.1``, into a file."""
    figure, (ax,) = blank((5.1, 4.1))
    _panel(ax, name)
    ax.set_ylabel("routing time (steps)", fontsize=9)
    caption = (
        f"Butterflies 2² to 2¹² and meshes 4x4 to 32x32, random paths, {_SEEDS} seeds each, the paper's constants."
    )
    keep(figure, path, fill(caption, 75))


def _panel(ax: Axes, name: str) -> None:
    algorithm, alpha, term, bounded = _THEOREMS[name]
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
    per = fit(BUTTERFLIES, algorithm, _SEEDS)[0].value
    line = [min(ends), max(ends)]
    label = f"{float(f'{per:.3g}'):,.0f} {term}, fitted"
    ax.plot(line, [per * x for x in line], color=view.SERIES[0], linewidth=1.0, label=label, zorder=1)
    ax.plot([], [], linestyle="none", marker="_", markersize=6, color=view.INK, label=f"bound, {bounded}")
    ax.set_xlabel(term, fontsize=9)
    ax.set_title(f"Theorem {name[-3:]}: {algorithm}", fontsize=11)
    view.light_frame(ax, "both")
    ax.legend(loc="upper left", fontsize=9, frameon=False)


def networks(path: str | Path) -> None:
    """Draw Figure 1 into a file: a leveled network, the butterfly and the mesh, with levels from left to right."""
    figure, axes = blank((11.0, 3.9), 3, w_pad=0.12)
    panels = {
        "Leveled network": _uneven(),
        "Butterfly": obliv.topology("butterfly:3"),
        "Mesh": obliv.topology("leveled-mesh:4x4"),
    }
    network: Any
    for ax, (title, network) in zip(axes, panels.items(), strict=True):
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
