"""Readers of rows of words: edge lists, neighbor lists, METIS, Inet, SimAI, Matrix Market, DIMACS, KONECT, Pajek, LGF.

Many such files look like one another. A format is recognized only where the rows cannot well be anything else; where
two readings are likely, the kind ends in a question mark, and the user is asked for ``format=``.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Unpack

from obliv._util.rationals import rational, speed, speed_hint, unit
from obliv._util.text import lines, plural, printable, shown
from obliv.errors import FileError, TopologyError
from obliv.io.formats.gml import of_terminals, save
from obliv.io.formats.links import FileLinks, Options, ReadOptions, add, from_file
from obliv.topologies.base import Topology

# Edge lists: ``u v`` or ``u v bandwidth`` a line


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


def read_edgelist(path: str | Path, **options: Unpack[Options]) -> Topology:
    r"""Read an edge list, with the options of :func:`obliv.io.formats.topology_file.file`.

    One edge a line, ``u v`` or ``u v bandwidth``, separated by white space or by commas; ``#`` begins a comment. Names
    are any words. A first line may name the columns, such as ``source,target,speed``. Edges are undirected unless a
    comment before the first edge begins with the word ``directed``; ``# node: NAME`` there names nodes in the order in
    which they are numbered, and may give them attributes, as in ``# node: NAME injection=1/2 ejection=2``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "triangle.txt")
    >>> _ = path.write_text("a b 10\nb c 10\nc a 2.5\n")
    >>> read_edgelist(path, bandwidth="bandwidth").bandwidth_of(1)
    Fraction(5, 2)
    """
    return from_file(path, parse, ReadOptions(**options), format="edgelist")


def write_edgelist(topology: Topology, path: str | Path) -> None:
    """Write a topology as an edge list.

    Every channel is a line of a list marked ``# directed``, with its bandwidth in a third column unless all are one.
    Rates of terminals stand in comments ``# node:``. All is read back with
    ``bandwidth=bandwidth,injection=injection,ejection=ejection``.
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


class EdgeColumns(NamedTuple):
    """What the first line of a table of edges says: the names of columns, and which hold the two ends."""

    names: list[str]
    tail: int
    head: int
    delimiter: str


def words_of(line: str) -> list[str]:
    """Return the words of a line, between commas or white space, without a comment."""
    content = _COMMENT.sub("", line) if "#" in line else line
    return [word.strip() for word in content.split(",")] if "," in content else content.split()


def header_of(first: list[str], rest: Iterable[list[str]]) -> EdgeColumns | None:
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
        return None if any(wanted & set(words) for words in rows) else EdgeColumns(names, ends[0], ends[1], delimiter)
    if len(names) < 2 or any(rational(name) is not None for name in names[:2]):
        return None
    some = next(rows, None)
    if some is None:
        return None
    body = chain([some], rows)
    if len(names) == 3 and speed(names[2]) is None:
        below = (words if len(first) > 1 else " ".join(words).split(";") for words in body)
        rated = all(len(words) == 3 and speed(words[2]) and not {*names[:2]} & {*words[:2]} for words in below)
        return EdgeColumns(names, 0, 1, delimiter) if rated else None
    numeric = len(first) > 1 and all(all(map(str.isdecimal, words[:2])) and len(words) > 1 for words in body)
    return EdgeColumns(names, 0, 1, delimiter) if numeric else None


def parse(text: str, path: object = None) -> FileLinks:
    """Parse an edge list."""
    links = FileLinks(path)
    both_ways = idle = 0
    rate = cache(speed)
    seen: set[tuple[int, int]] = set()
    declared = False
    columns: EdgeColumns | None = None
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
                    again = header_of(_edge_cells(line, columns.delimiter, links, number), ()) or columns
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


def _edge_cells(line: str, delimiter: str, links: FileLinks, number: int) -> list[str]:
    if delimiter not in line:
        return line.split()
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        raise links.fault(f"a row that cannot be read ({error})", number) from None


def _by_columns(links: FileLinks, columns: EdgeColumns, line: str, number: int) -> None:
    """Add the edge of a row below the names of columns."""
    cells = _edge_cells(line, columns.delimiter, links, number)
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


def _header(links: FileLinks, comment: str, line: int) -> bool:
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


#: Number of the line, and its words.
Row = tuple[int, list[str]]

