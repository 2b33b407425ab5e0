"""Tables by the engine ``dor-dateline``, with their standing."""

from __future__ import annotations

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import CheckError, RoutingError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.reroute.candidates import Candidate, LanesError
from obliv.fabric.reroute.datelines.detours import with_detours
from obliv.fabric.reroute.datelines.lanes import dateline_levels, dateline_tables
from obliv.fabric.reroute.datelines.routes import Cables, DimensionOrder, routes_round_gaps
from obliv.fabric.reroute.fill import evenly
from obliv.fabric.reroute.lids import with_enough_lids
from obliv.fabric.reroute.network import SwitchNetwork, switch_network
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.standing import standing_of
from obliv.fabric.reroute.tiers import central_ranks
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network

__all__ = ["dateline_candidate"]


def dateline_candidate(request: Request) -> Candidate | None:
    """Return the best tables of the engine ``dor-dateline`` with so many lanes at most; None if no detours fit.

    Raises
    ------
    RoutingError
        If the switches do not form a grid, or the tables need more lanes or have a credit loop.
    """
    fabric, grid = request.fabric, request.grid
    size = len(fabric.switches)
    require_memory(60.0 * size * size + 10.0 * len(fabric.endpoints) ** 2, f"routes of {fabric.name}")
    if grid is None:
        raise RoutingError(
            "dor-dateline is for tori, meshes, rings and HyperX, and this fabric is not recognized as one: use layered"
        )
    numbered, notes = with_enough_lids(fabric, 0, request.most_lmc)
    network_of = switch_network(numbered)
    order = routes_round_gaps(network_of.switches, grid)
    if 1 << order.dimensions > SLS:
        raise RoutingError(
            f"dor-dateline takes {1 << order.dimensions} service levels on {order.dimensions} dimensions, and there "
            f"are {SLS}: use layered"
        )
    needed = 2 if order.dimensions else 1
    if needed > request.lanes:
        raise LanesError.of(f"dor-dateline needs {plural(needed, 'virtual lane')} on {grid.shape.spec}")
    notes = (*notes, f"dor-dateline: the switches form {grid.shape.spec}")
    best = None
    for lanes in range(needed, request.lanes + 1):  # detours on more lanes can be worse
        made, detours = _within(lanes, network_of, order, notes)
        if made is not None and (best is None or request.key(made.standing) < request.key(best.standing)):
            best = made
        if not detours:
            break
    return best


def _within(
    lanes: int, network_of: SwitchNetwork, order: DimensionOrder, notes: tuple[str, ...]
) -> tuple[Candidate | None, bool]:
    """Return the tables that use detours on so many lanes, if these fit, and whether there are detours."""
    fabric, switches = network_of.fabric, network_of.switches
    homes = np.unique(switches.home)
    found = _complete(switches, order, homes, lanes)
    if found is None:
        return None, True
    routes, level = found
    base = evenly(network_of, central_ranks(network_of))
    several = bool(order.dimensions or level.any())
    levels = dateline_levels(network_of, homes, level) if several else None
    lane_tables = dateline_tables(network_of, order, lanes) if several else None
    needed = 2 if order.dimensions else 1
    used = lanes if 1 << order.dimensions <= level.max(initial=0) else needed
    tables = network_of.tables_of(routes, base, f"dor-dateline ({plural(used, 'lane')})")
    standing = standing_of(fabric_routing(network(fabric), tables, "0", missing="skip"), levels, lane_tables)
    if standing.credit_loops:  # impossible, since channels with their lanes wait for each other in no cycle
        raise CheckError(f"dor-dateline on {fabric.name}: the tables have a credit loop and are not used")
    detours = int(((order.routes < 0) & (routes >= 0)).any(axis=0).sum())
    if detours:
        notes = (*notes, f"dor-dateline: {plural(detours, 'switch', 'switches')} take detours round gaps")
    return Candidate("dor-dateline", "0", tables, fabric, standing, notes, levels, lane_tables), detours > 0


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
