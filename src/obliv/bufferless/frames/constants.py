"""Frames, groups, sessions and sets: the common part of the centralized and the distributed algorithm.

Levels are cut into frames of lambda levels, frames into groups of gamma' frames.  Set i of the packets travels as wave
i: in phase 2i - 1 + j (phases count from 1) it is at frame j of its group, j from 0.  All groups of a session run at
once; session 2 has its groups half a group higher and follows session 1.

Source: [BKM04] Busch, Kelkar, Magdon-Ismail, Efficient Bufferless Routing on Leveled Networks (2004), sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import InputError, OptionError
from obliv.topologies.leveled.instances import Instance

__all__ = [
    "Constants",
    "Places",
    "assign",
    "centralized_constants",
    "compact",
    "distributed_constants",
    "draw_sets",
    "group_frames",
    "lg",
    "phases",
    "require_known",
]


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
    >>> from obliv.topologies.leveled.families import array
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
