"""What the text and the algorithms state, and where the print is wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import isqrt

import obliv
from obliv.papers.fat_tree.detour import Detour
from obliv.papers.fat_tree.printed import STATEMENTS
from obliv.papers.paper import Step, Value

__all__ = ["compute"]


def compute(step: Step) -> dict[str, Value]:
    """Compute every statement exactly."""
    parts = (_figure9, _figure9_grid, _figure10, _theorem2, _detours, _theorem5, _wsr)
    entries = {}
    for at, (entry, part) in enumerate(zip(STATEMENTS, parts, strict=True)):
        entries[entry] = part()
        step((at + 1) / len(parts))
    return entries


def _indices(k: int, factor: str) -> set[int]:
    """Return the switches of the formula of Figure 9, with Nd or Zd as its factor."""
    root = isqrt(k)
    zs, zd = root + (root * root < k), root
    ns, nd = -(-k // zs), -(-k // zd)
    by = nd if factor == "Nd" else zd
    return {s // ns * by + d // nd for s in range(k) for d in range(k)}


def _figure9() -> Value:
    named = _indices(6, "Nd")
    return Value(Fraction(len([x for x in named if x < 6])), f"The formula names {sorted(named)}; switches are 0 to 5.")


def _figure9_grid() -> Value:
    over = [2 * k for k in range(2, 37) if max(_indices(k, "Zd")) >= k]
    return Value(Fraction(len(over)), f"m = {', '.join(map(str, over))}.")


def _figure10() -> Value:
    """Compare the printed switch with that of the destination, on FT(4,3)."""
    tree = obliv.fattree(4, 3)
    source, destination = (tree.name_of(v) for v in (0, 6))
    s, d = tree.digits(0), tree.digits(6)
    printed = f"(({d[0]},{s[1]}),2)"
    right = tree.name_of(int(tree.head[tree.first_channel[6]]))
    return Value(
        Fraction(int(printed != right)), f"From {source} to {destination}: printed {printed}, attached to {right}."
    )


def _theorem2() -> Value:
    ratio = obliv.ratio(obliv.routing("dmodk", obliv.eft2(32, 4)))
    return Value(ratio.ratio, "min(m/2, k-1); here the theorem applies to 8 or more leaf switches.")


def _detours() -> Value:
    ratio = obliv.ratio(Detour(obliv.eft2(34, 9)))
    return Value(ratio.ratio, "A routing with detours, exact; ⌈√17⌉ = 5.")


def _theorem5() -> Value:
    printed, sharp = _theorem5_bound(8, 4), _sharp_bound(8, 4)
    values = {n: (_theorem5_bound(8, n), _sharp_bound(8, n)) for n in range(2, 8)}
    text = "; ".join(f"n = {n}: {a} and {b}" for n, (a, b) in values.items())
    note = f"The same argument gives (m/2)^(⌊2n/3⌋/2). On FT(8,n), printed and that: {text}."
    return Value(Fraction(sharp, printed), note)


def _theorem5_bound(m: int, n: int) -> int:
    """Evaluate Theorem 5: (m/2)^⌊(n-1)/3⌋."""
    bound: int = (m // 2) ** ((n - 1) // 3)
    return bound


def _sharp_bound(m: int, n: int) -> int:
    """Return (m/2)^(⌊2n/3⌋/2), rounded up, which the same argument gives."""
    return isqrt((m // 2) ** (2 * n // 3) - 1) + 1


def _wsr() -> Value:
    tree = obliv.fattree(4, 3)
    wsr, dmodk = (obliv.routing(name, tree) for name in ("wsr", "dmodk"))
    same = sum(list(wsr.paths(s, d)) == list(dmodk.paths(s, d)) for s, d in permutations(range(16), 2))
    return Value(Fraction(same), "Of 240 pairs; WSR by its own rule, the smallest sum of the links' counts.")
