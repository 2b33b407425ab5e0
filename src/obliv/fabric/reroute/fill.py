"""Tables whose routes climb and then descend, engines of fat trees, group tables for any fabric, engines compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.progress import require_memory
from obliv._util.text import did_you_mean
from obliv.errors import RoutingError, SpecError
from obliv.fabric.kernels.channel_loads import Switches
from obliv.fabric.kernels.fill import Digits, Ranks, Trunks, channels_towards, even_out, fill_by_digits, fill_evenly
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.names import (
    FREE,
    LAST_EXTENDED_LID,
    NO_STATE,
    STATIC,
    Groups,
    GroupTables,
    SubGroup,
    owned_lids,
    slots_of_lids,
)
from obliv.fabric.reroute.engines import Candidate, Engine, LimitError
from obliv.fabric.reroute.quality import Request, key_by, standing_of, with_enough_lids
from obliv.fabric.reroute.tiers import (
    SwitchNetwork,
    Tiers,
    central_ranks,
    level_ranks,
    numberings,
    switch_network,
    tiers_of,
)
from obliv.fabric.results.route import Standing
from obliv.fabric.routes.routing import FabricRouting, uniform_bound
from obliv.fabric.shape import recognise
from obliv.fabric.topology import network
from obliv.kernels import run
from obliv.routings.trees import best_grid, cover_root, fewest_lids

# Engines: by which port upwards the hosts of a fat tree are reached, and which of their LIDs a source uses


@dataclass(frozen=True, eq=False)
class EnginePlan:
    """The channels upwards that an engine for trees chooses."""

    engine: str
    tiers: Tiers
    lmc: int  # every host needs 2**lmc LIDs
    offset: str  # which of them a source uses, as :func:`obliv.fabric.routes.trace.offsets_of` takes it
    shifted: bool  # whether a leaf adds its place in its sub-tree to the number
    # want: ``want(level, offset, number, place)``: the number of the channel upwards at the switches of a level, 0 for
    # leaves, for hosts with these numbers and places at their leaves
    want: Callable[[int, int, Array, Array], Array]
    # down: the same for the way down to a switch of the level: the number of the channel whose opposite is taken.
    # Default `want`.
    down: Callable[[int, int, Array, Array], Array] | None = None


def tree_engine(
    name: str, plan: Callable[[Tiers], EnginePlan], levels: int = 0, misfit: Callable[[Tiers], str] = lambda tiers: ""
) -> Engine:
    """Return an engine for trees: for any, or for fat trees of so many levels of switches."""

    def why_not(request: Request) -> str:
        tiers = request.tiers
        if tiers is None:
            return f"{name} is for fat trees, and this fabric is not recognized as one: use updown"
        if levels and tiers.shape is None:
            return f"{name} is for fat trees, this is a {tiers.title}: use dmodk"
        if levels and tiers.levels != levels:
            return f"{name} is for fat trees of {levels} levels of switches, this one has {tiers.levels}"
        return misfit(tiers)

    return Engine(name, lambda request: tree_candidates(request, plan), why_not)


def dmodk(tiers: Tiers) -> EnginePlan:
    """Plan D-mod-k: the digits of the destination's number, the last one at the leaf, for parallel cables as Zahavi."""

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return number // prod(tiers.parents[:level])

    return EnginePlan("dmodk", tiers, 0, "0", False, want)


def _osrm3_d(tiers: Tiers) -> EnginePlan:
    """Plan OSRM3-D: the leaf's own place plus the destination's at its leaf; above, the destination's."""

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else place

    return EnginePlan("osrm3-d", tiers, 0, "0", True, want)


def _osrm3(tiers: Tiers) -> EnginePlan:
    """Plan OSRM3: the source's place at its leaf, which the LID encodes; above, the destination's."""
    many = min(tiers.hosts, tiers.uplinks())
    rule = _rule([place % many for place in range(tiers.hosts)])
    lmc = (many - 1).bit_length()

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else np.full_like(place, offset % many)

    def down(level: int, offset: int, number: Array, place: Array) -> Array:
        return _above(tiers, number, place) if level else place

    return EnginePlan("osrm3", tiers, lmc, rule, False, want, down)


