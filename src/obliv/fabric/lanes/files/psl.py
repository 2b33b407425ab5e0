"""Writer of the service levels of pairs as ``.psl``, which ``obliv fabric check --sl`` and ibdmchk read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from obliv._util.files import write_pieces
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lids import owned_lids
from obliv.fabric.model import Fabric

__all__ = ["write_psl"]


@typed
def write_psl(levels: Levels, fabric: Fabric, path: str | Path) -> None:
    """Write a line for each source and LID: the GUID of the source's node, the LID, the service level.

    Parameters
    ----------
    levels : Levels
        With one service level for each pair.
    fabric : Fabric
        With the GUIDs of its nodes.
    path : str or Path
        Replaced only once it is complete.

    Raises
    ------
    FileError
        If a source has no GUID, or an adapter has several ports, which the format cannot tell apart.
    """
    nodes = fabric.node_of[fabric.endpoints]
    guid = fabric.nodes.guid[nodes]
    if not guid.all() or len(np.unique(guid)) < len(guid):
        raise FileError("cannot be written: every host needs a GUID of its own, and one port", path)
    write_pieces(path, _lines(levels, fabric, guid.tolist()))


def _lines(levels: Levels, fabric: Fabric, guid: list[int]) -> Iterator[bytes]:
    ends = fabric.endpoints
    lids, owner = owned_lids(fabric.ports.lid[ends], fabric.ports.lmc[ends], np.arange(len(ends)))
    masks = np.broadcast_to(levels.masks, (len(guid), len(lids)))
    for s, source in enumerate(guid):
        pairs = zip(lids.tolist(), owner.tolist(), masks[s].tolist(), strict=True)
        text = [f"0x{source:016x} {lid} {mask.bit_length() - 1}\n" for lid, d, mask in pairs if d != s]
        yield "".join(text).encode()
