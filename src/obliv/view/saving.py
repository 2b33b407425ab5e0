"""Pictures in files: the same input gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliv._util.files import require_place, write_whole
from obliv.errors import InputError
from obliv.results import Result
from obliv.view.axes import require_matplotlib
from obliv.view.dispatch import plot
from obliv.view.literal import told_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["require_format", "save"]

# What each format writes of itself without being asked, and would change from day to day or version to version.
_FORMATS: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}


def save(x: Any, path: str | Path, *, dpi: float = 160, **options: Any) -> None:
    """Draw a result into a file, or write the figure that axes belong to.

    Parameters
    ----------
    x : Result, matplotlib.axes.Axes or matplotlib.figure.Figure
        What to draw.
    path : str or Path
        Where to; the format is that of the name's ending: ``.png``, ``.svg`` or ``.pdf``. The file is written under a
        temporary name and renamed, so that it is whole or not there.
    dpi : float
        Pixels per inch of a PNG.
    **options
        Where a result is given, as for :func:`obliv.view.plot`.

    Raises
    ------
    InputError
        If the ending names no format that can be written, or there is no picture of what is given.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import obliv, tempfile
    >>> path = Path(tempfile.mkdtemp(), "ring.svg")
    >>> save(obliv.worst_case(obliv.routing("dor", obliv.ring(8))), path)
    >>> path.exists()
    True
    """
    kind = require_format(path)
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    own = isinstance(x, Result)
    if own:
        x = plot(x, **options)
    elif options:
        raise InputError(f"{', '.join(options)}: options of a picture are for results; what is given is drawn already")
    figure = x if isinstance(x, Figure) else x.get_figure(root=True) if hasattr(x, "get_figure") else None
    if figure is None:
        raise InputError(f"a {type(x).__name__} cannot be saved as a picture: give a result, axes or a figure")
    try:
        data = io.BytesIO()
        with rc_context({"svg.hashsalt": "obliv"}), told_once():
            figure.savefig(data, format=kind, dpi=dpi, metadata=_FORMATS[kind])
    finally:
        if own:
            _close(figure)
    write_whole(path, data.getvalue())


def require_format(path: str | Path) -> str:
    """The format that a file's name asks for; InputError where there is none, before any work is done."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        asked = f"a picture cannot be written as {Path(path).suffix!r}" if kind else f"{str(path)!r} has no ending"
        known = ", ".join(f".{each}" for each in sorted(_FORMATS))
        raise InputError(f"{asked}; known: {known}")
    require_place(path)
    return kind


def _close(figure: Figure) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)
