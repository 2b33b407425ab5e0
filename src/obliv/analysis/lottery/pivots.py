"""Sharper bounds on the probability that no channel of a laminar network is overloaded, block by block.

Write E_c for "at most K_c flows cross channel c", D_c for the opposite, A for "E_b for all channels b of the blocks
before", B for "E_c for all channels c of the next block". Two channels are *near* if they are on a common path, or the
same; else *far*. Then (proof below)

    - Σ loss(b, c) r(b, c)  ≤  P(A and B) - P(A) P(B)  ≤  Σ gain(b, c) r(b, c),

sums over channels b before and c of the block, with gain(b, c) the covariance of D_b and D_c for near ones, loss(b, c)
minus the covariance for far ones, and r(b, c) a bound on the probability that all channels that are far from b and c
have no more flows than they may, K_b + K_c + 1 flows left out. With Λ(e) the sum of P(D) over channels near e, Λ its
maximum over e, κ = 1 + max K, and H the maximum over flows f of Σ P(f crosses e) P(K_e other flows cross e), sums over
channels of A and B,

    r(b, c) ≤ α + (Λ(b) + Λ(c) + (K_b + K_c + 1) H) R_3,   R_j ≤ α + j (Λ + κ H) R_{j+1},   R_j ≤ 1,

where α is an upper bound of P(A), or of P(A) P(B) + Σ gain(b, c) r(b, c).

*Covariance.* Let X be the paths of all flows, Y an independent copy, and X(k) have the paths of the first k flows from
Y, the others from X. P(A and B) - P(A) P(B) is the sum over k of P(X in A, X(k - 1) in B) - P(X in A, X(k) in B). These
also are what they are with the paths of flow k in X and Y exchanged, which are alike. So the sum is

    Σ_k P(X_k breaks A and B, Y_k neither one) - P(X_k breaks B but not A, Y_k breaks A but not B),

"breaks" given the paths of the other flows, in X for A and in X(k) for B. A path breaks A only if it crosses a channel
b that K_b others cross. In the first term, X_k crosses such channels b and c of A and B, which are near, Y_k crosses
neither one, and all other channels have no more flows than they may. In the second one, X_k crosses c and Y_k crosses
b. If these are near, the flow crosses one of them only if it crosses the other one, so X_k breaks A too, or Y_k breaks
B too: they are far. Without "all other channels", these are the terms of the covariance of E_b and E_c alone, for which
the identity holds as well.

*Leaving out.* Given which flows cross b and which cross c, flows are independent. Those that cross neither one have, on
channels far from both, the paths of flows of which nothing is known; but these have none there if they cross b or c.
So if the flows through b and c and flow k are left out, and nothing is known of the others, it is at least as probable
that no far channel has more flows than it may. Let F be such an event: j channels with all that are near are left out,
and a set T of at most j κ flows. That all channels of A, in X, and of B, in X(k - 1), have no more flows than they may
has at most the probability α: that is the sum above, ended early. If it is not so, but F is, then for some channel e

- D_e, and e is near one of the j: uncover flows until K_e + 1 cross e, and leave these out as well. In the sum over e,
  the probability of this is at most j Λ R_{j+1};
- or T makes the difference: put the flows of T back one after another. One of them, f, crosses e, which K_e others
  cross. Leave these out as well. In the sum over f and e, the probability of this is at most |T| H R_{j+1}.  ∎
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from obliv._util.typing import Array, FloatArray
from obliv.analysis.lottery.blocks import Block, blocks_of, star
from obliv.analysis.lottery.crossings import Crossings
from obliv.analysis.lottery.joints import Joints
from obliv.analysis.lottery.laws import LEAST, MOST, TINY, binomial

__all__ = ["Pivots"]

_DEEPEST = 40  # channels that are left out with all that are near


class Pivots:
    """Bounds on the probability that no channel is loaded more than allowed, for laminar networks.

    Parameters
    ----------
    crossings : Crossings
    joints : Joints
    """

    def __init__(self, crossings: Crossings, joints: Joints) -> None:
        self._on, self._joints = crossings, joints

    def within(
        self, limit: Array, over: FloatArray, fits: FloatArray, covariances: tuple[FloatArray, FloatArray, FloatArray]
    ) -> tuple[float, float]:
        """Return bounds on the probability that no channel has more than `limit` flows, by group of channels.

        Parameters
        ----------
        limit : int array, shape (groups,)
        over, fits : float arrays, shape (groups, 2)
            Bounds on the probabilities that a channel of each group has more flows, or not.
        covariances : tuple of float arrays
            Those of `Joints.covariances`.
        """
        if (limit < 0).any():
            return 0.0, 0.0
        gain, loss, _ = covariances
        near, far = self._joints.near, self._joints.far
        hazard, reach = self._hazard(limit), _Reach(self._on, self._near, over[:, 1])
        path = np.zeros(len(self._on.draws.pairs))  # hazards of a flow of each type
        most = int(limit.max()) + 1
        low = high = 1.0
        for at, block in enumerate(self._blocks):
            bottom, top = self._alone(block, limit, over, fits, covariances)
            for g in block.groups.tolist():
                path[self._on.types[g]] += self._on.sizes[g] * hazard[g]
            reach.add(at)
            high_before, high = high, min(1.0, high * top * MOST)
            lost = 0.0
            if len(block.before):
                pairs = block.before
                one, two = self._joints.one[pairs], self._joints.two[pairs]
                worst = float(path.max()) * MOST
                each = reach.of_group[one] + reach.of_group[two] + (limit[one] + limit[two] + 1) * worst
                more = gain[pairs] * near[pairs]
                chance = high_before
                for _ in range(2):  # the second time with a better bound of what holds after the block
                    rest = 1.0
                    for j in range(_DEEPEST, 2, -1):
                        rest = min(1.0, chance + j * (reach.most + most * worst) * rest)
                    kept = np.minimum(1.0, (chance + each * rest) * MOST)
                    added = float(more @ kept) * MOST
                    chance = min(chance, high + added)
                lost = float((loss[pairs] * far[pairs]) @ kept) * MOST
                high = min(1.0, high + added)
            low = max(0.0, low * bottom * LEAST - lost)
        return low, high

    @cached_property
    def _blocks(self) -> list[Block]:
        return blocks_of(self._on, self._joints)

    @cached_property
    def _near(self) -> list[tuple[Array, Array]]:
        """For each block, the channels near one of it, and the groups of the latter; a channel is near itself."""
        on = self._on
        block = np.empty(on.groups, np.int64)
        for at, one in enumerate(self._blocks):
            block[one.groups] = at
        every = np.arange(len(on.channel))
        channel, group = np.concatenate([every, on.two, on.one]), on.group[np.concatenate([every, on.one, on.two])]
        order = np.argsort(block[group], kind="stable")
        bounds = np.cumsum(np.bincount(block[group], minlength=len(self._blocks)))[:-1]
        return list(zip(np.split(channel[order], bounds), np.split(group[order], bounds), strict=True))

    def _hazard(self, limit: Array) -> FloatArray:
        """Return bounds on the probability that a flow crosses a channel, and so do as many others as may."""
        joints, total = self._joints, self._on.draws.total
        hazard = np.empty(self._on.groups)
        for g, (k, ways, flows) in enumerate(
            zip(limit.tolist(), joints.ways.tolist(), joints.crossing.tolist(), strict=True)
        ):
            law = binomial(min(flows - 1, k * total // ways), ways, total - ways)  # the number most likely to be k
            hazard[g] = (float(law[k]) if k < len(law) else 0.0) * ways / total * MOST + TINY
        return hazard

    def _alone(
        self,
        block: Block,
        limit: Array,
        over: FloatArray,
        fits: FloatArray,
        covariances: tuple[FloatArray, FloatArray, FloatArray],
    ) -> tuple[float, float]:
        """Return bounds on the probability that no channel of a block is overloaded."""
        joints, groups, pairs = self._joints, block.groups, block.within
        gain, loss, least = (values[pairs] for values in covariances)
        sizes = self._on.sizes[groups]
        more = float(gain @ joints.near[pairs]) * MOST
        product = float(np.prod(fits[groups, 1] ** sizes)) * MOST
        first = float(over[groups, 0] @ sizes)
        every = float(over[groups, 1] @ sizes)
        both = (every * every - float((over[groups, 0] ** 2) @ sizes) * LEAST) / 2 * MOST
        second = both + more - float(least @ joints.far[pairs]) * LEAST
        high = min(1.0, product + more, 1 - first * LEAST + max(0.0, second) + 1e-15)
        low = float(np.prod(fits[groups, 0] ** block.rest)) * LEAST
        for many, one in block.stars:
            low *= star(one, limit, joints, self._on.draws.total) ** many * LEAST
        return max(0.0, low - float(loss @ block.apart) * MOST), max(0.0, high)


class _Reach:
    """For channels of the blocks so far, how probably channels near them are overloaded, in sum.

    Parameters
    ----------
    on : Crossings
    near : list of (int array, int array)
        For each block, the channels near one of it, and the groups of the latter.
    over : float array, shape (groups,)
    """

    def __init__(self, on: Crossings, near: list[tuple[Array, Array]], over: FloatArray) -> None:
        self._on, self._near, self._over = on, near, over
        self._sum = np.zeros(len(on.channel))
        self.of_group = np.zeros(on.groups)

    def add(self, at: int) -> None:
        """Add the channels of a block."""
        channels, groups = self._near[at]
        self._sum += np.bincount(channels, self._over[groups], len(self._sum))
        np.maximum.at(self.of_group, self._on.group, self._sum * MOST)

    @property
    def most(self) -> float:
        """The largest sum."""
        return float(self.of_group.max())
