"""Animations of schedules: a GIF, or a web page."""

from __future__ import annotations

from pathlib import Path

from obliv._util.files import require_place, write_whole
from obliv.errors import InputError
from obliv.results.bufferless.schedule import Schedule, Schedules
from obliv.view.schedules.gif import as_gif
from obliv.view.schedules.page import as_page
from obliv.view.schedules.scene import scene

__all__ = ["animate"]

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
