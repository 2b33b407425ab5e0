"""The check of a design for all traffic: what bounds the ratio of its routing, and what no ratio can be below.

Upper side: for every channel lengths of all channels are given such that no pair puts more on it than its distance
allows. Lower side: for every channel flows are given that carry some traffic; a routing of ratio r loads the channel by
at most r times the largest load of these flows. Added up over all channels, every pair pays at least its distance under
the traffic, over the bandwidth of each channel, taken for lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.codec import unpack_array
from obliv._util.progress import Progress, within
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.checker.flows.sources import source_flows
from obliv.checker.legal import constraints_of, ways_of
from obliv.checker.lines import Line, is_index, terminal_maps
from obliv.checker.ratios import Upper, merged
from obliv.checker.report import Report, short
from obliv.checker.time_limit import OutOfTimeError, TimeLimit
from obliv.errors import InputError
from obliv.results.numbers import bounds_of
from obliv.routings.listed import Listed
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.results import RatioDesign

__all__ = ["check_ratio_bounds"]

_FAR = 2**62  # of a node that cannot be reached
_LARGEST = 2**61  # of sums in 64 bits


@dataclass(frozen=True, eq=False)
class _Part:
    """Traffic for one channel: that of a class, carried by a map of terminals, perhaps with its direction reversed."""

    channel: int
    number: int
    back: Array  # the inverse of the map
    reversed: bool


def check_ratio_bounds(
    report: Report,
    claimed: RatioDesign,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check the upper and the lower bound of the ratio, and the bound of the hops.

    Parameters
    ----------
    report : Report
    claimed : RatioDesign
    certificate : dict
    routing : Listed
    time_limit : TimeLimit
    progress : callable
        Called with what is being done and the share that is done.
    """
    topology = routing.topology
    lower, upper = bounds_of(claimed.ratio)
    rules = constraints_of(claimed.constraints)
    if rules.turns is not None:
        raise MalformedError("a design of the least ratio has no limit of turns or virtual channels")
    limit = rules.hops
    hops = ways_of(topology, rules).hops(topology.terminals) if rules.minimal else None
    try:
        _check_upper(report, upper, certificate, routing, time_limit, within(progress, 0.0, 0.5))
        parts = _parts(certificate, topology)
        line = _line(certificate.get("ratio_line"), parts, topology, hops, time_limit)
        bound = max(Fraction(1), line.least_objective(limit))  # no routing is better than the best of each traffic
        reaches = lower <= bound and lower <= upper and (limit > 0 or line.price == 0)
        report.note("lower bound", reaches, f"traffic and its flows prove {short(bound)}, claimed {short(lower)}")
        progress("distances", 0.75)
        if claimed.hops_bound is not None:
            line = _line(certificate.get("hops_line"), parts, topology, hops, time_limit)
            bound = line.least_hops(upper)
            fits = bound >= claimed.hops_bound
            report.note("fewest hops", fits, f"flows prove {short(bound)}, claimed {short(claimed.hops_bound)}")
    except OutOfTimeError:
        report.note("ratio", None, "time limit reached; the ratio is not proved; raise the budget")
    if limit and claimed.hops > limit:
        report.note("limit of hops", False, f"{short(claimed.hops)} mean hops exceed {short(limit)}")


def _check_upper(
    report: Report,
    upper: Fraction,
    certificate: dict[str, Any],
    routing: Listed,
    time_limit: TimeLimit,
    progress: Progress,
) -> None:
    """Check that lengths of channels bound what any traffic puts on each channel."""
    topology = routing.topology
    tables = certificate.get("lengths")
    if not isinstance(tables, list) or len(tables) != topology.channels:
        raise MalformedError("lengths must be given for every channel")
    rows = [_array(table, topology.channels) for table in tables]
    if any(row.shape != (topology.channels,) for row in rows):
        raise MalformedError("lengths must be one number for each channel and channel")
    lengths = np.array(rows)
    if lengths.min() < 0 or lengths.max() > 2**59 // topology.nodes:
        raise MalformedError("a length is out of range")
    bound = Upper(upper, lengths, topology, list(range(topology.channels)))
    flows = source_flows(routing, routing.listed.whole, time_limit.check)
    for source in range(len(topology.terminals)):
        flow = flows(source)
        bound.add(source, *merged(flow, source, topology.channels), flow.whole)
        progress("ratio of the routing", (source + 1) / len(topology.terminals))
    over = sorted(bound.over)
    detail = f"lengths prove {short(upper)} on {topology.channels} channels"
    report.note("ratio", not over, f"channel {over[0]} may carry more than claimed" if over else detail)


def _array(content: Any, most: int, *shape: int) -> Array:
    try:
        array: Array = unpack_array(content, most)
        return array.reshape(shape) if shape else array
    except (KeyError, ValueError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"an array cannot be unpacked: {error}") from None


