"""The files of a fabric in a folder, as ibdiagnet or OpenSM left them; readers of fabrics and tables of any program."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from obliv._util.files import files_in, read_source
from obliv._util.progress import Progress, rising
from obliv._util.text import lines, plural, printable
from obliv.errors import FileError
from obliv.fabric.files.assemble import FileBlocks
from obliv.fabric.files.forwarding import switch_guids, tables_on, with_learned_lids
from obliv.fabric.files.ibdiagnet import read_db_csv, read_net_dump, sections_of
from obliv.fabric.files.ibnetdiscover import (
    DB_CSV,
    DISCOVER,
    LINKINFO,
    MULTICAST,
    NET_DUMP,
    PORTLIST,
    SUBNET,
    TABLES,
    read_discover,
)
from obliv.fabric.files.opensm_subnet import read_linkinfo, read_portlist, read_subnet, with_guid2lid
from obliv.fabric.files.raw_tables import RawTables, read_raw
from obliv.fabric.model import Fabric, Tables, typed
from obliv.fabric.names import largest_lid
from obliv.io.formats._formats import UNREAD, format_of
from obliv.io.formats.rows import parse as parse_edges

#: What a file of a run is for, by the end of its name; OpenSM's names are whole.
_ROLES = {
    "ibnetdiscover": "topology",
    "db_csv": "topology",
    "lst": "topology",
    "net_dump": "topology",
    "fdbs": "lft",
    "far": "far",
    "slvl": "sl2vl",
    "psl": "sl",
}
_OPENSM = {
    "opensm-subnet.lst": "topology",
    "opensm-lfts.dump": "lft",
    "opensm.fdbs": "lft",
    "opensm-sl2vl.dump": "sl2vl",
    "opensm-path-records.dump": "sl",
    "guid2lid": "guid2lid",
}
_NAME = re.compile(r"(.+)\.([a-z_]+)")
_SIGNS = (DISCOVER, PORTLIST, LINKINFO, SUBNET, NET_DUMP, DB_CSV)
_GUID = rb"(?:0x)?([0-9a-fA-F]{1,16})"
#: The GUIDs of switches in all dialects; of a row of db_csv, all that follows. Not found: it may be of any fabric.
_SWITCHES = re.compile(
    rb"switchguid=" + _GUID + rb"|^SW[ \t]+\d+[ \t]+\d+[ \t]+" + _GUID + rb"|^Switch: " + _GUID + rb"[ \t]"
    rb"|\{[ \t]*SW\b[^{}\n]{0,200}?NodeGUID:"
    + _GUID
    + rb'|^[ \t]*"[^"\n]{0,200}",[^,"\n]{0,100},[ \t]*'
    + _GUID
    + rb",[ \t]*LID"
    rb'|^"[^"\n]{0,200}",\d+,2((?:,[0-9a-fA-FxX]{1,18}){1,30})',
    re.MULTILINE,
)
_LINES = 400  # of a file are looked at to recognize it
_MOST_FILES = 500  # whose content is looked at
_WORDS = {
    "lft": "tables",
    "far": "groups of adaptive routing",
    "sl2vl": "SL-to-VL tables",
    "sl": "service levels",
    "info": "adaptive service levels",
    "guid2lid": "LMC",
}


@dataclass(frozen=True)
class Folder:
    """The files of a fabric that a folder has; None for those that it has not."""

    path: Path  # the folder
    topology: Path
    lft: Path | None = None
    far: Path | None = None
    sl2vl: Path | None = None
    sl: Path | None = None
    info: Path | None = None
    guid2lid: Path | None = None
    text: str = ""  # what was taken, for a message

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that were found."""
        every = (self.topology, *(getattr(self, role) for role in _WORDS))
        return tuple(dict.fromkeys(path for path in every if path is not None))

    def tables(self) -> Path:
        """Return the forwarding tables; FileError if the folder has none."""
        if self.lft is None:
            raise FileError(
                "is a directory without forwarding tables, such as ibdiagnet2.fdbs or opensm-lfts.dump", self.path
            )
        return self.lft


