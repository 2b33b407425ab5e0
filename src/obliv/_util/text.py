"""Text: lines and words of files, and words for messages."""

from __future__ import annotations

import codecs
import difflib
import io
import sys
from collections.abc import Iterable, Sequence

__all__ = [
    "did_you_mean",
    "html_table",
    "in_ascii",
    "lines",
    "plural",
    "print_any_sign",
    "printable",
    "several",
    "shown",
]

_WORD = 100  # letters of a word that may be a misspelled name
_LISTED = 200  # letters of the known names in a message


def lines(text: str) -> list[str]:
    """Return the lines of a text as editors count them (str.splitlines also breaks at form feeds and the like)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def shown(text: str) -> str:
    """Return a word from a file quoted and cut short, for messages of one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def printable(text: str, besides: str = "") -> str:
    r"""Return a text on one line, with question marks for control characters and what stands in `besides`.

    Examples
    --------
    >>> printable("evil\x1b[31m\n.net"), printable("say 'no'", besides="'")
    ('evil?[31m?.net', 'say ?no?')
    """
    if text.isprintable() and not besides:
        return text
    return "".join(letter if letter.isprintable() and letter not in besides else "?" for letter in text)


#: How signs that obliv prints are written in ASCII; other letters lose their accents, or become question marks.
_ASCII = {
    **{
        "→": "->",
        "←": "<-",
        "↔": "<->",
        "×": "x",
        "·": "*",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "≈": "~",
        "±": "+-",
    },
    **{"≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt", "∞": "inf", "Σ": "sum", "⌈": "ceil(", "⌉": ")", "⌊": "floor("},
    **{"⌋": ")", "²": "^2", "³": "^3", "⁴": "^4", "α": "alpha", "β": "beta", "γ": "gamma", "λ": "lambda", "μ": "mu"},
    **{"ξ": "xi", "τ": "tau", "φ": "phi", "χ": "chi", "“": '"', "”": '"', "‘": "'", "’": "'", "´": "'", "•": "*"},
}


def in_ascii(text: str) -> str:
    """Return a text in ASCII.

    Examples
    --------
    >>> in_ascii("Räcke: √(m/2) ≤ 3 → 中")
    'Racke: sqrt(m/2) <= 3 -> ?'
    """
    import unicodedata

    parts = (_ASCII.get(sign) or unicodedata.normalize("NFKD", sign) for sign in text)
    return (
        "".join(sign for part in parts for sign in part if not unicodedata.combining(sign))
        .encode("ascii", "replace")
        .decode("ascii")
    )


def _unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end


def print_any_sign() -> None:
    """Let standard output and error print signs that their encoding lacks, in ASCII, in place of an error."""
    codecs.register_error("obliv.ascii", _unencodable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
            stream.reconfigure(errors="obliv.ascii")


def several(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts as a tuple; a single text counts as one, not as its letters.

    Examples
    --------
    >>> several(["0-1", "3"]), several("0-1"), several(())
    (('0-1', '3'), ('0-1',), ())
    """
    return ((texts,) if texts else ()) if isinstance(texts, str) else tuple(texts)


def plural(count: int, word: str, more: str = "") -> str:
    """Return a number and its noun.

    Examples
    --------
    >>> plural(1, "switch", "switches"), plural(1000, "pair")
    ('1 switch', '1,000 pairs')
    """
    return f"{count:,} {word if count == 1 else more or word + 's'}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelled word: the nearest known words, or all of them, as far as they fit in a line.

    Examples
    --------
    >>> did_you_mean("tours", ["torus", "mesh"]), did_you_mean("x", ["torus", "mesh"])
    ('did you mean torus?', 'known: mesh, torus')
    """
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=3, cutoff=0.55) if len(word) <= _WORD else []
    if near:
        return f"did you mean {' or '.join(near)}?"
    room = _LISTED
    listed = [name for name in words if (room := room - len(name) - 2) > 0]
    more = f" and {len(words) - len(listed)} more" if len(listed) < len(words) else ""
    return f"known: {', '.join(listed)}{more}" if words else "no names are known"


def html_table(caption: str, grid: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """Return a table of text, its heading first, in HTML; the first cell of a row names the row.

    The columns marked in `right` are aligned to the right, the others to the left.

    Examples
    --------
    >>> html_table("a < b", [["load"], ["7/2"]]).partition("<thead>")[0]
    '<table><caption style="text-align:left">a &lt; b</caption>'
    """
    import html

    head, *body = grid
    sides = [*("right" if value else "left" for value in right), *["left"] * (len(head) - len(right))]

    def cell(tag: str, text: str, side: str) -> str:
        return f'<{tag} style="text-align:{side}">{html.escape(printable(text))}</{tag.partition(" ")[0]}>'

    def row(tags: Sequence[str], cells: Sequence[str]) -> str:
        return f"<tr>{''.join(map(cell, tags, cells, sides))}</tr>"

    heading = row(['th scope="col"'] * len(head), head)
    rows = [row(['th scope="row"', *["td"] * (len(head) - 1)], cells) for cells in body]
    title = f'<caption style="text-align:left">{html.escape(printable(caption))}</caption>'
    return f"<table>{title}<thead>{heading}</thead><tbody>{''.join(rows)}</tbody></table>"


def shortened(text: str, letters: int) -> str:
    """Return a text of at most `letters` characters, shortened in the middle, since names differ at their ends.

    Examples
    --------
    >>> shortened("storage-rack-17-node-04", 16)
    'storage-…node-04'
    """
    tail = (letters - 1) // 2
    return text if len(text) <= letters else f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"
