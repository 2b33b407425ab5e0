"""What the paper prints: numbers and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtLeast, AtMost

__all__ = ["FIGURES", "OSRM2", "PORTS", "STATEMENTS", "TABLE1", "TABLE2", "TABLE3"]

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

#: Sizes whose m/2 is no square: √(m/2) cannot be the size of a set.
OSRM2 = {
    f"OSRM2, FT({m},2)": Printed("√(m/2)", Fraction(0), erratum="A set of pairs has a whole size; √(m/2) is none here.")
    for m in PORTS
    if isqrt(m // 2) ** 2 != m // 2
}

_NO_2D = (
    "No definition of a 2D mesh that was tried gives it: meshes and tori of every shape on all nodes come out clearly "
    "larger."
)

TABLE2 = {
    "Ring, MLID/WSR": Printed("3.47"),
    "Ring, OSRM2": Printed("2.97"),
    "2D Mesh, MLID/WSR": Printed("1.88", open=_NO_2D),
    "2D Mesh, OSRM2": Printed("1.74", open=_NO_2D),
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
    "FT(8,3), 2D Mesh, MLID/WSR": Printed("1.64", open=_NO_2D),
    "FT(8,3), 2D Mesh, OSRM3": Printed("1.63", open=_NO_2D),
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

FIGURES = {
    "Figure 11: random traffic on FT(16,3), every density, MLID": Printed("very close to 1", "1.0"),
    "Figure 11: random traffic on FT(16,3), every density, WSR": Printed("very close to 1", "1.0"),
    "Figure 11: random traffic on FT(16,3), every density, OSRM3": Printed("very close to 1", "1.0"),
    "Figure 11: all pairs on FT(16,3), MLID, WSR and OSRM3": Printed("1", Fraction(1)),
    "Figure 12: groups of 2 on FT(32,2), MLID/WSR": Printed("larger than 4", AtLeast(Fraction(4))),
    "Figure 12: groups of 2 on FT(32,2), OSRM2": Printed("no more than 4"),
    "Figure 12: groups of 2 to 128 on FT(32,2), OSRM2 over MLID/WSR": Printed("noticeable better", AtMost(Fraction(1))),
    "Figure 13: groups of 2 to 128 on FT(8,3), OSRM3 over MLID/WSR": Printed("only slightly", AtMost(Fraction(1))),
    "Figure 14: 4 hot spots of 2 to 128 on FT(32,2), OSRM2 over WSR": Printed("about 3% worse", "1.03"),
    "Figure 15: 4 hot spots of 2 to 128 on FT(16,3), OSRM3 over WSR": Printed("similar", "1.0"),
}

STATEMENTS = {
    "Figure 9: top switches that OSRM2's formula reaches on FT(12,2), of 6": Printed(
        "s1/Ns · Nd + d1/Nd",
        Fraction(6),
        erratum="The factor must be the number of destination groups, Zd, not their size: it names switches 6 and 7.",
    ),
    "Figure 9 with Zd: sizes up to 72 whose index is out of range": Printed(
        "Zs = ⌈√(m/2)⌉, Zd = ⌊√(m/2)⌋",
        Fraction(0),
        erratum="Zs · Zd exceeds m/2 where f² < m/2 < f² + f with f = ⌊√(m/2)⌋, as at m = 36; a grid of at most m/2 "
        "groups is needed.",
    ),
    "Figure 10: last switch of OSRM3's route from (0,0,0) to (1,1,0) on FT(4,3)": Printed(
        "((d0,s1),2), where (1,0,x) are attached",
        Fraction(0),
        erratum="It must be ((d0,d1),2), the switch that the destination is attached to.",
    ),
    "Theorem 2 needs k ≥ √(2m): D-mod-k on EFT2(32,4) undercuts √(m/2) = 4": Printed(
        "if k ≥ √(2m)", AtMost(Fraction(4))
    ),
    "Theorem 2: least ratio of single paths on EFT2(34,9)": Printed(
        "any single path routing ... at least √(m/2)",
        AtLeast(Fraction(5)),
        erratum="It holds for paths that climb once. With detours over a third leaf, chosen by both ends, the pairs of "
        "every link are covered by four hosts: ratio 4.",
    ),
    "Theorem 5 at n = 4: bound on FT(8,4) over the printed one": Printed("(m/2)^⌊(n-1)/3⌋", Fraction(1)),
    "WSR's routes on FT(4,3) that are D-mod-k's": Printed("exactly the same routes as [9]", Fraction(240)),
}
