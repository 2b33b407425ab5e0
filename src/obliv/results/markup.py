"""Results as tables in Markdown and LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from obliv._util.text import printable
from obliv.results.base import Result
from obliv.results.tables import cell_text

__all__ = ["grid_of", "markup", "to_latex", "to_markdown"]

#: What stands in a cell for a number: exact with its decimals, estimated with its error, or missing.
_POWER = re.compile(r"([\d.]+)e([+-]?\d+)")
_NUMBER = re.compile(r"(≈ )?-?[\d./]+(e[+-]?\d+)?( = -?[\d.]+(e[+-]?\d+)?)?( ± <?[\d.]+(e-?\d+)?)?")

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "’": "'",
    "→": r"$\to$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


_SYMBOLS = {
    "≤": "le", "≥": "ge", "≠": "ne", "±": "pm", "≈": "approx", "·": "cdot", "…": "ldots", "∞": "infty", "∈": "in",
    "√": "surd", "Σ": "sum", "⌈": "lceil", "⌉": "rceil", "⌊": "lfloor", "⌋": "rfloor",
    "∪": "cup", "∩": "cap", "←": "gets",
}  # fmt: skip
#: Greek capitals that LaTeX writes with a Latin letter.
_LATIN = dict(
    zip(["Alpha", "Beta", "Epsilon", "Zeta", "Eta", "Iota", "Kappa", "Mu", "Nu", "Rho", "Tau", "Chi"], "ABEZHIKMNPTX")
)


_LINE = 68  # letters, about, of a line on a page of LaTeX's own classes
_LONG = 24  # letters of a cell that may be broken


def markup(result: Result, form: str) -> str:
    """Return a result as a table in ``markdown`` or ``latex``, followed by its caption; in LaTeX as a comment."""
    caption = printable(result.caption)
    if form == "latex" and (cells := getattr(result, "latex_cells", None)):  # tables between which a page can end
        table = "\n".join(f"% {printable(name)}\n{to_latex(grid)}" for name, grid in cells().items())
    else:
        table = to_latex(grid_of(result)) if form == "latex" else to_markdown(grid_of(result))
    if not caption:
        return table
    return table + (f"% {caption}\n" if form == "latex" else "\n" + re.sub(r"([*_`<|])", r"\\\1", caption) + "\n")


def grid_of(result: Result) -> list[list[str]]:
    """Return a result as a table of text, its heading first.

    A result with rows gives these, a comparison its table, any other one its figures with their names.
    """
    if cells := getattr(result, "table_cells", None):
        return [list(map(str, row)) for row in cells()]
    if not result.table and type(result).rows is Result.rows:
        return [["figure", "value"], *([name, text] for name, text in result.figures())]
    rows = list(result.rows())
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(result.columns)
    return [[name.replace("_", " ") for name in names], *([cell_text(row.get(name)) for name in names] for row in rows)]


def to_markdown(grid: Sequence[Sequence[str]]) -> str:
    """Return a table of text, its heading first, in Markdown; columns of numbers are aligned to the right.

    Examples
    --------
    >>> print(to_markdown([["routing", "load"], ["dor", "7/2 = 3.5"]]), end="")
    | routing | load |
    |---|---:|
    | dor | 7/2 = 3.5 |
    """
    head, *body = [[printable(cell).replace("|", "\\|") for cell in row] for row in grid]
    rule = ["---:" if right else "---" for right in _numeric(grid)]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in body)]
    return "\n".join(lines) + "\n"


def to_latex(grid: Sequence[Sequence[str]]) -> str:
    r"""Return a table of text, its heading first, as a LaTeX tabular; it needs no packages.

    Columns of long texts are paragraphs that share what the others leave of the line.

    Examples
    --------
    >>> print(to_latex([["routing", "load"], ["my_own", "7/2 = 3.5"]]), end="")
    \begin{tabular}{lr}
    \hline
    routing & load \\
    \hline
    my\_own & $7/2 = 3.5$ \\
    \hline
    \end{tabular}
    """
    head, *body = [" & ".join(map(_in_latex, row)) + r" \\" for row in grid]
    columns = "".join(_columns(grid))
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _columns(grid: Sequence[Sequence[str]]) -> list[str]:
    """Return the kind of every column for LaTeX: to the right, to the left, or a paragraph, whose width is a share."""
    kinds = ["r" if right else "l" for right in _numeric(grid)]
    widths = [max(map(len, cells)) for cells in zip(*grid, strict=True)]
    long = [k for k, kind in enumerate(kinds) if kind == "l" and widths[k] > _LONG]
    if not long or sum(widths) + 2 * len(widths) <= _LINE:
        return kinds
    room = max(_LINE - sum(width + 3 for k, width in enumerate(widths) if k not in long), 20 * len(long)) - 3 * len(
        long
    )
    share = {k: min(widths[k], 3 * _LONG) ** 0.5 for k in long}
    for k in long:
        kinds[k] = rf"p{{{room / _LINE * share[k] / sum(share.values()):.2f}\linewidth}}"
    return kinds


def _numeric(grid: Sequence[Sequence[str]]) -> list[bool]:
    """Return for every column whether it holds numbers, some of which may be missing."""
    columns = list(zip(*grid[1:], strict=True)) or [()] * len(grid[0])
    return [
        any(map(_NUMBER.fullmatch, cells)) and all(cell in ("", "-") or _NUMBER.fullmatch(cell) for cell in cells)
        for cells in columns
    ]


def _in_latex(cell: str) -> str:
    if _NUMBER.fullmatch(cell):
        text = cell.replace("±", r"\pm").replace("≈", r"\approx").replace("<", "< ")
        return "$" + _POWER.sub(lambda found: f"{found[1]} \\cdot 10^{{{int(found[2])}}}", text) + "$"
    return "".join(map(_letter, printable(cell).replace("->", "→")))


def _letter(sign: str) -> str:
    """Return a letter in LaTeX, which knows those of Europe; other symbols by their name in mathematics."""
    if sign in _LATEX:
        return _LATEX[sign]
    if sign in _SYMBOLS:
        return rf"$\{_SYMBOLS[sign]}$"
    if sign.isascii() or (ord(sign) < 0x180 and sign.isalpha()):
        return sign
    name = unicodedata.name(sign, "")
    if name.startswith("GREEK ") and "LETTER" in name and " WITH " not in name:
        letter = name.split()[-1].lower().replace("lamda", "lambda")
        capital = letter.capitalize() if "CAPITAL" in name else letter
        return rf"$\mathrm{{{_LATIN[capital]}}}$" if capital in _LATIN else rf"$\{capital}$"
    plain = unicodedata.normalize("NFKD", sign)
    if "SUPERSCRIPT" in name or "SUBSCRIPT" in name:
        return f"${'^' if 'SUPERSCRIPT' in name else '_'}{{{plain.replace(chr(0x2212), '-')}}}$"
    return plain if plain.isascii() else "?"
