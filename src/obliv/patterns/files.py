"""Traffic from files: permutations, matrices, and rates of single pairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from obliv._util.cells import cells_of, is_number
from obliv._util.codec import RepeatedKeyError, unlike_keys
from obliv._util.cost import require_memory
from obliv._util.files import read_source
from obliv._util.rationals import rational
from obliv._util.sndlib import is_native
from obliv._util.text import did_you_mean, lines, plural, shown
from obliv.errors import FileError, TopologyError, TrafficError
from obliv.patterns.base import Traffic
from obliv.patterns.matrices import ROUNDING, permutation, rounded
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology
from obliv.topologies.terminals import terminal_reader

__all__ = ["flows_file", "matrix_file", "permutation_file"]

Flows = dict[tuple[int, int], Fraction]

_ANY = ",rows=any"
_PAIRS = "; lines of source, destination and rate are read by flows:FILE"


@register_pattern("permutation", example="permutation:worst.txt")
def permutation_file(topology: Topology, path: Path) -> Traffic:
    """Permutation in a file: the destinations of terminals 0, 1, 2 … as numbers or names; # starts a comment.

    Results that `worst --output` or `--format json` wrote are read, too.
    """
    spec = f"permutation:{path}"
    n = len(topology.terminals)
    text, digest = read_source(path)
    if text.lstrip().startswith("{"):
        image = _from_result(text, path)
    else:
        image = []
        terminal = terminal_reader(topology)
        for number, cells in cells_of(text):
            ends = cells[:-1] if len(cells) > 1 and not cells[-1] else cells  # a comma may end a line
            image += [_at_line(terminal, cell, path, number) for cell in ends]
    if len(image) != n:
        raise FileError(f"{len(image)} destinations, {topology.spec} has {n} terminals", path)
    try:
        traffic = permutation(np.asarray(image), spec)
    except TrafficError as error:
        raise FileError(str(error).removeprefix(spec + ": "), path) from None
    return replace(traffic, sources=((str(path), digest),))


@register_pattern("matrix", example="matrix:demand.txt")
def matrix_file(topology: Topology, path: Path, rows: str = "limited") -> Traffic:
    """Traffic matrix in a file: one row per line, numbers such as 0.25, 1/3 or 1e-3; names of terminals may head it.

    A row adds up to what its terminal may send at most; with ``rows=any`` to any number, where only proportions count.
    """
    _require_rule("matrix", rows)
    n = len(topology.terminals)
    require_memory(100.0 * n * n, f"a traffic matrix of {n} terminals")
    limits = _limits(topology)
    text, digest = _numbers(path)
    table = cells_of(text)
    terminal = terminal_reader(topology)
    columns = list(range(n))
    headed = bool(table) and _is_header(table[0][1], n)
    if headed:
        number, names = table.pop(0)
        if [name.lower() for name in names[2:]] in (["rate"], ["amount"], ["value"]):
            raise FileError(f"names the columns of a list of pairs{_PAIRS}", path, number)
        columns = [_at_line(terminal, cell, path, number) for cell in names[-n:]]
        if len(set(columns)) < n:
            raise FileError("a terminal heads two columns", path, number)
    flows: Flows = {}
    line_of: dict[int, int] = {}
    wider = False
    for number, cells in table:
        named = headed and len(cells) == n + 1
        values = cells[1:] if named else cells
        if len(values) != n:
            hint = _separators(text, number, n) or (_PAIRS if len(values) == 3 else "")
            numbers = plural(len(values), "number")
            raise FileError(f"{numbers} in this row, {topology.spec} has {n} terminals{hint}", path, number)
        if len(line_of) == n:
            break
        source = _at_line(terminal, cells[0], path, number) if named else columns[len(line_of)]
        if source in line_of:
            raise FileError(f"a second row of the terminal of line {line_of[source]}", path, number)
        line_of[source] = number
        rates = [_rate(cell, k, path, number) for k, cell in enumerate(values, 1)]
        wider |= _take_row(sum(rates, Fraction(0)), source, limits, rows, path, number)
        flows |= {(source, columns[k]): rate for k, rate in enumerate(rates) if rate}
    if len(table) != n:
        raise FileError(f"{len(table)} rows, {topology.spec} has {n} terminals", path)
    return rounded(f"matrix:{path}{_ANY * wider}", n, flows, limits, ((str(path), digest),))


@register_pattern("flows", example="flows:rates.txt")
def flows_file(topology: Topology, path: Path, rows: str = "limited") -> Traffic:
    """Rates of single pairs in a file: lines of source, destination and rate, by number or name of the terminals.

    What a terminal sends is limited as for a matrix; with ``rows=any`` it is not.
    """
    _require_rule("flows", rows)
    terminal = terminal_reader(topology)
    flows: Flows = {}
    line_of: dict[tuple[int, int], int] = {}
    totals: dict[int, Fraction] = {}
    last_line: dict[int, int] = {}
    limits = _limits(topology)
    text, digest = _numbers(path)
    for at, (number, cells) in enumerate(cells_of(text)):
        if len(cells) != 3:
            hint = _separators(text, number, 3)
            raise FileError(f"a line has three cells: source, destination and rate{hint}", path, number)
        if at == 0 and rational(cells[2]) is None and not any(_is_terminal(terminal, cell) for cell in cells[:2]):
            continue  # a header such as  src dst rate
        source, destination = (_at_line(terminal, cell, path, number) for cell in cells[:2])
        if (source, destination) in line_of:
            first = line_of[source, destination]
            raise FileError(f"the pair stands in line {first} too; write one line for it", path, number)
        line_of[source, destination] = number
        rate = _rate(cells[2], 3, path, number)
        totals[source] = totals.get(source, Fraction(0)) + rate
        last_line[source] = number
        if rate:
            flows[source, destination] = rate
    wider = False
    for source, total in totals.items():
        wider |= _take_row(total, source, limits, rows, path, last_line[source])
    if not line_of:
        raise FileError("holds no rates: write lines like  SOURCE DESTINATION RATE", path)
    return rounded(f"flows:{path}{_ANY * wider}", len(limits), flows, limits, ((str(path), digest),))


def _numbers(path: Path) -> tuple[str, str]:
    """Return the text of a file of rates, and its SHA-256."""
    text, digest = read_source(path)
    if is_native(text):
        raise FileError(f"is a network of SNDlib; its demands are the traffic  demands:{path}", path)
    return text, digest


def _separators(text: str, number: int, count: int) -> str:
    """Return what separates the cells of a line, if that would have so many cells with semicolons or decimal commas."""
    line = lines(text)[number - 1].partition("#")[0]
    decimals = "," in line and len(line.split()) == count
    return _semicolons(line) or ("; commas separate cells: write 0.5, not 0,5" if decimals else "")


def _semicolons(text: str) -> str:
    return "; blanks or commas separate cells, semicolons do not" if ";" in text else ""


def _limits(topology: Topology) -> list[Fraction]:
    """Return what each terminal may send: its rate, and at least one packet per cycle."""
    return [max(rate, Fraction(1)) for rate in topology.rates()[0]]


def _is_header(cells: Sequence[str], n: int) -> bool:
    """Return whether a first line names the columns, perhaps with a cell before them for the names of the rows."""
    return (len(cells) == n + 1 and not is_number(cells[0])) or (len(cells) == n and not any(map(is_number, cells)))


def _require_rule(pattern: str, rows: str) -> None:
    if rows not in ("limited", "any"):
        raise TrafficError(f"{pattern}: rows={rows} is unknown: {did_you_mean(rows, ('limited', 'any'))}")


def _take_row(total: Fraction, source: int, limits: list[Fraction], rows: str, path: Path, number: int) -> bool:
    """Return whether a terminal sends more than it may, which `rows` can allow; its limit is raised then."""
    limit = limits[source]
    if total <= limit * (1 + ROUNDING):
        return False
    if rows == "any":
        limits[source] = total
        return True
    raise FileError(
        f"the row adds up to {float(total):.7g}, its terminal sends at most {limit}: divide all rates by the largest "
        "sum, take rows=any where only proportions count, or let terminals send more, by injection= of the network",
        path,
        number,
    )


def _at_line(terminal: Callable[[str], int], cell: str, path: Path, number: int) -> int:
    try:
        return terminal(cell)
    except TopologyError as error:
        raise FileError(f"{error}{_semicolons(cell)}", path, number) from None


def _is_terminal(terminal: Callable[[str], int], cell: str) -> bool:
    try:
        terminal(cell)
    except TopologyError:
        return False
    return True


def _rate(cell: str, column: int, path: Path, number: int) -> Fraction:
    if not cell:
        raise FileError(f"cell {column} is empty: write 0 for no traffic", path, number)
    value = rational(cell)
    if value is None or value < 0:
        what = f"{shown(cell)} is not a rate: write a number from 0, such as 0.25, 1/4 or 1e-3{_semicolons(cell)}"
        raise FileError(what, path, number)
    return value


def _from_result(text: str, path: Path) -> list[int]:
    try:
        image = json.loads(text, object_pairs_hook=unlike_keys).get("permutation")
    except RepeatedKeyError as error:
        raise FileError(f"invalid JSON: {error}", path) from None
    except (ValueError, RecursionError, AttributeError):
        raise FileError("not a result with a permutation, nor a list of terminal numbers", path) from None
    if not isinstance(image, list) or not all(isinstance(d, int) for d in image):
        raise FileError('has no "permutation" list of terminal numbers', path)
    return image
