"""Nodes and edges of a file and the options of reading it, and the topology that they are converted to."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np

from obliv._util.arrays import BoolArray, FloatArray, IntArray
from obliv._util.files import read_source
from obliv._util.rationals import positive, rational, speed, speed_hint, unit
from obliv._util.text import did_you_mean, plural, shown
from obliv.errors import FileError, InputError, SpecError, TopologyError
from obliv.topologies.base import Topology
from obliv.topologies.make import build

_TEXTS = {
    "bandwidth": 'the name of an attribute that all links have, such as bandwidth="capacity"',
    "default": 'a speed as text, such as default="10"',
    "terminals": "all, internal, numbered, leaves, a name such as gpu* or a condition; with_terminals takes nodes",
    "component": "largest, or empty",
    "directed": "yes, no, or empty for what the file says",
}
#: A terminal's condition: an attribute, and how it compares with a number or a word.
_CONDITION = re.compile(r"(?P<attribute>[^<>=!*?\[\]|]+?)\s*(?P<how><=|>=|!=|==|<|>|=)\s*(?P<value>.+)", re.DOTALL)


class Options(TypedDict, total=False):
    """The options of reading a file, as keywords."""

    bandwidth: str
    default: str
    terminals: str
    component: str
    injection: str
    ejection: str
    directed: str


@dataclass(frozen=True)
class ReadOptions:
    """Attributes and nodes to take from a file, see :func:`obliv.io.formats.topology_file.file`."""

    bandwidth: str = ""
    default: str = ""
    terminals: str = ""
    component: str = ""
    injection: str = ""
    ejection: str = ""
    directed: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, str):
                what = _TEXTS.get(name, "the name of an attribute")
                raise SpecError(f"{name}={value!r:.40} is not a text: it is {what}")
        if self.default and not self.bandwidth:
            raise SpecError("default= is the bandwidth of links that lack the attribute of bandwidth=: use both")
        if self.default and speed(self.default) is None:
            raise SpecError(f"default={self.default}: {speed_hint(self.default)}")
        if self.condition is None and not set(self.terminals) & set("*?["):
            _require_known("terminals", self.terminals, ("all", "internal", "numbered", "leaves"))
        _require_known("component", self.component, ("largest",))
        _require_known("directed", self.directed, ("no", "yes"))

    @property
    def condition(self) -> Condition | None:
        """The condition on an attribute that terminals fulfil; None if they are chosen otherwise."""
        match = _CONDITION.fullmatch(self.terminals)
        return None if match is None else Condition(**match.groupdict())


class Condition(NamedTuple):
    """How an attribute compares with a value: as numbers where both are, else as words."""

    attribute: str
    how: str
    value: str

    def holds(self, text: str) -> bool:
        """Return whether an attribute fulfils the condition; a missing one never does."""
        mine, other = rational(text), rational(self.value)
        if mine is None or other is None:
            return bool(text) and self.how in ("=", "==", "!=") and (text == self.value) == (self.how != "!=")
        less, equal = mine < other, mine == other
        return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less, "!=": not equal}.get(
            self.how, equal
        )


def _require_known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value and value not in known:
        more = "; or a name such as gpu*, or a condition such as numServer>0" if name == "terminals" else ""
        raise SpecError(f"{name}={value} is unknown: {did_you_mean(value, known)}{more}")


_NOTHING: Mapping[str, str] = {}


class Edge(NamedTuple):
    """A link as the file gives it, its ends as node numbers."""

    tail: int
    head: int
    line: int | None
    directed: bool | None
    """None where the direction of all edges of the file applies."""
    attributes: Mapping[str, str]


@dataclass
class FileLinks:
    """Nodes in the order of their first mention, and the edges between them in the order of the file."""

    path: object = None
    directed: bool = False
    names: list[str] = field(default_factory=list)
    attributes: list[Mapping[str, str]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    node_defaults: dict[str, str] = field(default_factory=dict)
    edge_defaults: dict[str, str] = field(default_factory=dict)
    """Attributes of the nodes and edges that do not give them themselves."""
    terminals: list[int] | None = None
    """The terminals that the format itself names, in their order."""
    notes: list[str] = field(default_factory=list)
    positions: list[tuple[float, float]] | None = None
    _number: dict[str, int] = field(default_factory=dict)
    _mentioned: list[int | None] = field(default_factory=list)
    _declared: dict[int, int | None] = field(default_factory=dict)

    def fault(self, message: str, line: int | None = None) -> InputError:
        """Return the error for something that is wrong at a line."""
        return TopologyError(message) if self.path is None else FileError(message, self.path, line)

    def mention(self, key: str, line: int | None = None) -> int:
        """Return the number of the node that the file calls `key`; a new one at its first mention."""
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.names)
            self.names.append(key)
            self.attributes.append(_NOTHING)
            self._mentioned.append(line)
        return number

    def declare(self, key: str, line: int | None, attributes: Mapping[str, str]) -> int:
        """Declare a node with its attributes; its label becomes its name unless blank."""
        number = self.mention(key, line)
        if number in self._declared:
            first = self._declared[number]
            where = "" if first is None else f" (first in line {first})"
            raise self.fault(f"node {shown(key)} appears twice{where}: every node needs its own id", line)
        self._declared[number] = line
        self.attributes[number] = attributes
        self.names[number] = self._label(attributes) or key
        return number

    def _label(self, attributes: Mapping[str, str]) -> str:
        """Return the label that a node has itself, or that yEd drew beside it; empty if it has neither."""
        labels = (attributes.get(name, self.node_defaults.get(name, "")) for name in ("label", "y:NodeLabel"))
        return next((label for label in labels if label.strip()), "")

    def join(
        self,
        tail: str,
        head: str,
        line: int | None = None,
        attributes: Mapping[str, str] = _NOTHING,
        directed: bool | None = None,
    ) -> None:
        """Add an edge between two nodes that the file calls `tail` and `head`."""
        self.edges.append(Edge(self.mention(tail, line), self.mention(head, line), line, directed, attributes))

    def complete(self) -> None:
        """Refuse edges to nodes that were never declared; name nodes without a label by `name` if all have one."""
        for key, number in self._number.items():
            if number not in self._declared:
                line = self._mentioned[number]
                raise self.fault(f"an edge names node {shown(key)}, which the file does not declare", line)
        names = [self.node_value(node, "name") for node in range(len(self.names))]
        if all(names):
            unlabeled = (not self._label(attributes) for attributes in self.attributes)
            self.names = [name if bare else own for own, name, bare in zip(self.names, names, unlabeled, strict=True)]

    def value(self, edge: Edge, attribute: str) -> str:
        """Return an attribute of an edge, empty if it has none."""
        return edge.attributes.get(attribute, self.edge_defaults.get(attribute, "")).strip()

    def node_value(self, node: int, attribute: str) -> str:
        """Return an attribute of a node, empty if it has none."""
        return self.attributes[node].get(attribute, self.node_defaults.get(attribute, "")).strip()

    def node_line(self, node: int) -> int | None:
        """Return the line where a node is declared, or first mentioned if it is never declared."""
        return self._declared.get(node, self._mentioned[node])

    def one_way(self, edge: Edge) -> bool:
        """Return whether an edge is one channel rather than two."""
        return self.directed if edge.directed is None else edge.directed

    def edge_name(self, edge: Edge) -> str:
        """Return the name of an edge in messages."""
        return f"{shown(self.names[edge.tail])} - {shown(self.names[edge.head])}"


def add(attributes: dict[str, str], name: str, value: str) -> None:
    """Set an attribute; a repeated value is joined to the first one, so that it is never taken for a number."""
    attributes[name] = f"{attributes[name][:40]},{value[:40]}" if name in attributes else value


# A topology from links: channels, bandwidths, terminals with their rates, and the requested component


#: Reads a text into links; the path is for messages.
Parse = Callable[[str, object], FileLinks]

_IDENTIFIER = re.compile(r"(?i:(?:.*[_ .-])?(?:id|key|name|source|target|index|guid|uuid))|.+(?:Id|ID)")
_WEIGHT = re.compile(r"weight|bandwidth|capacity|speed|rate|(?:^|[\W_])(?:cap|bw)(?:[\W_]|$)", re.IGNORECASE)


def from_file(path: str | Path, parse: Parse, options: ReadOptions, format: str = "") -> Topology:
    """Return the topology of a file, with its spec, and the file's SHA-256 among its sources."""
    return from_text(*read_file(path), path, parse, options, format)


