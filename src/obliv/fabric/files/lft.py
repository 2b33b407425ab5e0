"""Writer of forwarding tables that ``opensm -R file -U FILE`` loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from obliv._util.cost import forecast
from obliv._util.files import write_pieces
from obliv._util.progress import Progress, rising
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.plain import plain
from obliv.fabric.lids import require_writable_lids
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables

__all__ = ["write_tables"]


@typed
def write_tables(tables: Tables, fabric: Fabric, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write forwarding tables in the spelling of OpenSM's ``opensm-lfts.dump``.

    OpenSM does not check what it loads this way: check the tables first. It moves the entries of a port to the LIDs
    that the port has then, if every port has as many as here; so ``-l`` must name the LMC of the fabric.

    Parameters
    ----------
    tables : Tables
    fabric : Fabric
        With LIDs, and the GUIDs of switches and ports.
    path : str or Path
        Replaced only once it is complete.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Raises
    ------
    FileError
        If the tables cannot be loaded as they are: a switch without GUID, a port that the switch does not have
        (OpenSM would reject the whole file), LIDs beyond those of InfiniBand, unless the fabric has extended ones, or
        no table at all.

    Examples
    --------
    >>> import tempfile, obliv
    >>> from obliv.fabric.generate.from_topology import from_topology, tables_of
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> path = Path(tempfile.mkdtemp(), "new.lfts")
    >>> write_tables(tables_of(obliv.routing("dmodk", tree), fabric), fabric, path)
    >>> print("".join(path.read_text().splitlines(True)[:3]), end="")
    Unicast lids [0-14] of switch Lid 1 guid 0x0002c90200001000 ('switch((0),1)'):
    0x0001 000 # Switch portguid 0x0002c90200001000: 'switch((0),1)'
    0x0007 001 # Channel Adapter portguid 0x0002c90300100001: 'host(0,0)'
    """
    require_writable_lids(fabric, path)
    if not len(tables.switch):
        raise FileError("cannot be written: there is no table", path)
    ports = np.diff(fabric.first_slot)
    for node, row in zip(tables.switch.tolist(), tables.out, strict=True):
        name = plain(fabric.nodes.label(node))
        if not fabric.nodes.guid[node]:
            raise FileError(f"cannot be written: switch '{name}' has no GUID, which OpenSM needs", path)
        used = row[row != NONE]
        if len(used) and used.max() >= ports[node]:
            raise FileError(
                f"cannot be written: the table of '{name}' names port {used.max()}, the last port is {ports[node] - 1}",
                path,
            )
    what = f"writing {path}"
    step = forecast(rising(progress), what)
    write_pieces(path, _blocks(tables, fabric, lambda share: step(what, share)))


def _blocks(tables: Tables, fabric: Fabric, step: Callable[[float], None]) -> Iterator[bytes]:
    about = _owners(fabric, tables.out.shape[1])
    head = [f"0x{lid:04x} ".encode() for lid in range(tables.out.shape[1])]
    port_text = [f"{port:03d}".encode() for port in range(NONE + 1)]
    for done, (node, row) in enumerate(zip(tables.switch.tolist(), tables.out, strict=True), 1):
        lids = np.flatnonzero(row != NONE)
        top = int(lids[-1]) if len(lids) else 0
        own = fabric.ports.lid[fabric.first_slot[node]]
        guid, name = int(fabric.nodes.guid[node]), plain(fabric.nodes.description[node])
        title = f"Unicast lids [0-{top}] of switch Lid {own} guid 0x{guid:016x} ('{name}'):\n"
        lines = [head[lid] + port_text[port] + about[lid] for lid, port in zip(lids.tolist(), row[lids].tolist())]
        yield title.encode("utf-8", "replace") + b"".join(lines) + f"{top} lids dumped\n".encode()
        step(done / len(tables.switch))


def _owners(fabric: Fabric, lids: int) -> list[bytes]:
    """Return for every LID the text behind its port: its owner."""
    owners = [b" # unknown\n"] * lids
    for slot in np.flatnonzero(fabric.ports.lid > 0).tolist():
        node = int(fabric.node_of[slot])
        guid = int(fabric.ports.guid[slot]) or (
            int(fabric.nodes.guid[node]) if fabric.nodes.kind[node] == "switch" else 0
        )
        if not guid:
            continue
        kind = {"switch": "Switch", "router": "Router"}.get(fabric.nodes.kind[node], "Channel Adapter")
        text = f" # {kind} portguid 0x{guid:016x}: '{plain(fabric.nodes.description[node])}'\n".encode(
            "utf-8", "replace"
        )
        first = int(fabric.ports.lid[slot])
        end = min(first + (1 << int(fabric.ports.lmc[slot])), lids)
        owners[first:end] = [text] * (end - first)
    return owners
