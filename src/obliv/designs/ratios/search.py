"""The oblivious performance ratio of a routing on any network: one linear program a channel, both sides certified."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv._util.cost import Work, announce, forecast, require_memory
from obliv._util.progress import Progress, rising, within
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.analysis.subject import Subject, exactness_of, loads_of, name_of, sources_of, subject_of
from obliv.analysis.worst_case.exact import named_channel
from obliv.designs.minimal import require_connected
from obliv.designs.ratios.bounds import Lengths, Links, Witness, simple_lengths, solved_lengths, witness_of
from obliv.designs.ratios.programme import worst_traffic
from obliv.designs.solver import SolverError, require_solver
from obliv.designs.symmetry import opposite_channels
from obliv.errors import InputError, Interrupted
from obliv.loads.base import PairLoads
from obliv.results import provenance
from obliv.results.analysis.ratio import Ratio
from obliv.results.numbers import float_bounds
from obliv.results.verification import NO_BOUND
from obliv.topologies.carried import carried
from obliv.topologies.maps import channel_map

__all__ = ["network_ratio"]

_SECONDS = 1e-6  # of a program, for a row to the power 1.5


def network_ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the oblivious performance ratio of a routing by linear programming; see :func:`obliv.ratio`.

    Raises
    ------
    InputError
        If the routing leaves pairs out.
    TopologyError
        If some terminals cannot reach each other.
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If the linear programs would not fit in memory.
    """
    began = time.perf_counter()
    step = rising(progress)
    require_solver()
    subject = subject_of(x, "ratio")
    topology = subject.topology
    terminals, channels = len(topology.terminals), topology.channels
    require_memory(
        300.0 * terminals * channels + 8.0 * channels**2,
        f"{topology.spec}: linear programs of up to {terminals:,} × {channels:,} flows",
    )
    require_connected(topology)
    loads = loads_of(subject, "ratio", within(step, 0.0, 0.1)).without_self()
    if loads.partial:
        raise InputError(f"{name_of(subject)} leaves pairs out; the ratio needs a routing that serves all pairs")
    search = _Search(loads, Links(topology))

    def result() -> Ratio:
        return search.result(x, name_of(subject), sources_of(subject), certificate, time.perf_counter() - began)

    try:
        search.run(within(step, 0.1, 1.0))
    except KeyboardInterrupt:
        if search.witness is None:
            raise
        raise Interrupted("the bounds so far", result()) from None
    return result()


