"""The planned cabling of a fabric, compared with what is found."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from obliv._util.files import read_source
from obliv._util.text import plural, printable, shown
from obliv.errors import FileError, InputError
from obliv.fabric.files.folder import dialect_of, read_fabric
from obliv.fabric.model import Fabric, FindingPlace, Notes, at_node, at_port, port_name
from obliv.fabric.names import NodeNames, out_of_range, port_number, split_port

__all__ = ["CablePlan", "compare_cables", "read_plan", "slots_named"]

_PLAIN = ["name", "port", "name", "port"]
_AGGREGATION = "Mellanox Technologies Aggregation Node"
#: Headings of columns, in small letters without blanks and signs, of both ends: UFM, NetBox, and lists like them.
_ENDS = (("a", "start", "src", "source"), ("b", "z", "end", "dst", "destination"))
_DEVICES = tuple(
    {form.format(end) for end in ends for form in ("{}device", "{}node", "device{}", "side{}", "side{}device")}
    | {f"termination{end}device" for end in ends}
    for ends in _ENDS
)
_PORTS = tuple(
    {form.format(end) for end in ends for form in ("{}port", "port{}", "termination{}", "side{}name", "side{}port")}
    | {f"termination{end}name" for end in ends}
    for ends in _ENDS
)
_KNOWN = "StartDevice, StartPort, EndDevice, EndPort (UFM) or Device A, Termination A, Device B, Termination B (NetBox)"
_DIGIT = re.compile("[0-9]")
_LABEL = re.compile(r"(?:port|p|ib)?[ _#-]*(\d{1,4}(?:/\d{1,4}){1,3})", re.IGNORECASE | re.ASCII)
_CAGE = re.compile(r"sw(\d{1,4})p(\d{1,4})", re.IGNORECASE | re.ASCII)
_SWITCH = re.compile(r"(?:MF0;)?([^;:]+)(?::[^:]*)?", re.IGNORECASE)  # MF0;leaf-01:MQM8700/U1
_DEVICE = re.compile(r"(?:mlx\d+_|hca-?)(\d{1,4})", re.IGNORECASE | re.ASCII)
_AT = re.compile(r"(.*?)(?: *[/:] *(?:port|p)? *| +(?:port|p) *)(\d{1,4})", re.IGNORECASE | re.ASCII)
_MOST_HINTS = 20  # searches for similar names


@dataclass(frozen=True)
class CablePlan:
    """Planned cables as pairs of ports of a fabric, -1 where the fabric has no such port."""

    cables: tuple[tuple[int, int], ...]  # slots
    names: tuple[tuple[str, str], ...]  # what the plan calls them
    lines: tuple[int, ...]
    sources: tuple[tuple[str, str], ...] = ()
    # reasons: why the fabric does not have a port, by its name in the plan, where there is more to say
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # about rows that were left out
    # switches_only: whether the plan has cables between switches only, so that those of hosts are not compared
    switches_only: bool = False


def read_plan(path: str | Path, fabric: Fabric) -> CablePlan:
    """Read a plan of the cabling."""
    if not Path(path).name.lower().removesuffix(".gz").endswith(".csv"):
        try:
            if not os.path.isdir(path):
                dialect_of(path)
        except FileError as error:
            if error.line is not None or not _looks_like_csv(path):
                raise
        else:
            return _of_fabric(read_fabric(path), fabric)
    return _of_csv(path, fabric)


def _looks_like_csv(path: str | Path) -> bool:
    text, _ = read_source(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(map(first.count, ",;\t")) >= 3


def _rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with its line."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        for cells in reader:
            words = _whole(cells)
            if any(words):
                yield reader.line_num, words
    except csv.Error as error:
        raise FileError(f"invalid CSV: {error}", path, reader.line_num) from None


def _whole(cells: list[str]) -> list[str]:
    """Return the cells of a row; those of a name such as ``switch((0),1)`` without quotes are joined again."""
    words: list[str] = []
    for cell in cells:
        if words and words[-1].count("(") > words[-1].count(")"):
            words[-1] += "," + cell.strip()
        else:
            words.append(cell.strip())
    return words if all(word.count("(") == word.count(")") for word in words) else [cell.strip() for cell in cells]


def _of_csv(path: str | Path, fabric: Fabric) -> CablePlan:
    """Return the cables of a CSV file."""
    text, digest = read_source(path)
    rows = _rows(path, text)
    ends = _Ends(fabric, path)
    planned: dict[tuple[str, str], tuple[int, int, int]] = {}  # by names: slots and line
    left_out: dict[str, list[int]] = defaultdict(list)
    columns: dict[str, int] | None = None
    place = (0, 1, 2, 3)
    begun = False
    for line, words in rows:
        if not begun and (columns := _heading(words)) is not None:
            place = _places(columns, words, path, line)
            begun = True
            continue
        comment = words[0].startswith("#") and (columns is None or sum(map(bool, words)) < 4)
        if comment or (not begun and words == _PLAIN):
            continue
        begun = True
        if columns is None and (len(words) != 4 or not all(words) or not all(map(_DIGIT.search, words[1::2]))):
            text = f"a row is not name,port,name,port, and the first row is not a heading such as {_KNOWN}"
            raise FileError(text, path, line)
        words += [""] * (max(place) + 1 - len(words))
        if columns is not None and (why := _left_out(columns, words, place)):
            left_out[why].append(line)
            continue
        one, other = (ends.slot(words[place[k]], words[place[k + 1]], line) for k in (0, 2))
        names = (f"{words[place[0]]}/{words[place[1]]}", f"{words[place[2]]}/{words[place[3]]}")
        if names[::-1] not in planned:  # UFM lists cables between switches in both directions
            planned.setdefault(names, (one, other, line))
    if not planned and left_out:
        why, lines = next(iter(left_out.items()))
        raise FileError(f"contains no cable to look for; {why}", path, lines[0])
    if not planned:
        raise FileError(f"contains no cable: give rows name,port,name,port, or a heading such as {_KNOWN}", path)
    if not ends.known:
        text = f"has no device of {fabric.name}, such as {ends.example()}: give the plan of the same fabric"
        raise FileError(text, path)
    cables = tuple((one, other) for one, other, _ in planned.values())
    switch = fabric.nodes.are("switch")
    inner = all(slot < 0 or switch[fabric.node_of[slot]] for pair in cables for slot in pair)
    remarks = [
        f"{plural(len(lines), 'row')} left out: {why} (the first on line {lines[0]})" for why, lines in left_out.items()
    ]
    if inner and len(fabric.endpoints):
        remarks.append("the plan has cables between switches only: those of hosts are not compared")
    return CablePlan(
        cables,
        tuple(planned),
        tuple(line for _, _, line in planned.values()),
        ((str(path), digest),),
        ends.reasons,
        tuple(remarks),
        inner,
    )


def _key(cell: str) -> str:
    """Return the heading of a column in small letters, without blanks and signs."""
    return re.sub(r"[^a-z0-9]", "", cell.lower()).removeprefix("fields")


def _heading(words: list[str]) -> dict[str, int] | None:
    """Return the columns of a heading by their names, None for a row that is not one."""
    keys = [_key(word) for word in words]
    known = {*_DEVICES[0], *_DEVICES[1], *_PORTS[0], *_PORTS[1], "linktype"}
    if sum(key in known for key in keys) < 2:
        return None
    return {key: k for k, key in reversed(list(enumerate(keys))) if key}


def _places(columns: dict[str, int], words: list[str], path: str | Path, line: int) -> tuple[int, int, int, int]:
    """Return the columns of device and port of both ends."""
    place = []
    for side, end in enumerate(("first", "second")):
        for what, keys in (("device", _DEVICES[side]), ("port", _PORTS[side])):
            fitting = sorted(columns[key] for key in columns.keys() & keys)
            if not fitting:
                titles = printable(", ".join(words)[:120])
                raise FileError(f"has no column for the {what} of the {end} end ({titles}): give {_KNOWN}", path, line)
            place.append(fitting[0])
    return (place[0], place[1], place[2], place[3])


def _left_out(columns: dict[str, int], words: list[str], place: tuple[int, int, int, int]) -> str:
    """Return why a row is not a cable to look for, "" if it is one."""

    def cell(name: str) -> str:
        return words[columns[name]].lower() if name in columns and columns[name] < len(words) else ""

    if cell("linktype") not in ("", "data"):
        return "the link type is not Data"
    if any(word in cell(name) for name in ("sideatype", "terminationatype", "type") for word in ("power", "console")):
        return "cables of power or consoles"
    if cell("status") == "decommissioning":
        return "cables that are decommissioned"
    if any(not words[place[k]] or not words[place[k + 1]] for k in (0, 2)):
        return "an end without a device or a port"
    return ""


class _Ends:
    """The ports of a fabric by the names that plans have for them."""

    def __init__(self, fabric: Fabric, path: str | Path) -> None:
        self.fabric, self.path = fabric, path
        self.reasons: dict[str, str] = {}  # why there is no such port, by its name
        self.known = 0  # devices that were found
        self._names = NodeNames(fabric)
        self._short: dict[str, list[int]] = defaultdict(list)
        for node, text in enumerate(fabric.nodes.description):
            for word in _short_names(text, fabric.nodes.kind[node] == "switch"):
                self._short[word].append(node)
        self._labels: dict[int, dict[str, int]] = defaultdict(dict)
        for slot, label in fabric.labels.items():
            self._labels[int(fabric.node_of[slot])][label.lower()] = slot
        self._nodes: dict[str, list[int]] = {}
        self._hints: dict[str, str] = {}

    def example(self) -> str:
        """Return the short name of some switch."""
        node = int(self.fabric.switches[0]) if len(self.fabric.switches) else 0
        return printable(self.fabric.nodes.label(node)[:60])

    def slot(self, device: str, port: str, line: int) -> int:
        """Return the slot of a port, -1 where there is none; FileError where a name means several nodes."""
        nodes = self._nodes.get(device)
        if nodes is None:
            nodes = self._nodes[device] = self._find(device, line)
        self.known += bool(nodes)
        name = f"{device}/{port}"
        if not nodes:
            self.reasons[name] = self._unknown(device)
            return -1
        if self.fabric.nodes.kind[nodes[0]] == "switch":
            return self._at_switch(nodes[0], port, name)
        return self._at_host(nodes, device, port, name, line)

    def _find(self, device: str, line: int) -> list[int]:
        """Return the node of a name; the adapters of a host if it is the name of one."""
        try:
            node = self._names.find(device)
        except InputError as error:
            raise FileError(str(error), self.path, line) from None
        if node is not None:
            return [node]
        word = device.lower()
        nodes = self._short.get(word) or self._short.get(word.partition(".")[0], [])
        switches = [node for node in nodes if self.fabric.nodes.kind[node] == "switch"]
        if len(switches) > 1 or (switches and len(nodes) > 1):
            several = " or ".join(shown(self.fabric.nodes.description[node]) for node in nodes[:3])
            raise FileError(
                f"{shown(device)}: {len(nodes)} nodes have this name in theirs: write {several}", self.path, line
            )
        return nodes

    def _unknown(self, device: str) -> str:
        """Return that there is no such device, with the names most like it."""
        if device not in self._hints:
            hint = self._names.hint(device, str, self._names.find) if len(self._hints) < _MOST_HINTS else ""
            self._hints[device] = f"the fabric has no device {shown(device)}{hint}"
        return self._hints[device]

    def _at_switch(self, node: int, port: str, name: str) -> int:
        """Return a port of a switch by its label or its number."""
        labels = self._labels[node]
        label = port.lower().removeprefix("port").strip()
        if label in labels:
            return labels[label]
        number = port_number(port)
        if number is not None:
            slot = self.fabric.slot(node, number)
            if slot < 0:
                self.reasons[name] = f"the port {printable(name[:80])} {out_of_range(self.fabric, node)}"
            return slot
        ports = int(self.fabric.first_slot[node + 1] - self.fabric.first_slot[node]) - 1
        parts = _LABEL.fullmatch(port) or _CAGE.fullmatch(port)
        at = _split_port(tuple(int(part) for part in re.findall(r"\d+", parts[0])), ports) if parts is not None else -1
        if at < 0:
            some = ", ".join(printable(text[:20]) for text in [*labels][:3])
            known = (
                f"its labels are {some}{', ...' * (len(labels) > 3)}"
                if labels
                else ("give its number, or a topology that has labels, such as ibdiagnet2.net_dump")
            )
            device = printable(self.fabric.nodes.label(node)[:60])
            self.reasons[name] = f"the port label {shown(port)} is unknown at {device}: {known}"
        return self.fabric.slot(node, at)

    def _at_host(self, nodes: list[int], device: str, port: str, name: str, line: int) -> int:
        """Return the port of one of a host's adapters."""
        texts = self.fabric.nodes.description  # of an adapter: the host's, then its own
        adapters = {texts[node].strip().partition(" ")[2].strip().lower(): node for node in nodes}
        node, at = _named(port, adapters), 0
        if node is None and (split := _AT.fullmatch(port)) is not None:
            node, at = _named(split[1], adapters), int(split[2])
        number = port_number(port)
        if node is None and len(nodes) == 1 and not _DEVICE.match(port):
            node, at = nodes[0], number or 0
        if node is not None:
            return self.fabric.slot(node, at) if at else self._only(node, name)
        known = ", ".join(printable(text[:20]) for text in adapters if text)
        if number is not None:
            text = f"{shown(device)} has {len(nodes)} adapters: write {known} as the port"
            raise FileError(text, self.path, line)
        self.reasons[name] = f"{shown(device)} has no adapter {shown(port)}" + (f": it has {known}" if known else "")
        return -1

    def _only(self, node: int, name: str) -> int:
        """Return the one port of an adapter that has a cable, or else its first one."""
        first, end = self.fabric.first_slot[node : node + 2].tolist()
        cabled = [slot for slot in range(first + 1, end) if self.fabric.ports.peer[slot] >= 0]
        if len(cabled) > 1:
            self.reasons[name] = f"{printable(name[:80])} has {len(cabled)} cabled ports: write the port as mlx5_0/1"
            return -1
        return cabled[0] if cabled else self.fabric.slot(node, 1)


