"""What an animation of a schedule shows: where the nodes stand, and at which node every packet is at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.files import require_place, write_whole
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.results.schedule import Moves, Schedule, Schedules
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.instances import Instance
from obliv.view.schedules.surroundings import about, called, colour_of
from obliv.view.schedules.traces import moved
from obliv.view.style import SERIES

__all__ = ["Scene", "Way", "animate", "scene"]


NODES, EDGES, PACKETS = 600, 3000, 400
STEPS = {"gif": 400, "html": 5000}
PLACES = 300_000  # of all packets at all steps


@dataclass(frozen=True, eq=False)
class Way:
    """A packet: when it enters, its node at each step from then on, the colour of each step, and what it is called."""

    enters: int
    nodes: Array
    looks: Array
    name: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A network with packets: points in a box of width 1, pairs of nodes that are joined, colours with names."""

    title: str
    caption: str
    points: Array
    names: Sequence[str]
    joined: Array
    ways: list[Way]
    colours: list[str]
    legend: list[tuple[str, str]]
    steps: int

    @property
    def height(self) -> float:
        """Of the box that the points are in."""
        return float(self.points[:, 1].max(initial=0.0))

    @property
    def radius(self) -> float:
        """Of a packet's disc, so that those at neighbours do not touch."""
        return float(np.clip(0.3 * (max(self.height, 0.05) / max(len(self.points), 1)) ** 0.5, 0.0035, 0.011))


def animate(schedule: Schedule | Schedules, path: str | Path, *, speed: float = 2.0) -> None:
    """Write an animation of a small schedule: packets as discs that move over the links.

    Parameters
    ----------
    schedule : Schedule or Schedules
        With its moves; classes run one after another.
    path : str or Path
        Where to: ``.gif``, or ``.html`` for a page with controls that needs nothing else.
    speed : float
        Steps per second.

    Raises
    ------
    InputError
        If the network, the packets or the steps are too many to be followed by eye, or the ending is another.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "butterfly.html")
    >>> animate(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:3"), "hot-potato"), path)
    >>> path.read_text(encoding="utf-8").count("<svg")
    1
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in STEPS:
        raise InputError(f"an animation cannot be written as {Path(path).suffix!r}; known: .gif, .html")
    if not 0.1 <= speed <= 20:
        raise InputError(f"speed={speed}: from 0.1 to 20 steps a second")
    require_place(path)
    shown = scene(schedule, STEPS[kind])
    if kind == "gif":
        from obliv.view.schedules.gif import as_gif

        write_whole(path, as_gif(shown, speed))
    else:
        from obliv.view.schedules.page import as_page

        write_whole(path, as_page(shown, speed).encode())


def scene(schedule: Any, steps: int) -> Scene:
    """What is shown of a schedule; InputError where it is too large to be followed."""
    parts: Sequence[Schedule] = schedule.classes if isinstance(schedule, Schedules) else (schedule,)
    instances = [moved(each)[0] for each in parts]
    _require_small(schedule, [each.network for each in instances], steps)
    network = instances[0].network
    waves = any(each.plan is not None and each.plan.s > 1 for each in parts)
    held = "waits" if parts[0].rules == "buffered" else "is deflected"
    ways, offset = [], 0
    for each, instance in zip(parts, instances, strict=True):
        assert each.moves is not None
        for packet in range(each.packets):
            row = slice(int(each.moves.start[packet]), int(each.moves.start[packet + 1]))
            ends = instance.network.ends_of(each.moves.edge[row])
            enters, nodes = _nodes(each.moves, row, *ends)
            looks = np.full(len(nodes), int(each.plan.sets[packet]) - 1) if waves and each.plan else None
            if looks is None:
                looks = _held(each, instance, packet, row, nodes)
            name = f"packet {packet}, from {_name(network, int(nodes[0]))} to {_name(network, int(nodes[-1]))}"
            ways.append(Way(enters + offset, nodes, looks, name))
        offset += each.makespan
    joined = np.unique(np.concatenate([np.stack(each.network.edge_ends, axis=1) for each in instances]), axis=0)
    numbers = sorted({int(each.looks[0]) for each in ways}) if waves else []
    colours = [colour_of(k) for k in range(max(numbers, default=-1) + 1)] if waves else [SERIES[0], SERIES[3]]
    legend = [(colour_of(k), f"wave {k + 1}") for k in numbers[:6]] if waves else [(SERIES[0], "packet")]
    if not waves and any(each.looks.any() for each in ways):
        legend.append((SERIES[3], f"packet that {held}"))
    said = about(parts[0]) if len(parts) == 1 else f"{schedule.packets} packets in {len(parts)} classes, one by one:"
    return Scene(
        title=f"{called(parts[0].algorithm)} on {schedule.topology}",
        caption=f"{said} {schedule.makespan:,} steps, at least {schedule.lower_bound:,} needed.",
        points=_points(network),
        names=[_name(network, node) for node in range(network.nodes)],
        joined=joined,
        ways=ways,
        colours=colours,
        legend=legend,
        steps=int(schedule.makespan),
    )


def _require_small(schedule: Any, networks: Sequence[Leveled], steps: int) -> None:
    for number, most, what in (
        (networks[0].nodes, NODES, "nodes"),
        (max(each.edges for each in networks), EDGES, "edges"),
        (schedule.packets, PACKETS, "packets"),
        (schedule.makespan, steps, "steps"),
        (schedule.packets * schedule.makespan, PLACES, "packets times steps"),
    ):
        if number > most:
            raise InputError(
                f"an animation can show {most:,} {what}, here are {number:,}: draw it as .png, .svg or .pdf, or take a "
                "smaller instance"
            )
    if any(each.nodes != networks[0].nodes for each in networks):
        raise InputError("the classes run on different networks: animate them one by one")


def _nodes(moves: Moves, row: slice, low: Array, high: Array) -> tuple[int, Array]:
    """When a packet enters and where it is from then on, step after step."""
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


def _held(schedule: Schedule, instance: Instance, packet: int, row: slice, nodes: Array) -> Array:
    """Whether the packet waits, or is off its path, in each step that begins at one of the nodes."""
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
    """Meshes as they are, others with levels from left to right; the width is 1, y counts downwards."""
    if network.family == "leveled-mesh":
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
