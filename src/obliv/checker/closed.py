"""Closed claims as files of rows: of worst cases, designs, ratios, bounds and failures.

A closed claim holds its network and flows, for a checker that knows neither (`obliv_check`).
"""

from __future__ import annotations

import gzip
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from functools import partial
from itertools import chain, groupby, pairwise
from math import lcm
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import require_file, write_pieces
from obliv._util.progress import require_memory
from obliv.checker import obliv_check
from obliv.checker.constraints import Constraints, constraints_of, ways_of
from obliv.checker.designs import carried_lengths, legal_channels, paths_of, read_design
from obliv.checker.linear import Lengths, distances_from, lengths_of
from obliv.checker.report import read_result
from obliv.checker.worst_case import Prices
from obliv.errors import FileError, InputError
from obliv.flows.base import Flow
from obliv.flows.sources import source_flows, threshold_prices
from obliv.results.base import provenance
from obliv.results.claims import Claim, array_of, certificate_of, read_claim
from obliv.results.numbers import bounds_of, rational
from obliv.results.study import Check, Verification
from obliv.routings.base import Routing
from obliv.routings.listed import Listed
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.damaged import NothingLeftError, without

CheckTime = Callable[[], None]


# The parts of a file: rows, each written once, and runs


class _Text:
    """A closed claim as it is written: the network, rows, flows, and statements."""

    def __init__(self, about: str, topology: Topology) -> None:
        self.about = "".join(letter if " " <= letter <= "~" else "?" for letter in about)[:1000]
        self.topology = topology
        injection, ejection = topology.rates()
        speeds = [topology.bandwidth_of(c) for c in range(topology.channels)]
        self.scale = lcm(*(value.denominator for value in (*speeds, *injection, *ejection)))
        self.bandwidth, self.injection, self.ejection = (
            [int(value * self.scale) for value in values] for values in (speeds, injection, ejection)
        )
        self.rows: dict[str, int] = {}
        self.listed: list[str] = []  # the same rows, by their numbers
        self.unit = 0
        self.flow: list[list[tuple[int, int]]] = [[] for _ in speeds]  # of each channel, sources with their rows
        self.lost: dict[int, int] = {}
        self.statements: list[str] = []

    def row(self, runs: str) -> int:
        """Return the number of a row."""
        if runs not in self.rows:
            self.rows[runs] = len(self.listed)
            self.listed.append(runs)
        return self.rows[runs]

    def runs(self, row: int) -> list[tuple[int, int, int]]:
        """Return the runs of a row."""
        return list(obliv_check.runs([*map(int, self.listed[row].split())]))

    def dense(self, row: int) -> list[int]:
        """Return the values of a row at all terminals."""
        return obliv_check.dense([*map(int, self.listed[row].split())], len(self.injection))

    def say(self, *words: Any) -> None:
        """Add a line to the statements; a fraction is two numbers."""
        texts = (f"{word.numerator} {word.denominator}" if isinstance(word, Fraction) else str(word) for word in words)
        self.statements.append(" ".join(filter(None, texts)))

    def matrix(self, dense: Any) -> str:
        """Return a matrix whose values are given for all sources and places."""
        return _matrix((i, self.row(text)) for i, text in enumerate(map(_runs, dense)) if text)

    def amounts(self, rows: Iterable[tuple[int, int, Any]], scale: int, places: int) -> str:
        """Return amounts of sources at places, over a scale, as a matrix."""
        by_source: dict[int, list[int]] = {}
        for s, place, amount in rows:
            by_source.setdefault(s, [0] * places)[place] += int(amount * scale * self.scale)
        return self.matrix(by_source.get(s, []) for s in range(len(self.injection)))

    def traffic(self, rows: Iterable[tuple[int, int, Any]], scale: int) -> None:
        """Add a traffic over a scale; pairs that are lost send nothing."""
        lost = {i: self.dense(row) for i, row in self.lost.items()}
        served = [(s, d, amount) for s, d, amount in rows if s not in lost or not lost[s][d]]
        self.say("traffic", self.amounts(served, scale, len(self.injection)))

    def lines(self) -> Iterator[str]:
        """Yield all lines."""
        topology = self.topology
        yield "obliv-claim 1"
        yield f"about {self.about}"
        yield f"nodes {topology.nodes}"
        ends = zip(topology.tail.tolist(), topology.head.tolist(), self.bandwidth, strict=True)
        yield from (f"channel {tail} {head} {speed}" for tail, head, speed in ends)
        rates = zip(topology.terminals.tolist(), self.injection, self.ejection, strict=True)
        yield from (f"terminal {node} {sends} {receives}" for node, sends, receives in rates)
        yield from (f"row {runs}" for runs in self.rows)
        if self.unit:
            yield f"unit {self.unit}"
            yield from (f"flow {_matrix(pairs)}".rstrip() for pairs in self.flow)
        if self.lost:
            yield f"lost {_matrix(sorted(self.lost.items()))}"
        yield from self.statements
        yield "end"


