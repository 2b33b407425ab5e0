"""InfiniBand subnets: nodes, ports, cables, LIDs and forwarding tables; findings about files; checks of arguments."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, wraps
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.lazy import as_before
from obliv._util.rationals import boolean
from obliv._util.text import shown
from obliv.errors import InputError
from obliv.fabric.results.check import Finding

__all__ = ["typed"]

#: The share of data in PAM4 lanes: 256b/257b transcoding and the code RS(544,514), as in IEEE 802.3, clause 119; 16/17.
_PAM4 = Fraction(256, 257) * Fraction(514, 544)
#: Signaling rate of a lane in Gb/s, and the share of it that is data.
SPEEDS = {
    "SDR": (Fraction(5, 2), Fraction(8, 10)),
    "DDR": (Fraction(5), Fraction(8, 10)),
    "QDR": (Fraction(10), Fraction(8, 10)),
    "FDR10": (Fraction(165, 16), Fraction(64, 66)),
    "FDR": (Fraction(225, 16), Fraction(64, 66)),
    "EDR": (Fraction(825, 32), Fraction(64, 66)),
    "HDR": (Fraction(425, 8), _PAM4),
    "NDR": (Fraction(425, 4), _PAM4),
    "XDR": (Fraction(425, 2), _PAM4),
}
#: Lanes of a cable.
WIDTHS = {"1x": 1, "2x": 2, "4x": 4, "8x": 8, "12x": 12}

#: Data rate in Gb/s of every width and speed, such as "4xQDR": 32.
RATES = {
    width + speed: lanes * lane * share for width, lanes in WIDTHS.items() for speed, (lane, share) in SPEEDS.items()
}


def rate_of(name: str) -> Fraction:
    """Return the data rate of a width and speed in Gb/s."""
    newer = name.endswith(("HDR", "NDR", "XDR"))
    if newer and as_before("HDR, NDR and XDR lanes carry 64/66 of their signaling rate"):
        return RATES[name] / _PAM4 * Fraction(64, 66)
    return RATES[name]


def gbits(rate: Fraction) -> str:
    """Return a data rate in words."""
    return f"{float(rate):.6g} Gb/s"


def node_name(ident: str, description: str) -> str:
    """Return a node as messages name it: by its identifier in the file and its description."""
    if len(ident) > 40 or not (ident.isascii() and ident.replace("-", "").isalnum()):
        ident = shown(ident)
    return f"{ident} ({shown(description)})" if description else ident


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nodes:
    """The nodes of a fabric, in the order of the file."""

    kind: tuple[str, ...]  # "switch", "ca", "router" or "unknown"
    ident: tuple[str, ...]  # unique identifiers, as in the file: ``S-0002c90200001008`` or any other word
    guid: Array  # uint64, shape (nodes,); 0 where unknown
    description: tuple[str, ...]  # untrusted text: it may be empty, repeat, and contain anything
    line: Array  # int32, shape (nodes,); the line of the file where the node is described, 0 without a line

    def __len__(self) -> int:
        return len(self.kind)

    def label(self, node: int) -> str:
        """Return the description of a node, or else its identifier."""
        return self.description[node].strip() or self.ident[node]

    def are(self, *kinds: str) -> Array:
        """Return for every node whether it is of one of some kinds."""
        return np.array([kind in kinds for kind in self.kind], bool)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ports:
    """The ports of a fabric, by slot."""

    peer: Array  # int64, shape (slots,); the slot at the other end of the cable, -1 without a cable
    guid: Array  # uint64, shape (slots,); 0 where unknown
    lid: Array  # int32, shape (slots,); the base LID of every CA port, and of a switch at its port 0; 0 where unknown
    lmc: Array  # int8, shape (slots,)
    # rate: int32, shape (slots,); place in :attr:`Fabric.rates` of the data rate that the port reports, -1 without one
    rate: Array
    line: Array  # int32, shape (slots,); the line of the file about the port, 0 without a line


@dataclass(frozen=True, eq=False, repr=False)
class Fabric:
    """An InfiniBand subnet: nodes, ports and cables.

    Port q of node v has the slot ``first_slot[v] + q``; ports count from 1, port 0 of a switch is the switch itself.

    Parameters
    ----------
    name : str
        The file, or the topology from which the fabric was generated.
    nodes : Nodes
    ports : Ports
    first_slot : int64 array, shape (nodes + 1,)
    rates : tuple of Fraction
        Data rates in Gb/s.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Errors and remarks from reading the files.
    lmc_known : bool
        Whether a file gives the LMC; otherwise it is 0.
    extended_lids : bool
        Whether LIDs may exceed the 16 bits of InfiniBand, as on Omni-Path: for new ones, and for files to be written.
    labels : dict of str
        What is printed beside a port, by slot, where a file gives it and it differs from the number: ``21/1``.
    """

    name: str
    nodes: Nodes
    ports: Ports
    first_slot: Array
    rates: tuple[Fraction, ...]
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    lmc_known: bool = True
    extended_lids: bool = False
    labels: dict[int, str] = field(default_factory=dict)

    @cached_property
    def node_of(self) -> Array:
        """The node of every slot."""
        return np.repeat(np.arange(len(self.nodes), dtype=np.int32), np.diff(self.first_slot))

    @cached_property
    def switches(self) -> Array:
        """The nodes that are switches, in the order of the file."""
        return np.flatnonzero(self.nodes.are("switch"))

    @cached_property
    def switch_row(self) -> Array:
        """The place of every node among the switches, -1 for other nodes."""
        return positions(self.switches, len(self.nodes))

    @cached_property
    def trunks(self) -> tuple[Array, Array, Array]:
        """The cables between switches, once in each direction: the rows of the two switches, the slot at the first."""
        slots = np.flatnonzero(self.ports.peer >= 0)
        tail, head = (self.switch_row[self.node_of[ends]] for ends in (slots, self.ports.peer[slots]))
        between = (tail >= 0) & (head >= 0) & (tail != head)
        return tail[between], head[between], slots[between]

    @cached_property
    def endpoints(self) -> Array:
        """The slots of the ports that send and take traffic.

        CA ports with a cable to a switch or to another CA, but not those of aggregation nodes; nodes behind a router
        belong to another subnet.
        """
        ports = self._adapter_ports
        return np.asarray(ports[self.nodes.are("ca", "switch")[self.node_of[self.ports.peer[ports]]]])

    @cached_property
    def homes(self) -> Array:
        """The row of the switch that each endpoint is cabled to, -1 where it is cabled to another host."""
        return np.asarray(self.switch_row[self.node_of[self.ports.peer[self.endpoints]]])

    @cached_property
    def endpoint_places(self) -> tuple[Array, Array]:
        """The place of every endpoint among those at its switch, by the switch's ports, and their number."""
        beside = self.ports.peer[self.endpoints]
        switch = self.node_of[beside]
        order = np.argsort(beside, kind="stable")  # slots of a switch stand together, in the order of its ports
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - np.searchsorted(switch[order], switch[order])
        return place, np.bincount(switch)[switch]

    @property
    def stray(self) -> Array:
        """The slots of CA ports whose cable leads to neither a switch nor a CA: they are not endpoints."""
        return np.setdiff1d(self._adapter_ports, self.endpoints)

    @cached_property
    def _adapter_ports(self) -> Array:
        aggregation = "Mellanox Technologies Aggregation Node"
        plain = np.array([not text.startswith(aggregation) for text in self.nodes.description], bool)
        cabled = np.flatnonzero(self.ports.peer >= 0)
        return np.asarray(cabled[(self.nodes.are("ca") & plain)[self.node_of[cabled]]])

    def with_ports(self, **columns: Array) -> Fabric:
        """Return the same fabric with other values in some columns of its ports."""
        return replace(self, ports=replace(self.ports, **columns))

    def port_of(self, slot: int) -> int:
        """Return the number of a port on its node."""
        return slot - int(self.first_slot[self.node_of[slot]])

    def slot(self, node: int, port: int) -> int:
        """Return the slot of a port, -1 where the node has no such port."""
        first, end = int(self.first_slot[node]), int(self.first_slot[node + 1])
        return first + port if 0 <= port < end - first else -1

    def rate_at(self, slot: int) -> Fraction | None:
        """Return the data rate in Gb/s that a port reports for its cable, None if it reports no rate."""
        return self.rates[int(self.ports.rate[slot])] if self.ports.rate[slot] >= 0 else None

    def __repr__(self) -> str:
        return (
            f"<Fabric {self.name}: {len(self.switches)} switches, {len(self.endpoints)} endpoints, "
            f"{int((self.ports.peer >= 0).sum()) // 2} cables>"
        )


