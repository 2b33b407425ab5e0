"""What the paper prints: numbers, formulas and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import Printed
from obliv.papers.verdicts import AtMost

__all__ = [
    "CLAIMS",
    "COLUMNS",
    "EQUATIONS",
    "EVEN",
    "FIGURE2",
    "FIGURE3",
    "FIGURE4",
    "FIGURE5",
    "FIGURE6",
    "FIGURE6_MESHES",
    "FIGURE7",
    "ODD",
    "STATEMENTS",
    "TABLE1",
    "TABLE3",
    "TABLE4",
    "bound_of_dor",
    "bound_of_o1turn",
    "of_u2turn",
    "of_u2turn_a",
]

COLUMNS = ("VAL", "DOR", "O1TURN", "U2TURN")

Rows = dict[str, tuple[str, str, str, str]]

#: Table III.
ODD: dict[str, Rows] = {
    "3x3": {
        "Worst-case": ("0.5", "0.33", "0.44", "0.57"),
        "Average-case": ("0.5", "0.405", "0.477", "0.604"),
        "Transpose": ("0.5", "0.33", "0.67", "0.80"),
        "Random": ("0.5", "1", "1", "0.72"),
        "DOR-WC": ("0.5", "0.33", "0.67", "0.80"),
        "Complement": ("0.5", "0.67", "0.67", "0.57"),
        "Nearest-Neighbor": ("0.5", "1.33", "1.33", "0.75"),
    },
    "5x5": {
        "Worst-case": ("0.5", "0.3", "0.48", "0.55"),
        "Average-case": ("0.5", "0.441", "0.529", "0.632"),
        "Transpose": ("0.5", "0.3", "0.6", "0.75"),
        "Random": ("0.5", "1", "1", "0.685"),
        "DOR-WC": ("0.5", "0.3", "0.6", "0.75"),
        "Complement": ("0.5", "0.6", "0.6", "0.55"),
        "Nearest-Neighbor": ("0.5", "2.4", "2.4", "1.17"),
    },
    "7x7": {
        "Worst-case": ("0.5", "0.286", "0.49", "0.53"),
        "Average-case": ("0.5", "0.461", "0.550", "0.640"),
        "Transpose": ("0.5", "0.286", "0.57", "0.73"),
        "Random": ("0.5", "1", "1", "0.686"),
        "DOR-WC": ("0.5", "0.286", "0.57", "0.73"),
        "Complement": ("0.5", "0.57", "0.57", "0.533"),
        "Nearest-Neighbor": ("0.5", "3.4", "3.4", "1.32"),
    },
}

#: Table IV.
EVEN: dict[str, Rows] = {
    "4x4": {
        "Worst-case": ("0.5", "0.33", "0.5", "0.5"),
        "Average-case": ("0.5", "0.48", "0.54", "0.64"),
        "Transpose": ("0.5", "0.33", "0.67", "0.80"),
        "Random": ("0.5", "1", "1", "0.7"),
        "DOR-WC": ("0.5", "0.33", "0.67", "0.80"),
        "Complement": ("0.5", "0.5", "0.5", "0.5"),
        "Nearest-Neighbor": ("0.5", "2", "2", "1.1"),
    },
    "6x6": {
        "Worst-case": ("0.5", "0.3", "0.5", "0.5"),
        "Average-case": ("0.5", "0.47", "0.556", "0.65"),
        "Transpose": ("0.5", "0.3", "0.6", "0.75"),
        "Random": ("0.5", "1", "1", "0.682"),
        "DOR-WC": ("0.5", "0.3", "0.6", "0.75"),
        "Complement": ("0.5", "0.5", "0.5", "0.5"),
        "Nearest-Neighbor": ("0.5", "3", "3", "1.27"),
    },
    "8x8": {
        "Worst-case": ("0.5", "0.286", "0.5", "0.5"),
        "Average-case": ("0.5", "0.479", "0.57", "0.65"),
        "Transpose": ("0.5", "0.286", "0.57", "0.73"),
        "Random": ("0.5", "1", "1", "0.67"),
        "DOR-WC": ("0.5", "0.286", "0.57", "0.73"),
        "Complement": ("0.5", "0.5", "0.5", "0.5"),
        "Nearest-Neighbor": ("0.5", "4", "4", "1.43"),
    },
}

_RANDOM = (
    "Under uniform traffic XYX loads an X channel with (2k-1)/k times what DOR puts there and a Y channel with as much "
    "as DOR, YXY the other way round: U2TURN has (3k-1)/(2k) times DOR's load everywhere, and 2k/(3k-1) of capacity."
)
_NEAREST = (
    "The nodes beside a corner take more than one packet per cycle, so that Valiant's second phase exceeds that of a "
    "permutation; with column sums of one the row would be 0.5."
)
_ERRATA = {
    **{(size, "Random", "U2TURN"): _RANDOM for size in ODD | EVEN},
    **{(size, "Nearest-Neighbor", "VAL"): _NEAREST for size in ODD | EVEN},
    ("8x8", "Nearest-Neighbor", "U2TURN"): "Exactly 192/139; the same traffic gives the print at the other five sizes.",
    **{
        ("3x3", "Average-case", name): "The average of all 9! permutations is this number exactly."
        for name in COLUMNS[1:]
    },
}
_AVERAGE = (
    "The paper does not say what a random traffic matrix is. Uniform random permutations come nearest to its averages "
    "on all sizes, but not within the error of a million of them."
)
_OPEN = {
    ("5x5", "DOR"): _AVERAGE,
    ("5x5", "O1TURN"): _AVERAGE,
    ("5x5", "U2TURN"): _AVERAGE,
    ("7x7", "O1TURN"): _AVERAGE,
    ("8x8", "DOR"): _AVERAGE,
}


def _entries(tables: dict[str, Rows]) -> dict[str, Printed]:
    return {
        f"{size}, {row}, {name}": Printed(
            text,
            Fraction(1, 2) if name == "VAL" else None,  # equation 5: exactly
            erratum=_ERRATA.get((size, row, name), ""),
            open=_OPEN.get((size, name), "") if row == "Average-case" else "",
        )
        for size, rows in tables.items()
        for row, texts in rows.items()
        for name, text in zip(COLUMNS, texts, strict=True)
    }


TABLE3 = _entries(ODD)
TABLE4 = _entries(EVEN)

_ONCE = {"even": "{k}/2", "odd": "({k}-1)/2"}
_TWICE = {"even": "{k}/2", "odd": "({k}²-1)/(2{k})"}

TABLE1 = {
    f"{x} kx, {y} ky: L{dim} of {routing}": Printed(
        (_TWICE if routing == f"{dim}{other}{dim}".upper() else _ONCE)[x if dim == "x" else y].format(k=f"k{dim}")
    )
    for x, y in (("even", "even"), ("even", "odd"), ("odd", "even"), ("odd", "odd"))
    for routing in ("XYX", "YXY")
    for dim, other in (("x", "y"), ("y", "x"))
}

CLAIMS = {
    entry.format(word): Printed(texts[word])
    for word in ("odd", "even")
    for entry, texts in {
        "1, {} k: line": {"odd": "(k-1)/2", "even": "k/2"},
        "1, {} k: tornado is a worst case": {"odd": "Tornado", "even": "Tornado"},
        "2, {} k: XYX in X": {"odd": "(k²-1)/(2k)", "even": "k/2"},
        "2, {} k: XYX in Y": {"odd": "(k-1)/2", "even": "k/2"},
        "2, {} k: XYX, of capacity": {"odd": "half of network capacity", "even": "half of network capacity"},
        "3, {} k: YXY in X": {"odd": "(k-1)/2", "even": "k/2"},
        "3, {} k: YXY in Y": {"odd": "(k²-1)/(2k)", "even": "k/2"},
        "3, {} k: U2TURN in X": {"odd": "(2k²-k-1)/(4k)", "even": "k/2"},
        "3, {} k: U2TURN in Y": {"odd": "(2k²-k-1)/(4k)", "even": "k/2"},
        "3, {} k: U2TURN, of capacity": {"odd": "(k+1)/(2k+1)", "even": "0.5"},
    }.items()
}

_SEGMENT = (
    "The Y segment is there only if y1 and y2 differ, and given that it is longer on average: over all pairs its mean "
    "is that of any Y offset. The two X segments have the mean of any X offset each, with probability (k-1)/k, and one "
    "of them the rest of the time: (k²-1)/(3k) times 1 + (2k-1)/k."
)

EQUATIONS = {
    "(1) even k: load of uniform traffic": Printed("k/4"),
    "(1) odd k: load of uniform traffic": Printed("(k²-1)/(4k)"),
    "(2) U2TURN, 3x3: worst case, normalized": Printed("0.57"),
    "(3) U2TURN, k = 3: mean hops": Printed("(3k-2)/k (k²-1)/(3k)", Fraction(56, 27), erratum=_SEGMENT),
    "(3) U2TURN, k = 8: mean hops": Printed("(3k-2)/k (k²-1)/(3k)", Fraction(22 * 63, 8 * 24), erratum=_SEGMENT),
    "(3) U2TURN, k = 3: penalty over DOR": Printed("(3k-2)/(2k)", Fraction(7, 6), erratum=_SEGMENT),
    "(3) U2TURN, k = 2 to 13: largest penalty over DOR": Printed("less than 1.5", AtMost(Fraction(3, 2))),
    "(3) DOR: mean hops": Printed("2 (k²-1)/(3k)"),
    "(3) VAL: penalty over DOR": Printed("2"),
    "(4) load of uniform traffic": Printed("kmax/4, (kmax²-1)/(4 kmax)"),
    "(5) VAL": Printed("1/2"),
    "(6) DOR, both orders: load": Printed(">= kmax/2, (1+kmax)/2"),
    "(6) DOR, kx - ky = 1: load": Printed("kmax-1"),
    "(7) DOR": Printed("<= 1/2, (kmax-1)/(2 kmax)"),
    "(8) O1TURN: load": Printed(">= kmax/2"),
    "(9) O1TURN": Printed("<= 1/2, (kmax²-1)/(2 kmax²)"),
    "(10) YXY: load": Printed("kmax/2, (kmax-1)/2"),
    "(11) YXY": Printed("1/2, (kmax+1)/(2 kmax)"),
    "(11) U2TURN": Printed("1/2, (kmax+1)/(2 kmax)"),
    "(12) U2TURN-A: load": Printed("kmax/2, (kmax-1)(2kmax+1)/(4kmax)"),
    "(13) U2TURN-A": Printed("1/2, (kmax+1)/(2 kmax+1)"),
}


def bound_of_dor(k: int) -> Fraction:
    """Evaluate equation 7 at kmax = k."""
    return Fraction(k - 1, 2 * k) if k % 2 else Fraction(1, 2)


def bound_of_o1turn(k: int) -> Fraction:
    """Evaluate equation 9."""
    return Fraction(k * k - 1, 2 * k * k) if k % 2 else Fraction(1, 2)


def of_u2turn(k: int) -> Fraction:
    """Evaluate equation 11."""
    return Fraction(k + 1, 2 * k) if k % 2 else Fraction(1, 2)


def of_u2turn_a(k: int) -> Fraction:
    """Evaluate equation 13."""
    return Fraction(k + 1, 2 * k + 1) if k % 2 else Fraction(1, 2)


FIGURE2 = {
    f"k = {k}, {name}": printed
    for k in range(3, 14, 2)
    for name, printed in {
        "VAL": Printed("half of network capacity", Fraction(1, 2)),
        "DOR": Printed("lowest curve", AtMost(bound_of_o1turn(k))),
        "O1TURN": Printed("within a factor of 1/k² of half", bound_of_o1turn(k)),
        "U2TURN": Printed("(k+1)/(2k+1)", of_u2turn_a(k)),
        "Optimal Routing": Printed("the same as U2TURN"),
    }.items()
}

FIGURE3 = {
    "DOR-XY, 7x6": Printed("(1+kmax)/2", Fraction(4)),
    "DOR-YX, 7x6": Printed("(1+kmax)/2", Fraction(4)),
    "DOR-XY, 8x7": Printed("kmax/2", Fraction(4)),
    "DOR-YX, 8x7": Printed("kmax/2", Fraction(4)),
    "DOR-XY, meshes with the bound": Printed("kmax/2, (1+kmax)/2"),
    "DOR-YX, meshes with the bound": Printed("kmax/2, (1+kmax)/2"),
}

FIGURE4 = {
    "(a) DOR-XY, 7x6": Printed("kmax-1"),
    "(b) DOR-YX, 6x5": Printed("kmax-1"),
    "meshes kx - ky = 1, both orders": Printed("kmax-1"),
}

FIGURE5 = {
    "(a) O1TURN, 7x6": Printed("3.5"),
    "(b) O1TURN, 6x5": Printed("3"),
    "meshes with kmax/2": Printed("kmax/2"),
}

FIGURE6_MESHES = tuple((kx, ky) for kx in range(3, 8) for ky in range(2, kx))

FIGURE6 = {
    f"{kx}x{ky}, {name}": printed
    for kx, ky in FIGURE6_MESHES
    for name, printed in {
        "VAL": Printed("1/2", Fraction(1, 2)),
        "DOR": Printed(f"<= {bound_of_dor(kx)}", AtMost(bound_of_dor(kx))),
        "O1TURN": Printed(f"<= {bound_of_o1turn(kx)}", AtMost(bound_of_o1turn(kx))),
        "U2TURN": Printed(str(of_u2turn(kx)), of_u2turn(kx)),
        "U2TURN-A": Printed(str(of_u2turn_a(kx)), of_u2turn_a(kx)),
    }.items()
}

_SIZES = (
    "The paper says neither which meshes these are nor how often XYX and YXY are drawn. The gains of U2TURN fit "
    "kx - ky = 1 best; no set of meshes gives those of U2TURN-A together with them."
)

FIGURE7 = {
    entry: Printed(text, open=_SIZES)
    for entry, text in {
        "U2TURN-A over DOR": "42.6%",
        "U2TURN-A over O1TURN": "20.8%",
        "U2TURN-A over VAL": "41.5%",
        "U2TURN over DOR": "22.9%",
        "U2TURN over O1TURN": "8.5%",
        "U2TURN over VAL": "18.8%",
    }.items()
}

_HEADLINE = "It rests on the printed averages, some of which are not those of random permutations."
_EQUAL = "Not larger where kx is odd and ky = kx-1: both are (kx-1)/2 there, so that it must read Lx >= Ly."

STATEMENTS = {
    f"U2TURN over {name}, from {which} averages": Printed(text, open="" if which == "the printed" else _HEADLINE)
    for name, text in (("VAL", "27.2%"), ("DOR", "39.7%"), ("O1TURN", "18.8%"))
    for which in ("the printed", "computed")
} | {
    "XYX: meshes kx > ky with Lx > Ly": Printed("all the cases"),
    "YXY: meshes kx > ky with Lx > Ly": Printed("all the cases", erratum=_EQUAL),
    "U2TURN: free of deadlock": Printed("two virtual channels"),
    "U2TURN-A: free of deadlock": Printed("two virtual channels"),
}