def _short_names(description: str, switch: bool) -> Iterable[str]:
    """Return the names by which a node may be meant besides its whole description, in small letters."""
    text = description.strip().lower()
    words = {text}
    if switch and (core := _SWITCH.fullmatch(text)) is not None:
        words.add(core[1].strip())
    elif not switch:
        words.add(text.partition(" ")[0])
        words.add(text.partition(" ")[0].partition(".")[0])
    return words - {""}


def _named(word: str, adapters: dict[str, int]) -> int | None:
    """Return the adapter of a name; HCA-1 and mlx5_0 are both the first one."""
    if word.lower() in adapters:
        return adapters[word.lower()]
    number = _DEVICE.fullmatch(word)
    if number is None:
        return None
    hca = word.lower().startswith("hca")
    for text, node in adapters.items():
        own = _DEVICE.fullmatch(text)
        if own is not None and text.startswith("hca") != hca and int(own[1]) + hca - (not hca) == int(number[1]):
            return node
    return None


def _split_port(parts: tuple[int, ...], ports: int) -> int:
    """Return the number of a port by its label, for switches of known kinds; -1 if it cannot be known."""
    # Quantum (40 ports, 80 when split): port/split. Quantum-2 (64 ports, 128 when split): cage/port or ASIC/cage/port,
    # cage/port/split or ASIC/cage/port/split. One more port may belong to the switch's aggregation node.
    kinds = {80: (2, 1), 81: (2, 1), 64: (2, 1), 65: (2, 1), 128: (4, 2, 1), 129: (4, 2, 1)}
    steps = kinds.get(ports, ())
    if len(parts) == len(steps) + 1 and parts[0] == 1 and ports not in (80, 81):  # the only ASIC
        parts = parts[1:]
    if not steps or len(parts) != len(steps):
        return -1
    if not 1 <= parts[0] <= ports // steps[0] or any(part not in (1, 2) for part in parts[1:]):
        return -1
    return 1 + sum((part - 1) * step for part, step in zip(parts, steps, strict=True))


