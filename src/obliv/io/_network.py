"""Links made into a topology: channels, bandwidths, terminals and the component asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.files import read_text, sha256_of
from obliv._util.rationals import rational
from obliv._util.text import did_you_mean, shown
from obliv.errors import FileError, SpecError
from obliv.io._links import Edge, Links
from obliv.topologies.base import Topology, build

__all__ = ["MUST_BE", "Options", "from_file", "network", "positive"]

Parse = Callable[[str, object], Links]

MUST_BE = "it must be a positive, finite number such as 10, 2.5 or 1/3"


@dataclass(frozen=True)
class Options:
    """What to take from a file beside its nodes and edges.

    Parameters
    ----------
    bandwidth : str
        The edge attribute that is the bandwidth; empty for 1 everywhere.
    default : str
        The bandwidth of edges without that attribute; empty to refuse them.
    terminals : str
        ``all`` nodes, the ``internal`` ones (Internal=1), the ``numbered`` ones (by their attribute terminal);
        empty for what the format itself says, or all.
    component : str
        ``largest`` takes the largest component; empty refuses a disconnected network.
    injection, ejection : str
        The node attributes that are the terminals' rates; empty for 1 everywhere.
    """

    bandwidth: str = ""
    default: str = ""
    terminals: str = ""
    component: str = ""
    injection: str = ""
    ejection: str = ""

    def __post_init__(self) -> None:
        if self.default and not self.bandwidth:
            raise SpecError("default= is the bandwidth of links that lack the attribute of bandwidth=: give both")
        if self.default and positive(self.default) is None:
            raise SpecError(f"default={self.default}: {MUST_BE}")
        for name, value, known in (
            ("terminals", self.terminals, ("all", "internal", "numbered")),
            ("component", self.component, ("largest",)),
        ):
            if value and value not in known:
                raise SpecError(f"{name}={value} is unknown: {did_you_mean(value, known)}")


def positive(text: str) -> Fraction | None:
    """The positive rational that a text stands for; None where it is none."""
    number = rational(text)
    return number if number is not None and number > 0 else None


def from_file(path: str | Path, parse: Parse, options: Options, format: str = "") -> Topology:
    """The topology of a file, its spec, and the file's SHA-256 among its sources."""
    links = parse(_read(path), path)
    given = {
        "format": format,
        "bandwidth": options.bandwidth,
        "default": str(positive(options.default)) if options.default else "",
        "terminals": "" if options.terminals == "all" and links.terminals is None else options.terminals,
        "component": options.component,
        "injection": options.injection,
        "ejection": options.ejection,
    }
    spec = f"file:{path}" + "".join(f",{key}={value}" for key, value in given.items() if value)
    return network(links, spec, options, sources=((str(path), sha256_of(path)),))


def _read(path: str | Path) -> str:
    """The text of a file, with a hint for ``file:NAME,bandwith=X``: what is no known option counts as the path's."""
    name, comma, rest = str(path).partition(",")
    if comma and not Path(path).exists() and Path(name).is_file():
        option = rest.partition("=")[0].strip()
        known = ("bandwidth", "component", "default", "ejection", "format", "injection", "terminals")
        hint = did_you_mean(option, known)
        raise FileError(
            f"there is no such file, but there is {name}; if {shown(option)} is meant as an option, {hint}", path
        )
    return read_text(path)


def network(links: Links, spec: str, options: Options, **more: Any) -> Topology:
    """The topology that links and options make; `more` are further fields of it."""
    if not links.names:
        raise links.fault("there is no node in it: a network needs at least one")
    notes = list(links.notes)
    edges = [edge for edge in links.edges if edge.tail != edge.head]
    if loops := len(links.edges) - len(edges):
        notes.append(f"{_count(loops, 'self-loop')} dropped: a packet for its own node needs no channel")
    channels = _channels(links, edges)
    inside = _component(links, channels, options, notes)
    if not inside.all():
        edges = [edge for edge in edges if inside[edge.tail] and inside[edge.head]]
        channels = channels[inside[channels].all(axis=1)]
    speeds = _bandwidths(links, edges, options, notes)
    kept = np.flatnonzero(inside)
    number = np.cumsum(inside) - 1
    names = tuple(links.names[node] for node in kept.tolist())
    terminals = _terminals(links, kept.tolist(), options, notes)
    return build(
        spec,
        len(kept),
        number[channels],
        bandwidth=[speed for edge, speed in zip(edges, speeds, strict=True) for _ in range(2 - _one_way(links, edge))]
        if speeds
        else (),
        terminals=number[terminals].tolist(),
        injection=_rates(links, terminals, "injection", options.injection, notes),
        ejection=_rates(links, terminals, "ejection", options.ejection, notes),
        labels=() if all(name == str(node) for node, name in enumerate(names)) else names,
        positions=_positions(links, kept.tolist()),
        notes=tuple(notes),
        **more,
    )


