"""GraphML, as the Internet Topology Zoo, NetworkX, Gephi and yEd write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NoReturn, Unpack
from xml.parsers import expat

from obliv._util.text import shown
from obliv.errors import FileError
from obliv.io.formats._formats import format_of
from obliv.io.formats.gml import XmlItem, XmlKey, graphml_lines, node_attributes, save
from obliv.io.formats.links import FileLinks, Options, ReadOptions, add, from_file
from obliv.topologies.base import Topology

_DEPTH = 100
_DIRECTED = {"directed": True, "true": True, "1": True, "undirected": False, "false": False, "0": False}
_DRAWN = ("NodeLabel", "EdgeLabel")
_CUT = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


def read_graphml(path: str | Path, **options: Unpack[Options]) -> Topology:
    """Read a GraphML file, with the options of :func:`obliv.io.formats.topology_file.file`.

    Examples
    --------
    >>> import tempfile
    >>> from obliv.topologies.families.grids import ring
    >>> path = Path(tempfile.mkdtemp(), "ring.graphml")
    >>> write_graphml(ring(4), path)
    >>> read_graphml(path).channels
    8
    """
    return from_file(path, parse, ReadOptions(**options), format="graphml")


def write_graphml(topology: Topology, path: str | Path) -> None:
    """Write a topology as GraphML.

    Every channel is a directed edge. Bandwidths stand in the edge attribute `bandwidth`, the terminals' numbers in the
    node attribute `terminal` if not every node is one, their rates in `injection` and `ejection`:
    ``bandwidth=bandwidth,terminals=numbered,injection=injection,ejection=ejection`` reads them back.
    """
    for label in topology.labels:
        if any((ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" for c in label):
            raise FileError(
                f"the label {shown(label)} holds a control character that XML does not allow: write GML", path
            )
    keys = [
        (XmlKey("label", "node", "string"), bool(topology.labels)),
        (XmlKey("Longitude", "node", "double"), topology.positions is not None),
        (XmlKey("Latitude", "node", "double"), topology.positions is not None),
        (XmlKey("terminal", "node", "int"), not topology.all_terminals),
        (XmlKey("injection", "node", _type(topology.injection)), bool(topology.injection)),
        (XmlKey("ejection", "node", _type(topology.ejection)), bool(topology.ejection)),
        (XmlKey("bandwidth", "edge", _type(topology.bandwidth)), bool(topology.bandwidth)),
    ]
    nodes = [XmlItem({"id": node}, data) for node, data in enumerate(node_attributes(topology))]
    edges = []
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        speed = {"bandwidth": topology.bandwidth[channel]} if topology.bandwidth else {}
        edges.append(XmlItem({"id": channel, "source": tail, "target": head}, speed))
    lines = graphml_lines(topology.spec, [key for key, used in keys if used], nodes, edges, directed=True)
    save(path, "\n".join([*lines, ""]))


def _type(numbers: Sequence[Fraction]) -> str:
    return "long" if all(number.denominator == 1 for number in numbers) else "string"


def parse(text: str, path: object = None) -> FileLinks:
    """Parse a GraphML text."""
    if not text.lstrip().startswith("<"):
        kind = format_of(text)
        hint = f"it looks like {kind}" if kind != "edgelist" else "an XML file starts with <"
        raise FileError(f"is not GraphML: {hint}", path, 1)
    return _GraphmlParser(path).read(text)


class _GraphmlParser:
    """The state of the parser."""

    def __init__(self, path: object) -> None:
        self.links = FileLinks(path)
        self.expat = expat.ParserCreate()
        self.stack: list[str] = []
        self.graphs = 0
        self.names: dict[str, str] = {}
        self.defaults = {"node": self.links.node_defaults, "edge": self.links.edge_defaults}
        self.key: tuple[str, str] = ("", "")
        self.ends: dict[str, str] = {}
        self.line = 0
        self.attributes: dict[str, str] = {}
        self.slot: str | None = None
        self.drawn: list[str] | None = None  # the label that yEd draws beside a node or an edge
        self.pieces: list[str] = []
        self.opens: dict[tuple[str, str], Callable[[dict[str, str]], None]] = {
            ("graphml", "key"): self.open_key,
            ("key", "default"): lambda given: self.collect(self.key[1]),
            ("graphml", "graph"): self.open_graph,
            ("graph", "node"): self.open_item,
            ("graph", "edge"): self.open_item,
            ("node", "data"): self.open_data,
            ("edge", "data"): self.open_data,
        }

    def read(self, text: str) -> FileLinks:
        parser = self.expat
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.StartDoctypeDeclHandler = self.doctype
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            if error.code in _CUT:
                self.fail("the file ends in the middle, it seems to have been cut: get it again", error.lineno)
            self.fail(f"is not well-formed XML: {expat.ErrorString(error.code)}", error.lineno)
        if not self.graphs:
            self.fail("there is no <graph> in it")
        self.links.complete()
        return self.links

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise FileError(message, self.links.path, line or self.expat.CurrentLineNumber)

    def doctype(self, *ignored: object) -> None:
        self.fail("<!DOCTYPE> is refused, since entities can exhaust memory or read other files: delete it")

    def start(self, tag: str, given: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        parent = self.stack[-1] if self.stack else ""
        self.stack.append(name)
        if not parent and name != "graphml":
            self.fail(f"the outermost element is <{name[:40]}>, that of GraphML is <graphml>")
        if len(self.stack) > _DEPTH:
            self.fail(f"more than {_DEPTH} nested elements: this is not a plain GraphML file")
        if name == "hyperedge" or (name == "graph" and parent != "graphml"):
            self.fail(f"a {name} inside a {parent} is not read: a network has nodes and edges only")
        opens = self.opens.get((parent, name))
        if opens:
            opens(given)
        elif name in _DRAWN and self.stack[2:3] in (["node"], ["edge"]):
            self.drawn = []

    def end(self, tag: str) -> None:
        name = self.stack.pop()
        parent = self.stack[-1] if self.stack else ""
        if name in _DRAWN and self.drawn is not None:
            if label := "".join(self.drawn).strip():
                self.attributes.setdefault(f"y:{name}", label)
            self.drawn = None
        if (parent, name) not in self.opens:
            return
        if name == "data" and self.slot is not None:
            add(self.attributes, self.slot, "".join(self.pieces))
            self.slot = None
        elif name == "default" and self.slot is not None:
            for owner in ("node", "edge") if self.key[0] == "all" else (self.key[0],):
                self.defaults.setdefault(owner, {})[self.slot] = "".join(self.pieces)
            self.slot = None
        elif name in ("node", "edge"):
            self.close_item(name)

    def data(self, text: str) -> None:
        if self.slot is not None and self.stack[-1] in ("data", "default"):
            self.pieces.append(text)
        elif self.drawn is not None and self.stack[-1] in _DRAWN:
            self.drawn.append(text)

    def collect(self, slot: str) -> None:
        self.slot = slot
        self.pieces = []

    def open_key(self, given: dict[str, str]) -> None:
        key = self.required(given, "id", "key")
        name = given.get("attr.name", key)
        self.names[key] = name
        self.key = (given.get("for", "all"), name)

    def open_graph(self, given: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            self.fail("a second <graph> begins: a file must hold one network")
        if "edgedefault" not in given:
            self.links.notes.append("edgedefault is missing: edges are taken as undirected")
        default = given.get("edgedefault", "undirected")
        self.links.directed = self.truth(default, "edgedefault", "directed or undirected")

    def open_item(self, given: dict[str, str]) -> None:
        self.ends = given
        self.line = self.expat.CurrentLineNumber
        self.attributes = {}
        for end in ("id",) if self.stack[-1] == "node" else ("source", "target"):
            self.required(given, end, self.stack[-1])

    def open_data(self, given: dict[str, str]) -> None:
        key = self.required(given, "key", "data")
        if key not in self.names:
            self.fail(f"data names key {shown(key)}, which no <key> declares")
        self.collect(self.names[key])

    def close_item(self, name: str) -> None:
        if name == "node":
            self.links.declare(self.ends["id"], self.line, self.attributes)
        else:
            own = self.ends.get("directed")
            directed = None if own is None else self.truth(own, "directed", "true or false")
            self.links.join(self.ends["source"], self.ends["target"], self.line, self.attributes, directed)

    def required(self, given: dict[str, str], attribute: str, element: str) -> str:
        if attribute not in given:
            self.fail(f"<{element}> has no {attribute}")
        return given[attribute]

    def truth(self, word: str, what: str, known: str) -> bool:
        if word not in _DIRECTED:
            self.fail(f"{what} is {shown(word)}: it must be {known}")
        return _DIRECTED[word]
