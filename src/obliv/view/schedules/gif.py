"""An animation as a GIF: the network is drawn once, the packets in every frame."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv.view.background import for_background
from obliv.view.figures import require_matplotlib
from obliv.view.literal import LITERAL, one_warning
from obliv.view.schedules.scene import Scene
from obliv.view.schedules.surroundings import below, tint
from obliv.view.style import FAINT, INK, NODE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["as_gif"]

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
