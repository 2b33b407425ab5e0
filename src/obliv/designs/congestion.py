"""The least congestion of one traffic: what the best routing for it alone achieves, by a linear program.

Packets of one source may share columns whatever their destinations, so there is a flow for each source only. Lengths
of channels bound the optimum from below: Σ traffic × distance ≤ load × Σ bandwidth × length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.designs._kernels import Channels, distances
from obliv.designs.solver import solve
from obliv.designs.symmetry import Symmetry, orbits
from obliv.designs.vertices import as_rationals
from obliv.kernels import run
from obliv.topologies.base import Topology

__all__ = ["Congestion", "distance_under", "least_congestion"]

_SCALE = 10**7  # of rounded lengths
_VERTEX_ROWS = 3000


@dataclass(frozen=True, eq=False)
class Congestion:
    """The least load of a traffic, approximately, and what proves a lower bound of it.

    Parameters
    ----------
    lower : Fraction
        Proved by the lengths, whatever the solver did.
    length : int64 array, shape (channels,)
    flow : float array, shape (terminals, channels)
        How much of every source's packets crosses each channel.
    """

    lower: Fraction
    length: Array
    flow: Array


def least_congestion(topology: Topology, traffic: Array, scale: int, symmetry: Symmetry | None = None) -> Congestion:
    """Return the least largest channel load of a traffic, over all routings of it.

    Parameters
    ----------
    topology : Topology
    traffic : int64 array, shape (terminals, terminals)
        Packets from every source to every destination, in units of 1 / `scale`.
    scale : int
    symmetry : Symmetry, optional
        Symmetries of network and traffic; reversal takes no part.
    """
    terminals, channels, nodes = len(topology.terminals), topology.channels, topology.nodes
    require_memory(80.0 * terminals * channels, f"the linear program of {topology.spec}")
    maps = symmetry.generators if symmetry else ()
    source, channel = (part.ravel() for part in np.indices((terminals, channels)))
    label, count = orbits(len(source), [g.terminals[source] * channels + g.channels[channel] for g in maps])
    column = label.reshape(terminals, channels)
    at, node = (part.ravel() for part in np.indices((terminals, nodes)))
    rows, _ = orbits(len(at), [g.terminals[at] * nodes + g.nodes[node] for g in maps])
    _, first = np.unique(rows, return_index=True)
    first = first[topology.terminals[at[first]] != node[first]]  # the row of the source follows from the others
    place = np.full(terminals * nodes, -1)
    place[first] = np.arange(len(first))
    head, tail = topology.head.astype(np.int64), topology.tail.astype(np.int64)
    into, out = place[source * nodes + head[channel]], place[source * nodes + tail[channel]]
    entries = [(sign, row[row >= 0], label[row >= 0]) for sign, row in ((1.0, into), (-1.0, out))]
    conserve = csr_array(
        (
            np.concatenate([np.full(len(row), sign) for sign, row, _ in entries]),
            (np.concatenate([row for _, row, _ in entries]), np.concatenate([col for *_, col in entries])),
        ),
        shape=(len(first), count),
    )
    arriving = np.zeros((terminals, nodes))
    arriving[:, topology.terminals] = traffic / scale
    needed = arriving.ravel()[first]
    alike, groups = orbits(channels, [g.channels for g in maps])
    _, focus = np.unique(alike, return_index=True)
    speed = np.array([float(topology.bandwidth_of(int(c))) for c in focus])
    carried = csr_array(
        (np.full(groups * terminals, -1.0), (np.repeat(np.arange(groups), terminals), column[:, focus].T.ravel())),
        shape=(groups, count),
    )
    matrix = vstack([hstack([conserve, csr_array((len(first), 1))]), hstack([carried, csr_array(speed[:, None])])])
    lower = np.concatenate([needed, np.zeros(groups)])
    upper = np.concatenate([needed, np.full(groups, np.inf)])
    cost = np.zeros(count + 1)
    cost[-1] = 1
    tolerance = None if matrix.shape[0] <= _VERTEX_ROWS else 1e-6
    optimum = solve(csc_array(matrix), lower, upper, cost, tolerance=tolerance)
    price = np.maximum(optimum.duals[len(needed) :], 0) / np.bincount(alike)
    candidates = [_whole(price)[alike]]
    simple = as_rationals(price / price.max() if price.max() > 0 else price)
    if simple is not None and simple[0].max() <= _SCALE * 100:
        candidates.append(simple[0][alike])
    bounds = [(_bound(topology, traffic, scale, length), length) for length in candidates]
    best, length = max(bounds, key=lambda bound: bound[0])
    return Congestion(best, length, optimum.columns[:count][column])


def _whole(values: Array) -> Array:
    largest = values.max(initial=0.0)
    return np.rint(values * (_SCALE / largest if largest > 0 else 0.0)).astype(np.int64)


def distance_under(topology: Topology, length: Array) -> Array:
    """Return the distances between terminals when channels have lengths; integers ≥ 0."""
    terminals = topology.terminals.astype(np.int64)
    between = np.empty((len(terminals), len(terminals)), np.int64)
    network = Channels(topology.first_channel, topology.head.astype(np.int64))
    run(distances, 20.0 * len(terminals) * topology.channels, network, terminals, length, between)
    return between


def _bound(topology: Topology, traffic: Array, scale: int, length: Array) -> Fraction:
    """Return the lower bound of the load that lengths prove, exactly."""
    spent = sum((topology.bandwidth_of(c) * int(x) for c, x in enumerate(length.tolist()) if x), Fraction(0))
    if not spent:
        return Fraction(0)
    paid = (distance_under(topology, length).astype(object) * traffic).sum()
    return Fraction(int(paid), scale) / spent
