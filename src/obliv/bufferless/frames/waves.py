"""What the two simulations of the distributed algorithm start from, and the clock that all waves share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.typing import Array
from obliv.bufferless.frames.constants import Constants, Places, assign, phases
from obliv.errors import InputError
from obliv.topologies.leveled.instances import Instance

__all__ = ["Waves", "waves"]


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
        Of colours, of who wins a link, and of the way of wanderers; below 2^31.
    oracle : bool
        Whether a sub-phase ends with the first round in which nobody fails, and is left out where nobody takes part.
        Else it has xi rounds.
    both_fail : bool
        Whether both packets fail that draw one colour and meet, or one of them wins.
    cap : int
        Rounds after which to give up.
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
    def enter(self) -> Array:
        """The phase in which every packet enters, both sessions counted through."""
        later = (self.places.session - 1) * phases(self.constants.s, self.constants.gamma)
        made: Array = 2 * self.sets - 1 + self.places.source + later
        return made

    @cached_property
    def last(self) -> Array:
        """The phase in which every packet's wave would be in the last frame of its group."""
        return self.enter + self.constants.gamma - 1 - self.places.source

    @cached_property
    def base(self) -> Array:
        """The first level of the frame where every packet enters."""
        return (self.places.first + self.places.source) * self.constants.lam

    @cached_property
    def slot(self) -> Array:
        """Where the phases of every packet begin in a list of those of all, as many as frames from end to end."""
        return np.concatenate([[0], np.cumsum(self.places.destination - self.places.source + 1)])

    @cached_property
    def given(self) -> Array:
        """What the kernels know of every packet: where its path begins, level, length, enter, base, last, slot."""
        instance = self.instance
        columns = (instance.start[:-1], instance.level, instance.length, self.enter, self.base, self.last)
        return np.stack([np.asarray(each, np.int64) for each in (*columns, self.slot[:-1])], axis=1)

    @cached_property
    def order(self) -> Array:
        """The packets as they enter."""
        return np.argsort(self.enter, kind="stable")

    def length(self, rounds: Array) -> Array:
        """How long sub-phases of so many rounds are."""
        tau = self.constants.tau
        if self.oracle:
            return (2 * rounds - 1) * tau
        made: Array = np.maximum(rounds, self.constants.xi) * 2 * tau
        return made

    def begin(self, phase: Array, part: Array, rounds: Array) -> Array:
        """When sub-phases begin, given all those with members in their order: the time before their first move."""
        if self.oracle:
            made: Array = np.cumsum(self.length(rounds)) - self.length(rounds)
            return made
        beyond = np.maximum(rounds - self.constants.xi, 0)
        usual = ((phase - 1) * 3 + part) * self.constants.xi
        made = (usual + np.cumsum(beyond) - beyond) * 2 * self.constants.tau
        return made


def waves(
    instance: Instance,
    constants: Constants,
    sets: Array,
    seed: int,
    oracle: bool = False,
    both_fail: bool = False,
    cap: int | None = None,
) -> Waves:
    """Lay frames under the packets and send their sets through as waves; see :class:`Waves`.

    Raises
    ------
    InputError
        If the constants do not fit each other.
    """
    lam, chi = constants.lam, constants.chi
    if chi < 1:
        raise InputError(f"chi is {chi}; at least one boat is needed")
    if lam < 6 * chi:
        raise InputError(f"lambda is {lam} and chi {chi}; the boats need targets of their own: lambda >= {6 * chi}")
    if constants.xi < 1:
        raise InputError(f"xi is {constants.xi}; at least one round is needed")
    places = assign(instance.level, instance.length, lam, constants.gamma)
    return Waves(instance, constants, sets, places, seed, oracle, both_fail, constants.xi + 5 if cap is None else cap)