_DECLARED = re.compile(r"#+\s*((un)?directed\b|node:)", re.IGNORECASE)
_RATE = re.compile(r"\d+(\.\d+)?[KMGT]?bps", re.IGNORECASE)
_WORDS = re.compile(r'"([^"]*)"|(\S+)')
_HEADED = re.compile(r"\s*\S+\s+(\d{1,9})\s*")
_NEIGHBOR = re.compile(r"\s*\S+\s+\{.*\}\s*")


def rows_of(text: str, comment: str = "#") -> list[Row]:
    """Return the lines that have words, but for those that begin with a character of `comment`."""
    numbered, skipped = enumerate(lines(text), 1), tuple(comment)
    return [(k, words) for k, line in numbered if (words := words_of(line)) and not words[0].startswith(skipped)]


def kind_of_rows(text: str) -> str:
    r"""Return the format of rows of words: ``edgelist`` unless they are something else, or may well be.

    Examples
    --------
    >>> kind_of_rows("0 1\n1 2\n2 0\n"), kind_of_rows("0 1 2\n1 2 3\n2 3 0\n3 0 1\n")
    ('edgelist', 'adjlist?')
    """
    start = next((line for line in lines(text[: 1 << 12]) if line.strip()), "")
    rows = rows_of(text, "#%")
    if _DECLARED.match(start.strip()) or not rows or header_of(rows[0][1], (words for _, words in rows[1:])):
        return "edgelist"
    first = rows[0][1]
    if len(rows) > 1 and _numeric(first[:3]):
        if _is_hpcc(rows):
            return "hpcc"
        if len(first) == 2 and (kind := _after_counts(text, rows)):
            return kind
        if 3 <= len(first) <= 4 and _numeric(first):
            head, body = _lines_after(text, "#%")
            bare = _without_weights(head[1], body)
            if bare and 2 < len(body) == int(first[0][:18]) and _is_symmetric(bare, 1):
                return "metis"
    return _of_lists(rows)


def is_multiline_adjlist(text: str) -> bool:
    r"""Tell whether a node and its number of neighbors stand before lines of these and their data, as NetworkX writes.

    Examples
    --------
    >>> is_multiline_adjlist("a 2\nb {}\nc {}\nb 0\nc 0\n"), is_multiline_adjlist("0 1\n1 2\n2 0\n")
    (True, False)
    """
    rows = iter([line for line in lines(text) if line.strip() and not line.lstrip().startswith("#")])
    listed = 0
    for row in rows:
        head = _HEADED.fullmatch(row)
        if head is None:
            return False
        for _ in range(int(head[1])):
            if _NEIGHBOR.fullmatch(next(rows, "- - -")) is None:
                return False
            listed += 1
    return listed > 0


def _numeric(words: Sequence[str]) -> bool:
    return all(word.isascii() and word.isdigit() for word in words)


def _is_hpcc(rows: list[Row]) -> bool:
    """Tell whether the first row counts nodes, switches and links, the second lists switches, and links have rates."""
    first, second, last = rows[0][1], rows[1][1], rows[-1][1]
    counts = [int(word[:18]) for word in first[:5] if _numeric([word])]
    switches = {3: counts[1:2], 5: counts[2:4]}.get(len(counts), [-1])
    named = second if sum(switches) else []
    return len(named) == sum(switches) and len(last) == 5 and _RATE.fullmatch(last[2]) is not None


def _after_counts(text: str, rows: list[Row]) -> str:
    """Return the format of rows that may follow a row of two counts, of nodes and links; empty if they do not."""
    n, m = (int(word[:18]) for word in rows[0][1])
    rest = [words for _, words in rows[1:]]
    if len(rest) == n + m and n and all(map(_is_place, rest[:n])) and [w[0] for w in rest[:n]] == [*map(str, range(n))]:
        return "inet"
    lists = _lists_kind(n, m, _lines_after(text, "#%")[1])
    if lists and _is_listed(rows):
        return "neighbors?"
    if len(rest) != m or not all(len(words) in (2, 3) for words in rest):
        return lists
    nodes = {word for words in rest for word in words[:2]}
    if lists:
        return "lists?"
    if not _numeric([*nodes]):  # the first row would be an edge apart from the others
        return "counts" if len(nodes) == n and not nodes & set(rows[0][1]) else ""
    numbers = {int(node[:18]) for node in nodes}
    whole = len(numbers) == n and max(numbers) - min(numbers) == n - 1
    if whole and min(numbers) < 2:  # as an edge, the first row would stand apart, or leave numbers out
        return "counts" if m > n + 1 or (m >= n and min(numbers) == 0) else "counts?"
    return "counts?" if len(numbers) <= n and max(numbers) <= n else ""


