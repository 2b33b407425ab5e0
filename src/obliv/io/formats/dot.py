"""Networks as drawings for Graphviz (DOT), and graphs that NetworkX writes: node-link JSON, graph6, sparse6."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import isqrt
from pathlib import Path
from typing import Any

from obliv._util.files import RepeatedKeyError, unlike_keys
from obliv._util.text import printable, shown
from obliv.errors import FileError, InputError, extra
from obliv.io.formats.gml import cables, save
from obliv.io.formats.links import FileLinks
from obliv.topologies.base import Topology

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<arrow>->|--)|(?P<mark>[{}\[\];,=:+<])
    |(?P<word>[-.]?\w[\w.]*)|(?P<odd>.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_ANGLE = re.compile(r"[<>]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_DEPTH = 100
_MOST = 5_000_000  # edges; braces -> braces join all with all


def write_dot(topology: Topology, path: str | Path, loads: Sequence[Fraction] = ()) -> None:
    r"""Write a network as a drawing for Graphviz.

    Terminals are circles, other nodes are boxes. Without loads a link of two directions is one line, drawn without an
    arrow; with loads every channel is an arrow of its own, whose label is its load and whose width grows with it.
    Where nodes have positions, ``neato -n`` draws them there.

    Examples
    --------
    >>> import tempfile
    >>> from obliv.topologies.families.grids import line
    >>> path = Path(tempfile.mkdtemp(), "line.dot")
    >>> write_dot(line(3), path)
    >>> print(path.read_text())
    digraph "line:3" {
      0 [label="0", shape=circle, pos="0,0"];
      1 [label="1", shape=circle, pos="36,0"];
      2 [label="2", shape=circle, pos="72,0"];
      0 -> 1 [dir=none];
      1 -> 2 [dir=none];
    }
    <BLANKLINE>
    """
    if len(loads) not in (0, topology.channels):
        raise InputError(f"{len(loads)} loads for {topology.channels} channels: give every channel one")
    lines = [f"digraph {_quoted(topology.spec)} {{", *_nodes(topology), *_edges(topology, loads), "}"]
    save(path, "\n".join(lines) + "\n")


def _nodes(topology: Topology) -> Iterator[str]:
    terminals = set(topology.terminals.tolist())
    places = _places(topology)
    for node in range(topology.nodes):
        pos = f', pos="{places[node][0]:g},{places[node][1]:g}"' if places else ""
        shape = "circle" if node in terminals else "box"
        yield f"  {node} [label={_quoted(topology.name_of(node))}, shape={shape}{pos}];"


def _places(topology: Topology) -> list[tuple[float, float]]:
    """Return the place of every node in points, about an inch apart; empty where there is none."""
    if topology.positions is None:
        return []
    low, high = topology.positions.min(axis=0), topology.positions.max(axis=0)
    scale = 72 * (max(isqrt(topology.nodes - 1), 1)) / max(float((high - low).max()), 1e-9)
    return [(float(x), float(y)) for x, y in (topology.positions - low) * scale]


def _edges(topology: Topology, loads: Sequence[Fraction]) -> Iterator[str]:
    if not loads:
        for forth, back in cables(topology):
            speeds = {topology.bandwidth_of(c) for c in (forth, back) if c >= 0}
            one = " [dir=none" if back >= 0 else " ["
            label = f'label="{min(speeds)}"' if speeds != {Fraction(1)} else ""
            attributes = ", ".join(part for part in (one.strip(" ["), label) if part)
            yield f"  {_ends(topology, forth)}" + (f" [{attributes}];" if attributes else ";")
        return
    largest = max(loads) or 1
    for channel, load in enumerate(loads):
        width = 0.5 + 4.5 * float(load / largest)
        color = ', color="red"' if load == largest else ""
        yield f'  {_ends(topology, channel)} [label="{load}", penwidth={width:.2f}{color}];'


def _ends(topology: Topology, channel: int) -> str:
    return f"{int(topology.tail[channel])} -> {int(topology.head[channel])}"


def _quoted(text: str) -> str:
    r"""Return a text as a string of DOT, where a backslash is an escape."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse(text: str, path: object = None) -> FileLinks:
    """Parse a drawing for Graphviz."""
    return _DotReader(text, path).read()


