"""Collective operations as phases: what each rank sends to whom before the next phase begins.

Sizes are shares of the vector of a rank, which a reduction combines or an all-to-all exchange splits up.

References
----------
[TRG05] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA
2005.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError

__all__ = [
    "Messages",
    "Phase",
    "all_to_all",
    "binomial",
    "bruck",
    "hierarchical",
    "rabenseifner",
    "recursive_doubling",
    "recursive_halving",
    "ring",
]

#: Source ranks, destination ranks, and sizes as whole numbers over those of the largest message.
Messages = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Phase:
    """Messages that are sent at the same time.

    Parameters
    ----------
    name : str
    messages : callable
        Returns source ranks, destination ranks and sizes, whole numbers.
    unit : int
        The size of the largest message, in those numbers.
    size : Fraction
        The size of the largest message, as a share of a rank's vector.
    times : int
        How often the phase comes, one after another.
    """

    name: str
    messages: Callable[[], Messages]
    unit: int = 1
    size: Fraction = Fraction(1)
    times: int = 1

    @property
    def weight(self) -> Fraction:
        """The data of the phase: times · size."""
        return self.times * self.size


def ring(ranks: int) -> list[Phase]:
    """Ring all-reduce: every rank sends a piece of 1/ranks to the next one, 2 (ranks - 1) times."""
    if ranks < 2:
        return []
    every = np.arange(ranks)
    return [_phase("to the next", every, (every + 1) % ranks, Fraction(1, ranks), 2 * (ranks - 1))]


def all_to_all(ranks: int) -> list[Phase]:
    """Pairwise all-to-all exchange: in phase k every rank sends 1/ranks of its data to the k-th rank after it."""

    def messages(k: int) -> Messages:
        every = np.arange(ranks)
        return every, (every + k) % ranks, np.ones(ranks, np.int64)

    return [Phase(f"shift {k}", partial(messages, k), 1, Fraction(1, ranks)) for k in range(1, ranks)]


def bruck(ranks: int) -> list[Phase]:
    """All-to-all exchange by Bruck: in phase k all data for ranks with bit k in their distance move 2^k ranks on."""
    every = np.arange(ranks)
    phases = []
    for bit in range((ranks - 1).bit_length()):
        share = Fraction(int((every >> bit & 1).sum()), ranks)
        phases.append(_phase(f"shift {1 << bit}", every, (every + (1 << bit)) % ranks, share))
    return phases


def binomial(ranks: int) -> list[Phase]:
    """Broadcast from rank 0 along a binomial tree, the farthest ranks first."""
    phases = []
    for bit in reversed(range((ranks - 1).bit_length())):
        source = np.arange(0, ranks - (1 << bit), 2 << bit)
        phases.append(_phase(f"over {1 << bit}", source, source + (1 << bit)))
    return phases


def recursive_doubling(ranks: int) -> list[Phase]:
    """All-reduce in which rank r exchanges all data with rank r XOR 2^k in phase k; see :func:`_folded`."""
    member, before, after = _folded(ranks)
    return [*before, *(_exchange(member, bit) for bit in range(len(member).bit_length() - 1)), *after]


def recursive_halving(ranks: int) -> list[Phase]:
    """Reduce-scatter in which rank r exchanges half of what it still has, with the farthest of its half first."""
    member, before, after = _folded(ranks, Fraction(1, ranks))
    return [*before, *_halving(member), *after]


def rabenseifner(ranks: int) -> list[Phase]:
    """All-reduce by Rabenseifner: recursive halving, then the same exchanges back to gather all data."""
    member, before, after = _folded(ranks)
    halving = _halving(member)
    back = [replace(phase, name=phase.name.replace("exchange", "gather")) for phase in reversed(halving)]
    return [*before, *halving, *back, *after]


def hierarchical(host_of: Array) -> list[Phase]:
    """All-reduce in two levels: within hosts, which load no cable, then rings of the ranks with one place in hosts.

    Every host needs as many ranks; the rings, one a rail, carry 1/(ranks a host) of the data each.
    """
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


def _phase(name: str, source: Array, destination: Array, size: Fraction = Fraction(1), times: int = 1) -> Phase:
    """Return a phase of equal messages."""
    messages = source, destination, np.ones(len(source), np.int64)
    return Phase(name, lambda: messages, 1, size, times)


def _exchange(member: Array, bit: int, size: Fraction = Fraction(1)) -> Phase:
    return _phase(f"exchange {1 << bit}", member, member[np.arange(len(member)) ^ (1 << bit)], size)


def _halving(member: Array) -> list[Phase]:
    bits = len(member).bit_length() - 1
    return [_exchange(member, bit, Fraction(1 << bit, len(member))) for bit in reversed(range(bits))]


def _folded(ranks: int, result: Fraction = Fraction(1)) -> tuple[Array, list[Phase], list[Phase]]:
    """Return the ranks that take part, a power of two, and phases before and after for the others, as in MPICH.

    Of the first 2 (ranks - 2^k) ranks, the even ones give their data to the odd ones, which return the result.
    """
    power = 1 << ranks.bit_length() - 1
    even = np.arange(0, 2 * (ranks - power), 2)
    member = np.setdiff1d(np.arange(ranks), even)
    if not len(even):
        return member, [], []
    return member, [_phase("fold", even, even + 1)], [_phase("unfold", even + 1, even, result)]
