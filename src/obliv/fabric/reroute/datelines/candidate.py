"""Tables by the engine ``dor-dateline``, with their standing."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv.errors import RoutingError
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.candidates import Candidate
from obliv.fabric.reroute.datelines.lanes import dateline_levels, dateline_tables
from obliv.fabric.reroute.datelines.routes import routes_round_gaps
from obliv.fabric.reroute.engines import plan_engine
from obliv.fabric.reroute.fill import filled
from obliv.fabric.reroute.layers.network import switch_network
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.ranks import ranks_up_down
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.topologies.recognise.grid import grid_of

__all__ = ["dateline_candidate"]


def dateline_candidate(fabric: Fabric, most_lmc: int, lanes: int) -> Candidate:
    """Return the tables of the engine ``dor-dateline``, checked.

    Raises
    ------
    RoutingError
        If the switches do not form a grid, or the tables need more lanes or have a credit loop.
    """
    numbered, notes = with_enough_lids(fabric, 0, most_lmc)
    switches = switch_network(numbered)
    size = len(switches.switches.hosts)
    require_memory(60.0 * size * size + 10.0 * len(numbered.endpoints) ** 2, f"routes of {fabric.name}")
    grid = grid_of(size, np.stack([switches.switches.tail, switches.switches.head], axis=1))
    if grid is None:
        raise RoutingError(
            "dor-dateline is for tori, meshes and HyperX of at least two dimensions, and this fabric is not recognized "
            "as one: use layered"
        )
    order = routes_round_gaps(switches.switches, grid)
    if 1 << order.dimensions > SLS:
        raise RoutingError(
            f"dor-dateline takes {1 << order.dimensions} service levels on {order.dimensions} dimensions, and there "
            f"are {SLS}: use layered"
        )
    needed = 2 if order.dimensions else 1
    if needed > lanes:
        raise RoutingError(f"dor-dateline needs {plural(needed, 'virtual lane')} on {grid.shape.spec}: use  --lanes 2")
    base = filled(numbered, ranks_up_down(numbered), plan_engine("updown", None))
    tables = switches.tables_of(order.routes, base, f"dor-dateline ({plural(needed, 'lane')})")
    levels = dateline_levels(switches, order) if order.dimensions else None
    lane_tables = dateline_tables(switches, order) if order.dimensions else None
    routing = fabric_routing(network(numbered), tables, "0", missing="skip")
    standing = standing_of(routing, levels, lane_tables)
    if standing.deadlock:  # impossible, since no lane of a ring has a cycle
        raise RoutingError(f"dor-dateline on {fabric.name}: the tables have a credit loop and are not used")
    notes = (*notes, f"dor-dateline: the switches form {grid.shape.spec}")
    return Candidate("dor-dateline", "0", tables, numbered, standing, notes, levels, lane_tables)
