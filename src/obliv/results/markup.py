"""Results as tables in Markdown and LaTeX, their JSON Schemas, and saved results loaded from files."""

from __future__ import annotations

import importlib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from obliv._util.files import digest_of, read_json
from obliv._util.text import printable
from obliv.capabilities import CAPABILITIES, named
from obliv.errors import FileError, InputError
from obliv.results.base import Result, WithoutNetwork
from obliv.results.codec import OTHER_VERSION, Codec, entry
from obliv.results.numbers import cell_text

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
    """Return a table of text, its heading first, in Markdown; columns of numbers are aligned to the right."""
    head, *body = [[printable(cell).replace("|", "\\|") for cell in row] for row in grid]
    rule = ["---:" if right else "---" for right in _numeric(grid)]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in body)]
    return "\n".join(lines) + "\n"


def to_latex(grid: Sequence[Sequence[str]]) -> str:
    """Return a table of text, its heading first, as a LaTeX tabular without packages; long texts are paragraphs."""
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


# JSON Schemas of all results, made from their declared fields


_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_VALUE = {"type": "number"}
_NUMBERS = {
    "exact": {
        "type": "object",
        "properties": {"exact": {"type": "string", "pattern": r"^-?\d+(/\d+)?$"}, "value": _VALUE},
        "required": ["exact", "value"],
    },
    "estimate": {
        "type": "object",
        "properties": {"value": _VALUE, "stderr": _VALUE, "samples": {"type": "integer"}},
        "required": ["value", "stderr", "samples"],
    },
    "bounds": {
        "type": "object",
        "properties": {"lower": _VALUE, "upper": _VALUE},
        "required": ["lower", "upper"],
    },
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of every kind of result by its name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for cls in sorted(all_results(), key=lambda cls: cls.__name__):
        if cls.kind and cls.__module__.startswith("obliv."):
            found.setdefault(cls.kind, []).append(cls.json_schema())
    return {
        kind: {"$schema": _DRAFT, **(forms[0] if len(forms) == 1 else {"anyOf": forms}), "$defs": _NUMBERS}
        for kind, forms in found.items()
    }


# Loading of saved results; the class is found by its registered kind


def load(path: str | os.PathLike[str]) -> Result:
    """Read a result that was saved.

    Parameters
    ----------
    path : path-like
        What ``save`` or ``--output`` wrote.

    Returns
    -------
    Result
        Of the kind that the file names. Nothing is verified, whatever the file says; see :func:`obliv.verify`. Nothing
        that it names is built: time and memory grow with its size only.

    Raises
    ------
    FileError
        If the file does not hold a whole result.

    Examples
    --------
    >>> import obliv
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result = obliv.worst_case(obliv.DOR(obliv.ring(5)))
    ...     result.save(f"{folder}/worst.json")
    ...     obliv.load(f"{folder}/worst.json") == result
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"load needs the path of a file, not {type(path).__name__}")
    if not str(path):
        raise InputError("load needs the path of a file, not an empty text")
    path = path if isinstance(path, str) else Path(path)
    data = read_json(path)
    try:
        return from_content(data)
    except ValueError as error:
        raise FileError(str(error), path) from None


def from_content(data: Mapping[str, Any]) -> Result:
    """Return the result that ``to_dict`` wrote; ValueError if it is not a whole result."""
    cls = class_of(data)
    try:
        result: Result = cls.from_dict(data)
        result.figures()  # what is computed from the others must be defined, too,
        for name in type(result).declared():
            getattr(result, name)  # also where the figures do not show it
        certificate = data.get("certificate")
        if isinstance(certificate, dict) and certificate.get("digest") != digest_of(dict(data)):
            object.__setattr__(result, "sealed", False)
        return result
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        what = f"the key {error} is missing; {OTHER_VERSION}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"contains an incomplete or invalid result: {what}") from None


def class_of(data: Mapping[str, Any]) -> type[Any]:
    """Return the class of the result that ``to_dict`` wrote; ValueError if there is none of its kind."""
    kind = data.get("kind")
    one = named(kind) if isinstance(kind, str) else None
    for module in one.modules if one else ():
        importlib.import_module(module)
    now = one.name if one else kind
    classes = [cls for cls in _loaded() if cls.kind == now and all(key in data for key in cls.marks)]
    if not kind or not classes:
        raise ValueError(f"does not contain a result that obliv can load (kind {kind!r})")
    return max(classes, key=lambda cls: len(cls.marks))


def all_results() -> Iterator[type[Result]]:
    """Yield all classes of results, those that users defined among them."""
    for one in list(CAPABILITIES.values()):
        for module in one.modules:
            importlib.import_module(module)
    return _loaded()


def _loaded() -> Iterator[type[Result]]:
    pending = [Result]
    while pending:
        pending += (cls := pending.pop()).__subclasses__()
        yield cls


# Several results in one file, such as all that the live page shows of a network


def _decode(data: list[dict[str, Any]]) -> tuple[Result, ...]:
    return tuple(map(from_content, data))


@dataclass(frozen=True, repr=False)
class Results(WithoutNetwork):
    """Several results of any kinds.

    Examples
    --------
    >>> import obliv
    >>> from obliv.results import Results
    >>> routing = obliv.DOR(obliv.ring(5))
    >>> Results(entries=(obliv.worst_case(routing), obliv.locality(routing))).entries[1].kind
    'locality'
    """

    kind: ClassVar[str] = "results"

    provenance: Any = entry(None, hidden=True)
    entries: tuple[Result, ...] = entry((), key="results", codec=Codec(lambda all: [r.to_dict() for r in all], _decode))

    @property
    def title(self) -> str:
        return f"{len(self.entries)} results"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of each result, with its kind."""
        for result in self.entries:
            yield from ({"kind": result.kind} | row for row in result.rows())

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.entries))

    def _repr_html_(self) -> str:
        return "".join(result._repr_html_() for result in self.entries)
