"""The cells of files of numbers and names: words between blanks and commas."""

from __future__ import annotations

import re

from obliv._util.rationals import rational
from obliv._util.text import lines

__all__ = ["cells_of", "is_number"]

#: A name in quotes, a name in parentheses such as (3,2) or ((1,0),2), a comma, a comment, or any other word.
_CELL = re.compile(r'"([^"]*)"|(\((?:[^()]|\([^()]*\))*\)|,|#|[^\s,#]+)')


def cells_of(text: str) -> list[tuple[int, list[str]]]:
    """Return number and cells of each line that has any; a cell between two commas may be empty.

    Examples
    --------
    >>> cells_of('0, 1 # one' + chr(10) + '(3,2) "a b",,1/2')
    [(1, ['0', '1']), (2, ['(3,2)', 'a b', '', '1/2'])]
    """
    rows = []
    for number, line in enumerate(lines(text), 1):
        cells: list[str] = []
        open_cell = commas = False
        for match in _CELL.finditer(line):
            word = match[2]
            if word == "#":
                break
            if word == ",":
                if open_cell or not cells:
                    cells.append("")
                open_cell = commas = True
            else:
                cells.append(match[1] if word is None else word)
                open_cell = False
        if open_cell and commas:
            cells.append("")
        if cells:
            rows.append((number, cells))
    return rows


def is_number(cell: str) -> bool:
    """Return whether a cell is a number."""
    return rational(cell) is not None
