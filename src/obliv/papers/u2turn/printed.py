"""What the paper prints as formulas; its numbers and words are in printed.toml."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from obliv import Bounds
from obliv.papers.paper import AtMost, Printed, Said, print_of

COLUMNS = ("VAL", "DOR", "O1TURN", "U2TURN")
ODD, EVEN = ("3x3", "5x5", "7x7"), ("4x4", "6x6", "8x8")  # the sizes of Tables III and IV
SIZES = ODD + EVEN

PRINT = print_of("u2turn")
REMARKS = PRINT.remarks


def averages(over: str) -> list[str]:
    """Return the printed averages of a routing, of Tables III and IV."""
    return [TABLES34[f"{size}, Average-case, {over}"].text for size in SIZES]


#: The averages by another program, as far as its samples tell; at 3x3 from all permutations.
_AVERAGES: dict[str, tuple[Said, ...]] = {
    "3x3": (Fraction(241920, 590783), Fraction(6720, 14003), Fraction(725760, 1190837)),
    **{
        size: tuple(Bounds(Fraction(mean) - Fraction(1, 1000), Fraction(mean) + Fraction(1, 1000)) for mean in means)
        for size, means in {
            "4x4": ("0.4778", "0.5429", "0.6388"),
            "5x5": ("0.4419", "0.5262", "0.6287"),
            "6x6": ("0.4713", "0.5557", "0.6465"),
            "7x7": ("0.4615", "0.5507", "0.6396"),
            "8x8": ("0.4775", "0.5687", "0.6510"),
        }.items()
    },
}


def _with_remarks(entry: str, printed: Printed) -> Printed:
    """Add the exact numbers and the remarks to an entry of Tables III and IV."""
    size, row, name = entry.split(", ")
    k = int(size[0])
    if row in ("Worst-case", "Average-case") and name == "VAL":  # equation 5
        return replace(printed, says=Fraction(1, 2))
    if row == "Average-case":
        right = dict(zip(COLUMNS[1:], _AVERAGES[size], strict=True))[name]
        return replace(printed, open=REMARKS["average"], right=right)
    if row == "Random" and name in ("DOR", "O1TURN"):  # the traffic that defines capacity
        return replace(printed, says=Fraction(1))
    if row == "Random" and name == "U2TURN":
        return replace(printed, open=REMARKS["random"], right=Fraction(2 * k, 3 * k - 1))
    if entry == "8x8, Nearest-Neighbor, U2TURN":
        return replace(printed, erratum=REMARKS["nearest"], right=Fraction(192, 139))
    if entry == "3x3, Nearest-Neighbor, VAL":
        return replace(printed, open=REMARKS["stages"], right=Fraction(24, 55))
    return printed


TABLE3, TABLE4 = (
    {entry: _with_remarks(entry, printed) for entry, printed in PRINT.rows[table].items()}
    for table in ("table3", "table4")
)
TABLES34 = TABLE3 | TABLE4

#: Equations 4 to 13 for kx > ky.
ASYMMETRIC_EQUATIONS: dict[str, str] = PRINT.data["asymmetric"]


def exchanged(entry: str) -> str:
    """Return the entry of an equation for kx < ky: "these algorithms just need to exchange the operations"."""
    return entry.replace("YXY", "XYX").replace("kx - ky", "ky - kx") + ", kx < ky"


EQUATIONS = {name(entry): Printed(text) for name in (str, exchanged) for entry, text in ASYMMETRIC_EQUATIONS.items()}


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
        "DOR": TABLE3[f"{k}x{k}, Worst-case, DOR"]
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

AVERAGE_MESHES = tuple((kx, ky) for kx in range(3, 9) for ky in range(2, kx))
