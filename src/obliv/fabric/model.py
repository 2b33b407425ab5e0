"""An InfiniBand subnet as the files describe it: nodes with ports, cables between ports, local identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from obliv._util.typing import Array
from obliv.results.fabric_check import Finding

__all__ = ["RATES", "Fabric", "Finding", "gbits"]


#: Signalling per lane in Gb/s, and the share of it that is data.
_LANE = {
    "SDR": (Fraction(5, 2), Fraction(8, 10)),
    "DDR": (Fraction(5), Fraction(8, 10)),
    "QDR": (Fraction(10), Fraction(8, 10)),
    "FDR10": (Fraction(165, 16), Fraction(64, 66)),
    "FDR": (Fraction(225, 16), Fraction(64, 66)),
    "EDR": (Fraction(825, 32), Fraction(64, 66)),
    "HDR": (Fraction(425, 8), Fraction(64, 66)),
    "NDR": (Fraction(425, 4), Fraction(64, 66)),
    "XDR": (Fraction(425, 2), Fraction(64, 66)),
}
_WIDTHS = {"1x": 1, "2x": 2, "4x": 4, "8x": 8, "12x": 12}

#: Data rate in Gb/s of every width and speed, such as "4xQDR": 32.
RATES = {
    width + speed: lanes * lane * share for width, lanes in _WIDTHS.items() for speed, (lane, share) in _LANE.items()
}


def gbits(rate: Fraction) -> str:
    """Return a data rate in words."""
    return f"{float(rate):.6g} Gb/s"


@dataclass(frozen=True, eq=False, repr=False)
class Fabric:
    """Nodes, ports and cables of a subnet.

    Port q of node v has the slot ``first_slot[v] + q``; ports count from 1, port 0 of a switch is its own.

    Parameters
    ----------
    name : str
        The file, or the topology that it was made from.
    kind : tuple of str
        "switch", "ca", "router" or "unknown" for every node.
    ident : tuple of str
        The identifier of a node in the file: ``S-0002c90200001008`` or any other word; unique.
    guid : uint64 array, shape (nodes,)
        Node GUIDs, 0 where unknown.
    description : tuple of str
        Untrusted text: it may repeat, be empty, contain anything.
    first_slot : int64 array, shape (nodes + 1,)
    peer : int64 array, shape (slots,)
        The slot at the other end of the cable, -1 without a cable.
    port_guid : uint64 array, shape (slots,)
        0 where unknown.
    lid : int32 array, shape (slots,)
        The base LID of every CA port, and of a switch at its port 0; 0 where unknown.
    lmc : int8 array, shape (slots,)
    rate : int32 array, shape (slots,)
        Place in `rates` of the rate that the port reports, -1 if it reports no rate.
    rates : tuple of Fraction
        Data rates in Gb/s.
    line : int32 array, shape (slots,)
        The line of the file about the port, 0 if there is no such line.
    node_line : int32 array, shape (nodes,)
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
        Defects and remarks noted while reading.
    lmc_told : bool
        Whether a file tells the LMC; else it counts as 0.
    """

    name: str
    kind: tuple[str, ...]
    ident: tuple[str, ...]
    guid: Array
    description: tuple[str, ...]
    first_slot: Array
    peer: Array
    port_guid: Array
    lid: Array
    lmc: Array
    rate: Array
    rates: tuple[Fraction, ...]
    line: Array
    node_line: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    lmc_told: bool = True

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.kind)

    @cached_property
    def node_of(self) -> Array:
        """The node of every slot."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.first_slot))

    @cached_property
    def switches(self) -> Array:
        """The nodes that are switches, in the order of the file."""
        return np.flatnonzero(np.array([kind == "switch" for kind in self.kind], bool))

    @cached_property
    def endpoints(self) -> Array:
        """The slots of the ports that send and take traffic.

        CA ports with a cable to a switch or to another CA, but not those of aggregation nodes; nodes behind a router
        belong to another subnet.
        """
        ports = self._adapter_ports
        beside = self.node_of[self.peer[ports]]
        return np.asarray(ports[np.array([kind in ("ca", "switch") for kind in self.kind], bool)[beside]])

    @property
    def stray(self) -> Array:
        """The slots of CA ports whose cable leads to neither a switch nor a CA: they are not endpoints."""
        return np.setdiff1d(self._adapter_ports, self.endpoints)

    @cached_property
    def _adapter_ports(self) -> Array:
        mine = [
            kind == "ca" and not text.startswith("Mellanox Technologies Aggregation Node")
            for kind, text in zip(self.kind, self.description, strict=True)
        ]
        cabled = np.flatnonzero(self.peer >= 0)
        return np.asarray(cabled[np.array(mine, bool)[self.node_of[cabled]]])

    def port_of(self, slot: int) -> int:
        """Return the number of a port on its node."""
        return slot - int(self.first_slot[self.node_of[slot]])

    def slot(self, node: int, port: int) -> int:
        """Return the slot of a port, -1 where the node has no such port."""
        first, end = int(self.first_slot[node]), int(self.first_slot[node + 1])
        return first + port if 0 <= port < end - first else -1

    def rate_at(self, slot: int) -> Fraction | None:
        """Return the data rate in Gb/s that a port reports for its cable, None if it reports no rate."""
        return self.rates[int(self.rate[slot])] if self.rate[slot] >= 0 else None

    def __repr__(self) -> str:
        return (
            f"<Fabric {self.name}: {len(self.switches)} switches, {len(self.endpoints)} endpoints, "
            f"{int((self.peer >= 0).sum()) // 2} cables>"
        )