class _DotReader:
    """The tokens that are left, and what was read before them."""

    def __init__(self, text: str, path: object) -> None:
        self.links = FileLinks(path)
        self.tokens = self._tokens(text)
        self.kind = self.word = ""
        self.line = 1
        self.strict = False
        self.nodes: dict[str, dict[str, str]] = {}
        self.lines: dict[str, int] = {}
        self.edges: dict[object, tuple[str, str, int, dict[str, str]]] = {}

    def fault(self, message: str) -> InputError:
        return FileError(message, self.links.path, self.line)

    def _tokens(self, text: str) -> Iterator[tuple[str, str, int]]:
        at, line = 0, 1
        while match := _TOKEN.match(text, at):
            kind, word, at = match.lastgroup or "", match[0], match.end()
            if word == "<":  # HTML up to the > that closes it
                depth = 1
                while depth and (angle := _ANGLE.search(text, at)):
                    depth += 1 if angle[0] == "<" else -1
                    at = angle.end()
                kind, word = ("odd" if depth else "html"), text[match.start() : at]
            if kind == "odd":
                self.line = line
                raise self.fault(f"{shown(word)} is not expected in a drawing for Graphviz")
            if kind != "space":
                yield kind, word, line
            line += word.count("\n")

    def step(self) -> str:
        """Go to the next token, and return the one before."""
        before = self.word
        self.kind, self.word, self.line = next(self.tokens, ("end", "", self.line))
        return before

    def is_key(self, *words: str) -> bool:
        return self.kind == "word" and self.word.lower() in words

    def take(self, mark: str) -> None:
        if self.kind != "mark" or self.word != mark:
            found = shown(self.word) if self.kind != "end" else "the end of the file"
            raise self.fault(f"{mark} is expected, not {found}")
        self.step()

    def name(self) -> str:
        """Take a name, or a text of several quoted parts."""
        if self.kind not in ("word", "text", "html"):
            found = shown(self.word) if self.kind != "end" else "the end of the file"
            raise self.fault(f"a name is expected, not {found}")
        kind, word = self.kind, self.step()
        if kind != "text":
            return word
        while self.kind == "mark" and self.word == "+":
            self.step()
            if self.kind != "text":
                raise self.fault("a text is expected after +")
            word = word[:-1] + self.step()[1:]
        return word[1:-1].replace('\\"', '"').replace("\\\n", "")

    def read(self) -> FileLinks:
        self.step()
        if self.is_key("strict"):
            self.strict = bool(self.step())
        if not self.is_key("graph", "digraph"):
            raise self.fault("is not a drawing for Graphviz: it begins with graph or digraph")
        self.links.directed = self.step().lower() == "digraph"
        if self.kind != "mark":
            self.name()
        self.group({}, {}, 1)
        if self.kind != "end":
            raise self.fault("something follows the graph: keep one network a file")
        for name, attributes in self.nodes.items():
            label = attributes.get("label", "")
            if "\\N" in label or label[:1] == "<" or "record" in attributes.get("shape", "").lower():
                attributes = attributes | {"label": ""}  # not the name of a node
            elif label:
                attributes = attributes | {"label": _ESCAPE.sub(lambda e: " " if e[1] in "nlr" else e[1], label)}
            self.links.declare(name, self.lines[name], attributes)
        for tail, head, line, attributes in self.edges.values():
            way = attributes.get("dir", "").lower() if self.links.directed else ""
            if way == "back":
                tail, head = head, tail
            self.links.join(tail, head, line, attributes, False if way in ("none", "both") else None)
        return self.links

    def group(self, node: dict[str, str], edge: dict[str, str], depth: int) -> list[str]:
        """Take the statements between braces, and return the nodes that they name."""
        if depth > _DEPTH:
            raise self.fault(f"more than {_DEPTH} nested groups: this is not a plain drawing")
        self.take("{")
        node, edge = dict(node), dict(edge)
        named: dict[str, None] = {}
        while not (self.kind == "mark" and self.word == "}"):
            if self.kind == "end":
                raise self.fault("the file ends in the middle, a { is still open: get it again")
            if self.kind == "mark" and self.word in ";,":
                self.step()
            elif self.is_key("graph", "node", "edge"):
                {"node": node, "edge": edge}.get(self.step().lower(), {}).update(self.attributes())
            else:
                named.update(dict.fromkeys(self.statement(node, edge, depth)))
        self.step()
        return list(named)

    def statement(self, node: dict[str, str], edge: dict[str, str], depth: int) -> list[str]:
        """Take a node, a chain of edges, a group or an attribute of the graph; return the nodes that it names."""
        line = self.line
        chain = [self.operand(node, edge, depth)]
        if self.kind == "mark" and self.word == "=" and isinstance(chain[0], str):
            self.step()
            self.name()
            return []
        while self.kind == "arrow":
            if (self.word == "->") != self.links.directed:
                kind, arrow = ("digraph", "->") if self.links.directed else ("graph", "--")
                raise self.fault(f"{self.word} in a {kind}, whose edges are written {arrow}")
            self.step()
            chain.append(self.operand(node, edge, depth))
        names = [self.declared(part, node, line) for part in chain]
        own = self.attributes()
        if len(chain) == 1 and isinstance(chain[0], str):
            self.nodes[chain[0]].update(own)
        for tails, heads in pairwise(names):
            if len(self.edges) + len(tails) * len(heads) > _MOST:
                raise self.fault(f"more than {_MOST:,} edges")
            for tail, head in product(tails, heads):
                pair = (tail, head) if self.links.directed else (min(tail, head), max(tail, head))
                key = pair if self.strict else len(self.edges)
                self.edges.setdefault(key, (tail, head, line, edge | own))
        return [name for part in names for name in part]

    def operand(self, node: dict[str, str], edge: dict[str, str], depth: int) -> str | list[str]:
        """Take a node, or a group of them."""
        if self.is_key("subgraph"):
            self.step()
            if self.kind != "mark":
                self.name()
            return self.group(node, edge, depth + 1)
        if self.kind == "mark" and self.word == "{":
            return self.group(node, edge, depth + 1)
        name = self.name()
        while self.kind == "mark" and self.word == ":":  # a port
            self.step()
            self.name()
        return name

    def declared(self, part: str | list[str], defaults: dict[str, str], line: int) -> list[str]:
        """Return the nodes of an operand; one that is new has the attributes that apply here."""
        if isinstance(part, list):
            return part
        if part not in self.nodes:
            self.nodes[part], self.lines[part] = dict(defaults), line
        return [part]

    def attributes(self) -> dict[str, str]:
        """Take lists of attributes, if there are any."""
        given: dict[str, str] = {}
        while self.kind == "mark" and self.word == "[":
            self.step()
            while not (self.kind == "mark" and self.word == "]"):
                if self.kind == "mark" and self.word in ",;":
                    self.step()
                    continue
                name = self.name()
                if self.kind == "mark" and self.word == "=":
                    self.step()
                    given[name] = self.name()
            self.step()
        return given


