"""Flows of dimension-ordered routings, from their programs of phases."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import factorial, lcm, prod
from typing import Any

import numpy as np

from obliv._util.typing import Array
from obliv.checker.flows.base import STEPS, CheckTime, Flow, Flows, Pieces
from obliv.checker.kernels.flows import Grid, Output, Phases, quadrant_flow, walk_flow
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.topologies.base import Topology

__all__ = ["program_flows"]

#: An order of some dimensions, and the weights of its steps.
_Row = tuple[tuple[int, ...], list[Fraction]]


def program_flows(topology: Topology, program: Any, check_time: CheckTime) -> Flows:
    """Return the flows of one program on a network of lines and rings.

    Parameters
    ----------
    topology : Topology
    program : Program
    check_time : callable
        Called before each unit of work; it may raise.

    Raises
    ------
    RoutingError
        If 64 bits do not suffice for the flows.
    """
    nodes = topology.nodes
    grid = _grid(topology)
    phases = _phases(program, len(topology.axes))
    quadrant = program.draw == "quadrant" and not program.spread
    _require_bits(topology, program, phases, quadrant)
    steps = int((phases.order >= 0).sum()) * (nodes / 4 if quadrant else nodes)  # per destination
    body = quadrant_flow if quadrant else walk_flow
    size = [max(4096, 8 * topology.channels)]  # of the buffers, kept from source to source

    def flow(i: int) -> Flow:
        whole = np.ones(nodes, np.int64)
        pieces = Pieces(nodes, size[0], np.int64)
        while pieces.done < nodes:
            check_time()
            first = pieces.done
            last = min(nodes, first + max(1, int(STEPS / max(steps, 1) / 4)))

            def send(channel: Array, amount: Array, first: int = first, last: int = last) -> int:
                out = Output(pieces.ends, whole, channel, amount)
                return int(run(body, 4.0 * nodes**2 * steps, i, first, last, grid, phases, out))

            pieces.fill(send)
        size[0] = pieces.size
        return pieces.flow(whole)

    return flow


def _grid(topology: Topology) -> Grid:
    """Return a network as its kernel takes it."""
    radix = np.array(topology.radices, np.int64)
    stride = np.cumprod([1, *topology.radices])[:-1].astype(np.int64)
    ring = np.array([axis.kind == "ring" for axis in topology.axes], np.int64)
    return Grid(radix, stride, ring, _ports(topology, radix, stride, ring), topology.channels)


def _phases(program: Any, dims: int) -> Phases:
    """Return the phases of a program as arrays."""
    targets, first = [], [0]
    rows: list[_Row] = []
    for phase in program.phases:
        rows += _every_order(dims) if phase.orders is None else _even_orders(phase.orders)
        targets.append(0 if phase.target == "I" else 1)
        first.append(len(rows))
    scale = lcm(*(weight.denominator for _, weights in rows for weight in weights))
    order = np.full((len(rows), dims), -1, np.int64)
    weight = np.zeros((len(rows), dims), np.int64)
    for number, (dimensions, weights) in enumerate(rows):
        order[number, : len(dimensions)] = dimensions
        weight[number, : len(dimensions)] = [int(share * scale) for share in weights]
    when = np.full(dims, -1, np.int64)
    for x, differ in program.when:
        when[x] = int(differ)
    spread = np.array([int(x in program.spread) for x in range(dims)], np.int64)
    return Phases(when, spread, np.array(targets, np.int64), np.array(first, np.int64), order, weight, scale)


def _require_bits(topology: Topology, program: Any, phases: Phases, quadrant: bool) -> None:
    """Refuse flows whose amounts could exceed 64 bits."""
    choices = list(topology.radices)  # coordinates to draw from, in every draw
    if not quadrant:
        choices = [
            k if target == 0 or x in program.spread else 1
            for target in phases.target.tolist()
            for x, k in enumerate(topology.radices)
        ]
    finest = phases.scale * prod(2 * k for k in choices)
    if (finest * 2 * sum(topology.radices) * len(program.phases)).bit_length() > 62:
        raise RoutingError(f"the flows of {topology.spec} need more than 64 bits")


def _even_orders(orders: Any) -> list[_Row]:
    """Return orders of the dimensions, equally likely, with the weights of their steps."""
    return [(order, [Fraction(1, len(orders))] * len(order)) for order in orders]


def _every_order(dims: int) -> list[_Row]:
    """Return rows that stand for all orders of the dimensions at once.

    Where a packet is before it moves along x depends on the set of dimensions that it has moved along, not on their
    order; a set of s comes just before x in s! (dims - s - 1)! of dims! orders. So there is one row for each set
    and x, and only its last step counts.
    """
    rows: list[_Row] = []
    for s in range(dims):
        share = Fraction(factorial(s) * factorial(dims - s - 1), factorial(dims))
        for before in combinations(range(dims), s):
            for x in (x for x in range(dims) if x not in before):
                rows.append(((*before, x), [Fraction(0)] * s + [share]))
    return rows


def _ports(topology: Topology, radix: Array, stride: Array, ring: Array) -> Array:
    """Return the channel up and down each dimension from every node, -1 where there is none."""
    port = np.full((len(radix), 2, topology.nodes), -1, np.int64)
    for c in range(topology.channels):
        tail, head = int(topology.tail[c]), int(topology.head[c])
        for x in range(len(radix)):
            a, b = tail // stride[x] % radix[x], head // stride[x] % radix[x]
            if a == b:
                continue
            up = (b - a) % radix[x] == 1 if ring[x] else b > a
            down = (a - b) % radix[x] == 1 if ring[x] else b < a
            if up and port[x, 0, tail] < 0:  # on a ring of two the first channel leads up, the second down
                port[x, 0, tail] = c
            elif down:
                port[x, 1, tail] = c
    return port
