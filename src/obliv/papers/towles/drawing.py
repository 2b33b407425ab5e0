"""Figures 1 to 9: channel loads, graphs, symmetries and focus sets, the printed worst-case permutation, a tornado."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import obliv
from obliv import view
from obliv._util.arrays import NodeArray
from obliv.papers.panels import Draw, draw_pairs, draw_route, figures_of, mark_ends, name_nodes, without_loads
from obliv.papers.paper import ComputedEntry, Step, Value, exactly, require
from obliv.papers.results import ReproducedEntry
from obliv.papers.towles.statements import PERMUTATION, PRINT, adversary
from obliv.view.axes import NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Figure 4 and section 4.1: focus sets, and why the symmetry has to be the routing's


_RADICES = (3, 5, 7, 9)


def figure4_rows(step: Step) -> Iterator[Value]:
    """Focus channels of the paper's examples; the largest load on those of the 5-ary 3-cube."""
    dor, romm = (
        [obliv.worst_channels(obliv.routing(name, obliv.topology(f"torus:{k}x{k}"))) for k in _RADICES]
        for name in ("dor", "romm")
    )
    step(0.5)
    note = f"At k = {', '.join(map(str, _RADICES))}."
    yield _figure()
    yield _mapped()
    yield ComputedEntry(Fraction(max(result.network_classes for result in dor)), note)
    for results in (dor, romm):
        yield ComputedEntry(Fraction(max(result.routing_classes for result in results)), note)
    yield _trap()


def f(torus: Any, channel: int) -> NodeArray:
    """Return the automorphism, as the image of every node, that maps a channel along x onto (0,0) -> (1,0)."""
    return _to_origin(torus, channel, 0)


def g(torus: Any, channel: int) -> NodeArray:
    """Return the automorphism, as the image of every node, that maps a channel along y onto (0,0) -> (0,1)."""
    return _to_origin(torus, channel, 1)


def _to_origin(torus: Any, channel: int, dim: int) -> NodeArray:
    """Move the channel's tail to the origin; where the channel leads backward, reflect its dimension."""
    if int(torus.dim_of[channel]) != dim:
        raise ValueError(f"channel {torus.channel_name(channel)} is not along {'xy'[dim]}")
    kx, ky = torus.radices
    tail, head = int(torus.tail[channel]), int(torus.head[channel])
    x, y = tail % kx, tail // kx
    ahead = ((x + 1) % kx + kx * y, x + kx * ((y + 1) % ky))[dim]
    along = 1 if head == ahead else -1
    sign_x, sign_y = (along, 1) if dim == 0 else (1, along)
    return np.array(
        [sign_x * (i - x) % kx + kx * (sign_y * (j - y) % ky) for j in range(ky) for i in range(kx)], np.int32
    )


def _figure() -> ComputedEntry:
    topology = obliv.topology("torus:4x3")
    rows = obliv.worst_channels(obliv.routing("dor", topology)).channels
    focus = {row.focus for row in rows}
    (right,), (up,) = topology.channels_between(0, 1), topology.channels_between(0, 4)
    drawn = {rows[right].focus, rows[up].focus}
    # the two channels form a focus set if every channel can be carried onto one of them
    return ComputedEntry(
        Fraction(len(drawn) if drawn == focus else len(focus)),
        f"Symmetries of the routing carry all {len(rows)} channels onto these.",
    )


def _mapped() -> ComputedEntry:
    torus: Any = obliv.topology("torus:4x3")
    loads = obliv.routing("dor", torus).pair_loads()
    mapped = 0
    for channel, dim in enumerate(torus.dim_of.tolist()):
        image = (f, g)[dim](torus, channel)
        ends = int(image[torus.tail[channel]]), int(image[torus.head[channel]])
        mapped += ends == ((0, 1), (0, 4))[dim] and loads.keeps(image)
    return ComputedEntry(
        Fraction(mapped),
        "f moves the tail of a channel along x to (0,0), and mirrors x where the channel leads left; g does "
        "so along y. All of these maps keep the pair loads of DOR.",
        against=Fraction(torus.channels),
    )


