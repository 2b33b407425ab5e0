"""The exact worst case of a routing over all admissible traffic: its result, its certificate, and symmetries."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, least_alike, whole
from obliv._util.progress import Progress, require_memory, rising, within
from obliv._util.text import plural
from obliv.errors import InputError
from obliv.loads.base import BoundPrices, ChannelSearch, PairLoads, RoundedPrices, Thresholds, search_channels
from obliv.matching.solve import Flows
from obliv.patterns.base import Traffic, from_flows
from obliv.questions.subject import (
    Subject,
    by_specs,
    exactness_of,
    identity,
    sources_of,
    subject_of,
    with_known_capacity,
)
from obliv.results.base import CERTIFICATE, NO_CAPACITY, NO_LOAD, Channel, Result, share_text, throughput_text, unit_of
from obliv.results.codec import PACKED, Codec, derived, entry, pack, unpack
from obliv.results.numbers import Estimate, inverse, rational, scaled, short
from obliv.routings.base import Routing
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import channel_map
from obliv.topologies.saved import carried

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from obliv._util.rng import Rng


# Symmetries of a routing: verified on its loads, then used to leave most channels out


_CELLS = 2**22  # images that are held at a time
_BYTES = 100.0  # of the maps of a channel


@dataclass(frozen=True, eq=False)
class Orbits:
    """Channels sorted into classes that symmetries carry onto each other.

    ``focus[c]`` is the channel that stands for c; following ``word(c)``, generator by generator, leads from it to c.

    Parameters
    ----------
    topology : Topology
    maps : list of int arrays
        The symmetries, as maps of nodes.
    focus : int array
    """

    topology: Topology
    maps: list[Array]
    focus: Array

    @cached_property
    def generators(self) -> tuple[Array, ...]:
        """The maps with their powers 2, 4, 8 …, so that words stay short."""
        generators: list[Array] = []
        identity = np.arange(self.topology.nodes)
        for g in self.maps:
            power = np.asarray(g)
            for _ in range(self.topology.nodes.bit_length()):
                if np.array_equal(power, identity) or any(np.array_equal(power, known) for known in generators):
                    break
                generators.append(power)
                power = power[power]
        return tuple(generators)

    def word(self, channel: int) -> list[int]:
        """Numbers of the generators that carry the focus channel onto this one, first to last."""
        parent, step = self._tree
        word = []
        while parent[channel] >= 0:
            word.append(int(step[channel]))
            channel = int(parent[channel])
        return word[::-1]

    @cached_property
    def _tree(self) -> tuple[Array, Array]:
        """The channel, and the generator, from which a breadth-first search from all focus channels reaches each."""
        images = _images(self.topology, self.generators)
        parent, step = np.full(len(self.focus), -1, np.int64), np.full(len(self.focus), -1, np.int64)
        seen = self.focus == np.arange(len(self.focus))
        waiting = deque([np.flatnonzero(seen)] if images else [])
        size = max(1, _CELLS // max(1, len(images)))
        while waiting:
            here = waiting.popleft()
            for part in (here[at : at + size] for at in range(0, len(here), size)):
                there = np.stack([image[part] for image in images], axis=1).ravel()
                new = np.flatnonzero(~seen[there])
                there, first = np.unique(there[new], return_index=True)
                order = np.argsort(first)
                reached, place = there[order], new[first[order]]
                seen[reached] = True
                parent[reached], step[reached] = part[place // len(images)], place % len(images)
                if len(reached):
                    waiting.append(reached)
        return parent, step


def verified(loads: PairLoads, symmetry: str, progress: Progress) -> list[Array]:
    """Return the symmetries of a routing, each checked on its pair loads: `auto`, `search` or `off`.

    An automorphism of the topology need not be one of the routing: dimension order on the 5-ary 3-cube is the
    standing example (load 10, not 2).
    """
    if symmetry not in ("auto", "search", "off"):
        raise InputError.naming("{symmetry}={0!r}: choose auto, search or off", symmetry)
    count = loads.topology.channels
    for channel in sorted({0, count // 2})[
        :count
    ]:  # what cannot be solved is refused before its symmetries are checked
        require_memory(loads.memory(np.array([channel])), f"a channel of {loads.topology.spec}")
    if symmetry == "off":
        return []
    require_memory(_BYTES * count, f"checking symmetries of {loads.topology.spec}")
    progress("symmetry", 0.0)
    if symmetry == "auto":
        return loads.symmetries()
    from obliv.questions.subject import automorphisms

    return [g for g in automorphisms(loads) if loads.keeps(g)]


def orbits(topology: Topology, maps: list[Array]) -> Orbits:
    """Sort the channels into classes that the maps carry onto each other; the first channel stands for each class."""
    return Orbits(topology, maps, least_alike(topology.channels, _images(topology, maps)))


def _images(topology: Topology, maps: Iterable[Array]) -> list[Array]:
    """Return the maps of nodes that are automorphisms as maps of channels."""
    moves = (channel_map(topology, np.asarray(g)) for g in maps)
    return [move for move in moves if move is not None]


@by_specs
def worst_case(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    samples: int | None = None,
    rng: Rng = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WorstCase:
    """Return the largest load that any admissible traffic puts on a channel (Towles, section 3).

    Parameters
    ----------
    x : Routing or PairLoads
        What to analyze.
    symmetry : {"auto", "search", "off"}
        ``auto`` uses the topology's own symmetries, ``search`` looks for automorphisms first (needs igraph or
        canonaut), ``off`` solves every channel. Each is used only after it was verified on the pair loads.
    certificate : bool
        Whether to keep what proves the claim for all channels, for :meth:`~obliv.WorstCase.save`.
    samples : int, optional
        Estimate the pair loads from so many random paths per pair, for routings with too many paths to enumerate.
        The result is then an estimate: the traffic found is evaluated again on fresh paths, since a maximum over
        noise is biased upwards; its `interval` holds the worst case in 95 of 100 runs, from 5 samples on.
    rng : numpy.random.Generator or int, optional
        Source of the samples, or its seed; default 0.
    executor : concurrent.futures.Executor, optional
        Solve channels in its workers: processes or threads, Dask, MPI. The result is the same to the bit, certificate
        included, whatever the number of workers; what a worker that dies was working on is computed again. Where
        channels take microseconds each, the calling process solves them all.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    WorstCase
        Exact: integers over a common denominator throughout, no rounding anywhere.

    Raises
    ------
    RoutingError
        If the routing has loops or gaps.
    TooLargeError
        If the pair loads would not fit in memory.

    Notes
    -----
    By Birkhoff's theorem a permutation attains the worst case of a channel, which is a maximum-weight matching of its
    pair loads; where terminals have rates it is a transportation problem and the witness a traffic matrix.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.topology("torus:5x5x5")))
    >>> result.channel_load, result.fraction_of_capacity
    (Fraction(10, 1), Fraction(3, 50))
    """
    return solved_worst_case(
        x,
        symmetry=symmetry,
        certificate=certificate,
        samples=samples,
        rng=rng,
        executor=executor,
        progress=progress,
    )[0]


def worst_traffic(routing: Routing, progress: Progress | None = None) -> Traffic:
    """Return the traffic of the worst case of a routing."""
    result = worst_case(routing, progress=progress)
    pairs = [(s, d, Fraction(1)) for s, d in enumerate(result.permutation or ())]
    flows = {(s, d): rate for s, d, rate in result.traffic or pairs}
    return from_flows(f"the worst traffic of {routing.spec}", len(routing.topology.terminals), flows, Fraction(0))


def solved_worst_case(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    samples: int | None = None,
    rng: Rng = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    inside: bool = False,
    capacity: bool = True,
) -> tuple[WorstCase, ChannelSearch]:
    """Return the worst case as :func:`worst_case`, and the search with the optimum of every channel it solved.

    With `inside` the certificate is part of another one, which has the network; without `capacity`, one that has no
    closed form is left out.
    """
    began = time.perf_counter()
    step = rising(progress)
    if not isinstance(certificate, bool):
        from obliv._util.rationals import boolean  # raises, or takes one of NumPy's

        certificate = boolean(certificate, "certificate")
    if samples is not None and certificate:
        raise InputError("an estimate has no certificate: leave out samples or the certificate")
    random, seed = _chance(samples, rng)
    subject = subject_of(x, "worst_case")
    loads = _loads_of(subject, samples, random, within(step, 0.0, 0.3))
    classes = orbits(loads.topology, verified(loads, symmetry, within(step, 0.3, 0.3)))
    channels = np.unique(classes.focus)
    search = search_channels(loads, channels, prices=certificate, executor=executor, progress=within(step, 0.3, 1.0))
    topology, scale = loads.topology, search.rates.scale
    sources = sources_of(subject)
    claim = _load(loads, search)
    flows, permutation = _traffic(loads, search)
    known = with_known_capacity(topology) if capacity and not inside else topology
    proof = None
    if certificate and search.solution is not None:
        proof = certificate_of(loads, classes, search.prices, claim, search.worst, permutation or (), sources, inside)
        if known.capacity_proof is not None:
            proof["capacity"] = known.capacity_proof
    load: Fraction | Estimate = claim
    if loads.samples is not None and isinstance(subject, Routing) and search.solution is not None:
        from obliv.questions.locality import largest_load

        rates = [(s, d, Fraction(amount, scale)) for s, d, amount in flows]
        load = largest_load(subject, loads.samples, search.worst, rates, claim, random)
    channel, names = named_channel(topology, search.worst)
    result = WorstCase(
        **identity(subject, began, exactness_of(subject, loads.samples), seed),
        subject=x,
        channel_load=load,
        capacity=known.capacity,
        rated=not topology.unit_rates,
        channel=channel,
        permutation=permutation,
        traffic=None if permutation is not None else tuple((s, d, Fraction(amount, scale)) for s, d, amount in flows),
        focus_channels=len(channels),
        certificate=proof,
        names=names,
        terminal_names=_terminal_names(topology),
        crossing=_crossing(loads, search.worst, flows),
    )
    return result, search


def _chance(samples: int | None, rng: Rng) -> tuple[Any, int | None]:
    """Return the generator and, of an estimate, the seed; exact answers draw nothing and load less."""
    if samples is None and rng is None:
        return None, None
    from obliv._util.rng import generator, seed_of

    return generator(rng), None if samples is None else seed_of(rng)


def _loads_of(subject: Routing | PairLoads, samples: int | None, rng: Rng, step: Progress) -> PairLoads:
    if isinstance(subject, Routing):
        return subject.pair_loads(samples, rng, step)
    if samples is not None:
        raise InputError("samples need a routing: pair loads that exist already cannot be sampled")
    if subject.samples is not None:
        raise InputError(
            "these pair loads are estimates: give the routing and samples=, so that fresh paths can be drawn"
        )
    return subject


def worst_load(loads: PairLoads, progress: Progress | None = None) -> Fraction:
    """Return the exact worst channel load of exact pair loads, without the traffic that attains it."""
    step = rising(progress)
    channels = np.unique(orbits(loads.topology, verified(loads, "auto", step)).focus)
    return _load(loads, search_channels(loads, channels, progress=step))


def _load(loads: PairLoads, search: ChannelSearch) -> Fraction:
    """Return the load of the worst channel."""
    if search.solution is None:
        return Fraction(0)
    units = loads.denominator * search.rates.scale
    return Fraction(search.solution.value, units) / loads.topology.bandwidth_of(search.worst)


def _traffic(loads: PairLoads, search: ChannelSearch) -> tuple[Flows, tuple[int, ...] | None]:
    """Return the worst traffic, also as a permutation where rates are 1."""
    flows = [] if search.solution is None else search.solution.shipments()
    if search.solution is None or search.rates.unit:
        return flows, _completed(flows, loads.terminals)
    return flows, None


def _terminal_names(topology: Topology) -> tuple[str, ...]:
    """Return the names of the terminals, nothing where they are their numbers."""
    names = tuple(topology.name_of(node) for node in topology.terminals.tolist())
    return () if names == tuple(map(str, range(len(names)))) else names


def _crossing(loads: PairLoads, channel: int, flows: Flows) -> tuple[tuple[int, int], ...]:
    """Return the pairs of the worst traffic that cross a channel, those that load it most first."""
    if not flows:
        return ()
    source, destination, amount = (whole(list(column)) for column in zip(*flows, strict=True))
    added = loads.between(channel, source, destination).astype(object) * amount
    pairs = list(zip(source.tolist(), destination.tolist(), added.tolist(), strict=True))
    return tuple((s, d) for s, d, load in sorted(pairs, key=lambda pair: -pair[2]) if load)


def named_channel(topology: Topology, channel: int) -> tuple[Channel | None, tuple[str, str]]:
    """Return a channel with its ends, and their names; None where there is no channel (-1)."""
    if channel < 0:
        return None, ("", "")
    tail, head = int(topology.tail[channel]), int(topology.head[channel])
    return Channel(channel, tail, head), (topology.name_of(tail), topology.name_of(head))


def _completed(flows: Flows, terminals: int) -> tuple[int, ...]:
    """Return the flows as a whole permutation; what they leave open carries nothing and is filled in order."""
    image = [-1] * terminals
    for s, d, _ in flows:
        image[s] = d
    open_ends = iter(sorted(set(range(terminals)) - {d for d in image if d >= 0}))
    return tuple(d if d >= 0 else next(open_ends) for d in image)


# The result of a worst-case analysis


_LISTED, _WIDTH = 3, 60  # pairs in the short form, and its characters

#: Flows of a traffic matrix as rows source, destination, amount.
FLOWS: Codec = Codec(
    lambda flows: [[s, d, str(amount)] for s, d, amount in flows],
    lambda rows: tuple((int(s), int(d), rational(amount)) for s, d, amount in rows),
)

#: Pairs of terminals as rows source, destination.
PAIRS: Codec = Codec(pack, lambda data: tuple((int(s), int(d)) for s, d in unpack(data)))


@dataclass(frozen=True)
class WorstPair:
    """A pair of the worst traffic whose packets cross the worst channel.

    Parameters
    ----------
    source, destination : str
        Names of the nodes.
    channel_load : Fraction
        What the pair adds to the load of the channel.
    """

    source: str
    destination: str
    channel_load: Fraction


class WorstTraffic(NamedTuple):
    """The traffic of a worst case as a picture; `heading` and `remarks` as for :class:`obliv.results.base.Bars`."""

    case: WorstCase
    heading: Sequence[str]
    remarks: Sequence[str] = ()


@dataclass(frozen=True, repr=False)
class WorstCase(Result):
    """The exact worst case of a routing: the largest load that admissible traffic puts on a channel.

    Examples
    --------
    >>> import obliv
    >>> obliv.worst_case(obliv.ROMM(obliv.torus(4, 4)))
    worst: romm on torus:4x4
      channel load    3/2 = 1.5
      throughput      2/3 = 0.666667
      of capacity     1/3 = 0.333333
      worst channel   0: (0,0) -> (1,0)
      focus channels  1
      worst traffic   (0,0) -> (1,0), (0,1) -> (2,0), (3,0) -> (1,2)
                      and 2 more pairs over the worst channel
    """

    kind: ClassVar[str] = "worst"
    on_network: ClassVar[bool] = True

    channel_load: Fraction | Estimate = entry(Fraction(0), label="channel load", column="channel_load")

    def __post_init__(self) -> None:
        if isinstance(self.channel_load, Fraction) and self.channel_load < 0:
            raise ValueError(f"the channel load is {self.channel_load}; it must be 0 or more")
        last = len(self.terminal_names or self.permutation or ()) - 1
        if last >= 0 and any(not 0 <= terminal <= last for pair in self.crossing for terminal in pair):
            raise ValueError(f"crossing: terminals must be 0 to {last}")

    @property
    @derived(
        label="throughput",
        text=lambda worst: throughput_text(worst.throughput, worst.rated),
        column="throughput",
        reason=NO_LOAD,
    )
    def throughput(self) -> Fraction | Estimate | None:
        """Guaranteed packets per node and cycle, if `rated` times the rates; None if no channel is loaded."""
        return inverse(self.channel_load)

    @property
    @derived(
        label="of capacity",
        text=lambda worst: share_text(worst.fraction_of_capacity, worst.capacity, worst.topology),
        column="fraction_of_capacity",
        reason=lambda worst: NO_CAPACITY if worst.capacity is None else NO_LOAD,
    )
    def fraction_of_capacity(self) -> Fraction | Estimate | None:
        """Guaranteed throughput divided by that of uniform traffic under the best routing."""
        through = self.throughput
        if self.capacity is None or through is None:
            return None
        return scaled(through, 1 / self.capacity)

    capacity: Fraction | None = entry(None, reason=NO_CAPACITY)
    rated: bool = entry(False, omit=lambda result: not result.rated)
    channel: Channel | None = entry(
        None,
        label="worst channel",
        text=lambda worst: "{}: {} -> {}".format(worst.channel.id, *worst.ends) if worst.channel else "-",
        column="channel",
        reason="the network has no channels",
    )
    names: tuple[str, str] = entry(
        ("", ""), key="channel_names", compare=False, omit=lambda worst: worst.names in (("", ""), worst.numbers)
    )
    permutation: tuple[int, ...] | None = entry(
        None,
        codec=PACKED,
        omit=lambda worst: worst.permutation is None and worst.traffic is None,
        reason="terminals have rates: the witness is a traffic matrix",
    )
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None,
        codec=FLOWS,
        omit=lambda worst: worst.traffic is None,
        label="traffic",
        text=lambda worst: None if worst.traffic is None else f"{len(worst.traffic)} flows",
    )
    focus_channels: int = entry(0, label="focus channels", column="focus_channels")
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda worst: worst.certificate is None, rank=2
    )

    terminal_names: tuple[str, ...] = entry((), key="names", rank=3, omit=lambda worst: not worst.terminal_names)
    crossing: tuple[tuple[int, int], ...] = entry((), codec=PAIRS, rank=3, omit=lambda worst: not worst.crossing)

    @property
    @derived(hidden=True, column="channel_name")
    def channel_name(self) -> str | None:
        """The worst channel by the names of its nodes; None if the network has no channels."""
        return None if self.channel is None else "{} -> {}".format(*self.ends)

    @property
    @derived(hidden=True, column="pairs")
    def pair_names(self) -> str:
        """The pairs of the worst traffic that cross the worst channel, by name, in one line."""
        return "; ".join(f"{source} -> {destination}" for source, destination in self.pairs())

    def worst_traffic(self) -> WorstTraffic:
        """Return what a picture shows."""
        estimated = " (estimated)" if isinstance(self.channel_load, Estimate) else ""
        load = f"worst-case channel load {short(self.channel_load)}{estimated}"
        through = f"throughput {short(self.throughput)}{f' {unit_of(True)}' if self.rated else ''}"
        share = self.fraction_of_capacity
        remarks = [through] if self.throughput is not None else []
        return WorstTraffic(self, ["{subject}", load], remarks if share is None else [f"{short(share)} of capacity"])

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of the worst traffic that cross the worst channel, by name; see :meth:`crossing_pairs`."""
        for source, destination in self.crossing:
            yield self._name(source), self._name(destination)

    def crossing_pairs(self) -> tuple[WorstPair, ...]:
        """Return the pairs of the worst traffic that cross the worst channel, those that load it most first.

        Their loads add up to :attr:`channel_load`.

        Raises
        ------
        InputError
            If the result is an estimate, or was loaded from a file and does not know its routing.

        Examples
        --------
        >>> import obliv
        >>> for pair in obliv.worst_case(obliv.DOR(obliv.line(4))).crossing_pairs():
        ...     print(pair.source, pair.destination, pair.channel_load)
        0 2 1
        1 3 1
        """
        loads = self.subject.pair_loads() if hasattr(self.subject, "pair_loads") else self.subject
        if isinstance(self.channel_load, Estimate) or not hasattr(loads, "weights"):
            raise InputError("the pairs need the exact result of a routing or of pair loads: call worst_case again")
        if self.channel is None or not self.crossing:
            return ()
        weights = loads.weights(self.channel.id).of(*np.array(self.crossing).T).tolist()
        units = loads.denominator * loads.topology.bandwidth_of(self.channel.id)
        amounts = {(s, d): amount for s, d, amount in self.traffic or ()}
        return tuple(
            WorstPair(self._name(s), self._name(d), amounts.get((s, d), 1) * Fraction(weight) / units)
            for (s, d), weight in zip(self.crossing, weights, strict=True)
        )

    def _name(self, terminal: int) -> str:
        return self.terminal_names[terminal] if self.terminal_names else str(terminal)

    def summary(self) -> list[tuple[str, str]]:
        return super().summary() + self._traffic_lines()

    def _traffic_lines(self) -> list[tuple[str, str]]:
        """Return the first pairs over the worst channel, and how many more there are."""
        texts = [f"{source} -> {destination}" for source, destination in islice(self.pairs(), _LISTED)]
        while len(texts) > 1 and len(", ".join(texts)) > _WIDTH:
            texts.pop()
        more = len(self.crossing) - len(texts)
        lines = [("worst traffic", ", ".join(texts))] if texts else []
        return lines + ([("", f"and {plural(more, 'more pair')} over the worst channel")] if more else [])

    @property
    def numbers(self) -> tuple[str, str]:
        """The numbers of the worst channel's ends."""
        return (str(self.channel.tail), str(self.channel.head)) if self.channel else ("", "")

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the worst channel's ends, or their numbers if they have no names."""
        return self.names if any(self.names) else self.numbers


