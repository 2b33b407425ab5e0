"""The check of what failures do, failure by failure: sets, lost pairs, credit loops, loads from below and from above.

The load of a row holds iff its witness, a permutation, puts it on a channel after the failure, and no channel can carry
more: each has a cover, terminals that receive and leaves that send, of all pairs that cross it, and a cover admits no
more packets than its terminals take and its leaves send.  Any cover is a bound, so nothing is believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from math import floor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import digest_of
from obliv._util.progress import OutOfTimeError, Progress, TimeLimit
from obliv._util.text import plural
from obliv.checker.report import Report, short
from obliv.checker.rerouted import figures_of, statement_of
from obliv.fabric.checker.routes import After, CheckedRoutes, Failed, among, hops_of, routes_left, routes_of
from obliv.results.claims import MalformedError, array_of
from obliv.results.study import Verification
from obliv.routings.base import Routing
from obliv.topologies.base import Cables, Topology, find, port_names

if TYPE_CHECKING:
    from obliv.questions.failures import FailureRow, Failures


# The certificate of failures: every part is checked for its form before it is used


_CLAIM_KEYS = {"failed", "witness", "witnesses", "prices", "corrections", "sources", "digest"}
_LARGEST = 2**27  # numbers in an array
_Lists = dict[tuple[int, int], Array]


@dataclass(frozen=True, eq=False)
class FailuresClaim:
    """What failures are claimed to do, and the proof; row -1 stands for the network before any failure.

    Parameters
    ----------
    figures : Failures
    failed : list of Failed
        Of every row.
    witness : int array, shape (rows + 1,)
        The number of the witness of each row's load, that of row -1 first; -1 for none.
    channel : int array, shape (witnesses,)
    permutation : int array, shape (witnesses, terminals)
        Traffic that puts the load on the channel.
    prices : dict
        By row and channel: the terminals with a price of 1.
    tables : int array, shape (rows, switches, terminals), or None
        The channels by which switches forward packets after each failure, -1 for none; None where a rule gives them.
    """

    figures: Failures
    failed: list[Failed]
    witness: Array
    channel: Array
    permutation: Array
    prices: _Lists
    sources: dict[str, str]
    digest_holds: bool
    tables: Array | None = None


def read_failures(content: dict[str, Any], topology: Topology) -> FailuresClaim:
    """Read the content of a claim about failures, which has a certificate."""
    certificate = content["certificate"]
    if certificate.keys() - {"tables"} != _CLAIM_KEYS or not isinstance(certificate["sources"], dict):
        raise MalformedError("a certificate of failures has the parts " + ", ".join(sorted(_CLAIM_KEYS)))
    figures = figures_of(content)
    rows, terminals = len(figures.failures), len(topology.terminals)
    channels = _numbers(certificate, "failed", "channels", topology.channels)
    nodes = _numbers(certificate, "failed", "nodes", topology.nodes)
    of_channels = _parts(certificate, "failed", "first_channel", rows, len(channels))
    of_nodes = _parts(certificate, "failed", "first_node", rows, len(nodes))
    channel = _numbers(certificate, "witnesses", "channel", topology.channels)
    permutation = _numbers(certificate, "witnesses", "permutation", terminals)
    if permutation.size != len(channel) * terminals:
        raise MalformedError("witnesses: each needs one destination for every terminal")
    witness = _unpacked(certificate["witness"], "witness")
    if witness.shape != (rows + 1,) or not _within(witness, -1, len(channel)):
        raise MalformedError("witness: each row needs the number of a witness, or -1")
    return FailuresClaim(
        figures=figures,
        failed=[
            Failed(channels[of_channels[k] : of_channels[k + 1]], nodes[of_nodes[k] : of_nodes[k + 1]])
            for k in range(rows)
        ],
        witness=witness,
        channel=channel,
        permutation=permutation.reshape(len(channel), terminals),
        prices=_lists(certificate, "prices", topology, 0) | _lists(certificate, "corrections", topology, rows),
        sources=certificate["sources"],
        digest_holds=certificate["digest"] == digest_of(content),
        tables=_tables(certificate, topology, rows) if "tables" in certificate else None,
    )


def _tables(certificate: dict[str, Any], topology: Topology, rows: int) -> Array:
    """Return the channels by which switches forward packets for terminals in each row, each one that leaves it."""
    switches = np.flatnonzero(topology.number_of < 0)
    table = _unpacked(certificate["tables"], "tables")
    if table.shape != (rows, len(switches), len(topology.terminals)) or not _within(table, -1, topology.channels):
        raise MalformedError("tables: each row needs a channel, or -1, of every switch for every terminal")
    if ((table >= 0) & (topology.tail[table] != switches[None, :, None])).any():
        raise MalformedError("tables: a channel does not leave its switch")
    return table.astype(np.int32)


def _lists(certificate: dict[str, Any], part: str, topology: Topology, rows: int) -> _Lists:
    """Return lists of terminals by row and channel; by row -1 and channel where there are no rows."""
    channel = _numbers(certificate, part, "channel", topology.channels)
    terminal = _numbers(certificate, part, "terminal", len(topology.terminals))
    first = _parts(certificate, part, "first", len(channel), len(terminal))
    row = _numbers(certificate, part, "row", rows) if rows else np.full(len(channel), -1)
    if len(row) != len(channel):
        raise MalformedError(f"{part}: row and channel differ in length")
    keys = zip(row.tolist(), channel.tolist(), strict=True)
    return {key: terminal[first[k] : first[k + 1]] for k, key in enumerate(keys)}


def _parts(certificate: dict[str, Any], part: str, key: str, count: int, size: int) -> Array:
    """Return where each of some parts begins, and where the last one ends."""
    first = _numbers(certificate, part, key, size + 1)
    if len(first) != count + 1 or first[0] != 0 or first[-1] != size or (np.diff(first) < 0).any():
        raise MalformedError(f"{part}: {key} does not divide the list into {count} parts")
    return first


def _numbers(certificate: dict[str, Any], part: str, key: str, below: int) -> Array:
    """Return an array of whole numbers from 0 to less than a limit."""
    parts = certificate[part]
    if not isinstance(parts, dict) or key not in parts:
        raise MalformedError(f"{part}: {key} is missing")
    values = _unpacked(parts[key], f"{part}: {key}")
    flat: Array = values.ravel()
    if not _within(flat, 0, below):
        raise MalformedError(f"{part}: a number of {key} is out of range")
    return flat


def _unpacked(value: Any, name: str) -> Array:
    return array_of(value, name, _LARGEST)


def _within(values: Array, low: int, below: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < below)


# All failures of a kind that a network can have, and their names, from its cables alone


Key = tuple[frozenset[int], frozenset[int]]


def every_set(topology: Topology, of: str) -> set[Key]:
    """Return the channels and the nodes of each failure of a kind."""
    cables = _cables(topology)
    if of == "cables":
        return {(frozenset(cable), frozenset()) for cable in cables}
    if of == "lanes":
        return {(frozenset(c for cable in group for c in cable), frozenset()) for group in _parallel(topology)}
    if of != "switches":
        raise MalformedError(f"of {of[:40]!r} is not cables, lanes, switches or given")
    switches = np.flatnonzero(topology.number_of < 0).tolist()
    at: dict[int, set[int]] = {switch: set() for switch in switches}
    for cable in cables:
        for end in (int(topology.tail[cable[0]]), int(topology.head[cable[0]])):
            at[end].update(cable)
    return {(frozenset(channels), frozenset([switch])) for switch, channels in at.items()}


def is_legal(topology: Topology, failed: Failed) -> bool:
    """Return whether a failure is made of cables between switches, once each, one direction first, and of switches."""
    channels = failed.channels.tolist()
    if len(channels) % 2 or len(set(channels)) < len(channels) or len(set(failed.nodes.tolist())) < len(failed.nodes):
        return False
    ends = np.concatenate([topology.tail[failed.channels], topology.head[failed.channels], failed.nodes])
    between = not (topology.number_of[ends] >= 0).any()
    cables = find(topology, Cables)
    return between and all(
        cables is not None and cables.opposite(c) == d for c, d in zip(channels[::2], channels[1::2], strict=True)
    )


def named_right(topology: Topology, failed: Failed, of: str, name: str) -> bool:
    """Return whether a failure has its name, and its channels are in the order in which ports are replaced."""
    nodes, channels = failed.nodes.tolist(), failed.channels.tolist()
    cables = list(zip(channels[::2], channels[1::2], strict=True))
    if of == "given":  # in the order in which they were named
        outside = [c for c, _ in cables if topology.tail[c] not in nodes and topology.head[c] not in nodes]
        parts = [topology.name_of(node) for node in nodes] + [_cable_name(topology, c) for c in outside]
        return bool(parts) and all(part in name for part in parts)
    if channels[::2] != sorted(channels[::2]):
        return False
    if of == "switches":
        return name == topology.name_of(nodes[0]) and all(topology.tail[c] == nodes[0] for c, _ in cables)
    if any(c > back for c, back in cables):
        return False
    if of == "cables":
        return name == _cable_name(topology, channels[0])
    ends = sorted((int(topology.tail[channels[0]]), int(topology.head[channels[0]])))
    return name == f"{len(cables)} cables {topology.name_of(ends[0])} - {topology.name_of(ends[1])}"


def _cable_name(topology: Topology, channel: int) -> str:
    here, there = port_names(topology, channel)
    tail, head = (topology.name_of(int(end[channel])) for end in (topology.tail, topology.head))
    return f"{tail} {here} - {head} {there}"


def _cables(topology: Topology) -> list[tuple[int, int]]:
    """Return the channels of every cable between two switches."""
    inner = (topology.number_of[topology.tail] < 0) & (topology.number_of[topology.head] < 0)
    inner &= topology.tail != topology.head
    known, cables = find(topology, Cables), []
    for c in np.flatnonzero(inner).tolist():
        back = -1 if known is None else known.opposite(c)
        if back < 0:
            raise MalformedError(f"{topology.spec}: channel {c} has no opposite that belongs to the same cable")
        if c < back:
            cables.append((c, back))
    return cables


def _parallel(topology: Topology) -> list[list[tuple[int, int]]]:
    """Return the cables between each two switches that are joined by several."""
    groups: dict[frozenset[int], list[tuple[int, int]]] = {}
    for cable in _cables(topology):
        ends = frozenset((int(topology.tail[cable[0]]), int(topology.head[cable[0]])))
        groups.setdefault(ends, []).append(cable)
    return [group for group in groups.values() if len(group) > 1]


# Permutations that put a load on a channel, counted after failures by the pairs that these move alone


@dataclass(frozen=True, eq=False)
class ChannelWitness:
    """A permutation of the terminals, and a channel."""

    channel: int
    image: Array  # int, shape (terminals,); the destination of every terminal
    whole: bool  # whether it is a permutation
    own: bool  # whether the channel leaves a terminal
    pairs: Array  # int; its pairs, sorted; for a channel that leaves a terminal, that of this terminal
    crossing: Array  # int; those that cross the channel before a failure

    def packets(self, after: After) -> int:
        """Return how many packets of the permutation cross the channel after a failure."""
        if after.gone[self.channel]:
            return 0
        moved = self.crossing[among(self.crossing, after.moved)]
        if self.own:  # whatever arrives
            return len(self.crossing) - int(np.isin(moved, after.moved[after.arrives], invert=True).sum())
        come = after.come(self.channel) if after.arrives.any() else moved[:0]
        return len(self.crossing) - len(moved) + int(among(come, self.pairs).sum())


def witness_of(routes: CheckedRoutes, channel: int, image: Array) -> ChannelWitness:
    """Return a permutation, in which no terminal has to send to itself, as a witness of what a channel carries."""
    topology, ends = routes.hops.topology, routes.terminals
    senders = np.flatnonzero(image != np.arange(ends))
    source = int(topology.number_of[topology.tail[channel]])
    if source >= 0:
        senders = senders[senders == source]
    pairs = np.sort(routes.hops.row[senders] * ends + image[senders])
    crossing = pairs if source >= 0 else pairs[among(pairs, routes.crossing(channel))]
    whole = bool((np.bincount(image, minlength=ends) == 1).all())
    return ChannelWitness(channel, image, whole, source >= 0, pairs, crossing)


_OWN = "a host's own cable"


def check_failures(
    content: dict[str, Any], topology: Topology, routing: Routing, budget: float, progress: Progress
) -> Verification:
    """Check a claim about failures."""
    report = Report()
    claim = read_failures(content, topology)
    report.note_digest(claim.digest_holds)
    report.note_sources(claim.sources, (*topology.sources, *routing.sources))
    if report.holds and _check_form(report, claim, topology):
        with report.noting("routes"):
            _check_rows(report, claim, topology, routing, TimeLimit(report.began + budget), progress)
    figures = claim.figures
    return report.verification(statement_of(figures), figures.topology, figures.routing, topology.sources)


def _check_form(report: Report, claim: FailuresClaim, topology: Topology) -> bool:
    """Check that the rows are all failures of their kind, once each, under their names and in their order."""
    figures, rows = claim.figures, claim.figures.failures
    keys = [(frozenset(one.channels.tolist()), frozenset(one.nodes.tolist())) for one in claim.failed]
    problem = ""
    wrong = [row.failed for row, failed in zip(rows, claim.failed, strict=True) if not is_legal(topology, failed)]
    if (figures.repair in ("keep", "refill")) != (claim.tables is None):
        problem = f"tables after a failure by {figures.repair[:40]!r} are missing, or not needed"
    elif not topology.unit_rates:
        problem = "terminals have rates"
    elif wrong:
        problem = f"what fails in {wrong[0][:80]!r} is not made of cables between switches and of switches"
    elif figures.of == "given" and len(keys) != 1:
        problem = f"{len(keys)} rows where one failure is given"
    elif figures.of != "given" and (len(set(keys)) < len(keys) or set(keys) != every_set(topology, figures.of)):
        missing = len(every_set(topology, figures.of) - set(keys))
        problem = f"{missing} {figures.of} are missing" if missing else "a failure is listed twice"
    else:
        pairs = zip(rows, claim.failed, strict=True)
        unnamed = [row.failed for row, failed in pairs if not named_right(topology, failed, figures.of, row.failed)]
        if unnamed:
            problem = f"{unnamed[0][:80]!r} is not the name of what fails"
        elif any(one.rank < two.rank for one, two in pairwise(rows)):
            problem = "the rows are not in the order of their ranks"
        elif any(row.alike != 1 for row in rows):
            problem = "a row stands for several failures"
    return report.note("form", not problem, problem or f"all {plural(len(rows), 'failure')}, once each, by rank")


def _check_rows(
    report: Report, claim: FailuresClaim, topology: Topology, routing: Routing, limit: TimeLimit, progress: Progress
) -> None:
    """Check the figures of every row, that of the network before a failure first."""
    figures = claim.figures
    hops = hops_of(routing)
    routes = routes_of(hops)
    bounds = ChannelLimits(routes, {c: terminals for (row, c), terminals in claim.prices.items() if row < 0})
    witnesses = cache(partial(_witness, claim, routes))
    none = After(np.zeros(0, np.int64), np.zeros((0, 0), np.int64), np.zeros(0, np.bool_), bounds.nothing)
    loop, served = routes.has_credit_loop(), int(routes.weight.sum())
    before = figures.before
    first: Any = SimpleNamespace(
        failed="before",
        pairs_lost=before.missing,
        channel_load=before.channel_load,
        channel=before.channel,
        deadlock=before.deadlock,
    )
    wrong = {"lost pairs": "", "credit loops": "", "witness": "", "channels": ""}
    settled = 0
    for number, row in enumerate((first, *figures.failures), -1):
        try:
            limit.check()
        except OutOfTimeError:
            for name, problem in wrong.items():
                if problem:
                    report.note(name, False, problem)
            done = f"{number} of {len(figures.failures)}"
            report.note("failures", None, f"time limit reached after {done}; raise the budget")
            return
        if number < 0:
            after, looping = none, loop
        elif claim.tables is None:
            after = routes.after(claim.failed[number], figures.repair == "refill", loop)
            looping = _loop_after(routes, after, loop, figures.repair == "refill")
        else:
            routes, after = routes_left(replace(hops.tables, channel=claim.tables[number]), claim.failed[number])
            bounds, looping = ChannelLimits(routes, {}), routes.has_credit_loop()
            witnesses = cache(partial(_witness, claim, routes))
        lost = routes.lost(after)
        if lost != row.pairs_lost:
            wrong["lost pairs"] = wrong["lost pairs"] or f"{row.failed}: {lost}, claimed {row.pairs_lost}"
        if row.deadlock is not looping:
            wrong["credit loops"] = wrong["credit loops"] or f"{row.failed}: claimed {row.deadlock}"
        reached = _reached(topology, witnesses, int(claim.witness[number + 1]), after, row)
        wrong["witness"] = wrong["witness"] or (f"{row.failed}: {reached}" if reached else "")
        over, solved = bounds.over(after, row.channel_load, claim.prices, number)
        settled += not solved
        if row.channel_load < 1 and lost < served and not wrong["channels"]:
            wrong["channels"] = f"{row.failed}: a terminal that reaches another one fills its own cable"
        if over >= 0 and not wrong["channels"]:
            text = f"may load channel {over} ({topology.channel_name(over)}) by more than {short(row.channel_load)}"
            wrong["channels"] = f"{row.failed}: admissible traffic {text}"
        progress("failures", (number + 1) / max(1, len(figures.failures)))
    right = {
        "lost pairs": "counted again for every failure",
        "credit loops": "none" if not any(row.deadlock for row in figures.failures) else "found again",
        "witness": f"{plural(len(claim.channel), 'permutation')} put the loads on channels",
        "channels": f"{settled} of {len(figures.failures) + 1} states settled by prices before a failure",
    }
    if claim.tables is not None:
        report.note("tables", True, f"as they stand in the claim; that {figures.repair} computes them is not checked")
        report.beside.append("repair")
    for name, problem in wrong.items():
        report.note(name, not problem, problem or right[name])


def _witness(claim: FailuresClaim, routes: CheckedRoutes, which: int) -> ChannelWitness:
    """Return a witness of a claim on some routes."""
    return witness_of(routes, int(claim.channel[which]), claim.permutation[which])


def _loop_after(routes: CheckedRoutes, after: After, loop: bool, refill: bool) -> bool:
    """Return whether there is a credit loop after a failure; what only loses routes cannot get one."""
    if not loop and not (refill and after.arrives.any()):
        return False
    return loop if not len(after.moved) else routes.has_credit_loop(after)


def _reached(
    topology: Topology, witnesses: Callable[[int], ChannelWitness], which: int, after: After, row: FailureRow
) -> str:
    """Return what is wrong with the witness of a row's load; "" for nothing."""
    if which < 0:
        return "" if row.channel_load == 0 and not row.channel else "there is no witness"
    witness = witnesses(which)
    if not witness.whole:
        return "the witness is not a permutation"
    c = witness.channel
    load = witness.packets(after) / topology.bandwidth_of(c)
    if load != row.channel_load:
        return f"the witness loads channel {c} by {short(load)}, claimed {short(row.channel_load)}"
    tail, head = (int(end[c]) for end in (topology.tail, topology.head))
    here, there = port_names(topology, c)
    name = f"{topology.name_of(tail)} {here} -> {topology.name_of(head)} {there}"
    own = topology.number_of[tail] >= 0 and row.channel == _OWN
    return "" if row.channel == name or own else f"channel {c} is not {row.channel[:80]!r}"


