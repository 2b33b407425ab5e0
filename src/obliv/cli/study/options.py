"""Arguments that the verbs of studies share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["StoreFile", "StudyName"]

StoreFile = Annotated[Path, typer.Argument(metavar="STORE", help="File that  obliv study run --store  wrote.")]
StudyName = Annotated[
    str, typer.Option("--study", metavar="NAME", help="One of several studies in the store (default: all).")
]
