"""What several cases share: commands in processes of their own, fat trees as files, focus channels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["FOCUS_OTHERS", "fat_tree", "focus_channel", "obliv"]


def obliv(folder: Path, *words: str) -> None:
    """Run a command in a folder, from the start of the process."""
    subprocess.run([sys.executable, "-m", "obliv", *words], check=True, capture_output=True, cwd=folder)


def fat_tree(folder: Path, ports: int, engine: str) -> Path:
    """Write FT(ports, 3) as ``tree.net`` and its tables as ``tree.lfts``."""
    obliv(folder, "fabric", "generate", f"fattree:{ports},3", "-o", "tree.net")
    obliv(folder, "fabric", "route", "tree.net", "--engine", engine, "-o", "tree.lfts")
    return folder


def focus_channel(k: int) -> tuple[Callable[[], object], np.ndarray]:
    """Return what solves the focus channel of ROMM on a torus of k x k nodes, and its loads as a dense table."""
    import obliv
    from obliv.matching.solve import maximum_weight

    weights = obliv.routing("romm", obliv.torus(k, k)).pair_loads().weights(0)
    dense = np.zeros((k * k, k * k))
    row, col, weight = weights.spread()
    dense[row, col] = weight
    return partial(maximum_weight, weights), dense


def _scipy(made: Any) -> object:
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(made[1], maximize=True)


def _lapx(made: Any) -> object:
    import lap

    return lap.lapjv(-made[1])


FOCUS_OTHERS = {"scipy": _scipy, "lapx": _lapx}