def from_text(
    text: str, digest: str, path: str | Path, parse: Parse, options: ReadOptions, format: str = ""
) -> Topology:
    """Return the topology of a file whose text and SHA-256 have been read."""
    links = parse(text, path)
    chosen = {
        "format": format,
        "bandwidth": options.bandwidth,
        "default": str(speed(options.default)) if options.default else "",
        "terminals": "" if options.terminals == "all" and links.terminals is None else options.terminals,
        "component": options.component,
        "injection": options.injection,
        "ejection": options.ejection,
        "directed": options.directed,
    }
    spec = f"file:{path}" + "".join(f",{key}={value}" for key, value in chosen.items() if value)
    return network(links, spec, options, sources=((str(path), digest),))


def read_file(path: str | Path) -> tuple[str, str]:
    """Read text and SHA-256 of a file, with a hint for ``file:NAME,bandwith=X``: an option that is part of the path."""
    name, comma, rest = str(path).partition(",")
    if comma and not os.path.exists(path) and os.path.isfile(name):
        option = rest.partition("=")[0].strip()
        known = ("bandwidth", "component", "default", "directed", "ejection", "format", "injection", "terminals")
        hint = did_you_mean(option, known)
        raise FileError(f"file not found, but {name} exists; if {shown(option)} is meant as an option, {hint}", path)
    return read_source(path)


