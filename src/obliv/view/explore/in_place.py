"""Drawings in which nodes and channels keep their places when others fail."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import obliv
from obliv.errors import TooLargeError
from obliv.results import WorstCase
from obliv.topologies.base import Topology
from obliv.topologies.damaged import Damaged, link_text, node_text
from obliv.view.interactive.payload import Limits, network_payload
from obliv.view.layout.places import layout_of

__all__ = ["drawn", "drawn_network", "network_in_place", "whole_of"]

_GEOMETRY = ("x", "y", "short")


@lru_cache(4)
def network_in_place(spec: str) -> Topology:
    """Return a network; one with failures has the places of the nodes before them."""
    network = obliv.topology(spec)
    base = whole_of(network)
    if not isinstance(network, Damaged) or network.node_of is None or max(base.channels, base.nodes) > 20_000:
        return network
    return dataclasses.replace(network, positions=layout_of(base).points[network.node_of])


def whole_of(network: Topology) -> Topology:
    """Return a network before its failures, or itself where there are none."""
    return network.base if isinstance(network, Damaged) and network.base is not None else network


def drawn_network(network: Topology) -> dict[str, Any]:
    """Return the drawing of a network without loads, with the text of specs for every node and every link."""
    base = whole_of(network)
    try:
        payload = drawn(network, network)
    except TooLargeError as error:
        return {"payload": None, "payload_reason": str(error), "links": [], "names": []}
    nodes, channels = _numbers(network)
    return {
        "payload": payload,
        "links": [link_text(base, channel) for channel in channels],
        "names": [node_text(base, node) for node in nodes],
    }


def drawn(network: Topology, shown: Topology | WorstCase, *, pairs: bool = False) -> dict[str, Any]:
    """Return what a page needs to draw a network or a worst case on it, all in its place before failures.

    What failed stands under ``removed``: nodes with their places, and channels with their lines. With `pairs`, the
    loads of all pairs and the proof are there, which can take some time.
    """
    payload = network_payload(shown, Limits() if pairs else Limits(seconds=0.0))
    if not pairs:
        payload |= {"proof_reason": "", "crossing_reason": "they are computed after the figures"}
    base = whole_of(network)
    if base is network:
        return payload
    whole = _whole_drawing(base)
    nodes, channels = _numbers(network)
    for node, number in zip(payload["nodes"], nodes, strict=True):
        node |= {key: whole["nodes"][number][key] for key in _GEOMETRY if key in whole["nodes"][number]}
    for channel, number in zip(payload["channels"], channels, strict=True):
        channel.pop("lines", None)
        channel |= {key: value for key, value in whole["channels"][number].items() if key == "lines"}
    lost = sorted(set(range(base.nodes)) - set(nodes))
    cut = sorted(set(range(base.channels)) - set(channels))
    payload["radius"] = whole["radius"]
    payload["removed"] = {
        "nodes": [{key: whole["nodes"][node][key] for key in ("x", "y", "name")} for node in lost],
        "channels": [_line(whole, channel) for channel in cut],
    }
    return payload


def _line(whole: dict[str, Any], channel: int) -> list[list[float]]:
    """Return the lines of a channel, the straight one between its ends where it has no others."""
    drawn_as = whole["channels"][channel]
    ends = [whole["nodes"][drawn_as[end]] for end in ("tail", "head")]
    lines: list[list[float]] = drawn_as.get("lines") or [[value for node in ends for value in (node["x"], node["y"])]]
    return lines


def _numbers(network: Topology) -> tuple[list[int], list[int]]:
    """Return the numbers that nodes and channels had before the failures."""
    if isinstance(network, Damaged) and network.node_of is not None and network.channel_of is not None:
        return network.node_of.tolist(), network.channel_of.tolist()
    return list(range(network.nodes)), list(range(network.channels))


_drawings: dict[str, tuple[Topology, dict[str, Any]]] = {}  # the last network that had failures


def _whole_drawing(base: Topology) -> dict[str, Any]:
    known = _drawings.get(base.spec)
    if known is None or known[0] is not base:
        _drawings.clear()
        known = _drawings[base.spec] = base, network_payload(base)
    return known[1]
