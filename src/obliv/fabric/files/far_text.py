"""Writer of group tables in the layout of ``ibdiagnet2.far``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from obliv._util.files import write_pieces
from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.plain import plain
from obliv.fabric.groups import NO_STATE, STATES, Groups, GroupTables
from obliv.fabric.model import Fabric

__all__ = ["write_groups"]

_HEAD = (
    b"# group tables for adaptive routing, in the layout of ibdiagnet2.far; not written by ibdiagnet\nFile version: 1\n"
)
_GROUPS = b"Groups Definition:\nGroup  Sub Group  WHBF  Ports\n---------------------------------\n"
_TABLE = "LFT Definition:\nPLFT_NUM: {}, top: 0x{:04x}\nLID     Static Port  Lid State  Group\n" + "-" * 39 + "\n"


@typed
def write_groups(groups: GroupTables, fabric: Fabric, path: str | Path) -> None:
    """Write group tables in the layout of the file that ibdiagnet writes; :func:`obliv.fabric.read_groups` reads it.

    Parameters
    ----------
    groups : GroupTables
    fabric : Fabric
        With the GUIDs of switches.
    path : str or Path
        Replaced only once it is complete.

    Raises
    ------
    FileError
        If a switch has no GUID, or there is no table at all.

    Examples
    --------
    >>> import tempfile, obliv
    >>> fabric = obliv.fabric.from_topology(obliv.topology("fattree:4,2"))
    >>> path = Path(tempfile.mkdtemp(), "tree.far")
    >>> write_groups(obliv.fabric.groups_of(fabric), fabric, path)
    >>> print("".join(path.read_text().splitlines(True)[2:14]), end="")
    <BLANKLINE>
    Switch 0x0002c90200001000 'switch((0),1)'
    <BLANKLINE>
    Groups Definition:
    Group  Sub Group  WHBF  Ports
    ---------------------------------
    1      0          0     3,4,
    <BLANKLINE>
    LFT Definition:
    PLFT_NUM: 0, top: 0x000e
    LID     Static Port  Lid State  Group
    ---------------------------------------
    """
    if not len(groups.switch):
        raise FileError("cannot be written: there is no table", path)
    for node in groups.switch.tolist():
        if not fabric.nodes.guid[node]:
            name = plain(fabric.nodes.label(node))
            raise FileError(f"cannot be written: switch '{name}' has no GUID", path)
    write_pieces(path, _pieces(groups, fabric))


def _pieces(groups: GroupTables, fabric: Fabric) -> Iterator[bytes]:
    yield _HEAD
    head = [f"0x{lid:04x}  ".encode() for lid in range(groups.port.shape[1])]
    before: tuple[int, Groups] | None = None
    for row in range(len(groups.switch)):
        node, table = int(groups.switch[row]), groups.groups[row]
        if before is None or before[0] != node or before[1] is not table:
            name = plain(fabric.nodes.description[node])
            yield f"\nSwitch 0x{int(fabric.nodes.guid[node]):016x} '{name}'\n\n".encode("utf-8", "replace")
            yield _GROUPS + b"".join(_group_rows(table)) + b"\n"
        before = node, table
        lids = np.flatnonzero(groups.state[row] != NO_STATE)
        top = int(lids[-1]) if len(lids) else 0
        yield _TABLE.format(int(groups.plft[row]), top).encode()
        tails, kind = _tails(groups.port[row][lids], groups.state[row][lids], groups.group[row][lids])
        yield b"".join([head[lid] + tails[k] for lid, k in zip(lids.tolist(), kind.tolist(), strict=True)])


def _group_rows(groups: Groups) -> Iterator[bytes]:
    for number, parts in groups.items():
        for part in parts:
            ports = "".join(f"{port}," for port in part.ports)
            yield f"{number:<7}{part.number:<11}{part.weight:<6}{ports}\n".encode()


def _tails(port: Array, state: Array, group: Array) -> tuple[list[bytes], Array]:
    """Return the different rows without their LIDs, and which of them each LID has."""
    key = port.astype(np.int64) << 32 | state.astype(np.int64) << 16 | group
    kinds, kind = np.unique(key, return_inverse=True)
    texts = [
        f"{number >> 32:<13}{STATES[number >> 16 & 0xFF]:<11}{number & 0xFFFF}\n".encode() for number in kinds.tolist()
    ]
    return texts, kind
