"""Formats of network files, recognized by their content."""

from __future__ import annotations

import re
from functools import cache

from obliv._util.sndlib import is_native
from obliv._util.text import lines
from obliv.io.formats.rows import is_multiline_adjlist, kind_of_rows
from obliv.specs import FILE_FORMATS

_EDGES = "write its links as lines  u v bandwidth"
#: Formats that are recognized but not read, with what to do; and, with a question mark, files of two readings.
UNREAD = {
    "sndlib-xml": "a network of SNDlib in XML, which is not read: get it in the native format",
    "html": "a web page: download the file itself",
    "gexf": "GEXF, which is not read: load it with NetworkX's read_gexf and obliv.from_networkx, or export GraphML",
    "ratatoskr": f"a network of ratatoskr (XML), which is not read: {_EDGES}, or its mesh as mesh:4x4x2",
    "drawio": "a drawing of draw.io, which is not read: draw it with yEd, or " + _EDGES,
    "slurm": f"a topology.conf of Slurm, which is not read: it has no cables; {_EDGES}, or scan the fabric",
    "noxim": "a configuration of Noxim, which is not read: write its network as a spec, such as mesh:4x4",
    "booksim": "a configuration of BookSim2, which is not read: write its network as a spec, such as torus:8x8, or "
    "take the file that network_file= names",
    "yaml": f"YAML, from which no network is read: {_EDGES}",
    "ini": f"lines of settings, from which no network is read: {_EDGES}",
    "leda": "a graph of LEDA, which is not read: load it with NetworkX's read_leda and obliv.from_networkx",
    "brite": f"a topology of BRITE, which is not read: {_EDGES}",
    "repetita": f"a topology of REPETITA, which is not read: {_EDGES}",
    "caida": f"AS relationships of CAIDA, which are not read: they are no links of a network; {_EDGES}",
    "htsim": "a topology of HTSIM, which is not read: write its fat tree as a spec, such as xgft:2;4,8;1,4",
    "ndnsim": f"a topology of ndnSIM, which is not read: {_EDGES}",
    "ucinet": f"a DL file of UCINET, which is not read: {_EDGES}",
    "digraph6": "digraph6, which is not read: write sparse6, or " + _EDGES,
    "matrix": "an adjacency matrix, which is not read: load it with numpy.loadtxt and NetworkX's from_numpy_array, "
    "and use obliv.from_networkx",
    "ufm": "a cabling plan of UFM, not a network: scan the fabric and compare the plan with it",
    "lft": "forwarding tables of InfiniBand: they are a routing, lft:PATH on fabric:PATH",
    "nx-data": "an edge list of NetworkX with data, which is not read: load it with NetworkX's read_edgelist and "
    "obliv.from_networkx, or write one attribute, data=['weight']",
    "multiline-adjlist": "a multi-line adjacency list of NetworkX, which is not read: load it with NetworkX's "
    "read_multiline_adjlist and obliv.from_networkx",
    "adjlist?": "either edges with a bandwidth (format=edgelist) or neighbor lists, a node and its neighbors in a line "
    "(format=adjlist): say which",
    "neighbors?": "either edges (format=edgelist) or neighbor lists, line by line the neighbors of a node "
    "(format=neighbors): say which",
    "counts?": "either edges after a line with the numbers of nodes and edges (format=counts) or edges alone "
    "(format=edgelist): say which",
    "lists?": "either edges after a line with the numbers of nodes and edges (format=counts) or, after these, line by "
    "line the neighbors of a node (format=metis if nodes are counted from 1, format=neighbors if from 0): say which",
}

