"""Errors as one line on standard error, each with its exit status."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from obliv._util.text import printable

__all__ = ["Stopped", "complain", "refuse", "report_unexpected"]


class Stopped(BaseException):
    """Raised for Ctrl-C after the finished part was printed; typer would handle a KeyboardInterrupt itself."""


def complain(message: str) -> None:
    """Print a line on standard error, if that is open."""
    if sys.stderr is not None:
        print(message, file=sys.stderr)


def refuse(message: str) -> int:
    """Print an error in one line, with control characters escaped, and return the exit status 2."""
    complain("obliv: " + printable(" ".join(message.split())))
    return 2


def report_unexpected(error: Exception) -> int:
    """Report an unexpected exception in one line with its place, in a user's file or in obliv."""
    steps = traceback.extract_tb(error.__traceback__)
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for step in reversed(steps):
        if step.filename not in modules and step.filename.endswith(".py") and Path(step.filename).is_file():
            return refuse(f"{step.filename}:{step.lineno}: {type(error).__name__}: {error}")
    if os.environ.get("OBLIV_TRACEBACK"):
        traceback.print_exception(error)
    place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
    return refuse(
        f"internal error: {type(error).__name__} at {place}: {error}; "
        "please report it with the command and its input (OBLIV_TRACEBACK=1 prints the traceback)"
    )