def _without_weights(head: list[str], body: list[Row]) -> list[Row]:
    """Return the neighbors in each line of METIS, whose third number says which weights there are; empty if none."""
    fmt = f"{head[2] if len(head) > 2 else '':0>3}"
    if not set(fmt) <= {"0", "1"} or len(fmt) > 3:
        return []
    skipped = int(fmt[0]) + int(fmt[1]) * (int(head[3][:3]) if len(head) > 3 else 1)
    return [(line, words[skipped :: 1 + int(fmt[2])]) for line, words in body]


def _is_place(words: list[str]) -> bool:
    return len(words) == 3 and all(rational(word) is not None for word in words)


def _lists_kind(n: int, m: int, body: list[Row]) -> str:
    """Return which lists of neighbors a file holds whose first row is `n m`: ``metis``, ``neighbors`` or none."""
    if len(body) != n or n < 2:
        return ""
    total = sum(len(words) for _, words in body)
    if total not in (m, 2 * m) and 2 * total != m:
        return ""
    if total == 2 * m and _is_symmetric(body, 1):
        return "metis"
    low = all(_numeric(words) and all(int(word[:18]) < n for word in words) for _, words in body)
    return "neighbors" if low and not any(str(k) in words for k, (_, words) in enumerate(body)) else ""


def _is_symmetric(body: Sequence[Row], base: int) -> bool:
    """Tell whether line i lists the neighbors of node i, counted from `base`: each link twice, none to itself."""
    nodes = {str(base + k) for k in range(len(body))}
    pairs: Counter[tuple[str, str]] = Counter()
    for k, (_, words) in enumerate(body):
        own = str(base + k)
        if own in words or not nodes.issuperset(words):
            return False  # soon, for most other files
        pairs.update((own, word) for word in words)
    return all(pairs[b, a] == count for (a, b), count in pairs.items())


def _is_listed(rows: Sequence[Row]) -> bool:
    """Tell whether line by line the neighbors of nodes stand there, counted from 0 or 1."""
    return any(_is_symmetric(rows, base) for base in (0, 1))


def _of_lists(rows: list[Row]) -> str:
    """Return the kind of rows without counts: edges, an adjacency matrix, or neighbor lists."""
    longest = max(len(words) for _, words in rows)
    every = [words for _, words in rows]
    if len(rows) == longest > 2 and all(len(w) == longest and w[k] in ("0", "0.0") for k, w in enumerate(every)):
        return "matrix"
    alone = any(len(words) == 1 for words in every)
    if len(rows) > 3 - alone - (longest > 2) and _is_listed(rows):
        return "neighbors" if alone or longest > 3 else "neighbors?"
    first = Counter(words[0] for words in every)
    if min(len(rows), longest) < 2 or len(first) < len(rows) or (longest < 3 and not alone):
        return "edgelist"
    known = first.keys() | {word for words in every for word in words[:2]}
    if longest > 3 or alone:
        return "adjlist" if all(first.keys() >= set(words) for words in every) else "edgelist"
    third = [words for words in every if len(words) == 3]
    return "adjlist?" if all(w[2] in known and w[2] not in w[:2] for w in third) else "edgelist"


def _lines_after(text: str, comment: str) -> tuple[Row, list[Row]]:
    """Return the first row, and all lines after it, empty ones too unless there are more than its first number."""
    numbered = [(k, words_of(line)) for k, line in enumerate(lines(text.removesuffix("\n")), 1)]
    rows = [(k, words) for k, words in numbered if not words or not words[0].startswith(tuple(comment))]
    at = next(k for k, (_, words) in enumerate(rows) if words)
    body = rows[at + 1 :]
    count = int(rows[at][1][0][:18]) if _numeric(rows[at][1][:1]) else 0
    while body and not body[-1][1] and len(body) > count:
        body.pop()
    return rows[at], body


# Readers of all other formats of rows, one function each


def _whole(links: FileLinks, word: str, line: int, most: int = 10**18) -> int:
    """Return the whole number, from 0 to `most`, that a word stands for."""
    if not _numeric([word]) or len(word) > 18 or int(word) > most:
        limit = f" up to {most}" if most < 10**18 else ""
        raise links.fault(f"{shown(word)} where a whole number{limit} is expected", line)
    return int(word)


