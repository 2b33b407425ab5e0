"""Changes of a fabric and its tables as users write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from obliv._util.text import printable
from obliv.errors import InputError
from obliv.fabric.names import NodeNames, port_number
from obliv.fabric.outages.added import new_cables
from obliv.fabric.outages.base import Base
from obliv.fabric.outages.sets import Failure, about, named_failure
from obliv.fabric.tables import NONE

__all__ = ["Changes", "changes_of"]

_ENTRY = re.compile(r"(?P<name>.+)(?:[/:]|\[(?=\d+\]))(?P<lid>\d{1,5})\]?=(?P<port>[^=]+)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Changes:
    """What is changed: cables and switches that fail, and entries of tables.

    Parameters
    ----------
    names : tuple of str
        As they were written, or the names of what fails.
    failure : Failure
    entries : tuple of (row, LID, port)
        In the order in which they were given.
    cables : tuple of (slot, slot)
        New ones.
    """

    names: tuple[str, ...]
    failure: Failure
    entries: tuple[tuple[int, int, int], ...]
    cables: tuple[tuple[int, int], ...] = ()


def changes_of(base: Base, fail: Sequence[str], entries: Sequence[str], add: Sequence[str] = ()) -> Changes:
    """Return changes from their texts: ``NAME/PORT`` or ``NAME`` fails, and ``SWITCH/LID=PORT`` is the new port.

    ``NAME/PORT,NAME/PORT`` is a new cable.

    Raises
    ------
    InputError
        If there is no such node, port, cable, table or LID, or something is named twice.
    """
    topology = base.topology
    failure = named_failure(topology, fail) if fail else Failure("", ())
    slots = np.array(failure.slots, np.int64)
    if topology.at_host[topology.channel_of[slots]].any():
        raise InputError.naming("{fail}: the cable of a host: use fabric failures for it")
    names = NodeNames(topology.fabric)
    with about("entries"):
        found = tuple(_entry(base, names, text, hints=True) for text in entries)
    if len({entry[:2] for entry in found}) < len(found):
        raise InputError.naming("{entries}: an entry is set twice")
    cables = new_cables(topology, failure, add)
    new = (f"new: {topology.port_name(one)} - {topology.port_name(two)}" for one, two in cables)
    texts = ((failure.name,) if fail else ()) + (*new, *(printable(text) for text in entries))
    return Changes(texts, failure, found, cables)


def _entry(base: Base, names: NodeNames, text: str, hints: bool = False) -> tuple[int, int, int]:
    """Return the table, the LID and the port that a text names."""
    shown = f"{printable(text[:80])!r}"
    match = _ENTRY.fullmatch(text)
    port = NONE if match is None or match["port"] == "none" else port_number(match["port"])
    if match is None or port is None:
        raise InputError(f"{shown}: write SWITCH/LID=PORT, or SWITCH/LID=none")
    fabric = base.topology.fabric
    rest = text[match.end("name") :]
    accepted = partial(_entry, base, names) if hints else None
    node = names.find(match["name"], lambda near: near + rest, accepted)
    if node is None:
        hint = names.hint(match["name"], lambda near: near + rest, accepted)
        raise InputError(f"{shown}: no such node: give the name of a switch{hint}")
    row, lid = int(base.row[node]), int(match["lid"])
    if fabric.nodes.kind[node] != "switch" or row < 0:
        raise InputError(f"{shown}: not a switch with a table")
    if not 0 < lid < base.out.shape[1]:
        raise InputError(f"{shown}: LID {lid} is out of range (1 to {base.out.shape[1] - 1})")
    last = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
    if port != NONE and port > last:
        raise InputError(f"{shown}: port {port} does not exist: ports are 0 to {last}")
    return row, lid, port
