"""What the paper prints: numbers, formulas and words, nothing computed."""

from __future__ import annotations

from fractions import Fraction

from obliv.papers.paper import AtLeast, AtMost, Printed, Said
from obliv.results.numbers import Bounds

__all__ = [
    "ASYMMETRIC_EQUATIONS",
    "AVERAGES",
    "AVERAGE_MESHES",
    "CLAIMS",
    "COLUMNS",
    "DEGENERATE",
    "EQUATIONS",
    "EVEN",
    "FIGURE2",
    "FIGURE3",
    "FIGURE4",
    "FIGURE5",
    "FIGURE6",
    "FIGURE6_MESHES",
    "FIGURE7",
    "MILLION",
    "ODD",
    "SAMPLED",
    "STATEMENTS",
    "TABLE1",
    "TABLE3",
    "TABLE4",
    "bound_of_dor",
    "bound_of_o1turn",
    "exchanged",
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
    'Table II: "Destination node chosen at uniform random". How it was sampled is not printed. In expectation U2TURN '
    "has (3k-1)/(2k) times DOR's load on every channel, 2k/(3k-1) of capacity: XYX loads an X channel with (2k-1)/k "
    "times what DOR puts there and a Y channel with as much as DOR, YXY the other way round. No formula that falls "
    "with k gives 0.682 at k = 6 and 0.686 at k = 7."
)
#: What speaks against readings that fit some entries.
DEGENERATE = (
    'Against the reading without the short cut: III-A says "There is a degenerate case. When y1 = y2, it just needs '
    'one-segment routing", and Nearest-Neighbor is printed with that case at every size.'
)
SAMPLED = (
    "Drawn destinations: the number of packets is ours. DOR has 0.90 to 0.93 then, which is 1 only as rounded to a "
    "whole number."
)
MILLION = 'Against a mean of some hundred: Table II says "Average throughput over a million random traffic matrix".'
_NEAREST = (
    'Table II: "Packets sent to nodes one hop away with equal probability", which gives the print at the five other '
    "sizes, and for DOR at all six. At k = 8 the channel (3,1) -> (4,1) has load (13/12 + 31/24 + 1/4)/2 from XYX "
    "(packets that leave row 1, that come to row 1, and of its own row) and 13/96 from YXY, 139/96 in all; the "
    "capacity load is 2, and 2/(139/96) = 192/139 = 1.381."
)
_STAGES = 'IV-A says "the two-stage minimal routing" of VAL and not which one; here it is XY in both stages.'
_AVERAGE = (
    'The paper finds averages "by averaging the throughput over a large set of random traffic matrix T (e.g. |T| = '
    '1000000)" and does not define the random matrix. Here they are reciprocals of mean loads of permutations.'
)
#: The averages by another program, as far as its samples tell; at 3x3 from all permutations.
_AVERAGES: dict[str, tuple[Said, Said, Said]] = {
    "3x3": (Fraction(241920, 590783), Fraction(6720, 14003), Fraction(725760, 1190837)),
    **{
        size: tuple(Bounds(Fraction(mean) - Fraction(1, 1000), Fraction(mean) + Fraction(1, 1000)) for mean in means)  # type: ignore[misc]
        for size, means in {
            "4x4": ("0.4778", "0.5429", "0.6388"),
            "5x5": ("0.4419", "0.5262", "0.6287"),
            "6x6": ("0.4713", "0.5557", "0.6465"),
            "7x7": ("0.4615", "0.5507", "0.6396"),
            "8x8": ("0.4775", "0.5687", "0.6510"),
        }.items()
    },
}
_ERRATA = {("8x8", "Nearest-Neighbor", "U2TURN"): _NEAREST}
#: Exactly, though printed with few digits: equation 5, and the traffic that defines capacity.
_EXACT = {
    **{(size, "Worst-case", "VAL"): Fraction(1, 2) for size in ODD | EVEN},
    **{(size, "Average-case", "VAL"): Fraction(1, 2) for size in ODD | EVEN},
    **{(size, "Random", name): Fraction(1) for size in ODD | EVEN for name in ("DOR", "O1TURN")},
}
_RIGHT: dict[tuple[str, str, str], Said] = {
    **{
        (size, "Average-case", name): right
        for size, means in _AVERAGES.items()
        for name, right in zip(COLUMNS[1:], means, strict=True)
    },
    ("8x8", "Nearest-Neighbor", "U2TURN"): Fraction(192, 139),
    ("3x3", "Nearest-Neighbor", "VAL"): Fraction(24, 55),
    **{(f"{k}x{k}", "Random", "U2TURN"): Fraction(2 * k, 3 * k - 1) for k in range(3, 9)},
}
_OPEN = {
    **{(size, "Random", "U2TURN"): _RANDOM for size in ODD | EVEN},
    ("3x3", "Nearest-Neighbor", "VAL"): _STAGES,
    **{(size, "Average-case", name): _AVERAGE for size in ODD | EVEN for name in COLUMNS[1:]},
}


