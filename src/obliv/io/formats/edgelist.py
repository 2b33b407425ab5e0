"""Edge lists: ``u v`` or ``u v bandwidth`` a line."""

from __future__ import annotations

import re
from pathlib import Path

from obliv._util.rationals import rational
from obliv._util.text import lines, shown
from obliv.errors import FileError, TopologyError
from obliv.io.formats._links import Links, Options, add
from obliv.io.formats._network import from_file
from obliv.io.formats._write import of_terminals, save
from obliv.topologies.base import Topology

__all__ = ["parse", "read_edgelist", "write_edgelist"]

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_DIRECTED = re.compile(r"#+\s*(un)?directed\b", re.IGNORECASE)
_ARROWS = ("->", "<-", "--", "-", "<->", "=>")
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
) -> Topology:
    r"""Read an edge list.

    One edge a line, ``u v`` or ``u v number``, separated by white space or by commas; ``#`` begins a comment. Names
    are any words. Edges are undirected unless a comment before the first edge begins with the word ``directed``;
    ``# node: NAME`` there names nodes in the order in which they are numbered, and may give them attributes, as in
    ``# node: NAME injection=1/2 ejection=2``.

    Parameters
    ----------
    path : str or Path
        The file.
    bandwidth : str
        ``bandwidth`` for the third column.
    default, terminals, component, injection, ejection : str
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
    return from_file(
        path, parse, Options(bandwidth, default, terminals, component, injection, ejection), format="edgelist"
    )


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


def parse(text: str, path: object = None) -> Links:
    """Parse an edge list."""
    links = Links(path)
    both_ways = 0
    seen: set[tuple[int, int]] = set()
    for number, line in enumerate(lines(text), 1):
        if line.lstrip().startswith("#"):
            if not links.edges:
                _header(links, line.strip(), number)
            continue
        words = _words(_COMMENT.sub("", line) if "#" in line else line, path, number)
        if not words:
            continue
        links.join(words[0], words[1], number, {"bandwidth": words[2]} if len(words) > 2 else {})
        if len(words) > 2 and rational(words[2]) is None:
            name = links.edge_name(links.edges[-1])
            raise links.fault(
                f"the third column of edge {name} is {shown(words[2])}: it must be the bandwidth, a "
                "positive, finite number such as 10, 2.5 or 1/3; write one edge a line",
                number,
            )
        tail, head = links.edges[-1][:2]
        both_ways += (head, tail) in seen and head != tail
        seen.add((tail, head))
    if not links.edges and len(links.names) != 1:
        raise FileError("there is no edge in it: write one a line, as  u v", path)
    if both_ways and not links.directed:
        links.notes.append(
            f"{both_ways} edges are given both as  u v  and as  v u: each of the two is a link of two channels; "
            "if every line is one channel, put  # directed  first"
        )
    return links


def _header(links: Links, comment: str, line: int) -> None:
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


def _words(line: str, path: object, number: int) -> list[str]:
    commas = "," in line
    words = [word.strip() for word in line.split(",")] if commas else line.split()
    if words[2:] == ["{}"]:  # NetworkX writes the attributes of an edge so
        words.pop()
    single = not commas or all(len(word.split()) == 1 for word in words)
    quoted = next((word for word in words if word[:1] in "\"'"), None)
    arrow = next((word for word in words if word in _ARROWS), None)
    if quoted or arrow:
        remedy = "a name is a single word, without quotes: write GraphML for others" if quoted else "leave it out"
        word = shown(quoted or arrow or "")
        raise FileError(f"{word} in an edge, which is written  u v  or  u v bandwidth: {remedy}", path, number)
    if not words or (2 <= len(words) <= 3 and single):
        return words
    if commas:
        content = "commas with nothing between them" if "" in words else "both commas and spaces between the words"
    else:
        content = f"{len(words)} words" if len(words) > 1 else f"the single word {shown(words[0])}"
    raise FileError(
        f"an edge is written  u v  or  u v bandwidth, not {content}; "
        "if the file is not an edge list, name its format with format=",
        path,
        number,
    )
