"""Readers of fabrics and forwarding tables, whatever program wrote them."""

from __future__ import annotations

import re
from pathlib import Path

from obliv._util.cost import forecast
from obliv._util.files import read_source
from obliv._util.progress import Progress, rising
from obliv._util.text import lines, plural
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.folder import folder_of
from obliv.fabric.files.forwarding import switch_guids, tables_on, with_learned_lids
from obliv.fabric.files.ibdiagnet import read_db_csv, read_net_dump
from obliv.fabric.files.ibnetdiscover import read_discover
from obliv.fabric.files.lines import DB_CSV, DISCOVER, LINKINFO, MULTICAST, NET_DUMP, PORTLIST, SUBNET, TABLES
from obliv.fabric.files.opensm_subnet import read_subnet, with_guid2lid
from obliv.fabric.files.port_lists import read_linkinfo, read_portlist
from obliv.fabric.files.raw_tables import RawTables, read_raw
from obliv.fabric.lids import largest_lid
from obliv.fabric.model import Fabric
from obliv.fabric.tables import Tables
from obliv.io.formats._formats import UNREAD, format_of
from obliv.io.formats.edgelist import parse as parse_edges

__all__ = ["dialect_of", "read", "read_fabric", "read_tables", "with_tables"]

_DIALECTS = {
    "ibnetdiscover": (DISCOVER, read_discover),
    "ibnetdiscover -p": (PORTLIST, read_portlist),
    "iblinkinfo": (LINKINFO, read_linkinfo),
    "opensm-subnet.lst": (SUBNET, read_subnet),
    "ibdiagnet2.net_dump": (NET_DUMP, read_net_dump),
    "ibdiagnet2.db_csv": (DB_CSV, read_db_csv),
}
_SIZE = 1 << 17  # small blocks: one odd line makes the whole block slow
_KNOWN = (
    "ibnetdiscover, ibnetdiscover -p, iblinkinfo, opensm-subnet.lst, ibdiagnet2.lst, .net_dump and .db_csv, or a .net "
    "file of ibsim"
)

_HEAD = 1 << 16
#: A line of a list of hosts: one, one with its slots or ranks, or several in brackets.
_HOSTS = re.compile(r"[^\s,;=]+(?:\s+slots\s*=\s*\d+|:\d+)?|(?:export\s+)?[A-Z_]+=\S+|\S*\[[\d,-]+\]\S*|rank \d+\s*=.*")


def dialect_of(path: str | Path) -> str:
    """Return the dialect of a topology file, by the first line that identifies it.

    Raises
    ------
    FileError
        If no line identifies it, or a line of forwarding tables comes first.
    """
    for number, line in Blocks(path, _SIZE >> 3).lines():
        for name, (sign, _) in _DIALECTS.items():
            if sign.match(line):
                return name
        if TABLES.match(line) or MULTICAST.match(line):
            raise FileError("contains forwarding tables, not a topology: give it as the tables", path, number)
    known = _other_format(path) or f"; readable are {_KNOWN}"
    raise FileError(f"contains no topology of an InfiniBand fabric{known}", path)


def _other_format(path: str | Path) -> str:
    """Return what a file is that has no topology of a fabric: another network, a plan, a list of hosts; else ""."""
    try:
        text, _ = read_source(path)
    except FileError:  # not a text
        return ""
    kind = format_of(text)
    rows = [row for line in lines(text[:_HEAD]) if (row := line.partition("#")[0].strip())]
    if kind == "ufm":
        return ": it is a cabling plan of UFM: give a scan of the fabric, and this file as the plan"
    if kind in UNREAD:
        return f": it looks like {UNREAD[kind].partition(', which ')[0].partition(': ')[0]}"
    if kind == "edgelist":
        if rows and all(_HOSTS.fullmatch(row) for row in rows):
            return ": it looks like a list of hosts, which fabric job takes as its hosts"
        try:
            kind = f"a list of {plural(len(parse_edges(text, path).edges), 'edge')}"
        except FileError:
            return ""
    else:
        kind = f"a network in the format {kind}"
    return f": it looks like {kind}, which other commands take as the topology file:PATH"


