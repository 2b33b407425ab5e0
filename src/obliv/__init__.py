"""Oblivious routing in interconnection networks: exact worst-case traffic with proofs.

>>> import obliv
>>> topology = obliv.topology("torus:9x9")
>>> obliv.worst_case(obliv.routing("romm", topology)).channel_load
Fraction(32, 5)
"""

from __future__ import annotations

import importlib
from typing import Any

from obliv._version import __version__

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "obliv.errors": (
        "FileError InputError MissingExtraError ObliviousError RoutingError SpecError TooLargeError TopologyError "
        "TrafficError"
    ),
    "obliv.specs": "patterns routings topologies",
    "obliv.topology.topology": "Topology build",
    "obliv.topology.cartesian": "Cartesian complete hypercube hyperx line mesh ring torus",
    "obliv.topology.circulant": "circulant",
    "obliv.topology.concentrated": "cmesh",
    "obliv.topology.dragonfly": "dragonfly",
    "obliv.topology.irregular": "random_regular",
    "obliv.topology.slimfly": "slimfly",
    "obliv.topology.tree": "Tree eft2 fattree sub_eft2 xgft",
    "obliv.topology.words": "debruijn kautz",
    "obliv.io.networkx": "from_networkx to_networkx",
    "obliv.traffic.traffic": "Traffic matrix permutation",
    "obliv.loads.pair_loads": "PairLoads",
    "obliv.routing.routing": "HopRouting Mix Routing",
    "obliv.routing.cartesian": "DOR O1TURN ROMM valiant",
    "obliv.routing.two_turn": "I2TURN IVAL U2TURN U2TURNA XYX YXY",
    "obliv.routing.graph": "ECMP Shortest",
    "obliv.routing.table": "table",
    "obliv.routing.tree": "DModK Hash OMRMN OSRM2 OSRM2C OSRM3 OSRM3D OSRMN SModK TreeRouting",
    "obliv.routing.tree_paths": "KPath OSRMK",
    "obliv.routing.tree_table": "TreeTable WSR up_ports",
    "obliv.routing.updown": "UpDown",
    "obliv.matching.solve": "maximum_weight",
    "obliv.analysis.worst_case": "worst_case",
    "obliv.analysis.throughput": "throughput",
    "obliv.analysis.average": "average_case",
    "obliv.analysis.compare": "compare",
    "obliv.analysis.locality": "locality",
    "obliv.analysis.ratio": "ratio",
    "obliv.analysis.traffic_ratio": "traffic_ratio",
    "obliv.analysis.deadlock": "deadlock fewest_virtual_channels",
    "obliv.results": (
        "Average Bisection Comparison Deadlock Estimate FabricCheck FabricWorst Instance Locality Moves Ratio Result "
        "Schedule Schedules Shifts Throughput TrafficRatio Verification VirtualChannels WorstCase load"
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_ROOMS = ("bufferless", "fabric", "topology", "routing", "traffic", "verify")  # the last four can be called

__all__ = ["__version__", *sorted(_HOME), *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return importlib.import_module(f"obliv.{name}")
    raise AttributeError(f"module 'obliv' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
