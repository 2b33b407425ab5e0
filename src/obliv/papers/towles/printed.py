"""What the paper prints: numbers and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtMost

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
    "k-ary 2-cube, DOR: focus channels": Printed("only two focus channels", Fraction(2)),
    "k-ary 2-cube, ROMM: focus channels": Printed("only a single channel", Fraction(1)),
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

STATEMENTS = {
    "ROMM overestimated by searching": Printed("47%"),
    "ROMM's worst case over DOR's": Printed(
        "62.3%",
        erratum="The ratio is 5/8 = 62.5% exactly; 62.3% is what the truncated 0.173 gives, over 5/18.",
    ),
    "DOR at k = 17": Printed("0.26"),
    "ROMM at k = 17": Printed("0.14"),
    "ROMM over DOR at k = 17": Printed("about half", "0.5"),
    "DOR as k increases": Printed(
        "approaches 0.26",
        "0.26",
        erratum="0.26 is the value at some k from 17 on, not a limit: no channel can carry more than the (k-1)/2 that "
        "a tornado puts on it, so that DOR's worst case is (k+1)/(4k), which tends to 1/4.",
    ),
    "ROMM as k increases": Printed(
        "approaches 0.14",
        "0.14",
        erratum="0.14 is the value at k = 17 and k = 19, not a limit: ROMM's worst case goes on falling.",
    ),
}

GROWTH = {
    "exponent of N in the time of a matching": Printed("O(N^3)", AtMost(Fraction(3))),
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
