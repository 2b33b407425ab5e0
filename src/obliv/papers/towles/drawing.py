"""Figures 1 to 9: channel loads, the bipartite graph of a channel, symmetries, routes and adversarial patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import obliv
from obliv import view
from obliv._util.arrays import NodeArray
from obliv.papers.panels import draw_pairs, draw_panels, draw_route, mark_ends, name_nodes, without_loads
from obliv.papers.paper import ComputedEntry, Step, exactly, require
from obliv.papers.towles.statements import PERMUTATION, adversary
from obliv.results.reproduction import ReproducedEntry
from obliv.view.axes import NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Figure 4 and section 4.1: focus sets, and why the symmetry has to be the routing's


_RADICES = (3, 5, 7, 9)


def figure4_rows(step: Step) -> dict[str, ComputedEntry]:
    """Focus channels of the paper's examples; the largest load on those of the 5-ary 3-cube."""
    dor, romm = (
        [obliv.worst_channels(obliv.routing(name, obliv.topology(f"torus:{k}x{k}"))) for k in _RADICES]
        for name in ("dor", "romm")
    )
    step(0.5)
    note = f"At k = {', '.join(map(str, _RADICES))}."
    return {
        "4,3-ary 2-cube, DOR: focus channels": _figure(),
        "4,3-ary 2-cube, DOR: channels that f or g maps to the focus set": _mapped(),
        "k-ary 2-cube: focus channels of the network alone": ComputedEntry(_most(dor, "network_classes"), note),
        "k-ary 2-cube, DOR: focus channels": ComputedEntry(_most(dor, "routing_classes"), note),
        "k-ary 2-cube, ROMM: focus channels": ComputedEntry(_most(romm, "routing_classes"), note),
        "5-ary 3-cube, DOR: largest load on the focus channels": _trap(),
    }


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


def _most(results: list[obliv.WorstChannels], classes: str) -> Fraction:
    return Fraction(max(getattr(result, classes) for result in results))


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


def figure9_rows(step: Step) -> dict[str, ComputedEntry]:
    """Check whether it is a permutation and a worst case."""
    topology = obliv.topology("torus:9x9")
    routing = obliv.routing("romm", topology)
    images = printed_permutation()
    loads: list[Any] = routing.pair_loads().under(obliv.permutation(images))
    hottest = max(loads)
    names = " and ".join(topology.channel_name(c) for c, load in enumerate(loads) if load == hottest)
    worst = obliv.worst_case(routing)
    return {
        "nodes that are a destination": ComputedEntry(Fraction(len(set(images))), against=Fraction(topology.nodes)),
        "load on the hottest channel": ComputedEntry(
            hottest,
            f"On {names}, rows of the figure being x; the exact worst case is {worst.channel_load}.",
            against=exactly(worst.channel_load),
        ),
        "fraction of capacity": ComputedEntry(1 / (worst.capacity * hottest)),
    }


# Figures 1 to 3: nodes x, u, y, v of a 3x2 mesh under DOR, and channel c = (1,0) -> (2,0)
_MESH = "mesh:3x2"
_NAMES = {0: "x", 1: "u", 2: "y", 5: "v"}
_PAIRS = [(0, 2), (1, 5)]
MATCHING = (2, 5, 0, 1, 3, 4)


