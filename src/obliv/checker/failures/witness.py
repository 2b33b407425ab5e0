"""Permutations that put a load on a channel, counted after failures by the pairs that these move alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.checker.failures.routes import After, Routes, among

__all__ = ["Witness", "witness_of"]


@dataclass(frozen=True, eq=False)
class Witness:
    """A permutation of the terminals, and a channel.

    Parameters
    ----------
    channel : int
    image : int array, shape (terminals,)
        The destination of every terminal.
    whole : bool
        Whether it is a permutation.
    own : bool
        Whether the channel leaves a terminal.
    pairs : int array
        Its pairs, sorted; for a channel that leaves a terminal, that of this terminal.
    crossing : int array
        Those that cross the channel before a failure.
    """

    channel: int
    image: Array
    whole: bool
    own: bool
    pairs: Array
    crossing: Array

    def packets(self, after: After) -> int:
        """Return how many packets of the permutation cross the channel after a failure."""
        if after.gone[self.channel]:
            return 0
        moved = self.crossing[among(self.crossing, after.moved)]
        if self.own:  # whatever arrives
            return len(self.crossing) - int(np.isin(moved, after.moved[after.arrives], invert=True).sum())
        come = after.come(self.channel) if after.arrives.any() else moved[:0]
        return len(self.crossing) - len(moved) + int(among(come, self.pairs).sum())


def witness_of(routes: Routes, channel: int, image: Array) -> Witness:
    """Return a permutation, in which no terminal has to send to itself, as a witness of what a channel carries."""
    topology, ends = routes.hops.topology, routes.terminals
    senders = np.flatnonzero(image != np.arange(ends))
    source = int(topology.number_of[topology.tail[channel]])
    if source >= 0:
        senders = senders[senders == source]
    pairs = np.sort(routes.hops.row[senders] * ends + image[senders])
    crossing = pairs if source >= 0 else pairs[among(pairs, routes.crossing(channel))]
    whole = bool((np.bincount(image, minlength=ends) == 1).all())
    return Witness(channel, image, whole, source >= 0, pairs, crossing)
