"""Figures 1 to 9: channel loads, the bipartite graph of a channel, symmetries, routes and adversarial patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import obliv
from obliv import view
from obliv.papers.panels import draw_pairs, draw_panels, draw_route, mark_ends, name_nodes, without_loads
from obliv.papers.towles.figure4 import f, g
from obliv.papers.towles.figure9 import found_permutation, printed_permutation
from obliv.papers.towles.statements import adversary
from obliv.view.style import NODE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "MATCHING"]

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
