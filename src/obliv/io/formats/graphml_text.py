"""GraphML as text, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from obliv._util.text import printable

__all__ = ["Item", "Key", "graphml_lines"]


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
