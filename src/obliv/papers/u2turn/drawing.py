"""Figures 1 to 7: paths, curves of worst and average cases, patterns on meshes; what the text says of averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

import obliv
from obliv import view
from obliv.errors import MissingExtraError
from obliv.papers.panels import Draw, draw_pairs, draw_series, figures_of, mark_ends
from obliv.papers.paper import ComputedEntry, Step, Value, agreeing, exactly, require
from obliv.papers.u2turn.printed import AVERAGE_MESHES, COLUMNS, FIGURE6_MESHES, ODD, PRINT, REMARKS, TABLE3
from obliv.papers.u2turn.statements import (
    ASYMMETRIC,
    DRAWN,
    FEW,
    ROUTINGS,
    SPREADING,
    average,
    capacity_load,
    covariances,
    worst,
    worst_load,
)
from obliv.results.numbers import Bounds, bounds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What the text says of averages: on asymmetric meshes, and over how many matrices those of Table III are means


SAMPLES = 20_000  # permutations of a mesh; its number of nodes is the random seed


def compute(step: Step) -> Iterator[Value]:
    """Count the meshes for which the sentences hold, and test the size of the ensemble."""
    averages: dict[str, dict[str, float]] = {}
    for at, (kx, ky) in enumerate(AVERAGE_MESHES):
        averages[f"{kx}x{ky}"] = {name: average_of(f"mesh:{kx}x{ky}", routing) for name, routing in ROUTINGS.items()}
        step((at + 1) / len(AVERAGE_MESHES))
    yield _count(averages, "U2TURN-A", ("U2TURN",))
    yield _count(averages, "U2TURN", COLUMNS[:3])
    yield _count(averages, "U2TURN-A", COLUMNS[:3])
    yield ComputedEntry(
        p_value(1_000_000),
        "By the chi-squared statistic of the nine entries of DOR, O1TURN and U2TURN, with the covariances that "
        "averages over the same permutations have, and the error of rounding.",
        readings={
            f"over {count:,}".replace(",", " "): ComputedEntry(p_value(count), undecided=REMARKS["million"])
            for count in (*FEW, 10_000)
        },
    )


def average_of(mesh: str, routing: str) -> float:
    """Return the average of a routing over random permutations, as a fraction of capacity."""
    return float(average(mesh, routing, SAMPLES))


def p_value(count: int) -> Bounds:
    """Return the chance that means over `count` permutations are as far from the expected ones as Table III is.

    The bounds allow for two standard errors of the covariances, which come from permutations that were drawn.
    """
    statistics, entries = [0.0, 0.0], 0
    for size in ODD:
        mesh = f"mesh:{size}"
        printed = [TABLE3[f"{size}, Average-case, {name}"].text for name in COLUMNS[1:]]
        means = [average(mesh, routing) for routing in SPREADING]
        units = np.array([10.0 ** -len(text.partition(".")[2]) for text in printed])
        errors = np.array([mean.stderr if isinstance(mean, obliv.Estimate) else 0.0 for mean in means])
        off = np.array([float(text) - float(mean) for text, mean in zip(printed, means, strict=True)])
        entries += len(printed)
        for side, scale in enumerate((1 - 2 * (2 / DRAWN) ** 0.5, 1 + 2 * (2 / DRAWN) ** 0.5)):
            spread = scale * covariances(mesh) / count + np.diag(units**2 / 12 + errors**2)
            statistics[side] += float(off @ np.linalg.solve(spread, off))
    low, high = (float(chi2.sf(statistic, entries)) for statistic in statistics)
    return Bounds(Fraction(low), Fraction(high))


def _count(averages: dict[str, dict[str, float]], name: str, others: tuple[str, ...]) -> ComputedEntry:
    above = [size for size, values in averages.items() if values[name] > max(values[other] for other in others)]
    rest = [size for size in averages if size not in above]
    listed = f": {', '.join(above)}" if len(above) <= len(rest) else f", not {', '.join(rest)}" if rest else ""
    counted = f"{len(averages)} meshes kx > ky up to 8x7"
    return ComputedEntry(Fraction(len(above)), f"{len(above)} of {counted}{listed}.", counted=counted)


# The blocks of an odd mesh: a small network whose least worst case is no larger than that of the mesh.
#
# In a mesh of radix k = 2h + 1 each coordinate is left of the middle, in it, or right of it: h, 1 and h values. Nodes
# whose coordinates are of the same kinds form a block. The network of blocks has a node for each, which sends and takes
# as much as all its nodes together, and channels of the bandwidth of all links between two blocks. Packets that move
# freely within blocks can follow any routing of the mesh, averaged over the pairs of two blocks: traffic between blocks
# is then traffic of the mesh, spread evenly over the pairs, and a channel between blocks has the mean load of its
# links.


def blocks(k: int, dimensions: int = 2) -> obliv.Topology:
    """Return the network of blocks of a mesh of odd radix k, whose least worst case is no larger than the mesh's.

    Examples
    --------
    >>> blocks(5).nodes, blocks(5).rates()[0] == (4, 2, 4, 2, 1, 2, 4, 2, 4)
    (9, True)
    >>> obliv.design(blocks(5), then=None).channel_load  # doctest: +SKIP
    Fraction(11, 5)
    """
    if k < 3 or k % 2 == 0:
        raise obliv.InputError(f"a radix of {k}: the blocks are those of meshes of odd radix 3 and more")
    width = (k // 2, 1, k // 2)
    places = list(product(range(3), repeat=dimensions))
    links, bandwidth = [], []
    for node, place in enumerate(places):
        for d in range(dimensions):
            if place[d] < 2:
                other = places.index((*place[:d], place[d] + 1, *place[d + 1 :]))
                links += [(node, other), (other, node)]
                bandwidth += [prod(width[kind] for e, kind in enumerate(place) if e != d)] * 2
    rates = [prod(width[kind] for kind in place) for place in places]
    maps = [[places.index((2 - place[0], *place[1:])) for place in places]]  # reflection of one coordinate
    for d in range(dimensions - 1):  # exchange of two
        maps.append([places.index((*p[:d], p[d + 1], p[d], *p[d + 2 :])) for p in places])
    spec = f"blocks of {'x'.join([str(k)] * dimensions)}"
    network = obliv.build(spec, len(places), links, bandwidth=bandwidth, generators=tuple(map(tuple, maps)))
    return network.with_rates(rates, rates)


# Figures 2 and 6: worst cases on odd square meshes and on asymmetric meshes


RADICES = tuple(range(3, 14, 2))
_SIZES = [f"{kx}x{ky}" for kx, ky in FIGURE6_MESHES]

_BOUND_ONLY = (
    "Bound only: U2TURN attains the lower end, and the cut beside the middle column lets no routing pass the upper "
    "one. To decide it, install highspy."
)
_CERTIFIED = "No routing of the mesh is better than the best one of its 3 x 3 blocks, by a certified linear program: "
_TWO_TURNS = "U2TURN takes at most two turns, so it bounds 2TURN from below, and the best of all routings from above."


def figure2_rows(step: Step) -> Iterator[Value]:
    """Compute every point of the five curves, and 2TURN, which the text counts among the optimal routings."""
    for k in RADICES:
        values = [worst(f"mesh:{k}x{k}", ROUTINGS[name]) for name in COLUMNS]
        best = optimum(k, values[-1])
        yield from values
        yield best
        yield replace(best, note=f"{_TWO_TURNS} {best.note}".strip())


def optimum(k: int, attained: Fraction) -> ComputedEntry:
    """Return the proved throughput of the best routing; without a solver the bound of a cut."""
    try:
        least = bounds_of(obliv.design(blocks(k), then=None).channel_load)[0]
    except MissingExtraError:
        return ComputedEntry(Bounds(attained, Fraction(k + 1, 2 * k)), undecided=_BOUND_ONLY)
    most = capacity_load(k) / least
    if most == attained:
        return ComputedEntry(most, f"{_CERTIFIED}exactly this is optimal, and U2TURN attains it.")
    return ComputedEntry(
        Bounds(attained, most), f"{_CERTIFIED}U2TURN attains the lower end, no routing passes the upper one."
    )


def figure6_rows(step: Step) -> Iterator[Value]:
    """Compute every routing on every mesh up to 7x6 exactly."""
    return (worst(f"mesh:{size}", routing) for size in _SIZES for routing in ROUTINGS.values())


# Figures 3 to 5: traffic patterns for DOR and O1TURN, built as partial permutations and evaluated


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


def figure3_rows(step: Step) -> Iterator[Value]:
    """Compute the patterns that send half of a row over one channel."""
    yield from (load(kx, kx - 1, 3) for kx in (7, 8) for load in (_dor_xy, _dor_yx))
    yield _halves(8, 7)
    for load in (_dor_xy, _dor_yx):
        cases = ((f"{kx}x{ky}", load(kx, ky, (kx - 1) // 2) == Fraction(kx // 2 + kx % 2)) for kx, ky in ASYMMETRIC)
        yield agreeing(cases, "meshes kx > ky up to 8x7")


def figure4_rows(step: Step) -> Iterator[Value]:
    """Compute the patterns of a row into the last column, and of the first column into a row."""
    yield ComputedEntry(_dor_xy(7, 6, 5), against=worst_load("mesh:7x6", "dor"))
    yield ComputedEntry(_dor_yx(6, 5, 4), against=worst_load("mesh:6x5", "dor:yx"))
    cases = (
        (f"{kx}x{kx - 1}", _dor_xy(kx, kx - 1, kx - 2) == _dor_yx(kx, kx - 1, kx - 2) == kx - 1) for kx in range(3, 9)
    )
    yield agreeing(cases, "meshes up to 8x7", "The patterns are whole worst cases there.")


def figure5_rows(step: Step) -> Iterator[Value]:
    """Compute the patterns of row 0 across the middle."""
    for kx, ky in ((7, 6), (6, 5)):
        exact = worst_load(f"mesh:{kx}x{ky}", "o1turn")
        yield ComputedEntry(_across(kx, ky), f"The exact worst case is {exact}.")
    cases = ((f"{kx}x{ky}", _across(kx, ky) == Fraction(kx, 2)) for kx, ky in ASYMMETRIC)
    yield agreeing(cases, "meshes kx > ky up to 8x7")


def _across(kx: int, ky: int) -> Fraction:
    return load_of(kx, ky, "o1turn", split(kx, ky), (kx - 1) // 2)


def _halves(kx: int, ky: int) -> Fraction:
    """Return the largest load of DOR if every node of the left half sends across the middle of its row."""
    pairs = [((x, y), (x + kx // 2, y)) for y in range(ky) for x in range(kx // 2)]
    loads = {load_of(kx, ky, "dor", pairs, i, y) for y in range(ky) for i in range(kx - 1)}
    return max(loads)


def _dor_xy(kx: int, ky: int, i: int) -> Fraction:
    return load_of(kx, ky, "dor", funnel(kx, ky, i), i)


def _dor_yx(kx: int, ky: int, i: int) -> Fraction:
    return load_of(kx, ky, "dor:yx", mirrored(kx, funnel(kx, ky, i)), kx - 2 - i)


def _paths(name: str, ax: Axes) -> None:
    """Draw the paths of XYX or YXY between one pair of a 5x5 mesh."""
    mesh = obliv.topology("mesh:5x5")
    view.draw_paths(obliv.routing(name, mesh), 1 + 5 * 1, 3 + 5 * 4, ax, title=False)


def _curves(ax: Axes) -> None:
    """Draw the worst case of every routing on odd square meshes, with that of the best routing."""
    series = {name: [float(worst(f"mesh:{k}x{k}", ROUTINGS[name])) for k in RADICES] for name in COLUMNS}
    draw_series(ax, RADICES, series, [str(k) for k in RADICES], "network radix (k)")
    best = [_upper(k) for k in RADICES]
    ax.plot(RADICES, best, color="0.75", linewidth=6, label="Optimal Routing", zorder=1)
    ax.set_ylim(0.0, 0.7)
    ax.legend(loc="lower left", fontsize=9, frameon=False, ncols=2)


def _upper(k: int) -> float:
    """Return the proved upper bound of the throughput of all routings on a k x k mesh."""
    value = optimum(k, Fraction(k + 1, 2 * k + 1)).value
    if isinstance(value, Bounds):
        return float(value.upper)
    return float(exactly(value))


def _pattern(kx: int, ky: int, routing: str, i: int, ax: Axes) -> None:
    """Draw a pattern for the channel (i, 0) -> (i+1, 0), or its mirror image for DOR-YX."""
    pairs = split(kx, ky) if routing == "o1turn" else funnel(kx, ky, i)
    if routing == "dor:yx":
        pairs, i = mirrored(kx, pairs), kx - 2 - i
    mesh = obliv.topology(f"mesh:{kx}x{ky}")
    numbers = [(a[0] + kx * a[1], b[0] + kx * b[1]) for a, b in pairs]
    draw_pairs(ax, mesh, routing, numbers, mesh.channels_between(i, i + 1)[0])
    mark_ends(ax, pairs)


def _bars(value: Callable[[str, str], float | Fraction], ax: Axes) -> None:
    """Draw a group of bars for every asymmetric mesh, given the value of a routing on it."""
    values = {name: [float(value(f"mesh:{size}", routing)) for size in _SIZES] for name, routing in ROUTINGS.items()}
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


def _patterns(*cases: tuple[int, int, str, int]) -> Callable[[], list[Draw]]:
    return lambda: [partial(_pattern, *case) for case in cases]


FIGURES = figures_of(
    PRINT,
    figure1=lambda: [partial(_paths, "xyx"), partial(_paths, "yxy")],
    figure2=lambda: [_curves],
    figure3=_patterns((7, 6, "dor", 3), (7, 6, "dor:yx", 3)),
    figure4=_patterns((7, 6, "dor", 5), (6, 5, "dor:yx", 4)),
    figure5=_patterns((7, 6, "o1turn", 3), (6, 5, "o1turn", 2)),
    figure6=lambda: [partial(_bars, worst)],
    figure7=lambda: [partial(_bars, average_of)],
)
