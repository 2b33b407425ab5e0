"""The files of a fabric in a folder: what a run of ibdiagnet or OpenSM left there, as one argument."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from obliv._util.files import files_in
from obliv._util.text import printable
from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.ibdiagnet import sections_of
from obliv.fabric.files.lines import DB_CSV, DISCOVER, LINKINFO, NET_DUMP, PORTLIST, SUBNET, TABLES

__all__ = ["Folder", "folder_of"]

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
    """The files of a fabric that a folder has; None for those that it has not.

    Parameters
    ----------
    path : Path
        The folder.
    topology, lft, far, sl2vl, sl, info, guid2lid : Path
    text : str
        What was taken, for a message.
    """

    path: Path
    topology: Path
    lft: Path | None = None
    far: Path | None = None
    sl2vl: Path | None = None
    sl: Path | None = None
    info: Path | None = None
    guid2lid: Path | None = None
    text: str = ""

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
    """Return the files of a fabric in a folder, None if the path is not one.

    Names say what files are for: those of ibdiagnet, ``ibdiagnet2.lst`` and so on, and of OpenSM; in a folder without
    such names, the content does. Of several topologies of one run the one that says most is taken.

    Raises
    ------
    FileError
        If there is no topology, or there are those of several runs.
    """
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
    for block in Blocks(path):
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
        for _, line in islice(Blocks(path, 1 << 14).lines(), _LINES):
            if any(sign.match(line) for sign in _SIGNS):
                return "topology"
            if TABLES.match(line):
                return "lft"
    except FileError:  # not a text, damaged, not to be read
        pass
    return ""