def _count(links: FileLinks, word: str, line: int, what: str, rows: int) -> int:
    """Return a count of nodes; refuse one that the rest of the file cannot join, before nodes are made."""
    count = _whole(links, word, line)
    if count > 10 * rows + 1000:
        raise links.fault(f"{plural(count, what)} cannot be joined by {plural(rows, 'line')}: has it been cut?", line)
    return count


def _cells(links: FileLinks, row: Row, least: int, form: str) -> list[str]:
    """Return the words of a row that needs some."""
    if len(row[1]) < least:
        raise links.fault(f"{form} is expected, not {shown(' '.join(row[1]))}", row[0])
    return row[1]


def _promised(links: FileLinks, count: int, got: int, what: str, line: int) -> None:
    if count != got:
        raise links.fault(f"{plural(count, what)} promised, the file has {got:,}: has it been cut?", line)


def _require_counted(links: FileLinks, known: int, section: str, line: int) -> None:
    """Refuse an edge that names another node than the known ones, which the file has counted."""
    if len(links.names) > known:
        raise links.fault(f"an edge names node {shown(links.names[-1])}, which {section} does not count", line)


def _mutual(links: FileLinks, lists: Iterator[tuple[str, list[str], int]], note: str) -> FileLinks:
    """Join neighbors: a link for each mention, which the other end may mention too."""
    count: dict[tuple[str, str], int] = {}
    for node, others, line in lists:
        links.mention(node, line)
        for other, times in Counter(others).items():
            made = count.get((other, node), 0) if other != node else 0
            count[node, other] = times
            for _ in range(times - made):
                links.join(node, other, line)
    links.notes.append(note)
    return links


def adjlist(text: str, path: object = None) -> FileLinks:
    """Parse lines of a node and its neighbors, as NetworkX writes adjacency lists."""
    rows = ((words[0], words[1:], line) for line, words in rows_of(text))
    return _mutual(FileLinks(path), rows, "every line taken as a node and its neighbors")


def metis(text: str, path: object = None) -> FileLinks:
    """Parse a graph of METIS: counts, then a line for each node with its neighbors, from 1."""
    return _by_line(text, path, 1, "taken as a graph of METIS: line by line the neighbors of a node, from 1")


def neighbors(text: str, path: object = None) -> FileLinks:
    """Parse lines of neighbors, one for each node, from 0 or 1; counts may stand first, as EvalNet writes them."""
    return _by_line(text, path, None, "taken as line by line the neighbors of a node")


def _by_line(text: str, path: object, base: int | None, note: str) -> FileLinks:
    links = FileLinks(path)
    if not rows_of(text, "#%"):
        raise links.fault("there is no line of neighbors in it")
    head, body = _lines_after(text, "#%")
    listed = base is None and _is_listed([head, *[row for row in body if row[1]]])
    counted = base == 1 or (
        len(head[1]) == 2 and _numeric(head[1]) and len(body) == int(head[1][0][:18]) and not listed
    )
    if base == 1:
        _promised(links, _whole(links, head[1][0], head[0]), len(body), "line", head[0])
        if len(head[1]) > 2:
            body = _without_weights(head[1] if _numeric(head[1]) else ["", "", "2"], body)
            links.notes.append("weights of nodes and edges are ignored")
            if not body:
                raise links.fault("n m, or n m and three digits that say which weights there are, is expected", head[0])
    elif not counted:
        body = [row for row in [head, *body] if row[1]]
    words = {word for _, row in body for word in row}
    start = base if base is not None else int("0" not in words and str(len(body)) in words)
    most = len(body) - 1 + start
    for line, row in body:
        for word in row:
            if _whole(links, word, line, most) < start:
                raise links.fault(f"node {word} where nodes are counted from {start}", line)
    for k in range(len(body)):
        links.mention(str(k + start), body[k][0])
    from_start = f", from {start}{', after a line of counts' * counted}" if base is None else ""
    return _mutual(links, ((str(k + start), row, line) for k, (line, row) in enumerate(body)), note + from_start)


