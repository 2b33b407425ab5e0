"""Electrical flows as an oblivious routing: channels are resistors, their bandwidths conductances."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.loads.base import PairLoads
from obliv.loads.differences import DifferenceLoads
from obliv.routings.base import Path, Routing
from obliv.routings.checks import terminal_numbers
from obliv.routings.graphs.decompose import paths_of_flow
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology
from obliv.topologies.links import LinkFlows, Links, links_of

__all__ = ["Electrical"]

_BITS = 40  # flows are multiples of 1/2**40
_COLUMNS = 256  # terminals that are solved at a time
_DENSE = 4096  # nodes up to which the inverse is faster than sparse factors, with all terminals as right-hand sides
_ROUNDS = 8  # of refinement at most


@register_routing("electrical")
class Electrical(Routing):
    """Electrical flow of each pair, with bandwidths as conductances, rounded to multiples of 1/2⁴⁰ of a packet.

    The flow of one unit of current from the source to the destination; packets follow it by at most one path per
    link. It needs a connected network in which every channel has an opposite of the same bandwidth.

    Notes
    -----
    What is built: the electrical unit flow from every terminal to the first one; each link outside a spanning tree
    (breadth first from the first terminal) carries it rounded to the nearest multiple of 2⁻⁴⁰, and those of the tree
    carry what conserves it exactly. The flow of a pair is the difference of the flows of its two ends: an exact unit
    flow, within 2⁻⁴⁰ of the electrical one on links outside the tree and within 2⁻⁴⁰ times the number of links on all
    others. Solutions are refined in integers before they are rounded, so that they do not depend on the solver.
    Paths are cut off the flow widest first; rounding can leave loops of some 2⁻⁴⁰ of a packet, which count as load.

    References
    ----------
    [HHN08] P. Harsha, T. Hayes, H. Narayanan, H. Räcke, J. Radhakrishnan, "Minimizing average latency in oblivious
    routing", SODA 2008.

    [KM11] J. Kelner, P. Maymounkov, "Electric routing and concurrent flow cutting", Theoretical Computer Science
    412(32), 2011.

    Examples
    --------
    >>> import obliv
    >>> ring = obliv.routing("electrical", obliv.ring(4))
    >>> [(len(channels), chance) for channels, chance in ring.paths(0, 1)]
    [(1, Fraction(3, 4)), (3, Fraction(1, 4))]
    >>> obliv.worst_case(ring).channel_load
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology) -> None:
        super().__init__(topology, "electrical")
        links_of(topology, self.spec)

    @cached_property
    def _flows(self) -> LinkFlows:
        return electrical_flows(self.topology, silent)

    @property
    def link_flows(self) -> LinkFlows | None:
        return self._flows

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        ends = terminal_numbers(self, source, destination)
        if source == destination:
            return
        flow = self._flows.between(*ends)
        used = np.flatnonzero(flow)
        amounts = dict(zip(used.tolist(), flow[used].tolist(), strict=True))
        for channels, amount in paths_of_flow(self.topology, amounts, source, destination, self.spec):
            yield channels, Fraction(amount, self._flows.denominator)

    def _loads(self, progress: Progress) -> PairLoads:
        if "_flows" not in vars(self):
            vars(self)["_flows"] = electrical_flows(self.topology, progress)
        return DifferenceLoads(self.topology, self._flows)


def electrical_flows(topology: Topology, progress: Progress) -> LinkFlows:
    """Return the electrical unit flow from every terminal to the first one, rounded and conserved exactly."""
    spec = "electrical"
    links = links_of(topology, spec)
    terminals = topology.terminals.astype(np.int64)
    count, sends = len(links.forward), len(terminals)
    work = Work(3e-7 * count * sends + 1e-9 * topology.nodes**2 * sends / 8, 8.0 * count * sends * 2)
    announce(progress, f"the electrical flows of {topology.spec}", work)
    root = int(terminals[0]) if sends else 0
    order, parent_link = _spanning_tree(topology, links, root)
    if (parent_link[terminals] < 0).sum() > (sends > 0):
        lost = next(node for node in terminals.tolist() if parent_link[node] < 0 and node != root)
        name = topology.name_of
        raise RoutingError(f"{spec}: {name(lost)} cannot be reached from {name(root)}; use a connected network")
    solver = _Potentials(topology, links, order)
    amount = np.zeros((count, sends), np.int64)
    for first in range(0, sends, _COLUMNS):
        nodes = terminals[first : first + _COLUMNS]
        amount[:, first : first + _COLUMNS] = _conserved(
            topology, links, order, parent_link, solver.flows(nodes), nodes
        )
        progress("electrical flows", min(1.0, (first + _COLUMNS) / sends))
    return LinkFlows(links, root, 2**_BITS, amount)


