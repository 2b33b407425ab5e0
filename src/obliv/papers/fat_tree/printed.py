"""What the paper prints: numbers and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from obliv.papers.paper import Printed
from obliv.papers.verdicts import Bounds

__all__ = ["OSRM2", "PORTS", "TABLE1", "TABLE2", "TABLE3"]

PORTS = range(4, 38, 2)


def _table1() -> dict[str, Printed]:
    """Return the entries of Table I, which is printed as formulas in m."""
    entries = {}
    for m in PORTS:
        k = m // 2
        entries[f"OMRMN, FT({m},2)"] = Printed("1", Fraction(1))
        if isqrt(k) ** 2 == k:
            entries[f"OSRM2, FT({m},2)"] = Printed("√(m/2)", Fraction(isqrt(k)))
        entries[f"MLID, FT({m},2)"] = Printed("m/2", Fraction(k))
        entries[f"WSR, FT({m},2)"] = Printed("m/2", Fraction(k))
        entries[f"OMRMN, FT({m},3)"] = Printed("1", Fraction(1))
        entries[f"OSRM3, FT({m},3)"] = Printed("m/2", Fraction(k))
        entries[f"MLID, FT({m},3)"] = Printed("m-1", Fraction(m - 1))
        entries[f"WSR, FT({m},3)"] = Printed("m-1", Fraction(m - 1))
    return entries


TABLE1 = _table1()

_INTEGERS = (
    'Theorem 6 and Table I state √(m/2) "When √(m/2) is an integer"; here it is not. The ratio is that of the best '
    "grid of groups."
)


def _grid(half: int) -> int:
    """Return the least size of the larger group over all grids of groups with a root for each pair, by trying all."""
    return min(max(-(-half // a), -(-half // (half // a))) for a in range(1, half + 1))


#: Sizes for which the paper states no ratio of OSRM2.
OSRM2 = {
    f"OSRM2, FT({m},2)": Printed("", beyond=_INTEGERS, right=Fraction(_grid(m // 2)))
    for m in PORTS
    if isqrt(m // 2) ** 2 != m // 2
}

_MESH = (
    "The paper defines neither the sides of the 2D mesh nor its place on the tree. Of the definitions that were tried, "
    "the largest mesh of 2^j x 2^j ranks fits best; meshes of all nodes give more."
)


_MEAN = Bounds(Fraction(1), Fraction(16))  # no mean exceeds the largest ratio of the trees and routings, m/2 and m - 1


def _means(tree: str, new: str, means: dict[str, tuple[str, str]]) -> dict[str, Printed]:
    """Return the entries of one tree: by pattern, the means of MLID/WSR and of the new routing."""
    return {
        f"{tree}{pattern}, {routing}": Printed(text, open=_MESH, right=_MEAN) if pattern == "2D Mesh" else Printed(text)
        for pattern, pair in means.items()
        for routing, text in zip(("MLID/WSR", new), pair, strict=True)
    }


_PATTERNS = ("Ring", "2D Mesh", "3D Mesh", "Hypercube", "Binary Tree")
_FT32_2 = (("3.47", "2.97"), ("1.88", "1.74"), ("2.34", "2.14"), ("2.03", "1.90"), ("2.37", "2.20"))
_FT8_3 = (("2.84", "2.80"), ("1.64", "1.63"), ("2.04", "1.99"), ("1.90", "1.90"), ("2.07", "2.03"))
_FT16_3 = (("3.78", "3.78"), ("2.83", "2.83"), ("2.48", "2.43"), ("2.11", "2.10"), ("2.69", "2.67"))

TABLE2 = _means("", "OSRM2", dict(zip(_PATTERNS, _FT32_2, strict=True)))
TABLE3 = _means("FT(8,3), ", "OSRM3", dict(zip(_PATTERNS, _FT8_3, strict=True))) | _means(
    "FT(16,3), ", "OSRM3", dict(zip(_PATTERNS, _FT16_3, strict=True))
)
