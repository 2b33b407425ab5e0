"""Frames, groups, sessions and sets of both algorithms; degrees of dependency graphs, and the clock of the waves.

Levels are cut into frames of lambda levels, frames into groups of gamma' frames.  Set i of the packets travels as wave
i: in phase 2i - 1 + j (phases count from 1) it is at frame j of its group, j from 0.  All groups of a session run at
once; session 2 has its groups half a group higher and follows session 1.

References
----------
[BKM04] C. Busch, S. Kelkar and M. Magdon-Ismail, "Efficient Bufferless Routing on Leveled Networks", 2004, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.progress import require_memory
from obliv._util.text import did_you_mean
from obliv.bufferless.kernels.boats import ROUTE, RideRule
from obliv.bufferless.leveled.instances import Instance
from obliv.errors import InputError, OptionError


@dataclass(frozen=True)
class Constants:
    """Constants of a run.

    ``lam``: levels of a frame; ``s``: sets; ``gamma``: frames of a group; of the distributed algorithm also ``chi``:
    boats; ``xi``: rounds of a sub-phase; ``tau``: moves of half a round.
    """

    lam: int
    s: int
    gamma: int
    chi: int = 0
    xi: int = 0
    tau: int = 0


@dataclass(frozen=True, eq=False)
class Places:
    """The frames of packets.

    Parameters
    ----------
    session : int array
        1 or 2.
    first : int array
        The first frame of the packet's group, counted from the network's first.
    source, destination : int array
        The frames of the two ends, counted from the group's first: at least 0, less than gamma'.
    """

    session: Array
    first: Array
    source: Array
    destination: Array


def lg(instance: Instance) -> int:
    """Return the binary logarithm of D N, rounded up, at least 1."""
    return (max(2, instance.dilation * instance.packets) - 1).bit_length()


def group_frames(dilation: int, lam: int) -> int:
    """Return gamma', the frames of a group: even, and half of them hold the longest path."""
    return 2 * max(1, -(-dilation // lam))


def phases(s: int, gamma: int) -> int:
    """Return the phases of a session in the paper, 2s + gamma' - 1; the last one is idle."""
    return 2 * s + gamma - 1


def centralized_constants(instance: Instance) -> Constants:
    """Return the paper's constants of the centralized algorithm, alpha = 3, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> from obliv.bufferless.leveled.families import array
    >>> centralized_constants(Instance(array(3), np.array([0, 2, 3]), np.array([0, 1, 1])))
    Constants(lam=24, s=131, gamma=2, chi=0, xi=0, tau=0)
    """
    alpha = 3
    lam = 4 * alpha * lg(instance)
    s = math.ceil(8 * alpha * math.e * max(1, instance.congestion))
    return Constants(lam, s, group_frames(instance.dilation, lam))


def distributed_constants(instance: Instance) -> Constants:
    """Return the paper's constants of the distributed algorithm, alpha = 12, rounded up."""
    alpha = 12
    lam = 4 * alpha * lg(instance)
    chi = 2 * lam // alpha
    s = math.ceil(8 * alpha * math.e * max(1, instance.congestion))
    return Constants(lam, s, group_frames(instance.dilation, lam), chi, 2 * lg(instance), 2 * (lam + chi - 1))


def assign(level: Array, length: Array, lam: int, gamma: int) -> Places:
    """Return session, group and frames of every packet.

    Parameters
    ----------
    level, length : int array
        The level where each packet begins and how many edges its path has.
    lam, gamma : int
        Levels of a frame, even; frames of a group, even, half of them holding the longest path.

    Returns
    -------
    Places

    Raises
    ------
    InputError
        If lambda or gamma' is odd, or a packet fits no group.

    Examples
    --------
    >>> assign(np.array([0, 7, 9]), np.array([4, 4, 2]), 4, 2)
    Places(session=array([1, 2, 1]), first=array([0, 1, 2]), source=array([0, 0, 0]), destination=array([1, 1, 0]))
    """
    if lam < 2 or lam % 2:
        raise OptionError(
            "lam", f"{{lam}} is {lam}; it must be even and at least 2, so that packets are at home at odd moves"
        )
    if gamma < 2 or gamma % 2:
        raise InputError(f"gamma' is {gamma}; it must be even and at least 2")
    low, high = level // lam, (level + length) // lam
    half = gamma // 2
    session = np.where(low // gamma == high // gamma, 1, 2)
    first = np.where(session == 1, low // gamma * gamma, (low - half) // gamma * gamma + half)
    if ((first < 0) | (high >= first + gamma)).any():
        raise InputError(
            f"a packet fits no group of {gamma} frames; gamma' must be at least twice D / lambda, rounded up"
        )
    return Places(session, first, low - first, high - first)


def draw_sets(packets: int, s: int, rng: np.random.Generator) -> Array:
    """Return a random set for every packet, uniform in 1..s."""
    if s < 1:
        raise OptionError("s", f"{{s}} is {s}; it must be at least 1")
    return rng.integers(1, s + 1, packets)


def compact(sets: Array, session: Array) -> Array:
    """Return the sets numbered 1, 2, ... without gaps, in each session separately."""
    numbers = np.empty(len(sets), np.int64)
    for which in (1, 2):
        chosen = session == which
        numbers[chosen] = np.unique(sets[chosen], return_inverse=True)[1].reshape(-1) + 1
    return numbers


def require_known(name: str, value: str, known: Sequence[str]) -> None:
    """Raise OptionError unless the value of an option is one of those that there are."""
    if value not in known:
        raise OptionError(name, f"invalid {{{name}}} {{0}}: {{1}}", repr(value), did_you_mean(str(value), known))


# The largest degree of the paper's dependency graphs


def largest_degree(instance: Instance, places: Places, sets: Array, lam: int) -> int:
    """Return d: with how many packets of its set, group and session a packet shares an edge of two frames, at most."""
    packet = np.repeat(np.arange(instance.packets), instance.length)
    level = np.asarray(instance.network.edge_level(instance.edge), np.int64)
    groups = int(places.first.max(initial=0)) + 1
    together = ((places.session - 1) * (np.int64(sets.max(initial=1)) + 1) + sets) * groups + places.first
    order = np.lexsort((instance.edge, together[packet]))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(instance.edge[order]) != 0) | (np.diff(together[packet[order]]) != 0)
    size = np.diff(np.flatnonzero(np.append(new, True))) if len(order) else np.zeros(0, np.int64)
    require_memory(100.0 * float((size.astype(float) * (size - 1) / 2).sum()), "all pairs of packets over one edge")
    first = np.flatnonzero(new)
    end = np.repeat(first + size, size)
    others = end - np.arange(len(order)) - 1  # further packets over the same edge, in the same set
    one = np.repeat(np.arange(len(order)), others)
    two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(others) - others, others)
    if not len(one):
        return 0
    frame = level[order[one]] // lam
    # an edge from the last level of F_j is in F_j and F_{j+1} only, the others also in F_{j-1} and F_j
    lower = (level[order[one]] % lam != lam - 1) & (frame > 0)
    j = np.concatenate([frame, frame[lower] - 1])
    pair = np.stack([np.concatenate([packet[order[at]], packet[order[at[lower]]]]) for at in (one, two)])
    count = np.int64(instance.packets)
    place, two = np.divmod(np.unique((j * count + np.minimum(*pair)) * count + np.maximum(*pair)), count)
    return int(np.bincount(np.concatenate([place, place // count * count + two])).max())


# Input of the two simulations of the distributed algorithm, and the clock that all waves share


@dataclass(frozen=True, eq=False)
class Waves:
    """Packets in sets, the frames they pass, and the rules of the rounds.

    Parameters
    ----------
    instance : Instance
    constants : Constants
    sets : int array
        The set of every packet, from 1.
    places : Places
    seed : int
        Random seed of colors, ties and the links of wanderers; below 2^31.
    oracle : bool
        Whether a sub-phase ends with the first round in which no packet fails, and is skipped where it has no members.
        Otherwise it has xi rounds.
    both_fail : bool
        Whether both packets of one color that meet fail, or one of them survives.
    cap : int
        Limit on the rounds of a sub-phase.
    """

    instance: Instance
    constants: Constants
    sets: Array
    places: Places
    seed: int
    oracle: bool
    both_fail: bool
    cap: int

    @cached_property
    def rule(self) -> RideRule:
        """The constants that the kernels need."""
        constants = self.constants
        return RideRule(self.seed, constants.lam, constants.chi, constants.tau, self.cap, self.both_fail)

    @cached_property
    def enter(self) -> Array:
        """The phase in which every packet enters; phases count through both sessions."""
        later = (self.places.session - 1) * phases(self.constants.s, self.constants.gamma)
        return np.asarray(2 * self.sets - 1 + self.places.source + later)

    @cached_property
    def base(self) -> Array:
        """The first level of the frame where every packet enters."""
        return (self.places.first + self.places.source) * self.constants.lam

    @cached_property
    def slot(self) -> Array:
        """The first entry of every packet in a list of all phases of all packets, and the length of the list."""
        return starts(self.places.destination - self.places.source + 1)

    @cached_property
    def route(self) -> Array:
        """A ROUTE record of every packet."""
        route = np.zeros(self.instance.packets, ROUTE)
        route["start"] = self.instance.start[:-1]
        route["level"] = self.instance.level
        route["length"] = self.instance.length
        route["enter"] = self.enter
        route["base"] = self.base
        route["last"] = self.enter + self.constants.gamma - 1 - self.places.source
        route["slot"] = self.slot[:-1]
        return route

    @cached_property
    def order(self) -> Array:
        """The packets by the phase in which they enter."""
        return np.argsort(self.enter, kind="stable")

    def length(self, rounds: Array) -> Array:
        """Return how long sub-phases of the given numbers of rounds are."""
        tau = self.constants.tau
        if self.oracle:
            return (2 * rounds - 1) * tau
        return np.asarray(np.maximum(rounds, self.constants.xi) * 2 * tau)

    def begin(self, phase: Array, part: Array, rounds: Array) -> Array:
        """Return the time before the first move of each sub-phase, given all those with members in their order."""
        if self.oracle:
            return np.asarray(np.cumsum(self.length(rounds)) - self.length(rounds))
        beyond = np.maximum(rounds - self.constants.xi, 0)
        usual = ((phase - 1) * 3 + part) * self.constants.xi
        return np.asarray((usual + np.cumsum(beyond) - beyond) * 2 * self.constants.tau)


def waves(
    instance: Instance,
    constants: Constants,
    sets: Array,
    seed: int,
    oracle: bool = False,
    both_fail: bool = False,
    cap: int | None = None,
) -> Waves:
    """Return the waves of an instance, given the set of every packet; see :class:`Waves`.

    Raises
    ------
    OptionError
        If the constants do not fit each other.
    """
    lam, chi = constants.lam, constants.chi
    if chi < 1:
        raise OptionError("chi", f"{{chi}} is {chi}; it must be at least 1")
    if lam < 6 * chi:
        raise OptionError("lam", f"{{lam}} is {lam} and {{chi}} {chi}; {{lam}} must be at least 6 {{chi}} = {6 * chi}")
    if constants.xi < 1:
        raise OptionError("rounds", f"xi is {constants.xi}; at least one round is needed")
    places = assign(instance.level, instance.length, lam, constants.gamma)
    return Waves(instance, constants, sets, places, seed, oracle, both_fail, constants.xi + 5 if cap is None else cap)
