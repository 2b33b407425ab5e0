"""Common parts of the writers of networks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from obliv._util.files import write_whole
from obliv.errors import FileError
from obliv.topologies.base import Topology

__all__ = ["node_attributes", "of_terminals", "save"]


def save(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FileError("cannot be written: a label has half of a surrogate pair", path) from None
    write_whole(path, data)


def node_attributes(topology: Topology) -> list[dict[str, object]]:
    """Return the attributes of every node: label and place, where the topology has them, and those of terminals."""
    terminals = of_terminals(topology)
    attributes: list[dict[str, object]] = [{} for _ in range(topology.nodes)]
    for node, own in enumerate(attributes):
        if topology.labels:
            own["label"] = topology.labels[node]
        if topology.positions is not None:
            own["Longitude"], own["Latitude"] = topology.positions[node].tolist()
        own |= terminals.get(node, {})
    return attributes


def of_terminals(topology: Topology) -> dict[int, dict[str, Fraction]]:
    """Return the attributes of terminals: their number (unless every node is a terminal) and their rates."""
    attributes: dict[int, dict[str, Fraction]] = {}
    for k, node in enumerate(topology.terminals.tolist()):
        own = attributes[node] = {} if topology.all_terminals else {"terminal": Fraction(k)}
        for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
            if rates:
                own[name] = rates[k]
    return attributes
