"""The cells of traffic files: words between blanks and commas, and the terminals that they name."""

from __future__ import annotations

import re
from collections.abc import Callable

from obliv._util.rationals import rational
from obliv._util.text import lines, shown
from obliv.errors import TopologyError, TrafficError
from obliv.topologies.base import Topology

__all__ = ["cells_of", "is_number", "terminal_reader"]

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


def terminal_reader(topology: Topology) -> Callable[[str], int]:
    """Return the function from the number of a terminal, or the name of its node, to its number.

    A whole number is the number of a terminal; anything else is a name or coordinates, as for :meth:`Topology.node`.
    TrafficError if there is no such terminal.
    """
    index = {node: k for k, node in enumerate(topology.terminals.tolist())}

    def terminal(word: str) -> int:
        if word.isascii() and word.isdigit():
            if len(word) < 10 and int(word) < len(index):
                return int(word)
            raise TrafficError(f"{topology.spec} has no terminal {word[:40]}; terminals are 0 to {len(index) - 1}")
        if not word or (word[0] in "+-" and word[1:].isdigit()):
            raise TrafficError(
                f"{shown(word)} is not a terminal; terminals of {topology.spec} are 0 to {len(index) - 1}"
            )
        try:
            node = topology.node(word)
        except TopologyError as error:
            raise TrafficError(f"{shown(word)} is not a terminal: {error}") from None
        if node not in index:
            raise TrafficError(f"{shown(word)} is a node of {topology.spec}, but not a terminal")
        return index[node]

    return terminal