def counts(text: str, path: object = None) -> FileLinks:
    """Parse an edge list after a line with the numbers of nodes and edges."""
    links = FileLinks(path)
    (line, first), *rows = rows_of(text, "#%") or [(1, [])]
    _promised(links, _whole(links, (first[1:2] or [""])[0], line), len(rows), "edge", line)
    for row in rows:
        tail, head, *more = _cells(links, row, 2, "u v")
        links.join(tail, head, row[0], {"bandwidth": more[0]} if more else {})
    links.notes.append(
        f"line {line} is taken as counts: {first[0]} nodes and {first[1]} edges; if it is an edge, use format=edgelist"
    )
    if len(links.names) != _whole(links, first[0], line):
        links.notes.append(
            f"edges name {plural(len(links.names), 'node')} of these {first[0]}; the others are left out"
        )
    return links


def inet(text: str, path: object = None) -> FileLinks:
    """Parse a graph of Inet: counts, then nodes with places, then edges with weights."""
    links = FileLinks(path)
    (line, first), *rows = rows_of(text) or [(1, [""])]
    n = _count(links, first[0], line, "node", len(rows))
    for row in rows[:n]:
        node, x, y = _cells(links, row, 3, "node x y")[:3]
        links.declare(node, row[0], {"Longitude": x, "Latitude": y})
    for row in rows[n:]:
        tail, head, *more = _cells(links, row, 2, "u v weight")
        links.join(tail, head, row[0], {"weight": more[0]} if more else {})
    _promised(links, _whole(links, (first[1:2] or [""])[0], line), len(rows) - n, "edge", line)
    links.complete()
    links.notes.append("taken as a graph of Inet: nodes with places, then edges")
    return links


def hpcc(text: str, path: object = None) -> FileLinks:
    """Parse a topology of HPCC or SimAI: counts, numbers of switches, then links with their attribute rate."""
    links = FileLinks(path)
    (line, first), *rows = rows_of(text) or [(1, [])]
    numbers = [word for word in first if _numeric([word])][:5]
    if len(numbers) not in (3, 5):
        raise links.fault("counts of nodes, switches and links are expected, or five counts of SimAI", line)
    n = _count(links, numbers[0], line, "node", len(rows))
    count = sum(_whole(links, word, line) for word in (numbers[1:2] if len(numbers) == 3 else numbers[2:4]))
    switches = set(rows[0][1]) if count and rows else set()
    _promised(links, count, len(switches), "switch", line)
    for k in range(n):
        links.declare(str(k), line, {})
    body = rows[1:] if count else rows
    for row in body:
        tail, head, *more = _cells(links, row, 3, "u v rate delay error")
        links.join(tail, head, row[0], dict(zip(("rate", "delay", "error"), more, strict=False)))
    links.complete()
    _promised(links, _whole(links, numbers[-1], line), len(body), "link", line)
    links.terminals = [k for k in range(n) if str(k) not in switches]
    links.notes.append(
        f"{plural(len(links.terminals), 'host')} are terminals, {plural(count, 'switch', 'switches')} not"
    )
    ends = {pair for edge in links.edges if edge.tail != edge.head for pair in (edge[:2], edge[1::-1])}
    neighbors = Counter(tail for tail, _ in ends)
    if several := [node for node in links.terminals if neighbors[node] > 1]:
        who = f"{plural(len(several), 'host')} {'has' if len(several) == 1 else 'have'} links to several nodes"
        links.notes.append(
            f"{who} ({links.names[several[0]]}{', ...' * (len(several) > 1)}): hosts forward packets here, in ns-3's "
            "HPCC and SimAI they do not; table:FILE takes listed paths that avoid it"
        )
    return links


