"""The registry of benchmarks: every file in ``cases`` is one.

A case is a module with a title as its docstring and

- ``TARGET``, what it has to reach, in words;
- ``setup(folder)``, which makes what is measured, in an empty folder;
- ``run(made)``, which is timed;
- ``OTHERS``, if other libraries do the same job: a function of ``made`` by the name of the library, and
- ``SHARE``, if these take too long: what part of the job they do, 1 if not given.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Case", "cases"]

FOLDER = Path(__file__).resolve().parent / "cases"


@dataclass(frozen=True)
class Case:
    """One benchmark."""

    name: str
    title: str
    target: str
    setup: Callable[[Path], Any]
    run: Callable[[Any], object]
    others: dict[str, Callable[[Any], object]]
    share: float


def cases() -> dict[str, Case]:
    """Return all cases by name, in the order of their names."""
    return {path.stem: _case(path) for path in sorted(FOLDER.glob("*.py"))}


def _case(path: Path) -> Case:
    spec = importlib.util.spec_from_file_location(f"cases.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    title = (module.__doc__ or "").strip().rstrip(".")
    others, share = getattr(module, "OTHERS", {}), getattr(module, "SHARE", 1.0)
    return Case(path.stem, title, module.TARGET, module.setup, module.run, others, share)
