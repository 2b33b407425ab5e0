"""The engine ``dor-dateline``: dimension order on a grid with missing cables, detours, service levels and lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import require_memory
from obliv._util.text import plural
from obliv.errors import CheckError, RoutingError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.reroute_search import RouteLayers, add_route, layers_for, remove_route
from obliv.fabric.lanes.pairs import PairLevels
from obliv.fabric.lanes.sl2vl import DROP, SLS, LaneTables, tables_of_rows
from obliv.fabric.reroute.engines import Candidate, Engine, LanesError, enough
from obliv.fabric.reroute.fill import evenly
from obliv.fabric.reroute.quality import Request, standing_of, with_enough_lids
from obliv.fabric.reroute.tiers import SwitchNetwork, central_ranks
from obliv.kernels import run
from obliv.topologies.recognise.grids import Grid

_FEWEST = 4  # coordinates of a ring where packets can wait for each other in a cycle


@dataclass(frozen=True, eq=False)
class DimensionOrder:
    """Routes in dimension order, and the datelines of rings."""

    # routes: int32, shape (destinations, switches); the channel that every switch takes for every host, -1 where there
    # is none
    routes: Array
    # dimension: int64, shape (channels,); the number of the dimension with datelines in which each channel leads, -1
    # for other channels
    dimension: Array
    crosses: Array  # bool, shape (channels,); whether the channel crosses a dateline
    dimensions: int  # the number of dimensions with datelines


def routes_round_gaps(switches: Switches, grid: Grid) -> DimensionOrder:
    """Return routes that correct the coordinates one after another, the first one first."""
    # In a ring they go the shorter way, half of the switches halfway round each way; where that way misses a cable,
    # they go the other way. Hosts that cannot be reached so have no route.
    count = len(switches.hosts)
    radices = np.array([axis.radix for axis in grid.shape.axes])
    strides = np.array(grid.shape.strides)
    coordinates = np.where(grid.number[:, None] >= 0, grid.number[:, None] // strides % radices, -1)
    switch_of = np.full(int(radices.prod()), -1, np.int64)
    switch_of[grid.number[grid.number >= 0]] = np.flatnonzero(grid.number >= 0)
    cables = GridCables(switches)
    homes, which = np.unique(switches.home, return_inverse=True)
    following = np.full((len(homes), count), -1, np.int64)
    goals = coordinates[homes]
    undecided = (grid.number[homes] >= 0)[:, None] & (grid.number >= 0)[None, :]
    dimension = np.full(len(switches.tail), -1, np.int64)
    crosses = np.zeros(len(switches.tail), bool)
    dimensions = 0
    tail, head = coordinates[switches.tail], coordinates[switches.head]
    for k, axis in enumerate(grid.shape.axes):
        n, stride = int(radices[k]), int(strides[k])
        x, y = coordinates[None, :, k], goals[:, None, k]
        moving = undecided & (x != y)
        if axis.kind == "clique" and n > 3:
            after = y
        else:
            gaps = _gaps(cables, grid.number, switch_of, coordinates[:, k], n, stride)
            after = _along(x, y, gaps, n)
            if n >= _FEWEST and (gaps[:, n] == 0).any():  # some ring is closed
                along = (tail[:, k] != head[:, k]) & (tail >= 0).all(axis=1) & (head >= 0).all(axis=1)
                dimension[along] = dimensions
                crosses |= along & (np.abs(tail[:, k] - head[:, k]) == n - 1)
                dimensions += 1
        place = grid.number[None, :] + (after - x) * stride
        following[moving] = np.where(after >= 0, switch_of[np.where(after >= 0, place, 0)], -1)[moving]
        undecided &= ~moving
    routes = np.empty((len(switches.home), count), np.int32)
    for d, row in enumerate(which.ravel().tolist()):
        routes[d] = cables.channel(np.arange(count), following[row], d)
    return DimensionOrder(_whole(routes, switches), dimension, crosses, dimensions)


class GridCables:
    """The channels between pairs of switches."""

    def __init__(self, switches: Switches) -> None:
        self.count = len(switches.hosts)
        key = switches.tail.astype(np.int64) * self.count + switches.head
        self.order = np.argsort(key, kind="stable")
        self.key, self.first, self.many = np.unique(key[self.order], return_index=True, return_counts=True)

    def channel(self, tail: Array, head: Array, number: int) -> Array:
        """Return one of the channels from each switch to another one, -1 where there is none."""
        if not len(self.key):
            return np.full(np.broadcast_shapes(tail.shape, head.shape), -1)
        key = tail * self.count + head
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        there = (head >= 0) & (tail >= 0) & (self.key[place] == key)
        return np.where(there, self.order[self.first[place] + number % self.many[place]], -1)


def _gaps(cables: GridCables, number: Array, switch_of: Array, x: Array, n: int, stride: int) -> Array:
    """Return for every switch, and i up to 2n, how many of its ring's first i links are missing; twice round."""
    # Link i leads from coordinate i to i + 1; a line is a ring without its last link.
    start = np.where(number >= 0, number - x * stride, 0)
    ring = switch_of[start[:, None] + np.arange(n + 1) % n * stride]
    up = cables.channel(ring[:, :-1], ring[:, 1:], 0) >= 0
    down = cables.channel(ring[:, 1:], ring[:, :-1], 0) >= 0
    missing = np.tile(~(up & down), 2)
    return np.concatenate([np.zeros((len(number), 1), np.int64), missing.cumsum(axis=1)], axis=1)