def network(links: FileLinks, spec: str, options: ReadOptions, **more: Any) -> Topology:
    """Return the topology that links and options describe; `more` are further fields of it."""
    if not links.names:
        raise links.fault("there is no node in it: a network needs at least one")
    notes = list(links.notes)
    if options.directed:
        links = replace(links, edges=_directed(links, options.directed, notes))
    edges = [edge for edge in links.edges if edge.tail != edge.head]
    if loops := len(links.edges) - len(edges):
        notes.append(f"{plural(loops, 'self-loop')} dropped: a packet for its own node needs no channel")
    channels = _channels(links, edges)
    inside = _component(links, channels, options, notes)
    if not inside.all():
        edges = [edge for edge in edges if inside[edge.tail] and inside[edge.head]]
        channels = channels[inside[channels].all(axis=1)]
    speeds = bandwidths_of(links, edges, options, notes)
    nodes = np.flatnonzero(inside).tolist()
    number = np.cumsum(inside) - 1
    names = tuple(links.names[node] for node in nodes)
    terminals = terminals_of(links, nodes, channels, options, notes)
    return build(
        spec,
        len(nodes),
        number[channels],
        bandwidth=[speed for edge, speed in zip(edges, speeds, strict=True) for _ in range(2 - links.one_way(edge))]
        if speeds
        else (),
        terminals=number[terminals].tolist(),
        injection=rates_of(links, terminals, "injection", options.injection, notes),
        ejection=rates_of(links, terminals, "ejection", options.ejection, notes),
        labels=() if all(name == str(node) for node, name in enumerate(names)) else names,
        positions=_positions(links, nodes),
        notes=tuple(notes),
        **more,
    )


def _directed(links: FileLinks, wanted: str, notes: list[str]) -> list[Edge]:
    """Return the edges as ``directed=`` wants them: each one channel, or with a channel back where they have none."""
    if wanted == "yes":
        return [edge._replace(directed=True) for edge in links.edges]
    lone = Counter((edge.tail, edge.head) for edge in links.edges if links.one_way(edge))
    met = {pair: min(count, lone[pair[::-1]]) for pair, count in lone.items() if pair[0] != pair[1]}
    edges = []
    for edge in links.edges:
        joined = links.one_way(edge) and met.get(edge[:2], 0) > 0
        if joined:
            met[edge[:2]] -= 1
        edges.append(edge._replace(directed=joined))
    if pairs := sum(edge.directed is True for edge in edges) // 2:
        notes.append(f"{plural(pairs, 'edge')} with an edge back: the two are one link, a channel each way")
    return edges