def _trap() -> ComputedEntry:
    routing = obliv.routing("dor", obliv.topology("torus:5x5x5"))
    result = obliv.worst_channels(routing)
    largest = [row.channel_load for row in result.channels if row.channel.id == row.focus]
    require(result.network_classes == 1, "the 5-ary 3-cube is edge-symmetric")
    all_channels = exactly(obliv.worst_case(routing, symmetry="off").channel_load)
    return ComputedEntry(
        max(largest),
        f"The routing's symmetries leave {len(largest)} focus channels, with loads up to "
        f"{', '.join(map(str, largest))}; solving all {len(result.channels)} channels gives {all_channels}. "
        f"The topology's symmetries alone would leave 1, whose load is {result.channels[0].channel_load}: that the "
        "automorphism keeps the routing is a condition that has to be checked.",
        against=all_channels,
    )


# Figure 9: the printed worst-case permutation, evaluated


def printed_permutation() -> list[int]:
    """Return Figure 9 as the destination of every node; node = x + 9 y."""
    return [x + 9 * y for j in range(9) for x, y in (PERMUTATION[i][j] for i in range(9))]


def found_permutation() -> list[int]:
    """Return a worst case that is computed here, for the channel (0,0) -> (1,0) as the printed one; there are many."""
    worst = obliv.worst_case(obliv.routing("romm", obliv.topology("torus:9x9")))
    require(worst.channel is not None and worst.channel.id == 0, "the channel of the worst case is (0,0) -> (1,0)")
    return list(worst.permutation or ())


def layout(rows: Sequence[ReproducedEntry]) -> str:
    """Return the printed permutation and the found one side by side, in the paper's order."""
    width = 9 * len("(0,0) ") - 1
    lines = [f"{'as printed':<{width}}    found here", ""]
    for i in range(9):
        both = ([images[i + 9 * j] for j in range(9)] for images in (printed_permutation(), found_permutation()))
        lines.append("    ".join(" ".join(f"({to % 9},{to // 9})" for to in row) for row in both))
    return "\n".join([*lines, "", "Entry (i, j): the destination of the source on row i, column j."])


def figure9_rows(step: Step) -> Iterator[Value]:
    """Check whether it is a permutation and a worst case."""
    topology = obliv.topology("torus:9x9")
    routing = obliv.routing("romm", topology)
    images = printed_permutation()
    loads: list[Any] = routing.pair_loads().under(obliv.permutation(images))
    hottest = max(loads)
    names = " and ".join(topology.channel_name(c) for c, load in enumerate(loads) if load == hottest)
    worst = obliv.worst_case(routing)
    yield ComputedEntry(Fraction(len(set(images))), against=Fraction(topology.nodes))
    yield ComputedEntry(
        hottest,
        f"On {names}, rows of the figure being x; the exact worst case is {worst.channel_load}.",
        against=exactly(worst.channel_load),
    )
    yield 1 / (worst.capacity * hottest)


# Figures 1 to 3: nodes x, u, y, v of a 3x2 mesh under DOR, and channel c = (1,0) -> (2,0)
_MESH = "mesh:3x2"
_NAMES = {0: "x", 1: "u", 2: "y", 5: "v"}
_PAIRS = [(0, 2), (1, 5)]
MATCHING = (2, 5, 0, 1, 3, 4)


