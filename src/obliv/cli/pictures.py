"""Pictures in files, and how they look."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from obliv.cli.output import say
from obliv.errors import InputError

__all__ = ["Looks"]


@dataclass(frozen=True)
class Looks:
    """How a picture looks."""

    dark: Annotated[bool, typer.Option("--dark", help="Draw on a dark background.")] = False
    width: Annotated[
        int | None, typer.Option("--width", metavar="PIXELS", help="Width of a PNG; texts stay readable.", min=100)
    ] = None

    def require(self, path: Path | None) -> None:
        """Refuse a picture in an unknown format, and looks without a picture."""
        if path is not None:
            from obliv import view

            view.require_format(path)
        elif self.dark or self.width is not None:
            option = "--dark" if self.dark else "--width"
            raise InputError(f"{option} is for a picture: add --plot FILE.png")

    def save(self, draw: Callable[[], Any], path: Path | None) -> None:
        """Draw a picture and write it, if `path` names a file."""
        if path is None:
            return
        from obliv import view
        from obliv.view.saving import drawn_for

        with view.dark() if self.dark else nullcontext(), drawn_for(self.width):
            view.save(draw(), path, width=self.width)
        say(f"picture saved in {path}")
