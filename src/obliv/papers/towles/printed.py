"""What the paper prints: numbers and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtLeast, AtMost, Bounds

__all__ = ["FIGURE4", "FIGURE8", "FIGURE9", "GROWTH", "PERMUTATION", "STATEMENTS", "TABLE1"]

TABLE1 = {
    # one exactly: uniform traffic at full rate is what defines capacity
    "Uniform, DOR": Printed("1", Fraction(1)),
    "Uniform, ROMM": Printed("1", Fraction(1)),
    "Bit-complement, DOR": Printed("0.556"),
    "Bit-complement, ROMM": Printed("0.362"),
    "Transpose, DOR": Printed("0.278"),
    "Transpose, ROMM": Printed("0.556"),
    "Tornado, DOR": Printed("0.278"),
    "Tornado, ROMM": Printed("0.278"),
    "Worst of 10^4 permutations, DOR": Printed("0.278"),
    "Worst of 10^4 permutations, ROMM": Printed("0.255"),
    "Worst-case, DOR": Printed("0.278"),
    "Worst-case, ROMM": Printed("0.173"),
}

FIGURE4 = {
    "4,3-ary 2-cube, DOR: focus channels": Printed("(0,0) to (1,0) and (0,0) to (0,1)", Fraction(2)),
    "4,3-ary 2-cube, DOR: channels that f or g maps to the focus set": Printed(
        "for every channel c in the interconnection network, there exists an automorphism g that maps c into c' such "
        "that c' ∈ F"
    ),
    "k-ary 2-cube: focus channels of the network alone": Printed(
        "Many common topologies, most notably the torus, are edge-symmetric", Fraction(1)
    ),
    "k-ary 2-cube, DOR: focus channels": Printed("only two focus channels are needed", Fraction(2)),
    "k-ary 2-cube, ROMM: focus channels": Printed(
        "",
        beyond='The paper says: "for a completely edge-symmetric topology and edge-symmetric routing algorithm, only a '
        'single channel needs to be considered." That ROMM on the torus is such a case is computed here.',
        right=Fraction(1),
    ),
    "5-ary 3-cube, DOR: largest load on the focus channels": Printed("as heavily as any other channel"),
}

FIGURE8 = {
    "channel c under tornado in one row": Printed("the same loading as DOR"),
    "channel c under the whole pattern": Printed("worst-case permutation for ROMM"),
    "channel c, the tornado row's part": Printed("the worst-case of DOR"),
    "channel c, the other rows' part": Printed("load beyond the simple tornado case"),
}

FIGURE9 = {
    "nodes that are a destination": Printed("permutation"),
    "load on the hottest channel": Printed("worst-case"),
    "fraction of capacity": Printed("0.173"),
}

_RANGE = (
    'The paper reports a comparison "as k increases" and does not print its largest k. Rounded, both numbers come out '
    "at k = 17 and at k = 19; neither is the limit."
)

STATEMENTS = {
    "rows of Table 1, without the exact worst case, on which ROMM reaches DOR": Printed(
        "ROMM generally performed as well as DOR on these conventional metrics",
        undecided='"Generally" bounds nothing. ROMM is above DOR on one of the five rows, equal on two, below on two.',
        right=Fraction(3),
    ),
    "ROMM overestimated by searching": Printed("47%"),
    "ROMM's worst case over DOR's, from the printed 0.173": Printed("62.3%"),
    "DOR as k increases, its limit": Printed(
        "as k increases, DOR approaches approximately 0.26 of capacity", "0.26", open=_RANGE, right=Fraction(1, 4)
    ),
    "ROMM as k increases, its limit": Printed(
        "while ROMM approaches 0.14", "0.14", open=_RANGE, right=Bounds(Fraction(0), Fraction(1, 8))
    ),
    "ROMM over DOR, at the largest k here, 33": Printed("or about half that of DOR", "0.5"),
    "k = 3 to 33, odd: DOR above ROMM": Printed(
        "simple DOR has superior worst-case performance on k-ary 2-cubes",
        open='At k = 3 both have 1/3; the sentence concludes a comparison "as k increases".',
        right=Fraction(15),
    ),
    "k = 6 to 20, even: DOR and ROMM fall, DOR above ROMM": Printed(
        "even values of k follow the same trends",
        open="The paper says neither which trends are meant nor up to which k.",
        right=Fraction(8),
    ),
    "fully connected network of 16 nodes: channels": Printed(
        "N^2, corresponding to a fully-connected network",
        Fraction(256),
        open="N(N-1) channels join different nodes; N² counts one from every node to itself. As a bound N² holds.",
        right=Fraction(240),
    ),
}

_MEASURED = (
    "Bound only: the paper bounds the steps of large networks, and measured times of small ones cannot contradict it. "
    "An exponent that is larger by more than one would say that the solver is not the paper's."
)

GROWTH = {
    entry: Printed(text, undecided=_MEASURED, right=AtMost(Fraction(bound + 1)))
    for entry, text, bound in (
        ("exponent of N in the time of a matching", "O(N^3)", 3),
        ("fixed degree: exponent of N in the time of all channels", "the run time is O(N^4)", 4),
    )
} | {
    "share of the edge weights in the run time": Printed(
        "In an implementation, determining the edge weights often dominates the overall run-time for practical size "
        "networks",
        AtLeast(Fraction(1, 2)),
    )
}

#: Figure 9. Entry (i, j) is the destination of node (i, j); the first coordinate is x.
PERMUTATION = (
    ((4, 0), (4, 6), (4, 7), (4, 8), (8, 8), (6, 7), (4, 1), (4, 2), (4, 3)),
    ((0, 0), (6, 0), (6, 6), (7, 1), (6, 5), (8, 2), (1, 5), (0, 4), (5, 4)),
    ((6, 8), (7, 0), (5, 6), (8, 1), (5, 5), (0, 3), (5, 3), (1, 4), (6, 4)),
    ((5, 8), (8, 0), (0, 6), (0, 2), (5, 2), (4, 5), (6, 3), (2, 4), (7, 4)),
    ((7, 8), (0, 1), (5, 1), (8, 5), (6, 2), (3, 5), (7, 3), (3, 4), (8, 4)),
    ((5, 0), (7, 6), (6, 1), (7, 5), (7, 2), (2, 5), (8, 3), (4, 4), (0, 5)),
    ((1, 0), (1, 6), (1, 7), (1, 8), (0, 8), (5, 7), (1, 1), (1, 2), (1, 3)),
    ((2, 0), (2, 6), (2, 7), (2, 8), (8, 7), (0, 7), (2, 1), (2, 2), (2, 3)),
    ((3, 0), (3, 6), (3, 7), (3, 8), (7, 7), (8, 6), (3, 1), (3, 2), (3, 3)),
)