def matrix_market(text: str, path: object = None) -> FileLinks:
    """Parse a square matrix of Matrix Market: an edge for each entry, in the attribute `value` what it is."""
    links = FileLinks(path)
    banner = text.lstrip().partition("\n")[0].lower().split()
    if banner[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(banner) < 5:
        raise links.fault("only  %%MatrixMarket matrix coordinate ...  is read, entries of a sparse matrix", 1)
    (line, size), *rows = rows_of(text, "%") or [(1, [])]
    n, columns, entries = (_whole(links, word, line) for word in [*size, "", "", ""][:3])
    if n != columns:
        raise links.fault(f"a matrix of {n} rows and {columns} columns: that of a network is square", line)
    _count(links, size[0], line, "node", len(rows))
    _promised(links, entries, len(rows), "entry", line)
    links.directed = banner[4] == "general"
    for k in range(n):
        links.declare(str(k + 1), line, {})
    for row in rows:
        tail, head, *value = _cells(links, row, 2, "row column value")
        links.join(tail, head, row[0], {"value": value[0]} if value else {})
    links.complete()
    return links


def dimacs(text: str, path: object = None) -> FileLinks:
    """Parse a graph of DIMACS: ``p``, then ``e u v`` for links or ``a u v weight`` for arcs."""
    links = FileLinks(path)
    for line, words in rows_of(text, "#"):
        if words[0] == "p":
            for k in range(_count(links, (words[2:3] or [""])[0], line, "node", text.count("\n"))):
                links.mention(str(k + 1), line)
        elif words[0] in ("a", "e"):
            _, tail, head, *more = _cells(links, (line, words), 3, f"{words[0]} u v")
            known = len(links.names)
            links.join(tail, head, line, {"weight": more[0]} if more else {}, directed=words[0] == "a")
            _require_counted(links, known, "the line p before it", line)
        elif words[0] not in ("c", "n"):
            raise links.fault(f"lines of DIMACS begin with c, p, n, e or a, not with {shown(words[0])}", line)
    return links


def konect(text: str, path: object = None) -> FileLinks:
    """Parse a network of KONECT: ``% sym`` or ``% asym``, then edges with weights and times."""
    links = FileLinks(path)
    shape = (text.lstrip("% \t\r\n").split(None, 1) or [""])[0].lower()
    if shape not in ("sym", "asym"):
        raise links.fault(f"{shown(shape)} networks are not read: one set of nodes is needed, % sym or % asym", 1)
    links.directed = shape == "asym"
    for row in rows_of(text, "%"):
        tail, head, *more = _cells(links, row, 2, "u v weight time")
        links.join(tail, head, row[0], dict(zip(("weight", "time"), more, strict=False)))
    return links


def pajek(text: str, path: object = None) -> FileLinks:
    """Parse a network of Pajek: ``*Vertices``, then ``*Edges`` (links) and ``*Arcs`` (one way), with weights."""
    links = FileLinks(path)
    section, number = "", 0
    for number, line in enumerate(lines(text), 1):
        words = [quoted or plain for quoted, plain in _WORDS.findall(line)]
        if not words or words[0].startswith("%"):
            continue
        if words[0].startswith("*"):
            section = words[0].lower()
            if section not in ("*network", "*vertices", "*edges", "*arcs"):
                what = f"the section {shown(words[0])} is not read: only *Vertices, *Edges and *Arcs are"
                raise links.fault(what, number)
            if section == "*vertices":
                for k in range(_count(links, (words[1:2] or [""])[0], number, "node", text.count("\n"))):
                    links.mention(str(k + 1), number)
        elif section == "*vertices":
            links.declare(words[0], number, {"label": words[1]} if len(words) > 1 else {})
        elif section in ("*edges", "*arcs"):
            tail, head, *more = _cells(links, (number, words), 2, "u v weight")
            known = len(links.names)
            links.join(tail, head, number, {"weight": more[0]} if more else {}, directed=section == "*arcs")
            _require_counted(links, known, "*Vertices", number)
        else:
            raise links.fault("a line outside of *Vertices, *Edges and *Arcs", number)
    return links


def lgf(text: str, path: object = None) -> FileLinks:
    """Parse a graph of LEMON: sections ``@nodes``, ``@arcs`` (one way) and ``@edges`` with named columns."""
    links = FileLinks(path)
    section, columns = "", None
    for number, line in enumerate(lines(text), 1):
        words = [quoted or plain for quoted, plain in _WORDS.findall(line)]
        if not words or words[0].startswith("#"):
            continue
        if words[0].startswith("@"):
            section, columns = words[0], None
        elif columns is None:
            columns = words if words != ["-"] else []
        elif section == "@nodes":
            values = dict(zip(columns, words, strict=False))
            links.declare(values.get("label", words[0]), number, {k: v for k, v in values.items() if k != "label"})
        elif section in ("@arcs", "@edges"):
            tail, head, *more = _cells(links, (number, words), 2, "source target ...")
            values = {name: value for name, value in zip(columns, more, strict=False) if name != "label"}
            links.join(tail, head, number, values, directed=section == "@arcs")  # the label of an edge is its number
    links.complete()
    return links


#: Readers by the name of their format.
READERS: Mapping[str, Callable[[str, object], FileLinks]] = {
    "adjlist": adjlist,
    "counts": counts,
    "dimacs": dimacs,
    "hpcc": hpcc,
    "inet": inet,
    "konect": konect,
    "lgf": lgf,
    "matrix-market": matrix_market,
    "metis": metis,
    "neighbors": neighbors,
    "pajek": pajek,
}
