"""What the paper prints of probabilities, and statements that can be checked one by one."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.bufferless.printed import SIZES
from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtLeast, AtMost

__all__ = ["DRAWN", "ERRATA", "PROBABILITIES", "STATEMENTS"]

#: Instances whose partitions and colors are drawn many times.
DRAWN = ("butterfly:4", "butterfly:6", "leveled-mesh:8x8")

_NOT_ONE = Fraction(0)


def _probabilities() -> dict[str, Printed]:
    entries = {}
    for entry, text, share in (
        ("Lemma 2.2, d ≤ 4 log(DN)", "1 - 1/DN", 1),
        ("Theorem 3.1, planned, and there in 2mτ", "1 - 1/DN", 1),
        ("Theorem 4.1, χ ≥ 2d, no packet needs more than ξ rounds", "1 - 2/DN", 2),
    ):
        for name in DRAWN:
            size = SIZES[name]
            least = 1 - Fraction(share, size.dilation * size.packets)
            entries[f"{entry}: {name}"] = Printed(f"at least {text} = {float(least):.4f}", AtLeast(least))
    for name in DRAWN[1:]:
        entries[f"Lemma 2.1, fewer sets, the busiest packet meets more than 2: {name}"] = Printed(
            "less than 2^-δμ = 1/4", AtMost(Fraction(1, 4))
        )
    entries["Section 4.3, a packet with d neighbors finds a valid one of 2d colors: leveled-mesh:8x8"] = Printed(
        "at least 1/2", AtLeast(Fraction(1, 2))
    )
    entries["Section 4.3, one of 54 packets needs more than 8 rounds with χ = 2d: leveled-mesh:8x8"] = Printed(
        "at most 54 · 2^-8 = 0.211", AtMost(Fraction(54, 256))
    )
    return entries


PROBABILITIES = _probabilities()

STATEMENTS = {
    "Lemma 2.1, n ≤ 40 trials of probability 1/2 to 1/40: largest Pr[X > δμ] over 2^-δμ": Printed(
        "Pr[X > δμ] < 2^-δμ for δ > 2e", AtMost(Fraction(1))
    ),
    "Section 3, D ≤ 300, even λ ≤ 100: levels of a group over 2D, at least": Printed(
        "each group contains at least 2D levels", AtLeast(Fraction(0))
    ),
    "Section 3, D ≤ 300, even λ ≤ 100: levels of a group over 2D + 2λ, at most": Printed(
        "at most 2D + 2λ levels", AtMost(Fraction(0))
    ),
    "Section 3, paths of up to D ≤ 60, even λ ≤ 20, that no group holds": Printed(
        "every packet belongs to either S1 or S2 (or both)", Fraction(0)
    ),
    "Section 3.5, log(DN) ≤ 60: λ less 2(d + 1) with d = 4 log(DN), at least": Printed(
        "λ ≥ 2(d + 1): α = 3 will do", AtLeast(Fraction(0))
    ),
    "Section 4.3, log(DN) ≤ 60: λ less 6χ, at least": Printed("λ ≥ 6χ: α = 12 will do", AtLeast(Fraction(0))),
    "Section 1, direct routing on the instances of both theorems: least time over C + D": Printed(
        "Ω(C + D): no less than C or D", AtLeast(Fraction(1, 2))
    ),
}

ERRATA = {
    "Section 3.1: phases until the last wave has left, s = 2, γ' = 4": Printed(
        "m = 2s + γ' - 1 = 7",
        Fraction(7),
        erratum="The last wave enters in phase 2s - 1 and is in frame γ' in phase 2s + γ' - 2; the "
        "additional phase is idle and harmless.",
    ),
    "Section 3.2: the frame of level 2D - 1 with D = λ + 1, γ' = 4": Printed(
        "real level 2D - 1, which are still in F_j, j = γ'",
        Fraction(4),
        erratum="The group has γ'λ = 4λ levels from 0 on; 2D - 1 = 2λ + 1 lies in its third frame.",
    ),
    "Section 3.2, target 2D - 1 in the last frame: rules broken": Printed(
        "no packet will ever need to move into that region",
        _NOT_ONE,
        erratum="A packet with D = 7 from level 8 to 15 lies in the last of two frames of λ = 8 levels, beyond 2D - 1 "
        "= 13, where it would stop forever; 2D - 1 is also an even inner level. The last frame needs no target.",
    ),
    "Section 3.3, targets for those that end in F_j: rules broken": Printed(
        "π follows its current path until it reaches ℓ_k",
        _NOT_ONE,
        erratum="Five packets share an edge of F_1, λ = 6; boats 4 and 5 have their target ℓ_k = λ - (2k - 1) below "
        "F_2, where a packet that ends in F_1 would stop once more. Only packets that continue to F_2 have targets. "
        "(With the paper's constants, such boats occur only with probability 1/DN.)",
    ),
    "Section 3.4, pushed back over the edge it came from: rules broken": Printed(
        "assume that σ followed edge e' to reach v_ℓ",
        _NOT_ONE,
        erratum="At a conflict σ has just come back over the edge on which it oscillates, which the boat needs; it "
        "must be pushed over the path's edge before its home.",
    ),
    "Lemma 2.2: graphs in which a path of D = 1 edge can collide": Printed(
        "in at most D of the G(i,j)",
        AtMost(Fraction(1)),
        erratum="An edge of F_3 lies in the two frames of G(i,2) and in those of G(i,3). There are at most "
        "⌈(D-1)/λ⌉ + 2 such graphs, more than D only for D ≤ 2, where the bound on the probability of failure at most "
        "doubles. (Read literally, every packet of a set is a node of all its graphs.)",
    ),
    "Section 4.1, success on reaching the target: rules broken": Printed(
        "which successfully reaches its target level ... keeps its color",
        _NOT_ONE,
        erratum="Two packets of the same color can reach the same target over different edges, and then "
        "oscillate on the same edge; success must include the first crossing of that edge.",
    ),
    "Section 4.1, the last round undone as well: rules broken": Printed(
        "at the end of a round, all packets in A ... back at their initial levels",
        _NOT_ONE,
        erratum="Then no packet advances. The last round has no reverse half, as the text says elsewhere: in the last "
        "round all packets reach their target inner-levels.",
    ),
    "Section 4.2, boats that enter from inner-level 2 at the time of others: rules broken": Printed(
        "the boats enter the frame F_j from inner-level 2",
        _NOT_ONE,
        erratum="Level plus time of a moving packet keeps its parity: at odd times on even levels, these packets reach "
        "their odd targets at even times, and no later boat meets them at home. They must enter at t_2, on boats that "
        "pass inner-level 1 at t_(4k-3).",
    ),
    "Section 4.2, a packet pushed at its source goes back on its path: rules broken": Printed(
        "guaranteed to be able to oscillate on their initial inner-levels",
        _NOT_ONE,
        erratum="Its path has no edge before its source. It must go back over the edge by which the winner came, which "
        "no other packet uses, since no node is the source of two packets.",
    ),
    "Section 4.3: phases that a path of D = 2 edges takes part in": Printed(
        "at most D/λ = 1/24",
        AtMost(Fraction(1, 24)),
        erratum="A path across the end of a frame has two phases; up to ⌈D/λ⌉ + 1 are possible. ξ = 2 log(DN) + 1 "
        "rounds compensate for it.",
    ),
    "Section 4.3: 2^-ξ with ξ = 2 log(LN), over 1/(DN)², on leveled-mesh:16x16": Printed(
        "2^(-2 log(DN)) = 1/(DN)²",
        Fraction(1),
        erratum="It must be ξ = 2 log(DN), since nodes know D: here L = 30 and D = 27.",
    ),
}
