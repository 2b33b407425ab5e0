"""A topology from links: channels, bandwidths, terminals and the requested component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.files import read_source
from obliv._util.text import did_you_mean, plural, shown
from obliv._util.typing import BoolArray, FloatArray, IntArray
from obliv.errors import FileError
from obliv.io.formats import _values as values
from obliv.io.formats._links import Edge, Links
from obliv.io.formats._options import Options, speed
from obliv.topologies.base import Topology
from obliv.topologies.make import build

__all__ = ["Parse", "from_file", "from_text", "network", "read_file"]

#: Reads a text into links; the path is for messages.
Parse = Callable[[str, object], Links]


def from_file(path: str | Path, parse: Parse, options: Options, format: str = "") -> Topology:
    """Return the topology of a file, with its spec, and the file's SHA-256 among its sources."""
    return from_text(*read_file(path), path, parse, options, format)


def from_text(text: str, digest: str, path: str | Path, parse: Parse, options: Options, format: str = "") -> Topology:
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
    }
    spec = f"file:{path}" + "".join(f",{key}={value}" for key, value in chosen.items() if value)
    return network(links, spec, options, sources=((str(path), digest),))


def read_file(path: str | Path) -> tuple[str, str]:
    """Read text and SHA-256 of a file, with a hint for ``file:NAME,bandwith=X``: an option that is part of the path."""
    name, comma, rest = str(path).partition(",")
    if comma and not Path(path).exists() and Path(name).is_file():
        option = rest.partition("=")[0].strip()
        known = ("bandwidth", "component", "default", "ejection", "format", "injection", "terminals")
        hint = did_you_mean(option, known)
        raise FileError(f"file not found, but {name} exists; if {shown(option)} is meant as an option, {hint}", path)
    return read_source(path)


def network(links: Links, spec: str, options: Options, **more: Any) -> Topology:
    """Return the topology that links and options describe; `more` are further fields of it."""
    if not links.names:
        raise links.fault("there is no node in it: a network needs at least one")
    notes = list(links.notes)
    edges = [edge for edge in links.edges if edge.tail != edge.head]
    if loops := len(links.edges) - len(edges):
        notes.append(f"{plural(loops, 'self-loop')} dropped: a packet for its own node needs no channel")
    channels = _channels(links, edges)
    inside = _component(links, channels, options, notes)
    if not inside.all():
        edges = [edge for edge in edges if inside[edge.tail] and inside[edge.head]]
        channels = channels[inside[channels].all(axis=1)]
    speeds = values.bandwidths_of(links, edges, options, notes)
    nodes = np.flatnonzero(inside).tolist()
    number = np.cumsum(inside) - 1
    names = tuple(links.names[node] for node in nodes)
    terminals = values.terminals_of(links, nodes, options, notes)
    return build(
        spec,
        len(nodes),
        number[channels],
        bandwidth=[speed for edge, speed in zip(edges, speeds, strict=True) for _ in range(2 - links.one_way(edge))]
        if speeds
        else (),
        terminals=number[terminals].tolist(),
        injection=values.rates_of(links, terminals, "injection", options.injection, notes),
        ejection=values.rates_of(links, terminals, "ejection", options.ejection, notes),
        labels=() if all(name == str(node) for node, name in enumerate(names)) else names,
        positions=_positions(links, nodes),
        notes=tuple(notes),
        **more,
    )


def _channels(links: Links, edges: Sequence[Edge]) -> IntArray:
    """Return the tail and head of every channel: one for a directed edge, two for an undirected one."""
    ends = np.fromiter((node for edge in edges for node in edge[:2]), np.int64).reshape(-1, 2)
    undirected = np.fromiter((not links.one_way(edge) for edge in edges), np.bool_)
    chosen: IntArray = np.stack([ends, ends[:, ::-1]], 1)[np.stack([np.ones_like(undirected), undirected], 1)]
    return chosen


def _component(links: Links, channels: IntArray, options: Options, notes: list[str]) -> BoolArray:
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
    if not options.component:
        parts = [
            f"{plural(int(sizes[c]), 'node')} ({values.some([links.names[v] for v in np.flatnonzero(member == c)], 3)})"
            for c in order[:5]
        ]
        rest = f"; and {count - 5} more" if count > 5 else ""
        what = "not strongly connected: it falls into" if one_way else "disconnected: it has"
        raise links.fault(
            f"the network is {what} {count} components: {'; '.join(parts)}{rest}; component=largest takes the largest"
        )
    kind = "strongly connected component" if one_way else "component"
    notes.append(f"the largest {kind} of {count} was taken: {int(sizes[order[0]])} of {plural(nodes, 'node')}")
    inside: BoolArray = member == order[0]
    return inside


def _positions(links: Links, nodes: list[int]) -> FloatArray | None:
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
