"""The scene of an animation: positions of the nodes, and the node of every packet at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.bufferless.schedule import Moves, Schedule, Schedules
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.instances import Instance
from obliv.view.background import for_background
from obliv.view.schedules.surroundings import about, color_of, title_case
from obliv.view.schedules.traces import moved
from obliv.view.style import SERIES

__all__ = ["Scene", "Track", "require_small", "scene"]

NODES, EDGES, PACKETS = 600, 3000, 400
PLACES = 300_000  # positions of all packets at all steps


@dataclass(frozen=True, eq=False)
class Track:
    """A packet of an animation.

    Parameters
    ----------
    enters : int
        The step at which it enters.
    nodes : int array
        Its node at every step from then on.
    looks : int array
        The color of every step.
    name : str
        The packet in words.
    """

    enters: int
    nodes: Array
    looks: Array
    name: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A network with moving packets.

    Parameters
    ----------
    title, caption : str
        Text above and below the picture.
    points : float array, shape (nodes, 2)
        Positions of the nodes in a box of width 1; y grows downwards.
    names : sequence of str
        Names of the nodes.
    links : int array, shape (links, 2)
        Pairs of linked nodes.
    packets : list of Track
        The packets.
    colors : list of str
        The colors that `Track.looks` refers to.
    legend : list of (str, str)
        Colors and their meanings.
    steps : int
        Number of steps.
    """

    title: str
    caption: str
    points: Array
    names: Sequence[str]
    links: Array
    packets: list[Track]
    colors: list[str]
    legend: list[tuple[str, str]]
    steps: int

    @property
    def height(self) -> float:
        """Height of the box."""
        return float(self.points[:, 1].max(initial=0.0))

    @property
    def radius(self) -> float:
        """Radius of the disc of a packet; discs at neighboring nodes do not touch."""
        return float(np.clip(0.3 * (max(self.height, 0.05) / max(len(self.points), 1)) ** 0.5, 0.0035, 0.011))


def scene(schedule: Schedule | Schedules, steps: int) -> Scene:
    """Return the scene of a schedule.

    Raises
    ------
    InputError
        If the schedule has no moves, or is too large for an animation of this many steps.
    """
    parts = schedule.classes
    instances, moves = zip(*map(moved, parts), strict=True)
    require_small([part.network for part in instances], schedule.packets)
    _require_at_most(
        (schedule.makespan, steps, "steps"), (schedule.packets * schedule.makespan, PLACES, "packets times steps")
    )
    network = instances[0].network
    waves = any(part.plan is not None and part.plan.s > 1 for part in parts)
    verb = "waits" if parts[0].rules == "buffered" else "is deflected"
    tracks, offset = [], 0
    for part, instance, rows in zip(parts, instances, moves, strict=True):
        for packet in range(part.packets):
            row = slice(int(rows.start[packet]), int(rows.start[packet + 1]))
            ends = instance.network.ends_of(rows.edge[row])
            enters, nodes = _nodes(rows, row, *ends)
            looks = np.full(len(nodes), int(part.plan.sets[packet]) - 1) if waves and part.plan else None
            if looks is None:
                looks = _delays(part, instance, packet, row, nodes)
            name = f"packet {packet}, from {_name(network, int(nodes[0]))} to {_name(network, int(nodes[-1]))}"
            tracks.append(Track(enters + offset, nodes, looks, name))
        offset += part.makespan
    links = np.unique(np.concatenate([np.stack(part.network.edge_ends, axis=1) for part in instances]), axis=0)
    numbers = sorted({int(track.looks[0]) for track in tracks}) if waves else []
    colors = [color_of(k) for k in range(max(numbers, default=-1) + 1)] if waves else [SERIES[0], SERIES[3]]
    legend = [(color_of(k), f"wave {k + 1}") for k in numbers[:6]] if waves else [(SERIES[0], "packet")]
    if not waves and any(track.looks.any() for track in tracks):
        legend.append((SERIES[3], f"packet that {verb}"))
    summary = about(parts[0]) if len(parts) == 1 else f"{schedule.packets} packets in {len(parts)} classes, one by one:"
    return Scene(
        title=f"{title_case(parts[0].algorithm)} on {schedule.topology}",
        caption=f"{summary} {schedule.makespan:,} steps, at least {schedule.lower_bound:,} needed.",
        points=_points(network),
        names=[_name(network, node) for node in range(network.nodes)],
        links=links,
        packets=tracks,
        colors=[for_background(color) for color in colors],
        legend=[(for_background(color), name) for color, name in legend],
        steps=int(schedule.makespan),
    )