def folder_of(path: str | Path) -> Folder | None:
    """Return the files of a fabric in a folder, None if the path is not one."""
    # Names say what files are for: those of ibdiagnet, `ibdiagnet2.lst` and so on, and of OpenSM; in a folder without
    # such names, the content does. Of several topologies of one run the one that says most is taken.
    place = Path(path)
    if not os.path.isdir(place):
        kind, _, rest = str(path).partition(":")
        if kind in ("fabric", "file") and rest and not os.path.exists(place):
            raise FileError(f"file not found: write the path alone, {printable(rest)}", path)
        return None
    runs: dict[str, dict[str, dict[str, Path]]] = {}  # by the beginning of names: roles, ends of names, files
    others = []
    for name, size in files_in(place):
        plain = name.removesuffix(".gz")
        match = _NAME.fullmatch(plain)
        if not size or name.startswith("."):
            continue
        if plain in _OPENSM:
            runs.setdefault("opensm", {}).setdefault(_OPENSM[plain], {})[plain] = place / name
        elif match is not None and match[2] in _ROLES and (name.startswith("ibdiagnet") or _kind(place / name)):
            runs.setdefault(match[1], {}).setdefault(_ROLES[match[2]], {})[match[2]] = place / name
        else:
            others.append(place / name)
    candidates = [run for run, files in runs.items() if "topology" in files]
    if len(candidates) > 1:
        names = _names([next(iter(runs[run]["topology"].values())) for run in candidates])
        raise FileError(f"is a directory with topologies of several runs, {names}: name one", place)
    if candidates:
        return _of_run(place, runs, candidates[0], [path for path in others[:_MOST_FILES] if _kind(path) == "topology"])
    return _by_content(place, runs, others)


def _names(paths: list[Path]) -> str:
    """Return the names of files, three at most."""
    return " and ".join(printable(path.name[:80]) for path in paths[:3])


def _of_run(place: Path, runs: dict[str, dict[str, dict[str, Path]]], name: str, others: list[Path]) -> Folder:
    """Return the files of the run that has a topology; what it lacks may be of another one, if only one has it."""
    files = runs[name]
    topology, why, rest, info = _topology(files["topology"], place)
    unused = rest + others
    _require_one_fabric(topology, unused, place)
    if unused:
        more = f" and {len(unused) - 5} more" if len(unused) > 5 else ""
        names = ", ".join(printable(path.name[:80]) for path in unused[:5]) + more
        why = f" ({'; '.join(filter(None, (why, f'not used: {names}')))})"
    else:
        why = ""
    parts: dict[str, Path] = {"info": info} if info is not None else {}
    for role in ("lft", "far", "sl2vl", "sl", "guid2lid"):
        own = files.get(role)
        if own is None:
            elsewhere = [run[role] for run in runs.values() if role in run]
            if len(elsewhere) > 1:
                names = _names([next(iter(run.values())) for run in elsewhere])
                raise FileError(f"is a directory with {_WORDS[role]} of several runs, {names}: name one", place)
            own = elsewhere[0] if elsewhere else None
        if own:
            parts[role] = own.get("opensm-lfts.dump") or next(iter(own.values()))  # those name the ports
    if "far" not in parts:
        parts.pop("info", None)
    return _folder(place, topology, why, parts)


def _folder(place: Path, topology: Path, why: str, parts: dict[str, Path]) -> Folder:
    words = [f"topology {printable(topology.name)}{why}"]
    words += [f"{what} {printable(parts[role].name)}" for role, what in _WORDS.items() if role in parts]
    text = f"{printable(str(place))}: {', '.join(words)}"
    return Folder(place, topology, **parts, text=text)


def _topology(files: dict[str, Path], place: Path) -> tuple[Path, str, list[Path], Path | None]:
    """Return the topology of a run that says most, what it says, the others, and the file with the section AR_INFO."""
    if "opensm-subnet.lst" in files:
        return files["opensm-subnet.lst"], "", [], None
    sections = sections_of(files["db_csv"]) if "db_csv" in files else set()
    info = files["db_csv"] if "AR_INFO" in sections else None
    ranked = [("ibnetdiscover", "LIDs, LMC and speeds")]
    if {"NODES", "LINKS", "PORTS"} <= sections:
        ranked.append(("db_csv", "LIDs, LMC and speeds"))
    ranked += [("lst", "LIDs and speeds"), ("net_dump", "LIDs and speeds")]
    if {"NODES", "LINKS"} <= sections:
        ranked.append(("db_csv", "cables"))
    usable = [(files[end], what) for end, what in ranked if end in files]
    if not usable:
        text = "is a directory with an ibdiagnet2.db_csv that lacks NODES or LINKS: add ibdiagnet2.lst or .net_dump"
        raise FileError(text, place)
    rest = dict.fromkeys(path for path, _ in usable[1:] if path != usable[0][0])
    return usable[0][0], usable[0][1], list(rest), info


