"""Input of the two simulations of the distributed algorithm, and the clock that all waves share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import Constants, Places, assign, phases
from obliv.bufferless.kernels.rides import ROUTE, Rule
from obliv.errors import OptionError
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
    def rule(self) -> Rule:
        """The constants that the kernels need."""
        constants = self.constants
        return Rule(self.seed, constants.lam, constants.chi, constants.tau, self.cap, self.both_fail)

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
