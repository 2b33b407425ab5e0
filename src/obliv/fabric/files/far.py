"""Reader and writer of ``ibdiagnet2.far``: the group tables of adaptive routing, by the grammar of one public parser.

No text of the program that writes such files is public, so that the reader refuses what it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import write_pieces
from obliv._util.progress import require_memory
from obliv.errors import FileError
from obliv.fabric.files import rows as lines
from obliv.fabric.files.assemble import FileBlocks, plain
from obliv.fabric.files.forwarding import switch_guids, with_switch
from obliv.fabric.files.ibnetdiscover import DISCOVER, TABLES, noted_line, shown_line
from obliv.fabric.files.rows import RowReader
from obliv.fabric.model import MAX_PORTS, NONE, Fabric, FindingPlace, Notes, place_of, typed
from obliv.fabric.names import LAST_LID, NO_STATE, STATES, Groups, GroupTables, SubGroup, slots_of_lids

_SWITCH = re.compile(rb"\s*Switch\s+0x([0-9a-fA-F]{1,16})(?![0-9a-zA-Z])")
_VERSION = re.compile(rb"\s*File version:\s*(\S{1,20})")
_PLFT = re.compile(rb"\s*PLFT_NUM:\s*(\d{1,4})\s*,\s*top:\s*0x([0-9a-fA-F]{1,8})\s*\Z")
_GROUP = re.compile(rb"\s*(\d{1,6})[ \t]+(\d{1,4})[ \t]+(\d{1,6})[ \t]*((?:(?<=[ \t,])\d{1,4},)*)\s*\Z")
_ENTRY = re.compile(rb"\s*0x")
_RULE = re.compile(rb"\s*-+\s*\Z")
_COLUMNS = {
    b"Group": [b"Group", b"Sub", b"Group", b"WHBF", b"Ports"],
    b"LID": [b"LID", b"Static", b"Port", b"Lid", b"State", b"Group"],
}
_MAX_GROUP, _MAX_SUB_GROUP, _MAX_PLFT = 65_535, 255, 63
_GROUP_BYTES = 400.0  # of memory for a row of groups, about
ENTRY_LINES = lines.rows_of(  # such as 0x000a  5  Free  1
    lines.line(
        0,
        lines.hexadecimal("lid", 8, LAST_LID, least=1),
        lines.decimal("port", 6, NONE),
        lines.before(b" \t"),
        lines.among("state", *(word.encode() for word in STATES)),
        lines.before(b" \t"),
        lines.decimal("group", 6, _MAX_GROUP),
    )
)


@dataclass
class _Table:
    """A table of a switch as the file has it: by LID the static port, the state and the group."""

    port: Array
    state: Array
    group: Array
    groups: Groups
    line: int


@dataclass
class _Raw:
    """The content of a file: tables by GUID and private LFT."""

    notes: Notes
    tables: dict[tuple[int, int], _Table] = field(default_factory=dict)
    sources: tuple[tuple[str, str], ...] = ()


@typed
def read_groups(path: str | Path, fabric: Fabric) -> GroupTables:
    """Read the tables of adaptive routing that ibdiagnet wrote, by the LIDs of a fabric.

    Parameters
    ----------
    path : str or Path
        ``ibdiagnet2.far``; compressed with gzip or not.
    fabric : Fabric
        With LIDs: the file does not name the ports that own them.

    Returns
    -------
    GroupTables
        Its `findings` list defects and remarks.

    Raises
    ------
    FileError
        If the file cannot be read, contains nothing of the kind, or is of an unknown version or layout.
    """
    guids = switch_guids(fabric)
    reader = _FarReader(FileBlocks(path), frozenset(guids))
    reader.read()
    raw = reader.finished()
    if not raw.tables:
        raise FileError(f"contains no table of a switch of {fabric.name}: give files of the same fabric", path)
    lids, _ = slots_of_lids(fabric)
    longest = max(len(table.port) for table in raw.tables.values())
    width = max(longest, int(lids.max(initial=0)) + 1)
    require_memory(4.0 * width * len(raw.tables), f"the tables of {path}")
    shape = len(raw.tables), width
    port, state = np.full(shape, NONE, np.uint8), np.full(shape, NO_STATE, np.uint8)
    group = np.zeros(shape, np.uint16)
    for row, table in enumerate(raw.tables.values()):
        many = len(table.port)
        port[row, :many], state[row, :many], group[row, :many] = table.port, table.state, table.group
    return GroupTables(
        name=str(path),
        switch=np.array([guids[guid] for guid, _ in raw.tables], np.int32),
        plft=np.array([number for _, number in raw.tables], np.int32),
        port=port,
        state=state,
        group=group,
        groups=tuple(table.groups for table in raw.tables.values()),
        line=np.array([table.line for table in raw.tables.values()], np.int32),
        sources=raw.sources,
        findings=tuple(with_switch(fabric, finding, guids) for finding in raw.notes.findings()),
    )


class _FarReader(RowReader):
    """The state of reading a file."""

    def __init__(self, blocks: FileBlocks, switches: frozenset[int]) -> None:
        super().__init__(blocks, ENTRY_LINES)
        self.raw = _Raw(self.notes)
        self._switches = switches
        size = LAST_LID + 1
        self._entries = tuple(  # of the current table: static port, state and group by LID
            np.full(size, empty, kind) for empty, kind in ((NONE, np.uint8), (NO_STATE, np.uint8), (0, np.uint16))
        )
        self._section = ""  # "switch", "groups" or "lft"
        self._guid: int | None = None  # of the current switch
        self._groups: dict[int, dict[int, SubGroup]] = {}  # of the current switch, by number and sub-group
        self._complete: Groups | None = None  # the same, once a table uses them
        self._group_rows = 0  # of the file
        self._ports: dict[bytes, tuple[int, ...]] = {}  # lists of ports that were read
        self._plft: int | None = None  # the number of the current table
        self._begun = 0  # the line where it begins
        self._announced = self._top = 0  # its largest LID, by its heading and by its rows
        self._conflicts = self._conflict_line = 0
        self._size = 0
        self._found: list[tuple[int, int, int]] = []  # of every table: GUID, line, largest LID

    def expects(self) -> bool:
        return self._plft is not None

    def take(self, kind: int, rows: dict[str, Array]) -> None:
        """Store entries of a table."""
        port, state, group = self._entries
        values = rows["state"], rows["port"], rows["group"]
        conflicts = lines.store((state, port, group), rows["lid"], values, NO_STATE)
        if conflicts.any():
            self._conflict_line = self._conflict_line or int(rows["line"][np.argmax(conflicts)])
            self._conflicts += int(conflicts.sum())
        self._top = max(self._top, int(rows["lid"].max()))

    @property
    def here(self) -> FindingPlace:
        return place_of(self._guid or 0, "")

    def finished(self) -> _Raw:
        """Return the tables that were read, at the end of the file."""
        self._close()
        if not self._found:
            raise FileError(
                "contains no table of adaptive routing: give the file ibdiagnet2.far that ibdiagnet -r writes",
                self.path,
            )
        guid, line, last = self._found[-1]
        longest = max(last for _, _, last in self._found)
        if last < longest:
            text = f"the table of switch 0x{guid:016x} ends at LID {last}, others at {longest}: the file may be cut off"
            self.notes.add("warning", "cut-off", text, line, place_of(guid, ""))
        self.raw.sources = self.sources
        return self.raw

    def other(self, line: bytes, number: int) -> None:
        """Read a line that is not an entry of a table."""
        text = line.strip()
        if text.startswith(b"#"):
            return
        if (header := _SWITCH.match(line)) is not None:
            self._close()
            self._guid, self._section = int(header[1], 16), "switch"
            self._groups, self._complete = {}, None
        elif (version := _VERSION.match(line)) is not None:
            if version[1] != b"1":
                raise FileError(f"is of version {shown_line(version[1])}; only version 1 is known", self.path, number)
        elif self._guid is None:
            self._elsewhere(line, number)
        elif text == b"Groups Definition:":
            self._close()
            self._section, self._groups, self._complete = "groups", {}, None
        elif text == b"LFT Definition:":
            self._close()
            self._section = "lft"
        elif self._section == "switch":
            pass  # about the switch, in words that are not known
        elif text.split(None, 1)[0] in _COLUMNS:
            if text.split() != _COLUMNS[text.split(None, 1)[0]]:
                raise FileError(f"has a table with other columns: {shown_line(line)}", self.path, number)
        elif _RULE.match(line):
            pass
        elif self._section == "groups":
            self._group(line, number)
        elif (plft := _PLFT.match(line)) is not None:
            self._begin(int(plft[1]), int(plft[2], 16), number)
        elif self._plft is not None and _ENTRY.match(line):
            text_ = f"{shown_line(line)} is not a valid entry: give a LID from 0x0001 to 0x{LAST_LID:04x}, "
            remedy = "a port up to 255, Static, Free, Bounded or HBF, and a group up to 65535"
            self.notes.add("error", "bad-entry", text_ + remedy, number, place_of(self._guid, ""))
        else:
            noted_line(line, number, self.notes)

    def _elsewhere(self, line: bytes, number: int) -> None:
        """Read a line before the first switch."""
        self.require(line, number, "tables of adaptive routing", {"a topology": DISCOVER})
        if TABLES.match(line):
            message = "contains forwarding tables without groups: give them as {tables}"
            raise FileError.naming(message, path=self.path, line=number)
        noted_line(line, number, self.notes)

    def _group(self, line: bytes, number: int) -> None:
        """Read a row of the groups of a switch."""
        guid = self._guid or 0
        row = _GROUP.match(line)
        group, part, weight = (int(row[k]) for k in (1, 2, 3)) if row is not None else (0, 0, 0)
        ports: tuple[int, ...] | None = None
        if row is not None and group <= _MAX_GROUP and part <= _MAX_SUB_GROUP:
            ports = self._ports.get(row[4])
            if ports is None:
                ports = tuple(dict.fromkeys(int(port) for port in row[4].split(b",")[:-1]))
                self._ports[row[4]] = ports
        if ports is None or any(port > MAX_PORTS for port in ports):
            text = (
                f"{shown_line(line)} is not a valid group: give its number, sub-group, weight, and ports such as 5,6,"
            )
            self.notes.add("error", "bad-entry", text, number, place_of(guid, ""))
            return
        self._group_rows += 1
        if not self._group_rows & 0xFFFF:
            require_memory(_GROUP_BYTES * 2**16, f"the groups of {self.path}")
        parts = self._groups.setdefault(group, {})
        if part in parts:
            text = f"a second row for group {group}, sub-group {part} of switch 0x{guid:016x}: the first is used"
            self.notes.add("warning", "duplicate-entry", text, number, place_of(guid, ""))
        else:
            parts[part] = SubGroup(part, weight, ports)

    def _begin(self, plft: int, top: int, line: int) -> None:
        """Begin a table."""
        self._close()
        guid = self._guid or 0
        if plft > _MAX_PLFT:
            text = f"private LFT {plft} of switch 0x{guid:016x} is out of range (0 to {_MAX_PLFT}): ignored"
            self.notes.add("error", "bad-entry", text, line, place_of(guid, ""))
            return
        self._plft, self._begun, self._announced = plft, line, top
        old = self.raw.tables.get((guid, plft))
        if old is not None:
            text = f"a second table of switch 0x{guid:016x}, private LFT {plft}; the first is on line {old.line}: "
            text += "where they differ, the second is used"
            self.notes.add("warning", "duplicate-table", text, line, place_of(guid, ""))
            self._top = len(old.port) - 1
            for entries, values in zip(self._entries, (old.port, old.state, old.group), strict=True):
                entries[: len(values)] = values

    def _close(self) -> None:
        """End the table that is being read, if any."""
        if self._plft is None or self._guid is None:
            return
        guid, plft, last = self._guid, self._plft, self._top
        here = place_of(guid, "")
        if self._conflicts:
            text = f"{self._conflicts} LIDs of switch 0x{guid:016x} have a second, different entry; the second is used"
            self.notes.add("warning", "duplicate-entry", text, self._conflict_line, here)
        if last > self._announced:
            text = f"the table of switch 0x{guid:016x} has LID {last}, but announces LIDs to {self._announced} only"
            self.notes.add("warning", "bad-entry", text, self._begun, here)
        self._found.append((guid, self._begun, last))
        if guid in self._switches:
            self._keep(guid, plft, last)
        else:
            text = f"a table of switch 0x{guid:016x}, which is not in the topology: ignored"
            self.notes.add("error", "unknown-switch", text, self._begun, here)
        port, state, group = self._entries
        port[: last + 1], state[: last + 1], group[: last + 1] = NONE, NO_STATE, 0
        self._plft, self._top, self._conflicts, self._conflict_line = None, 0, 0, 0

    def _keep(self, guid: int, plft: int, last: int) -> None:
        """Store the table that ends."""
        self._size += 4 * (last + 1)
        if self._size >> 26:  # at intervals
            require_memory(2.0 * self._size, f"the tables of {self.path}")
            self._size = 0
        old = self.raw.tables.get((guid, plft))
        if self._complete is None:
            self._complete = {number: tuple(parts.values()) for number, parts in self._groups.items()}
        port, state, group = (column[: last + 1].copy() for column in self._entries)
        line = self._begun if old is None else old.line
        self.raw.tables[guid, plft] = _Table(port, state, group, self._complete, line)


# Writer of group tables in the layout of ``ibdiagnet2.far``


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