def _channels(links: FileLinks, edges: Sequence[Edge]) -> IntArray:
    """Return the tail and head of every channel: one for a directed edge, two for an undirected one."""
    ends = np.fromiter((node for edge in edges for node in edge[:2]), np.int64).reshape(-1, 2)
    undirected = np.fromiter((not links.one_way(edge) for edge in edges), np.bool_)
    chosen: IntArray = np.stack([ends, ends[:, ::-1]], 1)[np.stack([np.ones_like(undirected), undirected], 1)]
    return chosen


def _component(links: FileLinks, channels: IntArray, options: ReadOptions, notes: list[str]) -> BoolArray:
    """Return which nodes belong to the network: all of them, or those of the largest component."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = len(links.names)
    graph = csr_array((np.ones(len(channels)), (channels[:, 0], channels[:, 1])), shape=(nodes, nodes))
    count, member = connected_components(graph, directed=True, connection="strong")
    if count == 1:
        return np.ones(nodes, np.bool_)
    sizes = np.bincount(member, minlength=count)
    first = np.full(count, nodes)
    np.minimum.at(first, member, np.arange(nodes))
    order = np.lexsort((first, -sizes)).tolist()
    one_way = any(map(links.one_way, links.edges))
    weak = connected_components(graph, directed=False)[1] if one_way else member
    drawn = "directed=no takes every edge as a link of two directions" if len(set(weak.tolist())) < count else ""
    if options.component and sizes.max() == 1 and drawn:
        raise links.fault(f"no node can be reached from another one and back, since edges are directed: {drawn}")
    if not options.component:
        parts = [
            f"{plural(int(sizes[c]), 'node')} ({some([links.names[v] for v in np.flatnonzero(member == c)], 3)})"
            for c in order[:5]
        ]
        rest = f"; and {count - 5} more" if count > 5 else ""
        what = "not strongly connected: it falls into" if one_way else "disconnected: it has"
        largest = "component=largest takes the largest" if sizes.max() > 1 else ""  # one node is no network
        remedy = "; ".join(filter(None, (drawn, largest))) or "no edge joins two nodes: is the file complete?"
        raise links.fault(f"the network is {what} {count} components: {'; '.join(parts)}{rest}; {remedy}")
    kind = "strongly connected component" if one_way else "component"
    taken = f"{int(sizes[order[0]])} of {plural(nodes, 'node')}"
    notes.append(f"the largest {kind} of {count} was taken: {taken}" + f"; {drawn}" * bool(drawn))
    inside: BoolArray = member == order[0]
    return inside


def _positions(links: FileLinks, nodes: list[int]) -> FloatArray | None:
    """Return the positions of the nodes if the file gives all of them."""
    if links.positions is not None:
        places = [links.positions[node] for node in nodes]
    else:
        places = []
        for node in nodes:
            try:
                x, y = (float(links.node_value(node, name)) for name in ("Longitude", "Latitude"))
            except ValueError:
                return None
            places.append((x, y))
    where = np.asarray(places)
    return where if np.isfinite(where).all() else None


def bandwidths_of(links: FileLinks, edges: Sequence[Edge], options: ReadOptions, notes: list[str]) -> list[Fraction]:
    """Return the bandwidth of every edge; empty if all are one."""
    attribute = options.bandwidth
    if not attribute:
        if fit := _could_be_bandwidth(links, edges):
            notes.append(f"every bandwidth is 1; the edges have {some(fit)}: use it with bandwidth={some(fit[:1])}")
        return []
    known = {name for edge in edges for name in edge.attributes} | set(links.edge_defaults)
    lacking = [edge for edge in edges if not links.value(edge, attribute)]
    if attribute not in known and edges:
        hint = _near(attribute, {name for name in known if not _is_identifier(name)} or known)
        hint = hint or "its edges have no attributes at all"
        raise links.fault(f"no edge has the attribute {shown(attribute)} that bandwidth= names; {hint}")
    if lacking and not options.default:
        share = f"{len(lacking)} of {plural(len(edges), 'edge')} {'lacks' if len(lacking) == 1 else 'lack'} it"
        raise links.fault(
            f"edge {links.edge_name(lacking[0])} has no {attribute} ({share}): "
            "give default=NUMBER for such edges, or leave bandwidth= out",
            lacking[0].line,
        )
    if lacking:
        notes.append(f"{len(lacking)} of {plural(len(edges), 'edge')} without {attribute} taken as {options.default}")
    default = speed(options.default)
    number = cache(speed)
    in_units = f"{attribute}Units" in known
    speeds, plain = [], 0
    for edge in edges:
        text = links.value(edge, attribute)
        value = number(text) if text else default
        if value is None:
            raise links.fault(
                f"{attribute} of edge {links.edge_name(edge)} is {shown(text)}: {speed_hint(text)}", edge.line
            )
        plain += bool(text) and positive(text) is not None and not in_units
        speeds.append(value * _unit_of(links, edge, attribute) if text and in_units and positive(text) else value)
    if 0 < plain < len(edges) - len(lacking):
        notes.append(f"{attribute} has no unit on {plural(plain, 'edge')}: taken as bit/s, since others have one")
    return speeds


def _unit_of(links: FileLinks, edge: Edge, attribute: str) -> int:
    """Return the unit of an edge's bandwidth, as the Topology Zoo gives it: 10 and G in two attributes."""
    text = links.value(edge, f"{attribute}Units")
    bits = unit(text) if text else None
    if bits is None:
        wrong = f"is {shown(text)}: use k, M, G or T" if text else "is missing, but other edges have it"
        raise links.fault(f"{attribute}Units of edge {links.edge_name(edge)} {wrong}", edge.line)
    return bits


