"""Reading a fabric and its forwarding tables, whatever program wrote them."""

from __future__ import annotations

from pathlib import Path

from obliv.errors import FileError
from obliv.fabric._blocks import Blocks
from obliv.fabric._lines import DISCOVER, LINKINFO, MULTICAST, PORTLIST, SUBNET, TABLES
from obliv.fabric._raw_tables import read_raw
from obliv.fabric.discover import read_discover
from obliv.fabric.fabric import Fabric, Finding
from obliv.fabric.forwarding import changed, switch_guids, tables_on, with_learned_lids
from obliv.fabric.ports import read_linkinfo, read_portlist
from obliv.fabric.subnet import read_subnet, with_guid2lid
from obliv.fabric.tables import Tables
from obliv.specs import door

__all__ = ["dialect_of", "read", "read_fabric", "read_tables"]

_DIALECTS = {
    "ibnetdiscover": (DISCOVER, read_discover),
    "ibnetdiscover -p": (PORTLIST, read_portlist),
    "iblinkinfo": (LINKINFO, read_linkinfo),
    "opensm-subnet.lst": (SUBNET, read_subnet),
}
_SIZE = 1 << 17  # small blocks: one odd line makes the whole block slow
_KNOWN = "ibnetdiscover, ibnetdiscover -p, iblinkinfo, opensm-subnet.lst or a .net file of ibsim"


def dialect_of(path: str | Path) -> str:
    """What wrote a topology file, by the first line that tells.

    Raises
    ------
    FileError
        If no line tells, or one that tells otherwise comes first.
    """
    for number, line in Blocks(path, _SIZE >> 3).lines():
        for name, (sign, _) in _DIALECTS.items():
            if sign.match(line):
                return name
        if TABLES.match(line) or MULTICAST.match(line):
            raise FileError("holds forwarding tables, no topology: give it as the tables", path, number)
    raise FileError(f"holds no topology of an InfiniBand fabric: {_KNOWN} are read", path)


def read_fabric(path: str | Path, *, guid2lid: str | Path | None = None) -> Fabric:
    """The fabric that a topology file describes.

    Parameters
    ----------
    path : str or Path
        What ibnetdiscover wrote (with any of -p, -f, -g), iblinkinfo, OpenSM (``opensm-subnet.lst``), or a ``.net``
        file of ibsim; compressed with gzip or not.
    guid2lid : str or Path, optional
        OpenSM's file of LIDs, for topologies that have none.

    Returns
    -------
    Fabric
        Its `findings` say what was noticed.

    Raises
    ------
    FileError
        If nothing useful is in the file.
    """
    fabric = _DIALECTS[dialect_of(path)][1](Blocks(path, _SIZE))
    return fabric if guid2lid is None else with_guid2lid(fabric, guid2lid)


def read_tables(path: str | Path, fabric: Fabric) -> Tables:
    """The forwarding tables of a file, in any of the three spellings, by the LIDs of a fabric.

    Parameters
    ----------
    path : str or Path
        What dump_lfts, dump_fts or ibroute wrote, ``opensm-lfts.dump`` or ``opensm.fdbs``; compressed with gzip or not.
    fabric : Fabric
        With LIDs; where an entry names its port, it is that port's whatever LID it had.

    Returns
    -------
    Tables
        Its `findings` say what was noticed.

    Raises
    ------
    FileError
        If nothing useful is in the file.
    """
    return tables_on(fabric, read_raw(Blocks(path), switch_guids(fabric)))


def read(
    topology: str | Path, lft: str | Path | None = None, *, guid2lid: str | Path | None = None
) -> tuple[Fabric, Tables | None]:
    """A fabric and its forwarding tables.

    Parameters
    ----------
    topology : str or Path
        As for :func:`read_fabric`.
    lft : str or Path, optional
        As for :func:`read_tables`. Where the topology has no LIDs, they are learned from the tables if these name the
        ports, and the fabric that is returned has them; so is the LMC, from tables, where a topology does not tell.
    guid2lid : str or Path, optional
        OpenSM's file of LIDs.

    Returns
    -------
    Fabric
    Tables or None
        None where no file of tables is given.

    Raises
    ------
    FileError
        If nothing useful is in a file.
    """
    fabric = read_fabric(topology, guid2lid=guid2lid)
    if lft is None:
        return fabric, None
    raw = read_raw(Blocks(lft), switch_guids(fabric))
    lids = not fabric.lid.any()
    told = dialect_of(topology) == "ibnetdiscover"
    if lids or not told:
        fabric = with_learned_lids(fabric, raw, lids=lids)
    tables = tables_on(fabric, raw)
    silent = not told and not fabric.lmc.any() and not (raw.guid[:, 0] >= 0).any()
    return (_lmc_unknown(fabric) if silent else fabric), tables


def _lmc_unknown(fabric: Fabric) -> Fabric:
    what = "this kind of file does not tell the LMC: taken as 0; give OpenSM's guid2lid if it is not"
    return changed(fabric, findings=(*fabric.findings, Finding("note", "lmc-unknown", what, fabric.name)))


door(__name__, read)
