"""What the paper prints: numbers and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from obliv.papers.paper import Printed

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

#: Sizes for which the paper states no ratio of OSRM2.
OSRM2 = {f"OSRM2, FT({m},2)": Printed("", beyond=_INTEGERS) for m in PORTS if isqrt(m // 2) ** 2 != m // 2}

_MESH = (
    "The paper defines neither the sides of the 2D mesh nor its place on the tree. Of the definitions that were tried, "
    "the largest mesh of 2^j x 2^j ranks fits best; meshes of all nodes give more."
)

TABLE2 = {
    "Ring, MLID/WSR": Printed("3.47"),
    "Ring, OSRM2": Printed("2.97"),
    "2D Mesh, MLID/WSR": Printed("1.88", open=_MESH),
    "2D Mesh, OSRM2": Printed("1.74", open=_MESH),
    "3D Mesh, MLID/WSR": Printed("2.34"),
    "3D Mesh, OSRM2": Printed("2.14"),
    "Hypercube, MLID/WSR": Printed("2.03"),
    "Hypercube, OSRM2": Printed("1.90"),
    "Binary Tree, MLID/WSR": Printed("2.37"),
    "Binary Tree, OSRM2": Printed("2.20"),
}

TABLE3 = {
    "FT(8,3), Ring, MLID/WSR": Printed("2.84"),
    "FT(8,3), Ring, OSRM3": Printed("2.80"),
    "FT(8,3), 2D Mesh, MLID/WSR": Printed("1.64", open=_MESH),
    "FT(8,3), 2D Mesh, OSRM3": Printed("1.63", open=_MESH),
    "FT(8,3), 3D Mesh, MLID/WSR": Printed("2.04"),
    "FT(8,3), 3D Mesh, OSRM3": Printed("1.99"),
    "FT(8,3), Hypercube, MLID/WSR": Printed("1.90"),
    "FT(8,3), Hypercube, OSRM3": Printed("1.90"),
    "FT(8,3), Binary Tree, MLID/WSR": Printed("2.07"),
    "FT(8,3), Binary Tree, OSRM3": Printed("2.03"),
    "FT(16,3), Ring, MLID/WSR": Printed("3.78"),
    "FT(16,3), Ring, OSRM3": Printed("3.78"),
    "FT(16,3), 2D Mesh, MLID/WSR": Printed("2.83"),
    "FT(16,3), 2D Mesh, OSRM3": Printed("2.83"),
    "FT(16,3), 3D Mesh, MLID/WSR": Printed("2.48"),
    "FT(16,3), 3D Mesh, OSRM3": Printed("2.43"),
    "FT(16,3), Hypercube, MLID/WSR": Printed("2.11"),
    "FT(16,3), Hypercube, OSRM3": Printed("2.10"),
    "FT(16,3), Binary Tree, MLID/WSR": Printed("2.69"),
    "FT(16,3), Binary Tree, OSRM3": Printed("2.67"),
}
