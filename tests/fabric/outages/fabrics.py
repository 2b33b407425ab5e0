"""Fabrics with tables, some of them broken, and what fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.fabric.damage import relabelled, without

import obliv
from obliv.errors import InputError
from obliv.fabric.generate import from_topology
from obliv.fabric.names import with_lids
from obliv.fabric.outages.sets import every_failure
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network

_SPECS = (
    "fattree:4,2",
    "xgft:2;2,2;1,2",
    "torus:3x3",
    "mesh:3x2",
    "ring:5",
    "complete:4",
    "hypercube:3",
)


def drawn(seed: int) -> tuple[FabricRouting, str, str, str]:
    """Tables of a generated fabric, what fails and what happens then; every third fabric is damaged before."""
    rng = np.random.default_rng(seed)
    fabric = from_topology(obliv.topology(str(rng.choice(_SPECS))), lids=False)
    fabric, _ = relabelled(fabric, seed)
    if seed % 3 == 0:
        slots = fabric.trunks[2]
        fabric = without(fabric, rng.choice(slots, 1).tolist())
    fabric = with_lids(fabric)
    engine = str(rng.choice(["updown", "layered", "auto"]))
    tables = route(fabric, engine, force=True, effort=0.2, rng=seed)
    assert tables.fabric is not None
    assert tables.tables is not None
    out = tables.tables.out.copy()
    if seed % 2:  # entries changed at random: lost packets, loops, detours
        for _ in range(int(rng.integers(1, 6))):
            row, lid = rng.integers(len(out)), rng.integers(1, out.shape[1])
            node = int(tables.tables.switch[row])
            out[row, lid] = rng.integers(0, fabric.first_slot[node + 1] - fabric.first_slot[node])
    changed = replace(tables.tables, out=out)
    routing = fabric_routing(network(tables.fabric), changed, tables.offset, missing="skip")
    of = str(rng.choice(["cables", "cables", "lanes", "switches"]))
    try:
        every_failure(routing.topology, of)
    except InputError:
        of = "cables"
    return routing, of, str(rng.choice(["keep", "refill"])), str(tables.offset)


def several_lids(seed: int) -> tuple[FabricRouting, str]:
    """Tables of a generated fabric whose hosts have two LIDs each, some entries changed, and the rule for LIDs."""
    rng = np.random.default_rng(seed)
    spec = str(rng.choice(["torus:3x3", "mesh:3x2", "ring:5", "fattree:4,2", "complete:4"]))
    fabric = from_topology(obliv.topology(spec), lmc=1)
    tables = route(fabric, str(rng.choice(["updown", "layered"])), force=True, effort=0.2, rng=seed).tables
    assert tables is not None
    out = tables.out.copy()
    for _ in range(3 * (seed % 2)):
        row, lid = rng.integers(len(out)), rng.integers(1, out.shape[1])
        node = int(tables.switch[row])
        out[row, lid] = rng.integers(0, fabric.first_slot[node + 1] - fabric.first_slot[node])
    offset = str(rng.choice(["0", "1", "index", "group"]))
    return fabric_routing(network(fabric), replace(tables, out=out), offset, missing="skip"), offset
