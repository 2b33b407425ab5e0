"""What the ranks of a job send, phase by phase: collectives, stencils, files of phases; what that puts on channels.

Sizes are shares of the vector of a rank, which a reduction combines or an all-to-all exchange splits up.

References
----------
[TRG05] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA
2005.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm, prod
from pathlib import Path

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array
from obliv._util.files import read_source
from obliv._util.rationals import rational
from obliv._util.text import did_you_mean, lines, printable, shown
from obliv.errors import FileError, InputError
from obliv.fabric.analyses.permutations import factors
from obliv.fabric.jobs.placement import Placement
from obliv.fabric.kernels.automaton import carry, narrowest
from obliv.fabric.routes.routing import FabricRouting
from obliv.kernels import run
from obliv.patterns.standard import equal_sides

#: Source ranks, destination ranks, and sizes as whole numbers over those of the largest message.
Messages = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class MessagePhase:
    """Messages that are sent at the same time."""

    name: str
    messages: Callable[[], Messages]  # returns source ranks, destination ranks and sizes, whole numbers
    unit: int = 1  # the size of the largest message, in those numbers
    size: Fraction = Fraction(1)  # the size of the largest message, as a share of a rank's vector
    times: int = 1  # how often the phase comes, one after another

    @property
    def weight(self) -> Fraction:
        """The data of the phase: times · size."""
        return self.times * self.size


def ring(ranks: int) -> list[MessagePhase]:
    """Ring all-reduce: every rank sends a piece of 1/ranks to the next one, 2 (ranks - 1) times."""
    if ranks < 2:
        return []
    every = np.arange(ranks)
    return [_phase("to the next", every, (every + 1) % ranks, Fraction(1, ranks), 2 * (ranks - 1))]


def all_to_all(ranks: int) -> list[MessagePhase]:
    """Pairwise all-to-all exchange: in phase k every rank sends 1/ranks of its data to the k-th rank after it."""

    def messages(k: int) -> Messages:
        every = np.arange(ranks)
        return every, (every + k) % ranks, np.ones(ranks, np.int64)

    return [MessagePhase(f"shift {k}", partial(messages, k), 1, Fraction(1, ranks)) for k in range(1, ranks)]


def bruck(ranks: int) -> list[MessagePhase]:
    """All-to-all exchange by Bruck: in phase k all data for ranks with bit k in their distance move 2^k ranks on."""
    every = np.arange(ranks)
    phases = []
    for bit in range((ranks - 1).bit_length()):
        share = Fraction(int((every >> bit & 1).sum()), ranks)
        phases.append(_phase(f"shift {1 << bit}", every, (every + (1 << bit)) % ranks, share))
    return phases


def binomial(ranks: int) -> list[MessagePhase]:
    """Broadcast from rank 0 along a binomial tree, the farthest ranks first."""
    phases = []
    for bit in reversed(range((ranks - 1).bit_length())):
        source = np.arange(0, ranks - (1 << bit), 2 << bit)
        phases.append(_phase(f"over {1 << bit}", source, source + (1 << bit)))
    return phases


def recursive_doubling(ranks: int) -> list[MessagePhase]:
    """All-reduce in which rank r exchanges all data with rank r XOR 2^k in phase k; see :func:`_folded`."""
    member, before, after = _folded(ranks)
    return [*before, *(_exchange(member, bit) for bit in range(len(member).bit_length() - 1)), *after]


def recursive_halving(ranks: int) -> list[MessagePhase]:
    """Reduce-scatter in which rank r exchanges half of what it still has, with the farthest of its half first."""
    member, before, after = _folded(ranks, Fraction(1, ranks))
    return [*before, *_halving(member), *after]


def rabenseifner(ranks: int) -> list[MessagePhase]:
    """All-reduce by Rabenseifner: recursive halving, then the same exchanges back to gather all data."""
    member, before, after = _folded(ranks)
    halving = _halving(member)
    back = [replace(phase, name=phase.name.replace("exchange", "gather")) for phase in reversed(halving)]
    return [*before, *halving, *back, *after]


def hierarchical(host_of: Array) -> list[MessagePhase]:
    """All-reduce in two levels: within hosts, which load no cable, then rings of the ranks with one place in hosts."""
    # Every host needs as many ranks; the rings, one a rail, carry 1/(ranks a host) of the data each.
    hosts, place = np.unique(host_of, return_inverse=True)
    counts = np.bincount(place)
    if len(set(counts.tolist())) > 1:
        raise InputError(
            f"hierarchical: hosts have {counts.min()} to {counts.max()} ranks; every host needs the same number"
        )
    local = int(counts[0])
    grid = np.argsort(place, kind="stable").reshape(len(hosts), local)
    share = Fraction(1, local)
    inside = []
    if local > 1:
        source, target = (side.ravel() for side in (grid, np.roll(grid, -1, axis=1)))
        inside = [
            _phase(name, source, target, share, local - 1) for name in ("reduce in the host", "gather in the host")
        ]
    between = []
    if len(hosts) > 1:
        source, target = (side.ravel() for side in (grid, np.roll(grid, -1, axis=0)))
        between = [_phase("ring by rail", source, target, share / len(hosts), 2 * (len(hosts) - 1))]
    return [*inside[:1], *between, *inside[1:]]


def _phase(name: str, source: Array, destination: Array, size: Fraction = Fraction(1), times: int = 1) -> MessagePhase:
    """Return a phase of equal messages."""
    messages = source, destination, np.ones(len(source), np.int64)
    return MessagePhase(name, lambda: messages, 1, size, times)


def _exchange(member: Array, bit: int, size: Fraction = Fraction(1)) -> MessagePhase:
    return _phase(f"exchange {1 << bit}", member, member[np.arange(len(member)) ^ (1 << bit)], size)


def _halving(member: Array) -> list[MessagePhase]:
    bits = len(member).bit_length() - 1
    return [_exchange(member, bit, Fraction(1 << bit, len(member))) for bit in reversed(range(bits))]


def _folded(ranks: int, result: Fraction = Fraction(1)) -> tuple[Array, list[MessagePhase], list[MessagePhase]]:
    """Return the ranks that take part, a power of two, and phases before and after for the others, as in MPICH."""
    # Of the first 2 (ranks - 2^k) ranks, the even ones give their data to the odd ones, which return the result.
    power = 1 << ranks.bit_length() - 1
    even = np.arange(0, 2 * (ranks - power), 2)
    member = np.setdiff1d(np.arange(ranks), even)
    if not len(even):
        return member, [], []
    return member, [_phase("fold", even, even + 1)], [_phase("unfold", even + 1, even, result)]


# Phases from a file: lines of source rank, destination rank and size, under headings


_LONGEST = 40  # characters of a name


def read_phases(path: Path, ranks: int) -> tuple[list[MessagePhase], str]:
    """Read the phases of a job: ``phase NAME [times=N]``, then lines ``SOURCE DESTINATION [SIZE]``; # for comments."""
    # Ranks count from 0; sizes are rationals above 0, by default 1. Lines before the first heading are a phase too.
    text, digest = read_source(path)
    parts: list[tuple[str, int, dict[tuple[int, int], Fraction]]] = []
    for number, line in enumerate(lines(text), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if words[0].lower() == "phase":
            parts.append((*_heading(words[1:], len(parts) + 1, path, number), {}))
            continue
        if not parts:
            parts.append(("phase 1", 1, {}))
        source, target, size = _message(words, ranks, path, number)
        flows = parts[-1][2]
        flows[source, target] = flows.get((source, target), Fraction(0)) + size
    if not any(flows for _, _, flows in parts):
        raise FileError("holds no messages: write lines of source rank, destination rank and size", path)
    return [_phase_of_rows(name, times, flows, path) for name, times, flows in parts], digest


def _heading(words: list[str], number: int, path: Path, line: int) -> tuple[str, int]:
    """Return the name of a phase and how often it comes."""
    times = 1
    if words and words[-1].lower().startswith("times="):
        count = words.pop()[6:]
        if not (count.isascii() and count.isdecimal() and 0 < len(count) < 10 and int(count)):
            raise FileError(f"times={count[:40]}: write a whole number from 1", path, line)
        times = int(count)
    return printable(" ".join(words))[:_LONGEST] or f"phase {number}", times


def _message(words: list[str], ranks: int, path: Path, line: int) -> tuple[int, int, Fraction]:
    """Return source, destination and size of a message."""
    if len(words) not in (2, 3):
        raise FileError(
            "a line has source rank, destination rank and perhaps a size; phases begin with  phase NAME", path, line
        )
    for word in words[:2]:
        if not (word.isascii() and word.isdecimal() and len(word) < 10 and int(word) < ranks):
            raise FileError(f"{shown(word)} is not a rank of the job: its ranks are 0 to {ranks - 1}", path, line)
    if words[0] == words[1]:
        raise FileError(f"rank {words[0]} sends to itself: leave the line out", path, line)
    size = rational(words[2]) if len(words) == 3 else Fraction(1)
    if size is None or size <= 0:
        raise FileError(f"{shown(words[2])} is not a size: write a number above 0, such as 1 or 1/4", path, line)
    return int(words[0]), int(words[1]), size


def _phase_of_rows(name: str, times: int, flows: dict[tuple[int, int], Fraction], path: Path) -> MessagePhase:
    largest = max(flows.values(), default=Fraction(1))
    unit = lcm(*(size.denominator for size in flows.values()))
    if sum(flows.values()) * unit >= INT64_SAFE:
        raise FileError(f"{name}: sizes too fine for 64 bits: round them", path)
    pairs = np.array(list(flows), np.int64).reshape(-1, 2)
    amount = np.array([int(size * unit) for size in flows.values()], np.int64)
    messages = pairs[:, 0], pairs[:, 1], amount
    return MessagePhase(name, lambda: messages, int(largest * unit), largest, times)


# Stencils: ranks on a grid that send to their neighbors, one direction a phase


def stencil(spec: str, ranks: int) -> list[MessagePhase]:
    """Return the phases of ``stencil2d`` or ``stencil3d``, with sides and ``,periodic`` or without."""
    # Rank x + kx·(y + ky·z) is at (x, y, z); in each phase all ranks send to their neighbor in one direction. An axis
    # with one rank has no phases.
    name, _, options = spec.partition(":")
    dims = int(name[-2])
    text, _, more = options.partition(",")
    if text == "periodic":
        text, more = "", text
    example = "x".join(map(str, equal_sides(ranks, dims)))
    if more not in ("", "periodic"):
        raise InputError(f"{shown(spec)}: {shown(more)} is unknown: write {name}:{example},periodic")
    words = text.split("x") if text else example.split("x")
    if len(words) != dims or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise InputError(f"{shown(spec)}: write {dims} sides, such as {name}:{example}")
    sides = [int(word) for word in words]
    if prod(sides) != ranks:
        raise InputError(f"{shown(spec)}: {text} are {prod(sides):,} ranks, the job has {ranks:,}: try {example}")
    return [
        phase
        for axis, stride in enumerate(int(prod(sides[:axis])) for axis in range(dims))
        if sides[axis] > 1
        for phase in _along(axis, stride, sides[axis], ranks, bool(more))
    ]


def _along(axis: int, stride: int, side: int, ranks: int, periodic: bool) -> list[MessagePhase]:
    """Return the phases forth and back along an axis."""
    every = np.arange(ranks)
    at = every // stride % side
    source = every if periodic else every[at < side - 1]
    target = source + np.where(at[source] < side - 1, stride, stride * (1 - side))
    ones = np.ones(len(source), np.int64)
    letter = "xyz"[axis]
    return [
        MessagePhase(f"+{letter}", lambda: (source, target, ones)),
        MessagePhase(f"-{letter}", lambda: (target, source, ones)),
    ]


# What the ranks of a job send, phase by phase


@dataclass(frozen=True, eq=False)
class Pattern:
    """The phases of a job."""

    spec: str
    ranks: int
    phases: Sequence[MessagePhase]
    sources: tuple[tuple[str, str], ...] = ()


#: The patterns without parameters, by name: functions of the number of ranks.
PATTERNS: dict[str, Callable[[int], list[MessagePhase]]] = {
    "ring": ring,
    "recursive-doubling": recursive_doubling,
    "recursive-halving": recursive_halving,
    "rabenseifner": rabenseifner,
    "alltoall": all_to_all,
    "bruck": bruck,
    "binomial": binomial,
}
_OTHERS = ("hierarchical", "stencil2d", "stencil3d", "file")


def pattern_of(spec: str, host_of: Array) -> Pattern:
    """Return the phases of a pattern for ranks on hosts; shapes `host_of` (ranks,)."""
    name, _, options = spec.partition(":")
    ranks = len(host_of)
    if name == "file":
        if not options:
            raise InputError(f"{shown(spec)}: name the file of the phases, as in file:phases.txt")
        phases, digest = read_phases(Path(options), ranks)
        return Pattern(spec, ranks, phases, ((options, digest),))
    if name in ("stencil2d", "stencil3d"):
        return Pattern(spec, ranks, stencil(spec, ranks))
    if name not in PATTERNS and name != "hierarchical":
        raise InputError(f"unknown job pattern {shown(name)}: {did_you_mean(name, [*PATTERNS, *_OTHERS])}")
    if options:
        raise InputError(f"the job pattern {name} has no parameters: leave out {shown(':' + options)}")
    phases = hierarchical(host_of) if name == "hierarchical" else PATTERNS[name](ranks)
    return Pattern(spec, ranks, phases)


# What the phases of jobs put on the channels of a fabric


@dataclass(frozen=True, eq=False)
class JobLoads:
    """Loads of channels in the phases of some jobs, as whole numbers of one unit."""

    routing: FabricRouting
    jobs: tuple[tuple[Placement, Pattern], ...]
    unit: Fraction  # the load that 1 stands for
    scale: int  # a message of the largest size of its phase counts as `scale`, in parts for the rails of its source
    factor: Array  # int64, shape (channels,); what a message of 1 adds to the load of each channel

    @property
    def work(self) -> float:
        """The number of steps that all phases of all jobs take, roughly."""
        several = self.routing.routes.denominator
        return float(sum(30 * place.rails.size * len(pattern.phases) * several for place, pattern in self.jobs))

    def rows(self, job: int) -> Iterator[Array]:
        """Yield the loads of all channels in each phase of a job, int64."""
        placement, pattern = self.jobs[job]
        for phase in pattern.phases:
            yield self.row(placement, phase)

    def row(self, placement: Placement, phase: MessagePhase) -> Array:
        """Return the loads of all channels in a phase."""
        source, destination, amount, _ = self.flows(placement, phase)
        total = np.zeros(len(self.factor), np.int64)
        run(carry, self.work, source, destination, amount, self.routing.routes.arrays, total)
        return total * self.factor

    def flows(self, placement: Placement, phase: MessagePhase) -> tuple[Array, Array, Array, Array]:
        """Return the flows of a phase, with amounts in parts of `scale`; see :func:`flows_of`."""
        source, destination, amount, message = flows_of(placement, phase)
        return source, destination, amount * (self.scale // (phase.unit * placement.rails.shape[1])), message

    def crossing(self, placement: Placement, phase: MessagePhase, channel: int) -> Array:
        """Return the messages of a phase, by number, that use a channel."""
        source, destination, _, message = flows_of(placement, phase)
        load = np.zeros(len(self.factor), np.int64)
        load[channel] = 1
        uses = np.zeros(len(source), np.int64)
        run(narrowest, self.work, source, destination, load, self.routing.routes.arrays, uses)
        return np.unique(message[uses > 0])


def job_loads(routing: FabricRouting, jobs: Sequence[tuple[Placement, Pattern]]) -> JobLoads:
    """Return the loads of jobs; they are computed phase by phase when they are asked for."""
    scale = lcm(*(phase.unit * place.rails.shape[1] for place, pattern in jobs for phase in pattern.phases))
    most = max((place.rails.size for place, _ in jobs), default=1) * scale
    factor, common = factors(routing, most * len(jobs))
    return JobLoads(routing, tuple(jobs), Fraction(1, common * scale), scale, factor)


def flows_of(placement: Placement, phase: MessagePhase) -> tuple[Array, Array, Array, Array]:
    """Return the flows of a phase between terminals; messages within a host are left out."""
    # Shape: (flows,), (flows,), (flows,).
    source, destination, amount = phase.messages()
    apart = np.flatnonzero(placement.host_of[source] != placement.host_of[destination])
    rails = placement.rails.shape[1]
    return (
        placement.rails[source[apart]].ravel(),
        placement.rails[destination[apart]].ravel(),
        np.repeat(amount[apart], rails),
        np.repeat(apart, rails),
    )
