"""Nodes and ports by name, as users write them; LIDs checked and assigned; group tables of adaptive routing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import plural, printable
from obliv.errors import FileError, InputError, TopologyError
from obliv.fabric.model import NONE, Fabric, FindingPlace, Notes, Tables
from obliv.fabric.results.check import Finding

_GUID = re.compile(r"(?:0x([0-9a-f]{1,16})|(?:\w-)?([0-9a-f]{16}))\Z", re.ASCII | re.IGNORECASE)
_PRINTED = re.compile(r" port [0-9]+\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?:port|p|ib)?[ _#-]*(\d{1,9})", re.IGNORECASE | re.ASCII)
_CUT = re.compile(r"(.+)(?:/|:|\[(?=[^\[\]]*\]))([^/:\[\]]*)\]?", re.DOTALL)
#: ``IDENT ('DESCRIPTION')`` as in findings, or ``LABEL [IDENT]`` as in results.
_CALLED = re.compile(r"""(\S+)\ \((?:'.*'|".*")\)\Z|.*\ \[([^\[\]]+)\]\Z""", re.DOTALL)
_PARTS = re.compile(r"[;:/\s]+")  # MF0;leaf-01:MQM8700/U1 is four words
_LONGEST = 80  # characters of a name in messages
_MOST = 3  # suggestions


def safe(text: str, longest: int = 64) -> str:
    """Return a text from a file with its unprintable characters replaced, cut where it is very long."""
    shown = printable(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def port_number(text: str) -> int | None:
    """Return the number of a port as people write it, ``17``, ``P17`` or ``Port 17``; None for anything else."""
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) if match is not None else None


def cut_port(text: str) -> tuple[str, str] | None:
    """Return what stands before and behind the last ``/`` or ``:``, or in brackets at the end; None for neither."""
    match = _CUT.fullmatch(text)
    return (match[1], match[2]) if match is not None else None


def split_port(text: str) -> tuple[str, int] | None:
    """Return the name and the port of a text ``NAME/PORT``, or as results and people write it; else None."""
    if _PRINTED.search(text):
        name, word = text[: text.lower().rindex(" port ")], text.rpartition(" ")[2]
    else:
        name, word = cut_port(text) or ("", "")
    port = port_number(word)
    return (name, port) if name and port is not None and port < 100_000 else None


def out_of_range(fabric: Fabric, node: int) -> str:
    """Return which ports a node has, of one that it has not."""
    return f"does not exist: ports are 1 to {int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1}"


def guid_of(text: str) -> int:
    """Return the GUID that a text is, as messages and identifiers write it; 0 if it is none."""
    match = _GUID.match(text)
    return int(match[1] or match[2], 16) if match is not None else 0


def unpadded(name: str) -> str:
    """Return a name in small letters, its numbers without leading zeros: ``Node012`` as ``node12``."""
    return re.sub(r"[0-9]+", lambda number: number[0].lstrip("0") or "0", name.lower())


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that may be meant, the likeliest first: those with the word as a part, or spelled alike."""
    word = wanted.strip()[:_LONGEST].casefold()
    if not word:
        return []
    known = list(dict.fromkeys(names))
    words = {name: {name, *_PARTS.split(name)} for name in known}
    tests: tuple[Callable[[str], bool], ...] = (
        lambda name: any(part.casefold() == word for part in words[name]),
        lambda name: any(unpadded(part) == unpadded(word) for part in words[name]),
        lambda name: word in name.casefold(),
    )
    for test in tests:
        if near := [name for name in known if test(name)]:
            return near
    owners: dict[str, list[str]] = {}
    for name in known:
        for part in words[name]:
            if len(part) > 2:
                owners.setdefault(part.casefold(), []).append(name)
    return list(dict.fromkeys(name for part in get_close_matches(word, owners, _MOST, 0.7) for name in owners[part]))


