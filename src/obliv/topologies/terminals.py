"""Terminals by number or by name, and their rates."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from obliv._util.cells import cells_of, is_number
from obliv._util.files import read_source
from obliv._util.rationals import exact, speed, speed_hint
from obliv._util.text import shown
from obliv.errors import FileError, TopologyError
from obliv.topologies.checks import positive_number

if TYPE_CHECKING:
    from obliv.topologies.base import Topology

__all__ = ["Rates", "rates_of", "terminal_reader"]


class Rates(NamedTuple):
    """Rates of all terminals, empty if all are one, as text in a spec, and the file that they were read from."""

    values: tuple[Fraction, ...]
    text: str
    sources: tuple[tuple[str, str], ...] = ()


def rates_of(topology: Topology, what: str, value: Any) -> Rates:
    """Return the rates of all terminals.

    Parameters
    ----------
    topology : Topology
    what : str
        ``injection`` or ``ejection``, for messages.
    value : number, sequence, mapping or str
        One rate for all terminals; one for each, also as text ``1x1/2x1``; or some terminals with their rates, as a
        mapping or the path of a file with lines of terminal and rate, where all others have rate 1.
    """
    n = len(topology.terminals)
    if isinstance(value, str) and exact(value) is None:
        words = value.split("x")
        if len(words) == 1 or not all(map(is_number, words)):
            if not os.path.exists(value):
                raise TopologyError(f"{topology.spec}: {what}={value} is neither a number nor a file")
            return _from_file(topology, what, Path(value))
        value = words
    if isinstance(value, Mapping):
        terminal = terminal_reader(topology)
        rates = [Fraction(1)] * n
        for name, rate in value.items():
            rates[terminal(str(name))] = positive_number(rate, f"{topology.spec}: {what} of terminal {name}")
    elif isinstance(value, Iterable) and not isinstance(value, str):
        rates = [positive_number(rate, f"{topology.spec}: {what} of a terminal") for rate in value]
        if len(rates) not in (0, n):
            raise TopologyError(f"{topology.spec}: {len(rates)} {what} rates are given for {n} terminals")
    else:
        rate = positive_number(value, f"{topology.spec}: {what}")
        rates = [] if rate == 1 else [rate] * n
    if not rates:
        return Rates((), "1")
    return Rates(tuple(rates), str(rates[0]) if len(set(rates)) == 1 else "x".join(map(str, rates)))


def _from_file(topology: Topology, what: str, path: Path) -> Rates:
    """Return the rates of a file with lines of terminal and rate; other terminals have rate 1."""
    terminal = terminal_reader(topology)
    text, digest = read_source(path)
    rates = [Fraction(1)] * len(topology.terminals)
    line_of: dict[int, int] = {}
    for number, cells in cells_of(text):
        try:
            if len(cells) == 3 and cells[2][:1].isalpha():  # a unit
                cells[1:] = [f"{cells[1]} {cells[2]}"]
            if len(cells) != 2:
                raise TopologyError("a line has two cells: a terminal and its rate")
            at = terminal(cells[0])
            if at in line_of:
                raise TopologyError(f"terminal {cells[0]} stands in line {line_of[at]} too")
            rate = speed(cells[1])
            if rate is None:
                raise TopologyError(f"{what} of terminal {cells[0]} is {cells[1][:40]}: {speed_hint(cells[1])}")
            rates[at] = rate
        except TopologyError as error:
            raise FileError(str(error), path, number) from None
        line_of[at] = number
    return Rates(tuple(rates), str(path), ((str(path), digest),))


def terminal_reader(topology: Topology) -> Callable[[str], int]:
    """Return the function from the number of a terminal, or the name of its node, to its number.

    A whole number is the number of a terminal; anything else is a name or coordinates, as for :meth:`Topology.node`.
    TopologyError if there is no such terminal.
    """
    index = {node: k for k, node in enumerate(topology.terminals.tolist())}
    last = f"terminals are 0 to {len(index) - 1}"

    def terminal(word: str) -> int:
        if word.isascii() and word.isdigit():
            if len(word) < 10 and int(word) < len(index):
                return int(word)
            raise TopologyError(f"{topology.spec} has no terminal {word[:40]}; {last}")
        if not word or (word[0] in "+-" and word[1:].isdigit()):
            raise TopologyError(f"{shown(word)} is not a terminal of {topology.spec}; {last}")
        try:
            node = topology.node(word)
        except TopologyError as error:
            if word.count("(") != word.count(")"):
                raise TopologyError(f"{shown(word)} is not a terminal: a parenthesis is missing") from None
            if re.search(r"\)\s*\(", word):
                raise TopologyError(f"{shown(word)}: put commas between terminals") from None
            raise TopologyError(f"{shown(word)} is not a terminal: {error}") from None
        if node not in index:
            raise TopologyError(f"{shown(word)} is a node of {topology.spec}, but not a terminal")
        return index[node]

    return terminal
