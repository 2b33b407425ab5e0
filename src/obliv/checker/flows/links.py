"""Flows of pairs as differences of one unit flow per terminal, which are checked to be unit flows first."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.typing import Array
from obliv.checker.flows.base import Flow, Flows
from obliv.errors import RoutingError
from obliv.topologies.base import Topology
from obliv.topologies.links import LinkFlows

__all__ = ["difference_bound", "difference_flows", "require_unit_flows", "threshold_prices"]


def difference_flows(topology: Topology, flows: LinkFlows) -> Flows:
    """Return what every terminal sends: the positive part of its flow less that of each destination."""
    require_unit_flows(topology, flows)
    links, terminals = flows.links, len(topology.terminals)

    def flow(i: int) -> Flow:
        across = flows.amount[:, i, None] - flows.amount
        along = np.maximum(0, across[links.link] * links.sign[:, None]).T
        destination, channel = np.nonzero(along)
        ends = np.searchsorted(destination, np.arange(terminals), side="right")
        return Flow(ends, channel, along[destination, channel], np.full(terminals, flows.denominator))

    return flow


def require_unit_flows(topology: Topology, flows: LinkFlows) -> None:
    """Raise unless every terminal's flow brings one unit to the root and is conserved everywhere else.

    Then the difference of two of them is a unit flow from the one terminal to the other.
    """
    links, terminals = flows.links, topology.terminals.astype(np.int64)
    channels = np.arange(topology.channels)
    ends = np.stack([links.forward, links.backward])
    if (
        not np.array_equal(np.sort(ends.ravel()), channels)
        or not np.array_equal(links.link[ends], np.stack([np.arange(ends.shape[1])] * 2))
        or (links.sign[links.forward] != 1).any()
        or (links.sign[links.backward] != -1).any()
        or (topology.tail[links.forward] != topology.head[links.backward]).any()
        or (topology.head[links.forward] != topology.tail[links.backward]).any()
    ):
        raise RoutingError("the links of the flows are not pairs of opposite channels")
    if flows.amount.shape != (ends.shape[1], len(terminals)) or flows.denominator < 1:
        raise RoutingError("the flows do not fit the links and terminals")
    limit = INT64_SAFE // max(1, topology.channels)
    if flows.amount.size and max(int(flows.amount.max()), -int(flows.amount.min()), flows.denominator) >= limit:
        raise RoutingError("the flows exceed 64 bits")
    left = np.zeros((topology.nodes, len(terminals)), np.int64)
    for k, row in enumerate(flows.amount):
        left[topology.tail[links.forward[k]]] -= row
        left[topology.head[links.forward[k]]] += row
    left[terminals, np.arange(len(terminals))] += flows.denominator
    left[flows.root] -= flows.denominator
    if left.any():
        node, terminal = (int(place[0]) for place in np.nonzero(left))
        raise RoutingError(f"the flow of terminal {terminal} is not conserved at node {node}")


def threshold_prices(x: Array, threshold: int) -> Array:
    """Return the prices that a threshold stands for."""
    prices: Array = np.maximum(0, threshold - x.astype(object))
    return prices


def difference_bound(x: Array, entry: Any, prices: Array, sends: Array, receives: Array) -> int:
    """Return the bound of a channel over which the flow of terminal i carries x_i.

    The best that source i gains is max(0, x_i - min_j (x_j + v_j)) for prices v. A threshold m stands for the prices
    max(0, m - x_j), which are added here; those of a claim's prices are not.
    """
    if not len(x):
        return 0
    own = 0
    values: Array = x.astype(object)  # prices of a claim can be of any size
    if isinstance(entry, dict):
        prices = threshold_prices(x, entry["threshold"])
        own = int((prices * receives).sum())
    gain = np.maximum(0, values - (values + prices).min())
    return own + int((gain * sends.astype(object)).sum())