def _along(x: Array, y: Array, gaps: Array, n: int) -> Array:
    """Return the coordinate after x on the way to y, -1 where both ways miss a link."""
    ahead, behind = (y - x) % n, (x - y) % n
    row = np.arange(len(gaps))[None, :]
    clear_up = gaps[row, np.maximum(x, 0) + ahead] == gaps[row, np.maximum(x, 0)]
    clear_down = gaps[row, np.maximum(y, 0) + behind] == gaps[row, np.maximum(y, 0)]
    preferred = (2 * ahead < n) | ((2 * ahead == n) & (x % 2 == 0))
    up = clear_up & (preferred | ~clear_down)
    return np.where(up, (x + 1) % n, np.where(clear_down, (x - 1) % n, -1))


def _whole(routes: Array, switches: Switches) -> Array:
    """Return the routes without those that end at a switch that has none."""
    head, routes = switches.head, routes.copy()
    rows = np.arange(len(routes))[:, None]
    at = np.broadcast_to(np.arange(routes.shape[1]), routes.shape).copy()
    while True:
        channel = routes[rows, at]
        moved = channel >= 0
        if not moved.any():
            break
        at = np.where(moved, head[channel], at)
    routes[at != switches.home[:, None]] = -1
    return routes


# Service levels of routes with datelines, and the lanes of channels


def crossings(switches: Switches, order: DimensionOrder, routes: Array) -> Array:
    """Return for each route a number whose bit k is set where it crosses a dateline of dimension k."""
    bit = np.where(order.crosses, 1 << np.maximum(order.dimension, 0), 0)
    level = np.zeros(routes.shape, np.int64)
    rows = np.arange(len(routes))[:, None]
    at = np.broadcast_to(np.arange(routes.shape[1]), routes.shape).copy()
    while True:
        channel = routes[rows, at]
        moved = channel >= 0
        if not moved.any():
            return level
        level |= np.where(moved, bit[channel], 0)
        at = np.where(moved, switches.head[channel], at)


def lanes_by_level(dimensions: int, lanes: int) -> Array:
    """Return the lane of every service level in each dimension; the last row is for channels without a dateline."""
    # Bit k of a level is the lane in dimension k. The levels behind those of all combinations of bits stand for further
    # lanes, one each, in all dimensions; those that are left are like the ones with the same lowest bits.
    sl = np.arange(SLS)
    table = np.array([*((sl >> k) & 1 for k in range(dimensions)), np.zeros(SLS, np.int64)])
    further = range(2 if dimensions else 1, lanes)
    for level, lane in zip(range(1 << dimensions, SLS), further, strict=False):
        table[:, level] = lane
    return table


def with_lanes(switches: Switches, lanes: int) -> Switches:
    """Return the switches with a channel for every lane of each channel."""
    return switches._replace(
        tail=np.repeat(switches.tail, lanes),
        head=np.repeat(switches.head, lanes),
        first=(switches.first * lanes).astype(np.int32),
        unit=np.repeat(switches.unit, lanes),
    )


def add_turns(switches: Switches, routes: Array, level: Array, table: Array, turns: Array) -> None:
    """Note in `turns` which channels with their lanes follow each other on the routes whose level is not negative."""
    # Shapes: `routes` and `level` (destinations, switches), `table` (channels, levels).
    lanes = len(turns) // len(switches.tail)
    row, source = np.nonzero((level >= 0) & (routes >= 0))
    sl, channel = level[row, source], routes[row, source]
    while len(row):
        after = routes[row, switches.head[channel]]
        on = after >= 0
        row, sl, channel, after = row[on], sl[on], channel[on], after[on]
        port = after * lanes + table[after, sl] - switches.first[switches.head[channel]] * lanes
        turns[channel * lanes + table[channel, sl], port] = 1
        channel = after


