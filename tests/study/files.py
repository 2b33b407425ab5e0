"""Study files of a few small cells."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SMALL", "written"]

SMALL = """
topologies = ["ring:{k}"]
routings = ["dor", "valiant"]
measures = ["hops", { measure = "throughput", traffic = ["tornado", "uniform"] }, { measure = "average", samples = 20 }]
seeds = [0, 1]

[ranges]
k = "3..5"
"""


def written(folder: Path, text: str = SMALL, name: str = "small.study.toml") -> Path:
    """Write a study file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