# Forwarding tables of the switches of a fabric: the port by which a switch forwards packets for each LID


NONE = 255  #: No port.
MAX_PORTS = 254  #: Ports of a node; the next number means "no port".


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Forwarding tables: a row for each switch, a column for each LID of the fabric's numbering.

    Parameters
    ----------
    name : str
        The file, or the routing whose tables they are.
    switch : int32 array, shape (rows,)
        The node of each row; switches without a table have no row.
    out : uint8 array, shape (rows, top + 1)
        The port for every LID from 0, ``NONE`` where the table has no entry.
    line : int32 array, shape (rows,)
        The line of the file where each switch's table begins.
    spelling : str
        "ibroute", "opensm" or "fdbs".
    top : int
        The largest LID that the file announces, 0 where it does not.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Defects and remarks noted while reading.
    """

    name: str
    switch: Array
    out: Array
    line: Array
    spelling: str
    top: int = 0
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def row_of(self) -> dict[int, int]:
        """The row of each switch's node."""
        return {int(node): row for row, node in enumerate(self.switch.tolist())}

    @cached_property
    def used(self) -> Array:
        """Whether each table has an entry, shape (rows,)."""
        used: Array = (self.out != NONE).any(axis=1)
        return used

    def line_of(self, node: int) -> int:
        """Return the line where a switch's table begins, 0 without a table."""
        row = self.row_of.get(node)
        return int(self.line[row]) if row is not None else 0

    def __repr__(self) -> str:
        return f"<Tables {self.name}: {len(self.switch)} switches, LIDs to {self.out.shape[1] - 1}>"


