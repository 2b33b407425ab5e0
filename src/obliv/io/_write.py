"""What the writers of networks share."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from obliv._util.files import write_whole
from obliv._util.text import printable
from obliv.errors import FileError
from obliv.topologies.base import Topology

__all__ = ["of_terminals", "printable", "save"]


def save(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise FileError("cannot be written: a label holds half of a surrogate pair, no character", path) from None
    write_whole(path, data)


def of_terminals(topology: Topology) -> dict[int, dict[str, Fraction]]:
    """The attributes that say of a node which terminal it is (unless every node is one) and what its rates are."""
    found: dict[int, dict[str, Fraction]] = {}
    for k, node in enumerate(topology.terminals.tolist()):
        own = found[node] = {} if topology.all_terminals else {"terminal": Fraction(k)}
        for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
            if rates:
                own[name] = rates[k]
    return found
