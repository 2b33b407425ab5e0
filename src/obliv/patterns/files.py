"""Traffic from files and numbers: permutations, matrices, rates of single pairs, demands of SNDlib."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import cells_of, is_number
from obliv._util.files import RepeatedKeyError, read_source, unlike_keys
from obliv._util.progress import require_memory
from obliv._util.rationals import exact, rational
from obliv._util.sndlib import Demand, is_native, parse
from obliv._util.text import did_you_mean, lines, plural, shown
from obliv.errors import FileError, TopologyError, TrafficError
from obliv.patterns.base import Traffic, from_flows, require_rows
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Number, Topology, terminal_reader

# Traffic from the numbers of a permutation or a matrix


#: How far a row may be from what its terminal sends to count as rounded, relative to that.
ROUNDING = Fraction(1, 10**6)


def permutation(destinations: Sequence[int] | npt.NDArray[np.integer[Any]], spec: str = "permutation") -> Traffic:
    """Return the permutation that sends terminal i to ``destinations[i]``.

    Parameters
    ----------
    destinations : sequence of int
        The destination of terminal 0, 1, 2 …; each terminal exactly once.
    spec : str, optional
        What to call it.

    Returns
    -------
    Traffic

    Raises
    ------
    TrafficError
        If a destination is out of range or named twice.

    Examples
    --------
    >>> permutation([1, 2, 0]).is_permutation
    True
    """
    image = np.asarray(destinations)
    n = image.size
    if image.ndim != 1 or n == 0 or not np.issubdtype(image.dtype, np.integer):
        raise TrafficError(f"{spec}: a permutation is a list of terminal numbers")
    if image.min() < 0 or image.max() >= n:
        bad = int(np.flatnonzero((image < 0) | (image >= n))[0])
        raise TrafficError(f"{spec}: terminal {bad} sends to {image[bad]}; terminals are 0 to {n - 1}")
    counts = np.bincount(image, minlength=n)
    if (counts > 1).any():
        raise TrafficError(f"{spec}: terminal {int(np.argmax(counts > 1))} is the destination of several terminals")
    return Traffic(
        spec=spec,
        terminals=n,
        uniform=Fraction(0),
        source=np.arange(n, dtype=np.int32),
        destination=image.astype(np.int32),
        amount=np.ones(n, np.int64),
    )


def matrix(
    rows: Iterable[Iterable[Number]],
    spec: str = "matrix",
    sources: tuple[tuple[str, str], ...] = (),
    injection: Sequence[Fraction] = (),
) -> Traffic:
    """Return the traffic of a square matrix of rates.

    Parameters
    ----------
    rows : sequence of sequences, shape (N, N)
        Packets per cycle; a float stands for the simplest rational that rounds to it.
    spec : str, optional
        What to call it.
    sources : tuple of (path, SHA-256), optional
        The files that it was read from.
    injection : sequence of Fraction, optional
        Packets per cycle that each terminal may send; default 1.

    Returns
    -------
    Traffic

    Raises
    ------
    TrafficError
        If it is not square, holds a negative or infinite number, or a row adds up to more than its terminal may send.

    Notes
    -----
    A row with floats or text that adds up to what its terminal may send within 10⁻⁶, as rounded numbers do, is scaled
    to exactly that; the traffic's `notes` say so. Rows of whole numbers and fractions stay as they are.

    Examples
    --------
    >>> matrix([[0, 0.5], ["1/3", 0]]).row_sums
    [Fraction(1, 2), Fraction(1, 3)]
    """
    flows: dict[tuple[int, int], Fraction] = {}
    as_given: set[int] = set()
    try:
        table = [list(row) for row in rows]
    except TypeError:
        raise TrafficError(f"{spec}: a matrix is a list of rows") from None
    n = len(table)
    if n == 0:
        raise TrafficError(f"{spec}: the matrix is empty")
    for s, row in enumerate(table):
        if len(row) != n:
            raise TrafficError(
                f"{spec}: row {s} has {len(row)} entries and there are {n} rows; the matrix must be square"
            )
        for d, value in enumerate(row):
            amount = exact(value)
            if amount is None:
                raise TrafficError(f"{spec}: entry ({s}, {d}) is {value!r}, not a finite number")
            if amount < 0:
                raise TrafficError(f"{spec}: entry ({s}, {d}) is {value}, rates must not be negative")
            if amount:
                flows[s, d] = amount
        if all(isinstance(value, Rational) for value in row):
            as_given.add(s)
    return rounded(spec, n, flows, injection, sources, as_given)


def rounded(
    spec: str,
    terminals: int,
    flows: dict[tuple[int, int], Fraction],
    limits: Sequence[Fraction] = (),
    sources: tuple[tuple[str, str], ...] = (),
    as_given: Container[int] = (),
) -> Traffic:
    """Return traffic in which what a terminal sends is its limit if it is that up to rounding.

    The terminals in `as_given` send what they are said to.
    """
    totals: dict[int, Fraction] = {}
    for (s, _), rate in flows.items():
        totals[s] = totals.get(s, Fraction(0)) + rate
    limit_of = {s: limits[s] if limits else Fraction(1) for s in totals}
    scale = {
        s: limit_of[s] / total
        for s, total in totals.items()
        if s not in as_given and 0 < abs(total / limit_of[s] - 1) <= ROUNDING
    }
    exact_flows = {(s, d): rate * scale.get(s, 1) for (s, d), rate in flows.items()}
    traffic = from_flows(spec, terminals, exact_flows, Fraction(0), sources)
    require_rows(traffic, limits)
    if not scale:
        return traffic
    first = min(scale)
    note = (
        f"{spec}: {plural(len(scale), 'row')} scaled to exactly what the terminal sends, for example row {first}, "
        f"which added up to {float(totals[first]):.9g} instead of {limit_of[first]}"
    )
    return replace(traffic, notes=(note,))


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


# Demands of a network of SNDlib, as traffic


@register_pattern("demands", example="demands:germany50.txt")
def demands_file(topology: Topology, path: Path, ways: int = 1) -> Traffic:
    """Demands of an SNDlib file, divided by the most that a node sends or takes; ways=2 adds each demand's way back."""
    if ways not in (1, 2):
        raise TrafficError(f"demands: ways={ways}: use 1 for demands as the file gives them, 2 to add their ways back")
    text, digest = read_source(path)
    network = parse(text, path)
    if not network.demands:
        raise FileError("there are no demands in it", path)
    flows = _flows(network.demands, topology, ways, path)
    sums = [[Fraction(0)] * len(topology.terminals) for _ in range(2)]
    for (source, destination), value in flows.items():
        sums[0][source] += value
        sums[1][destination] += value
    rates = topology.rates()
    largest = max(
        total / rate for side, limits in zip(sums, rates, strict=True) for total, rate in zip(side, limits, strict=True)
    )
    if not largest:
        raise FileError("all its demands are 0", path)
    spec = f"demands:{path}" + (",ways=2" if ways == 2 else "")
    scaled = {pair: value / largest for pair, value in flows.items()}
    notes = [
        f"{plural(len(network.demands), 'demand')} divided by {float(largest):.7g}, the most that a node sends or takes"
    ]
    if ways == 1 and not any((destination, source) in flows for source, destination in flows):
        notes.append("every demand is one way, as the file gives it; ways=2 adds the way back")
    return replace(
        from_flows(spec, len(topology.terminals), scaled, Fraction(0), ((str(path), digest),)), notes=tuple(notes)
    )


def _flows(demands: Iterable[Demand], topology: Topology, ways: int, path: Path) -> dict[tuple[int, int], Fraction]:
    """Return what every pair of terminals demands, of those that demand something."""
    terminal = _terminals(topology)
    flows: dict[tuple[int, int], Fraction] = {}
    for demand in demands:
        ends = tuple(terminal.get(name, -1) for name in (demand.source, demand.target))
        if -1 in ends:
            name = demand.source if ends[0] < 0 else demand.target
            raise FileError(
                f"demand {shown(demand.name)} names {shown(name)}, which is not a terminal of {topology.spec}",
                path,
                demand.line,
            )
        if ends[0] == ends[1] or not demand.value:
            continue
        for source, destination in (ends, ends[::-1])[:ways]:
            flows[source, destination] = flows.get((source, destination), Fraction(0)) + demand.value
    return flows


def _terminals(topology: Topology) -> dict[str, int]:
    """Return the terminals by the names of their nodes; names that two nodes share are left out."""
    names = [topology.labels[node] if topology.labels else str(node) for node in topology.terminals.tolist()]
    count: dict[str, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1
    return {name: k for k, name in enumerate(names) if count[name] == 1}