# Graphs that NetworkX writes: node-link data (JSON), graph6 and sparse6


_HEAD = re.compile(r">>(graph6|sparse6)<<")


def parse_json(text: str, path: object = None) -> FileLinks:
    """Parse node-link data: an object with lists of nodes and of links (or edges), as NetworkX and D3 write it."""
    links = FileLinks(path)
    try:
        # numbers as they stand, of any length
        data = json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=unlike_keys)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise links.fault(f"is not valid JSON: {what} (character {error.colno} of the line)", error.lineno) from None
    except RepeatedKeyError as error:
        raise links.fault(f"is not valid JSON: {error}") from None
    except RecursionError:
        raise links.fault("is not valid JSON: it is nested too deeply") from None
    nodes, edges = (data.get("nodes"), data.get("links", data.get("edges"))) if isinstance(data, dict) else (0, 0)
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise links.fault(
            "looks like JSON without lists of nodes and of links or edges (node-link data): load it with NetworkX, "
            "for example its adjacency_graph or cytoscape_graph, and use obliv.from_networkx"
        )
    links.directed = data.get("directed") is True
    own = [_texts(node) if isinstance(node, dict) else {"id": _text(node)} for node in nodes]
    ends = [_texts(edge) if isinstance(edge, dict) else {} for edge in edges]
    named = {node.get("id", node.get("name", "")) for node in own}
    numbers = not any("id" in node for node in own) and any(end.get("source") not in named for end in ends)
    for k, node in enumerate(own):  # D3 counts nodes that have no id
        links.declare(str(k) if numbers else node.get("id", node.get("name", str(k))), None, node)
    for k, edge in enumerate(ends):
        if not edge.get("source") or not edge.get("target"):
            raise links.fault(f"link {k} has no source or no target: {shown(str(edges[k]))}")
        more = {name: value for name, value in edge.items() if name not in ("source", "target")}
        links.join(edge["source"], edge["target"], None, more)
    links.complete()
    return links


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {name: text for name, value in values.items() if (text := _text(value))}


def _text(value: Any) -> str:
    """Return a name or number as text, a list of them as a tuple; empty for all else."""
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})" if not any(isinstance(part, list) for part in value) else ""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""


def parse_graph6(text: str, path: object = None) -> FileLinks:
    """Parse a graph in graph6 or sparse6, with NetworkX."""
    links = FileLinks(path)
    rows = _HEAD.sub("", text.strip(), count=1).split()
    if len(rows) != 1:
        raise links.fault(f"{len(rows)} graphs in it: keep one a file")
    sparse, word = rows[0].startswith(":"), rows[0].encode()
    digits = [byte - 63 for byte in word[sparse : 8 + sparse]]
    size = digits[:1] if digits[:1] != [63] else digits[2:8] if digits[1:2] == [63] else digits[1:4]
    nodes = sum(digit << 6 * k for k, digit in enumerate(reversed(size)))
    if nodes > 10 * len(word) + 1000:
        raise links.fault(f"{nodes:,} nodes cannot be joined by {len(word)} characters: has it been cut?")
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise extra("networkx to read graph6 and sparse6", "networkx") from None
    try:
        graph = (networkx.from_sparse6_bytes if sparse else networkx.from_graph6_bytes)(word)
    except (networkx.NetworkXException, ValueError, IndexError) as error:
        raise links.fault(f"is not valid {'sparse6' if sparse else 'graph6'}: {str(error)[:80]}") from None
    for node in graph:
        links.declare(str(node), None, {})
    for tail, head in sorted(graph.edges()):
        links.join(str(tail), str(head))
    return links