def _one_way(links: Links, edge: Edge) -> bool:
    return links.directed if edge.directed is None else edge.directed


def _channels(links: Links, edges: Sequence[Edge]) -> npt.NDArray[np.int64]:
    """Tail and head of every channel: one for a directed edge, there and back for an undirected one."""
    there = np.fromiter((node for edge in edges for node in edge[:2]), np.int64).reshape(-1, 2)
    both = np.fromiter((not _one_way(links, edge) for edge in edges), np.bool_)
    chosen: npt.NDArray[np.int64] = np.stack([there, there[:, ::-1]], 1)[np.stack([np.ones_like(both), both], 1)]
    return chosen


def _bandwidths(links: Links, edges: Sequence[Edge], options: Options, notes: list[str]) -> list[Fraction]:
    wanted = options.bandwidth
    if not wanted:
        if fit := _could_be_bandwidth(links, edges):
            notes.append(
                f"every bandwidth is 1; the edges have {_some(fit)}: bandwidth={_some(fit[-1:])} would take that"
            )
        return []
    known = {name for edge in edges for name in edge.attributes} | set(links.edge_defaults)
    lacking = [edge for edge in edges if not links.value(edge, wanted)]
    if wanted not in known and edges:
        hint = _near(wanted, known) or "its edges have no attributes at all"
        raise links.fault(f"no edge has the attribute {shown(wanted)} that bandwidth= asks for; {hint}")
    if lacking and not options.default:
        share = f"{len(lacking)} of {_count(len(edges), 'edge')} {'has' if len(lacking) == 1 else 'have'} none"
        raise links.fault(
            f"edge {links.edge_name(lacking[0])} has no {wanted} ({share}): "
            "give default=NUMBER for such edges, or leave bandwidth= out",
            lacking[0].line,
        )
    if lacking:
        notes.append(f"{len(lacking)} of {_count(len(edges), 'edge')} without {wanted} taken as {options.default}")
    default = positive(options.default)
    number = cache(positive)
    speeds = []
    for edge in edges:
        text = links.value(edge, wanted)
        speed = number(text) if text else default
        if speed is None:
            raise links.fault(f"{wanted} of edge {links.edge_name(edge)} is {shown(text)}: {MUST_BE}", edge.line)
        speeds.append(speed)
    return speeds


def _could_be_bandwidth(links: Links, edges: Sequence[Edge]) -> list[str]:
    """Attributes that are a positive number other than 1 on some edge, the rarest first; not the edges' ids."""
    fits = cache(lambda text: positive(text) not in (None, 1))
    count = Counter(
        name
        for attributes in (links.edge_defaults, *(edge.attributes for edge in edges))
        for name, text in attributes.items()
        if name not in ("id", "key") and fits(text)
    )
    return sorted(count, key=lambda name: (count[name], name))


def _component(
    links: Links, channels: npt.NDArray[np.int64], options: Options, notes: list[str]
) -> npt.NDArray[np.bool_]:
    """Which nodes to keep."""
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
    one_way = any(_one_way(links, edge) for edge in links.edges)
    if not options.component:
        parts = [
            f"{_count(int(sizes[c]), 'node')} ({_some([links.names[v] for v in np.flatnonzero(member == c)], 3)})"
            for c in order[:5]
        ]
        rest = f"; and {count - 5} more" if count > 5 else ""
        what = "not strongly connected: it falls into" if one_way else "disconnected: it has"
        raise links.fault(
            f"the network is {what} {count} components: {'; '.join(parts)}{rest}; component=largest takes the largest"
        )
    kind = "strongly connected component" if one_way else "component"
    notes.append(f"the largest {kind} of {count} was taken: {int(sizes[order[0]])} of {_count(nodes, 'node')}")
    inside: npt.NDArray[np.bool_] = member == order[0]
    return inside


