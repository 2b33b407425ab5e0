"""Pictures in files; the same input gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliv._util.files import require_place, write_whole
from obliv.errors import InputError
from obliv.results.base import Result
from obliv.view.axes import narrow, one_warning, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Metadata that each format would write and that changes from day to day or version to version.
_FORMATS: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}


# Texts stay texts: publishers refuse fonts of PDF's type 3, and programs for drawings edit and search those of SVG.
_TEXTS: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "obliv"}
_PIXELS = 125.0  # across a picture for every inch of its drawing
_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)


def save(x: Any, path: str | Path, *, dpi: float = 160, width: int | None = None, **options: Any) -> None:
    """Draw a result into a file, or write the figure that axes belong to.

    Parameters
    ----------
    x : Result, matplotlib.axes.Axes or matplotlib.figure.Figure
        What to draw.
    path : str or Path
        The file; its ending selects the format: ``.png``, ``.svg`` or ``.pdf``. It is written completely or not at all.
    dpi : float
        Pixels per inch of a PNG.
    width : int, optional
        Pixels across a PNG, in place of `dpi`. A result is drawn smaller for it, with texts that stay readable: 400 for
        a column of a web page.
    **options
        Options of :func:`obliv.view.plot`, if `x` is a result.

    Raises
    ------
    InputError
        If the ending is unknown, or `x` has no picture.
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
    width = _WIDTH.get() if width is None else width
    if width is not None and not 100 <= width <= 20_000:
        raise InputError(f"a picture {width} pixels wide: choose 100 to 20000")
    if own:
        with drawn_for(width):
            x = x.plot(**options)
    elif options:
        raise InputError(f"{', '.join(options)}: options of a picture apply to results only, not to axes and figures")
    figure = x if isinstance(x, Figure) else x.get_figure(root=True) if hasattr(x, "get_figure") else None
    if figure is None:
        raise InputError(f"a {type(x).__name__} cannot be saved as a picture; use a result, axes or a figure")
    if width is not None:
        dpi = width / figure.get_size_inches()[0]
    try:
        data = io.BytesIO()
        with rc_context(_TEXTS), one_warning():
            figure.savefig(data, format=kind, dpi=dpi, metadata=_FORMATS[kind])
    finally:
        if own:
            _close(figure)
    write_whole(path, data.getvalue())


@contextmanager
def drawn_for(width: int | None) -> Iterator[None]:
    """Draw new pictures small enough for a number of pixels, and save them so wide, inside a ``with`` statement."""
    before = _WIDTH.set(width)
    try:
        with nullcontext() if width is None else narrow(width / _PIXELS):
            yield
    finally:
        _WIDTH.reset(before)


def require_format(path: str | Path) -> str:
    """Check, before any work, that a picture can be written into a file, and return its format.

    Raises
    ------
    InputError
        If the ending is unknown.
    FileError
        If the folder does not exist.
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in _FORMATS:
        problem = f"a picture cannot be written as {Path(path).suffix!r}" if kind else f"{str(path)!r} has no ending"
        known = ", ".join(f".{ending}" for ending in sorted(_FORMATS))
        raise InputError(f"{problem}; known: {known}")
    require_place(path)
    return kind


def _close(figure: Figure) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)