# Findings about a file, limited in number however broken the file is


_LIMIT = 200  # findings of one severity and kind


class FindingPlace(NamedTuple):
    """The node, the port and the other end of the cable that a finding is about, as in :class:`Finding`."""

    guid: str | None = None
    switch: str | None = None
    port: int | None = None
    peer: str | None = None


_NOWHERE = FindingPlace()


def place_of(guid: int, name: str, port: int | None = None, peer: str | None = None) -> FindingPlace:
    """Return the place of a finding; GUID 0 and the empty name stand for unknown ones."""
    return FindingPlace(f"0x{guid:016x}" if guid else None, name or None, port, peer)


class Notes:
    """Findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.last_line = 0  # of the last finding
        self._count: Counter[tuple[str, str]] = Counter()  # of each severity and kind
        self._kept: list[Finding] = []

    def add(self, severity: str, kind: str, message: str, line: int = 0, place: FindingPlace = _NOWHERE) -> None:
        """Add a finding; of many with one severity and kind, the first are listed and the others counted."""
        self.last_line = int(line)
        self._count[severity, kind] += 1
        if self._count[severity, kind] <= _LIMIT:
            self._kept.append(Finding(severity, kind, message, self.file, int(line), **place._asdict()))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, by kind in the order of their first, then by line; then counts of those left out."""
        order = {kind: place for place, (_, kind) in reversed(list(enumerate(self._count)))}
        findings = sorted(self._kept, key=lambda finding: (order[finding.kind], finding.line))
        for (severity, kind), count in self._count.items():
            more = count - _LIMIT
            if more > 0:
                findings.append(Finding(severity, kind, f"and {more} more like these", self.file, count=more))
        return tuple(sorted(findings, key=lambda finding: order[finding.kind]))


# Nodes, ports and LIDs in messages, whatever the files call them


_MAX_HOPS = 8  # hops of a route that are printed


def called(fabric: Fabric, node: int) -> str:
    """Return a node's name: its identifier in the file, and its description."""
    return node_name(fabric.nodes.ident[node], fabric.nodes.description[node].strip())


def port_name(fabric: Fabric, slot: int) -> str:
    """Return a port's name: its node and its number."""
    return f"{called(fabric, int(fabric.node_of[slot]))} port {fabric.port_of(slot)}"


def cable_name(fabric: Fabric, slot: int) -> str:
    """Return a cable's name: the ports at its two ends."""
    return f"{port_name(fabric, slot)} to {port_name(fabric, int(fabric.ports.peer[slot]))}"


