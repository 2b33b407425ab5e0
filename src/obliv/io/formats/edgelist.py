"""Edge lists: ``u v`` or ``u v bandwidth`` a line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from obliv._util.rationals import rational, speed, speed_hint, unit
from obliv._util.text import lines, plural, printable, shown
from obliv.errors import FileError, TopologyError
from obliv.io.formats._links import Links, Options, add
from obliv.io.formats._network import from_file
from obliv.io.formats._write import of_terminals, save
from obliv.topologies.base import Topology

__all__ = ["header_of", "parse", "read_edgelist", "words_of", "write_edgelist"]

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_DIRECTED = re.compile(r"#+\s*(un)?directed\b", re.IGNORECASE)
_ARROWS = ("->", "<-", "--", "-", "<->", "=>")
#: What no name of a node looks like, unless a comment says that the file is an edge list.
_ODD = re.compile(r".*=|.*[:;{}]\Z|[<{\[@!*]|//|/\*", re.DOTALL)
#: Names of the columns of edges' ends, in lower case.
_ENDS = tuple(
    pair.split()
    for pair in (
        "source target",
        "source destination",
        "source dest",
        "src dst",
        "src dest",
        "from to",
        "fromnodeid tonodeid",
        "start end",
        "tail head",
        "u v",
        *(f"{word}{a} {word}{b}" for word in ("node", "node_", "id", "id_", "vertex") for a, b in ("12", "ab")),
    )
)
_NODE = re.compile(r"#+\s*node:\s*([^\s,]+)((?:\s+[^\s=]+=\S+)*)\s*\Z")


def read_edgelist(
    path: str | Path,
    *,
    bandwidth: str = "",
    default: str = "",
    terminals: str = "",
    component: str = "",
    injection: str = "",
    ejection: str = "",
    directed: str = "",
) -> Topology:
    r"""Read an edge list.

    One edge a line, ``u v`` or ``u v bandwidth``, separated by white space or by commas; ``#`` begins a comment. Names
    are any words. A first line may name the columns, such as ``source,target,speed``. Edges are undirected unless a
    comment before the first edge begins with the word ``directed``; ``# node: NAME`` there names nodes in the order in
    which they are numbered, and may give them attributes, as in ``# node: NAME injection=1/2 ejection=2``.

    Parameters
    ----------
    path : str or Path
        The file.
    bandwidth : str
        ``bandwidth`` for the third column, or the name that the first line gives a column.
    default, terminals, component, injection, ejection, directed : str
        As for :func:`obliv.io.formats.topology_file.file`.

    Returns
    -------
    Topology
        Nodes numbered in the order in which the file first names them.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "triangle.txt")
    >>> _ = path.write_text("a b 10\nb c 10\nc a 2.5\n")
    >>> read_edgelist(path, bandwidth="bandwidth").bandwidth_of(1)
    Fraction(5, 2)
    """
    options = Options(bandwidth, default, terminals, component, injection, ejection, directed)
    return from_file(path, parse, options, format="edgelist")


def write_edgelist(topology: Topology, path: str | Path) -> None:
    """Write a topology as an edge list.

    Every channel is a line of a list marked ``# directed``, with its bandwidth in a third column unless all are one.
    Rates of terminals stand in comments ``# node:``. All is read back with
    ``bandwidth=bandwidth,injection=injection,ejection=ejection``.

    Parameters
    ----------
    topology : Topology
        The network; every node must be a terminal, labels must be single words that differ.
    path : str or Path
        The file, replaced only once it is complete.
    """
    if not topology.all_terminals:
        raise TopologyError(
            "an edge list cannot say which nodes are terminals: write GraphML, "
            "or topology.with_terminals(range(topology.nodes)) to leave them out"
        )
    names = topology.labels or tuple(map(str, range(topology.nodes)))
    for name in names:
        if not name or "," in name or name[0] in "#\"'" or name in _ARROWS or any(c.isspace() for c in name):
            raise FileError(
                f"the label {shown(name)} is not a single word without commas and quotes: write GraphML", path
            )
    if len(set(names)) < len(names):
        raise FileError("two nodes have the same label, an edge list cannot tell them apart: write GraphML", path)
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    out = ["# directed"]
    numbered = list(dict.fromkeys(node for pair in ends for node in pair)) == list(range(topology.nodes))
    if not numbered or not topology.unit_rates:
        rates = of_terminals(topology)
        for node, name in enumerate(names):
            out.append(" ".join([f"# node: {name}", *(f"{what}={rate}" for what, rate in rates[node].items())]))
    for channel, (tail, head) in enumerate(ends):
        speed = f" {topology.bandwidth[channel]}" if topology.bandwidth else ""
        out.append(f"{names[tail]} {names[head]}{speed}")
    save(path, "\n".join([*out, ""]))


class Columns(NamedTuple):
    """What the first line of a table of edges says: the names of columns, and which hold the two ends."""

    names: list[str]
    tail: int
    head: int
    delimiter: str


def words_of(line: str) -> list[str]:
    """Return the words of a line, between commas or white space, without a comment."""
    content = _COMMENT.sub("", line) if "#" in line else line
    return [word.strip() for word in content.split(",")] if "," in content else content.split()


def header_of(first: list[str], rest: Iterable[list[str]]) -> Columns | None:
    """Return the columns that the first row names; None if it is an edge, given the words of the others.

    It is a header if two names are those of ends and never stand in another row, or if it alone has no number, or no
    rate in its last column.
    """
    delimiter = "," if len(first) > 1 else ";"
    names = first if len(first) > 1 else first[0].split(";")
    lower = [name.strip("\"' ").lower() for name in names]
    ends = next(((lower.index(a), lower.index(b)) for a, b in _ENDS if a in lower and b in lower), None)
    rows = iter(rest)
    if ends and len(names) > 1:
        wanted = {names[end] for end in ends}
        return None if any(wanted & set(words) for words in rows) else Columns(names, ends[0], ends[1], delimiter)
    if len(names) < 2 or any(rational(name) is not None for name in names[:2]):
        return None
    some = next(rows, None)
    if some is None:
        return None
    body = chain([some], rows)
    if len(names) == 3 and speed(names[2]) is None:
        below = (words if len(first) > 1 else " ".join(words).split(";") for words in body)
        rated = all(len(words) == 3 and speed(words[2]) and not {*names[:2]} & {*words[:2]} for words in below)
        return Columns(names, 0, 1, delimiter) if rated else None
    numeric = len(first) > 1 and all(all(map(str.isdecimal, words[:2])) and len(words) > 1 for words in body)
    return Columns(names, 0, 1, delimiter) if numeric else None


def parse(text: str, path: object = None) -> Links:
    """Parse an edge list."""
    links = Links(path)
    both_ways = idle = 0
    rate = cache(speed)
    seen: set[tuple[int, int]] = set()
    declared = False
    columns: Columns | None = None
    rows = list(enumerate(lines(text), 1))
    for number, line in rows:
        start = line.lstrip()[:1]
        if start == "#" or (start == "%" and not declared):
            if not links.edges and start == "#":
                declared = _header(links, line.strip(), number) or declared
            continue
        if columns:
            _by_columns(links, columns, line, number)
            continue
        words = words_of(line)
        if words and not links.edges and not declared:
            columns = header_of(words, (more for _, other in rows[number:] if (more := words_of(other))))
            if columns:
                if '"' in line or "\t" in line:  # names may hold spaces and commas
                    columns = columns._replace(delimiter="\t" if "\t" in line else columns.delimiter)
                    again = header_of(_cells(line, columns.delimiter, links, number), ()) or columns
                    columns = again._replace(delimiter=columns.delimiter)
                names = printable(", ".join(columns.names))
                links.notes.append(f"line {number} taken as the names of columns: {names}")
                continue
        words = _edge(words, line, declared, path, number)
        if not words:
            continue
        links.join(words[0], words[1], number, {"bandwidth": words[2]} if len(words) > 2 else {})
        if len(words) > 2 and rate(words[2]) is None:
            if rational(words[2]) is None:
                name = links.edge_name(links.edges[-1])
                raise links.fault(
                    f"the third column of edge {name} is {shown(words[2])}: as a bandwidth "
                    f"{speed_hint(words[2])}; write one edge a line",
                    number,
                )
            idle += 1
        tail, head = links.edges[-1][:2]
        both_ways += (head, tail) in seen and head != tail
        seen.add((tail, head))
    if not links.edges and len(links.names) != 1:
        raise FileError("there is no edge in it: write one a line, as  u v", path)
    if idle:
        links.notes.append(f"the third column is not used: in {plural(idle, 'line')} it cannot be a bandwidth")
    if both_ways and not links.directed:
        links.notes.append(
            f"{both_ways} edges are given both as  u v  and as  v u: each of the two is a link of two channels; "
            "if every line is one channel, put  # directed  first, or use directed=yes"
        )
    return links


def _cells(line: str, delimiter: str, links: Links, number: int) -> list[str]:
    if delimiter not in line:
        return line.split()
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        raise links.fault(f"a row that cannot be read ({error})", number) from None


def _by_columns(links: Links, columns: Columns, line: str, number: int) -> None:
    """Add the edge of a row below the names of columns."""
    cells = _cells(line, columns.delimiter, links, number)
    if not any(cells):
        return
    ends = cells[columns.tail : columns.tail + 1] + cells[columns.head : columns.head + 1]
    if len(cells) > len(columns.names) or len(ends) < 2 or not all(ends):
        raise links.fault(
            f"the row has {plural(len(cells), 'cell')}, the first line names {len(columns.names)} columns, "
            f"the ends in columns {columns.tail + 1} and {columns.head + 1}",
            number,
        )
    given = zip(columns.names, cells, strict=False)
    values = {name.strip(): cell for k, (name, cell) in enumerate(given) if k not in (columns.tail, columns.head)}
    kind = next((cell.lower() for name, cell in values.items() if name.lower() == "type"), "")
    links.join(ends[0], ends[1], number, values, {"directed": True, "undirected": False}.get(kind))


def _header(links: Links, comment: str, line: int) -> bool:
    """Read what a comment declares; return whether it says that the file is an edge list."""
    node = _NODE.match(comment)
    if node and not node[2]:
        links.mention(node[1], line)
    elif node:
        attributes: dict[str, str] = {}
        for word in node[2].split():
            name, _, value = word.partition("=")
            add(attributes, name, value)
        links.declare(node[1], line, attributes)
    directed = _DIRECTED.match(comment)
    if directed:
        links.directed = not directed[1]
        if comment.lstrip("# ").lower() not in ("directed", "undirected"):
            links.notes.append(f"taken as {'un' if directed[1] else ''}directed, as line {line} says: {shown(comment)}")
    return bool(node or directed)


def _edge(words: list[str], line: str, declared: bool, path: object, number: int) -> list[str]:
    """Return the two ends of an edge, and its bandwidth if it has one; refuse all else."""
    commas = "," in line
    if words[2:] == ["{}"]:  # NetworkX writes the attributes of an edge so
        words.pop()
    if len(words) == 4 and not commas and unit(words[3]) and speed(words[2]):
        words[2:] = [f"{words[2]} {words[3]}"]
    quoted = next((word for word in words if word[:1] in "\"'"), None)
    arrow = next((word for word in words if word in _ARROWS), None)
    odd = None if declared else next((word for word in words if _ODD.match(word)), None)
    if quoted or arrow:
        remedy = "a name is a single word, without quotes: write GraphML for others" if quoted else "leave it out"
        word = shown(quoted or arrow or "")
        raise FileError(f"{word} in an edge, which is written  u v  or  u v bandwidth: {remedy}", path, number)
    blanks = any(len(word.split()) > 1 for word in (words[:2] if words[2:] and speed(words[2]) else words))
    single = not commas or not ("" in words or blanks)
    if not odd and (not words or (2 <= len(words) <= 3 and single)):
        return words
    if len(words) > 2 and words[2][:1] == "{":
        content = "data of NetworkX after it; load it with NetworkX's read_edgelist and obliv.from_networkx"
    elif odd and len(words) < 4:
        content = f"{shown(odd)}; if that is a name, put  # undirected  or  # directed  first"
    elif commas:
        content = "commas with nothing between them" if "" in words else "both commas and spaces between the words"
    else:
        content = f"{len(words)} words" if len(words) > 1 else f"the single word {shown(words[0])}"
    raise FileError(
        f"an edge is written  u v  or  u v bandwidth, not {content}; "
        "if the file is not an edge list, name its format with format=",
        path,
        number,
    )
