"""Figures 1 to 8 (trees, how they are put together, groups of OSRM2), and Table I of exact oblivious ratios."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

import obliv
from obliv import view
from obliv.papers.fat_tree.statements import PRINT
from obliv.papers.panels import Draw, figures_of
from obliv.papers.paper import ComputedEntry, Printed, Step, Value
from obliv.questions.ratio import all_paths_worst
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


_PORTS = ("0, …, m/2 − 1", "m/2, …, m − 1", "…, (m/2)$^{l}$ − 1")


def _binary_trees(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Draw]:
    """Return what draws binary trees of three levels, given their parents and bandwidths."""
    return [partial(_draw_tree, tree=obliv.xgft((2, 2, 2), *shape)) for shape in shapes]


STRUCTURE = figures_of(
    PRINT,
    figure1=lambda: _binary_trees(((1, 1, 1), ()), ((1, 1, 1), (1, 2, 4))),
    figure2=lambda: _binary_trees(((1, 2, 2), ())),
    figure3=lambda: [_figure3],
    figure4=lambda: [_subft1, partial(_stack, part="SUBFT(m, l−1)", count="m/2", last="l-1", above=_PORTS)],
    figure5=lambda: [partial(_stack, part="SUBFT(m, n−1)", count="m", last="n-1")],
    figure6=lambda: [_two_levels],
    figure7=lambda: [_seft2],
    figure8=lambda: [_figure8],
)


# Table I: exact oblivious ratios for every even number of ports up to 36


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


def _grid(half: int) -> int:
    """Return the least size of the larger group over all grids of groups with a root for each pair, by trying all."""
    return min(max(-(-half // a), -(-half // (half // a))) for a in range(1, half + 1))


#: Sizes for which the paper states no ratio of OSRM2.
OSRM2 = {
    f"OSRM2, FT({m},2)": Printed("", beyond=PRINT.remarks["integers"], right=Fraction(_grid(m // 2)))
    for m in PORTS
    if isqrt(m // 2) ** 2 != m // 2
}

_SPECS = {"OMRMN": "omrmn", "OSRM2": "osrm2", "OSRM3": "osrm3", "MLID": "mlid", "WSR": "wsr"}
_ENTRY = re.compile(r"(\w+), FT\((\d+),(\d)\)")
_SMALL = 8  # ports up to which all paths are enumerated; beyond, the worst case is a closed form
_OWN_RULE = 20  # ports up to which WSR runs by its own rule on three levels
_STANDS_IN = "D-mod-k stands in for WSR; the two have the same paths on every FT(m, n), docs/explanation/fat-trees.md."
_MLID = "The paper takes MLID from its [15] and does not define it; here it is S-mod-k."


def compute(step: Step) -> Iterator[Value]:
    """Compute every entry exactly."""
    work = {entry: _work(entry) for entry in TABLE1}
    done = 0.0
    for entry in TABLE1:
        remark = _MLID if entry.startswith("MLID") else _STANDS_IN if _stands_in(entry) else ""
        yield ComputedEntry(_ratio(entry), remark)
        done += work[entry]
        step(done / sum(work.values()))


def osrm2(step: Step) -> Iterator[Value]:
    """Compute the best grid of groups where m/2 is not a square, with the bound ⌈√(m/2)⌉."""
    for entry in OSRM2:
        result = obliv.ratio(obliv.routing("osrm2", obliv.fattree(int(_parts(entry)[1]), 2)))
        yield ComputedEntry(result.ratio, f"No routing of single paths that climb once is below {result.lower_bound}.")


def _ratio(entry: str) -> Fraction:
    name, m, n = _parts(entry)
    tree = obliv.fattree(m, n)
    if name == "OMRMN" and m > _SMALL:
        return all_paths_worst(tree)
    spec = "dmodk" if _stands_in(entry) else _SPECS[name]
    ratio: Fraction = obliv.ratio(obliv.routing(spec, tree)).upper
    return ratio


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
