"""The topology ``file:PATH``: whatever format the file is in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from obliv._util.text import did_you_mean
from obliv.errors import FileError, SpecError
from obliv.io import anynet, edgelist, gml, graphml
from obliv.io._links import Links
from obliv.io._network import Options, from_file
from obliv.io._sniff import looks_like
from obliv.specs.registry import TOPOLOGIES, register_topology
from obliv.topologies.base import Topology

__all__ = ["file"]

_FORMATS: dict[str, Callable[[str, object], Links]] = {
    "graphml": graphml.parse,
    "gml": gml.parse,
    "edgelist": edgelist.parse,
    "anynet": anynet.parse,
}
_FABRIC = "ibnetdiscover"
_UNREAD = {
    "sndlib": "a network of SNDlib, which is not read yet",
    "json": "JSON, from which no network is read: load it with NetworkX and use obliv.io.from_networkx",
    "dot": "a Graphviz drawing (DOT), which is not read: convert it to GraphML, for example with NetworkX",
    "html": "a web page: download the file itself",
}


@register_topology("file", example="file:network.graphml")
def file(
    path: Path,
    format: str = "",
    bandwidth: str = "",
    terminals: str = "",
    component: str = "",
    default: str = "",
    injection: str = "",
    ejection: str = "",
) -> Topology:
    r"""Network read from a file: GraphML, GML, edge list, anynet or ibnetdiscover, told apart by their content.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        ``graphml``, ``gml``, ``edgelist``, ``anynet`` or ``ibnetdiscover``, where the content leaves a doubt. The last
        is an InfiniBand fabric, as ``fabric:PATH`` reads it; nothing else can be chosen for it.
    bandwidth : str
        The edge attribute that is the channels' bandwidth, for example ``LinkSpeedRaw`` of the Topology Zoo; the third
        column of an edge list is called ``bandwidth``. Default: 1 everywhere.
    terminals : str
        ``all`` nodes, which is the default but for anynet; ``internal``: those with Internal=1 (Topology Zoo);
        ``numbered``: those with an attribute terminal, in the order of its numbers (files written by obliv).
    component : str
        ``largest``: take the largest (strongly) connected component. Default: a disconnected network is refused.
    default : str
        The bandwidth of edges that lack the attribute.
    injection, ejection : str
        The node attributes that are the terminals' rates, packets per cycle that each may send and take; every terminal
        needs a positive number. Default: 1 everywhere.

    Returns
    -------
    Topology
        Nodes are numbered in the order in which the file first names them, an undirected link is two channels, parallel
        ones are kept. ``notes`` says what was dropped or left aside.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "triangle.txt")
    >>> _ = path.write_text("a b\nb c\nc a\n")
    >>> file(path).labels
    ('a', 'b', 'c')
    """
    options = Options(bandwidth, default, terminals, component, injection, ejection)
    if format and format not in (*_FORMATS, _FABRIC):
        if format in _UNREAD:
            raise SpecError(f"format={format}: {_UNREAD[format]}")
        raise SpecError(f"format={format} is unknown: {did_you_mean(format, (*_FORMATS, _FABRIC))}")

    def parse(text: str, name: object) -> Links:
        found = format or looks_like(text)
        if found == _FABRIC:
            raise _FabricError
        if found in _UNREAD:
            raise FileError(f"looks like {_UNREAD[found]}", name)
        return _FORMATS[found](text, name)

    try:
        return from_file(path, parse, options, format)
    except _FabricError:
        if options != Options():
            raise SpecError(
                "an InfiniBand fabric says itself what sends, and how fast: leave out the options"
            ) from None
        made: Topology = TOPOLOGIES.find("fabric").make(path)
        return made


class _FabricError(Exception):
    """The file is an InfiniBand fabric, which makes a topology of its own."""