def _entries(tables: dict[str, Rows]) -> dict[str, Printed]:
    return {
        f"{size}, {row}, {name}": Printed(
            text,
            _EXACT.get((size, row, name)),
            erratum=_ERRATA.get((size, row, name), ""),
            open=_OPEN.get((size, row, name), ""),
            right=_RIGHT.get((size, row, name)),
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
        "1, {} k: line, throughput": {
            "odd": "2/(k-1), which is higher than half of network capacity",
            "even": "2/k, which is optimal, namely, half of network capacity",
        },
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

_HOPS = "(k-1)/k × 3((k²-1)/(3k)) + 1/k × (k²-1)/(3k) = (3k-2)/k ((k²-1)/(3k))"
_SEGMENT = (
    '"However, as mentioned in Section III-A, there is a degenerated case when y1 = y2, which has a probability of '
    '1/k. In this degenerated case, there is only one minimal-length routing segment." But (k²-1)/(3k) is the mean of '
    "|y1-y2| over all pairs, y1 = y2 included, and given y1 ≠ y2 the Y segment is longer: its mean over all pairs is "
    "(k²-1)/(3k), without a factor. The two X segments have that mean each, with probability (k-1)/k, and otherwise "
    "there is one: (k²-1)/(3k) (1 + (2k-1)/k) = (3k-1)/k ((k²-1)/(3k)). By hand at k = 2, XYX from (0,0): 0 hops to "
    "(0,0), 1 to (1,0), 1 or 3 to (0,1), 2 to (1,1), 5/4 on average, and YXY alike; the print gives 1, the mean of "
    "DOR. The penalty over DOR is (3k-1)/(2k)."
)

#: Equations 4 to 13 for kx > ky.
ASYMMETRIC_EQUATIONS = {
    "(4) load of uniform traffic": "kmax/4, (kmax²-1)/(4 kmax)",
    "(5) VAL": "1/2",
    "(6) DOR, both orders: load": ">= kmax/2, (1+kmax)/2",
    "(6) DOR, kx - ky = 1: load": "kmax-1",
    "(7) DOR": "<= 1/2, (kmax-1)/(2 kmax)",
    "(8) O1TURN: load": ">= kmax/2",
    "(9) O1TURN": "<= 1/2, (kmax²-1)/(2 kmax²)",
    "(10) YXY: load": "kmax/2, (kmax-1)/2",
    "(11) YXY": "1/2, (kmax+1)/(2 kmax)",
    "(11) U2TURN": "1/2, (kmax+1)/(2 kmax)",
    "(12) U2TURN-A: load": "kmax/2, (kmax-1)(2kmax+1)/(4kmax)",
    "(13) U2TURN-A": "1/2, (kmax+1)/(2 kmax+1)",
}


def exchanged(entry: str) -> str:
    """Return the entry of an equation for kx < ky: "these algorithms just need to exchange the operations"."""
    return entry.replace("YXY", "XYX").replace("kx - ky", "ky - kx") + ", kx < ky"


EQUATIONS = {
    "(1) even k: load of uniform traffic": Printed("k/4"),
    "(1) odd k: load of uniform traffic": Printed("(k²-1)/(4k)"),
    "(2) U2TURN, 3x3: worst case, normalized": Printed("0.57"),
    "(3) U2TURN, k = 2: mean hops": Printed(_HOPS, Fraction(1), erratum=_SEGMENT, right=Fraction(5, 4)),
    "(3) U2TURN, k = 8: mean hops": Printed(
        _HOPS, Fraction(22 * 63, 8 * 24), erratum=_SEGMENT, right=Fraction(483, 64)
    ),
    "(3) U2TURN, k = 2: penalty over DOR": Printed("(3k-2)/(2k)", Fraction(1), erratum=_SEGMENT, right=Fraction(5, 4)),
    "(3) U2TURN, k = 2 to 13: largest penalty over DOR": Printed("less than 1.5", AtMost(Fraction(3, 2))),
    "(3) U2TURN, k = 8: mean hops over those of O1TURN and DOR": Printed(
        "has 1.5X average hop count when compared with O1TURN and DOR",
        "1.5",
        open='"Approximately 1.5x", as the abstract and the conclusion say; the factor is (3k-1)/(2k).',
        right=Fraction(23, 16),
    ),
    "(3) DOR: mean hops": Printed("2 (k²-1)/(3k)"),
    "(3) VAL: penalty over DOR": Printed("2"),
} | {name(entry): Printed(text) for name in (str, exchanged) for entry, text in ASYMMETRIC_EQUATIONS.items()}


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


#: The points of Figure 2 that Table III prints, and formulas of the text.
FIGURE2 = {
    f"k = {k}, {name}": printed
    for k in range(3, 14, 2)
    for name, printed in {
        "VAL": Printed("half of network capacity", Fraction(1, 2)),
        "DOR": Printed(ODD[f"{k}x{k}"]["Worst-case"][1])
        if f"{k}x{k}" in ODD
        else Printed("", beyond="Table III ends at k = 7. The load of DOR is k-1.", right=Fraction(k + 1, 4 * k)),
        "O1TURN": Printed("within a factor of 1/k² of half of network capacity", bound_of_o1turn(k)),
        "U2TURN": Printed("(k+1)/(2k+1)", of_u2turn_a(k)),
        "Optimal Routing": Printed(
            "U2TURN achieves the same optimal worst-case throughput as the optimal routing", of_u2turn_a(k)
        ),
        "2TURN": Printed(
            "the optimal routing (including 2TURN) ... U2TURN achieves the same optimal worst-case throughput",
            of_u2turn_a(k),
        ),
    }.items()
}

FIGURE3 = {
    "DOR-XY, 7x6": Printed("(1+kmax)/2", Fraction(4)),
    "DOR-YX, 7x6": Printed("(1+kmax)/2", Fraction(4)),
    "DOR-XY, 8x7": Printed("kmax/2", Fraction(4)),
    "DOR-YX, 8x7": Printed("kmax/2", Fraction(4)),
    "DOR-XY, 8x7, left half to right half": Printed(
        "the left half part nodes are sources and the right half part nodes are destinations", Fraction(4)
    ),
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

#: Equations 5, 7, 9, 11 and 13 as printed; the figure's own numbers are not in the text.
FIGURE6 = {
    f"{kx}x{ky}, {name}": printed
    for kx, ky in FIGURE6_MESHES
    for name, printed in {
        "VAL": Printed("1/2", Fraction(1, 2)),
        "DOR": Printed("<= (kmax-1)/(2kmax)" if kx % 2 else "<= 1/2", AtMost(bound_of_dor(kx))),
        "O1TURN": Printed("<= (kmax²-1)/(2kmax²)" if kx % 2 else "<= 1/2", AtMost(bound_of_o1turn(kx))),
        "U2TURN": Printed("(kmax+1)/(2kmax)" if kx % 2 else "1/2", of_u2turn(kx)),
        "U2TURN-A": Printed("(kmax+1)/(2kmax+1)" if kx % 2 else "1/2", of_u2turn_a(kx)),
    }.items()
}

_SIZES = (
    "The text does not name the meshes of Figure 7, our copy of the paper has no axis labels, and the random matrices "
    "are not defined."
)

FIGURE7 = {
    entry: Printed(text, open=_SIZES, right=Bounds(Fraction(gain - 10, 1000), Fraction(gain + 10, 1000)))
    for entry, text, gain in (  # in thousandths, on 3x2 to 7x6
        ("U2TURN-A over DOR", "42.6%", 304),
        ("U2TURN-A over O1TURN", "20.8%", 137),
        ("U2TURN-A over VAL", "41.5%", 324),
        ("U2TURN over DOR", "22.9%", 267),
        ("U2TURN over O1TURN", "8.5%", 107),
        ("U2TURN over VAL", "18.8%", 289),
    )
}

AVERAGE_MESHES = tuple((kx, ky) for kx in range(3, 9) for ky in range(2, kx))
_OUTPERFORM = (
    "U2TURN and U2TURN-A outperform existing algorithms VAL, DOR and O1TURN in both worst-case and average throughput "
    "for asymmetric meshes"
)

AVERAGES = {
    "meshes on which U2TURN-A is above U2TURN": Printed(
        "Compared with U2TURN-A, U2TURN achieves better worst-case throughput but worse average throughput",
        undecided=_SIZES,
        right=Fraction(4),
    ),
    "meshes on which U2TURN is above VAL, DOR and O1TURN": Printed(_OUTPERFORM, undecided=_SIZES, right=Fraction(19)),
    "meshes on which U2TURN-A is above VAL, DOR and O1TURN": Printed(_OUTPERFORM, undecided=_SIZES, right=Fraction(21)),
    "odd k: chance that nine averages of Table III are as far off, were they means over a million": Printed(
        "averaging the throughput over a large set of random traffic matrix T (e.g. |T| = 1000000)",
        AtLeast(Fraction(27, 10_000)),  # three standard deviations
        open="The random matrix is not defined. Means over a million permutations cannot be as far off.",
        right=AtMost(Fraction(1, 10**9)),
    ),
}

_HEADLINE = "The random matrices are not defined; these are averages over random permutations."
_EQUAL = (
    '"For meshes kx > ky, the maximal channel load is decided by Lx because Lx > Ly for all the cases in Table I." '
    "Table I itself has Lx = (kx-1)/2 and Ly = ky/2 for YXY with kx odd and ky even, which are equal where ky = kx-1: "
    "on 3x2 both are 1. One sign, which can be a slip of our copy: Lx >= Ly holds, and so does the conclusion."
)
_COMPLEMENT = (
    "Table IV prints 0.5 in all four columns of Complement, as computed. The sentence does not say that it is about "
    "every size; it holds for odd k, and for the mean over all six sizes, of which the paragraph's averages are."
)
_ONLY_ODD = (
    "With an even radix (of the longer side) the best of the compared values are equal, 1/2, as equations 5, 9, 11 and "
    "13 and Table IV have it; better is meant of odd radices, or as no worse."
)
_ONE_HALF = "U2TURN and U2TURN-A achieve best worst-case throughput of 1/2 network capacity"
_BETWEEN = "For Complement and Nearest-Neighbor traffic, U2TURN outperforms VAL, but does worse than DOR and O1TURN"

STATEMENTS = {
    f"U2TURN over {name}, from {which} averages": Printed(
        text,
        open="" if which == "the printed" else _HEADLINE,
        right=None if which == "the printed" else Bounds(Fraction(gain - 3, 1000), Fraction(gain + 3, 1000)),
    )
    for name, text, gain in (("VAL", "27.2%", 271), ("DOR", "39.7%", 395), ("O1TURN", "18.8%", 185))
    for which in ("the printed", "computed")
} | {
    "XYX: meshes kx > ky with Lx > Ly": Printed("Lx > Ly for all the cases in Table I"),
    "YXY: meshes kx > ky with Lx > Ly": Printed(
        "Lx > Ly for all the cases in Table I", open=_EQUAL, right=Fraction(18)
    ),
    "XYX and YXY together: all paths of at most 2 turns": Printed(
        "XYX-Routing and YXY-Routing cover all routing paths between the source and destination with at most 2 turns"
    ),
    "O1TURN: its paths are among those of XYX and YXY": Printed("O1TURN routes are a subset of U2TURN routes"),
    "4x4, XYX: share of pairs with a single path": Printed(
        "there is a degenerated case when y1 = y2, which has a probability of 1/k"
    ),
    "tori, k = 3 to 6: IVAL as VAL in the worst case": Printed(
        "IVAL [9] has only been shown to achieve the same worst-case throughput as VAL for torus networks"
    ),
    "kx < ky: XYX as YXY on the mesh with kx and ky exchanged": Printed(
        "For meshes ky > kx, XYX-routing achieves the same worst-case throughput with YXY-routing in meshes kx > ky"
    ),
    "kx > ky, worst case: U2TURN and U2TURN-A above VAL, DOR and O1TURN": Printed(
        "our U2TURN and U2TURN-A algorithms achieve better worst-case throughput than VAL, DOR and O1TURN in "
        "asymmetric meshes",
        open=_ONLY_ODD,
        right=Fraction(9),
    ),
    "kx > ky, worst case: U2TURN above U2TURN-A": Printed(
        "Compared with U2TURN-A, U2TURN achieves better worst-case throughput but worse average throughput",
        open=_ONLY_ODD,
        right=Fraction(9),
    ),
    "even kmax, worst case: U2TURN and U2TURN-A at 1/2, not below VAL, DOR and O1TURN": Printed(_ONE_HALF),
    "k = 3 to 8, worst case: U2TURN above VAL, DOR and O1TURN": Printed(
        "Thus, it outperforms existing algorithms such as VAL, DOR and O1TURN in worst-case throughput",
        open=_ONLY_ODD,
        right=Fraction(3),
    ),
    "odd k, worst case: U2TURN above VAL, DOR and O1TURN": Printed(
        "U2TURN outperforms all other routing algorithms in worst-case throughput for odd radix mesh networks"
    ),
    "even k, worst case: U2TURN at 1/2, not below VAL, DOR and O1TURN": Printed(
        "U2TURN achieves the best worst-case throughput, namely, half of network capacity"
    ),
    "Transpose and DOR-WC: U2TURN above VAL, DOR and O1TURN": Printed(
        "U2TURN also performs very well in both odd and even radix networks under adversarial traffic patterns, "
        "namely, Transpose and DOR-WC"
    ),
    "Nearest-Neighbor: U2TURN above VAL, below DOR and O1TURN": Printed(_BETWEEN),
    "Complement, odd k: U2TURN above VAL, below DOR and O1TURN": Printed(_BETWEEN),
    "Complement, even k: U2TURN above VAL, below DOR and O1TURN": Printed(
        _BETWEEN, open=_COMPLEMENT, right=Fraction(0)
    ),
    "Random: DOR above U2TURN, below it in the worst case": Printed(
        "For ideal uniformly Random traffic, although DOR achieves better throughput than U2TURN, DOR is significantly "
        "worse in the average and worse case throughput"
    ),
    "U2TURN: free of deadlock": Printed("two virtual channels"),
    "U2TURN-A: free of deadlock": Printed("two virtual channels"),
}