def slots_named(fabric: Fabric, ports: Iterable[str]) -> tuple[list[int], dict[str, str]]:
    """Return the slots of ports ``NAME/PORT``, -1 where the fabric has none, and why it has none."""
    known = NodeNames(fabric)
    reasons: dict[str, str] = {}

    def slot(text: str, hints: bool = False) -> int:
        end = split_port(text)
        if end is None:
            raise InputError(f"{printable(text[:80])!r} is not a port: write NAME/PORT")
        name, port = end
        node = known.find(name, lambda near: f"{near}/{port}", slot if hints else None)
        found = fabric.slot(node, port) if node is not None else -1
        if found < 0 and not hints:
            raise InputError("no such port")
        if node is None:
            hint = known.hint(name, lambda near: f"{near}/{port}", slot) if len(reasons) < _MOST_HINTS else ""
            reasons[text] = f"the fabric has no port {printable(text[:80])}{hint}"
        elif found < 0:
            reasons[text] = f"the port {printable(text[:80])} {out_of_range(fabric, node)}"
        return found

    return [slot(text, hints=True) for text in ports], reasons


def compare_cables(fabric: Fabric, plan: CablePlan, whole: bool, notes: Notes) -> tuple[int, int]:
    """Note the planned cables that are not there and, for a whole plan, then the cables that were not planned."""
    peer = fabric.ports.peer
    planned: set[int] = set()
    there = beyond = 0
    for (one, other), names, line in zip(plan.cables, plan.names, plan.lines, strict=True):
        planned |= {one, other}
        if one >= 0 and other >= 0 and peer[one] == other:
            there += 1
            continue
        text = f"the planned cable {printable(names[0])} - {printable(names[1])} is not there: "
        text += "; ".join(_state(fabric, slot, name, plan) for slot, name in zip((one, other), names, strict=True))
        at = one if one >= 0 else other
        place = at_node(fabric, int(fabric.node_of[at]), fabric.port_of(at)) if at >= 0 else FindingPlace()
        notes.add("error", "plan", text, line, place)
    if whole:
        home = fabric.node_of
        counted = fabric.nodes.are("switch")
        if not plan.switches_only:  # plans do not have the aggregation nodes inside switches
            counted = np.array([not text.startswith(_AGGREGATION) for text in fabric.nodes.description], np.bool_)
        for slot, end in enumerate(peer.tolist()):
            if slot < end and counted[home[slot]] and counted[home[end]] and not {slot, end} & planned:
                beyond += 1
                text = f"a cable that is not planned: {port_name(fabric, slot)} - {port_name(fabric, end)}"
                notes.add("error", "unplanned", text, 0, at_port(fabric, slot))
    for remark in plan.remarks:
        notes.add("note", "plan-rows", remark)
    return there, beyond


