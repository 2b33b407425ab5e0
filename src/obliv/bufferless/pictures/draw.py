"""Draw schedules by name of the picture: on axes, into files, as an animated GIF or an animation on a web page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array
from obliv._util.files import require_place, write_whole
from obliv._util.text import did_you_mean
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.pictures.histograms import deflection_ages, delivery_times
from obliv.bufferless.pictures.rounds import one_phase, one_round
from obliv.bufferless.pictures.space_time import about, below, color_of, space_time, tint, title_case
from obliv.bufferless.pictures.traces import moved
from obliv.bufferless.results import Moves, Schedule, Schedules
from obliv.errors import InputError, extra
from obliv.view.axes import (
    FAINT,
    INK,
    LITERAL,
    NODE,
    QUIET,
    SERIES,
    Title,
    figure_of,
    finish,
    for_background,
    one_warning,
    require_matplotlib,
)
from obliv.view.saving import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The scene of an animation: positions of the nodes, and the node of every packet at every step


NODES, EDGES, PACKETS = 600, 3000, 400
PLACES = 300_000  # positions of all packets at all steps


@dataclass(frozen=True, eq=False)
class Track:
    """A packet of an animation."""

    enters: int  # the step at which it enters
    nodes: Array  # its node at every step from then on
    looks: Array  # the color of every step
    name: str  # the packet in words


@dataclass(frozen=True, eq=False)
class Scene:
    """A network with moving packets."""

    title: str  # above the picture
    caption: str  # below it
    points: Array  # float, shape (nodes, 2): positions in a box of width 1; y grows downwards
    names: Sequence[str]  # of the nodes
    links: Array  # int, shape (links, 2): pairs of linked nodes
    packets: list[Track]
    colors: list[str]  # to which `Track.looks` refers
    legend: list[tuple[str, str]]  # colors and their meanings
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
    """Return the scene of a schedule."""
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
    """Raise InputError for what is too large for an animation, however long the schedule is."""
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


# An animation as a GIF: the network is drawn once, the packets in every frame


_FRAMES = 480
_WIDTH, _DPI = 7.2, 100


def as_gif(scene: Scene, speed: float) -> bytes:
    """Return the scene as a GIF, with several frames a step if they fit; the same scene gives the same bytes."""
    require_matplotlib()
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import to_rgba

    figure, canvas, ax = _drawn(scene)
    background = canvas.copy_from_bbox(figure.bbox)
    clock = ax.annotate("", (0.0, 0.0), xycoords="axes fraction", xytext=(18.0, -4.0), textcoords="offset points")
    clock.set(fontsize=9, va="center", color=for_background(INK))

    parts = next(k for k in (4, 3, 2, 1) if k == 1 or k * scene.steps <= _FRAMES)
    inks = [to_rgba(color) for color in scene.colors]
    frames: list[Any] = []
    paper = for_background(NODE)
    palette = _palette(scene.colors)
    for frame in range(scene.steps * parts + 1):
        canvas.restore_region(background)
        offsets, looks = _at(scene, frame / parts)
        if len(offsets):
            size = np.full(len(offsets), 2.0 * scene.radius)
            discs = EllipseCollection(size, size, 0 * size, units="xy", offsets=offsets, offset_transform=ax.transData)
            discs.set(facecolor=[inks[k] for k in looks], edgecolor=paper, linewidth=0.5)
            discs.set_figure(figure)
            discs.axes = ax
            discs.set_transform(discs.get_transform())
            ax.draw_artist(discs)
        step = frame // parts
        done = sum(packet.enters + len(packet.nodes) - 1 <= frame / parts for packet in scene.packets)
        clock.set_text(
            f"step {step} of {scene.steps}: {len(offsets)} under way, {done} of {len(scene.packets)} arrived"
        )
        ax.draw_artist(clock)
        frames.append(_small(np.asarray(canvas.buffer_rgba()), palette))
    data = io.BytesIO()
    wait = max(int(1000 / speed / parts / 10) * 10, 20)
    waits = [4 * wait] + [wait] * (len(frames) - 2) + [1500] if len(frames) > 1 else wait
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:], duration=waits, loop=0, optimize=True)
    return data.getvalue()


def _drawn(scene: Scene) -> tuple[Figure, Any, Axes]:
    """Return what stays the same in all frames: the network, the legend and the captions."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import EllipseCollection, LineCollection
    from matplotlib.figure import Figure

    caption = 1.25
    inner = _WIDTH - 0.5
    tall = inner * max(scene.height, 0.06) + 0.3
    figure = Figure(figsize=(_WIDTH, tall + caption), dpi=_DPI)
    canvas: Any = FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.75 / (tall + caption), 1.0, tall / (tall + caption)))
    margin = 0.25 / inner
    ax.set_xlim(-margin, 1.0 + margin)
    ax.set_ylim(scene.height / 2 + tall / inner / 2, scene.height / 2 - tall / inner / 2)
    ax.axis("off")
    links = LineCollection(list(scene.points[scene.links]), colors=for_background(QUIET), linewidths=0.8, zorder=1)
    ax.add_collection(links, autolim=False)
    size = np.full(len(scene.points), 1.1 * scene.radius)
    nodes = EllipseCollection(size, size, 0 * size, units="xy", offsets=scene.points, offset_transform=ax.transData)
    nodes.set(facecolor=for_background(NODE), edgecolor=FAINT, linewidth=0.7, zorder=2)
    ax.add_collection(nodes, autolim=False)
    figure.text(0.25 / _WIDTH, 1 - 0.12 / (tall + caption), scene.title, fontsize=10.5, va="top", **LITERAL)
    for number, (color, name) in enumerate(scene.legend):
        x, y = (0.32 + 1.75 * (number % 4)) / _WIDTH, 1 - (0.43 + 0.17 * (number // 4)) / (tall + caption)
        figure.text(x, y, "●", color=color, fontsize=9, va="center")
        figure.text(x + 0.14 / _WIDTH, y, name, fontsize=8.5, va="center", color=for_background(INK))
    below(ax, [scene.caption], 16.0)
    for text in ax.texts:
        text.set(x=18.0, fontsize=8, color=for_background(INK))
    with one_warning():
        canvas.draw()
    return figure, canvas, ax


def _at(scene: Scene, time: float) -> tuple[npt.NDArray[np.float64], list[int]]:
    """Return the positions and the colors of the packets that are in the network."""
    offsets, looks = [], []
    for number, packet in enumerate(scene.packets):
        past = time - packet.enters
        if not 0 <= past < len(packet.nodes) - 1:
            continue
        k = int(past)
        start, end = scene.points[packet.nodes[k]], scene.points[packet.nodes[k + 1]]
        angle = 2.399963 * number  # packets at one node lie around its center
        aside = 0.35 * scene.radius * np.array([np.cos(angle), np.sin(angle)])
        offsets.append(start + (past - k) * (end - start) + aside)
        looks.append(int(packet.looks[k]))
    return np.array(offsets).reshape(-1, 2), looks


def _palette(colors: list[str]) -> Any:
    """Return a palette of all colors of the frames and their mixes with the background."""
    from PIL import Image

    inks = dict.fromkeys((*map(for_background, (INK, QUIET)), FAINT, *colors))
    wanted = [tint(color, k / 7) for color in inks for k in range(8)]
    flat = [round(255 * part) for color in wanted for part in color]
    image = Image.new("P", (1, 1))
    image.putpalette(flat + flat[:3] * (256 - len(flat) // 3))
    return image


def _small(pixels: Any, palette: Any) -> Any:
    from PIL import Image

    image = Image.fromarray(pixels[:, :, :3])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


# An animation as a self-contained web page: a drawing, a small script and controls


_PAGE_WIDTH, _MARGIN = 1000.0, 24.0  # of the drawing, in its own units
_SPEEDS = (1, 2, 4, 8, 16)


def as_page(scene: Scene, speed: float) -> str:
    """Return the page of a scene; names are escaped."""
    try:
        import jinja2
    except ImportError:
        raise extra("jinja2", "plot") from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True}
    template = resources.files("obliv.bufferless.pictures").joinpath("page.html").read_text(encoding="utf-8")
    scale = _PAGE_WIDTH - 2 * _MARGIN
    points = np.round(_MARGIN + scene.points * scale, 1)
    radius = round(scene.radius * scale, 2)
    places = [(f"{x:g}", f"{y:g}") for x, y in points.tolist()]
    return environment.from_string(template).render(
        title=scene.title,
        caption=scene.caption,
        legend=scene.legend,
        width=f"{_PAGE_WIDTH:g}",
        height=f"{2 * _MARGIN + scene.height * scale:.0f}",
        links=[(places[a], places[b]) for a, b in scene.links.tolist()],
        nodes=list(zip(places, scene.names, strict=True)),
        node_radius=f"{0.55 * radius:.2f}",
        paper=for_background(NODE),
        scheme="light" if for_background(NODE) == NODE else "dark",
        accent=for_background(SERIES[0]),
        ink=for_background(INK),
        quiet=for_background(QUIET),
        faint=FAINT,
        data={
            "steps": scene.steps,
            "speed": str(min(_SPEEDS, key=lambda known: abs(known - speed))),
            "radius": radius,
            "colors": scene.colors,
            "points": points.tolist(),
            "packets": [
                {
                    "name": packet.name,
                    "enters": packet.enters,
                    "nodes": packet.nodes.tolist(),
                    "looks": _looks(packet.looks),
                }
                for packet in scene.packets
            ],
        },
    )


def _looks(looks: Array) -> int | str:
    """Return the color of every step as digits, or one number where all are the same."""
    return int(looks[0]) if (looks == looks[0]).all() else "".join(map(str, looks.tolist()))


# Animations of schedules: a GIF, or a web page


_STEPS = {"gif": 400, "html": 5000}


def animate(schedule: Schedule | Schedules, path: str | Path, *, speed: float = 2.0) -> None:
    """Write an animation of a small schedule: packets as discs that move over the links.

    Parameters
    ----------
    schedule : Schedule or Schedules
        The schedule, with its moves; classes run one after another.
    path : str or Path
        The file: ``.gif``, or ``.html`` for a self-contained page with controls (needs jinja2).
    speed : float
        Steps per second.

    Raises
    ------
    InputError
        If the schedule is too large for an animation, or the file has another ending.
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
    if kind not in _STEPS:
        raise InputError(f"an animation cannot be written as {Path(path).suffix!r}; use .gif or .html")
    if not 0.1 <= speed <= 20:
        raise InputError(f"speed={speed}: it must be from 0.1 to 20 steps per second")
    require_place(path)
    shown = scene(schedule, _STEPS[kind])
    write_whole(path, as_gif(shown, speed) if kind == "gif" else as_page(shown, speed).encode())


_KINDS = {
    "space-time": space_time,
    "phase": one_phase,
    "round": one_round,
    "deflections": deflection_ages,
    "deliveries": delivery_times,
}
MOVING = (".gif", ".html")
_STILL = (".pdf", ".png", ".svg")
_CLASSES = 6  # panels of a figure


def draw(result: Schedule | Schedules, path: str | Path, **options: Any) -> None:
    """Draw a schedule into a file; the ending selects the format.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "hot.svg")
    >>> draw(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:4"), "hot-potato"), path)
    >>> path.exists()
    True
    """
    _require_schedule(result)
    if require_drawing(path) in MOVING:
        animate(result, path, **options)
    else:
        save(result, path, **options)


def require_drawing(path: str | Path) -> str:
    """Check, before any work, that a schedule can be drawn into a file, and return its ending."""
    ending = Path(path).suffix.lower()
    if ending not in MOVING + _STILL:
        problem = f"a schedule cannot be drawn as {Path(path).suffix!r}" if ending else f"{str(path)!r} has no ending"
        raise InputError(f"{problem}; known: {', '.join(sorted(MOVING + _STILL))}")
    require_place(path)
    return ending


def plot_schedule(
    result: Schedule | Schedules,
    kind: str = "space-time",
    ax: Axes | None = None,
    *,
    title: Title = True,
    **options: Any,
) -> Axes:
    """Draw a schedule; the same as ``result.plot(kind, ...)``.

    Parameters
    ----------
    result : Schedule or Schedules
        The schedule; the schedules of several classes are drawn below each other.
    kind : {"space-time", "phase", "round", "deflections", "deliveries"}
        ``phase`` is for the centralized algorithm, ``round`` for the distributed one; ``deflections`` are by age,
        ``deliveries`` by time.
    ax : matplotlib.axes.Axes, optional
        Where to draw, unless there are several classes; default a new figure.
    title : bool or str
        A title to write; a caption below says what a schedule is about.
    **options
        As for :func:`space_time`, :func:`one_phase`, :func:`one_round`, :func:`deflection_ages` and
        :func:`delivery_times`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, of the first class where there are several.

    Raises
    ------
    InputError
        If the kind is unknown, the schedule has no such picture, or axes are given for several classes.
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    _require_schedule(result)
    classes = result.classes
    drawing: Any = _KINDS[kind]
    if len(classes) == 1:
        axes: Axes = drawing(classes[0], ax=ax, **options)
        return finish(axes, ax is None, title=title) if isinstance(title, str) else axes
    if ax is not None:
        raise InputError("several classes need axes of their own: plot each of  result.classes")
    panels = _panels(min(len(classes), _CLASSES), 0.4 if isinstance(title, str) else 0.0)
    before, steps = 0, result.makespan
    for number, (schedule, panel) in enumerate(zip(classes, panels, strict=False), 1):
        drawing(schedule, ax=panel, **options)
        when = f"steps {before + 1:,} to {before + schedule.makespan:,} of {steps:,}"
        panel.set_title(f"class {number} of {len(classes)}: {when}", loc="left", fontsize=9.5, color=INK)
        before += schedule.makespan
    if len(classes) > len(panels):
        figure_of(panels[0]).text(0.5, 0.005, f"The first {len(panels)} of {len(classes)} classes.", ha="center")
    if isinstance(title, str):
        figure_of(panels[0]).suptitle(title, fontsize=11, **LITERAL)
    return panels[0]


def _panels(number: int, heading: float) -> list[Axes]:
    """Return axes below each other in a new figure, below room for a title in inches."""
    require_matplotlib()
    from matplotlib import pyplot

    wide, tall, above, below = 10.6, 3.4, 0.75, 1.15  # inches
    left, right = 0.85, 0.6
    width, height = left + wide + right, number * (tall + above + below) + heading
    figure = pyplot.figure(figsize=(width, height), layout="none")
    lows = [height - heading - (k + 1) * (tall + above + below) + below for k in range(number)]
    return [figure.add_axes((left / width, low / height, wide / width, tall / height)) for low in lows]


def _require_schedule(result: object) -> None:
    if not isinstance(result, Schedule | Schedules):
        raise InputError(f"a {type(result).__name__} is not a schedule; use the result of bufferless.schedule")