class ChannelLimits:
    """What every channel can carry at most, before and after failures.

    `prices` has the terminals with a price of 1 before a failure, for channels that the simple bound does not settle.
    """

    def __init__(self, routes: CheckedRoutes, prices: dict[int, Array]) -> None:
        topology = routes.hops.topology
        self.routes = routes
        self.nothing = np.zeros(topology.channels, np.bool_)
        self._paid = {c: self._mask(terminals) for c, terminals in prices.items()}
        self._most = np.array([self.least(c, routes.crossing(c)) for c in range(topology.channels)], np.int64)
        self._speed = [topology.bandwidth_of(c) for c in range(topology.channels)]
        self._caps: dict[Fraction, Array] = {}
        self._above: dict[Fraction, Array] = {}

    def over(self, after: After, load: Fraction, prices: dict[tuple[int, int], Array], row: int) -> tuple[int, int]:
        """Return a channel that may carry more than a load after a failure, -1 for none; and how many were solved."""
        solved = 0
        for c in self.unsettled(after, load):
            solved += 1
            paid = prices.get((row, c))
            crossing = self.routes.crossing_after(c, after)
            most = self.least(c, crossing)
            if paid is not None:
                most = min(most, self.routes.cover(crossing, self._mask(paid)))
            if most > load * self._speed[c]:
                return c, solved
        return -1, solved

    def unsettled(self, after: After, load: Fraction) -> list[int]:
        """Return the channels that prices before a failure, with what came to channels, do not keep within a load."""
        cap = self._cap(load)
        if load not in self._above:
            self._above[load] = np.flatnonzero(self._most > cap)
        found = self._above[load]
        if after.arrives.any():
            channels, extra = self._extra(after)
            found = np.union1d(found, channels[self._most[channels] + extra > cap[channels]])
        left: list[int] = found[~after.gone[found]].tolist()
        return left

    def _cap(self, load: Fraction) -> Array:
        """Return the packets by which each channel has a load."""
        if load not in self._caps:
            caps = {speed: floor(load * speed) for speed in set(self._speed)}
            self._caps[load] = np.array([caps[speed] for speed in self._speed], np.int64)
        return self._caps[load]

    def _extra(self, after: After) -> tuple[Array, Array]:
        """Return channels to which pairs came, and how many packets more these can send over each."""
        routes = self.routes
        which, hop = np.nonzero((after.routes >= 0) & after.arrives[:, None])
        channel, pair = after.routes[which, hop], after.moved[which]
        old = (routes.routes[pair] == channel[:, None]).any(axis=1)
        channel, pair = channel[~old], pair[~old]
        channels, number = np.unique(channel, return_inverse=True)
        r, d = np.divmod(pair, routes.terminals)
        rows = np.unique(number * len(routes.size) + r)
        columns = np.unique(number * routes.terminals + d)
        by_row = np.bincount(rows // len(routes.size), routes.size[rows % len(routes.size)], len(channels))
        by_column = np.bincount(columns // routes.terminals, minlength=len(channels))
        return channels, np.minimum(by_row.astype(np.int64), by_column)

    def least(self, channel: int, crossing: Array) -> int:
        """Return the smallest bound of a channel that a simple cover, or its prices before a failure, give."""
        most = self.routes.cover(crossing)
        paid = self._paid.get(channel)
        return most if paid is None else min(most, self.routes.cover(crossing, paid))

    def _mask(self, terminals: Array) -> Array:
        mask: Array = np.zeros(self.routes.terminals, np.bool_)
        mask[terminals] = True
        return mask
