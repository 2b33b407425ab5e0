"""The check of colliding flows: the law of the largest load counted again, flow by flow, in whole numbers.

Flows that may cross a channel in common belong to one part; parts are independent.  In a part the flows are taken one
after another, and for each state, what channels can still take, the number of draws that lead there is kept.  Where a
part has too many states nothing is proved, and the check says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from obliv._util.progress import OutOfTimeError, Progress, TimeLimit
from obliv._util.text import plural
from obliv.checker.recounted import rates_of
from obliv.checker.report import OUT_OF_TIME, Report, proves, read_result, short
from obliv.errors import TooLargeError
from obliv.patterns.base import Traffic
from obliv.results.claims import MalformedError
from obliv.results.study import Verification
from obliv.topologies.base import Topology, heights_of

if TYPE_CHECKING:
    from obliv.questions.collisions.collisions import Collisions

__all__ = ["check_collisions"]

_CELLS = 1 << 22  # numbers in the states of a part at a time
_PATHS = 1 << 12  # of a pair
_FLOWS = 1 << 12  # of a pair
_LOADS = 4096
_RARE = Fraction(1, 10**6)  # rows are left out where a load is rarer, or as nearly certain

_Part = list[tuple[int, list[tuple[tuple[tuple[int, int], ...], int]]]]  # of each pair: flows, and adds with odds


def check_collisions(
    content: dict[str, Any], topology: Topology, traffic: Traffic, budget: float, progress: Progress
) -> Verification:
    """Check the distribution of the largest load under hashed paths."""
    claim: Collisions = read_result(content)
    right = claim.to_dict()
    for key in ("mean", "quantiles", "distribution", "even_load", "needed"):
        if content.get(key) != right.get(key):
            raise MalformedError(f"{key}: a figure differs from its exact number")
    if claim.hash not in ("independent", "polarised") or claim.among not in ("all", "up", "down", "leaf-up"):
        raise MalformedError("hash or among is not one that there is")
    counts = [claim.flows, *(flows for row in claim.needed for flows in (row.enough, row.too_few) if flows is not None)]
    if min(counts) < 1:
        raise MalformedError("flows is out of range")
    chances = [row.probability for row in claim.quantiles] + [row.probability for row in claim.needed]
    if claim.method not in ("exact", "bounds") or not all(0 <= chance <= 1 for chance in chances):
        raise MalformedError("method is not one that there is, or a probability is not from 0 to 1")
    for rows in (claim.quantiles, claim.needed):
        if len(set(rows)) < len(rows):
            raise MalformedError("a quantile or what is needed is listed twice")
    if not claim.quantiles:
        raise MalformedError("it has no quantiles")
    report, sources = Report(), (*topology.sources, *traffic.sources)
    report.note_sources(claim.provenance.sources, sources)
    limit = TimeLimit(report.began + budget)
    try:
        if max(counts) > _FLOWS:
            raise TooLargeError(f"more than {_FLOWS:,} flows a pair are not followed")
        draws = _Draws(topology, traffic, claim, limit)
        law = _Law(draws, claim.flows, limit)
        _check_figures(report, claim, draws, law, progress)
        for row in claim.needed:
            for flows, wanted in ((row.enough, True), (row.too_few, False)):
                if flows is not None:
                    held = _Law(draws, flows, limit).within(row.load) >= row.probability
                    text = f"{plural(flows, 'flow')} a pair: at most {short(row.load)} with {short(row.probability)}"
                    report.note("guarantee", held is wanted, text if wanted else f"not {text}")
    except OutOfTimeError:
        report.note("distribution", None, OUT_OF_TIME)
    except TooLargeError as error:
        report.note("distribution", None, str(error))
    if claim.sampled_mean is not None:
        report.note("samples", True, "estimates, not checked")
    return report.verification(
        f"the distribution of the largest load, {plural(claim.flows, 'flow')} a pair of {claim.traffic}",
        claim.topology,
        claim.routing,
        sources,
    )


def _check_figures(report: Report, claim: Collisions, draws: _Draws, law: _Law, progress: Progress) -> None:
    """Check the rows, whether some are missing, the mean, the quantiles and the load of even splits."""
    loads = law.loads
    fits = []
    for done, load in enumerate(loads):
        progress("distribution", done / len(loads))
        fits.append(law.within(load))
    over = [Fraction(1), *(1 - each for each in fits[:-1])]  # of at least each load
    wrong = ""
    for row in claim.distribution:
        at = bisect_left(loads, row.load)
        right = over[at] if at < len(loads) else Fraction(0)
        if not proves(right, right, row.probability) and not wrong:
            wrong = f"{short(row.load)} or more has the probability {short(right)}"
    listed = {row.load for row in claim.distribution}
    ahead = [*over[1:], Fraction(0)]
    for load, chance, after in zip(loads, over, ahead, strict=True):
        if _RARE <= chance <= 1 - _RARE and chance != after and load not in listed and not wrong:
            wrong = f"the row of {short(load)} is missing"
    if any(one.load >= two.load for one, two in pairwise(claim.distribution)):
        wrong = wrong or "rows are not in the order of their loads"
    rows = plural(len(claim.distribution), "row")
    report.note("distribution", not wrong, wrong or f"{rows} of {plural(len(loads), 'load')}, counted again")
    mean = loads[0] + sum((two - one) * (1 - fit) for (one, two), fit in zip(pairwise(loads), fits, strict=False))
    report.note("mean", proves(mean, mean, claim.mean), short(mean))
    for quantile in claim.quantiles:
        right = next((load for load, fit in zip(loads, fits, strict=True) if fit >= quantile.probability), loads[-1])
        if not proves(right, right, quantile.load):
            report.note("quantiles", False, f"that of {short(quantile.probability)} is {short(right)}")
            break
    else:
        report.note("quantiles", True, plural(len(claim.quantiles), "quantile"))
    report.note("even splits", claim.even_load == draws.even, short(draws.even))


class _Draws:
    """The pairs that send, with their rates, and the paths of each with their odds."""

    def __init__(self, topology: Topology, traffic: Traffic, claim: Collisions, limit: TimeLimit) -> None:
        self.topology = topology
        self.polarised = claim.hash == "polarised"
        self.kept = _kept(topology, claim.among)
        self.out: list[list[int]] = [[] for _ in range(topology.nodes)]
        self.into: list[list[int]] = [[] for _ in range(topology.nodes)]
        self.head, self.tail = topology.head.tolist(), topology.tail.tolist()
        for c in range(topology.channels):
            self.out[self.tail[c]].append(c)
            self.into[self.head[c]].append(c)
        by_destination: dict[int, list[tuple[int, Fraction]]] = {}
        for s, sent in rates_of(traffic).items():
            for d, rate in sent.items():
                if rate and s != d:
                    by_destination.setdefault(d, []).append((s, rate))
        self.pairs: list[tuple[Fraction, list[tuple[tuple[int, ...], Fraction]]]] = []
        terminals = topology.terminals.tolist()
        for d, senders in by_destination.items():
            limit.check()
            away = self._away(terminals[d])
            for s, rate in senders:
                self.pairs.append((rate, self._paths(terminals[s], away)))

    @cached_property
    def even(self) -> Fraction:
        """The largest load if every pair is split evenly."""
        load: dict[int, Fraction] = {}
        for rate, paths in self.pairs:
            for channels, chance in paths:
                for c in channels:
                    load[c] = load.get(c, Fraction(0)) + rate * chance / self.topology.bandwidth_of(c)
        return max(load.values(), default=Fraction(0))

    def _away(self, destination: int) -> list[int]:
        """Return the hops from each node to a destination."""
        away = [-1] * self.topology.nodes
        away[destination] = 0
        waiting = deque([destination])
        while waiting:
            node = waiting.popleft()
            for c in self.into[node]:
                if away[self.tail[c]] < 0:
                    away[self.tail[c]] = away[node] + 1
                    waiting.append(self.tail[c])
        return away

    def _paths(self, source: int, away: list[int]) -> list[tuple[tuple[int, ...], Fraction]]:
        """Return the channels that count of each path, and its odds."""

        def onward(node: int) -> list[int]:
            return [c for c in self.out[node] if away[self.head[c]] == away[node] - 1]

        found: dict[tuple[int, ...], Fraction] = {}
        for channels, chance in self._drawn(source, away, onward):
            counted = tuple(c for c in channels if self.kept is None or self.kept[c])
            found[counted] = found.get(counted, Fraction(0)) + chance
        return list(found.items())

    def _drawn(
        self, source: int, away: list[int], onward: Callable[[int], list[int]]
    ) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield all paths with their odds."""
        paths: list[tuple[int, tuple[int, ...], Fraction]] = [(source, (), Fraction(1))]
        nodes = {source}
        for _ in range(away[source]):
            longer = []
            for node, channels, chance in paths:
                ahead = onward(node)
                longer += [(self.head[c], (*channels, c), chance / len(ahead)) for c in ahead]
            paths = longer
            nodes |= {node for node, _, _ in paths}
            if len(paths) > _PATHS:
                raise TooLargeError(f"a pair has more than {_PATHS:,} shortest paths: its flows are not followed")
        if not self.polarised:
            yield from ((channels, chance) for _, channels, chance in paths)
            return
        values = lcm(*(len(onward(node)) or 1 for node in nodes))
        if values > _PATHS:
            raise TooLargeError(f"a polarised hash of more than {_PATHS:,} values is not followed")
        for value in range(values):
            node, channels = source, ()
            while away[node]:
                ahead = onward(node)
                c = ahead[value % len(ahead)]
                node, channels = self.head[c], (*channels, c)
            yield channels, Fraction(1, values)


