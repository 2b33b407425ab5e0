"""Graphs that NetworkX writes: node-link data (JSON), graph6 and sparse6."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

from obliv._util.codec import RepeatedKeyError, unlike_keys
from obliv._util.text import shown
from obliv.errors import extra
from obliv.io.formats._links import Links

__all__ = ["parse_graph6", "parse_json"]

_HEAD = re.compile(r">>(graph6|sparse6)<<")


def parse_json(text: str, path: object = None) -> Links:
    """Parse node-link data: an object with lists of nodes and of links (or edges), as NetworkX and D3 write it."""
    links = Links(path)
    try:
        # numbers as they stand, of any length
        data = json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=unlike_keys)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise links.fault(f"is not valid JSON: {what} (character {error.colno} of the line)", error.lineno) from None
    except RepeatedKeyError as error:
        raise links.fault(f"is not valid JSON: {error}") from None
    except RecursionError:
        raise links.fault("is not valid JSON: it is nested too deeply") from None
    nodes, edges = (data.get("nodes"), data.get("links", data.get("edges"))) if isinstance(data, dict) else (0, 0)
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise links.fault(
            "looks like JSON without lists of nodes and of links or edges (node-link data): load it with NetworkX, "
            "for example its adjacency_graph or cytoscape_graph, and use obliv.from_networkx"
        )
    links.directed = data.get("directed") is True
    own = [_texts(node) if isinstance(node, dict) else {"id": _text(node)} for node in nodes]
    ends = [_texts(edge) if isinstance(edge, dict) else {} for edge in edges]
    named = {node.get("id", node.get("name", "")) for node in own}
    numbers = not any("id" in node for node in own) and any(end.get("source") not in named for end in ends)
    for k, node in enumerate(own):  # D3 counts nodes that have no id
        links.declare(str(k) if numbers else node.get("id", node.get("name", str(k))), None, node)
    for k, edge in enumerate(ends):
        if not edge.get("source") or not edge.get("target"):
            raise links.fault(f"link {k} has no source or no target: {shown(str(edges[k]))}")
        more = {name: value for name, value in edge.items() if name not in ("source", "target")}
        links.join(edge["source"], edge["target"], None, more)
    links.complete()
    return links


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {name: text for name, value in values.items() if (text := _text(value))}


def _text(value: Any) -> str:
    """Return a name or number as text, a list of them as a tuple; empty for all else."""
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})" if not any(isinstance(part, list) for part in value) else ""
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""


def parse_graph6(text: str, path: object = None) -> Links:
    """Parse a graph in graph6 or sparse6, with NetworkX."""
    links = Links(path)
    rows = _HEAD.sub("", text.strip(), count=1).split()
    if len(rows) != 1:
        raise links.fault(f"{len(rows)} graphs in it: keep one a file")
    sparse, word = rows[0].startswith(":"), rows[0].encode()
    digits = [byte - 63 for byte in word[sparse : 8 + sparse]]
    size = digits[:1] if digits[:1] != [63] else digits[2:8] if digits[1:2] == [63] else digits[1:4]
    nodes = sum(digit << 6 * k for k, digit in enumerate(reversed(size)))
    if nodes > 10 * len(word) + 1000:
        raise links.fault(f"{nodes:,} nodes cannot be joined by {len(word)} characters: has it been cut?")
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise extra("networkx to read graph6 and sparse6", "networkx") from None
    try:
        graph = (networkx.from_sparse6_bytes if sparse else networkx.from_graph6_bytes)(word)
    except (networkx.NetworkXException, ValueError, IndexError) as error:
        raise links.fault(f"is not valid {'sparse6' if sparse else 'graph6'}: {str(error)[:80]}") from None
    for node in graph:
        links.declare(str(node), None, {})
    for tail, head in sorted(graph.edges()):
        links.join(str(tail), str(head))
    return links