def _could_be_bandwidth(links: FileLinks, edges: Sequence[Edge]) -> list[str]:
    """Return the attributes that are a positive number other than 1 on some edge, the likeliest bandwidth first.

    These are names of weights and speeds, and labels with a unit; then what most edges have. Identifiers are none.
    """
    fits = cache(lambda text: speed(text) not in (None, 1))
    count: Counter[str] = Counter()
    likely: set[str] = set()
    for attributes in (links.edge_defaults, *(edge.attributes for edge in edges)):
        for name, text in attributes.items():
            if not _is_identifier(name) and fits(text):
                count[name] += 1
                if _WEIGHT.search(name) or ("label" in name.lower() and positive(text) is None):
                    likely.add(name)
    return sorted(count, key=lambda name: (name not in likely, "label" in name.lower(), -count[name], name))


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None


def terminals_of(
    links: FileLinks, nodes: list[int], channels: IntArray, options: ReadOptions, notes: list[str]
) -> list[int]:
    """Return the terminals among the nodes, in their order."""
    internal = [node for node in nodes if links.node_value(node, "Internal") in ("1", "1.0", "true")]
    numbered = [node for node in nodes if links.node_value(node, "terminal")]
    if options.terminals == "internal":
        if not internal:
            raise links.fault(
                "terminals=internal takes the nodes with Internal=1, as in the Topology Zoo; no node has that"
            )
        return internal
    if options.terminals == "numbered":
        return _by_number(links, numbered)
    if options.terminals not in ("", "all"):
        return _chosen(links, nodes, channels, options)
    if links.terminals is not None and not options.terminals:
        within = set(nodes)
        hosts = [node for node in links.terminals if node in within]
        if not hosts:
            raise links.fault(
                "these routers have no nodes, so nothing sends: use terminals=all to make the routers terminals"
            )
        return hosts
    if options.terminals:
        return nodes
    if numbered and [links.node_value(node, "terminal") for node in nodes] != [str(k) for k in range(len(nodes))]:
        notes.append(f"{plural(len(numbered), 'node')} with a terminal number: use terminals=numbered to take those")
    elif 0 < len(internal) < len(nodes):
        outside = f"{len(nodes) - len(internal)} of {plural(len(nodes), 'node')}"
        notes.append(f"{outside} without Internal=1: use terminals=internal to leave them out of the terminals")
    return nodes


