"""Common parts of the writers of networks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from obliv._util.files import write_whole
from obliv.errors import FileError
from obliv.topologies.base import Topology

__all__ = ["of_terminals", "save"]


def save(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FileError("cannot be written: a label has half of a surrogate pair", path) from None
    write_whole(path, data)


def of_terminals(topology: Topology) -> dict[int, dict[str, Fraction]]:
    """Return the attributes of terminals: their number (unless every node is a terminal) and their rates."""
    attributes: dict[int, dict[str, Fraction]] = {}
    for k, node in enumerate(topology.terminals.tolist()):
        own = attributes[node] = {} if topology.all_terminals else {"terminal": Fraction(k)}
        for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
            if rates:
                own[name] = rates[k]
    return attributes
