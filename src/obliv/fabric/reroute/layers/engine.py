"""The engine ``layered``: tables for any fabric within a number of virtual lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.cost import Work, announce
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.fabric.kernels.layers import NO_LAYER, Layers
from obliv.fabric.reroute.fill import evenly, flows
from obliv.fabric.reroute.layers.assign import fewest_layers, on_layers
from obliv.fabric.reroute.layers.improve import improve, moves_within, steps_of
from obliv.fabric.reroute.layers.starts import starting_routes
from obliv.fabric.reroute.network import SwitchNetwork, switch_network
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.tiers import central_ranks
from obliv.fabric.tables import Tables

__all__ = ["Layered", "layered"]

_STEPS = 1e10  # elementary steps of all searches, some twenty seconds at most
_SECONDS = 2.2e-9  # a step, with all that is done between steps
_EACH = 50  # moves for each entry of the tables, after which little is gained


@dataclass(frozen=True, eq=False)
class Layered:
    """Tables whose routes are free of deadlock on some virtual lanes.

    Parameters
    ----------
    tables : Tables
    lane : uint8 array, shape (endpoints, switches)
        The service level, which is also the virtual lane, of packets from hosts at a switch to an endpoint; 255 where
        there are none.
    start : str
        The routes from which the search started.
    """

    tables: Tables
    lane: Array
    start: str

    @property
    def lanes(self) -> int:
        """The number of lanes that are used."""
        return int(self.lane[self.lane != NO_LAYER].max(initial=0)) + 1


def layered(request: Request, others: Sequence[Tables]) -> Layered:
    """Return tables with a small worst load that are free of deadlock on a number of virtual lanes.

    Parameters
    ----------
    request : Request
        With LIDs; the first one of every host is routed, and the others like it. The search ends at the optimum.
    others : sequence of Tables
        More tables to start from; they are used where they connect all hosts without loops.

    Notes
    -----
    Routes start from shortest paths, from dimension order where the switches form a grid, from up*/down* routes, and
    from other tables. Each start is put on layers whose channels wait for each other in no cycle; where routes to a
    host fit on none, up*/down* routes take their place. Then entries are changed as long as the exact worst loads
    become smaller. The best result is returned.
    """
    fabric, lanes, seed, progress = request.fabric, request.lanes, request.seed, request.progress
    network = switch_network(fabric)
    switches = network.switches
    progress("tables to start from", 0.0)
    ranks = central_ranks(network)
    base = evenly(network, ranks)
    if not len(switches.tail):
        return Layered(base, np.full((len(fabric.endpoints), len(switches.hosts)), NO_LAYER, np.uint8), "updown")
    spare = network.routes_of(base)
    height = np.empty(len(switches.hosts), np.int64)
    height[ranks.order] = np.arange(len(switches.hosts))[::-1]
    starts = [(tables.name, network.routes_of(tables)) for tables in others]
    starts = [(name, routes) for name, routes in starts if _whole(network, routes, spare)]
    starts += [*starting_routes(switches, request.grid), ("updown", spare)]
    moves = int(request.effort * min(moves_within(switches, _STEPS / len(starts)), _EACH * spare.size))
    work = Work(_SECONDS * len(starts) * steps_of(switches, moves))
    announce(progress, f"a search for smaller worst loads from {plural(len(starts), 'set')} of tables", work)
    found: list[tuple[tuple[int, int, int], str, Array, Layers]] = []
    target = int(max(1, request.optimum) / network.flow)
    for at, (name, start) in enumerate(starts):

        def told(what: str, share: float, name: str = name, at: int = at) -> None:
            progress(f"{what}, from {name}", (at + share) / len(starts))

        routes = start.copy()
        layers = on_layers(switches, routes, spare, height, lanes, seed)
        routes, layers, load = improve(switches, routes, layers, moves, target, seed, told)
        top = int(load.max(initial=0))
        even = int(flows(switches, np.arange(len(routes)), routes).max(initial=0))
        found.append(((top, even, int(load.sum())), name, routes, layers))
        if top <= target:
            break
    _, name, routes, layers = min(found, key=lambda one: one[0])
    layers = fewest_layers(switches, routes, layers)
    lane = np.full((len(fabric.endpoints), len(switches.hosts)), NO_LAYER, np.uint8)
    lane[network.ends] = layers.of
    return Layered(network.tables_of(routes, base, f"layered ({plural(lanes, 'lane')})"), lane, name)


def _whole(network: SwitchNetwork, routes: Array, spare: Array) -> bool:
    """Return whether routes lead from all switches with hosts to all hosts that can be reached."""
    switches = network.switches
    for d, goal in enumerate(switches.home.tolist()):
        at = np.flatnonzero((switches.hosts > 0) & (spare[d] >= 0))
        for _ in range(len(switches.hosts)):
            if (routes[d, at] < 0).any():
                return False
            at = np.unique(switches.head[routes[d, at]])
            at = at[at != goal]
            if not len(at):
                break
        else:
            return False
    return True
