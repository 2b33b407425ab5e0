"""Tables by the engine ``dor-dateline``, with their standing."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.reroute.candidates import Candidate, LanesError
from obliv.fabric.reroute.datelines.detours import with_detours
from obliv.fabric.reroute.datelines.lanes import dateline_levels, dateline_tables
from obliv.fabric.reroute.datelines.routes import Cables, DimensionOrder, routes_round_gaps
from obliv.fabric.reroute.engines import plan_engine
from obliv.fabric.reroute.fill import filled
from obliv.fabric.reroute.layers.network import switch_network
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.ranks import ranks_up_down
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.topologies.recognise.nearest import nearest_grid

__all__ = ["dateline_candidate"]


def dateline_candidate(request: Request) -> Candidate | None:
    """Return the tables of the engine ``dor-dateline``, checked; None if detours take more lanes.

    Raises
    ------
    RoutingError
        If the switches do not form a grid, or the tables need more lanes or have a credit loop.
    """
    fabric, lanes = request.fabric, request.lanes
    numbered, notes = with_enough_lids(fabric, 0, request.most_lmc)
    network_of = switch_network(numbered)
    switches = network_of.switches
    size = len(switches.hosts)
    require_memory(60.0 * size * size + 10.0 * len(numbered.endpoints) ** 2, f"routes of {fabric.name}")
    links = np.stack([switches.tail, switches.head], axis=1)
    grid = nearest_grid(size, links)
    if grid is None:
        raise RoutingError(
            "dor-dateline is for tori, meshes, rings and HyperX, and this fabric is not recognized as one: use layered"
        )
    order = routes_round_gaps(switches, grid)
    if 1 << order.dimensions > SLS:
        raise RoutingError(
            f"dor-dateline takes {1 << order.dimensions} service levels on {order.dimensions} dimensions, and there "
            f"are {SLS}: use layered"
        )
    needed = 2 if order.dimensions else 1
    if needed > lanes:
        raise LanesError(f"dor-dateline needs {plural(needed, 'virtual lane')} on {grid.shape.spec}")
    homes = np.unique(switches.home)
    found = _complete(switches, order, homes, lanes)
    if found is None:
        return None
    routes, level = found
    base = filled(numbered, ranks_up_down(numbered), plan_engine("updown", None))
    several = bool(order.dimensions or level.any())
    levels = dateline_levels(network_of, homes, level) if several else None
    lane_tables = dateline_tables(network_of, order, lanes) if several else None
    used = lanes if 1 << order.dimensions <= level.max(initial=0) else needed
    tables = network_of.tables_of(routes, base, f"dor-dateline ({plural(used, 'lane')})")
    standing = standing_of(fabric_routing(network(numbered), tables, "0", missing="skip"), levels, lane_tables)
    if standing.deadlock:  # impossible, since channels with their lanes wait for each other in no cycle
        raise RoutingError(f"dor-dateline on {fabric.name}: the tables have a credit loop and are not used")
    notes = (*notes, f"dor-dateline: the switches form {grid.shape.spec}")
    if detours := int(((order.routes < 0) & (routes >= 0)).any(axis=0).sum()):
        notes = (*notes, f"dor-dateline: {plural(detours, 'switch', 'switches')} take detours round gaps")
    return Candidate("dor-dateline", "0", tables, numbered, standing, notes, levels, lane_tables)


def _complete(switches: Switches, order: DimensionOrder, homes: Array, lanes: int) -> tuple[Array, Array] | None:
    """Return routes with detours round all gaps, and the service levels from each switch to each of `homes`.

    Parallel cables count as one where levels are searched, so hosts at one switch have the same level.
    """
    cables = Cables(switches)
    one = np.append(cables.channel(switches.tail, switches.head, 0), -1)  # of parallel cables; the last one for -1
    _, first, which = np.unique(switches.home, return_index=True, return_inverse=True)
    found = with_detours(switches, order, one[order.routes[first]].astype(np.int32), homes, lanes)
    if found is None:
        return None
    routes = order.routes.copy()
    for d, row in enumerate(which.ravel().tolist()):
        gaps = np.flatnonzero((routes[d] < 0) & (found[0][row] >= 0))
        routes[d, gaps] = cables.channel(gaps, switches.head[found[0][row, gaps]], d)
    return routes, found[1]
