"""Errors of cells, with the line of the study file that they come from."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from obliv._util.toml import strings_of
from obliv.errors import FileError, InputError

if TYPE_CHECKING:
    from obliv.study.cells import Cell
    from obliv.study.reading import Plan

__all__ = ["at_its_line"]

_NAME = re.compile(r"\\{\w+\\}")  # in an escaped spec
_WHERE = "correct the path, which starts from the current directory"


def at_its_line(plan: Plan, cell: Cell, error: InputError) -> FileError:
    """Return an error of a cell with the line of its spec; one inside of a file that a spec names stays as it is."""
    about = f"{cell}: {error}"
    if isinstance(error, FileError):
        if error.line is not None or error.path is None or os.path.isfile(str(error.path)):
            return error
        about = f"{error}: {_WHERE}" if error.message == "file not found" else str(error)
    texts = [cell.topology, cell.routing or "", *map(str, cell.options.values())]
    specs = {text for text in texts if text and (text in str(error) or _names(text, error))}
    line = next((line for text, line in strings_of(plan.text) if any(map(_pattern(text).fullmatch, specs))), None)
    return FileError(about, plan.path or None, line if plan.path else None)


def _names(spec: str, error: InputError) -> bool:
    return isinstance(error, FileError) and str(error.path) in spec


def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of what a spec can be with values for its names in braces."""
    return re.compile(_NAME.sub(".+", re.escape(text.strip())))
