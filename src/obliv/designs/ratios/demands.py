"""The lower bound of all ratios: for every channel traffic with flows that carry it, in exact arithmetic.

Let ``D_e`` be traffic that some flows carry with congestion ``z_e``. A routing of ratio r loads channel e by at most
``r · z_e``, so ``Σ_ij D_e(i, j) f_ij(e) / b_e ≤ r · z_e``. Added up over all channels, every pair pays at least its
distance under the lengths ``D_e(i, j) / b_e``: r ≥ Σ distances / Σ z_e. With a price for every hop added to all
lengths, the same inequality bounds the mean hops of routings of ratio at most r. The multipliers of the linear program
are such flows, nearly; what is missing at a node is added along shortest paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from obliv._util.typing import Array
from obliv.designs._kernels import pair_distances
from obliv.designs.bounds.worst_case import Line
from obliv.designs.exact.basis import Rationals
from obliv.designs.exact.vertices import as_rationals
from obliv.designs.ratios.compact import RatioProgramme
from obliv.designs.states import states_of
from obliv.kernels import run

__all__ = ["Demands", "Trees", "demands"]

_LARGEST = 2**34  # of a length


@dataclass(frozen=True, eq=False)
class Demands:
    """Flows for one channel of every class, and the line that they prove.

    Parameters
    ----------
    line : Line
    flows : int64 array, shape (classes, terminals, channels)
        By source; what ends at a terminal is the traffic from the source to it.
    """

    line: Line
    flows: Array


class Trees:
    """Shortest paths from every terminal: the channel into each node, and the nodes by their distance."""

    def __init__(self, programme: RatioProgramme) -> None:
        topology = programme.topology
        self.tail, self.head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
        self.terminals = topology.terminals.astype(np.int64)
        nodes, number = topology.nodes, np.arange(1, topology.channels + 1)
        channel = np.zeros((nodes, nodes), np.int64)
        channel[self.tail, self.head] = number - 1
        graph = csr_array((np.ones(topology.channels), (self.tail, self.head)), shape=(nodes, nodes))
        self.into = np.full((len(self.terminals), nodes), -1)
        depth = np.zeros((len(self.terminals), nodes), np.int64)
        for k, source in enumerate(self.terminals.tolist()):
            order, before = breadth_first_order(graph, source)
            for node in order[1:].tolist():
                self.into[k, node] = channel[before[node], node]
                depth[k, node] = depth[k, before[node]] + 1
        self.layers = [np.nonzero(depth == d) for d in range(int(depth.max(initial=0)), 0, -1)]

    def repair(self, flow: Array) -> Array:
        """Add what is missing where more leaves a node than enters it; return what ends at each terminal."""
        terminals, nodes = self.into.shape
        balance = np.zeros((nodes, terminals), np.int64)
        np.add.at(balance, self.head, flow.T)
        np.subtract.at(balance, self.tail, flow.T)
        for source, node in self.layers:
            missing = np.maximum(-balance[node, source], 0)
            balance[node, source] += missing
            channel = self.into[source, node]
            flow[source, channel] += missing
            np.subtract.at(balance, (self.tail[channel], source), missing)
        ends = balance[self.terminals].T
        np.fill_diagonal(ends, 0)
        return ends


def demands(
    programme: RatioProgramme, trees: Trees, duals: Array | Rationals, price: float | Fraction, allowed: Array | None
) -> list[Demands]:
    """Return what exact multipliers prove, or rounded ones and, where there are any, simple rational ones.

    Parameters
    ----------
    programme : RatioProgramme
    trees : Trees
    duals : float array, shape (rows,), or Rationals
    price : float or Fraction
        Multiplier of the total number of hops, at least 0.
    allowed : bool array, shape (terminals, terminals, channels), or None
        The channels that the paths of each pair may use.
    """
    speeds = [programme.topology.bandwidth_of(c) for c in range(programme.topology.channels)]
    limit = _LARGEST * float(min(speeds) / max(speeds))
    shared = [block.alike * len(block.channels.members) for block in programme.blocks]
    if isinstance(duals, Rationals):
        candidates = _exact(programme, duals, Fraction(price), shared, limit)
    else:
        candidates = _rounded(programme, duals, float(price), shared, limit)
    return [_proved(programme, trees, flow, cost, allowed) for flow, cost in candidates]


def _rounded(
    programme: RatioProgramme, duals: Array, price: float, shared: list[Array], limit: float
) -> list[tuple[Array, int]]:
    """Return flows and a price as integers up to a factor: rounded, and as simple rationals where they are that."""
    multiplier = np.append(np.maximum(duals, 0), 0.0)
    table = np.array([multiplier[block.step] / share for block, share in zip(programme.blocks, shared, strict=True)])
    largest = max(float(table.max(initial=0.0)), price)
    if largest <= 0:
        return []
    candidates = [(np.rint(table * (limit / largest)).astype(np.int64), round(price * (limit / largest)))]
    simple = as_rationals(np.append(table.ravel() / largest, price / largest))
    if simple is not None and simple[0].max() <= limit:
        whole = _undivided(programme, simple[0] // max(1, int(np.gcd.reduce(simple[0]))), limit)
        candidates.append((whole[:-1].reshape(table.shape), int(whole[-1])))
    return candidates


def _exact(
    programme: RatioProgramme, duals: Rationals, price: Fraction, shared: list[Array], limit: float
) -> list[tuple[Array, int]]:
    """Return exact flows and price as integers up to a factor; none where they are too large."""
    multiplier = np.append(np.maximum(duals.numerators, 0), 0)
    common = lcm(price.denominator, *(int(count) for share in shared for count in np.unique(share)))
    table = np.array(
        [multiplier[block.step] * (common // share) for block, share in zip(programme.blocks, shared, strict=True)]
    )
    cost = int(price * common) * duals.denominator
    whole = np.append(table.ravel(), cost)
    whole //= gcd(*whole.tolist()) or 1
    if whole.max() > limit:
        return []
    whole = _undivided(programme, whole.astype(np.int64), limit)
    return [(whole[:-1].reshape(table.shape), int(whole[-1]))]


def _undivided(programme: RatioProgramme, whole: Array, limit: float) -> Array:
    """Return integers times a factor, if they stay small, so that lengths over bandwidths need no rounding."""
    speeds = [programme.topology.bandwidth_of(c) for c in range(programme.topology.channels)]
    factor = lcm(*((max(speeds) / speed).denominator for speed in speeds))
    return whole * factor if int(whole.max()) * factor <= limit else whole


def _proved(programme: RatioProgramme, trees: Trees, flows: Array, price: int, allowed: Array | None) -> Demands:
    """Return what flows prove, exactly, after what they lack is added."""
    topology = programme.topology
    speeds = [topology.bandwidth_of(c) for c in range(topology.channels)]
    fastest, terminals = max(speeds), len(topology.terminals)
    ends, spent = [], Fraction(0)
    for block, flow in zip(programme.blocks, flows, strict=True):
        ends.append(trees.repair(flow))
        totals = flow.sum(axis=0).tolist()
        congestion = max(total / speed for total, speed in zip(totals, speeds, strict=True))
        spent += fastest * congestion * len(block.channels.members)
    members = [(member, k) for k, block in enumerate(programme.blocks) for member in block.channels.members]
    members.sort(key=lambda entry: entry[0].channel)
    _, first = np.unique([member.channel for member, _ in members], return_index=True)
    table = np.array(ends)
    which = np.array([k for _, k in members])
    back = np.array([np.argsort(member.maps.terminals) for member, _ in members])
    turned = np.array([member.reversed for member, _ in members])
    network = states_of(topology, None).kernel
    nodes, distance, total = topology.terminals.astype(np.int64), np.empty((1, terminals), np.int64), 0
    place = np.arange(terminals * topology.channels).reshape(1, terminals, topology.channels)
    for i in range(terminals):
        source, others = back[:, i, None], back
        lengths = np.where(
            turned[:, None], table[which[:, None], others, source], table[which[:, None], source, others]
        )
        lengths = np.add.reduceat(lengths, first)
        if not topology.unit_bandwidth:
            lengths = _slower(lengths, speeds, fastest)
        flow = place if allowed is None else np.where(allowed[i], place, -1)
        work = 20.0 * terminals**2 * topology.channels
        run(pair_distances, work, network, nodes[i : i + 1], nodes, flow, flow, lengths.T.ravel() + price, distance)
        total += int(distance.sum())
    return Demands(Line(np.zeros(0, np.int64), price, total, spent, programme.pairs), flows)


def _slower(lengths: Array, speeds: list[Fraction], fastest: Fraction) -> Array:
    """Return lengths times the fastest bandwidth over that of each channel, rounded down."""
    rows = []
    for row, speed in zip(lengths, speeds, strict=True):
        factor = fastest / speed
        rows.append([int(length) * factor.numerator // factor.denominator for length in row.tolist()])
    return np.array(rows, np.int64)