@dataclass(eq=False)
class _Search:
    """The best witness and the lengths of every channel so far."""

    loads: PairLoads
    links: Links
    witness: Witness | None = None
    channel: int = -1
    lengths: dict[int, Lengths] = field(default_factory=dict)  # of one channel of every class
    parent: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    maps: list[Array] = field(default_factory=list)
    step: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def run(self, progress: Progress) -> None:
        """Solve the channels that can attain the ratio, those with the largest simple bound first."""
        progress("symmetry", 0.0)
        self.maps = _symmetries(self.loads)
        self.parent, self.step = _carried(self.links.topology.channels, self.maps)
        focus = np.flatnonzero(self.parent < 0).tolist()
        if focus:
            self._announce(focus, progress)
        for channel in focus[:1]:  # compiles what the others use, so that it tells nothing of their time
            self.lengths[channel] = simple_lengths(self.links, self.loads, channel)
        bounding = forecast(within(progress, 0.0, 0.1), f"simple bounds of {plural(len(focus), 'channel')}")
        for k, channel in enumerate(focus[1:], start=1):
            bounding("simple bounds", (k - 1) / len(focus))
            self.lengths[channel] = simple_lengths(self.links, self.loads, channel)
        order = sorted(focus, key=lambda channel: -self.lengths[channel].bound)
        for k, channel in enumerate(order):
            progress(f"linear programs, {len(order)} channels", 0.1 + 0.9 * k / len(order))
            if self.witness is None or self.lengths[channel].bound > self.witness.load:
                self._solve(channel)

    def _announce(self, focus: list[int], progress: Progress) -> None:
        """Announce what the programs of some channels may take; that of the busiest has about the most rows."""
        topology, totals = self.links.topology, self.loads.totals()
        source, destination, _ = self.loads.weights(max(focus, key=totals.__getitem__)).spread()
        flows = min(len(np.unique(source)), len(np.unique(destination)))
        rows = flows * topology.nodes + topology.channels
        announce(
            progress,
            f"up to {plural(len(focus), 'linear program')} of {topology.spec}, some {rows:,} rows and "
            f"{flows * topology.channels:,} columns each",
            Work(_SECONDS * rows**1.5 * len(focus)),
        )

    def _solve(self, channel: int) -> None:
        loads, links = self.loads, self.links
        numerators = loads.on_channel(channel).toarray()
        unit = loads.denominator * float(links.relative[channel])
        worst = worst_traffic(links.topology, links.relative, numerators / unit)
        lengths = solved_lengths(links, loads, channel, worst.lengths)
        if lengths is not None and lengths.bound < self.lengths[channel].bound:
            self.lengths[channel] = lengths
        if self.witness is None or worst.value > float(self.witness.load) * (1 - 1e-9):
            witness = witness_of(links, loads, channel, worst)
            if witness is not None and (self.witness is None or witness.load > self.witness.load):
                self.witness, self.channel = witness, channel

    def result(
        self, subject: Any, routing: str, sources: tuple[tuple[str, str], ...], certificate: bool, seconds: float
    ) -> Ratio:
        """Return what is proved so far."""
        if self.witness is None:
            raise SolverError("the flows of the linear program carry no traffic; report this network")
        topology = self.links.topology
        lower, upper = self.witness.load, max(lengths.bound for lengths in self.lengths.values())
        place, names = named_channel(topology, self.channel)
        return Ratio(
            topology=topology.spec,
            routing=routing,
            provenance=provenance(
                {"topology": topology.spec, "routing": routing},
                seconds,
                "bounded" if lower < upper else exactness_of(self.loads, None),
                sources=sources,
            ),
            subject=subject,
            ratio=float_bounds(lower, upper),
            channel=place,
            names=names,
            traffic=self.witness.traffic,
            lower_bound_source=NO_BOUND["network"],
            certificate=self._certificate(self.witness, dict(sources)) if certificate else None,
        )

    def _certificate(self, witness: Witness, sources: dict[str, str]) -> dict[str, Any]:
        channels = self.links.topology.channels
        table = np.zeros((channels, channels), np.int64)
        for channel in range(channels):
            focus, word = channel, []
            while self.parent[focus] >= 0:
                word.append(self.maps[self.step[focus]])
                focus = int(self.parent[focus])
            length = self.lengths[focus].length
            for images in reversed(word):
                moved = np.empty_like(length)
                moved[images] = length
                length = moved
            table[channel] = length
        network = carried(self.links.topology)
        return {
            **({} if network is None else {"network": network}),
            "denominator": self.loads.denominator,
            "lengths": [pack(row) for row in table],
            "flows": pack(witness.flows),
            "unit": str(witness.unit),
            "sources": sources,
        }


def _symmetries(loads: PairLoads) -> list[Array]:
    """Return maps of the channels under which the routing is the same, each checked on its loads."""
    topology = loads.topology
    nodes = [np.asarray(g) for g in (*topology.generators, *topology.translations)]
    maps = [channel_map(topology, g) for g in nodes if loads.keeps(g)]
    opposite = opposite_channels(topology)
    if opposite is not None and _reversible(loads, opposite):
        maps.append(opposite)
    return [images for images in maps if images is not None]


def _reversible(loads: PairLoads, opposite: Array) -> bool:
    """Return whether every pair loads each channel as the opposite pair loads the opposite channel."""
    for channel, other in enumerate(opposite.tolist()):
        one, two = loads.on_channel(channel), loads.on_channel(other)
        if channel <= other and (one != two.T).nnz:
            return False
    return True


def _carried(count: int, maps: list[Array]) -> tuple[Array, Array]:
    """Return, for every channel, the channel and the map that lead to it; −1 for the first channel of each class."""
    parent, step = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    reached = np.zeros(count, bool)
    for first in range(count):
        waiting = [] if reached[first] else [first]
        reached[first] = True
        while waiting:
            channel = waiting.pop()
            for k, images in enumerate(maps):
                image = int(images[channel])
                if not reached[image]:
                    reached[image] = True
                    parent[image], step[image] = channel, k
                    waiting.append(image)
    return parent, step