class NodeNames:
    """The nodes of a fabric by their identifiers in the file, or else by their descriptions, GUIDs or printed names."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._ident: dict[str, list[int]] = {}
        self._description: dict[str, list[int]] = {}
        for node, (ident, text) in enumerate(zip(fabric.nodes.ident, fabric.nodes.description, strict=True)):
            self._ident.setdefault(ident, []).append(node)
            self._description.setdefault(text.strip(), []).append(node)

    def all(self, name: str) -> list[int]:
        """Return the nodes of this name."""
        word = name.strip()
        nodes = (self._ident.get(name) or self._description.get(word) or []) if word else []
        if not nodes and (guid := guid_of(word)):
            nodes = sorted({int(self.fabric.node_of[slot]) for slot in self.slots_of(guid)})
        if not nodes and (called := _CALLED.match(word)) is not None:  # as findings and results name nodes
            nodes = self._ident.get(called[1] or called[2]) or []
        if not nodes and word:
            nodes = self._printed.get(word) or []
        if not nodes and _PRINTED.search(word):  # a port of an adapter that uses several
            nodes = [v for v in self.all(word.rpartition(" port ")[0]) if self.fabric.nodes.kind[v] != "switch"]
        return nodes

    def slots_of(self, guid: int) -> list[int]:
        """Return the slots of the ports of a node with this GUID, or else those that have it themselves."""
        nodes = np.flatnonzero(self.fabric.nodes.guid == np.uint64(guid))
        first = self.fabric.first_slot
        if len(nodes):
            return [slot for v in nodes.tolist() for slot in range(int(first[v]), int(first[v + 1]))]
        return np.flatnonzero(self.fabric.ports.guid == np.uint64(guid)).tolist()

    def find(
        self, name: str, form: Callable[[str], str] = str, accepted: Callable[[str], object] | None = str
    ) -> int | None:
        """Return the node of this name, None if there is none."""
        nodes = self.all(name)
        if len(nodes) > 1:
            texts = self._offered(map(form, filter(None, map(self.typed, nodes))), accepted)
            use = f": use {' or '.join(texts)}" if texts else ""
            raise InputError(f"{printable(name[:_LONGEST])!r}: {len(nodes)} nodes have this name{use}")
        return nodes[0] if nodes else None

    def slot(self, name: str, port: int) -> int:
        """Return the slot of a port, -1 where the fabric has none; InputError where the name is not unique."""
        node = self.find(name)
        return self.fabric.slot(node, port) if node is not None else -1

    def typed(self, node: int) -> str:
        """Return a name that users can type for a node: its description, identifier or GUID; "" if there is none."""
        nodes = self.fabric.nodes
        for text in (nodes.description[node].strip(), nodes.ident[node], f"0x{int(nodes.guid[node]):016x}"):
            if text and text.isprintable() and len(text) <= _LONGEST and self.all(text) == [node]:
                return text
        return ""

    def meant(self, name: str) -> Iterator[str]:
        """Yield the names, as users can type them, of nodes that may be meant by an unknown name."""
        for near in nearest(name, [text for text in self._description if text] + list(self._ident)):
            for node in self._description.get(near) or self._ident[near]:
                if text := self.typed(node):
                    yield text

    def hint(self, name: str, form: Callable[[str], str], accepted: Callable[[str], object] | None) -> str:
        """Return in words what may be meant: texts with names near to one that is unknown, if they are accepted."""
        texts = self._offered(map(form, self.meant(name)), accepted) if accepted is not None else []
        return f": did you mean {' or '.join(texts)}?" if texts else ""

    def _offered(self, texts: Iterable[str], accepted: Callable[[str], object] | None) -> list[str]:
        """Return the first texts that are accepted."""
        offered: dict[str, None] = {}
        if accepted is None:
            return []
        for text in texts:
            try:
                accepted(text)
            except InputError:
                continue
            offered[text] = None
            if len(offered) == _MOST:
                break
        return list(offered)

    @cached_property
    def _printed(self) -> dict[str, list[int]]:
        """Nodes by what results print of long or unprintable names."""
        nodes: dict[str, list[int]] = {}
        for node in range(len(self.fabric.nodes)):
            label = self.fabric.nodes.label(node)
            if (text := safe(label)) != label:
                nodes.setdefault(text, []).append(node)
        return nodes


# LIDs: checks of those in files, repeated numbers, and new ones; those of InfiniBand and extended ones


LAST_LID = 0xBFFF  #: The last unicast LID of InfiniBand.
LAST_EXTENDED_LID = 0xEFFFFF  #: The last unicast LID of 24 bits: Omni-Path's multicast LIDs begin at 0xF00000.
_MAX_LMC = 7
_SPREAD = 4  # numbers for each LID that a port owns, where LIDs go beyond those of InfiniBand


def checked_lids(
    lid: Array,
    lmc: Array,
    line: Array,
    place: Callable[[int], str],
    at: Callable[[int], FindingPlace],
    notes: Notes,
) -> tuple[Array, Array]:
    """Return LIDs and LMCs with 0 for invalid ones; defects are noted."""
    for slot in np.flatnonzero(lmc > _MAX_LMC).tolist():
        notes.add("error", "bad-lid", f"{place(slot)} has LMC {lmc[slot]}: the maximum is 7", line[slot], at(slot))
    lmc = np.where(lmc > _MAX_LMC, 0, lmc)
    last = lid + (1 << lmc) - 1
    largest = _largest(int((1 << lmc[lid > 0].astype(np.int64)).sum()))
    words = f"the largest unicast LID is {LAST_LID}"
    if LAST_LID < largest < LAST_EXTENDED_LID:
        words = f"LIDs beyond {LAST_LID} are read up to {largest}, {_SPREAD} for each that a port owns"
    for slot in np.flatnonzero(last > largest).tolist():
        text = f"{place(slot)} has LID {lid[slot]}: {words}"
        notes.add("error", "bad-lid", text, line[slot], at(slot))
    lid = np.where(last > largest, 0, lid)
    for slot in np.flatnonzero(lid & ((1 << lmc) - 1)).tolist():
        notes.add(
            "warning",
            "bad-lid",
            f"{place(slot)} has LID {lid[slot]}, which is not a multiple of 2^LMC = {1 << lmc[slot]}",
            line[slot],
            at(slot),
        )
    for first, second, value in _repeated(*owned_lids(lid, lmc, np.flatnonzero(lid))):
        notes.add(
            "error",
            "duplicate-lid",
            f"LID {value} belongs to {place(first)} and to {place(second)}: restart the subnet manager",
            line[second],
            at(second),
        )
    return lid, lmc


def largest_lid(fabric: Fabric) -> int:
    """Return the largest LID that tables of a fabric may name."""
    # Tables have a column for every LID up to the largest, so that extended LIDs are read only where they are dense:
    # one large number in a small file must not take gigabytes.
    lids, _ = slots_of_lids(fabric)
    ports = len(fabric.switches) + len(fabric.endpoints)
    return max(int(lids.max(initial=0)), _largest(max(len(lids), ports)))


def _largest(owned: int) -> int:
    return max(LAST_LID, min(LAST_EXTENDED_LID, _SPREAD * owned))


def beyond_infiniband(fabric: Fabric) -> tuple[int, int]:
    """Return how many ports have LIDs that InfiniBand cannot address, and the largest LID of the fabric."""
    last = fabric.ports.lid.astype(np.int64) + (1 << fabric.ports.lmc.clip(0, _MAX_LMC).astype(np.int64)) - 1
    last = last[fabric.ports.lid > 0]
    return int((last > LAST_LID).sum()), int(last.max(initial=0))


def require_writable_lids(fabric: Fabric, path: str | Path) -> None:
    """Refuse to write LIDs beyond those of InfiniBand, unless the fabric is known to have extended ones."""
    ports, last = beyond_infiniband(fabric)
    if ports and not fabric.extended_lids:
        raise FileError.naming(
            f"cannot be written: LIDs go up to {last}, beyond the {LAST_LID} of InfiniBand and OpenSM: on a fabric "
            "with LIDs of 24 bits, as Omni-Path, use {extended_lids}=True",
            path=path,
        )


def owned_lids(lid: Array, lmc: Array, slots: Array) -> tuple[Array, Array]:
    """Return the LIDs that some ports own, 2^LMC from the first on, and the slot of the owner of each."""
    many = 1 << lmc[slots].astype(np.int64)
    owner = np.repeat(slots, many)
    past = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    return lid[owner].astype(np.int64) + past, owner


def slots_of_lids(fabric: Fabric) -> tuple[Array, Array]:
    """Return the LIDs that ports of a fabric own, and the slot of the owner of each."""
    return owned_lids(fabric.ports.lid, fabric.ports.lmc.clip(0, _MAX_LMC), np.flatnonzero(fabric.ports.lid > 0))


def owners(fabric: Fabric) -> dict[int, int]:
    """Return the slot of every LID that a port of the fabric owns; of several owners the first."""
    lids, slots = slots_of_lids(fabric)
    return dict(zip(lids[::-1].tolist(), slots[::-1].tolist(), strict=True))


def note_repeated_guids(
    guid: Array,
    line: Array,
    what: str,
    called: Callable[[int], str],
    at: Callable[[int], FindingPlace],
    notes: Notes,
) -> None:
    """Note GUIDs that two nodes or two ports have."""
    known = np.flatnonzero(guid)
    for first, second, value in _repeated(guid[known], known):
        notes.add(
            "error",
            "duplicate-guid",
            f"{called(first)} and {called(second)} have the same {what} GUID 0x{value:016x}: one of them must change",
            line[second],
            at(second),
        )


def _repeated(values: Array, owners: Array) -> list[tuple[int, int, int]]:
    """Return the owners of repeated values: the first owner, each later one, and the value."""
    order = np.argsort(values, kind="stable")
    values, owners = values[order], owners[order]
    again = np.flatnonzero(values[1:] == values[:-1]) + 1 if len(values) else np.zeros(0, np.int64)
    repeats = []
    for k in again.tolist():
        first = int(np.searchsorted(values, values[k]))
        repeats.append((int(owners[first]), int(owners[k]), int(values[k])))
    return repeats


def with_lids(fabric: Fabric, lmc: int = 0) -> Fabric:
    """Return the same fabric with new LIDs: switches from 1 on, then the ports of hosts with 2**lmc each."""
    # They go beyond those of InfiniBand only if the fabric says that they may: see :attr:`Fabric.extended_lids`.
    if not 0 <= lmc <= 7:
        raise TopologyError(f"LMC {lmc} is out of range (0 to 7)")
    own = fabric.first_slot[fabric.switches]
    others = ~fabric.nodes.are("switch")[fabric.node_of]
    ports = np.flatnonzero(others & (fabric.ports.peer >= 0))
    step = 1 << lmc
    first = require_lids(len(own), len(ports), lmc, extended=fabric.extended_lids)
    lid, masks = np.zeros_like(fabric.ports.lid), np.zeros_like(fabric.ports.lmc)
    lid[own] = 1 + np.arange(len(own))
    lid[ports] = first + step * np.arange(len(ports))
    masks[ports] = lmc
    return fabric.with_ports(lid=lid, lmc=masks)


def require_lids(switches: int, ports: int, lmc: int, *, extended: bool = False) -> int:
    """Return the first LID of hosts, if there are enough LIDs."""
    step = 1 << lmc
    first = -(-(switches + 1) // step) * step
    last = LAST_EXTENDED_LID if extended else LAST_LID
    if first + step * ports - 1 > last:
        otherwise = "" if extended else ", or {extended_lids}=True for LIDs of 24 bits as on Omni-Path"
        raise TopologyError.naming(
            f"{switches} switches and {ports} ports of hosts with {plural(step, 'LID')} each need more than the "
            f"{last} available LIDs: use a smaller LMC or a smaller fabric{otherwise}"
        )
    return first


# Group tables of adaptive routing: the ports among which a switch may choose for each LID


BOUNDED, FREE, STATIC, HBF = range(4)
NO_STATE = 255  #: The state of a LID that a table does not list.

#: The names of the states of a LID, by number.
STATES = ("Bounded", "Free", "Static", "HBF")


class SubGroup(NamedTuple):
    """A part of a group: its number, its weight for hash-based forwarding (0 without), and its ports."""

    number: int
    weight: int
    ports: tuple[int, ...]


#: The groups of a switch by number.
Groups = Mapping[int, tuple[SubGroup, ...]]


def ports_of(group: tuple[SubGroup, ...]) -> tuple[int, ...]:
    """Return the ports of all sub-groups of a group, in order, each once."""
    return tuple(sorted({port for part in group for port in part.ports}))


@dataclass(frozen=True, eq=False, repr=False)
class GroupTables:
    """Group tables: a row for each switch and private LFT, a column for each LID of the fabric's numbering.

    Parameters
    ----------
    name : str
        The file, or the rule that made them.
    switch : int32 array, shape (rows,)
        The node of each row.
    plft : int32 array, shape (rows,)
        The number of each row's private LFT.
    port : uint8 array, shape (rows, top + 1)
        The static port for every LID, ``NONE`` where the table has no entry.
    state : uint8 array, shape (rows, top + 1)
        ``BOUNDED``, ``FREE``, ``STATIC``, ``HBF``, or ``NO_STATE`` where the table has no entry.
    group : uint16 array, shape (rows, top + 1)
        The group for every LID, without meaning where the state is ``STATIC``.
    groups : tuple of mappings
        The groups of each row.
    line : int32 array, shape (rows,)
        The line of the file where each row's table begins.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Defects and remarks noted while reading.
    """

    name: str
    switch: Array
    plft: Array
    port: Array
    state: Array
    group: Array
    groups: tuple[Groups, ...]
    line: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def plfts(self) -> tuple[int, ...]:
        """The numbers of the private LFTs that occur."""
        return tuple(np.unique(self.plft).tolist())

    def of_plft(self, number: int) -> GroupTables:
        """Return the tables of one private LFT."""
        if self.plfts == (number,):
            return self
        rows = np.flatnonzero(self.plft == number)
        return GroupTables(
            self.name,
            self.switch[rows],
            self.plft[rows],
            self.port[rows],
            self.state[rows],
            self.group[rows],
            tuple(self.groups[row] for row in rows.tolist()),
            self.line[rows],
            self.sources,
            self.findings,
        )

    @cached_property
    def static(self) -> Tables:
        """The forwarding tables of the static ports; of a single private LFT."""
        port = np.where(self.state == NO_STATE, np.uint8(NONE), self.port)
        return Tables(self.name, self.switch, port, self.line, "far", 0, sources=self.sources, findings=self.findings)

    def __repr__(self) -> str:
        return f"<GroupTables {self.name}: {len(self.switch)} tables, LIDs to {self.port.shape[1] - 1}>"