# Detours around switches and cables that dimension order lacks, and their service levels


_CHOICES = 16  # detours that are tried for a destination
_SHORT = 6  # of these, the shortest ones
_SPREAD = 2.0  # channels by which others may seem longer


def with_detours(
    switches: Switches, order: DimensionOrder, routes: Array, homes: Array, lanes: int
) -> tuple[Array, Array] | None:
    """Return routes from all switches, and their service levels; None where a detour fits on no level.

    Routes in dimension order take the level of the datelines that they cross. Switches without such a route send to a
    neighbor that has one. They take the first level by which channels with their lanes wait for each other in no cycle.

    Shapes: `routes` (destinations, switches), `homes` (destinations,).
    """
    count, dimensions = len(switches.hosts), order.dimensions
    gaps = (routes < 0) & (np.arange(count) != homes[:, None])
    level = crossings(switches, order, routes)
    if not gaps.any():
        return routes, level
    routes = routes.copy()
    table = lanes_by_level(dimensions, lanes)[order.dimension]  # dimension -1: the last row
    wide = with_lanes(switches, lanes)
    require_memory(4.0 * len(wide.tail) * int(np.diff(wide.first).max()), "the dependencies of channels on all lanes")
    layers = layers_for(wide, 1)
    add_turns(switches, routes, np.where(gaps | (switches.hosts == 0), -1, level), table, layers.turns[0])
    usable = min(SLS, (1 << dimensions) + lanes - (2 if dimensions else 1))
    into: list[list[int]] = [[] for _ in range(count)]
    for c, head in enumerate(switches.head.tolist()):
        into[head].append(c)
    work = 1e3 * gaps.sum() * len(wide.tail)
    for i, goal in enumerate(homes.tolist()):
        if not gaps[i].any():
            continue
        for choice in range(_CHOICES):
            rng = np.random.default_rng([choice, i])
            far = 1.0 + _SPREAD * rng.random(len(switches.tail)) * (choice >= _SHORT)
            route = _completed(switches, into, routes[i], goal, far + 1e-6 * rng.random(len(far)))
            sources = np.flatnonzero(gaps[i] & (route >= 0) & (switches.hosts > 0)).tolist()
            through = [
                np.where(route >= 0, route * lanes + table[route, sl], -1).astype(np.int32) for sl in range(usable)
            ]
            found = _levels(sources, goal, through, wide, layers, work)
            if found is not None:
                routes[i] = route
                level[i, sources] = found
                break
        else:
            return None
    return routes, level


def _levels(
    sources: list[int], goal: int, through: list[Array], wide: Switches, layers: RouteLayers, work: float
) -> list[int] | None:
    """Add the routes from some switches to a destination, and return their levels; None, and add none, if one fails."""
    found: list[int] = []
    for source in sources:
        for sl, route in enumerate(through):
            if run(add_route, work, 0, source, goal, route, wide, layers):
                found.append(sl)
                break
        else:
            for source, sl in zip(sources, found, strict=False):
                run(remove_route, work, 0, source, goal, through[sl], wide, layers)
            return None
    return found


def _completed(switches: Switches, into: list[list[int]], route: Array, goal: int, length: Array) -> Array:
    """Return a route to a destination for every switch from which cables lead there; those that have one keep it."""
    route = route.copy()
    far = _hops(switches, route, goal)
    heap = [(far[head] + length[c], c) for head in range(len(far)) if far[head] >= 0 for c in into[head]]
    heapify(heap)
    while heap:
        long, c = heappop(heap)
        tail = int(switches.tail[c])
        if far[tail] < 0:
            far[tail] = long
            route[tail] = c
            for before in into[tail]:
                heappush(heap, (long + length[before], before))
    return route


def _hops(switches: Switches, route: Array, goal: int) -> list[float]:
    """Return the number of channels from every switch to a destination, -1 without a route."""
    far = np.where(route < 0, -1.0, 0.0)
    far[goal] = 0
    at = np.where(route < 0, goal, np.arange(len(route)))
    while (moving := at != goal).any():
        far[moving] += 1
        at[moving] = switches.head[route[at[moving]]]
    return [float(hops) for hops in far]