def _runs(values: Iterable[Any]) -> str:
    """Return the runs of values at the places 0, 1, ..., without those of 0."""
    place, parts = 0, []
    for value, group in groupby(values.tolist() if isinstance(values, np.ndarray) else values):
        count = sum(1 for _ in group)
        if value:
            parts.append(f"{place} {count} {int(value)}")
        place += count
    return " ".join(parts)


def _matrix(pairs: Iterable[tuple[int, int]]) -> str:
    """Return the runs of a matrix: sources, ascending, with the numbers of their rows."""
    runs: list[list[int]] = []
    for source, row in pairs:
        if runs and runs[-1][2] == row and runs[-1][0] + runs[-1][1] == source:
            runs[-1][1] += 1
        else:
            runs.append([source, 1, row])
    return " ".join(map(str, chain.from_iterable(runs)))


def _write_flows(
    text: _Text, routing: Routing, unit: int, check_time: CheckTime, itself: bool = True, left: _Left | None = None
) -> None:
    """Add the flows of a routing in units of 1 / `unit`; those from a terminal to itself only if they count."""
    terminals, n = routing.topology.terminals, len(text.injection)
    terminal, channel = _everything(text) if left is None else left
    flows_of = source_flows(routing, unit, check_time)
    text.unit = unit
    cut = np.ones(n, int)
    cut[terminal] = 0
    for i in np.flatnonzero(cut).tolist():
        text.lost[i] = text.row(_runs(np.arange(n) != i))
    for i, number in enumerate(terminal.tolist()):
        check_time()
        flow = flows_of(i) if itself else flows_of(i).without(i)
        if not i:
            require_memory(40.0 * len(flow.channel) * len(terminals), "the flows of all pairs")
        lost = cut.copy()
        if routing.partial:
            lost[terminal] = (np.diff(flow.ends, prepend=0) == 0) & (terminals != terminals[i])
        if lost.any():
            text.lost[number] = text.row(_runs(lost))
        for c, runs in _by_channel(flow, unit, terminal):
            text.flow[channel[c]].append((number, text.row(runs)))


class _Left(NamedTuple):
    """What is left of the network of a file: the numbers there of terminals and channels."""

    terminal: Array
    channel: Array


def _everything(text: _Text) -> _Left:
    return _Left(np.arange(len(text.injection)), np.arange(len(text.bandwidth)))


