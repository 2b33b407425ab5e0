"""GML, the Graph Modelling Language, and common parts of the writers of networks: attributes, links, GraphML."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from html.entities import html5
from pathlib import Path
from typing import NamedTuple, Unpack
from xml.sax.saxutils import escape, quoteattr

from obliv._util.files import write_whole
from obliv._util.text import printable, shown
from obliv.errors import FileError, TopologyError
from obliv.io.formats.links import FileLinks, Options, ReadOptions, add, from_file
from obliv.topologies.base import Topology

# Common parts of the writers of networks: attributes, links of two directions, GraphML as text


def save(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FileError("cannot be written: a label has half of a surrogate pair", path) from None
    write_whole(path, data)


def node_attributes(topology: Topology) -> list[dict[str, object]]:
    """Return the attributes of every node: label and place, where the topology has them, and those of terminals."""
    terminals = of_terminals(topology)
    attributes: list[dict[str, object]] = [{} for _ in range(topology.nodes)]
    for node, own in enumerate(attributes):
        if topology.labels:
            own["label"] = topology.labels[node]
        if topology.positions is not None:
            own["Longitude"], own["Latitude"] = topology.positions[node].tolist()
        own |= terminals.get(node, {})
    return attributes


def of_terminals(topology: Topology) -> dict[int, dict[str, Fraction]]:
    """Return the attributes of terminals: their number (unless every node is a terminal) and their rates."""
    attributes: dict[int, dict[str, Fraction]] = {}
    for k, node in enumerate(topology.terminals.tolist()):
        own = attributes[node] = {} if topology.all_terminals else {"terminal": Fraction(k)}
        for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
            if rates:
                own[name] = rates[k]
    return attributes


def cables(topology: Topology) -> list[tuple[int, int]]:
    """Return the links: a channel and the one back, -1 for none; parallel channels are joined in order."""
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    links: list[list[int]] = []
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        if waiting[head, tail]:
            links[waiting[head, tail].popleft()][1] = channel
        else:
            waiting[tail, head].append(len(links))
            links.append([channel, -1])
    return [(forth, back) for forth, back in links]


def require_plain(topology: Topology, tool: str, *, linked: bool = True) -> None:
    """Refuse rates, bandwidths, parallel and one-way channels; if `linked`, self-loops and no links at all too."""
    if linked and not topology.channels:
        raise TopologyError(f"{tool} needs a network with links")
    if not topology.unit_rates:
        raise TopologyError(
            f"{tool} has no rates of terminals: leave out injection= and ejection=, or use topology.with_rates()"
        )
    if not topology.unit_bandwidth:
        raise TopologyError(f"the network has channels of several bandwidths, which the file for {tool} cannot hold")
    count = Counter(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    for (tail, head), times in count.items():
        name = f"{topology.name_of(tail)} -> {topology.name_of(head)}"
        if linked and tail == head:
            raise TopologyError(f"{tool} has no links from a node to itself: {name}")
        if times > 1:
            raise TopologyError(f"{tool} cannot tell parallel channels apart: there are {times} of {name}")
        if (head, tail) not in count:
            raise TopologyError(f"links of {tool} have two directions: {name} has no channel back")


class XmlKey(NamedTuple):
    """A declared attribute of nodes or edges, and its type (``string``, ``int``, ``long`` or ``double``)."""

    name: str
    owner: str
    type: str


class XmlItem(NamedTuple):
    """A node or an edge: XML attributes of its element, and its data by key."""

    attributes: Mapping[str, object]
    data: Mapping[str, object]


def graphml_lines(
    title: str, keys: Iterable[XmlKey], nodes: Iterable[XmlItem], edges: Iterable[XmlItem], *, directed: bool
) -> Iterator[str]:
    r"""Return the lines of a GraphML file, without their ends.

    Examples
    --------
    >>> print(*graphml_lines("one", [XmlKey("label", "node", "string")], [XmlItem({"id": 0}, {"label": "a & b"})], [],
    ...                      directed=True), sep="\n")
    <?xml version="1.0" encoding="utf-8"?>
    <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="label" for="node" attr.name="label" attr.type="string"/>
      <graph id="one" edgedefault="directed">
        <node id="0"><data key="label">a &amp; b</data></node>
      </graph>
    </graphml>
    """
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, owner, kind in keys:
        yield f'  <key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
    yield f'  <graph id={quoteattr(printable(title))} edgedefault="{"directed" if directed else "undirected"}">'
    for node in nodes:
        yield _element("node", node)
    for edge in edges:
        yield _element("edge", edge)
    yield "  </graph>"
    yield "</graphml>"


def _element(tag: str, item: XmlItem) -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in item.attributes.items())
    data = "".join(f'<data key="{key}">{_escaped(str(value))}</data>' for key, value in item.data.items())
    return f"    <{tag}{attributes}>{data}</{tag}>" if data else f"    <{tag}{attributes}/>"


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})  # a bare carriage return would be read as the end of a line


_DEPTH = 100
_TOKEN = re.compile(r'(?P<space>\s+|\#[^\n]*)|(?P<text>"[^"]*")|(?P<bracket>[\[\]])|(?P<word>[^\s"\[\]#]+)|(?P<open>")')
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([0-9A-Za-z]{1,40}));", re.ASCII)
_ODD = re.compile(r'[^ -~\ud800-\udfff]|["&]')  # halves of surrogate pairs stay, no file can be written with them
_KEY = re.compile(r"[A-Za-z_]\w*\Z")


def read_gml(path: str | Path, **options: Unpack[Options]) -> Topology:
    """Read a GML file, with the options of :func:`obliv.io.formats.topology_file.file`.

    Examples
    --------
    >>> import tempfile
    >>> from obliv.topologies.families.grids import ring
    >>> path = Path(tempfile.mkdtemp(), "ring.gml")
    >>> write_gml(ring(4), path)
    >>> read_gml(path).channels
    8
    """
    return from_file(path, parse, ReadOptions(**options), format="gml")


def write_gml(topology: Topology, path: str | Path) -> None:
    """Write a topology as GML, with the attributes that :func:`write_graphml` writes."""
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    out = ["graph [", f"  comment {_quoted(printable(topology.spec))}", "  directed 1"]
    if len(set(ends)) < len(ends):
        out.append("  multigraph 1")
    for node, attributes in enumerate(node_attributes(topology)):
        words = [f"{name} {_value(value)}" for name, value in ({"label": str(node)} | attributes).items()]
        out.append(f"  node [ id {node} {' '.join(words)} ]")
    for channel, (tail, head) in enumerate(ends):
        speed = f" bandwidth {_value(topology.bandwidth[channel])}" if topology.bandwidth else ""
        out.append(f"  edge [ source {tail} target {head}{speed} ]")
    save(path, "\n".join([*out, "]", ""]))


def _quoted(text: str) -> str:
    """Return a GML string: ASCII, everything else as character entities."""
    return '"' + _ODD.sub(lambda odd: f"&#{ord(odd[0])};", text) + '"'


def _value(value: object) -> str:
    """Return a value in GML, whose reals have a point and whose integers have 32 bits."""
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return mantissa + (".0" if "." not in mantissa else "") + e + exponent
    small = isinstance(value, Fraction) and value.denominator == 1 and value < 2**31
    return str(value) if small else _quoted(str(value))


class _Pair(NamedTuple):
    """``key value``, ``key [`` (value is None) or ``]`` (key is empty)."""

    key: str
    value: str | None
    line: int


def parse(text: str, path: object = None) -> FileLinks:
    """Parse a GML text."""
    links = FileLinks(path)
    open_lists: list[str] = []
    item: dict[str, str] = {}
    graphs = started = 0
    for key, value, line in _pairs(text, path):
        if not key:
            if not open_lists:
                raise FileError("a ] closes nothing: one [ is missing before it", path, line)
            closed = open_lists.pop()
            if open_lists == ["graph"] and closed in ("node", "edge"):
                _take(links, closed, item, started)
        elif value is None:
            graphs += not open_lists and key == "graph"
            if graphs > 1:
                raise FileError("a second graph begins: keep one network a file", path, line)
            open_lists.append(key)
            if len(open_lists) > _DEPTH:
                raise FileError(f"more than {_DEPTH} nested lists: this is not a plain GML file", path, line)
            if len(open_lists) == 2:
                item, started = {}, line
        elif open_lists == ["graph"] and key == "directed":
            if value not in ("0", "1"):
                raise FileError(f"directed is {shown(value)}: it must be 0 or 1", path, line)
            links.directed = value == "1"
        elif open_lists in (["graph", "node"], ["graph", "edge"]):
            if key in item and key in ("id", "source", "target"):
                raise FileError(f"{key} appears twice in this {open_lists[-1]}", path, line)
            add(item, key, value)
    if open_lists:
        count = f"{len(open_lists)} list{'s are' if len(open_lists) > 1 else ' is'} still open"
        raise FileError(f"the file ends in the middle, {count} ([ without ]): get it again", path, _last(text))
    if not graphs:
        raise FileError("is not GML: there is no  graph [ ... ]  in it", path)
    links.complete()
    return links


def _take(links: FileLinks, kind: str, item: dict[str, str], line: int) -> None:
    for key in ("id",) if kind == "node" else ("source", "target"):
        if key not in item:
            raise FileError(f"{'an' if kind == 'edge' else 'a'} {kind} has no {key}", links.path, line)
    if kind == "node":
        links.declare(item.pop("id"), line, item)
    else:
        links.join(item.pop("source"), item.pop("target"), line, item)


def _pairs(text: str, path: object) -> Iterator[_Pair]:
    key = ""
    for kind, word, line in _tokens(text, path):
        if kind == "word" and not key:
            if not _KEY.match(word):
                raise FileError(f"a key is expected, not {shown(word)}; GML is made of  key value  pairs", path, line)
            key = word
        elif word == "]":
            if key:
                raise FileError(f"the key {shown(key)} has no value", path, line)
            yield _Pair("", None, line)
        elif not key:
            raise FileError(f"{'a list' if word == '[' else 'a text'} has no key before it", path, line)
        else:
            yield _Pair(key, None if word == "[" else _plain(word[1:-1]) if kind == "text" else word, line)
            key = ""
    if key:
        raise FileError(f"the file ends in the middle, after the key {shown(key)}: get it again", path, _last(text))


def _last(text: str) -> int:
    return text.rstrip().count("\n") + 1


def _tokens(text: str, path: object) -> Iterator[tuple[str, str, int]]:
    line = 1
    for token in _TOKEN.finditer(text):  # every character fits one of the groups
        kind, word = token.lastgroup or "", token[0]
        if kind == "open":
            raise FileError('the text that begins here has no closing ": the file may have been cut', path, line)
        if kind != "space":
            yield kind, word, line
        if kind in ("space", "text"):
            line += word.count("\n")


def _plain(text: str) -> str:
    """Return a string with its character entities replaced."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return html5.get(f"{name};", entity[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else entity[0]