class _Law:
    """The law of the largest load, in whole steps."""

    def __init__(self, draws: _Draws, flows: int, limit: TimeLimit) -> None:
        self._limit = limit
        topology = draws.topology
        speeds = {c: topology.bandwidth_of(c) for _, paths in draws.pairs for channels, _ in paths for c in channels}
        shares = {rate / flows for rate, _ in draws.pairs}
        units = [share / speed for share in shares for speed in set(speeds.values())]
        self._scale = lcm(*(unit.denominator for unit in units)) if units else 1
        self._base: dict[int, int] = {}
        self._known: dict[Any, int] = {}
        random: list[tuple[list[tuple[tuple[tuple[int, int], ...], int]], int]] = []
        most: dict[int, int] = {}
        steps: dict[int, int] = {}
        for rate, paths in draws.pairs:
            sure = set(paths[0][0]).intersection(*(channels for channels, _ in paths))
            common = lcm(*(chance.denominator for _, chance in paths))
            adds = {c: int(rate / flows / speeds[c] * self._scale) for channels, _ in paths for c in channels}
            for c, add in adds.items():
                target = self._base if c in sure else most
                target[c] = target.get(c, 0) + flows * add
                if c not in sure:
                    steps[c] = gcd(steps.get(c, 0), add)
            options = [
                (tuple((c, adds[c]) for c in channels if c not in sure), int(chance * common))
                for channels, chance in paths
            ]
            if len(options) > 1:
                random.append((options, common))
        for c in most:
            self._base.setdefault(c, 0)
        self._parts = [(part, total) for part, total in _parts(random, flows)]
        least = max(self._base.values(), default=0)
        found = {least}
        for c, some in most.items():
            if some // steps[c] > _LOADS:
                raise TooLargeError(f"a channel can have more than {_LOADS:,} loads: they are not counted")
            found |= {load for load in range(self._base[c], self._base[c] + some + 1, steps[c]) if load > least}
        if len(found) > _LOADS:
            raise TooLargeError(f"the largest load can have more than {_LOADS:,} values: they are not counted")
        #: All values that the largest load may have.
        self.loads = [Fraction(load, self._scale) for load in sorted(found)]

    def within(self, load: Fraction) -> Fraction:
        """Return the probability that no channel has more than a load."""
        most = load * self._scale // 1
        if any(base > most for base in self._base.values()):
            return Fraction(0)
        chance = Fraction(1)
        for part, total in self._parts:
            chance *= Fraction(self._count(part, int(most)), total)
        return chance

    def _count(self, part: _Part, most: int) -> int:
        """Return in how many ways the flows of a part can be drawn such that no channel has more than a load."""
        number: dict[int, int] = {}
        rows = []
        for flows, options in part:
            some = []
            for adds, ways in options:
                some.append((tuple((number.setdefault(c, len(number)), add) for c, add in adds), ways))
            rows.append((flows, tuple(some)))
        room = tuple(most - self._base[c] for c in number)
        key = (tuple(rows), room)
        if key not in self._known:
            self._known[key] = self._followed(rows, room)
        return self._known[key]

    def _followed(self, rows: list[tuple[int, tuple[Any, ...]]], room: tuple[int, ...]) -> int:
        ahead = [0] * len(room)  # what may still come to each channel
        for flows, options in rows:
            for c, add in {each for adds, _ in options for each in adds}:
                ahead[c] += flows * add
        states = {tuple(min(have, come) for have, come in zip(room, ahead, strict=True)): 1}
        for flows, options in rows:
            each = {pair for adds, _ in options for pair in adds}
            for _ in range(flows):
                self._limit.check()
                for c, add in each:
                    ahead[c] -= add
                after: dict[tuple[int, ...], int] = {}
                for state, count in states.items():
                    for adds, ways in options:
                        left = list(state)
                        for c, add in adds:
                            left[c] -= add
                        if any(left[c] < 0 for c, _ in adds):
                            continue
                        for c, _ in each:  # what it has beyond what may come makes no difference
                            left[c] = min(left[c], ahead[c])
                        new = tuple(left)
                        after[new] = after.get(new, 0) + count * ways
                states = after
                if len(states) * len(room) > _CELLS:
                    raise TooLargeError(f"more than {len(states):,} states of flows that share channels: not counted")
        return sum(states.values())


