"""An animation as a self-contained web page: a drawing, a small script and controls."""

from __future__ import annotations

from importlib import resources

import numpy as np

from obliv._util.typing import Array
from obliv.errors import extra
from obliv.view.background import for_background
from obliv.view.schedules.scene import Scene
from obliv.view.style import FAINT, INK, NODE, QUIET, SERIES

__all__ = ["as_page"]

_WIDTH, _MARGIN = 1000.0, 24.0  # of the drawing, in its own units
_SPEEDS = (1, 2, 4, 8, 16)


def as_page(scene: Scene, speed: float) -> str:
    """Return the page of a scene; names are escaped."""
    try:
        import jinja2
    except ImportError:
        raise extra("jinja2", "plot") from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True}
    template = resources.files("obliv.view.schedules").joinpath("page.html").read_text(encoding="utf-8")
    scale = _WIDTH - 2 * _MARGIN
    points = np.round(_MARGIN + scene.points * scale, 1)
    radius = round(scene.radius * scale, 2)
    places = [(f"{x:g}", f"{y:g}") for x, y in points.tolist()]
    return environment.from_string(template).render(
        title=scene.title,
        caption=scene.caption,
        legend=scene.legend,
        width=f"{_WIDTH:g}",
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