def _terminals(links: Links, nodes: list[int], options: Options, notes: list[str]) -> list[int]:
    internal = [node for node in nodes if links.node_value(node, "Internal") in ("1", "1.0", "true")]
    numbered = [node for node in nodes if links.node_value(node, "terminal")]
    if options.terminals == "internal":
        if not internal:
            raise links.fault(
                "terminals=internal takes the nodes with Internal=1, as in the Topology Zoo; there is none"
            )
        return internal
    if options.terminals == "numbered":
        return _by_number(links, numbered)
    if links.terminals is not None and not options.terminals:
        within = set(nodes)
        hosts = [node for node in links.terminals if node in within]
        if not hosts:
            raise links.fault("no node hangs on these routers, nothing can send: terminals=all makes them terminals")
        return hosts
    if options.terminals:
        return nodes
    if numbered and [links.node_value(node, "terminal") for node in nodes] != [str(k) for k in range(len(nodes))]:
        notes.append(f"{_count(len(numbered), 'node')} with a terminal number: terminals=numbered goes by those")
    elif 0 < len(internal) < len(nodes):
        outside = f"{len(nodes) - len(internal)} of {_count(len(nodes), 'node')}"
        notes.append(f"{outside} without Internal=1: terminals=internal leaves them out of the terminals")
    return nodes


def _by_number(links: Links, nodes: Sequence[int]) -> list[int]:
    found: dict[int, int] = {}
    for node in nodes:
        text = links.node_value(node, "terminal")
        if not re.fullmatch(r"[0-9]{1,9}", text):
            what = f"terminal of node {shown(links.names[node])} is {shown(text)}: it must be a whole number"
            raise links.fault(what, links.node_line(node))
        if int(text) in found:
            both = f"{shown(links.names[found[int(text)]])} and {shown(links.names[node])}"
            raise links.fault(f"nodes {both} both have the terminal number {text}", links.node_line(node))
        found[int(text)] = node
    if not found:
        raise links.fault("terminals=numbered takes the nodes that have an attribute terminal; there is none")
    return [found[number] for number in sorted(found)]


def _rates(links: Links, terminals: list[int], what: str, wanted: str, notes: list[str]) -> tuple[Fraction, ...]:
    """The rate of every terminal, injection or ejection as `what` says; empty where all are one."""
    if not wanted:
        if any(positive(links.node_value(node, what)) not in (None, 1) for node in terminals):
            notes.append(f"every {what} rate is 1; the nodes have {what}: {what}={what} would take that")
        return ()
    lacking = [node for node in terminals if not links.node_value(node, wanted)]
    if lacking:
        _require_known(links, what, wanted)
        share = f"{len(lacking)} of {len(terminals)} terminals {'has' if len(lacking) == 1 else 'have'} none"
        raise links.fault(
            f"node {shown(links.names[lacking[0]])} has no {wanted} ({share}): give every terminal one, "
            f"choose the terminals with terminals=, or leave {what}= out",
            links.node_line(lacking[0]),
        )
    number = cache(positive)
    rates = []
    for node in terminals:
        text = links.node_value(node, wanted)
        rate = number(text)
        if rate is None:
            name = shown(links.names[node])
            raise links.fault(f"{wanted} of node {name} is {shown(text)}: {MUST_BE}", links.node_line(node))
        rates.append(rate)
    return () if all(rate == 1 for rate in rates) else tuple(rates)


def _require_known(links: Links, what: str, wanted: str) -> None:
    """Refuse a rate's attribute that no node has."""
    known = {name for attributes in links.attributes for name in attributes} | links.node_defaults.keys()
    if wanted not in known:
        hint = _near(wanted, known) or (
            "its nodes have no attributes at all: GraphML and GML can hold rates, "
            f"an edge list as comments  # node: NAME {wanted}=1/2"
        )
        raise links.fault(f"no node has the attribute {shown(wanted)} that {what}= asks for; {hint}")


def _near(wanted: str, known: Set[str]) -> str:
    """A hint at the right name of an attribute; empty where none is known."""
    # few, because the search for a near name takes its time with each
    return did_you_mean(wanted, sorted(known)[:50]) if known else ""


def _positions(links: Links, nodes: list[int]) -> npt.NDArray[np.float64] | None:
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


def _some(words: Sequence[str], most: int = 8) -> str:
    """The first few of a list, in words."""
    cut = [word if len(word) <= 40 and word.isprintable() else shown(word) for word in words[:most]]
    return ", ".join(cut) + (f" and {len(words) - most} more" if len(words) > most else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
