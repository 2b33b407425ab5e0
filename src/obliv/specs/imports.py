"""Python files of users, run before a verb or a study, which may register names."""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterable
from pathlib import Path

from obliv.errors import FileError, OblivError
from obliv.specs.registry import DEFINED

__all__ = ["run_files"]


def run_files(files: Iterable[str]) -> None:
    """Run Python files, which may register topologies, routings and traffic patterns.

    Raises
    ------
    FileError
        If a file is not found or raises an error; the message names the line.
    """
    for name in files:
        if not os.path.isfile(name):
            hint = f"; did you mean {name}.py?" if os.path.isfile(f"{name}.py") else ""
            raise FileError(f"file to import not found{hint}", name)
        module = Path(name).stem
        try:
            found = runpy.run_path(name, run_name=module)
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = trace.tb_lineno if trace is not None and trace.tb_frame.f_code.co_filename == name else None
            kind = "" if isinstance(error, OblivError) else f"{type(error).__name__}: "  # ours are sentences
            raise FileError(f"{kind}{error}", name, line) from None
        DEFINED.update({key: name for key, value in found.items() if getattr(value, "__module__", None) == module})