def _spanning_tree(topology: Topology, links: Links, root: int) -> tuple[Array, Array]:
    """Return the nodes that the root reaches, breadth first, and the link of each towards the root; -1 without."""
    parent: Array = np.full(topology.nodes, -1, np.int64)
    order, seen = [root], {root}
    for node in order:  # grows meanwhile
        for channel in range(int(topology.first_channel[node]), int(topology.first_channel[node + 1])):
            head = int(topology.head[channel])
            if head not in seen:
                seen.add(head)
                order.append(head)
                parent[head] = links.link[channel]
    return np.array(order), parent


class _Potentials:
    """Potentials of unit currents into the first node of a tree, solved with a sparse factorization and refined."""

    def __init__(self, topology: Topology, links: Links, order: Array) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.linalg import splu

        self.conductance = _conductances(topology, links)
        self.place = np.full(topology.nodes, -1, np.int64)
        self.place[order] = np.arange(len(order)) - 1  # the root is -1, and grounded
        self.size = len(order) - 1
        tail, head = (self.place[side[links.forward].astype(np.int64)] for side in (topology.tail, topology.head))
        reached = np.isin(topology.tail[links.forward], order)
        self.tail, self.head = np.where(reached, tail, -1), np.where(reached, head, -1)
        rows, columns, values = [], [], []
        for one, two in ((self.tail, self.head), (self.head, self.tail)):
            inside = one >= 0
            rows.append(one[inside])
            columns.append(one[inside])
            values.append(self.conductance[inside])
            both = inside & (two >= 0)
            rows.append(one[both])
            columns.append(two[both])
            values.append(-self.conductance[both])
        shape = (self.size, self.size)
        entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        self.laplacian = coo_array(entries, shape=shape).tocsr()
        if self.size > _DENSE:
            options = {"SymmetricMode": True}
            matrix = self.laplacian.astype(float).tocsc()
            self.solve = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
        elif self.size:
            self.solve = np.linalg.inv(self.laplacian.toarray().astype(float)).__matmul__

    def flows(self, nodes: Array) -> Array:
        """Return the currents over all links of one unit from each node, nearest integers in units of 1/2**_BITS."""
        if not self.size:
            return np.zeros((len(self.tail), len(nodes)), np.int64)
        place = self.place[nodes]
        inside = np.flatnonzero(place >= 0)
        current = np.zeros((self.size, len(nodes)), np.int64)
        current[place[inside], inside] = 2**_BITS
        potential = np.zeros((self.size + 1, len(nodes)), np.int64)  # the last row is the root
        rest = np.zeros((self.size + 1, len(nodes)))
        widest = int(self.conductance.max()) * int(np.diff(self.laplacian.indptr).max()) * 2
        for _ in range(_ROUNDS):
            rest[:-1] = self.solve((current - self.laplacian @ potential[:-1]).astype(float))
            step = np.rint(rest)
            if not step.any():
                break
            if (np.abs(potential).max() + np.abs(step).max()) * widest >= INT64_SAFE:
                raise RoutingError("electrical: the bandwidths differ too much for flows in 64 bits")
            potential += step.astype(np.int64)
            rest -= step
        if np.abs(rest).max() > 1:
            raise RoutingError("electrical: the bandwidths differ too much for an accurate solution")
        across = potential[self.tail] - potential[self.head]
        fine = np.rint((rest[self.tail] - rest[self.head]) * self.conductance[:, None]).astype(np.int64)
        flows: Array = across * self.conductance[:, None] + fine
        return flows


def _conductances(topology: Topology, links: Links) -> Array:
    """Return the bandwidths of all links as whole numbers without a common divisor."""
    speeds = [topology.bandwidth_of(channel) for channel in links.forward.tolist()]
    common = lcm(*(speed.denominator for speed in speeds))
    numbers = [int(speed * common) for speed in speeds]
    divisor = gcd(*numbers) or 1
    if max(numbers, default=0) // divisor >= 2**20:
        raise RoutingError(
            f"electrical: the bandwidths of {topology.spec} are multiples of {Fraction(divisor, common)} up to "
            f"{max(numbers) // divisor} times it; round them so that they are at most 2**20 times a common divisor"
        )
    return np.array([number // divisor for number in numbers], np.int64)


def _conserved(topology: Topology, links: Links, order: Array, parent_link: Array, flows: Array, nodes: Array) -> Array:
    """Return flows whose tree links carry what conserves them: one unit from each node to the root."""
    tail, head = topology.tail[links.forward], topology.head[links.forward]
    from scipy.sparse import csr_array

    flows[parent_link[order[1:]]] = 0
    excess = np.zeros((topology.nodes, len(nodes)), np.int64)
    excess[nodes, np.arange(len(nodes))] = 2**_BITS
    one, link = np.ones(len(tail), np.int64), np.arange(len(tail))
    shape = (topology.nodes, len(tail))
    excess += csr_array((one, (head, link)), shape) @ flows - csr_array((one, (tail, link)), shape) @ flows
    for node in order[:0:-1].tolist():  # leaves first
        tree_link = int(parent_link[node])
        outward = int(tail[tree_link]) == node
        flows[tree_link] = excess[node] if outward else -excess[node]
        excess[int(head[tree_link]) if outward else int(tail[tree_link])] += excess[node]
    return flows
