"""Flows of mixes of routings, and of Valiant's two phases."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from obliv._util.arrays import whole
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.checker.flows.base import Flow, Flows
from obliv.errors import RoutingError
from obliv.routings.base import Routing

__all__ = ["mixed_flows", "two_phase_flows"]


def two_phase_flows(routing: Routing, base: Flows, denominator: int) -> Flows:
    """Return what each source sends to a random intermediate terminal by `base`, and on from there."""
    n, channels = len(routing.topology.terminals), routing.topology.channels
    require_memory(16.0 * n * channels, "the two phases of all terminals")
    exact: Any = object if (denominator * n).bit_length() > 60 else np.int64
    sent = np.zeros((n, channels), exact)
    received = np.zeros((n, channels), exact)
    for i in range(n):
        flow = base(i)
        destination = _destinations(flow)
        common = flow.whole[destination].astype(object)
        scaled = flow.amount.astype(object) * denominator
        if any(int(amount) % int(own) for amount, own in zip(scaled, common, strict=True)):
            raise RoutingError(f"the loads of {routing.spec} are not integers over {denominator * n}")
        values = (scaled // common).astype(exact)
        np.add.at(sent[i], flow.channel, values)
        np.add.at(received, (destination, flow.channel), values)

    def flow_of(i: int) -> Flow:
        total = sent[i][None, :] + received
        destination, channel = np.nonzero(total)
        ends = np.searchsorted(destination, np.arange(n), side="right")
        return Flow(ends, channel, total[destination, channel], np.full(n, denominator * n, exact))

    return flow_of


def mixed_flows(parts: list[tuple[Fraction, Flows]]) -> Flows:
    """Return the sum of flows with their weights."""
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]

    def flow(i: int) -> Flow:
        flows = [(weight, part(i)) for weight, part in parts]
        n = len(flows[0][1].ends)
        wholes = [lcm(*(int(part.whole[j]) * weight.denominator for weight, part in flows)) for j in range(n)]
        keys, values = [], []
        for weight, part in flows:
            destination = _destinations(part)
            factor = np.array(
                [
                    common * weight.numerator // (int(own) * weight.denominator)
                    for common, own in zip(wholes, part.whole, strict=True)
                ],
                object,
            )
            keys.append(np.stack([destination, part.channel]))
            values.append(part.amount.astype(object) * factor[destination])
        pairs, index = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
        total: Array = np.zeros(pairs.shape[1], object)
        np.add.at(total, index.ravel(), np.concatenate(values))
        ends = np.searchsorted(pairs[0], np.arange(n), side="right")
        return Flow(ends, pairs[1], whole(total.tolist()), whole(wholes))

    return flow


def _destinations(flow: Flow) -> Array:
    """Return the destination of every entry of a flow."""
    return np.repeat(np.arange(len(flow.ends)), np.diff(flow.ends, prepend=0))