def figure1(path: str | Path) -> None:
    """Draw two pairs that load one channel with 1 each."""
    mesh = obliv.topology(_MESH)

    def loads(ax: Axes) -> None:
        draw_pairs(ax, mesh, "dor", _PAIRS, mesh.channels_between(1, 2)[0])
        name_nodes(ax, {(node % 3, node // 3): name for node, name in _NAMES.items()} | {(1.5, -0.24): "c"}, 11)

    draw_panels(
        path,
        [("Two independent contributions", loads)],
        "Figure 1: under DOR the pairs x = (0,0) to y = (2,0) and u = (1,0) to v = (2,1) load channel c = (1,0) → "
        "(2,0) with 1 each, 2 in all. The network is ours.",
        (6.0, 4.0),
    )


def figure2(path: str | Path) -> None:
    """Draw the bipartite graph of a channel, with the pair loads as weights."""
    draw_panels(
        path,
        [("The bipartite graph of channel c", partial(_draw_bipartite, matching=False))],
        "Figure 2: sources and destinations of the network of Figure 1; edges are labeled with the pair load on c, and "
        "gray where it is 0.",
        (5.2, 4.6),
    )


def figure3(path: str | Path) -> None:
    """Draw a perfect matching of largest weight and its permutation."""
    draw_panels(
        path,
        [("A perfect matching, a permutation", partial(_draw_bipartite, matching=True))],
        "Figure 3: a matching of largest weight for channel c; edges that only make it perfect are gray.",
        (5.2, 4.6),
    )


def figure4(path: str | Path) -> None:
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
    draw_panels(
        path,
        [
            ("Focus channels under DOR", classes),
            ("f maps (2,1) → (3,1) onto (0,0) → (1,0)", partial(carried, f(torus, of_x).tolist(), of_x)),
            ("g maps (1,1) → (1,0) onto (0,0) → (0,1)", partial(carried, g(torus, of_y).tolist(), of_y)),
        ],
        "Figure 4: channels of the 4,3-ary 2-cube have the color of the focus channel that a symmetry carries them "
        "onto. Nodes hold the node that f or g maps them to: f(x,y) = (x-2, y-1), g(x,y) = (x-1, 1-y). The "
        "two channels are ours.",
    )


def figure5(path: str | Path) -> None:
    """Draw two routes that are the same relative to their sources."""
    torus = obliv.topology("torus:4x3")

    def routes(ax: Axes) -> None:
        pairs = [(0, 1 + 4 * 1), (2 + 4 * 1, 3 + 4 * 2)]
        draw_pairs(ax, torus, "dor", pairs, torus.channels_between(0, 1)[0])
        without_loads(ax, "a channel of the first route, (0,0) → (1,0)")
        name_nodes(ax, {(n % 4, n // 4): f"{n % 4},{n // 4}" for pair in pairs for n in pair}, 8)

    draw_panels(
        path,
        [("Relative routing", routes)],
        "Figure 5: under DOR the routes (0,0) to (1,1) and (2,1) to (3,2) are the same vector, (1,1).",
        (6.0, 4.6),
    )


def figure6(path: str | Path) -> None:
    """Draw the route of DOR and two routes of ROMM between one pair."""
    torus = obliv.topology("torus:7x7")

    def routes(ax: Axes) -> None:
        view.draw_topology(torus, ax)
        draw_route(ax, [(1, 1), (5, 1), (5, 5)], "DOR", (0.16, -0.16), color=view.SERIES[1], linewidth=2.4)
        for name, corners, off, number in (
            ("ROMM by i", [(1, 1), (1, 4), (2, 4), (5, 4), (5, 5)], (-0.16, 0.16), 3),
            ("ROMM by j", [(1, 1), (4, 1), (4, 2), (4, 5), (5, 5)], (0.16, 0.16), 2),
        ):
            draw_route(ax, corners, name, off, color=view.SERIES[number], linewidth=2.2, linestyle="--")
        name_nodes(ax, {(1, 1): "s", (5, 5): "d", (2, 4): "i", (4, 2): "j"}, 10)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=9, frameon=False, ncols=3)

    draw_panels(
        path,
        [("Dimension-order and ROMM routes", routes)],
        "Figure 6: the route of DOR from s to d (solid), and two routes of ROMM with the intermediate nodes i and j "
        "(dashed), Y first to i, X first to j. The nodes and the size of the torus are ours.",
        (6.4, 6.0),
    )


def figure7(path: str | Path) -> None:
    """Draw tornado traffic on a row of k = 5 nodes."""
    ring = obliv.topology("ring:5")
    pairs = [(x, (x + 2) % 5) for x in range(5)]
    draw_panels(
        path,
        [("Tornado, k = 5", lambda ax: draw_pairs(ax, ring, "dor", pairs))],
        "Figure 7: every node sends (k-1)/2 = 2 hops to the right (clockwise); every channel to the right has load 2.",
        (5.0, 4.8),
    )


def figure8(path: str | Path) -> None:
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

    draw_panels(
        path,
        [
            ("Tornado in one row", partial(pattern, row)),
            ("and pairs of other rows across it", partial(pattern, pairs)),
        ],
        "Figure 8: red squares send, green circles receive. The tornado alone loads channel c with 4, the worst case "
        "of DOR. Six more rows add 12/5: a pair such as x and y has c in its minimal quadrant; one path is drawn. "
        "Coordinates are ours.",
        (6.4, 5.8),
    )


def _moved(node: int) -> int:
    """Return the node of the 9-ary 2-cube four columns to the right and four rows up."""
    return (node % 9 + 4) % 9 + 9 * ((node // 9 + 4) % 9)


def figure9(path: str | Path) -> None:
    """Draw the printed permutation and one that is found here as matrices in the paper's order."""
    draw_panels(
        path,
        [
            ("as printed", partial(_draw_matrix, printed_permutation())),
            ("found here", partial(_draw_matrix, found_permutation())),
        ],
        "Figure 9: worst-case permutations for ROMM on a 9-ary 2-cube. Entry (i, j) denotes the destination node of "
        "the source on row i, column j. Dark entries load channel (0,0) → (1,0) with 1, light ones with 1/10; both "
        "permutations load it with 32/5.",
        (6.4, 5.2),
    )


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


FIGURES: dict[str, Callable[[str | Path], None]] = {
    f"figure{number}": draw
    for number, draw in enumerate(
        (figure1, figure2, figure3, figure4, figure5, figure6, figure7, figure8, figure9), start=1
    )
}


# Figure 8: a tornado in one row loads a channel like DOR, and other rows add to it


_K = 9


def figure8_rows(step: Step) -> dict[str, ComputedEntry]:
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
    return {
        "channel c under tornado in one row": ComputedEntry(_tornado_alone(weights, loads.denominator), against=dor),
        "channel c under the whole pattern": ComputedEntry(sum(share, Fraction(0)), against=worst),
        "channel c, the tornado row's part": ComputedEntry(
            row[0], f"From {sum(load > 0 for load in share[:_K])} nodes of row y = 0, each (k-1)/2 hops.", against=dor
        ),
        "channel c, the other rows' part": ComputedEntry(
            sum(row[1:], Fraction(0)),
            f"Rows {adding}; y = {idle} add nothing. Every pair that adds load adds {', '.join(map(str, pairs))}.",
            against=worst - dor,
        ),
    }


def _tornado_alone(weights: Any, denominator: int) -> Fraction:
    """Return the load on c if only row y = 0 sends, every node (k-1)/2 hops to the right."""
    taken = [(x, (x + (_K - 1) // 2) % _K) for x in range(_K)]
    return Fraction(sum(int(weights[s, d]) for s, d in taken), denominator)