# The service levels and SL-to-VL tables of routes in dimension order with datelines


def dateline_levels(network: SwitchNetwork, homes: Array, level: Array) -> PairLevels:
    """Return the service level of every pair of hosts."""
    # Shapes: `homes` (destinations,), `level` (destinations, switches).
    fabric, switches = network.fabric, network.switches
    sl = np.zeros((len(fabric.endpoints), len(fabric.endpoints)), np.int64)
    sl[np.ix_(network.ends, network.ends)] = level[np.searchsorted(homes, switches.home)][:, switches.home].T
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    masks = np.repeat((1 << sl).astype(np.uint16), many, axis=1)
    if (masks == masks[:1]).all():
        masks = masks[:1]
    return PairLevels("dor-dateline", masks)


def dateline_tables(network: SwitchNetwork, order: DimensionOrder, lanes: int) -> LaneTables:
    """Return tables with lane 1 for packets that cross a dateline of the dimension in which they leave, else lane 0."""
    # Detours may take further lanes: see :func:`obliv.fabric.reroute.datelines.lanes_by_level`.
    fabric = network.fabric
    by_level = lanes_by_level(order.dimensions, lanes)
    rows_by_number = [np.full(SLS, DROP), by_level[-1], *by_level[:-1]]
    number = np.where(fabric.ports.peer >= 0, 1, 0).astype(np.int32)  # of the row by the port by which packets leave
    number[network.slot] = 2 + order.dimension
    number[network.slot[order.dimension < 0]] = 1
    rows = [_rows(number[fabric.first_slot[node] : fabric.first_slot[node + 1]]) for node in fabric.switches.tolist()]
    return tables_of_rows(fabric, "dor-dateline", np.array(rows_by_number), rows, number)


def _rows(number: Array) -> Array:
    """Return the row numbers of a switch: the same for all ports by which packets come in."""
    out = number.copy()
    out[0] = 0  # packets to the switch itself
    return np.where(number[:, None] >= 0, out[None, :], 0)


# Tables by the engine ``dor-dateline``, with their standing


def dateline_candidates(request: Request) -> Iterator[Candidate]:
    """Yield the best tables of the engine ``dor-dateline`` with so many lanes at most; none if no detours fit."""
    fabric, grid = request.fabric, request.grid
    size = len(fabric.switches)
    require_memory(60.0 * size * size + 10.0 * len(fabric.endpoints) ** 2, f"routes of {fabric.name}")
    if grid is None:
        return
    numbered, notes = with_enough_lids(fabric, 0, request.most_lmc)
    network_of = replace(request.switches, fabric=numbered)
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
        made, detours = _within(request, lanes, network_of, order, notes)
        if made is not None and (best is None or request.key(made.standing) < request.key(best.standing)):
            best = made
        if not detours:
            break
    if best is not None:
        yield best


def no_grid(request: Request, name: str) -> str:
    """Say why an engine for grids does not fit, "" if it may."""
    if request.grid is not None:
        return ""
    return f"{name} is for tori, meshes, rings and HyperX, and this fabric is not recognized as one: use layered"


DATELINE = Engine(
    "dor-dateline",
    dateline_candidates,
    lambda request: no_grid(request, "dor-dateline"),
    # lanes are of no use on a tree, or where a search is not
    lambda request, found: "" if enough(request, found) or request.shape is not None else None,
    lane_tables=True,
)


def _within(
    request: Request, lanes: int, network_of: SwitchNetwork, order: DimensionOrder, notes: tuple[str, ...]
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
    standing = standing_of(request.routing(fabric, tables), levels, lane_tables)
    if standing.credit_loops:  # impossible, since channels with their lanes wait for each other in no cycle
        raise CheckError(f"dor-dateline on {fabric.name}: the tables have a credit loop and are not used")
    detours = int(((order.routes < 0) & (routes >= 0)).any(axis=0).sum())
    if detours:
        notes = (*notes, f"dor-dateline: {plural(detours, 'switch', 'switches')} take detours round gaps")
    return Candidate("dor-dateline", "0", tables, fabric, standing, notes, levels, lane_tables), detours > 0


def _complete(switches: Switches, order: DimensionOrder, homes: Array, lanes: int) -> tuple[Array, Array] | None:
    """Return routes with detours round all gaps, and the service levels from each switch to each of `homes`."""
    # Parallel cables count as one where levels are searched, so hosts at one switch have the same level.
    cables = GridCables(switches)
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
