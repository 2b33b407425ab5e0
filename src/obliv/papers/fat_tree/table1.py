"""Table I: exact oblivious ratios for every even number of ports up to 36."""

from __future__ import annotations

import re
from fractions import Fraction

import obliv
from obliv.analysis.ratios.optimum import all_paths_worst
from obliv.papers.fat_tree.printed import OSRM2, TABLE1
from obliv.papers.paper import Step, Value

__all__ = ["compute", "osrm2"]

_SPECS = {"OMRMN": "omrmn", "OSRM2": "osrm2", "OSRM3": "osrm3", "MLID": "mlid", "WSR": "wsr"}
_ENTRY = re.compile(r"(\w+), FT\((\d+),(\d)\)")
_SMALL = 8  # ports up to which all paths are enumerated; beyond, the worst case is a closed form
_OWN_RULE = 20  # ports up to which WSR runs by its own rule on three levels
_STANDS_IN = "D-mod-k stands in for WSR; the two have the same paths on every FT(m, n), docs/explanation/fat-trees.md."
_MLID = "The paper takes MLID from its [15] and does not define it; here it is S-mod-k."


def compute(step: Step) -> dict[str, Value]:
    """Compute every entry exactly."""
    entries = {}
    work = {entry: _work(entry) for entry in TABLE1}
    done = 0.0
    for entry in TABLE1:
        entries[entry] = Value(_ratio(entry), _remark(entry))
        done += work[entry]
        step(done / sum(work.values()))
    return entries


def osrm2(step: Step) -> dict[str, Value]:
    """Compute the best grid of groups where m/2 is not a square, with the bound ⌈√(m/2)⌉."""
    entries = {}
    for at, entry in enumerate(OSRM2):
        m = int(_parts(entry)[1])
        result = obliv.ratio(obliv.routing("osrm2", obliv.fattree(m, 2)))
        note = f"No routing of single paths that climb once is below {result.lower_bound}."
        entries[entry] = Value(result.ratio, note)
        step((at + 1) / len(OSRM2))
    return entries


def _ratio(entry: str) -> Fraction:
    name, m, n = _parts(entry)
    tree = obliv.fattree(m, n)
    if name == "OMRMN" and m > _SMALL:
        return all_paths_worst(tree)
    spec = "dmodk" if _stands_in(entry) else _SPECS[name]
    ratio: Fraction = obliv.ratio(obliv.routing(spec, tree)).upper
    return ratio


def _remark(entry: str) -> str:
    if entry.startswith("MLID"):
        return _MLID
    return _STANDS_IN if _stands_in(entry) else ""


def _stands_in(entry: str) -> bool:
    """Return whether D-mod-k stands in for WSR, whose own rule takes too long."""
    name, m, n = _parts(entry)
    return name == "WSR" and n == 3 and m > _OWN_RULE


def _parts(entry: str) -> tuple[str, int, int]:
    match = _ENTRY.match(entry)
    if match is None:
        raise ValueError(f"not an entry of Table I: {entry!r}")
    return match[1], int(match[2]), int(match[3])


def _work(entry: str) -> float:
    name, m, n = _parts(entry)
    pairs = float(m * (m // 2) ** (n - 1)) ** 2
    return 1.0 + (pairs if name in ("OSRM2", "OSRM3", "MLID") else pairs / m)
