"""Leveled networks and paths from files."""

from __future__ import annotations

import re
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.files import read_json_source, read_source, read_text
from obliv._util.progress import require_memory
from obliv._util.text import did_you_mean, lines, shown
from obliv.bufferless.leveled.base import Leveled, given
from obliv.bufferless.leveled.instances import Instance, network_of, readable
from obliv.errors import FileError, InputError, SpecError
from obliv.io.formats import gml, graphml, rows
from obliv.io.formats._formats import UNREAD, format_of
from obliv.io.formats.links import Edge, FileLinks
from obliv.specs.registry import register_topology

__all__ = ["leveled_file", "levels_of", "read_paths"]

_FORMATS: dict[str, Callable[[str, object], FileLinks]] = {
    "graphml": graphml.parse,
    "gml": gml.parse,
    "edgelist": rows.parse,
}
_ARROW = re.compile(r"->|→")


@register_topology("leveled-file", example="leveled-file:network.graphml")
def leveled_file(path: Path, format: str = "") -> Leveled:
    """Leveled network read from a file: GraphML, GML, an edge list, or a saved instance (JSON)."""
    if format and format not in (*_FORMATS, "json"):
        raise SpecError(f"format={format} is unknown: {did_you_mean(format, (*_FORMATS, 'json'))}")
    spec = f"leveled-file:{path}" + (f",format={format}" if format else "")
    text, digest = ("", "") if format == "json" else read_source(path)
    kind = format or format_of(text)
    if kind == "json":
        return _saved(path, spec)
    if kind not in _FORMATS:
        known = "a leveled network is GraphML, GML, an edge list or a saved instance"
        raise FileError(f"looks like {UNREAD.get(kind, kind)}; {known}", path)
    links = _FORMATS[kind](text, path)
    if not links.edges:
        raise FileError("there is no edge in it", path)
    low, high, level = levels_of(links)
    names = tuple(links.names)
    numbered = all(name == str(node) for node, name in enumerate(names))
    return given(
        spec,
        low,
        high,
        level,
        labels=() if numbered else names,
        sources=((str(path), digest),),
        notes=tuple(links.notes),
    )


def _saved(path: Path, spec: str) -> Leveled:
    data, digest = read_json_source(path)
    try:
        with readable():
            network = network_of(data.get("instance", data))
        low, high = network.edge_ends
    except InputError as error:
        raise FileError(str(error), path) from None
    return given(spec, low, high, network.node_level, labels=network.labels, sources=((str(path), digest),))


def read_paths(path: str | Path, network: Leveled) -> tuple[Array, Array, tuple[str, ...]]:
    """Read the paths in a file, one packet a line."""
    text = read_text(path)
    if format_of(text) == "json":
        return _saved_paths(path, network)
    paths: list[list[int]] = []
    where: list[int] = []
    staying = 0
    between: _Between | None = None
    for number, line in enumerate(lines(text), 1):
        content = line.partition("#")[0]
        arrows = _ARROW.search(content)
        words = [word.strip() for word in _ARROW.split(content)] if arrows else content.replace(",", " ").split()
        if not words:
            continue
        if arrows or not all(word.isdecimal() for word in words):
            between = between or _Between(network)
            edges = between.edges(words, path, number)
        else:
            edges = [_edge(word, network, path, number) for word in words]
        if edges:
            paths.append(edges)
            where.append(number)
        staying += not edges
    start = starts([len(edges) for edges in paths])
    edge = np.array([e for edges in paths for e in edges], np.int32)
    _require_joined(network, start, edge, path, where)
    notes = (f"{staying} of {staying + len(paths)} packets are at their destination already and are left out",)
    return start, edge, notes if staying else ()


def _saved_paths(path: str | Path, network: Leveled) -> tuple[Array, Array, tuple[str, ...]]:
    saved = Instance.load(path)
    ends, own = saved.network.edge_ends, network.edge_ends
    if not all(map(np.array_equal, ends, own)):
        raise FileError(
            f"holds paths of {saved.network.spec}, whose edges are not those of {network.spec}; "
            "load it with obliv.bufferless.load_instance",
            path,
        )
    return saved.start, saved.edge, saved.notes


def _edge(word: str, network: Leveled, path: object, line: int) -> int:
    if len(word) > 10 or int(word) >= network.edges:
        what = f"there is no edge {word[:20]}, {network.spec} has the edges 0 to {network.edges - 1}"
        raise FileError(f"{what}; nodes are written with -> between them", path, line)
    return int(word)


class _Between:
    """The first edge from a node to another."""

    def __init__(self, network: Leveled) -> None:
        require_memory(40.0 * network.edges, f"looking up the {network.edges} edges by their ends")
        self.network = network
        low, high = network.edge_ends
        self.keys, self.first = np.unique(low.astype(np.int64) * network.nodes + high, return_index=True)

    def edges(self, words: list[str], path: object, line: int) -> list[int]:
        try:
            nodes = [self.network.node(word) for word in words]
        except InputError as error:
            raise FileError(str(error), path, line) from None
        except ValueError:  # such as a superscript
            raise FileError(f"there is no node {shown(' '.join(words))}", path, line) from None
        return [self.edge(a, b, path, line) for a, b in pairwise(nodes)]

    def edge(self, a: int, b: int, path: object, line: int) -> int:
        edge = self.find(a, b)
        if edge >= 0:
            return edge
        one, two = (f"{shown(self.network.name_of(v))} (level {self.network.node_level[v]})" for v in (a, b))
        back = "; one leads back, a path is listed from its lowest level up" if self.find(b, a) >= 0 else ""
        raise FileError(f"no edge leads from {one} to {two}{back}", path, line)

    def find(self, a: int, b: int) -> int:
        key = a * self.network.nodes + b
        at = int(np.searchsorted(self.keys, key))
        return int(self.first[at]) if at < len(self.keys) and self.keys[at] == key else -1


