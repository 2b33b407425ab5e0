"""Common parts of the writers of networks: attributes, links of two directions, GraphML as text."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from obliv._util.files import write_whole
from obliv._util.text import printable
from obliv.errors import FileError, TopologyError
from obliv.topologies.base import Topology

__all__ = ["Item", "Key", "cables", "graphml_lines", "node_attributes", "of_terminals", "require_plain", "save"]


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
    """Return the links: a channel and the one back, -1 where a channel has none.

    Parallel channels are joined in their order.

    Examples
    --------
    >>> from obliv.topologies.families.grids import ring
    >>> cables(ring(3))
    [(0, 3), (1, 4), (2, 5)]
    """
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    links: list[list[int]] = []
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        if waiting[head, tail]:
            links[waiting[head, tail].popleft()][1] = channel
        else:
            waiting[tail, head].append(len(links))
            links.append([channel, -1])
    return [(forth, back) for forth, back in links]


def require_plain(topology: Topology, tool: str) -> None:
    """Refuse networks without links, with rates, bandwidths, self-loops, parallel or one-way channels."""
    if not topology.channels:
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
        if tail == head:
            raise TopologyError(f"{tool} has no links from a node to itself: {name}")
        if times > 1:
            raise TopologyError(f"{tool} cannot tell parallel channels apart: there are {times} of {name}")
        if (head, tail) not in count:
            raise TopologyError(f"links of {tool} have two directions: {name} has no channel back")


class Key(NamedTuple):
    """A declared attribute of nodes or edges, and its type (``string``, ``int``, ``long`` or ``double``)."""

    name: str
    owner: str
    type: str


class Item(NamedTuple):
    """A node or an edge: XML attributes of its element, and its data by key."""

    attributes: Mapping[str, object]
    data: Mapping[str, object]


def graphml_lines(
    title: str, keys: Iterable[Key], nodes: Iterable[Item], edges: Iterable[Item], *, directed: bool
) -> Iterator[str]:
    r"""Return the lines of a GraphML file, without their ends.

    Examples
    --------
    >>> print(*graphml_lines("one", [Key("label", "node", "string")], [Item({"id": 0}, {"label": "a & b"})], [],
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


def _element(tag: str, item: Item) -> str:
    attributes = "".join(f' {name}="{value}"' for name, value in item.attributes.items())
    data = "".join(f'<data key="{key}">{_escaped(str(value))}</data>' for key, value in item.data.items())
    return f"    <{tag}{attributes}>{data}</{tag}>" if data else f"    <{tag}{attributes}/>"


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})  # a bare carriage return would be read as the end of a line
