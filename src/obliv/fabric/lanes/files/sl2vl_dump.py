"""Writer of SL-to-VL tables as ``opensm-sl2vl.dump``, which ``obliv fabric check --sl2vl`` reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from obliv._util.files import write_pieces
from obliv._util.text import plural
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.plain import plain
from obliv.fabric.lanes.tables import MISSING, SLS, LaneTables
from obliv.fabric.model import Fabric

__all__ = ["write_sl2vl"]

_TITLE = "#in out : " + " ".join(f"{sl:<2}" for sl in range(SLS)).rstrip() + "\n#" + "-" * 56 + "\n"


@typed
def write_sl2vl(tables: LaneTables, fabric: Fabric, path: str | Path) -> None:
    """Write the SL-to-VL tables of switches, and of adapters with a cable, as OpenSM dumps them.

    OpenSM itself does not read such a file; the plug-in in ``contrib/opensm`` does.

    Parameters
    ----------
    tables : LaneTables
    fabric : Fabric
        With the GUIDs of its switches and ports.
    path : str or Path
        Replaced only once it is complete.

    Raises
    ------
    FileError
        If a switch or a port of an adapter has no GUID.
    """
    guid = _guids(fabric)
    needed = np.r_[fabric.first_slot[fabric.switches], np.flatnonzero(tables.own != MISSING)]
    without = int((guid[needed] == 0).sum())
    if without:
        raise FileError(f"cannot be written: {plural(without, 'node')} without a GUID, by which OpenSM knows it", path)
    write_pieces(path, _blocks(tables, fabric, guid.tolist()))


def _guids(fabric: Fabric) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the GUID of every port; all ports of a switch have that of the switch."""
    guid = fabric.ports.guid.copy()
    switch = fabric.switch_row[fabric.node_of] >= 0
    guid[switch] = fabric.nodes.guid[fabric.node_of[switch]]
    return guid


def _blocks(tables: LaneTables, fabric: Fabric, guid: list[int]) -> Iterator[bytes]:
    lanes = [" ".join(f"{vl:<2}" for vl in row).rstrip() for row in tables.vl.tolist()]
    for node in fabric.switches.tolist():
        begin, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
        ports = end - begin
        if tables.first[node] < 0:
            continue
        start = int(tables.first[node])
        number = tables.row[start : start + ports * ports].reshape(ports, ports)
        exits = [out for out in range(1, ports) if fabric.ports.peer[begin + out] >= 0]
        entries = [0, *exits]
        rows = [
            f"{entry:<3} {out:<3} : {lanes[number[entry, out]]}\n"
            for out in exits
            for entry in entries
            if number[entry, out] != MISSING
        ]
        yield _block("Switch", guid[begin], begin, fabric, rows)
    for slot in np.flatnonzero((tables.own != MISSING) & (fabric.switch_row[fabric.node_of] < 0)).tolist():
        kind = "Router" if fabric.nodes.kind[fabric.node_of[slot]] == "router" else "Channel Adapter"
        yield _block(kind, guid[slot], slot, fabric, [f"{0:<3} {0:<3} : {lanes[tables.own[slot]]}\n"])


def _block(kind: str, guid: int, slot: int, fabric: Fabric, rows: list[str]) -> bytes:
    name = plain(fabric.nodes.description[fabric.node_of[slot]])
    head = f'{kind} 0x{guid:016x}, base LID {fabric.ports.lid[slot]}, "{name}"\n{_TITLE}'
    return (head + "".join(rows) + "#" + "-" * 56 + "\n\n").encode("utf-8", "replace")
