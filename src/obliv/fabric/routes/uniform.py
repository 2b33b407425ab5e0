"""Uniform traffic on a fabric: the largest load, and the channels that no route uses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.fabric.capacity import partitions
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.shape.tree import recognise
from obliv.fabric.topology import FabricTopology
from obliv.patterns.base import Traffic
from obliv.patterns.make import traffic

__all__ = ["idle_channels", "slowed", "uniform_bound", "uniform_load"]


def uniform_load(routing: FabricRouting) -> Fraction:
    """Return the largest load under uniform traffic, self-pairs included; what does not arrive loads no channel."""
    topology = routing.topology
    return routing.fabric_loads.largest_under(slowed(traffic("uniform", topology), topology))


def slowed(pattern: Traffic, topology: FabricTopology) -> Traffic:
    """Return the traffic with the rate of each pair scaled by the slower of its two ends."""
    if topology.unit_rates:
        return pattern
    n, (injection, ejection) = pattern.terminals, topology.rates()
    scale = lcm(*(rate.denominator for rate in (*injection, *ejection)))
    sends, takes = ([int(rate * scale) for rate in side] for side in (injection, ejection))
    most = np.minimum.outer(np.array(sends, object), np.array(takes, object))
    require_memory(100.0 * n * n, f"{pattern.spec} on hosts of unlike speeds")
    source, destination = pattern.source, pattern.destination
    amount, denominator = pattern.amount.astype(object), pattern.denominator
    if pattern.uniform:
        share = pattern.uniform / n
        common = lcm(denominator, share.denominator)
        matrix = np.full((n, n), int(share * common), object)
        matrix[source, destination] += amount * (common // denominator)
        source, destination = (side.ravel() for side in np.indices((n, n), np.int32))
        amount, denominator = matrix.ravel(), common
    amount = amount * most[source, destination]
    small = not len(amount) or int(amount.max()) < INT64_SAFE
    return replace(
        pattern,
        uniform=Fraction(0),
        source=source,
        destination=destination,
        amount=amount.astype(np.int64) if small else amount,
        denominator=denominator * scale,
    )


def idle_channels(routing: FabricRouting) -> Array:
    """Return the channels between switches that no route between endpoints uses."""
    topology = routing.topology
    between = (topology.tail >= topology.hosts) & (topology.head >= topology.hosts)
    return np.flatnonzero(between & (routing.fabric_loads.totals() == 0))


def uniform_bound(topology: FabricTopology) -> Fraction | None:
    """Return a lower bound of the largest load of any routing under uniform traffic; None where hosts differ in speed.

    Host links carry (n - 1) / n, and what leaves the hosts of a switch or sub-tree crosses its cables.
    """
    fabric, n = topology.fabric, len(topology.terminals)
    if n < 2 or not topology.unit_rates or (fabric.homes < 0).any():
        return None
    hosts = np.bincount(fabric.homes, minlength=len(fabric.switches))
    tail, head, slot = fabric.trunks
    speeds = [topology.bandwidth_of(c) for c in topology.channel_of[slot].tolist()]
    whole = lcm(*(speed.denominator for speed in speeds))
    width = np.array([int(speed * whole) for speed in speeds], np.int64)
    bounds = [Fraction(n - 1, n)]
    for part in partitions(fabric, recognise(fabric)):
        leaving = part[tail] != part[head]
        inside = np.bincount(part, hosts, int(part.max(initial=-1)) + 1).astype(np.int64)
        out = np.zeros(len(inside), np.int64)
        np.add.at(out, part[tail[leaving]], width[leaving])
        ends = zip(inside.tolist(), out.tolist(), strict=True)
        bounds += [Fraction(a * (n - a) * whole, b * n) for a, b in ends if b]
    return max(bounds)