def _require_joined(network: Leveled, start: Array, edge: Array, path: object, where: list[int]) -> None:
    low, high = network.ends_of(edge)
    joined = high[:-1] == low[1:]
    joined[start[1:-1] - 1] = True  # from one path to the next
    if joined.all():
        return
    at = int(np.argmin(joined))
    packet = int(np.searchsorted(start, at, side="right")) - 1
    raise FileError(
        f"the path breaks: edge {edge[at]} ends at node {network.name_of(int(high[at]))} and edge {edge[at + 1]} "
        f"begins at node {network.name_of(int(low[at + 1]))}; list edges from the lowest level up",
        path,
        where[packet],
    )


_SHOWN = 8  # nodes of a cycle in a message


def levels_of(links: FileLinks) -> tuple[Array, Array, Array]:
    """Return the lower and upper end of every edge, and the level of every node; FileError if no levels fit."""
    for edge in links.edges:
        if edge.tail == edge.head:
            raise links.fault(
                f"edge {links.edge_name(edge)} leads nowhere: an edge must lead to the next level", edge.line
            )
    with_level = [bool(links.node_value(node, "level")) for node in range(len(links.names))]
    ends = [(edge.tail, edge.head) for edge in links.edges]
    if any(with_level):
        level = _given(links)
        ends = [_upwards(links, edge, level) for edge in links.edges]
    else:
        level = _computed(links)
        if not all(map(links.one_way, links.edges)):
            links.notes.append("edges without a direction are taken to lead from their first node up to their second")
    low, high = np.array(ends, np.int32).reshape(-1, 2).T
    return low, high, np.array(level, np.int32)


def _given(links: FileLinks) -> list[int]:
    level = []
    for node, name in enumerate(links.names):
        text = links.node_value(node, "level")
        if not re.fullmatch(r"[0-9]{1,9}(\.0+)?", text):
            what = f"is {shown(text)}" if text else "is missing, others have one"
            raise links.fault(
                f"the level of node {shown(name)} {what}: it must be a whole number from 0", links.node_line(node)
            )
        level.append(int(text.partition(".")[0]))
    used = set(level)
    if len(used) <= max(used):
        missing = next(number for number in range(len(used) + 1) if number not in used)
        raise links.fault(f"there is no node on level {missing}: levels go from 0 up without a gap")
    return level


def _upwards(links: FileLinks, edge: Edge, level: list[int]) -> tuple[int, int]:
    rise = level[edge.head] - level[edge.tail]
    if rise == 1:
        return edge.tail, edge.head
    if rise == -1 and not links.one_way(edge):
        return edge.head, edge.tail
    remedy = "; exchange its ends" if rise == -1 else ""
    raise links.fault(
        f"edge {links.edge_name(edge)} leads from level {level[edge.tail]} to level {level[edge.head]}: "
        f"an edge must lead to the next level{remedy}",
        edge.line,
    )


def _computed(links: FileLinks) -> list[int]:
    """Compute the levels of every component, with its lowest node on level 0."""
    beside: list[list[tuple[int, int]]] = [[] for _ in links.names]
    for number, edge in enumerate(links.edges):
        beside[edge.tail].append((edge.head, number))
        beside[edge.head].append((edge.tail, number))
    level: list[int | None] = [None] * len(links.names)
    for root in range(len(links.names)):
        if level[root] is not None:
            continue
        level[root] = 0
        part = [root]
        for node in part:
            here = level[node] or 0
            for other, number in beside[node]:
                edge = links.edges[number]
                height = here + (1 if edge.tail == node else -1)
                if level[other] is None:
                    level[other] = height
                    part.append(other)
                elif level[other] != height:
                    raise _contradiction(links, edge)
        least = min(level[node] or 0 for node in part)
        for node in part:
            level[node] = (level[node] or 0) - least
    return [height or 0 for height in level]


def _contradiction(links: FileLinks, edge: Edge) -> Exception:
    cycle = _cycle(links)
    if cycle:
        names = [shown(links.names[node]) for node in cycle]
        around = " -> ".join([*names[:_SHOWN], *(["..."] if len(names) > _SHOWN else []), names[0]])
        return links.fault(f"the edges form a cycle, so there are no levels: {around}", edge.line)
    return links.fault(
        f"no levels fit edge {links.edge_name(edge)}: paths of different lengths lead from one node to another; "
        "put a node into the middle of edges that skip a level",
        edge.line,
    )


def _cycle(links: FileLinks) -> list[int]:
    """Return the nodes of some directed cycle, the first one first; empty if the graph is acyclic."""
    graph: TopologicalSorter[int] = TopologicalSorter()
    for edge in links.edges:
        graph.add(edge.head, edge.tail)
    try:
        graph.prepare()
    except CycleError as error:
        cycle = error.args[1][:-1]
        first = cycle.index(min(cycle))
        return [*cycle[first:], *cycle[:first]]
    return []