def _parts(random: list[tuple[list[Any], int]], flows: int) -> Iterator[tuple[_Part, int]]:
    """Yield the pairs that may meet on a channel, directly or by way of others, and the number of all their draws."""
    at: dict[int, list[int]] = {}
    for pair, (options, _) in enumerate(random):
        for c in {c for adds, _ in options for c, _ in adds}:
            at.setdefault(c, []).append(pair)
    seen: set[int] = set()
    for first in range(len(random)):
        if first in seen:
            continue
        seen.add(first)
        part, waiting, total = [], deque([first]), 1
        while waiting:
            pair = waiting.popleft()
            options, common = random[pair]
            part.append((flows, options))
            total *= common**flows
            for c in sorted({c for adds, _ in options for c, _ in adds}):
                for other in at.pop(c, []):
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
        yield part, total


def _kept(topology: Topology, among: str) -> list[bool] | None:
    """Return which channels count; None for all."""
    if among == "all":
        return None
    heights = heights_of(topology)
    if heights is None:
        raise MalformedError(f"{topology.spec} has no levels, which among needs")
    height = heights.tolist()
    tails, heads = ([height[v] for v in end.tolist()] for end in (topology.tail, topology.head))
    ends = list(zip(tails, heads, strict=True))
    if among == "down":
        return [head < tail for tail, head in ends]
    leaf = min((height[v] for v in topology.terminals.tolist()), default=0) + 1
    return [head > tail and (among == "up" or tail == leaf) for tail, head in ends]
