"""Draw schedules by name of the picture, on axes or into files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliv._util.files import require_place
from obliv._util.text import did_you_mean
from obliv.errors import InputError
from obliv.results.bufferless.schedule import Schedule, Schedules
from obliv.view.axes import Title, finish
from obliv.view.figures import figure_of, require_matplotlib
from obliv.view.literal import LITERAL
from obliv.view.saving import save
from obliv.view.schedules.animation import animate
from obliv.view.schedules.histograms import deflection_ages, delivery_times
from obliv.view.schedules.phase import one_phase
from obliv.view.schedules.rounds import one_round
from obliv.view.schedules.space_time import space_time
from obliv.view.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOVING", "draw", "plot_schedule", "require_drawing"]

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

    Parameters
    ----------
    result : Schedule or Schedules
        The schedule, with its moves.
    path : str or Path
        The file: ``.gif`` or ``.html`` for an animation, ``.png``, ``.svg`` or ``.pdf`` for a picture. It is written
        completely or not at all.
    **options
        As for :func:`animate` or :func:`plot_schedule`.

    Raises
    ------
    InputError
        If the ending is unknown, or the schedule has no such picture.
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
    _require_schedule(result)
    if require_drawing(path) in MOVING:
        animate(result, path, **options)
    else:
        save(result, path, **options)


def require_drawing(path: str | Path) -> str:
    """Check, before any work, that a schedule can be drawn into a file, and return its ending.

    Raises
    ------
    InputError
        If the ending is unknown.
    FileError
        If the folder does not exist.
    """
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