@typed
def read_fabric(path: str | Path, *, guid2lid: str | Path | None = None) -> Fabric:
    """Read the fabric that a topology file describes.

    Parameters
    ----------
    path : str or Path
        What ibnetdiscover wrote (with any of -p, -f, -g), iblinkinfo, OpenSM (``opensm-subnet.lst``), ibdiagnet
        (``.lst``, ``.net_dump``, ``.db_csv``), or a ``.net`` file of ibsim; compressed with gzip or not. Or a folder
        with such files.
    guid2lid : str or Path, optional
        OpenSM's file of LIDs, for topologies without LIDs.

    Returns
    -------
    Fabric
        Its `findings` list defects and remarks.

    Raises
    ------
    FileError
        If the file cannot be read or contains nothing of the kind.
    """
    if (folder := folder_of(path)) is not None:
        path, guid2lid = folder.topology, guid2lid or folder.guid2lid
    fabric = _DIALECTS[dialect_of(path)][1](Blocks(path, _SIZE))
    return fabric if guid2lid is None else with_guid2lid(fabric, guid2lid)


@typed
def read_tables(path: str | Path, fabric: Fabric, *, progress: Progress | None = None) -> Tables:
    """Read the forwarding tables of a file, in any of the three spellings, by the LIDs of a fabric.

    Parameters
    ----------
    path : str or Path
        What dump_lfts, dump_fts or ibroute wrote, ``opensm-lfts.dump`` or ``opensm.fdbs``; compressed with gzip or not.
        Or a folder with such a file.
    fabric : Fabric
        With LIDs; where an entry names its port, it is that port's whatever LID it had.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Tables
        Its `findings` list defects and remarks.

    Raises
    ------
    FileError
        If the file cannot be read or contains nothing of the kind.
    """
    return tables_on(fabric, _raw(path, fabric, progress))


@typed
def read(
    topology: str | Path,
    lft: str | Path | None = None,
    *,
    guid2lid: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[Fabric, Tables | None]:
    """Read a fabric and its forwarding tables.

    Parameters
    ----------
    topology : str or Path
        As for :func:`read_fabric`. In a folder, tables are taken from it too, unless `lft` names others.
    lft : str or Path, optional
        As for :func:`read_tables`. Where the topology has no LIDs, they are learned from the tables if these name the
        ports, and the fabric that is returned has them; so is the LMC, from tables, where a topology does not give it.
    guid2lid : str or Path, optional
        OpenSM's file of LIDs.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Fabric
    Tables or None
        None where no file of tables is given or found.

    Raises
    ------
    FileError
        If a file cannot be read or contains nothing of the kind.
    """
    if (folder := folder_of(topology)) is not None:
        topology, lft, guid2lid = folder.topology, lft or folder.lft, guid2lid or folder.guid2lid
    fabric = read_fabric(topology, guid2lid=guid2lid)
    return (fabric, None) if lft is None else with_tables(fabric, lft, progress=progress)


def with_tables(fabric: Fabric, path: str | Path, *, progress: Progress | None = None) -> tuple[Fabric, Tables]:
    """Read forwarding tables, and complete the fabric with the LIDs and the LMC that its own file does not give.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        As for :func:`read_tables`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Fabric
        The same object where nothing is added.
    Tables

    Raises
    ------
    FileError
        If the file cannot be read or contains nothing of the kind.
    """
    raw = _raw(path, fabric, progress)
    lids = not fabric.ports.lid.any()
    if lids or not fabric.lmc_known:
        fabric = with_learned_lids(fabric, raw, lids=lids)
    return fabric, tables_on(fabric, raw)


def _raw(path: str | Path, fabric: Fabric, progress: Progress | None) -> RawTables:
    if (folder := folder_of(path)) is not None:
        path = folder.tables()
    what = f"reading {path}"
    step = forecast(rising(progress), what)
    return read_raw(Blocks(path), switch_guids(fabric), largest_lid(fabric), lambda share: step(what, share))