def _by_channel(flow: Flow, unit: int, terminal: Array) -> Iterator[tuple[int, str]]:
    """Yield the channels of a flow with the runs of what goes to each destination over them, by its number there."""
    whole = flow.whole[flow.destination]
    small = flow.amount.dtype != object and max(map(int, flow.amount), default=0) * unit < 2**62
    value = (flow.amount if small else flow.amount.astype(object)) * unit
    place = terminal[flow.destination]
    order = np.lexsort((place, flow.channel))
    channel, place, value = flow.channel[order], place[order], (value // whole)[order]
    if not len(order):
        return
    starts = np.flatnonzero(np.append(True, (np.diff(channel) != 0) | (np.diff(place) != 0)))
    channel, place, value = channel[starts], place[starts], np.add.reduceat(value, starts)  # a path may cross twice
    ends = (np.diff(channel) != 0) | (np.diff(place) != 1) | (value[1:] != value[:-1])
    first = np.flatnonzero(np.append(True, ends))
    counts = np.diff(np.append(first, len(place)))
    runs = list(map("{} {} {}".format, place[first].tolist(), counts.tolist(), value[first].tolist()))
    of_run = channel[first]
    cuts = [*np.flatnonzero(np.append(True, np.diff(of_run) != 0)).tolist(), len(runs)]
    for start, end in pairwise(cuts):
        yield int(of_run[start]), " ".join(runs[start:end])


# Worst cases: prices, the same carried along words, and the witness


def _write_worst(text: _Text, claim: Claim, routing: Routing, left: _Left | None = None) -> None:
    """Add the statements of a worst case, whose flows are there already."""
    topology, limit = routing.topology, claim.channel_load
    terminal, channel = _everything(text) if left is None else left
    times = text.unit // claim.denominator
    prices: dict[str, int] = {"": 0}
    inverses = {k: _inverse(np.array(g), topology) for k, g in enumerate(claim.generators) if left is None}
    maps = {k: inverse for k, inverse in inverses.items() if inverse is not None}
    number = {k: place for place, k in enumerate(maps)}
    flows = find(routing, LinkFlows)
    bounds: list[tuple[int, ...]] = [(0,)] * len(text.flow)
    for here, (c, entry) in enumerate(zip(channel.tolist(), claim.channels, strict=True)):
        word: list[int] = []
        price: Any = np.zeros(len(text.ejection), object)
        if entry == "simple":
            price = _simple_prices(text, c, limit)
        elif isinstance(entry, dict) and flows is not None:
            price[terminal] = times * threshold_prices(flows.over(here), entry["threshold"])
        elif left is None and all(step in number for step in entry[1]):
            price, word = times * np.array(claim.duals[entry[0]], object), [number[step] for step in entry[1]]
        else:  # of a part of the network, or along a word that leads over nodes that are not terminals
            price[terminal] = times * Prices(claim, topology, [here], object).of(here)
        bounds[c] = (prices.setdefault(_runs(price), len(prices)), *word)
    text.say("most", limit)
    for runs in prices:
        text.say("price", runs)
    for inverse in maps.values():
        text.say("map", *inverse)
    for bound in bounds:
        text.say("bound", *bound)
    scale = lcm(*(amount.denominator for _, _, amount in claim.witness))
    text.say("attains", limit, channel[claim.channel["id"]], scale)
    text.traffic(((int(terminal[s]), int(terminal[d]), amount) for s, d, amount in claim.witness), scale)


def _inverse(generator: Array, topology: Topology) -> list[int] | None:
    """Return where terminals come from under a permutation of the nodes; None if it does not keep the terminals."""
    image = topology.number_of[generator[topology.terminals]]
    return None if (image < 0).any() else [int(i) for i in np.argsort(image)]


def _simple_prices(text: _Text, c: int, limit: Fraction) -> Array:
    """Return what proves a channel simply: no prices, or the largest loads of all destinations."""
    prices: Array = np.zeros(len(text.ejection), object)
    entries = [(i, text.runs(row)) for i, row in text.flow[c]]
    most = sum(text.injection[i] * max(value for _, _, value in runs) for i, runs in entries)
    for _, runs in entries if most > limit * text.bandwidth[c] * text.unit else ():
        for first, count, value in runs:
            prices[first : first + count] = np.maximum(prices[first : first + count], value)
    return prices


def _close_worst(text: _Text, content: dict[str, Any], routing: Routing, check_time: CheckTime) -> None:
    claim = read_claim(content)
    _write_flows(text, routing, claim.denominator, check_time)
    _write_worst(text, claim, routing)


# Designs: a worst case, and adversaries with potentials for all routings


def _close_design(text: _Text, content: dict[str, Any], topology: Topology, check_time: CheckTime) -> None:
    claimed, certificate = read_design(content)
    if type(claimed).objective == "ratio":
        raise InputError("there are no closed claims of designs of the least ratio: close the ratio of its routing")
    constraints = constraints_of(claimed.constraints)
    if constraints.turns is not None or constraints.hops:
        raise InputError("there are no closed claims of designs with a limit of turns, virtual channels or hops")
    claim = read_claim(certificate["worst"])
    routing = Listed(topology, "design", paths_of(content.get("paths"), topology))
    _write_flows(text, routing, claim.denominator, check_time)
    _write_worst(text, claim, routing)
    _write_least(text, certificate, bounds_of(claimed.channel_load)[0], constraints, check_time)


def _write_least(
    text: _Text, certificate: dict[str, Any], bound: Fraction, constraints: Constraints, check_time: CheckTime
) -> None:
    """Add the lower bound of all routings: every channel's lengths are an adversary's traffic times its weight."""
    topology = text.topology
    n, channels = len(topology.terminals), topology.channels
    require_memory(32.0 * n * n * channels, "the lengths of all pairs and channels")
    carried = carried_lengths(certificate, topology)
    lengths: Array = np.zeros((n, n, channels), np.int64)  # of source, destination and channel
    tables = [array_of(table, "lengths", 3 * n * n).reshape(-1, 3) for table in certificate["load_line"]["lengths"]]
    for c, source in enumerate(carried.source.tolist()):
        image, table = np.argsort(carried.there[c]), tables[source]
        np.add.at(lengths, (image[table[:, 0]], image[table[:, 1]], c), table[:, 2])
    spent = np.concatenate([lengths.sum(axis=1), lengths.sum(axis=0)]).T.tolist()  # of each channel, by all terminals
    rates = [*text.injection, *text.ejection]
    weights = [max(map(Fraction, amounts, rates)) for amounts in spent]
    factor = lcm(*(weight.denominator for weight in weights))
    text.say("least", Fraction(bound))
    for c, weight in enumerate(weights):
        if weight:
            matrix = lengths[:, :, c].astype(object) * factor
            text.say("adversary", c, int(weight * factor), text.matrix(matrix))
    allowed = _allowed(topology, constraints)
    if allowed is not None:
        for of_source in allowed:
            text.say("allowed", text.matrix(of_source.astype(int)))
    closed = topology.nodes * (int(lengths.max(initial=0)) + 1)
    for i, node in enumerate(topology.terminals.tolist()):
        check_time()
        own = lengths[i] if allowed is None else np.where(allowed[i], lengths[i], closed)
        distance = Lengths(topology, own).distances(node)
        most = distance[np.arange(n), topology.terminals]
        text.say("potential", text.matrix(np.minimum(distance, most[:, None]).astype(object) * factor))


def _allowed(topology: Topology, constraints: Constraints) -> Array | None:
    """Return the channels that the paths of each pair may use, by source, destination and channel; None for all."""
    n, allowed = len(topology.terminals), None
    if constraints.within:
        legal = legal_channels(topology, routing_of(constraints.within, topology))
        allowed = np.repeat(legal[None], n, axis=0)
    if constraints.minimal:
        there, back = ways_of(topology, constraints).hops(topology.terminals)
        through = there[:, None, topology.tail] + 1 + back[None][:, :, topology.head]
        shortest = through == there[:, topology.terminals, None]
        allowed = shortest if allowed is None else allowed & shortest
    return allowed


# Ratios: lengths and distances for each channel, and a traffic that some routing can carry


def _close_ratio(text: _Text, content: dict[str, Any], routing: Routing, check_time: CheckTime) -> None:
    if "lengths" in certificate_of(content):
        _close_ratio_on_networks(text, content, routing, check_time)
    else:
        _close_ratio_on_trees(text, read_claim(content), routing, check_time)


def _close_ratio_on_networks(text: _Text, content: dict[str, Any], routing: Routing, check_time: CheckTime) -> None:
    """Write lengths as the certificate has them, over a scale for which their sum is what the ratio allows."""
    topology, claimed, certificate = routing.topology, read_result(content), certificate_of(content)
    _write_flows(text, routing, certificate["denominator"], check_time)
    upper = Fraction(claimed.upper)
    scales, rows = [], []
    for c, row in enumerate(certificate["lengths"]):
        length = array_of(row, "lengths", topology.channels).astype(object)
        paid: Any = sum(int(ell) * speed for ell, speed in zip(length, text.bandwidth, strict=True))
        over = Fraction(paid, text.bandwidth[c]) / upper
        scales.append(over.numerator or 1)
        rows.append(length * over.denominator)
    text.say("ratio", upper)
    lengths = Lengths(topology, np.array(rows))
    users = [dict(pairs) for pairs in text.flow]
    distances: list[list[tuple[int, int]]] = [[] for _ in rows]
    for i, node in enumerate(topology.terminals.tolist()):
        check_time()
        own = lengths.distances(node)
        for c in range(topology.channels):
            if i in users[c]:
                used = text.dense(users[c][i])
                most = max([int(own[c][topology.terminals[j]]) for j, w in enumerate(used) if w and j != i], default=0)
                if most:
                    distances[c].append((i, text.row(_runs(np.minimum(own[c], most)))))
    for scale, row, pairs in zip(scales, rows, distances, strict=True):
        text.say("lengths", scale, _runs(row))
        text.say("distance", _matrix(pairs))
    unit = rational(certificate["unit"])
    flows = array_of(certificate["flows"], "flows", 3 * len(topology.terminals) * topology.channels, -1, 3)
    carrier = [(s, c, int(count) * unit) for s, c, count in flows.tolist()]
    _write_ratio_attained(text, claimed.channel.id, claimed.traffic, carrier)


def _close_ratio_on_trees(text: _Text, claim: Claim, routing: Routing, check_time: CheckTime) -> None:
    """Write the prices of terminals as lengths of the links of hosts: u_i of the link up, v_j of the link down."""
    topology: Any = routing.topology  # a tree, each of whose hosts has one link
    terminals = topology.terminals.tolist()
    _write_flows(text, routing, claim.denominator, check_time, itself=False)
    prices = Prices(claim, topology, list(range(topology.channels)), object)
    up = {int(tail): c for c, tail in enumerate(topology.tail.tolist())}
    down = {int(head): c for c, head in enumerate(topology.head.tolist())}
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    number = {end: c for c, end in enumerate(ends)}
    opposite = [number[head, tail] for tail, head in ends]
    ratio = claim.channel_load
    text.say("ratio", ratio)
    for c, entry in enumerate(claim.channels):
        check_time()
        received = (_simple_prices(text, c, ratio) if entry == "simple" else prices.of(c)).tolist()
        taken = {terminals[j]: int(price) for j, price in enumerate(received) if price}
        length = {down[node]: price for node, price in taken.items()}
        distances, known = [], dict[tuple[int, int], int]()
        for i, runs in ((i, text.runs(row)) for i, row in text.flow[c]):
            node = terminals[i]
            sent = max(0, *(value - min(received[first : first + count]) for first, count, value in runs))
            if sent:
                length[up[node]] = sent
            key = (sent, node if sent or node in taken else -1)  # most sources have the same distances
            if key not in known:
                height = np.full(topology.nodes, sent, object)
                height[list(taken)] += list(taken.values())
                height[[node]] = 0 if key[1] >= 0 else height[[node]]
                known[key] = text.row(_runs(height))
            distances.append((i, known[key]))
        text.say("lengths", claim.denominator, " ".join(f"{e} 1 {length[e]}" for e in sorted(length)))
        text.say("distance", _matrix(distances))
    carrier: list[tuple[int, int, Fraction]] = []
    for s, d, amount in claim.witness:
        top = next(h for h, below in enumerate(topology.below) if s // below == d // below)
        there, back = _splits(topology, terminals[s], top), _splits(topology, terminals[d], top)
        carrier += [(s, link, amount / len(level)) for level in there for link in level]
        carrier += [(s, opposite[link], amount / len(level)) for level in back for link in level]
    _write_ratio_attained(text, claim.channel["id"], claim.witness, carrier)


def _splits(tree: Any, host: int, height: int) -> list[list[int]]:
    """Return the channels over which a host sends in equal parts up to a height, level by level."""
    at, levels = [host], []
    for h in range(height):
        first = tree.children[h - 1] if h else 0  # channels of a node lead down first, then up
        levels.append([int(tree.first_channel[v]) + first + k for v in at for k in range(tree.parents[h])])
        at = [int(tree.head[c]) for c in levels[-1]]
    return levels


def _write_ratio_attained(
    text: _Text, c: int, rows: Iterable[tuple[int, int, Fraction]], carrier: Sequence[tuple[int, int, Fraction]]
) -> None:
    """Add a traffic, the flow of each source that carries it, and the load that it puts on a channel."""
    rows = [(s, d, Fraction(amount)) for s, d, amount in rows if s != d]
    scale = lcm(*(amount.denominator for _, _, amount in (*rows, *carrier)))
    load, used = Fraction(0), {i: text.dense(row) for i, row in text.flow[c]}
    for s, d, amount in rows:
        load += amount * used[s][d] * text.scale / (text.unit * text.bandwidth[c]) if s in used else 0
    text.say("ratio-attained", load, c, scale)
    text.traffic(rows, scale)
    text.say("carrier", text.amounts(carrier, scale, len(text.flow)))


# Bounds of a network: capacity, adaptive and oblivious worst case, bisection


def _close_bounds(text: _Text, content: dict[str, Any], topology: Topology, check_time: CheckTime) -> None:
    claimed, certificate = read_result(content), certificate_of(content)
    n = len(topology.terminals)
    inner = certificate.get("oblivious")
    if isinstance(inner, dict) and inner.get("kind") == "worst":
        _close_worst(text, inner, routing_of(read_claim(inner).routing, topology), check_time)
    elif isinstance(inner, dict):
        _close_design(text, inner, topology, check_time)
    paths = None
    if claimed.capacity is not None:
        lower, upper = map(Fraction, bounds_of(claimed.capacity))
        paths = Listed(topology, "capacity", paths_of(certificate["capacity_paths"], topology))
        whole = paths.listed.whole
        flows_of = source_flows(paths, whole, check_time)
        carrier = [(s, c, load / n) for s in range(n) for _, c, load in flows_of(s).loads()]
        everyone = [(s, d, Fraction(1, n)) for s in range(n) for d in range(n)]
        text.say("carried", upper, whole * n)
        text.traffic(everyone, whole * n)
        text.say("carrier", text.amounts(carrier, whole * n, len(text.flow)))
        _write_blocked(text, lower, everyone, n, lengths_of(certificate["capacity_lengths"], topology, "lengths"))
        if claimed.oblivious is not None and inner is None:
            _write_two_phases(text, paths, 2 * upper, check_time)
    if claimed.adaptive is not None:
        rows = [(s, d, Fraction(1)) for s, d in enumerate(claimed.permutation)]
        lengths = lengths_of(certificate["adaptive_lengths"], topology, "adaptive_lengths")
        _write_blocked(text, Fraction(bounds_of(claimed.adaptive)[0]), rows, 1, lengths)
    if claimed.matching_bound is not None:
        rows = [(s, d, Fraction(1)) for s, d in enumerate(claimed.matching_permutation)]
        _write_blocked(text, Fraction(claimed.matching_bound), rows, 1, [1] * topology.channels)
    if claimed.bisection is not None:
        side = np.zeros(topology.nodes, int)
        side[list(claimed.half)] = 1
        ends = zip(side[topology.tail].tolist(), side[topology.head].tolist(), text.bandwidth, strict=True)
        text.say("cut", sum(speed for tail, head, speed in ends if tail > head))
        text.say("side", _runs(side))


def _write_blocked(
    text: _Text, bound: Fraction, rows: Iterable[tuple[int, int, Fraction]], scale: int, lengths: list[int]
) -> None:
    """Add the bound that lengths prove for every routing of a traffic."""
    terminals = text.topology.terminals.tolist()
    text.say("blocked", bound, scale)
    text.traffic(rows, scale)
    text.say("lengths", 1, _runs(lengths))
    text.say("distance", text.matrix(distances_from(text.topology, lengths, node) for node in terminals))


def _write_two_phases(text: _Text, paths: Listed, bound: Fraction, check_time: CheckTime) -> None:
    """Add the routing that spreads packets over all terminals by some paths, and sends them on by these; and its bound.

    It puts the n-th part of what i sends to all, and of what all send to j, on a channel for the pair (i, j).
    """
    n, channels, whole = len(text.injection), text.topology.channels, paths.listed.whole
    require_memory(60.0 * n * n * channels, "the flows of a routing in two phases")
    flows_of = source_flows(paths, whole, check_time)
    sent, received = np.zeros((2, channels, n), object)
    for i in range(n):
        for j, c, load in flows_of(i).loads():
            sent[c, i] += int(load * whole)
            received[c, j] += int(load * whole)
    text.unit = n * whole
    for c in range(channels):
        text.flow[c] = [(i, text.row(_runs(sent[c, i] + received[c]))) for i in range(n)]
    text.say("most", bound)
    for c in range(channels):
        text.say("price", _runs(received[c]))
    for c in range(channels):
        text.say("bound", c)


# Failures: the worst case before, and after each one what has changed


def _close_failures(text: _Text, content: dict[str, Any], routing: Routing, check_time: CheckTime) -> None:
    certificate, repair = certificate_of(content), read_result(content).repair
    if "claims" not in certificate:
        raise InputError("there are no closed claims of the failures of tables")
    claims = [None if claim is None else read_claim(claim) for claim in certificate["claims"]]
    unit = lcm(*(claim.denominator for claim in claims if claim is not None))
    _write_flows(text, routing, unit, check_time)
    if claims[0] is not None:
        _write_worst(text, claims[0], routing)
    before = [_matrix(pairs) for pairs in text.flow]
    for failed, claim in zip(certificate["failed"], claims[1:], strict=True):
        after = copy(text)  # with the same rows and statements
        after.flow, after.lost, after.statements = [[] for _ in before], {}, []
        removed = np.ones(len(before), int)
        try:
            here = without(text.topology, failed, "largest")
            terminals = text.topology.number_of[np.asarray(here.node_of)[here.terminals]]
            left = _Left(terminals, np.asarray(here.channel_of))
        except NothingLeftError:
            left, claim = _Left(np.zeros(0, int), np.zeros(0, int)), None
        removed[left.channel] = 0
        if claim is None:
            everyone = np.arange(len(text.injection))
            after.lost = {i: text.row(_runs(everyone != i)) for i in everyone.tolist()}
            after.say("most", 0, 1)
            after.say("price")
            after.statements += ["bound 0"] * len(before)
        else:
            routed = routing_of(repair, here)
            _write_flows(after, routed, unit, check_time, left=left)
            _write_worst(after, claim, routed, left)
        text.say("failure")
        text.say("removed", _runs(removed))
        if after.lost != text.lost:
            text.say("lost", _matrix(sorted(after.lost.items())))
        for c, pairs in enumerate(after.flow):
            if _matrix(pairs) != before[c]:
                text.say("changed", c, _matrix(pairs))
        text.statements += after.statements


# What a file is called, and how it is written and checked


def close(
    path: str | os.PathLike[str],
    content: dict[str, Any],
    topology: Topology,
    routing: Routing | None,
    check_time: CheckTime,
) -> Check:
    """Write the closed claim of a saved one, check it with `obliv_check`, and return what that says."""
    kind = str(content.get("kind"))
    if kind not in _WRITERS:
        raise InputError(f"there are no closed claims of the kind {kind!r:.40}, only of {', '.join(_WRITERS)}")
    names = [str(content.get(key, "")) for key in ("routing", "topology")]
    text = _Text(f"{kind}: {' on '.join(filter(None, names))}", topology)
    _WRITERS[kind](text, content, routing if routing is not None else topology, check_time)
    lines = (f"{line}\n".encode("ascii") for line in text.lines())
    with TemporaryDirectory() as folder:  # what is at the path already stays there until the new claim is proved
        draft = Path(folder, "claim.txt.gz" if str(path).endswith(".gz") else "claim.txt")
        with gzip.GzipFile(draft, "wb", 6, mtime=0) if draft.suffix == ".gz" else draft.open("wb") as stream:
            stream.writelines(lines)
        try:
            said = list(obliv_check.check(str(draft), 2**40))
        except (obliv_check.NotProved, obliv_check.Malformed) as error:
            raise InputError(f"no closed claim is written, as it would not be proved: {error}") from None
        with draft.open("rb") as stream:
            write_pieces(Path(path), iter(partial(stream.read, 2**20), b""))
    what = said[0].removeprefix(str(draft))
    return Check("closed", True, f"{path}{what}: the same claim, proved by obliv_check.py too")


def is_closed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a closed claim does."""
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as stream:
            return stream.read(12) == b"obliv-claim "
    except (OSError, ValueError, EOFError, zlib.error):
        return False


def check_closed(path: Path) -> Verification:
    """Check a closed claim by the code of ``obliv_check.py``."""
    require_file(path)
    began, checks, believed = time.perf_counter(), [], ""
    try:
        for sentence in obliv_check.check(str(path)):
            word, _, rest = sentence.partition(": ")
            if word == "believed":
                believed = rest
            elif word == "proved":
                checks.append(Check("statement", True, rest))
            elif word != "about":
                checks.append(Check("network" if checks else "file", True, sentence if checks else rest))
    except obliv_check.NotProved as error:
        checks.append(Check("statement", False, str(error)))
    except obliv_check.Malformed as error:
        raise FileError(str(error), path) from None
    return Verification(
        provenance=provenance({}, time.perf_counter() - began),
        proved=bool(believed),
        claim="the statements of a closed claim, about the network and the flows in it",
        checks=tuple(checks),
        believed=believed,
    )


_WRITERS: dict[str, Callable[[_Text, dict[str, Any], Any, CheckTime], None]] = {
    "worst": _close_worst,
    "worst-channels": _close_worst,
    "ratio": _close_ratio,
    "design": _close_design,
    "bounds": _close_bounds,
    "failures": _close_failures,
}
