"""Table I: exact oblivious ratios for every even number of ports up to 36."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import obliv
from obliv.analysis.ratios.optimum import all_paths_worst
from obliv.papers.fat_tree.printed import OSRM2, TABLE1
from obliv.papers.paper import Found

__all__ = ["compute", "osrm2"]

_SPECS = {"OMRMN": "omrmn", "OSRM2": "osrm2", "OSRM3": "osrm3", "MLID": "mlid", "WSR": "wsr"}
_ENTRY = re.compile(r"(\w+), FT\((\d+),(\d)\)")
_SMALL = 8  # ports up to which the split over all paths is enumerated; beyond its worst case is a closed form


def compute(step: Callable[[float], None]) -> dict[str, Found]:
    """Every entry, exact."""
    found = {}
    work = {entry: _work(entry) for entry in TABLE1}
    done = 0.0
    for entry in TABLE1:
        found[entry] = Found(_ratio(entry))
        done += work[entry]
        step(done / sum(work.values()))
    return found


def osrm2(step: Callable[[float], None]) -> dict[str, Found]:
    """The best grid of groups where m/2 is no square, beside the bound ⌈√(m/2)⌉."""
    found = {}
    for at, entry in enumerate(OSRM2):
        m = int(_parts(entry)[1])
        result = obliv.ratio(obliv.routing("osrm2", obliv.fattree(m, 2)))
        note = f"The best grid of groups; no routing of single paths is below {result.lower_bound}."
        found[entry] = Found(result.ratio, note)
        step((at + 1) / len(OSRM2))
    return found


def _ratio(entry: str) -> Fraction:
    name, m, n = _parts(entry)
    tree = obliv.fattree(m, n)
    if name == "OMRMN" and m > _SMALL:
        return all_paths_worst(tree)
    found: Fraction = obliv.ratio(obliv.routing(_SPECS[name], tree)).ratio
    return found


def _parts(entry: str) -> tuple[str, int, int]:
    match = _ENTRY.match(entry)
    assert match is not None
    return match[1], int(match[2]), int(match[3])


def _work(entry: str) -> float:
    name, m, n = _parts(entry)
    pairs = float(m * (m // 2) ** (n - 1)) ** 2
    return 1.0 + (pairs if name in ("OSRM2", "OSRM3", "MLID") else pairs / m)