def require_small(networks: Sequence[Leveled], packets: int) -> None:
    """Raise InputError for what is too large for an animation, however long the schedule is.

    Parameters
    ----------
    networks : sequence of Leveled
        Those of the classes.
    packets : int
        Of all classes.
    """
    _require_at_most(
        (networks[0].nodes, NODES, "nodes"),
        (max(network.edges for network in networks), EDGES, "edges"),
        (packets, PACKETS, "packets"),
    )
    if any(network.nodes != networks[0].nodes for network in networks):
        raise InputError("the classes run on different networks: animate them one by one")


def _require_at_most(*limits: tuple[int, int, str]) -> None:
    for number, most, what in limits:
        if number > most:
            raise InputError(
                f"{number:,} {what} are too many for an animation, which can show {most:,}: draw a .png, .svg or .pdf, "
                "or use a smaller instance"
            )


def _nodes(moves: Moves, row: slice, low: Array, high: Array) -> tuple[int, Array]:
    """Return the step at which a packet enters, and its node at every step from then on."""
    time, up = moves.time[row].astype(np.int64), moves.up[row]
    more = moves.more[row] if len(moves.more) else np.zeros(len(time), np.int64)
    tail, head = np.where(up, low, high), np.where(up, high, low)
    nodes = np.empty(int(time[-1] + more[-1] - time[0] + 2), np.int64)
    enters = int(time[0]) - 1
    for t, m, a, b in zip((time - enters).tolist(), more.tolist(), tail.tolist(), head.tolist(), strict=True):
        nodes[t : t + m + 1 : 2] = b
        nodes[t + 1 : t + m + 1 : 2] = a
    wait = np.flatnonzero(time[1:] - 1 > (time + more)[:-1])
    for k in wait.tolist():
        nodes[int(time[k] + more[k]) - enters : int(time[k + 1]) - enters] = tail[k + 1]
    nodes[0] = tail[0]
    return enters, nodes


def _delays(schedule: Schedule, instance: Instance, packet: int, row: slice, nodes: Array) -> Array:
    """Return for every step whether the packet waits or leaves its path."""
    looks = np.zeros(len(nodes), np.int64)
    if schedule.rules == "buffered":
        looks[:-1] = nodes[1:] == nodes[:-1]
        return looks
    if schedule.plan is not None or not schedule.deflections or schedule.moves is None:
        return looks
    path = instance.edge[instance.start[packet] : instance.start[packet + 1]].tolist()
    at = 0
    stack: list[int] = []
    links = 2 * schedule.moves.edge[row].astype(np.int64) + ~schedule.moves.up[row]
    for step, link in enumerate(links.tolist()):
        looks[step] = 1
        if stack and link == stack[-1] ^ 1:
            stack.pop()
        elif not stack and at < len(path) and link == 2 * path[at]:
            at += 1
            looks[step] = 0
        else:
            stack.append(link)
    return looks


def _points(network: Leveled) -> Array:
    """Return the positions of the nodes: meshes as grids, others with levels from left to right."""
    if network.family == "leveled-mesh" and len(network.shape) == 4:
        rows, columns = network.shape[:2]
        x, y = np.arange(network.nodes) % columns, np.arange(network.nodes) // columns
        points = np.column_stack([x, y]).astype(float)
        return points / max(columns - 1, rows - 1, 1)
    side, level = np.asarray(network.positions, float).T
    width, tall = max(network.depth, 1), float(np.ptp(side)) if len(side) else 0.0
    share = 0.0 if tall == 0 else min(max(tall / width, 0.22), 0.72)
    return np.column_stack([level / width, (side - side.min()) / (tall or 1.0) * share])


def _name(network: Leveled, node: int) -> str:
    return network.labels[node] if network.labels else str(node)
