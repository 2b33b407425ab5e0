"""Levels of a graph: read from its nodes, or computed so that every edge leads one level up."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter

import numpy as np

from obliv._util.text import shown
from obliv._util.typing import Array
from obliv.io.formats._links import Edge, Links

__all__ = ["levels_of"]


_SHOWN = 8  # nodes of a cycle in a message


def levels_of(links: Links) -> tuple[Array, Array, Array]:
    """Return the lower and upper end of every edge, and the level of every node.

    FileError for an edge that does not lead to the next level, a cycle, or a node without a level.
    """
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


def _given(links: Links) -> list[int]:
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


def _upwards(links: Links, edge: Edge, level: list[int]) -> tuple[int, int]:
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


def _computed(links: Links) -> list[int]:
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


def _contradiction(links: Links, edge: Edge) -> Exception:
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


def _cycle(links: Links) -> list[int]:
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
