"""The engines ``minimal`` and ``two-turn``: several routes between two hosts of a grid, one for each LID of a host.

A host with 2^LMC LIDs has as many trees of routes (`spread_trees`), which sources use evenly. Those of ``minimal``
correct the dimensions in several orders, and go both ways halfway round a ring. Those of ``two-turn`` go to a column
first, in the column to the destination's row, and in the row to the destination; each tree has its own column, and
leaves out one link of each ring, so that its routes are those of a mesh. With all columns, and two opposite links left
out in each, no permutation loads a channel of a k x k torus by more than k/4, which is the best of all oblivious
routings.

Lanes rise on the way: with every change of direction that dimension order forbids, and behind the dateline of
a ring. Which lane a channel has follows from the tree and the place alone, so every tree needs one service level. The
columns for a few LIDs are found by a search on the exact worst case (`spread_trees`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import require_memory
from obliv._util.text import plural
from obliv.errors import RoutingError, TopologyError
from obliv.fabric.lanes.pairs import PairLevels
from obliv.fabric.lanes.sl2vl import DROP, SLS, LaneTables, tables_of_rows
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.names import require_lids
from obliv.fabric.reroute.datelines import GridCables, no_grid
from obliv.fabric.reroute.engines import Candidate, Engine, LanesError
from obliv.fabric.reroute.fill import evenly
from obliv.fabric.reroute.quality import Request, standing_of, with_enough_lids
from obliv.fabric.reroute.spread_trees import (
    Choice,
    PlanLanes,
    RouteTree,
    bisection_bound,
    choices,
    coordinates_of,
    lanes_for,
    next_places,
)
from obliv.fabric.reroute.tiers import SwitchNetwork, central_ranks
from obliv.fabric.routes.routing import SPREAD
from obliv.topologies.recognise.grids import Grid


def spread_candidates(request: Request, engine: str) -> Iterator[Candidate]:
    """Yield the tables of ``minimal`` or ``two-turn``, checked: the best ones, never worse than those for one LID."""
    fabric, grid = request.fabric, request.grid
    require_memory(60.0 * len(fabric.switches) ** 2, f"routes of {fabric.name}")
    if grid is None:
        return
    most = _most_lmc(fabric, request.most_lmc)
    if engine == "two-turn" and most == 0:
        raise RoutingError("two-turn needs several LIDs for each host, and only an LMC of 0 is possible or allowed")
    beside = fabric.homes
    floor = Fraction(1, max(1, int(np.bincount(beside[beside >= 0]).max(initial=1))))  # the load of a host's own cable
    found = choices(grid.shape, floor, replace(request, most_lmc=most), two_turn=engine == "two-turn")
    if not found:
        raise LanesError.of(f"{engine} needs 2 virtual lanes on {grid.shape.spec}")
    wanted = [found[0], *(choice for choice in found if choice.lmc == 0)][:2]
    if found[0].load is None:  # too large to compare them before
        wanted += [choice for choice in found if choice.family == "minimal"][:1]
    made = [_made(request, engine, grid, choice) for choice in dict.fromkeys(wanted)]
    yield min(made, key=lambda candidate: request.key(candidate.standing))


def _spread_engine(name: str) -> Engine:
    """Return an engine for grids on which each place is taken, and each link there."""

    def misfit(request: Request) -> str:
        grid = request.grid
        if grid is None:
            return no_grid(request, name)
        tail, head, _ = request.fabric.trunks
        there = set(zip(grid.number[tail].tolist(), grid.number[head].tolist(), strict=True))
        missing = set(zip(grid.shape.tail.tolist(), grid.shape.head.tolist(), strict=True)) - there
        if missing or len(np.unique(grid.number)) < grid.shape.nodes or (grid.number < 0).any():
            return f"{name} is for whole grids, and {grid.shape.spec} has gaps here: use dor-dateline"
        return ""

    return Engine(name, lambda request: spread_candidates(request, name), misfit, lane_tables=True)


MINIMAL, TWO_TURN = _spread_engine("minimal"), _spread_engine("two-turn")


def _most_lmc(fabric: Fabric, most_lmc: int) -> int:
    """Return the largest LMC for which there are enough LIDs."""
    lmc = most_lmc
    while lmc:
        try:
            require_lids(len(fabric.switches), len(fabric.endpoints), lmc)
        except TopologyError:
            lmc -= 1
        else:
            break
    return lmc


def _made(request: Request, engine: str, grid: Grid, choice: Choice) -> Candidate:
    """Return the tables of some trees, and their standing."""
    fabric = request.fabric
    numbered, notes = with_enough_lids(fabric, choice.lmc, request.most_lmc)
    net = replace(request.switches, fabric=numbered)
    lanes = lanes_for(grid.shape, choice.plans)
    place_of = np.empty(len(grid.number), np.int64)
    place_of[grid.number] = np.arange(len(grid.number))  # the switch at each place
    after = {plan: next_places(grid.shape, plan) for plan in dict.fromkeys(choice.plans)}
    base = evenly(net, central_ranks(net))
    tables = _tables(net, grid, choice, after, place_of, base)
    needed = lanes.lanes > 1
    levels = _levels(net, grid, choice, after, lanes) if needed else None
    lane_tables = _lane_tables(net, grid, lanes) if needed else None
    lmc = int(numbered.ports.lmc[numbered.endpoints].max())
    offset = "spread" if lmc else "0"
    standing = standing_of(request.routing(numbered, tables, offset), levels, lane_tables)
    if standing.credit_loops:  # impossible, since lanes rise along every route
        raise RoutingError(f"{engine} on {fabric.name}: the tables have a credit loop and are not used")
    trees = plural(len(after), "tree")
    least = _least(net, grid)
    notes = (*notes, f"{engine}: the switches form {grid.shape.spec}; {trees} of {choice.family} routes to each host")
    if least is not None:
        notes = (*notes, f"no routes of any kind have a worst load below {least}, by a cut across a dimension")
    if lmc:
        notes = (*notes, SPREAD)
    return Candidate(engine, offset, tables, numbered, standing, notes, levels, lane_tables)


def _least(net: SwitchNetwork, grid: Grid) -> Fraction | None:
    """Return a lower bound for any routing, None where hosts are uneven, or cables parallel or of several speeds."""
    switches, fabric = net.switches, net.fabric
    hosts = np.unique(switches.hosts)
    rates = np.unique(fabric.ports.rate[fabric.ports.peer >= 0])
    if len(hosts) > 1 or len(rates) > 1 or len(switches.tail) != len(grid.shape.tail):
        return None
    return max(Fraction(1), int(hosts[0]) * bisection_bound(grid.shape))


def _tables(
    net: SwitchNetwork, grid: Grid, choice: Choice, after: dict[RouteTree, Array], switch_at: Array, base: Tables
) -> Tables:
    """Return tables with a tree for each LID of a host; parallel cables are taken in turn."""
    fabric, switches = net.fabric, net.switches
    cables = GridCables(switches)
    port = (net.slot - fabric.first_slot[fabric.node_of[net.slot]]).astype(np.uint8)
    out, rows = base.out.copy(), fabric.switch_row[base.switch]
    everywhere = np.arange(len(switches.hosts))
    for d, end in enumerate(fabric.endpoints[net.ends].tolist()):
        lid, home = int(fabric.ports.lid[end]), int(switches.home[d])
        for offset in range(1 << int(fabric.ports.lmc[end])):
            plan = choice.plans[offset % len(choice.plans)]
            place = after[plan][grid.number[home], grid.number]
            following = np.where(place >= 0, switch_at[place], -1)
            channel = cables.channel(everywhere, following, d + offset)
            column = np.where(channel >= 0, port[channel], NONE)
            column[home] = fabric.port_of(int(fabric.ports.peer[end]))
            out[:, lid + offset] = column[rows]
    return Tables(
        f"{choice.family} ({plural(choice.lanes, 'lane')})", base.switch, out, base.line, base.spelling, base.top
    )


def _levels(
    net: SwitchNetwork, grid: Grid, choice: Choice, after: dict[RouteTree, Array], lanes: PlanLanes
) -> PairLevels:
    """Return the service level of every pair of a source and a LID."""
    fabric, switches = net.fabric, net.switches
    ends = len(fabric.endpoints)
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    first = np.cumsum(many) - many
    require_memory(2.0 * ends * int(many.sum()), f"service levels of {fabric.name}")
    masks = np.ones((ends, int(many.sum())), np.uint16)
    crossed = {plan: _crossings(grid, after[plan], lanes.datelines) for plan in after}
    source = grid.number[switches.home]
    for d, end in enumerate(net.ends.tolist()):
        for offset in range(int(many[end])):
            k = offset % len(choice.plans)
            level = lanes.first[k] + crossed[choice.plans[k]][source[d], source]
            masks[net.ends, first[end] + offset] = 1 << level
    if (masks == masks[:1]).all():
        masks = masks[:1]
    return PairLevels(choice.family, masks)


def _crossings(grid: Grid, after: Array, datelines: tuple[int, ...]) -> Array:
    """Return for each destination and place a number whose bit k is set where the route crosses the k-th dateline."""
    at = coordinates_of(grid.shape)
    size = len(after)
    level = np.zeros((size, size), np.int64)
    place = np.broadcast_to(np.arange(size), (size, size)).copy()
    rows = np.arange(size)[:, None]
    while datelines:
        to = after[rows, place]
        moved = to >= 0
        if not moved.any():
            break
        for k, i in enumerate(datelines):
            wraps = np.abs(at[place, i] - at[to, i]) == grid.shape.axes[i].radix - 1
            level |= np.where(moved & wraps, 1 << k, 0)
        place = np.where(moved, to, place)
    return level


def _lane_tables(net: SwitchNetwork, grid: Grid, lanes: PlanLanes) -> LaneTables:
    """Return the SL-to-VL tables: the lane of a channel, which may depend on the dimension of the one before."""
    fabric, switches, shape = net.fabric, net.switches, grid.shape
    key = shape.tail.astype(np.int64) * shape.nodes + shape.head
    order = np.argsort(key, kind="stable")
    own = grid.number[switches.tail] * shape.nodes + grid.number[switches.head]
    link = order[np.searchsorted(key[order], own)]  # of the grid, for each channel
    spelled = lanes.lane[:, np.arange(SLS) % lanes.levels][:, :, link].transpose(0, 2, 1)  # by entry, channel, SL
    dimension = np.full(len(fabric.ports.peer), -1, np.int64)
    dimension[net.slot] = shape.dim_of[link]
    vl, numbers = np.unique(spelled.reshape(-1, SLS), axis=0, return_inverse=True)
    number = np.where(fabric.ports.peer >= 0, 1, 0).astype(np.int32) * np.ones((2, 1), np.int32)
    number[:, net.slot] = 2 + numbers.reshape(2, -1)
    parts = []
    for node in fabric.switches.tolist():
        slots = slice(int(fabric.first_slot[node]), int(fabric.first_slot[node + 1]))
        out, along = number[:, slots].copy(), dimension[slots]
        out[:, 0] = 0  # packets to the switch itself
        same = (along[:, None] == along[None, :]) & (along >= 0)[:, None]
        rows = np.where(same, out[1][None, :], out[0][None, :])
        parts.append(np.where(number[0, slots][:, None] >= 0, rows, 0))
    rows_by_number = np.concatenate([np.full((1, SLS), DROP), np.zeros((1, SLS)), vl])
    return tables_of_rows(fabric, plural(lanes.lanes, "lane"), rows_by_number, parts, number[0])