_HEAD = 1 << 16
_JSON = re.compile(r"\{|\[\s*[\[\]{\"\d-]")
_GML = re.compile(r"^[ \t]*graph[ \t\r\n]*\[", re.MULTILINE)
_GML_HEAD = re.compile(r"(Creator|Version)\s")
_SKIPPED = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z)|/\*.*?\*/|\#[^\n]*(?:\n|\Z))*", re.DOTALL)
_DOT = re.compile(r"(strict\s+)?(di)?graph\b\s*(\"[^\"]*\"|[\w.-]+)?\s*\{|strict\s+(di)?graph\b", re.IGNORECASE)
_ANYNET = re.compile(r"(router|node)[ \t]+\d+([ \t]|\Z)")
_GRAPH6 = re.compile(r"(>>(graph|sparse)6<<)?:?[?-~]+\s*", re.ASCII)
#: The outermost elements of XML files.
_ELEMENTS = {
    "<network-on-chip": "ratatoskr",
    "<network": "sndlib-xml",
    "<gexf": "gexf",
    "<mxfile": "drawio",
    "<mxgraphmodel": "drawio",
    "<html": "html",
}
#: Beginnings of lines that no other format has.
_SIGNS = {
    "matrix-market": r"%%MatrixMarket\b",
    "konect": r"%[ \t]*(a?sym|bip)\b",
    "pajek": r"\*(?i:vertices|network)\b",
    "leda": r"LEDA\.GRAPH\b",
    "lgf": r"@(nodes|arcs|edges)\b",
    "brite": r"Topology:[ \t]*\([ \t]*\d+[ \t]+Nodes",
    "repetita": r"NODES[ \t]+\d+\s*\nlabel[ \t]",
    "dimacs": r"p[ \t]+[a-z]+[ \t]+\d+[ \t]+\d+[ \t]*$",
    "slurm": r"[ \t]*(SwitchName|BlockName)=",
    "noxim": r"[ \t]*(mesh_dim_[xy]|dimx|dimy|n_delta_tiles)[ \t]*:",
    "booksim": r"[ \t]*(topology|routing_function)[ \t]*=[^=\n]*;",
    "caida": r"\d+\|\d+\|-?\d",
    "htsim": r"(Tiers|Podsize)[ \t]+\d+[ \t]*$",
    "ndnsim": r"router[ \t]*$",
    "ucinet": r"dl[ \t]+n[ \t]*=",
    "ufm": r"#?StartDevice,[ \t]*StartPort\b",
    "lft": r"(Unicast lids \[|\w*dump_ucast_routes: Switch)",
    "nx-data": r"[^\s{]+[ \t]+[^\s{]+[ \t]+\{['\"].*\}[ \t]*$",
    "digraph6": r"(>>digraph6<<)?&[?-~]+$",
    "yaml": r"(---|- [\w-]+:|[\w-]+:)[ \t]*($|[^\s(][^\n]*$)",
    "ini": r"(\[[\w. -]+\]|[\w.]+[ \t]*=[^=>\n]*)$",
}
_FIRST = ("yaml", "ini", "ndnsim")  # these must be the first line


def format_of(text: str) -> str:
    r"""Return the format of a text, ``edgelist`` if nothing else fits; with a question mark where several may.

    Examples
    --------
    >>> format_of("router 0 node 0 node 1\n"), format_of("a b 10\n")
    ('anynet', 'edgelist')
    """
    head = "\n".join(lines(text[:_HEAD].lstrip()))
    if head.startswith("<"):
        lower = head.lower()
        if "<graphml" in lower or ":graphml" in lower:
            return "graphml"
        return next((kind for sign, kind in _ELEMENTS.items() if sign in lower), "graphml")
    if is_native(head):
        return "sndlib"
    for name, form in FILE_FORMATS.items():
        if _sign(form.sign).search(head):
            return name
    if _JSON.match(head):
        return "json"
    first = next((line.strip() for line in lines(head) if line.strip() and line.lstrip()[0] != "#"), "")
    if _GML.search(head) or _GML_HEAD.match(first):
        return "gml"
    if _DOT.match(head, _end_of_comments(head)):
        return "dot"
    for name, sign in _SIGNS.items():
        if _sign(sign).match(first) if name in _FIRST else _sign(sign).search(head):
            return name
    if _ANYNET.match(first):
        return "anynet"
    if _is_graph6(text):
        return "graph6"
    return "multiline-adjlist" if is_multiline_adjlist(text) else kind_of_rows(text)


def _end_of_comments(head: str) -> int:
    match = _SKIPPED.match(head)
    return match.end() if match else 0


def _is_graph6(text: str) -> bool:
    """Tell whether a text is a single word whose length is that of a graph of its number of nodes."""
    if not _GRAPH6.fullmatch(text):
        return False
    word = text.strip()
    if word[0] in ":>":
        return True
    nodes = ord(word[0]) - 63
    return nodes == 63 or len(word) == 1 + (nodes * (nodes - 1) // 2 + 5) // 6


@cache
def _sign(sign: str) -> re.Pattern[str]:
    return re.compile("^" + sign, re.MULTILINE)
