"""Fabrics for other programs: NetworkX, GraphML, BookSim2's anynet, ibsim's ``.net``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.files import write_pieces
from obliv._util.text import did_you_mean, printable
from obliv.errors import SpecError, TopologyError, extra
from obliv.fabric.arguments import typed
from obliv.fabric.files.net import write_net
from obliv.fabric.model import Fabric
from obliv.fabric.topology import network, safe
from obliv.io.formats._write import Item, Key, graphml_lines
from obliv.io.formats.anynet import write_anynet as write_topology

__all__ = ["export", "to_networkx", "write_anynet", "write_graphml"]

_SUFFIXES = {".net": "net", ".graphml": "graphml", ".xml": "graphml", ".anynet": "anynet"}


@typed
def export(fabric: Fabric, path: str | Path, format: str = "") -> tuple[str, ...]:
    """Write a fabric for another program.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        Replaced only once it is complete.
    format : {"net", "graphml", "anynet"}, optional
        Default: by the end of the name.

    Returns
    -------
    tuple of str
        Parts that the format cannot hold and that were left out.

    Raises
    ------
    SpecError
        If the format is unknown.
    TopologyError
        If the format cannot hold the fabric.
    FileError
        If it cannot be written.

    Examples
    --------
    >>> import obliv, tempfile
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(from_topology(obliv.topology("fattree:4,2")), f"{folder}/tree.graphml")
    ()
    """
    known: dict[str, Callable[[Fabric, str | Path], tuple[str, ...]]]
    known = {"net": write_net, "graphml": write_graphml, "anynet": write_anynet}
    chosen = format or _SUFFIXES.get(Path(path).suffix.lower(), "")
    if chosen not in known:
        message = f"format {format[:40]!r} is unknown: " if format else "the format is unclear from the name: "
        raise SpecError(message + (did_you_mean(format, known) if format else "end it in .net, .graphml or .anynet"))
    return known[chosen](fabric, path)


@typed
def to_networkx(fabric: Fabric) -> Any:
    """Return a fabric as a ``networkx.MultiGraph``.

    Parameters
    ----------
    fabric : Fabric
        Its nodes become the numbers from 0 with `kind`, `ident`, `guid` (hex digits), `label` (the description as it
        is) and `lid` for switches; every cable becomes an edge with `source`, `source_port`, `target`, `target_port`,
        the LIDs of ports of hosts as `source_lid` and `target_lid`, and `rate` in Gb/s, a Fraction, where it is known.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> graph = to_networkx(from_topology(obliv.topology("fattree:4,2")))
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (14, 16)
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise extra("networkx", "networkx") from None
    graph = networkx.MultiGraph(name=fabric.name)
    for node in range(len(fabric.nodes)):
        graph.add_node(node, label=fabric.nodes.description[node], **_about(fabric, node))
    for near, far, about in _cables(fabric):
        graph.add_edge(near, far, source=near, target=far, **about)
    return graph


def write_graphml(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as GraphML, an edge for every cable.

    Nodes have `label`, `kind`, `guid`, `lid` and, where they send and take traffic, their number `terminal`; edges have
    their ports and `rate` in Gb/s. ``file:PATH,bandwidth=rate,terminals=numbered`` reads it as a topology. Characters
    that XML has no place for become question marks.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    tuple of str
        Empty: nothing is left out.
    """
    write_pieces(path, (line.encode("utf-8") + b"\n" for line in _graphml(fabric)))
    return ()


def _graphml(fabric: Fabric) -> Iterator[str]:
    whole = all(rate.denominator == 1 for rate in fabric.rates)
    keys = (
        *(Key(name, "node", "string") for name in ("label", "kind", "ident", "guid")),
        *(Key(name, "node", "int") for name in ("lid", "terminal")),
        *(Key(name, "edge", "int") for name in ("source_port", "target_port", "source_lid", "target_lid")),
        Key("rate", "edge", "long" if whole else "string"),
    )
    return graphml_lines(fabric.name, keys, _nodes(fabric), _edges(fabric), directed=False)


def _nodes(fabric: Fabric) -> Iterator[Item]:
    senders = dict.fromkeys(fabric.node_of[fabric.endpoints].tolist())
    number = {node: k for k, node in enumerate(senders)}
    for node in range(len(fabric.nodes)):
        about = {"label": fabric.nodes.description[node] or fabric.nodes.ident[node], **_about(fabric, node)}
        if node in number:
            about["terminal"] = number[node]
        yield Item({"id": f"n{node}"}, {name: printable(str(value)) for name, value in about.items()})


def _edges(fabric: Fabric) -> Iterator[Item]:
    for near, far, about in _cables(fabric):
        yield Item({"source": f"n{near}", "target": f"n{far}"}, about)


def write_anynet(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as a network file of BookSim2's ``anynet``: switches are its routers, endpoints its nodes.

    Parameters
    ----------
    fabric : Fabric
        The format has neither parallel cables nor speeds: such a fabric is refused.
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    tuple of str
        Empty: nothing is left out.

    Raises
    ------
    TopologyError
        Naming the first cable that there is no place for.
    """
    topology = network(fabric)
    seen: dict[tuple[int, int], int] = {}
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        first = seen.setdefault((tail, head), channel)
        if first != channel:
            one, other = (topology.port_name(int(topology.slot_of[c])) for c in (first, channel))
            there = safe(topology.name_of(head))
            raise TopologyError(
                f"anynet has no parallel cables, and {one} and {other} both lead to {there}: write GraphML or .net"
            )
    if not topology.unit_bandwidth:
        slow = next(c for c, speed in enumerate(topology.bandwidth) if speed != topology.bandwidth[0])
        where = topology.port_name(int(topology.slot_of[slow]))
        raise TopologyError(
            f"anynet has no speeds, and the cable at {where} differs from others: write GraphML or .net"
        )
    write_topology(topology.with_rates(), path)
    return ()


def _about(fabric: Fabric, node: int) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"kind": fabric.nodes.kind[node], "ident": fabric.nodes.ident[node]}
    if fabric.nodes.guid[node]:
        attributes["guid"] = f"{int(fabric.nodes.guid[node]):016x}"
    lid = int(fabric.ports.lid[fabric.first_slot[node]])
    return attributes | ({"lid": lid} if lid and fabric.nodes.kind[node] == "switch" else {})


def _cables(fabric: Fabric) -> Iterator[tuple[int, int, dict[str, int | Fraction]]]:
    """Yield every cable once: the nodes at its ends, and its attributes."""
    for near in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        far = int(fabric.ports.peer[near])
        if near > far:
            continue
        about: dict[str, int | Fraction] = {"source_port": fabric.port_of(near), "target_port": fabric.port_of(far)}
        lids = {"source_lid": int(fabric.ports.lid[near]), "target_lid": int(fabric.ports.lid[far])}
        about |= {name: lid for name, lid in lids.items() if lid > 0}
        rate = fabric.rate_at(near)
        if rate is not None:
            about["rate"] = rate
        yield int(fabric.node_of[near]), int(fabric.node_of[far]), about