def at_node(fabric: Fabric, node: int, port: int | None = None, peer: str | None = None) -> FindingPlace:
    """Return a node, and possibly one of its ports, as the place of a finding."""
    return place_of(int(fabric.nodes.guid[node]), fabric.nodes.label(node), port, peer)


def at_port(fabric: Fabric, slot: int) -> FindingPlace:
    """Return a port as the place of a finding, with the other end of its cable."""
    peer = int(fabric.ports.peer[slot])
    return at_node(
        fabric, int(fabric.node_of[slot]), fabric.port_of(slot), port_name(fabric, peer) if peer >= 0 else None
    )


def port_count_known(fabric: Fabric, node: int) -> bool:
    """Return whether the file gives the number of ports of a node; else its last cabled port counts as the last."""
    # The number is unknown for a node without a record of its own, and in lists of ports (`iblinkinfo`, `ibnetdiscover
    # -p`), where a node first appears in the line of one of its ports. `opensm-subnet.lst` looks the same, though it
    # has the numbers; they matter only where all ports of a switch are cabled.
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    if end - first > 1 and fabric.ports.peer[end - 1] < 0:  # the file gave this number, since the port has no cable
        return True
    if not fabric.ports.line[first:end].any():  # only other records name it, or there is no file
        return not fabric.nodes.line[node]
    line = fabric.ports.line
    return not ((line > 0) & (line == fabric.nodes.line[fabric.node_of])).any()  # a list of ports


def route_text(fabric: Fabric, slots: Sequence[int]) -> str:
    """Return channels one after the other, by the ports where they begin; at most the first eight."""
    parts = [port_name(fabric, slot) for slot in slots[:_MAX_HOPS]]
    if len(slots) > _MAX_HOPS:
        parts.append(f"... ({len(slots) - _MAX_HOPS} more)")
    return " -> ".join(parts)


def lid_list(fabric: Fabric, lids: Iterable[int], owner: dict[int, int]) -> str:
    """Return one LID with its owner, or the number of several LIDs and the first five."""
    some = list(lids)
    if len(some) == 1:
        slot = owner.get(some[0], -1)
        about = f" of {called(fabric, int(fabric.node_of[slot]))}" if slot >= 0 else ""
        return f"LID {some[0]}{about}"
    text = ", ".join(map(str, some[:5])) + (", ..." if len(some) > 5 else "")
    return f"{len(some)} LIDs ({text})"


# Arguments of the functions for fabrics: one of another kind is refused, with how to make the right one


P = ParamSpec("P")
R = TypeVar("R")

#: How arguments of each kind are made. Kinds are names, as this module is below all that define them.
_MADE_BY = {
    "Fabric": "obliv.fabric.read_fabric(FILE)",
    "Tables": "obliv.fabric.read_tables(fabric, FILE)",
    "FabricTopology": "obliv.fabric.network(fabric)",
    "FabricRouting": "obliv.fabric.routing(network, tables)",
    "Base": "obliv.fabric.base_of(routing)",
    "GroupTables": "obliv.fabric.read_adaptive(fabric, FILE)",
    "Limits": "obliv.fabric.read_limits(FILE)",
}
_PATH = "str | Path"


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function check those of its arguments that are annotated as parts of a fabric, as paths, or as ``bool``."""
    signature = inspect.signature(function)
    kinds = {name: str(each.annotation).removesuffix(" | None") for name, each in signature.parameters.items()}
    kinds = {name: kind for name, kind in kinds.items() if kind in _MADE_BY or kind in (_PATH, "bool")}
    kinds = dict(sorted(kinds.items(), key=lambda item: item[1] != "bool"))  # as elsewhere they are looked at first

    @wraps(function)
    def checked(*args: P.args, **more: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **more).arguments
        except TypeError:
            return function(*args, **more)  # which names itself
        for name, kind in kinds.items():
            if name in given and given[name] is not signature.parameters[name].default:
                _require(f"{function.__name__}: {name}", given[name], kind)
        return function(*args, **more)

    return checked


def _require(what: str, value: object, kind: str) -> None:
    if kind == "bool":
        boolean(value, what)
    elif kind == _PATH:
        if not isinstance(value, str | os.PathLike):
            raise InputError(f"{what} is the path of a file; this is a {type(value).__name__}")
    elif kind not in (base.__name__ for base in type(value).__mro__):
        raise InputError(f"{what} is a {kind}, made by {_MADE_BY[kind]}; this is a {type(value).__name__}")
