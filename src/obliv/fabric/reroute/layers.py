"""The engine ``layered``: routes to start from, layers free of cycles, routes changed to make worst loads smaller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory
from obliv._util.text import plural
from obliv.errors import RoutingError
from obliv.fabric.kernels.channel_loads import Switches, bounds_on_all, loads_from, scratch, shortest_routes
from obliv.fabric.kernels.reroute_search import (
    NO_LAYER,
    RouteLayers,
    RouteState,
    SearchRules,
    assign_layers,
    layers_for,
    move_for,
    search,
)
from obliv.fabric.lanes.pairs import PairLevels
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.reroute.datelines import GridCables
from obliv.fabric.reroute.engines import Candidate, Engine, enough
from obliv.fabric.reroute.fill import DMODK, OSRM3_D, evenly, flows
from obliv.fabric.reroute.quality import Request, standing_of, with_enough_lids
from obliv.fabric.reroute.spread_trees import RouteTree, next_places
from obliv.fabric.reroute.tiers import SwitchNetwork, central_ranks
from obliv.kernels import run
from obliv.topologies.recognise.grids import Grid

# Put routes on layers that are free of cycles, within a number of them


_ORDERS = 4  # random orders of destinations that are tried


def on_layers(switches: Switches, routes: Array, spare: Array, height: Array, most: int, seed: int = 0) -> RouteLayers:
    """Put all routes on at most some layers; routes that fit nowhere are replaced.

    Routes that go up and then down close no cycle together. So when routes do not fit, all turns of this kind are
    reserved on layer 0 first, and destinations whose routes fit nowhere take those of `spare` there.

    Shapes: `routes` (destinations, switches), `spare` (destinations, switches), `height` (switches,).
    """
    ports = int(np.diff(switches.first).max(initial=1))
    require_memory(4.0 * most * len(switches.tail) * ports, "the dependencies of channels on all layers")
    order = np.random.default_rng(seed).permutation(len(routes))
    work = 200.0 * routes.size
    layers = layers_for(switches, most)
    if not run(assign_layers, work, order, False, switches, routes, spare[:0], layers):
        return layers
    layers = layers_for(switches, most)
    legal = _legal_turns(switches, height)
    layers.turns[0] += legal
    run(assign_layers, work, order, False, switches, routes, spare, layers)
    layers.turns[0] -= legal
    return layers


def by_destination(switches: Switches, routes: Array, most: int) -> RouteLayers | None:
    """Put all routes to a destination on one layer; None if this does not succeed within some layers."""
    for seed in range(_ORDERS):
        order = np.random.default_rng(seed).permutation(len(routes))
        layers = layers_for(switches, most)
        if not run(assign_layers, 200.0 * routes.size, order, True, switches, routes, routes[:0], layers):
            return layers
    return None


def _legal_turns(switches: Switches, height: Array) -> Array:
    """Return 1 for the turns of routes that go up and then down, as :attr:`Layers.turns` has them."""
    ports = int(np.diff(switches.first).max(initial=1))
    legal = np.zeros((len(switches.tail), ports), np.int32)
    up = height[switches.head] > height[switches.tail]
    for c, head in enumerate(switches.head.tolist()):
        begin, end = switches.first[head : head + 2].tolist()
        legal[c, : end - begin] = up[c] | ~up[begin:end]
    return legal


# Change routes as long as their exact worst loads become smaller


_ROUNDS = 40
_WARM = 4.0  # tolerance at first, where a channel with the largest load costs 8
_EXACT = 2e9  # steps, some seconds: where all loads take longer, those far below the largest one are bounded
_NEAR = 5  # flows below the largest load that are exact in any case


def worst_loads(switches: Switches, routes: Array) -> Array:
    """Return the worst load of every channel between switches, in units of :attr:`Switches.unit`."""
    # Exact where this does not take long; else those far below the largest one are upper bounds.
    load = np.zeros(len(switches.tail), np.int64)
    seen = np.zeros((len(switches.tail), len(switches.hosts)), np.bool_)
    run(bounds_on_all, 10.0 * routes.size, switches, routes, seen, load)
    order = np.argsort(-load, kind="stable").astype(np.int64)
    work = _evaluation(switches) * len(load)
    run(loads_from, work, order, _margin(switches, load), switches, routes, scratch(switches), load)
    return load


def _margin(switches: Switches, load: Array) -> int:
    """Return how far below the largest load loads may be bounds; more than any load if all are exact."""
    if _evaluation(switches) * len(load) <= _EXACT:
        return int(load.max(initial=0)) + 1
    return _NEAR * int(switches.unit.max(initial=1))


def steps_of(switches: Switches, moves: int) -> float:
    """Return about how many elementary steps some moves take."""
    return 10.0 * moves * _evaluation(switches)


def _evaluation(switches: Switches) -> float:
    """Return about how many steps the load of one channel takes, most of them for the routes behind it."""
    through = len(switches.home) * len(switches.hosts) / max(1, len(switches.tail))
    return len(switches.home) + 3.0 * max(1.0, through) * len(switches.hosts)


def improve(
    switches: Switches, routes: Array, layers: RouteLayers, moves: int, enough: int, seed: int, progress: Progress
) -> tuple[Array, RouteLayers, Array]:
    """Search for routes with smaller worst loads; shapes `routes` (destinations, switches)."""
    routes = routes.copy()
    load = worst_loads(switches, routes)
    space, move = scratch(switches), move_for(switches, seed)
    best = start = (_value(load), routes.copy(), layers.of.copy(), load.copy())
    step = int(switches.unit.max(initial=1))
    work = steps_of(switches, moves)  # of all rounds: whether to compile is decided once
    for turn in range(_ROUNDS):
        if best[0][0] <= enough or not len(load):
            break
        progress("local search for smaller worst loads", turn / _ROUNDS)
        worth = np.exp2(3.0 * (1.0 - np.arange(int(load.max()) + 2 * step + 1) // step))
        tolerance = max(0.0, _WARM * (1 - 1.25 * turn / _ROUNDS))
        enough = int(load.max()) - _margin(switches, load)
        rules = SearchRules(-(-moves // _ROUNDS), tolerance, enough, worth)
        run(search, work, rules, switches, RouteState(routes, load, layers), space, move)
        value = _value(load)
        if value < best[0]:
            best = (value, routes.copy(), layers.of.copy(), load.copy())
    if best[0][0] == start[0][0]:
        best = start
    layers.of[...] = best[2]
    return best[1], layers, best[3]


def _value(load: Array) -> tuple[int, int, int]:
    top = int(load.max(initial=0))
    return top, int((load == top).sum()), int(load.sum())


# Routes to start from: balanced shortest ones, and dimension order on grids


def starting_routes(switches: Switches, grid: Grid | None) -> Iterator[tuple[str, Array]]:
    """Yield routes and their names: shortest ones, and dimension order where the switches form a grid."""
    shortest = balanced_shortest(switches)
    yield "shortest", shortest
    if grid is not None:
        yield "dor", dimension_order(switches, grid, shortest)


def balanced_shortest(switches: Switches) -> Array:
    """Return shortest routes that use channels about equally often, shape (destinations, switches)."""
    routes = np.empty((len(switches.home), len(switches.hosts)), np.int32)
    order = np.random.default_rng(0).permutation(len(routes))
    run(shortest_routes, 20.0 * routes.size, order, switches, routes)
    return routes


def dimension_order(switches: Switches, grid: Grid, spare: Array) -> Array:
    """Return routes that correct the coordinates one after another, the first one first."""
    # Routes to a destination that would miss a link or a place of the grid are replaced by those of `spare`. On tori,
    # half of the switches halfway round go each way.
    axes, number = grid.shape.axes, grid.number
    shorter = tuple(-1 if axis.kind == "ring" else 0 for axis in axes)
    after = next_places(grid.shape, RouteTree(tuple(range(len(axes))), (-1,) * len(axes), shorter))
    switch_of = np.full(grid.shape.nodes, -1, np.int64)
    everywhere = np.arange(len(number))
    switch_of[number[number >= 0]] = everywhere[number >= 0]
    cables, routes = GridCables(switches), spare.copy()
    for d, goal in enumerate(switches.home.tolist()):
        place = np.where((number >= 0) & (number[goal] >= 0), after[number[goal], number], -1)
        route = cables.channel(everywhere, np.where(place >= 0, switch_of[place], -1), d)
        if ((route >= 0) | (everywhere == goal)).all():
            routes[d] = route
    return routes


_STEPS = 1e10  # elementary steps of all searches
_EACH = 50  # moves for each entry of the tables, after which little is gained


@dataclass(frozen=True, eq=False)
class Layered:
    """Tables whose routes are free of deadlock on some virtual lanes."""

    tables: Tables
    # lane: uint8, shape (endpoints, switches); the service level, which is also the virtual lane, of packets from hosts
    # at a switch to an endpoint; 255 where there are none
    lane: Array
    start: str  # the routes from which the search started

    @property
    def lanes(self) -> int:
        """The number of lanes that are used."""
        return int(self.lane[self.lane != NO_LAYER].max(initial=0)) + 1


def layered(request: Request, fabric: Fabric, others: Sequence[Tables]) -> Layered:
    """Return tables with a small worst load that are free of deadlock on a number of virtual lanes."""
    # Routes start from shortest paths, from dimension order where the switches form a grid, from up*/down* routes, and
    # from other tables. Each start is put on layers whose channels wait for each other in no cycle; where routes to a
    # host fit on none, up*/down* routes take their place. Then entries are changed as long as the exact worst loads
    # become smaller. The best result is returned.
    lanes, seed, progress = request.lanes, request.seed, request.progress
    network = replace(request.switches, fabric=fabric)
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
    within = max(200, int(_STEPS / len(starts) / steps_of(switches, 1)))  # moves for which those steps are enough
    moves = int(request.effort * min(within, _EACH * spare.size))
    found: list[tuple[tuple[int, int, int], str, Array, RouteLayers]] = []
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
    used = np.unique(layers.of[layers.of != NO_LAYER])
    # of the same routes, layers that a policy of few rules describes, or fewer of them
    layers = by_destination(switches, routes, max(1, len(used))) or layers
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


# Tables by the engine ``layered``, with their standing


def layered_candidates(request: Request) -> Iterator[Candidate]:
    """Yield the tables of the engine ``layered``, checked."""
    fabric, starts = request.fabric, list(request.starts)
    if request.engine == "layered":
        starts += _of_tree(request)
    numbered, notes = with_enough_lids(fabric, 0, request.most_lmc)
    found = layered(request, numbered, () if notes else starts)
    levels = _levels_of(found.lane, numbered) if found.lanes > 1 else None
    standing = standing_of(request.routing(numbered, found.tables), levels)
    if standing.credit_loops:  # impossible, since no layer has a cycle
        raise RoutingError(f"layered on {fabric.name}: the tables have a credit loop and are not used")
    notes = (*notes, f"layered: started from {found.start}")
    yield Candidate("layered", "0", found.tables, numbered, standing, notes, levels)


def _of_tree(request: Request) -> Iterator[Tables]:
    """Yield the tables of the engines for trees that need one LID a host, where these are the fabric's."""
    for engine in (OSRM3_D, DMODK):
        if not engine.misfit(request):
            yield from (found.tables for found in engine.candidates(request) if found.fabric is request.fabric)


LAYERED = Engine(
    "layered", layered_candidates, needless=lambda request, candidates: "" if enough(request, candidates) else None
)


def _levels_of(lane: Array, fabric: Fabric) -> PairLevels:
    """Return the service levels of pairs: the lane of their routes.

    Pairs at one switch take the lane that most others to the destination have, so that rules can be few.

    Shapes: `lane` (endpoints, switches).
    """
    count = 1 + int(lane.max(initial=0, where=lane != NO_LAYER))
    often = np.stack([(lane == layer).sum(axis=1) for layer in range(count)])
    usual = often.argmax(axis=0).astype(np.uint8)
    full = np.where(lane == NO_LAYER, usual[:, None], lane)
    beside = fabric.homes
    if (full == usual[:, None]).all():
        sl = usual[None, :]
    else:
        sl = np.where(beside[:, None] >= 0, full.T[beside], usual[None, :])
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    return PairLevels("layered", np.repeat((1 << sl.astype(np.uint16)).astype(np.uint16), many, axis=1))