# Certificates of worst cases: prices of the solved channels, and how symmetries carry them to the others


_UNROUNDED = 64  # largest number of price vectors that are not rounded


def certificate_of(
    loads: PairLoads,
    orbits: Orbits,
    prices: dict[int, Array],
    claim: Fraction,
    worst: int,
    permutation: tuple[int, ...],
    sources: tuple[tuple[str, str], ...],
    inside: bool = False,
) -> dict[str, Any]:
    """Return the certificate of a worst case, in the form of saved claims, without its digest."""
    rates = loads.rates
    thresholds, bounding, rounded = find(loads, Thresholds), find(loads, BoundPrices), find(loads, RoundedPrices)
    solved = sorted(prices) if thresholds is None else []
    duals = [prices[c] for c in solved]
    rounds = rates.unit and all(v.dtype != object for v in duals)  # bounds of rounded prices count every terminal once
    if rounds and rounded is not None and len(solved) > _UNROUNDED:
        limits = np.array([0 if c == worst else _limit(loads, c, claim) for c in solved], np.int64)
        duals = list(rounded.of(np.array(solved), np.array(duals), limits))
    number = {c: k for k, c in enumerate(solved)}
    channels: list[Any] = []
    for c in range(loads.topology.channels):
        focus = int(orbits.focus[c])
        if thresholds is not None:
            channels.append({"threshold": thresholds.of(c, rates)})
        elif focus in number:
            channels.append([number[focus], orbits.word(c)])
        elif bounding is not None:
            channels.append([len(duals), []])
            duals.append(bounding.of(c))
        else:
            channels.append("simple")
    same = all(v.dtype != object for v in duals)
    network = None if inside else carried(loads.topology)
    return {
        **({} if network is None else {"network": network}),
        "denominator": loads.denominator if loads.denominator < 2**63 else str(loads.denominator),
        "permutation": list(permutation),
        "duals": pack(np.array(duals)) if same and duals else [pack(whole([int(x) for x in v])) for v in duals],
        "generators": [pack(g) for g in orbits.generators],
        "channels": channels,
        "sources": dict(sources),
    }


def _limit(loads: PairLoads, channel: int, claim: Fraction) -> int:
    """Return the most that a channel may carry by the claim, in units of the numerators."""
    return min(INT64_SAFE, floor(claim * loads.denominator * loads.topology.bandwidth_of(channel)))