def _parts(certificate: dict[str, Any], topology: Topology) -> list[_Part]:
    """Return which traffic every channel takes; the maps must be automorphisms of the network."""
    generators = _array(certificate.get("generators"), topology.channels * topology.nodes, -1, topology.nodes)
    maps, capacity = terminal_maps(generators, topology), _capacity(topology)
    for generator in generators:
        moved = {(int(generator[tail]), int(generator[head])): speed for (tail, head), speed in capacity.items()}
        if moved != capacity:
            raise MalformedError("a generator is not a symmetry of the network")
    symmetric = {(head, tail): speed for (tail, head), speed in capacity.items()} == capacity
    content = certificate.get("demands")
    if not isinstance(content, list):
        raise MalformedError("demands must list which traffic every channel takes")
    parts = []
    for entry in content:
        if not (isinstance(entry, list) and len(entry) == 4 and isinstance(entry[2], list)):
            raise MalformedError("an entry of demands is not [channel, class, word, reversed]")
        channel, number, word, turned = entry
        if not (
            is_index(channel, topology.channels)
            and is_index(number, topology.channels)
            and all(is_index(step, len(maps)) for step in word)
            and is_index(turned, 2)
        ):
            raise MalformedError("an entry of demands is out of range")
        if turned and not symmetric:
            raise MalformedError("traffic is reversed where channels have no opposite of the same bandwidth")
        image = np.arange(len(topology.terminals))
        for step in word:
            image = maps[step][image]
        parts.append(_Part(channel, number, np.argsort(image), bool(turned)))
    return sorted(parts, key=lambda part: part.channel)


def _capacity(topology: Topology) -> dict[tuple[int, int], Fraction]:
    """Return the bandwidth of all channels from one node to another, added up."""
    capacity: dict[tuple[int, int], Fraction] = {}
    for channel, link in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        capacity[link] = capacity.get(link, Fraction(0)) + topology.bandwidth_of(channel)
    return capacity


def _line(
    content: Any, parts: list[_Part], topology: Topology, hops: tuple[Array, Array] | None, time_limit: TimeLimit
) -> Line:
    """Return what the flows of a line prove."""
    if not isinstance(content, dict) or not is_index(content.get("price"), 2**40):
        raise MalformedError("a line of the certificate is missing, or its price is not a whole number")
    tables, price = content.get("flows"), content["price"]
    if not isinstance(tables, list) or any(part.number >= len(tables) for part in parts):
        raise MalformedError("flows are missing for a class of channels")
    terminals = len(topology.terminals)
    traffic, loads = zip(*(_carried(table, topology) for table in tables), strict=True) if tables else ((), ())
    spent = sum((loads[part.number] for part in parts), Fraction(0))
    speeds = [topology.bandwidth_of(channel) for channel in range(topology.channels)]
    fastest = max(speeds)
    most = sum(int(traffic[part.number].max(initial=0)) for part in parts) * (fastest / min(speeds)) + price
    if most * topology.nodes > _LARGEST:
        raise InputError("the flows of the certificate are too large to be added up")
    distance = 0
    for source in range(terminals):
        time_limit.check()
        lengths = np.zeros((topology.channels, terminals), np.int64)
        for part in parts:
            table = traffic[part.number]
            here = table[part.back, part.back[source]] if part.reversed else table[part.back[source], part.back]
            lengths[part.channel] += here
        if not topology.unit_bandwidth:
            for channel, speed in enumerate(speeds):
                factor = fastest / speed  # lengths are rounded down
                row = lengths[channel].astype(object) * factor.numerator // factor.denominator
                lengths[channel] = row.astype(np.int64)
        distance += _distances(topology, source, lengths.T + price, hops)
    return Line(price, distance, fastest * spent, terminals**2)


def _carried(content: Any, topology: Topology) -> tuple[Array, Fraction]:
    """Return the traffic that flows carry, and the largest load of a channel; flow that ends elsewhere is lost."""
    terminals = topology.terminals.astype(np.int64)
    rows = _array(content, 3 * len(terminals) * topology.channels, -1, 3)
    if len(rows) and (
        rows.min() < 0
        or rows[:, 0].max() >= len(terminals)
        or rows[:, 1].max() >= topology.channels
        or sum(rows[:, 2].tolist()) > _LARGEST
    ):
        raise MalformedError("a row of the flows is out of range")
    source, channel, amount = rows.T
    balance = np.zeros((len(terminals), topology.nodes), np.int64)
    np.add.at(balance, (source, topology.head[channel]), amount)
    np.subtract.at(balance, (source, topology.tail[channel]), amount)
    balance[np.arange(len(terminals)), terminals] = 0
    if balance.min() < 0:
        raise MalformedError("more flow leaves a node than enters it")
    totals = np.zeros(topology.channels, np.int64)
    np.add.at(totals, channel, amount)
    load = max(Fraction(int(total)) / topology.bandwidth_of(c) for c, total in enumerate(totals.tolist()))
    return balance[:, terminals], load


def _distances(topology: Topology, source: int, lengths: Array, hops: tuple[Array, Array] | None) -> int:
    """Return the sum of the distances from a terminal to all, each under its own lengths (Bellman and Ford)."""
    terminals, tail = topology.terminals.astype(np.int64), topology.tail.astype(np.int64)
    order = np.argsort(topology.head, kind="stable")
    heads, first = np.unique(topology.head[order], return_index=True)
    if hops is not None:
        there, back = hops
        through = there[source, tail][None, :] + 1 + back[:, topology.head]
        lengths = np.where(through == there[source, terminals][:, None], lengths, _FAR // 4)
    tail, lengths = tail[order], lengths[:, order]
    distance = np.full((len(terminals), topology.nodes), _FAR // 2, np.int64)
    distance[:, terminals[source]] = 0
    for _ in range(topology.nodes):
        through = np.minimum.reduceat(distance[:, tail] + lengths, first, axis=1)
        shorter = np.minimum(distance[:, heads], through)
        if np.array_equal(shorter, distance[:, heads]):
            break
        distance[:, heads] = shorter
    ends = distance[np.arange(len(terminals)), terminals].tolist()
    if max(ends) >= _FAR // 4:
        raise InputError("a terminal cannot be reached from another one")
    return sum(ends)
