"""Conversion from and to igraph graphs."""

from __future__ import annotations

import importlib
from typing import Any

from obliv.errors import TopologyError, extra
from obliv.io.formats._links import Links, Options
from obliv.io.formats._network import network
from obliv.io.formats._write import of_terminals
from obliv.topologies.base import Topology

__all__ = ["from_igraph", "to_igraph"]


def from_igraph(
    graph: Any,
    *,
    bandwidth: str = "",
    default: str = "",
    terminals: str = "",
    component: str = "",
    injection: str = "",
    ejection: str = "",
    directed: str = "",
    spec: str = "",
) -> Topology:
    """Convert an igraph graph to a topology.

    Parameters
    ----------
    graph : igraph.Graph
        Nodes are numbered as its vertices and labeled by their attribute `label`, or `name`. An undirected edge is two
        channels.
    bandwidth, default, terminals, component, injection, ejection, directed : str
        As for :func:`obliv.io.formats.topology_file.file`; they name attributes of edges and vertices.
    spec : str
        What to call the topology; default ``igraph`` with the graph's attribute `name`.

    Returns
    -------
    Topology

    Raises
    ------
    TopologyError
        If the graph is empty or disconnected, or an attribute is not what it should be.

    Examples
    --------
    >>> import igraph
    >>> from_igraph(igraph.Graph.Famous("Petersen"))
    <Topology igraph: 10 nodes, 30 channels, 10 terminals>
    """
    try:
        vertices, edges, one_way = list(graph.vs), list(graph.es), bool(graph.is_directed())
        named = dict.fromkeys(graph.attributes())
    except (AttributeError, TypeError):
        raise TopologyError(f"an igraph graph is needed, not {type(graph).__name__}") from None
    links = Links(directed=one_way)
    for number, vertex in enumerate(vertices):
        own = _texts(vertex.attributes())
        own.setdefault("label", own.get("name", str(number)))
        links.declare(str(number), None, own)
    for edge in edges:
        links.join(str(edge.source), str(edge.target), None, _texts(edge.attributes()))
    name = str(graph["name"]) if "name" in named else ""
    options = Options(bandwidth, default, terminals, component, injection, ejection, directed)
    return network(links, spec or (f"igraph:{name}" if name else "igraph"), options)


def to_igraph(topology: Topology) -> Any:
    """Convert a topology to a directed ``igraph.Graph``.

    Parameters
    ----------
    topology : Topology
        Vertices and edges have the numbers of nodes and channels. Attributes are, of vertices, `label`, `x` and `y`
        where nodes have them, `terminal` (the terminal's number, None elsewhere) and the rates `injection` and
        `ejection` if they are not 1; of edges, `bandwidth`. Rates and bandwidths are Fractions.

    Returns
    -------
    igraph.Graph

    Raises
    ------
    MissingExtraError
        If igraph is not installed.

    Examples
    --------
    >>> from obliv.topologies.families.grids import ring
    >>> to_igraph(ring(5)).diameter()
    2
    """
    try:
        igraph = importlib.import_module("igraph")
    except ImportError:
        raise extra("igraph", "symmetry") from None
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    graph = igraph.Graph(n=topology.nodes, edges=ends, directed=True)
    graph["name"] = topology.spec
    if topology.labels:
        graph.vs["label"] = list(topology.labels)
    if topology.positions is not None:
        graph.vs["x"], graph.vs["y"] = topology.positions.T.tolist()
    rates = of_terminals(topology)
    number = {node: k for k, node in enumerate(topology.terminals.tolist())}
    graph.vs["terminal"] = [number.get(node) for node in range(topology.nodes)]
    for name in sorted({name for own in rates.values() for name in own} - {"terminal"}):
        graph.vs[name] = [rates.get(node, {}).get(name) for node in range(topology.nodes)]
    graph.es["bandwidth"] = [topology.bandwidth_of(channel) for channel in range(topology.channels)]
    return graph


def _texts(attributes: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in attributes.items() if value is not None}
