"""Pair loads of equal splits on fat trees: every link of a sub-tree carries the same share of what leaves or enters it.

A shortest path from a host of a fat tree climbs until its sub-tree holds the destination, and descends to it by the
only way down. Every up link on the way is closer to the destination, and no other channel is. So an equal split over
shortest paths (ECMP), over paths up and down, or over whole paths puts 1 / links on each of the links that lead up from
a sub-tree, for every pair with the source inside and the destination outside, and likewise on those that lead down.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from obliv._util.arrays import addable
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.loads.tree import link_places
from obliv.matching.weights import Weights, members_of
from obliv.patterns.base import Traffic
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

__all__ = ["SplitLoads", "equal_split"]


def equal_split(topology: Topology) -> SplitLoads | None:
    """Return the loads of equal splits over the shortest paths of a complete fat tree; None for other networks.

    Terminals may be any hosts, in any order. The channels are compared with those of the definition.
    """
    if not isinstance(topology, Tree) or (topology.terminals >= topology.below[-1]).any():
        return None
    links = [topology.links(height) for height in range(topology.levels)]
    if topology.channels != 2 * sum(links):
        return None
    for height, count in enumerate(links):
        sub, at = np.divmod(np.arange(count), topology.width[height + 1])
        lower = sub * topology.width[height] + at // topology.parents[height] + topology.first_node[height]
        upper = sub // topology.children[height] * topology.width[height + 1] + at + topology.first_node[height + 1]
        up, down = (f(height, np.arange(count)) for f in (topology.up_channel, topology.down_channel))
        for channel, tail, head in ((up, lower, upper), (down, upper, lower)):
            if not (np.array_equal(topology.tail[channel], tail) and np.array_equal(topology.head[channel], head)):
                return None
    return SplitLoads(topology)


class SplitLoads(PairLoads):
    """Loads of equal splits on a fat tree: one number for all pairs that cross a channel.

    Parameters
    ----------
    topology : Tree
        Whose terminals are hosts.
    """

    topology: Tree

    def __init__(self, topology: Tree) -> None:
        self.topology = topology
        # the lowest height at which one sub-tree holds all terminals
        height = next(h for h, below in enumerate(topology.below) if len(np.unique(topology.terminals // below)) < 2)
        self._shares = [topology.width[height] // width for width in topology.width[1 : height + 1]]
        self._shares += [0] * (topology.levels - height)
        self.denominator = topology.width[height]

    def without_self(self) -> PairLoads:
        return self  # a host reaches itself without a channel

    @cached_property
    def _place(self) -> tuple[Array, Array, Array]:
        """Height, direction (1 up) and sub-tree of every channel."""
        height, up, number = link_places(self.topology)
        return height, up, number // np.array(self.topology.width)[height + 1]

    def _subs(self, height: int) -> Array:
        """Return the sub-tree of each terminal."""
        return self.topology.terminals.astype(np.int64) // self.topology.below[height]

    def weights(self, channel: int) -> Weights:
        height, up, sub = (int(entry[channel]) for entry in self._place)
        inside = self._subs(height) == sub
        # one class of rows and one of columns; neither where no pair crosses the channel
        used = np.arange(int(inside.any() and not inside.all()))
        sides = [members_of(side, used + 1) for side in (inside, ~inside)]
        return Weights(
            ptr=np.arange(len(used) + 1, dtype=np.int64),
            col=used.astype(np.int32),
            weight=np.full(len(used), self._shares[height], np.int64),
            row_members=sides[1 - up],
            column_members=sides[up],
        )

    def totals(self) -> Array:
        height, _, sub = self._place
        totals = np.zeros(self.topology.channels, np.int64)
        for h, share in enumerate(self._shares):
            inside = np.bincount(self._subs(h), minlength=self.topology.below[-1] // self.topology.below[h])
            here = np.flatnonzero(height == h)
            totals[here] = (share * inside * (self.terminals - inside))[sub[here]]
        return totals

    def _carried(self, traffic: Traffic) -> Array:
        height, up, sub = self._place
        amount = addable(traffic.amount, self.denominator)
        carried: Array = np.zeros(self.topology.channels, amount.dtype)
        for h, share in enumerate(self._shares):
            subs = self._subs(h)
            ends = subs[traffic.destination], subs[traffic.source]  # of what comes down, of what goes up
            apart = ends[0] != ends[1]
            for direction, end in enumerate(ends):
                sums = np.zeros(self.topology.below[-1] // self.topology.below[h], amount.dtype)
                np.add.at(sums, end[apart], amount[apart])
                here = np.flatnonzero((height == h) & (up == direction))
                carried[here] = sums[sub[here]] * share
        return carried

    def _keeps(self, node_map: Array, moved: Array, place: Array) -> bool:
        # where links keep their height and those of a sub-tree stay together, it suffices that its terminals follow
        height, up, sub = self._place
        if not np.array_equal(height[moved], height) or not np.array_equal(up[moved], up):
            return super()._keeps(node_map, moved, place)
        for h in range(self.topology.levels):
            here, subs = np.flatnonzero(height == h), self._subs(h)
            image = np.zeros(self.topology.below[-1] // self.topology.below[h], np.int64)
            image[sub[here]] = sub[moved[here]]
            if not np.array_equal(image[sub[here]], sub[moved[here]]) or not np.array_equal(image[subs], subs[place]):
                return super()._keeps(node_map, moved, place)
        return True
