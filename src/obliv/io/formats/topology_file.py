"""The topology ``file:PATH``, in any known format."""

from __future__ import annotations

import importlib
from pathlib import Path

from obliv._util.text import did_you_mean
from obliv.errors import FileError, SpecError
from obliv.io.formats import anynet, dot, gml, graphml, rows
from obliv.io.formats._formats import UNREAD, format_of
from obliv.io.formats.links import Parse, ReadOptions, from_text, read_file
from obliv.specs import FILE_FORMATS
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology

_PARSERS: dict[str, Parse] = {
    "graphml": graphml.parse,
    "gml": gml.parse,
    "edgelist": rows.parse,
    "anynet": anynet.parse,
    "sndlib": anynet.parse_sndlib,
    "dot": dot.parse,
    "json": dot.parse_json,
    "graph6": dot.parse_graph6,
    **rows.READERS,
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
    directed: str = "",
) -> Topology:
    r"""Network read from a file: GraphML, GML, edge list, anynet, SNDlib, DOT and others, recognized by content.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        ``graphml``, ``gml``, ``edgelist``, ``anynet``, ``sndlib``, ``dot``, ``json`` (node-link data), ``graph6``,
        ``adjlist``, ``neighbors``, ``metis``, ``counts``, ``inet``, ``hpcc`` (also SimAI), ``matrix-market``,
        ``dimacs``, ``konect``, ``pajek``, ``lgf`` or ``tenstorrent``, if the content is ambiguous.
        ``ibnetdiscover`` and others are InfiniBand fabrics, which take no other option.
    bandwidth : str
        The edge attribute that is the channels' bandwidth, for example ``LinkSpeedRaw`` of the Topology Zoo; the third
        column of an edge list is called ``bandwidth``; SNDlib has ``preinstalled``, ``module`` and ``capacity`` (the
        first where it is positive, else the largest module). Default: 1 everywhere.
    terminals : str
        ``all`` nodes, which is the default but for anynet and hpcc; ``internal``: those with Internal=1 (Topology
        Zoo); ``numbered``: those with an attribute terminal, in the order of its numbers (files written by obliv);
        ``leaves``: those with a single neighbor; ``gpu*`` or ``cpu*|gpu*``: those with such names; ``numServer>0`` or
        ``type=host``: those whose attribute is so (``<``, ``<=``, ``>``, ``>=``, ``=``, ``!=``).
    component : str
        ``largest``: take the largest (strongly) connected component. Default: a disconnected network is refused.
    default : str
        The bandwidth of edges that lack the attribute.
    injection, ejection : str
        The node attributes that are the terminals' rates, packets per cycle that each may send and take; every terminal
        needs a positive number. Default: 1 everywhere.
    directed : str
        ``no``: a directed edge without one back is a link of two channels; ``yes``: every edge is one channel.
        Default: what the file says.

    Returns
    -------
    Topology
        Nodes are numbered in the order in which the file first names them, an undirected link is two channels, parallel
        ones are kept (but for SNDlib). ``notes`` list what was dropped or ignored.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "triangle.txt")
    >>> _ = path.write_text("a b\nb c\nc a\n")
    >>> file(path).labels
    ('a', 'b', 'c')
    """
    options = ReadOptions(bandwidth, default, terminals, component, injection, ejection, directed)
    if format and format not in (*_PARSERS, *FILE_FORMATS):
        if format in UNREAD:
            raise SpecError(f"format={format}: {UNREAD[format]}")
        known = (*_PARSERS, *FILE_FORMATS)
        hint = "did you mean graphml?" if format.lower() == "xml" else did_you_mean(format, known)
        raise SpecError(f"format={format} is unknown: {hint}")
    text, digest = read_file(path)
    kind = format or format_of(text)
    if kind in UNREAD:
        raise FileError(f"looks like {UNREAD[kind]}", path)
    if kind in _PARSERS:
        return from_text(text, digest, path, _PARSERS[kind], options, format)
    if options != ReadOptions():
        raise SpecError(f"{kind} files define their own terminals and rates: leave out the options")
    form = FILE_FORMATS[kind]
    network: Topology = getattr(importlib.import_module(form.module), form.function)(path)
    return network
