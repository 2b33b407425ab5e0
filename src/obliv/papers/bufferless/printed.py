"""What the paper prints: formulas, worked out for instances, bounds and statements."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, e

from obliv.papers.bufferless.formulas import Formulas, Size
from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtMost, Bounds

__all__ = [
    "ARRAYS",
    "BUTTERFLIES",
    "CENTRALIZED",
    "CONSTANTS",
    "DEGREES",
    "DISTRIBUTED",
    "FAMILIES",
    "GROWTH",
    "MESHES",
    "PARAMETERS",
    "SIZES",
    "share",
]

#: Packets N, congestion C and dilation D of instances with seed 0.
SIZES = {
    "butterfly:2": Size(4, 1, 2),
    "butterfly:3": Size(8, 3, 3),
    "butterfly:4": Size(16, 2, 4),
    "butterfly:5": Size(32, 3, 5),
    "butterfly:6": Size(64, 3, 6),
    "butterfly:7": Size(128, 3, 7),
    "butterfly:8": Size(256, 4, 8),
    "butterfly:9": Size(512, 5, 9),
    "butterfly:10": Size(1024, 7, 10),
    "butterfly:11": Size(2048, 5, 11),
    "butterfly:12": Size(4096, 5, 12),
    "leveled-mesh:4x4": Size(13, 3, 4),
    "leveled-mesh:8x8": Size(54, 7, 11),
    "leveled-mesh:12x12": Size(139, 10, 17),
    "leveled-mesh:16x16": Size(242, 16, 27),
    "leveled-mesh:24x24": Size(559, 22, 33),
    "leveled-mesh:32x32": Size(1013, 28, 53),
    "deep:L=2000,W=16,S=8,seed=0": Size(128, 14, 2000),
}

#: The largest degree d of the dependency graphs with the partition of seed 0; chi = d + 1 (centralized).
DEGREES = dict(zip(SIZES, (0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 0, 1, 0, 1, 1, 2, 1), strict=True))

BUTTERFLIES = tuple(name for name in SIZES if name.startswith("butterfly"))
MESHES = tuple(name for name in SIZES if name.startswith("leveled-mesh"))
ARRAYS = tuple(f"array:{2**k}" for k in range(9, 17))
FAMILIES = {"butterflies 2^2 to 2^12": BUTTERFLIES, "meshes 4x4 to 32x32": MESHES}
#: The depth L of the instances whose constants are compared.
_DEPTHS = {"butterfly:4": 4, "butterfly:8": 8, "leveled-mesh:16x16": 30, "deep:L=2000,W=16,S=8,seed=0": 2000}
CONSTANTS = tuple(_DEPTHS)


def _parameters() -> dict[str, Printed]:
    entries = {}
    for name in CONSTANTS:
        first, second = Formulas(SIZES[name], 3), Formulas(SIZES[name], 12)
        for algorithm, entry, text, value in (
            ("centralized", "λ", "4α log(DN)", first.frame),
            ("centralized", "s", "8αeC", first.sets),
            ("centralized", "γ", "⌈(L + 1)/λ⌉", ceil((_DEPTHS[name] + 1) / first.frame)),
            ("centralized", "γ'", "2⌈D/λ⌉", first.group),
            ("distributed", "λ", "4α log(DN)", second.frame),
            ("distributed", "s", "8αeC", second.sets),
            ("distributed", "χ", "2λ/α", second.boats),
            ("distributed", "ξ", "with probability 2^(-2 log(DN)) = 1/(DN)²", second.rounds),
            ("distributed", "τ", "2(λ + χ - 1)", second.phase),
        ):
            shown = text if entry == "ξ" else f"{text} = {value}"
            entries[f"{name}, {algorithm}, {entry}"] = Printed(shown, Fraction(value))
            if entry == "γ'":
                entries[f"{name}, {algorithm}, τ over 2(λ + d)"] = Printed("χ = d + 1; τ = 2(χ + λ - 1)", _ONE)
    return entries


def _theorem(alpha: int, text: str) -> dict[str, Printed]:
    """Return the bounds on routing times: all phases of both sessions, tau with the d of the partition drawn."""
    entries = {}
    for name in (*BUTTERFLIES, *MESHES, CONSTANTS[-1]):
        d = DEGREES[name] if alpha == 3 else None
        formulas = Formulas(SIZES[name], alpha, d)
        most, which = formulas.time, "" if d is None else f", d = {d}, τ = {formulas.phase}"
        entries[name] = Printed(f"at most {text} = {most}{which}", AtMost(Fraction(most)))
    for family in FAMILIES:
        entries[share(family)] = Printed(f"at most {text}", AtMost(_ONE))
    return entries


def share(family: str) -> str:
    """Return the name of the entry of the largest routing time over its bound."""
    return f"{family}, 10 seeds each, largest share of the bound"


def _growth() -> dict[str, Printed]:
    """Return the terms of the theorems; their constants in 2mτ and 2m·3ξ·2τ are not printed."""
    entries = {}
    for number, log, dilation, per_c, per_d in (
        ("3.1", "log(DN)", "D", (1152, 1536), 2),
        ("4.1", "log²(DN)", "D log(DN)", (258_048, 258_048), 28),
    ):
        text = f"O(C {log} + {dilation})"
        constant = "The theorem prints no constant. By the formulas of its proof it is"
        least, most = (Fraction(part * e) for part in per_c)
        band = Bounds(least * Fraction(99, 100), most * Fraction(105, 100))
        for family in FAMILIES:
            between = f"{per_c[0]}e" if per_c[0] == per_c[1] else f"{per_c[0]}e to {per_c[1]}e, as d is 0 to 4 log(DN),"
            entries[f"Theorem {number}, {family}, steps for each C {log}"] = Printed(
                text, beyond=f"{constant} {between} in one session, and somewhat more with few sets.", right=band
            )
        entries[f"Theorem {number}, one packet all along arrays of 2^9 to 2^16, steps for each {dilation}"] = Printed(
            text, beyond=f"{constant} {per_d}, in phases of full frames.", right=Fraction(per_d)
        )
    return entries


_ONE = Fraction(1)
PARAMETERS = _parameters()
CENTRALIZED = _theorem(3, "2mτ")
DISTRIBUTED = _theorem(12, "2m · 3ξ · 2τ")
GROWTH = _growth()