def _state(fabric: Fabric, slot: int, name: str, plan: CablePlan) -> str:
    """Return what is found at a port."""
    if slot < 0:
        return plan.reasons.get(name, f"the fabric has no port {printable(name)}")
    end = int(fabric.ports.peer[slot])
    return f"{port_name(fabric, slot)} " + (f"leads to {port_name(fabric, end)}" if end >= 0 else "has no cable")


def _of_fabric(plan: Fabric, fabric: Fabric) -> CablePlan:
    """Return the cables of another topology file, by GUIDs: those of nodes, or where a file lacks them, of ports."""
    node = {guid: v for v, guid in enumerate(fabric.nodes.guid.tolist()) if guid}
    port = {guid: slot for slot, guid in enumerate(fabric.ports.guid.tolist()) if guid}
    at = plan.node_of.tolist()

    def slot_of(slot: int) -> int:
        v = node.get(int(plan.nodes.guid[at[slot]]), -1)
        return fabric.slot(v, plan.port_of(slot)) if v >= 0 else port.get(int(plan.ports.guid[slot]), -1)

    cabled = [(slot, end) for slot, end in enumerate(plan.ports.peer.tolist()) if slot < end]
    cables = tuple((slot_of(slot), slot_of(end)) for slot, end in cabled)
    if all(pair == (-1, -1) for pair in cables):
        raise FileError(f"has no node of {fabric.name}: give the plan of the same fabric", plan.name)
    names = tuple((port_name(plan, slot), port_name(plan, end)) for slot, end in cabled)
    return CablePlan(cables, names, tuple(int(plan.ports.line[slot]) for slot, _ in cabled), plan.sources)
