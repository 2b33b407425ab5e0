"""Figures 1 to 8: trees, how they are put together, and the groups of OSRM2."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import obliv
from obliv import view
from obliv.papers.panels import draw_panels
from obliv.papers.paper import ComputedEntry, Printed, Step
from obliv.questions.ratio import all_paths_worst
from obliv.results.numbers import Bounds
from obliv.view.axes import BOX, NODE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Point = tuple[float, float]
_PALE = "0.6"
_DOTS = "…"
_SQUARE = "round,pad=0.35"


def _line(ax: Axes, start: Point, end: Point, color: str = _PALE, width: float = 1.0) -> None:
    ax.plot(*zip(start, end, strict=True), color=color, linewidth=width, zorder=2 if color == _PALE else 3)


def _box(ax: Axes, at: Point, text: str, style: str = _SQUARE, face: str = NODE, size: float = 8) -> None:
    frame = {"boxstyle": style, "facecolor": face, "edgecolor": view.INK, "linewidth": 0.9}
    ax.text(*at, text, ha="center", va="center", fontsize=size, color=view.INK, bbox=frame, zorder=5)


def _words(ax: Axes, at: Point, text: str, size: float = 8, align: str = "center") -> None:
    ax.text(*at, text, ha=align, va="center", fontsize=size, color=view.INK, zorder=6)


def _row(ax: Axes, y: float, labels: Sequence[str], xs: Iterable[float]) -> list[Point | None]:
    """Draw boxes beside each other, dots for those left out, and return their places."""
    places: list[Point | None] = []
    for x, label in zip(xs, labels, strict=True):
        if label == _DOTS:
            _words(ax, (x, y), label)
        else:
            _box(ax, (x, y), label)
        places.append(None if label == _DOTS else (x, y))
    return places


def _frame(ax: Axes, width: float, low: float, high: float) -> None:
    ax.set_axis_off()
    ax.set_xlim(0, width)
    ax.set_ylim(low, high)


def _places(tree: obliv.Tree, width: float) -> list[Point]:
    """Return the places of all nodes, the levels above each other."""
    places = []
    for level, (first, end) in enumerate(zip(tree.first_node, tree.first_node[1:], strict=False)):
        places += [((at + 0.5) * width / (end - first), float(level)) for at in range(end - first)]
    return places


def _links(tree: obliv.Tree) -> list[int]:
    """Return the channels up: each stands for a link of two channels."""
    return np.flatnonzero(tree.tail < tree.head).tolist()


def _draw_tree(ax: Axes, tree: obliv.Tree, labels: bool = False, bold: Container[int] = ()) -> list[Point]:
    """Draw a tree with a line for each unit of bandwidth of a link; `bold` are channels to highlight."""
    width = 1.5 * tree.below[-1]
    places = _places(tree, width)
    for channel in _links(tree):
        (x, y), (above, top) = places[tree.tail[channel]], places[tree.head[channel]]
        lines = int(tree.bandwidth_of(channel))
        for shift in (0.22 * (line - (lines - 1) / 2) for line in range(lines)):
            strong = channel in bold
            _line(ax, (x + shift, y), (above + shift, top), view.SERIES[0] if strong else _PALE, 2.0 if strong else 1.0)
    for node, at in enumerate(places):
        if node < tree.below[-1]:
            _box(ax, at, tree.name_of(node) if labels else " ", _SQUARE if labels else "circle,pad=0.2", size=6.5)
        else:
            _box(ax, at, tree.name_of(node) if labels else " " * 9, face=BOX, size=6.5)
    _frame(ax, width, -0.6, tree.levels + 0.5)
    return places


def _figure3(ax: Axes) -> None:
    tree = obliv.fattree(4, 3)
    a, b = 0, 15
    used = {
        channel for ends in ((a, b), (b, a)) for channels, _ in obliv.OMRMN(tree).paths(*ends) for channel in channels
    }
    places = _draw_tree(ax, tree, True, used)
    for host, name in ((a, "a"), (b, "b")):
        _words(ax, (places[host][0], -0.35), name, 11)


def _stack(ax: Axes, part: str, count: str, last: str, above: Sequence[str] = ()) -> None:
    """Draw top switches, the last one a power of m/2, over sub-trees; switch i leads to port i of each.

    `above` are the numbers of the open ports of each switch.
    """
    xs = [1.5, 3.7, 5.6, 7.5]
    switches = _row(ax, 3.0, ["0", "1", _DOTS, f"(m/2)$^{{{last}}}$ − 1"], xs)
    for x, shown in zip(xs, switches, strict=True):
        if shown is None:
            _words(ax, (x, 1.0), _DOTS)
            continue
        _box(ax, (x, 0.75), part, "round,pad=1.1", BOX)
        for number, (switch, port) in enumerate(zip(switches, ("0", "1", _DOTS, "last"), strict=True)):
            at = x - 0.6 + 0.4 * number, 1.28
            _words(ax, (at[0], at[1] - 0.13), port, 6.5)
            if switch is not None:
                _line(ax, at, switch)
    for switch, ports in zip(filter(None, switches), above, strict=False):
        _fan(ax, switch, 0.75, ports)
    _words(ax, (0.1, 3.0), "top level\nswitches", 7, "left")
    _words(ax, (5.6, 0.2), f"{count} sub-fat-trees", 7)
    _frame(ax, 9, -0.1, 4.2 if above else 3.4)


def _fan(ax: Axes, at: Point, height: float, text: str) -> None:
    """Draw open links from a switch, up or down, and the numbers of their ports or nodes."""
    for shift in (-0.55, -0.2, 0.55):
        _line(ax, at, (at[0] + shift, at[1] + height))
    _words(ax, (at[0] + 0.18, at[1] + height), _DOTS)
    _words(ax, (at[0], at[1] + height * 1.3), text, 6.5)


def _subft1(ax: Axes) -> None:
    _fan(ax, (2.0, 2.0), 0.9, "up-link ports 0, 1, …, m/2 − 1")
    _fan(ax, (2.0, 2.0), -0.9, "m/2 processing nodes")
    _box(ax, (2.0, 2.0), "m-port switch")
    _frame(ax, 4, 0.3, 3.7)


def _two_levels(ax: Axes) -> None:
    xs = [1.2, 3.4, 5.4, 7.4]
    roots = _row(ax, 3.0, ["(0,0)", "(1,0)", _DOTS, "(m/2−1,0)"], xs)
    leaves = _row(ax, 1.4, ["(0,1)", "(1,1)", _DOTS, "(m−1,1)"], xs)
    for root, leaf in product(roots, leaves):
        if root and leaf:
            _line(ax, root, leaf)
    for leaf in filter(None, leaves):
        _fan(ax, leaf, -0.7, "m/2 nodes")
    _words(ax, (0.1, 3.45), "each switch is numbered by a tuple: (number, level)", 8, "left")
    _frame(ax, 8.6, 0.2, 3.7)


def _arrows(ax: Axes, low: Point, high: Point) -> None:
    """Draw the two channels of a link."""
    for start, end in ((low, high), (high, low)):
        shape = {"arrowstyle": "-|>", "color": view.INK, "linewidth": 0.8, "connectionstyle": "arc3,rad=0.09"}
        ax.annotate("", end, start, arrowprops={**shape, "shrinkA": 11, "shrinkB": 11}, zorder=2)


def _seft2(ax: Axes) -> None:
    xs = [1.4, 4.1, 5.9, 7.8]
    leaves = _row(ax, 1.7, ["(0,1)", "(1,1)", _DOTS, "(k−1,1)"], xs)
    for leaf in filter(None, leaves):
        _arrows(ax, leaf, (4.6, 3.0))
        for shift, label in ((-0.9, "0"), (0.0, "1"), (0.9, "m/2−1")):
            _arrows(ax, (leaf[0] + shift, 0.5), leaf)
            _box(ax, (leaf[0] + shift, 0.5), label, "round,pad=0.3", size=6.5)
        _words(ax, (leaf[0] + 0.42, 0.5), _DOTS)
    _box(ax, (4.6, 3.0), "(R,0)")
    _words(ax, (6.2, 3.0), "root with k children", 7, "left")
    _frame(ax, 9.2, 0.1, 3.4)


def _figure8(ax: Axes) -> None:
    """Draw FT(8,2) and, in the color of its root, the route of one pair of each pair of groups, from switch 0 to 1."""
    tree = obliv.fattree(8, 2)
    places = [(x, 1.6 * y if y < 2 else 3.6) for x, y in _places(tree, 32)]
    for channel in _links(tree):
        _line(ax, places[tree.tail[channel]], places[tree.head[channel]], "0.8", 0.7)
    routing = obliv.OSRM2(tree)
    for number, (i, j) in enumerate(product(range(2), repeat=2)):
        channels, _ = next(iter(routing.paths(2 * i, 4 + 2 * j)))
        root = int(tree.head[channels[1]])
        for channel in channels[1:3]:
            _line(ax, places[tree.tail[channel]], places[tree.head[channel]], view.SERIES[number], 2.0)
        _words(ax, (places[root][0], 4.05), f"g{i} → g{j}", 9)
    for switch, group in product(range(8), range(2)):
        x = 4 * switch + 2 * group
        ax.fill_between([x + 0.05, x + 1.95], -0.25, 0.2, color=(BOX, QUIET)[group], zorder=3)
        _words(ax, (x + 1, -0.45), f"g{group}", 8)
    for node, at in enumerate(places):
        if node < tree.below[-1]:
            _words(ax, at, tree.name_of(node), 6)
        else:
            _box(ax, at, tree.name_of(node).replace("((", "(").replace("),", ","))
    _frame(ax, 32, -0.8, 4.4)


_OURS = "Drawn from the text of the paper: our copy has no images."
_ONE = "A line is a link of two channels"
_PORTS = ("0, …, m/2 − 1", "m/2, …, m − 1", "…, (m/2)$^{l}$ − 1")

_FIGURES: dict[str, tuple[list[tuple[str, Callable[[Axes], object]]], str, tuple[float, float]]] = {
    "figure1": (
        [
            ("Figure 1 (a): binary tree", lambda ax: _draw_tree(ax, obliv.xgft((2, 2, 2), (1, 1, 1)))),
            ("(b): binary fat-tree", lambda ax: _draw_tree(ax, obliv.xgft((2, 2, 2), (1, 1, 1), (1, 2, 4)))),
        ],
        f"{_ONE} of bandwidth 1. The number of leaves is ours. {_OURS}",
        (4.6, 3.6),
    ),
    "figure2": (
        [("Figure 2: in place of Figure 1 (b)", lambda ax: _draw_tree(ax, obliv.xgft((2, 2, 2), (1, 2, 2))))],
        f"{_ONE} of bandwidth 1. {_OURS}",
        (5.4, 3.8),
    ),
    "figure3": (
        [("Figure 3: the 4-port 3-tree FT(4,3)", _figure3)],
        f"{_ONE}. In color the four shortest paths from a to b; the choice of a and b is ours. {_OURS}",
        (10.5, 4.4),
    ),
    "figure4": (
        [
            ("Figure 4 (a): SUBFT(m, 1)", _subft1),
            ("(b): SUBFT(m, l)", partial(_stack, part="SUBFT(m, l−1)", count="m/2", last="l-1", above=_PORTS)),
        ],
        f"Top level switch i is connected to up-link port i of each SUBFT(m, l−1), the last one to the last. {_OURS}",
        (6.0, 4.2),
    ),
    "figure5": (
        [("Figure 5: FT(m, n)", partial(_stack, part="SUBFT(m, n−1)", count="m", last="n-1"))],
        f"Root i is connected to up-link port i of each SUBFT(m, n−1), the last one to the last. {_OURS}",
        (6.6, 3.8),
    ),
    "figure6": ([("Figure 6: FT(m, 2)", _two_levels)], f"{_ONE}. {_OURS}", (6.6, 3.8)),
    "figure7": (
        [("Figure 7: SEFT2(m, k)", _seft2)],
        f"An arrow is a channel; the two channels of a link are drawn apart. {_OURS}",
        (7.2, 4.0),
    ),
    "figure8": (
        [("Figure 8: OSRM2 on FT(8, 2)", _figure8)],
        f"{_ONE}. In color a route for each pair of groups, from switch (0,1) to (1,1). {_OURS}",
        (11.0, 4.4),
    ),
}


def _draw(path: str | Path, name: str) -> None:
    panels, caption, size = _FIGURES[name]
    draw_panels(path, panels, caption, size)


STRUCTURE: dict[str, Callable[[str | Path], None]] = {name: partial(_draw, name=name) for name in _FIGURES}


# What the paper prints: numbers and words, nothing computed


PORTS = range(4, 38, 2)


def _table1() -> dict[str, Printed]:
    """Return the entries of Table I, which is printed as formulas in m."""
    entries = {}
    for m in PORTS:
        k = m // 2
        entries[f"OMRMN, FT({m},2)"] = Printed("1", Fraction(1))
        if isqrt(k) ** 2 == k:
            entries[f"OSRM2, FT({m},2)"] = Printed("√(m/2)", Fraction(isqrt(k)))
        entries[f"MLID, FT({m},2)"] = Printed("m/2", Fraction(k))
        entries[f"WSR, FT({m},2)"] = Printed("m/2", Fraction(k))
        entries[f"OMRMN, FT({m},3)"] = Printed("1", Fraction(1))
        entries[f"OSRM3, FT({m},3)"] = Printed("m/2", Fraction(k))
        entries[f"MLID, FT({m},3)"] = Printed("m-1", Fraction(m - 1))
        entries[f"WSR, FT({m},3)"] = Printed("m-1", Fraction(m - 1))
    return entries


TABLE1 = _table1()

_INTEGERS = (
    'Theorem 6 and Table I state √(m/2) "When √(m/2) is an integer"; here it is not. The ratio is that of the best '
    "grid of groups."
)


def _grid(half: int) -> int:
    """Return the least size of the larger group over all grids of groups with a root for each pair, by trying all."""
    return min(max(-(-half // a), -(-half // (half // a))) for a in range(1, half + 1))


#: Sizes for which the paper states no ratio of OSRM2.
OSRM2 = {
    f"OSRM2, FT({m},2)": Printed("", beyond=_INTEGERS, right=Fraction(_grid(m // 2)))
    for m in PORTS
    if isqrt(m // 2) ** 2 != m // 2
}

_MESH = (
    "The paper defines neither the sides of the 2D mesh nor its place on the tree. Of the definitions that were tried, "
    "the largest mesh of 2^j x 2^j ranks fits best; meshes of all nodes give more."
)


_MEAN = Bounds(Fraction(1), Fraction(16))  # no mean exceeds the largest ratio of the trees and routings, m/2 and m - 1


def _means(tree: str, new: str, means: dict[str, tuple[str, str]]) -> dict[str, Printed]:
    """Return the entries of one tree: by pattern, the means of MLID/WSR and of the new routing."""
    return {
        f"{tree}{pattern}, {routing}": Printed(text, open=_MESH, right=_MEAN) if pattern == "2D Mesh" else Printed(text)
        for pattern, pair in means.items()
        for routing, text in zip(("MLID/WSR", new), pair, strict=True)
    }


_PATTERNS = ("Ring", "2D Mesh", "3D Mesh", "Hypercube", "Binary Tree")
_FT32_2 = (("3.47", "2.97"), ("1.88", "1.74"), ("2.34", "2.14"), ("2.03", "1.90"), ("2.37", "2.20"))
_FT8_3 = (("2.84", "2.80"), ("1.64", "1.63"), ("2.04", "1.99"), ("1.90", "1.90"), ("2.07", "2.03"))
_FT16_3 = (("3.78", "3.78"), ("2.83", "2.83"), ("2.48", "2.43"), ("2.11", "2.10"), ("2.69", "2.67"))

TABLE2 = _means("", "OSRM2", dict(zip(_PATTERNS, _FT32_2, strict=True)))
TABLE3 = _means("FT(8,3), ", "OSRM3", dict(zip(_PATTERNS, _FT8_3, strict=True))) | _means(
    "FT(16,3), ", "OSRM3", dict(zip(_PATTERNS, _FT16_3, strict=True))
)


# Table I: exact oblivious ratios for every even number of ports up to 36


_SPECS = {"OMRMN": "omrmn", "OSRM2": "osrm2", "OSRM3": "osrm3", "MLID": "mlid", "WSR": "wsr"}
_ENTRY = re.compile(r"(\w+), FT\((\d+),(\d)\)")
_SMALL = 8  # ports up to which all paths are enumerated; beyond, the worst case is a closed form
_OWN_RULE = 20  # ports up to which WSR runs by its own rule on three levels
_STANDS_IN = "D-mod-k stands in for WSR; the two have the same paths on every FT(m, n), docs/explanation/fat-trees.md."
_MLID = "The paper takes MLID from its [15] and does not define it; here it is S-mod-k."


def compute(step: Step) -> dict[str, ComputedEntry]:
    """Compute every entry exactly."""
    entries = {}
    work = {entry: _work(entry) for entry in TABLE1}
    done = 0.0
    for entry in TABLE1:
        entries[entry] = ComputedEntry(_ratio(entry), _remark(entry))
        done += work[entry]
        step(done / sum(work.values()))
    return entries


def osrm2(step: Step) -> dict[str, ComputedEntry]:
    """Compute the best grid of groups where m/2 is not a square, with the bound ⌈√(m/2)⌉."""
    entries = {}
    for at, entry in enumerate(OSRM2):
        m = int(_parts(entry)[1])
        result = obliv.ratio(obliv.routing("osrm2", obliv.fattree(m, 2)))
        note = f"No routing of single paths that climb once is below {result.lower_bound}."
        entries[entry] = ComputedEntry(result.ratio, note)
        step((at + 1) / len(OSRM2))
    return entries


def _ratio(entry: str) -> Fraction:
    name, m, n = _parts(entry)
    tree = obliv.fattree(m, n)
    if name == "OMRMN" and m > _SMALL:
        return all_paths_worst(tree)
    spec = "dmodk" if _stands_in(entry) else _SPECS[name]
    ratio: Fraction = obliv.ratio(obliv.routing(spec, tree)).upper
    return ratio


def _remark(entry: str) -> str:
    if entry.startswith("MLID"):
        return _MLID
    return _STANDS_IN if _stands_in(entry) else ""


def _stands_in(entry: str) -> bool:
    """Return whether D-mod-k stands in for WSR, whose own rule takes too long."""
    name, m, n = _parts(entry)
    return name == "WSR" and n == 3 and m > _OWN_RULE


def _parts(entry: str) -> tuple[str, int, int]:
    match = _ENTRY.match(entry)
    if match is None:
        raise ValueError(f"not an entry of Table I: {entry!r}")
    return match[1], int(match[2]), int(match[3])


def _work(entry: str) -> float:
    name, m, n = _parts(entry)
    pairs = float(m * (m // 2) ** (n - 1)) ** 2
    return 1.0 + (pairs if name in ("OSRM2", "OSRM3", "MLID") else pairs / m)
