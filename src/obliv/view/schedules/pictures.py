"""Pictures of schedules by one name: space and time, one phase, one round, histograms, and animations in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliv._util.files import require_place
from obliv._util.text import did_you_mean
from obliv.errors import InputError
from obliv.results.schedule import Schedule, Schedules
from obliv.view.axes import figure_of, require_matplotlib
from obliv.view.schedules.animation import animate
from obliv.view.schedules.histograms import deflection_ages, delivery_times, makespans
from obliv.view.schedules.phase import one_phase
from obliv.view.schedules.rounds import one_round
from obliv.view.schedules.space_time import space_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "animate",
    "deflection_ages",
    "delivery_times",
    "draw",
    "makespans",
    "one_phase",
    "one_round",
    "plot_schedule",
    "plot_schedules",
    "require_drawing",
    "space_time",
]

_KINDS = {
    "space-time": space_time,
    "phase": one_phase,
    "round": one_round,
    "deflections": deflection_ages,
    "deliveries": delivery_times,
}
_MOVING = (".gif", ".html")
_STILL = (".pdf", ".png", ".svg")
_CLASSES = 6


def draw(result: Schedule | Schedules, path: str | Path, **options: Any) -> None:
    """Draw a schedule into a file; the ending says how.

    Parameters
    ----------
    result : Schedule or Schedules
    path : str or Path
        Where to: ``.gif`` or ``.html`` for an animation, ``.png``, ``.svg`` or ``.pdf`` for a picture. The file is
        whole or not there.
    **options
        As for :func:`animate`, or as for :func:`plot_schedule`.

    Raises
    ------
    InputError
        If the ending is none of these, or there is no such picture of the schedule.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "hot.svg")
    >>> draw(obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:4"), "hot-potato"), path)
    >>> path.exists()
    True
    """
    if not isinstance(result, Schedule | Schedules):
        raise InputError(f"a {type(result).__name__} is no schedule: give what bufferless.schedule returns")
    if require_drawing(path) in _MOVING:
        animate(result, path, **options)
        return
    from obliv.view.saving import save

    save(result, path, **options)


def require_drawing(path: str | Path) -> str:
    """The ending of a file that a schedule can be drawn into; InputError for others, before any work is done."""
    kind = Path(path).suffix.lower()
    if kind not in _MOVING + _STILL:
        asked = f"a schedule cannot be drawn as {Path(path).suffix!r}" if kind else f"{str(path)!r} has no ending"
        raise InputError(f"{asked}; known: {', '.join(sorted(_MOVING + _STILL))}")
    require_place(path)
    return kind


def plot_schedule(result: Schedule, kind: str = "space-time", ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a schedule; the same as ``result.plot(kind, ...)``.

    Parameters
    ----------
    result : Schedule
    kind : str
        "space-time"; "phase", one of the centralized algorithm; "round", one of the distributed algorithm;
        "deflections" by age; "deliveries", how many packets arrive when.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    **options
        As for :func:`space_time`, :func:`one_phase`, :func:`one_round`, :func:`deflection_ages` and
        :func:`delivery_times`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such kind, or no such picture of this schedule.
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    drawing: Any = _KINDS[kind]
    made: Axes = drawing(result, ax=ax, **options)
    return made


def plot_schedules(result: Schedules, kind: str = "space-time", ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the schedules of all classes below each other.

    Parameters
    ----------
    result : Schedules
    kind : str
        As for :func:`plot_schedule`.
    ax : matplotlib.axes.Axes, optional
        Where to draw, if there is one class only.
    **options
        As for :func:`plot_schedule`.

    Returns
    -------
    matplotlib.axes.Axes
        Of the first class; its figure has all.

    Raises
    ------
    InputError
        If axes are given for several classes.
    """
    if len(result.classes) == 1:
        return plot_schedule(result.classes[0], kind, ax, **options)
    if ax is not None:
        raise InputError("several classes need axes of their own: plot each of  result.classes")
    require_matplotlib()
    from matplotlib import pyplot

    shown = result.classes[:_CLASSES]
    wide, tall, above, below = 10.6, 3.4, 0.75, 1.15
    left, right = 0.85, 0.6
    width, height = left + wide + right, len(shown) * (tall + above + below)
    figure = pyplot.figure(figsize=(width, height), layout="none")
    first = None
    for number, each in enumerate(shown):
        low = height - (number + 1) * (tall + above + below) + below
        panel = figure.add_axes((left / width, low / height, wide / width, tall / height))
        made = plot_schedule(each, kind, panel, **options)
        first = made if first is None else first
    assert first is not None
    if len(result.classes) > len(shown):
        figure_of(first).text(0.5, 0.005, f"The first {len(shown)} of {len(result.classes)} classes.", ha="center")
    return first