def two_pairs() -> Iterator[Draw]:
    """Draw two pairs that load one channel with 1 each."""
    mesh = obliv.topology(_MESH)

    def loads(ax: Axes) -> None:
        draw_pairs(ax, mesh, "dor", _PAIRS, mesh.channels_between(1, 2)[0])
        name_nodes(ax, {(node % 3, node // 3): name for node, name in _NAMES.items()} | {(1.5, -0.24): "c"}, 11)

    yield loads


def symmetries() -> Iterator[Draw]:
    """Draw the classes of channels of the 4,3-ary 2-cube under DOR, and one automorphism for each."""
    torus: Any = obliv.topology("torus:4x3")
    focus = [row.focus for row in obliv.worst_channels(obliv.routing("dor", torus)).channels]
    numbers = {channel: number for number, channel in enumerate(sorted(set(focus)), start=1)}

    def classes(ax: Axes) -> None:
        for node in (1, 4):  # one over the other, so that both are outlined
            view.draw_loads(torus, [numbers[c] for c in focus], ax, worst=torus.channels_between(0, node)[0])
        without_loads(ax, "focus channels (0,0) → (1,0) and (0,0) → (0,1)")

    def carried(image: Sequence[int], channel: int, ax: Axes) -> None:
        tail, head = int(torus.tail[channel]), int(torus.head[channel])
        onto = torus.channels_between(image[tail], image[head])[0]
        view.draw_loads(torus, [int(c in (channel, onto)) for c in range(torus.channels)], ax, worst=onto)
        without_loads(ax, f"focus channel {torus.channel_name(onto).replace('->', '→')}")
        name_nodes(ax, {(n % 4, n // 4): f"{to % 4},{to // 4}" for n, to in enumerate(image)}, 7)

    of_x, of_y = torus.channels_between(2 + 4, 3 + 4)[0], torus.channels_between(1 + 4, 1)[0]
    yield classes
    yield partial(carried, f(torus, of_x).tolist(), of_x)
    yield partial(carried, g(torus, of_y).tolist(), of_y)


def relative_routes() -> Iterator[Draw]:
    """Draw two routes that are the same relative to their sources."""
    torus = obliv.topology("torus:4x3")

    def routes(ax: Axes) -> None:
        pairs = [(0, 1 + 4 * 1), (2 + 4 * 1, 3 + 4 * 2)]
        draw_pairs(ax, torus, "dor", pairs, torus.channels_between(0, 1)[0])
        without_loads(ax, "a channel of the first route, (0,0) → (1,0)")
        name_nodes(ax, {(n % 4, n // 4): f"{n % 4},{n // 4}" for pair in pairs for n in pair}, 8)

    yield routes


def _routes(ax: Axes) -> None:
    """Draw the route of DOR and two routes of ROMM between one pair."""
    view.draw_topology(obliv.topology("torus:7x7"), ax)
    draw_route(ax, [(1, 1), (5, 1), (5, 5)], "DOR", (0.16, -0.16), color=view.SERIES[1], linewidth=2.4)
    for name, corners, off, number in (
        ("ROMM by i", [(1, 1), (1, 4), (2, 4), (5, 4), (5, 5)], (-0.16, 0.16), 3),
        ("ROMM by j", [(1, 1), (4, 1), (4, 2), (4, 5), (5, 5)], (0.16, 0.16), 2),
    ):
        draw_route(ax, corners, name, off, color=view.SERIES[number], linewidth=2.2, linestyle="--")
    name_nodes(ax, {(1, 1): "s", (5, 5): "d", (2, 4): "i", (4, 2): "j"}, 10)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=9, frameon=False, ncols=3)


def _tornado(ax: Axes) -> None:
    """Draw tornado traffic on a row of k = 5 nodes."""
    draw_pairs(ax, obliv.topology("ring:5"), "dor", [(x, (x + 2) % 5) for x in range(5)])


def adversaries() -> Iterator[Draw]:
    """Draw the adversarial pattern for ROMM on the 9-ary 2-cube, without and with the other rows."""
    torus = obliv.topology("torus:9x9")
    # moved so that the row of the tornado is in the middle, and no pair goes around
    pairs = [(_moved(s), _moved(d)) for s, d in adversary(9)]
    row = [(s, d) for s, d in pairs if s // 9 == 4]
    channel = torus.channels_between(_moved(0), _moved(1))[0]

    def pattern(taken: list[tuple[int, int]], ax: Axes) -> None:
        draw_pairs(ax, torus, "romm", taken, channel)
        mark_ends(ax, [((s % 9, s // 9), (d % 9, d // 9)) for s, d in taken])
        name_nodes(ax, {(4.5, 3.6): "c"}, 12)
        if len(taken) > len(row):
            draw_route(ax, [(3, 6), (3, 4), (7, 4), (7, 2)], "x to y", (0.18, 0.18), color=view.INK, linewidth=2.8)
            name_nodes(ax, {(2.66, 6.36): "x", (7.34, 1.66): "y"}, 12)

    yield from (partial(pattern, taken) for taken in (row, pairs))


def _moved(node: int) -> int:
    """Return the node of the 9-ary 2-cube four columns to the right and four rows up."""
    return (node % 9 + 4) % 9 + 9 * ((node // 9 + 4) % 9)


def _draw_matrix(images: list[int], ax: Axes) -> None:
    """Draw the destinations of nodes (i, j), rows from the top, each with its load on the channel (0,0) -> (1,0)."""
    loads = obliv.routing("romm", obliv.topology("torus:9x9")).pair_loads()
    weights = (loads.on_channel(0).toarray() / loads.denominator) ** 0.5  # so that 1/10 is seen
    table = [[float(weights[i + 9 * j, images[i + 9 * j]]) for j in range(9)] for i in range(9)]
    ax.imshow(table, cmap="Blues", vmin=0.0, vmax=1.6)
    for i in range(9):
        for j in range(9):
            to = images[i + 9 * j]
            ax.text(j, i, f"({to % 9},{to // 9})", ha="center", va="center", fontsize=9)
    ax.set_xticks(range(9))
    ax.set_yticks(range(9))
    ax.set_xlabel("column j", fontsize=9)
    ax.set_ylabel("row i", fontsize=9)


def _draw_bipartite(ax: Axes, matching: bool) -> None:
    """Draw sources at the left and destinations at the right, with an edge for every pair."""
    mesh = obliv.topology(_MESH)
    loads = obliv.routing("dor", mesh).pair_loads()
    channel = mesh.channels_between(1, 2)[0]
    weights = loads.on_channel(channel).toarray()
    for source in range(mesh.nodes):
        for destination in range(mesh.nodes):
            weight = int(weights[source, destination])
            if matching and destination != MATCHING[source]:
                continue
            heavy = weight > 0
            color, width = (view.SERIES[3], 2.2) if heavy else ("0.75", 1.4 if matching else 0.6)
            ax.plot([0, 1], [-source, -destination], color=color, linewidth=width, zorder=2 + heavy)
            if heavy:
                at = 0.2 if matching else 0.12 + 0.05 * destination
                ax.text(at, -source + at * (source - destination), f"{weight}", fontsize=8, ha="center", va="center",
                        bbox={"facecolor": NODE, "edgecolor": "none", "pad": 0.6}, zorder=5)  # fmt: skip
    for side, align, place in ((0, "right", -0.05), (1, "left", 1.05)):
        ax.scatter([side] * mesh.nodes, [-node for node in range(mesh.nodes)], s=70, color=view.INK, zorder=6)
        for node in range(mesh.nodes):
            name = f"{_NAMES[node]} = {mesh.name_of(node)}" if node in _NAMES else mesh.name_of(node)
            ax.text(place, -node, name, fontsize=9, ha=align, va="center")
    ax.text(0, 0.6, "sources", fontsize=9, ha="center")
    ax.text(1, 0.6, "destinations", fontsize=9, ha="center")
    ax.set_xlim(-0.45, 1.45)
    ax.set_ylim(0.3 - mesh.nodes, 0.9)
    ax.set_axis_off()


FIGURES = figures_of(
    PRINT,
    figure1=two_pairs,
    figure2=lambda: [partial(_draw_bipartite, matching=False)],
    figure3=lambda: [partial(_draw_bipartite, matching=True)],
    figure4=symmetries,
    figure5=relative_routes,
    figure6=lambda: [_routes],
    figure7=lambda: [_tornado],
    figure8=adversaries,
    figure9=lambda: [partial(_draw_matrix, images) for images in (printed_permutation(), found_permutation())],
)


# Figure 8: a tornado in one row loads a channel like DOR, and other rows add to it


_K = 9


def figure8_rows(step: Step) -> Iterator[Value]:
    """Compute the load on channel c = (0,0) -> (1,0), row by row of the permutation of Figure 9."""
    topology = obliv.topology(f"torus:{_K}x{_K}")
    romm = obliv.routing("romm", topology)
    (c,) = topology.channels_between(0, 1)
    loads = romm.pair_loads()
    weights = loads.on_channel(c).toarray()
    share = [Fraction(int(weights[s, d]), loads.denominator) for s, d in enumerate(printed_permutation())]
    row = [sum(share[y * _K : (y + 1) * _K], Fraction(0)) for y in range(_K)]
    dor = exactly(obliv.worst_case(obliv.routing("dor", topology)).channel_load)
    worst = exactly(obliv.worst_case(romm).channel_load)
    adding = ", ".join(f"y = {y}: {load}" for y, load in enumerate(row) if y and load)
    idle = ", ".join(str(y) for y, load in enumerate(row) if not load)
    pairs = sorted({load for load in share[_K:] if load})
    tornado = [int(weights[x, (x + (_K - 1) // 2) % _K]) for x in range(_K)]  # if only row y = 0 sends
    yield ComputedEntry(Fraction(sum(tornado), loads.denominator), against=dor)
    yield ComputedEntry(sum(share, Fraction(0)), against=worst)
    yield ComputedEntry(
        row[0], f"From {sum(load > 0 for load in share[:_K])} nodes of row y = 0, each (k-1)/2 hops.", against=dor
    )
    yield ComputedEntry(
        sum(row[1:], Fraction(0)),
        f"Rows {adding}; y = {idle} add nothing. Every pair that adds load adds {', '.join(map(str, pairs))}.",
        against=worst - dor,
    )