def _above(tiers: Tiers, number: Array, place: Array) -> Array:
    """Return the destination's place at its leaf; where there are several times as many cables, by leaf another set."""
    sets = max(1, tiers.uplinks(1) // tiers.hosts)
    return np.asarray(place + tiers.hosts * (number // tiers.hosts % sets))


def _osrm2(tiers: Tiers) -> EnginePlan:
    """Plan OSRM2: a root for each group of sources and each of destinations of a leaf; the LID encodes the first."""
    hosts = tiers.hosts
    a, b = best_grid(hosts, tiers.uplinks())
    rule = _rule([place // ceil(hosts / a) for place in range(hosts)])

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return np.asarray(offset % a * b + place % hosts // ceil(hosts / b))

    return EnginePlan("osrm2", tiers, (a - 1).bit_length(), rule, False, want)


def _osrm2_c(tiers: Tiers) -> EnginePlan:
    """Plan OSRM2 by covers, which is optimal; the LID encodes the source's place."""
    hosts = tiers.hosts
    lids = fewest_lids(hosts)

    def want(level: int, offset: int, number: Array, place: Array) -> Array:
        return cover_root(np.full_like(place, offset % hosts), place % hosts, hosts, lids)

    return EnginePlan("osrm2-c", tiers, (hosts - 1).bit_length(), _rule(list(range(hosts))), False, want)


def _uneven(tiers: Tiers) -> str:
    """Say why a tree has no covers."""
    hosts, uplinks = tiers.hosts, tiers.uplinks()
    if hosts == uplinks:
        return ""
    return f"osrm2-c needs as many cables up as hosts at a leaf, this tree has {uplinks} and {hosts}"


def _rule(offsets: list[int]) -> str:
    return "-".join(map(str, offsets))


_BLOCK = 1 << 26  # routes that are held at once
_ROUNDS = 8  # in which routes are evened out


@dataclass(frozen=True, eq=False)
class _Columns:
    """The LIDs of a fabric that are at switches, by switch, port and number."""

    lid: Array  # int64, shape (columns,)
    end: Array  # int64, shape (columns,); the place of its port among the endpoints, -1 for a switch's own
    offset: Array  # int64, shape (columns,); which of the port's LIDs it is
    # home, port: int64, shape (columns,); the row of the switch, and its port there, 0 for a switch itself
    home: Array
    port: Array


def by_digits(net: SwitchNetwork, ranks: Ranks, plan: EnginePlan, step: int = 0, even: bool = False) -> Tables:
    """Return the tables of an engine for trees."""
    tiers = plan.tiers
    columns = _columns(net)
    out = _empty(net, columns)
    for mine in _blocks(columns):
        end = columns.end[mine]
        known = (end >= 0) & (tiers.number[end] >= 0)
        number = np.where(known, tiers.number[end], mine)  # other LIDs are spread over the numbers
        place = np.where(known, tiers.place[end], mine)
        (offset,) = np.unique(columns.offset[mine]).tolist()
        plans = (plan.want, plan.down or plan.want)
        up, down = (np.stack([want(level, offset, number, place) for level in range(tiers.levels)]) for want in plans)
        shift = tiers.place_in_subtree if plan.shifted else np.zeros_like(tiers.size)
        wanted = (up.astype(np.int32), down.astype(np.int32))
        digits = Digits(tiers.channel, tiers.size, tiers.width, tiers.level, shift, *wanted)
        routes = np.empty((len(mine), len(net.switches.hosts)), np.int32)
        switches = net.switches._replace(home=columns.home[mine].astype(np.int32))
        run(fill_by_digits, _work(switches), switches, ranks, digits, step, routes)
        if even:
            hosts = np.flatnonzero(end >= 0)
            _evened(switches, ranks, hosts, flows(switches, hosts, routes), routes)
        _store(net, columns, mine, routes, out)
    return _tables(net, plan.engine, columns, out)


def evenly(net: SwitchNetwork, ranks: Ranks, by_place: bool = False, even: bool = False) -> Tables:
    """Return tables of shortest routes that climb and then descend, with even loads under uniform traffic."""
    columns = _columns(net)
    place, _ = net.fabric.endpoint_places
    out = _empty(net, columns)
    for mine in _blocks(columns):
        switches = net.switches._replace(home=columns.home[mine].astype(np.int32))
        hosts, others = np.flatnonzero(columns.end[mine] >= 0), np.flatnonzero(columns.end[mine] < 0)
        if by_place:
            hosts = hosts[np.lexsort((columns.home[mine[hosts]], place[columns.end[mine[hosts]]]))]
        routes = np.empty((len(mine), len(net.switches.hosts)), np.int32)
        load = np.zeros(len(net.switches.tail), np.int64)
        run(fill_evenly, _work(switches), hosts, switches, ranks, load, routes)
        nobody = switches._replace(hosts=np.zeros_like(switches.hosts))
        run(fill_evenly, _work(switches), others, nobody, ranks, load.copy(), routes)
        if even:
            _evened(switches, ranks, hosts, load, routes)
        _store(net, columns, mine, routes, out)
    return _tables(net, "updown", columns, out)


def _work(switches: Switches) -> float:
    """Return about how many steps it takes to look at all channels for each destination, a few times."""
    return 10.0 * len(switches.home) * (len(switches.tail) + len(switches.hosts))


def _columns(net: SwitchNetwork) -> _Columns:
    """Return the LIDs to which packets can be sent."""
    fabric = net.fabric
    lids, slots = slots_of_lids(fabric)
    if len(np.unique(lids)) < len(lids):
        raise RoutingError(f"{fabric.name}: some ports have the same LID: tables cannot tell them apart")
    of_switch = fabric.switch_row[fabric.node_of[slots]] >= 0  # LIDs of switches themselves
    outlet = np.where(of_switch, slots, fabric.ports.peer[slots])
    home = fabric.switch_row[fabric.node_of[outlet]]
    reached = home >= 0  # ports at switches only
    slots, lids, of_switch, outlet, home = (values[reached] for values in (slots, lids, of_switch, outlet, home))
    order = np.lexsort((lids, outlet, home))
    slots, lids, of_switch, outlet, home = slots[order], lids[order], of_switch[order], outlet[order], home[order]
    if len(lids) and int(lids.max()) > LAST_EXTENDED_LID:
        raise RoutingError(f"{fabric.name}: LID {lids.max()} is out of range (maximum {LAST_EXTENDED_LID})")
    end = positions(fabric.endpoints, len(fabric.ports.peer))[slots]
    port = np.where(of_switch, 0, outlet - fabric.first_slot[fabric.node_of[outlet]])
    return _Columns(lids.astype(np.int64), end, (lids - fabric.ports.lid[slots]).astype(np.int64), home, port)


def _empty(net: SwitchNetwork, columns: _Columns) -> Array:
    rows, top = len(net.switches.hosts), int(columns.lid.max())
    require_memory(2.0 * rows * (top + 1) + 8.0 * min(_BLOCK, rows * len(columns.lid)), f"tables of {net.fabric.name}")
    return np.full((rows, top + 1), NONE, np.uint8)


def _blocks(columns: _Columns) -> Iterator[Array]:
    """Yield the columns of one offset after another."""
    for offset in np.unique(columns.offset).tolist():
        yield np.flatnonzero(columns.offset == offset)


def flows(switches: Switches, columns: Array, routes: Array) -> Array:
    """Return what channels carry if every host sends to every destination."""
    load = np.zeros(len(switches.tail), np.int64)
    for column in columns.tolist():
        route, goal = routes[column], int(switches.home[column])
        at = np.flatnonzero((switches.hosts > 0) & (route >= 0))
        flow = switches.hosts[at].astype(np.int64)
        while len(at):
            c = route[at]
            np.add.at(load, c, flow * switches.unit[c])
            at = switches.head[c]
            on = at != goal
            at, flow = at[on], flow[on]
    return load


def _evened(switches: Switches, ranks: Ranks, order: Array, load: Array, routes: Array) -> None:
    """Even out routes until no change helps."""
    for _ in range(_ROUNDS):
        if not run(even_out, _work(switches), order, switches, ranks, load, routes):
            break


def _store(net: SwitchNetwork, columns: _Columns, mine: Array, routes: Array, out: Array) -> None:
    """Store the ports of routes, and those of destinations at their switch."""
    port = net.slot - net.fabric.first_slot[net.fabric.node_of[net.slot]]
    ports = np.append(port, NONE).astype(np.uint8)[routes]  # the last one for no route, -1
    ports[np.arange(len(mine)), columns.home[mine]] = columns.port[mine]
    out[:, columns.lid[mine]] = ports.T


def _tables(net: SwitchNetwork, engine: str, columns: _Columns, out: Array) -> Tables:
    switches = net.fabric.switches
    rows = switches.astype(np.int32)
    return Tables(engine, rows, out, np.zeros(len(rows), np.int32), "opensm", int(columns.lid.max()))


# Group tables for any fabric: all ports with the fewest hops, with or without the rules of up*/down*


#: The rules by which groups are made.
GROUP_RULES = ("updn", "minimal")


def groups_of(fabric: Fabric, rule: str = "updn") -> GroupTables:
    """Return group tables for adaptive routing on a fabric.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    rule : {"updn", "minimal"}
        ``updn``: packets go down as soon as a path of cables down exists, otherwise up, with the fewest hops; ranks
        are the levels of a tree where the switches form one, else distances from a central switch. ``minimal``: all
        ports that lead closer.

    Returns
    -------
    GroupTables
        Groups of at least two ports; a single port is static. Static ports of groups are those of D-mod-k on trees,
        elsewhere those of ``updown`` where the group has them, else spread over the LIDs. LIDs that cannot be reached
        by the rule have no entry.

    Raises
    ------
    SpecError
        If the rule is unknown.
    RoutingError
        If the fabric has no LIDs or no switch.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> groups_of(from_topology(obliv.topology("fattree:4,2")))
    <GroupTables updn: 6 tables, LIDs to 14>
    """
    if rule not in GROUP_RULES:
        raise SpecError.naming("{adaptive}={0!r}: {1}", rule[:40], did_you_mean(rule, GROUP_RULES))
    switches = fabric.switches
    own = fabric.first_slot[switches]
    slots = np.concatenate([fabric.endpoints, own])
    slots = slots[fabric.ports.lid[slots] > 0]
    if not len(slots) or not len(switches):
        raise RoutingError(f"{fabric.name} has no switch, or no LIDs: assign them first")
    lids, owner = owned_lids(fabric.ports.lid, fabric.ports.lmc, slots)
    width = int(lids.max()) + 1
    require_memory(8.0 * width * len(switches), f"group tables of {len(switches)} switches for {width - 1} LIDs")
    shape = len(switches), width
    port, state = np.full(shape, NONE, np.uint8), np.full(shape, NO_STATE, np.uint8)
    tables = _Entries(port, state, np.zeros(shape, np.uint16))
    row_of = fabric.switch_row[fabric.node_of]
    goal = np.where(
        row_of[owner] >= 0, row_of[owner], row_of[fabric.ports.peer[owner]]
    )  # the switch that each LID is of or at
    numbers: list[dict[bytes, int]] = [{} for _ in switches]
    net = switch_network(network(fabric))
    trunks, spread = _trunks(net, rule == "updn")
    tail, ports = net.switches.tail, net.slot - fabric.first_slot[fabric.node_of[net.slot]]
    used = np.zeros(len(tail), bool)
    order = np.argsort(goal, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(goal[order]) != 0]).tolist() if len(order) else []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        columns = order[start:end]
        row = int(goal[columns[0]])
        if row < 0:
            continue
        run(channels_towards, 5.0 * len(tail) * len(starts), row, trunks, used)
        sets = np.zeros((len(switches), 256), bool)
        sets[tail[used], ports[used]] = True
        _store_groups(sets, lids[columns], columns, spread, numbers, tables)
        beside = fabric.ports.peer[owner[columns]]
        at = np.where(fabric.switch_row[fabric.node_of[owner[columns]]] == row, owner[columns], beside)
        port[row, lids[columns]] = at - fabric.first_slot[switches[row]]
        state[row, lids[columns]], tables.group[row, lids[columns]] = STATIC, 0
    return GroupTables(
        name=rule,
        switch=switches.astype(np.int32),
        plft=np.zeros(len(switches), np.int32),
        port=port,
        state=state,
        group=tables.group,
        groups=tuple(_groups(known) for known in numbers),
        line=np.zeros(len(switches), np.int32),
    )


class _Entries(NamedTuple):
    """Static port, state and group by switch and LID."""

    port: Array
    state: Array
    group: Array


def _store_groups(
    sets: Array, lids: Array, columns: Array, spread: Array, numbers: list[dict[bytes, int]], tables: _Entries
) -> None:
    """Store the entries of all switches for the LIDs at one, by the set of ports that each may use."""
    # Static ports are those of `spread` where the set has them.
    port, state, group = tables
    size = sets.sum(axis=1)
    single = np.flatnonzero(size == 1)
    place = np.ix_(single, lids)
    port[place], state[place] = sets[single].argmax(axis=1)[:, None], STATIC
    for v in np.flatnonzero(size > 1).tolist():
        members = np.flatnonzero(sets[v])
        number = numbers[v].setdefault(members.astype(np.uint8).tobytes(), len(numbers[v]) + 1)
        state[v, lids], group[v, lids] = FREE, number
        wanted = spread[v, lids]
        port[v, lids] = np.where(np.isin(wanted, members), wanted, members[columns % len(members)])


def _groups(numbers: dict[bytes, int]) -> Groups:
    """Return the groups of a switch; in files every switch has at least one."""
    return {number: (SubGroup(0, 0, tuple(ports)),) for ports, number in numbers.items()} or {0: (SubGroup(0, 0, ()),)}


def _trunks(net: SwitchNetwork, ranked: bool) -> tuple[Trunks, Array]:
    """Return the channels between switches by rank, and ports by which loads are even, shape (switches, LIDs)."""
    shape = recognise(net.fabric)
    tiers = tiers_of(net, shape if shape is not None and shape.levels > 1 else None)
    ranks = central_ranks(net) if tiers is None else level_ranks(net, tiers)
    first, head = net.switches.first.astype(np.int64), net.switches.head.astype(np.int64)
    spread = evenly(net, ranks) if tiers is None else by_digits(net, ranks, dmodk(tiers))
    if ranked:
        return Trunks(first, head, ranks.rises, ranks.order.astype(np.int64)), spread.out
    return Trunks(first, head, np.zeros(len(head), bool), np.zeros(0, np.int64)), spread.out


# Tables by each engine that fits a fabric, with their standing


_DETOURS = (0, 1, 2, -1)  # steps to another channel where the wanted one is missing; 0: take the least used one
_EVENED = 1 << 30  # entries of tables times channels, up to which all ways are evened out, not only the best
_ALL_SHIFTS = 1 << 24  # flows of all shifts, up to which these are counted to choose among variants


def tree_candidates(request: Request, plan: Callable[[Tiers], EnginePlan]) -> Iterator[Candidate]:
    """Yield the tables of an engine for trees, the best of several ways to number hosts and to replace channels."""
    if request.tiers is None:
        return
    chosen = plan(request.tiers)
    name, exact, most = chosen.engine, chosen.tiers.exact, request.most_lmc
    if chosen.lmc > most:
        error = LimitError(f"{name} needs an LMC of {chosen.lmc} on {chosen.tiers.title}, at most {most} is allowed")
        error.needs = f"needs an LMC of {chosen.lmc}"
        raise error
    numbered, notes = with_enough_lids(request.fabric, chosen.lmc, most)
    net = replace(request.switches, fabric=numbered)
    ranks = level_ranks(net, chosen.tiers)
    by_number, steps = plan is dmodk, _DETOURS[:1] if exact else _DETOURS
    plans = [plan(tiers) for tiers in numberings(chosen.tiers)] if by_number else [chosen]
    ways = [(again, step) for again in plans for step in steps]
    tables, standing, at = _best(request, numbered, chosen.offset, (by_digits(net, ranks, *way) for way in ways))
    if by_number and not exact:
        small = tables.out.size * len(net.switches.tail) <= _EVENED
        others = (by_digits(net, ranks, *way, even=True) for way in (ways if small else [ways[at]]))
        tables, standing, _ = _best(request, numbered, chosen.offset, chain([tables], others))
    yield Candidate(name, chosen.offset, tables, numbered, standing, notes)


OSRM3_D = tree_engine("osrm3-d", _osrm3_d, 3)
OSRM3 = tree_engine("osrm3", _osrm3, 3)
OSRM2 = tree_engine("osrm2", _osrm2, 2)
OSRM2_C = tree_engine("osrm2-c", _osrm2_c, 2, _uneven)
DMODK = tree_engine("dmodk", dmodk)


def updown_candidates(request: Request) -> Iterator[Candidate]:
    """Yield shortest routes that climb and then descend, with even loads."""
    # On trees all roots are equally high, unless some hosts then do not reach each other.
    numbered, notes = with_enough_lids(request.fabric, 0, request.most_lmc)
    net = replace(request.switches, fabric=numbered)
    rated = []
    for ranks in [*([level_ranks(net, request.tiers)] if request.tiers else []), central_ranks(net)]:
        ways = ((by_place, even) for by_place in (False, True) for even in (False, True))
        tables, standing, _ = _best(request, numbered, "0", (evenly(net, ranks, *way) for way in ways))
        rated.append(Candidate("updown", "0", tables, numbered, standing, notes))
        if not request.lost(standing):
            break
    yield min(rated, key=lambda one: one.standing.missing)


def _updown_needless(request: Request, candidates: Sequence[Candidate]) -> str | None:
    """Say that no tables with one LID a host are better; those in use may ask for fewer conflicts at random."""
    if request.by == "balanced":
        return None
    for new in candidates:
        best, shifts = new.standing, new.standing.shifts
        whole = not (best.lmc or best.missing or best.idle_channels)
        even = best.worst <= request.single_lid_optimum and shifts is not None and shifts.worst <= 1
        if whole and even and best.uniform == uniform_bound(request.topology):
            return f"one LID a host allows no smaller worst case, uniform load or shift than {new.engine}"
    return None


UPDOWN = Engine("updown", updown_candidates, needless=_updown_needless)


def _best(request: Request, fabric: Fabric, offset: str, variants: Iterable[Tables]) -> tuple[Tables, Standing, int]:
    """Return the best of several tables by the figure that counts first, and its place; shifts decide among equals."""
    few = len(request.topology.terminals) ** 2 <= _ALL_SHIFTS  # shifts of each can be counted
    by = "worst" if request.by == "shifts" and not few else request.by
    quick, full = key_by(by, brief=True), key_by(by)
    equals: list[tuple[tuple[Any, ...], int, FabricRouting]] = []
    for at, tables in enumerate(variants):
        routing = request.routing(fabric, tables, offset)
        key = quick(standing_of(routing, brief=True))
        if not equals or key <= equals[0][0]:
            equals = [*(equals if equals and key == equals[0][0] else []), (key, at, routing)]
    rated = [(standing_of(routing, progress=request.progress), at, routing) for _, at, routing in equals]
    standing, at, routing = min(rated, key=lambda one: full(one[0]))
    if standing.credit_loops:  # impossible, since routes only climb and then descend
        raise RoutingError(f"{fabric.name}: the tables have a credit loop and are not used")
    return routing.routes.tables, standing, at
