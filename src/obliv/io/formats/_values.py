"""Attributes of a file's nodes and edges: bandwidths, terminals and their rates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from fractions import Fraction
from functools import cache

from obliv._util.text import did_you_mean, plural, shown
from obliv.io.formats._links import Edge, Links
from obliv.io.formats._options import MUST_BE, Options, positive, speed, unit

__all__ = ["bandwidths_of", "rates_of", "some", "terminals_of"]


def bandwidths_of(links: Links, edges: Sequence[Edge], options: Options, notes: list[str]) -> list[Fraction]:
    """Return the bandwidth of every edge; empty if all are one."""
    attribute = options.bandwidth
    if not attribute:
        if fit := _could_be_bandwidth(links, edges):
            notes.append(f"every bandwidth is 1; the edges have {some(fit)}: use it with bandwidth={some(fit[-1:])}")
        return []
    known = {name for edge in edges for name in edge.attributes} | set(links.edge_defaults)
    lacking = [edge for edge in edges if not links.value(edge, attribute)]
    if attribute not in known and edges:
        hint = _near(attribute, known) or "its edges have no attributes at all"
        raise links.fault(f"no edge has the attribute {shown(attribute)} that bandwidth= names; {hint}")
    if lacking and not options.default:
        share = f"{len(lacking)} of {plural(len(edges), 'edge')} {'lacks' if len(lacking) == 1 else 'lack'} it"
        raise links.fault(
            f"edge {links.edge_name(lacking[0])} has no {attribute} ({share}): "
            "give default=NUMBER for such edges, or leave bandwidth= out",
            lacking[0].line,
        )
    if lacking:
        notes.append(f"{len(lacking)} of {plural(len(edges), 'edge')} without {attribute} taken as {options.default}")
    default = speed(options.default)
    number = cache(speed)
    in_units = f"{attribute}Units" in known
    speeds = []
    for edge in edges:
        text = links.value(edge, attribute)
        value = number(text) if text else default
        if value is None:
            raise links.fault(f"{attribute} of edge {links.edge_name(edge)} is {shown(text)}: {MUST_BE}", edge.line)
        speeds.append(value * _unit_of(links, edge, attribute) if text and in_units and positive(text) else value)
    return speeds


def _unit_of(links: Links, edge: Edge, attribute: str) -> int:
    """Return the unit of an edge's bandwidth, as the Topology Zoo gives it: 10 and G in two attributes."""
    text = links.value(edge, f"{attribute}Units")
    bits = unit(text) if text else None
    if bits is None:
        wrong = f"is {shown(text)}: use k, M, G or T" if text else "is missing, but other edges have it"
        raise links.fault(f"{attribute}Units of edge {links.edge_name(edge)} {wrong}", edge.line)
    return bits


def _could_be_bandwidth(links: Links, edges: Sequence[Edge]) -> list[str]:
    """Return the attributes that are a positive number other than 1 on some edge, the rarest first."""
    fits = cache(lambda text: positive(text) not in (None, 1))
    count = Counter(
        name
        for attributes in (links.edge_defaults, *(edge.attributes for edge in edges))
        for name, text in attributes.items()
        if name not in ("id", "key") and fits(text)
    )
    return sorted(count, key=lambda name: (count[name], name))


def terminals_of(links: Links, nodes: list[int], options: Options, notes: list[str]) -> list[int]:
    """Return the terminals among the nodes, in their order."""
    internal = [node for node in nodes if links.node_value(node, "Internal") in ("1", "1.0", "true")]
    numbered = [node for node in nodes if links.node_value(node, "terminal")]
    if options.terminals == "internal":
        if not internal:
            raise links.fault(
                "terminals=internal takes the nodes with Internal=1, as in the Topology Zoo; no node has that"
            )
        return internal
    if options.terminals == "numbered":
        return _by_number(links, numbered)
    if links.terminals is not None and not options.terminals:
        within = set(nodes)
        hosts = [node for node in links.terminals if node in within]
        if not hosts:
            raise links.fault(
                "these routers have no nodes, so nothing sends: use terminals=all to make the routers terminals"
            )
        return hosts
    if options.terminals:
        return nodes
    if numbered and [links.node_value(node, "terminal") for node in nodes] != [str(k) for k in range(len(nodes))]:
        notes.append(f"{plural(len(numbered), 'node')} with a terminal number: use terminals=numbered to take those")
    elif 0 < len(internal) < len(nodes):
        outside = f"{len(nodes) - len(internal)} of {plural(len(nodes), 'node')}"
        notes.append(f"{outside} without Internal=1: use terminals=internal to leave them out of the terminals")
    return nodes


def _by_number(links: Links, nodes: Sequence[int]) -> list[int]:
    node_of: dict[int, int] = {}
    for node in nodes:
        text = links.node_value(node, "terminal")
        if not re.fullmatch(r"[0-9]{1,9}", text):
            what = f"terminal of node {shown(links.names[node])} is {shown(text)}: it must be a whole number"
            raise links.fault(what, links.node_line(node))
        if int(text) in node_of:
            names = f"{shown(links.names[node_of[int(text)]])} and {shown(links.names[node])}"
            raise links.fault(f"nodes {names} both have the terminal number {text}", links.node_line(node))
        node_of[int(text)] = node
    if not node_of:
        raise links.fault("terminals=numbered takes the nodes that have an attribute terminal; no node has one")
    return [node_of[number] for number in sorted(node_of)]


def rates_of(links: Links, terminals: list[int], what: str, wanted: str, notes: list[str]) -> tuple[Fraction, ...]:
    """Return the rate of every terminal, where `what` is injection or ejection; empty if all are one."""
    if not wanted:
        if any(positive(links.node_value(node, what)) not in (None, 1) for node in terminals):
            notes.append(f"every {what} rate is 1; the nodes have the attribute {what}: use it with {what}={what}")
        return ()
    lacking = [node for node in terminals if not links.node_value(node, wanted)]
    if lacking:
        _require_known(links, what, wanted)
        share = f"{len(lacking)} of {len(terminals)} terminals {'lacks' if len(lacking) == 1 else 'lack'} it"
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
        raise links.fault(f"no node has the attribute {shown(wanted)} that {what}= names; {hint}")


def _near(wanted: str, known: Set[str]) -> str:
    """Return a hint at the right name of an attribute; empty if there are no attributes."""
    return did_you_mean(wanted, sorted(known)[:50]) if known else ""  # comparing very many names would be slow


def some(words: Sequence[str], limit: int = 8) -> str:
    """Return the first few words of a list and how many more there are."""
    cut = [word if len(word) <= 40 and word.isprintable() else shown(word) for word in words[:limit]]
    return ", ".join(cut) + (f" and {len(words) - limit} more" if len(words) > limit else "")