def _require_one_fabric(topology: Path, others: list[Path], place: Path) -> None:
    """Refuse topologies that have no switch in common: they are of different fabrics, whatever wrote them."""
    mine = _switches(topology) if others else set()
    for other in others:
        theirs = _switches(other)
        if mine and theirs and not mine & theirs:
            names = _names([topology, other])
            text = f"is a directory with topologies of different fabrics, {names}, without a common switch: name one"
            raise FileError(text, place)


def _switches(path: Path) -> set[int]:
    """Return the GUIDs of the switches in a topology, without reading all of it as one; empty if it has none."""
    guids: set[int] = set()
    for block in FileBlocks(path):
        for *single, row in _SWITCHES.findall(block):
            guids.update(int(word, 16) for word in single if word)
            guids.update(int(word, 16) for word in row.split(b",") if len(word) > 10)  # not numbers of a device
    return guids - {0}


def _by_content(place: Path, runs: dict[str, dict[str, dict[str, Path]]], others: list[Path]) -> Folder:
    """Return the one topology, and the one file of tables, among files of any names."""
    topologies, tables = [], [path for run in runs.values() for path in run.get("lft", {}).values()]
    for path in others[:_MOST_FILES]:
        kind = _kind(path)
        if kind == "topology":
            topologies.append(path)
        elif kind == "lft":
            tables.append(path)
    for what, paths in (("topologies", topologies), ("forwarding tables", tables)):
        if len(paths) > 1:
            if paths is topologies:
                _require_one_fabric(paths[0], paths[1:], place)
            raise FileError(f"is a directory with several {what}, {_names(paths)}: name one", place)
    if not topologies:
        message = "is a directory without a topology: ibdiagnet2.lst, .net_dump or .db_csv, opensm-subnet.lst, or the "
        raise FileError(message + "output of ibnetdiscover or iblinkinfo", place)
    parts = {"lft": tables[0]} if tables else {}
    for role in ("far", "sl2vl", "sl", "guid2lid"):
        paths = [path for run in runs.values() for path in run.get(role, {}).values()]
        if len(paths) == 1:
            parts[role] = paths[0]
    return _folder(place, topologies[0], "", parts)


def _kind(path: Path) -> str:
    """Return "topology" or "lft" by the first lines of a file, "" for anything else."""
    try:
        for _, line in islice(FileBlocks(path, 1 << 14).lines(), _LINES):
            if any(sign.match(line) for sign in _SIGNS):
                return "topology"
            if TABLES.match(line):
                return "lft"
    except FileError:  # not a text, damaged, not to be read
        pass
    return ""


# Readers of fabrics and forwarding tables, whatever program wrote them


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
    """Return the dialect of a topology file, by the first line that identifies it."""
    for number, line in FileBlocks(path, _SIZE >> 3).lines():
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
    fabric = _DIALECTS[dialect_of(path)][1](FileBlocks(path, _SIZE))
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
    """Read forwarding tables, and complete the fabric with the LIDs and the LMC that its own file does not give."""
    raw = _raw(path, fabric, progress)
    lids = not fabric.ports.lid.any()
    if lids or not fabric.lmc_known:
        fabric = with_learned_lids(fabric, raw, lids=lids)
    return fabric, tables_on(fabric, raw)


def _raw(path: str | Path, fabric: Fabric, progress: Progress | None) -> RawTables:
    if (folder := folder_of(path)) is not None:
        path = folder.tables()
    what = f"reading {path}"
    step = rising(progress)
    return read_raw(FileBlocks(path), switch_guids(fabric), largest_lid(fabric), lambda share: step(what, share))
