"""GML, the Graph Modelling Language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from html.entities import html5
from pathlib import Path
from typing import NamedTuple

from obliv._util.text import printable, shown
from obliv.errors import FileError
from obliv.io.formats._links import Links, Options, add
from obliv.io.formats._network import from_file
from obliv.io.formats._write import node_attributes, save
from obliv.topologies.base import Topology

__all__ = ["parse", "read_gml", "write_gml"]

_DEPTH = 100
_TOKEN = re.compile(r'(?P<space>\s+|\#[^\n]*)|(?P<text>"[^"]*")|(?P<bracket>[\[\]])|(?P<word>[^\s"\[\]#]+)|(?P<open>")')
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([0-9A-Za-z]{1,40}));", re.ASCII)
_ODD = re.compile(r'[^ -~\ud800-\udfff]|["&]')  # halves of surrogate pairs stay, no file can be written with them
_KEY = re.compile(r"[A-Za-z_]\w*\Z")


def read_gml(
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
    """Read a GML file.

    Parameters
    ----------
    path : str or Path
        The file.
    bandwidth, default, terminals, component, injection, ejection, directed : str
        As for :func:`obliv.io.formats.topology_file.file`.

    Returns
    -------
    Topology
        Nodes are labeled by their attribute `label`, by `name` if all have one, or by their id; positions are Longitude
        and Latitude if every node has them. Parallel edges are kept, whether the file says ``multigraph 1`` or not.

    Examples
    --------
    >>> import tempfile
    >>> from obliv.topologies.families.grids import ring
    >>> path = Path(tempfile.mkdtemp(), "ring.gml")
    >>> write_gml(ring(4), path)
    >>> read_gml(path).channels
    8
    """
    return from_file(
        path, parse, Options(bandwidth, default, terminals, component, injection, ejection, directed), format="gml"
    )


def write_gml(topology: Topology, path: str | Path) -> None:
    """Write a topology as GML.

    Every channel is a directed edge. Bandwidths stand in the edge attribute `bandwidth`, the terminals' numbers in the
    node attribute `terminal` where not every node is one, their rates in `injection` and `ejection`:
    ``bandwidth=bandwidth,terminals=numbered,injection=injection,ejection=ejection`` reads them back.

    Parameters
    ----------
    topology : Topology
        The network; its labels and positions are written too.
    path : str or Path
        The file, replaced only once it is complete.
    """
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


def parse(text: str, path: object = None) -> Links:
    """Parse a GML text."""
    links = Links(path)
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


def _take(links: Links, kind: str, item: dict[str, str], line: int) -> None:
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