def _chosen(links: FileLinks, nodes: list[int], channels: IntArray, options: ReadOptions) -> list[int]:
    """Return the leaves, or the nodes that fit a pattern of names or a condition on an attribute."""
    if options.terminals == "leaves":
        neighbors = np.bincount(np.unique(np.sort(channels, axis=1), axis=0).ravel(), minlength=len(links.names))
        chosen, what = [node for node in nodes if neighbors[node] == 1], "has a single neighbor"
    elif condition := options.condition:
        known = {name for own in links.attributes for name in own} | links.node_defaults.keys()
        if condition.attribute not in known:
            hint = _near(condition.attribute, known) or "its nodes have no attributes at all"
            raise links.fault(f"no node has the attribute {shown(condition.attribute)} that terminals= names; {hint}")
        chosen = [node for node in nodes if condition.holds(links.node_value(node, condition.attribute))]
        values = sorted({links.node_value(node, condition.attribute) for node in nodes} - {""})
        what = f"fits that condition; {condition.attribute} is {some(values, 6) or 'empty everywhere'}"
    else:
        patterns = options.terminals.split("|")
        chosen = [node for node in nodes if any(fnmatchcase(links.names[node], pattern) for pattern in patterns)]
        what = f"has such a name; there are {some([links.names[node] for node in nodes], 4)}"
    if not chosen:
        raise links.fault(f"terminals={options.terminals} takes no node: none {what}")
    return chosen


def _by_number(links: FileLinks, nodes: Sequence[int]) -> list[int]:
    node_of: dict[int, int] = {}
    for node in nodes:
        text = links.node_value(node, "terminal")
        if not re.fullmatch(r"[0-9]{1,9}", text):
            what = f"terminal of node {shown(links.names[node])} is {shown(text)}: it must be a whole number"
            raise links.fault(what, links.node_line(node))
        if int(text) in node_of:
            names = f"{shown(links.names[node_of[int(text)]])} and {shown(links.names[node])}"
            raise links.fault(f"nodes {names} both have the terminal number {text}", links.node_line(node))
        node_of[int(text)] = node
    if not node_of:
        raise links.fault("terminals=numbered takes the nodes that have an attribute terminal; no node has one")
    return [node_of[number] for number in sorted(node_of)]


def rates_of(links: FileLinks, terminals: list[int], what: str, wanted: str, notes: list[str]) -> tuple[Fraction, ...]:
    """Return the rate of every terminal, where `what` is injection or ejection; empty if all are one."""
    if not wanted:
        if any(speed(links.node_value(node, what)) not in (None, 1) for node in terminals):
            notes.append(f"every {what} rate is 1; the nodes have the attribute {what}: use it with {what}={what}")
        return ()
    lacking = [node for node in terminals if not links.node_value(node, wanted)]
    if lacking:
        _require_known_options(links, what, wanted)
        share = f"{len(lacking)} of {len(terminals)} terminals {'lacks' if len(lacking) == 1 else 'lack'} it"
        raise links.fault(
            f"node {shown(links.names[lacking[0]])} has no {wanted} ({share}): give every terminal one, "
            f"choose the terminals with terminals=, or leave {what}= out",
            links.node_line(lacking[0]),
        )
    number = cache(speed)
    rates = []
    for node in terminals:
        text = links.node_value(node, wanted)
        rate = number(text)
        if rate is None:
            name = shown(links.names[node])
            raise links.fault(f"{wanted} of node {name} is {shown(text)}: {speed_hint(text)}", links.node_line(node))
        rates.append(rate)
    return () if all(rate == 1 for rate in rates) else tuple(rates)


def _require_known_options(links: FileLinks, what: str, wanted: str) -> None:
    """Refuse a rate's attribute that no node has."""
    known = {name for attributes in links.attributes for name in attributes} | links.node_defaults.keys()
    if wanted not in known:
        hint = _near(wanted, known) or (
            "its nodes have no attributes at all: GraphML and GML can hold rates, "
            f"an edge list as comments  # node: NAME {wanted}=1/2"
        )
        raise links.fault(f"no node has the attribute {shown(wanted)} that {what}= names; {hint}")


def _near(wanted: str, known: Set[str]) -> str:
    """Return a hint at the right name of an attribute; empty if there are no attributes."""
    return did_you_mean(wanted, sorted(known)[:50]) if known else ""  # comparing very many names would be slow


def some(words: Sequence[str], limit: int = 8) -> str:
    """Return the first few words of a list and how many more there are."""
    cut = [word if len(word) <= 40 and word.isprintable() else shown(word) for word in words[:limit]]
    return ", ".join(cut) + (f" and {len(words) - limit} more" if len(words) > limit else "")
