"""Routings that are not what they say: the flows of each description are checked, each part by its own check.

The claims are genuine, and about a routing of the same network; what is passed in its place lies in one point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import obliv
from obliv.flows.base import path_flows
from obliv.flows.sources import denominator_of, source_flows
from obliv.loads.separable import Phase, Program
from obliv.routings.descriptions import ClusterTrees, DecompositionTree, TwoPhases
from obliv.routings.hops import hops_of
from obliv.topologies.base import find
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.trees import NumberedPaths

RING, LINE, TREE = obliv.ring(3), obliv.line(3), obliv.fattree(4, 2)
HALF = Fraction(1, 2)
Change = Callable[[Any], Any]


@cache
def genuine(network: obliv.Topology) -> obliv.WorstCase:
    spec = "dmodk" if network is TREE else "shortest"
    return obliv.worst_case(obliv.routing(spec, network), certificate=True)


def liar(network: obliv.Topology, kind: type = obliv.Routing, **parts: Any) -> obliv.Routing:
    """A routing with descriptions as given."""
    routing: obliv.Routing = type("Liar", (kind,), parts)(network, "liar")
    return routing


def by_paths(*paths: Any) -> obliv.Routing:
    """The shortest path of every pair of a ring of three, but for the paths from node 0 to node 1."""

    def of(self: Any, source: int, destination: int) -> Any:
        if (source, destination) == (0, 1):
            return paths
        far = (destination - source) % 3
        return [((2 * source + far - 1,) if far else (), 1)]

    return liar(RING, paths=of)


def by_hops(hops: Any, there: Any = None, **parts: Any) -> obliv.Routing:
    """The shortest path of every pair of a ring, but for the next hops of node 0, and of node 2, towards node 1."""

    def of(self: Any, node: int, destination: int) -> Any:
        own = {(0, 1): hops, (2, 1): there}.get((node, destination))
        far = (destination - node) % 3
        return ([2 * node + far - 1] if far else []) if own is None else own

    return liar(RING, obliv.HopRouting, next_hops=of, **parts)


def by_next(channel: Callable[[Any, Any], Any]) -> obliv.Routing:
    """Where a packet goes at each node, for many nodes at once."""

    def describe(self: Any) -> Any:
        return (hops_of(self)._replace(next_channels=channel),)

    return liar(RING, obliv.HopRouting, describe=describe, next_hops=lambda self, node, d: [])


def by_flows(change: Change, links: Change = lambda links: links) -> obliv.Routing:
    """Electrical flows on a line, or other ones."""
    honest = find(obliv.routing("electrical", LINE), LinkFlows)
    assert honest is not None
    flows = change(replace(honest, links=links(honest.links)))
    return liar(LINE, describe=lambda self: (flows,))


def amounts(to: Change) -> Change:
    return lambda flows: replace(flows, amount=to(flows.amount.copy()))


def by_tree(**parts: Any) -> obliv.Routing:
    """A tree over the nodes of a line: all of them, then 0 with 1, then each alone."""
    tree = DecompositionTree(
        parent=np.array([-1, 0, 0, 1, 1]),
        first=np.array([0, 0, 2, 0, 1]),
        end=np.array([3, 2, 3, 1, 2]),
        order=np.array([0, 1, 2]),
        leaf=np.array([3, 4, 2]),
        up=[(), (), (LINE.channel(2, 1),), (LINE.channel(0, 1),), ()],  # the center of both clusters is node 1
    )
    arrays = {key: np.array(value) if key != "up" else value for key, value in parts.items()}
    return liar(LINE, describe=lambda self: (ClusterTrees([tree._replace(**arrays)]),))


def put(index: Any, value: Any) -> Change:
    def change(array: Any) -> Any:
        array = array.copy()
        array[index] = value
        return array

    return change


def links(**changes: Change) -> obliv.Routing:
    """Flows over links of which some parts are changed."""
    return by_flows(
        lambda flows: flows,
        lambda honest: replace(honest, **{key: change(getattr(honest, key)) for key, change in changes.items()}),
    )


def paired(*pairs: tuple[tuple[int, int], tuple[int, int]]) -> obliv.Routing:
    """Flows over pairs of channels, each given by its ends."""
    forward, backward = np.array([[LINE.channel(*channel) for channel in pair] for pair in pairs]).T
    link, sign = np.zeros((2, 4), np.int64)
    link[forward] = link[backward] = range(len(pairs))
    sign[forward], sign[backward] = 1, -1
    return by_flows(lambda flows: flows, lambda honest: type(honest)(forward, backward, link, sign))


def two_phases(share: Fraction) -> obliv.Routing:
    """Two phases by paths, of which some are taken with a share that the denominator of a claim does not have."""
    base = by_paths(((0,), share), ((1, 5), 1 - share))
    return liar(RING, describe=lambda self: (TwoPhases(base),))


def many_orders() -> obliv.Routing:
    """Phases whose shares have the product of ten primes as their common denominator."""
    primes = (53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
    phases = tuple(Phase("D", ((0,),) * prime) for prime in primes)
    return liar(RING, programs=(Program(Fraction(1), phases),))


def by_number() -> obliv.Routing:
    """Numbered paths of a tree whose leaves have their hosts in another order."""
    honest = find(obliv.routing("dmodk", TREE), NumberedPaths)
    assert honest is not None
    head = TREE.head.copy()
    head[8:10] = head[9], head[8]
    return liar(TREE, describe=lambda self: (honest._replace(topology=replace(TREE, head=head), alike=1),))


def mix(*weights: Fraction) -> obliv.Routing:
    part = obliv.routing("shortest", RING)
    return liar(RING, components=lambda self: tuple((weight, part) for weight in weights))


PAIRS = "the links of the flows are not pairs of opposite channels"
NESTED = "the clusters of a tree are not nested"
LIARS: list[tuple[str, Callable[[], obliv.Routing], str]] = [
    ("shares", lambda: by_paths(((0,), HALF)), "the paths from node 0 to node 1 have probability 1/2"),
    ("more", lambda: by_paths(((0,), 1), ((0,), 1)), "the paths from node 0 to node 1 have probability 2"),
    ("gap", lambda: by_paths(((2,), 1)), "a path takes channel 2 at node 0, where it does not begin"),
    ("-1", lambda: by_paths(((-1,), 1)), "a path takes channel -1 at node 0, where it does not begin"),
    ("6", lambda: by_paths(((6,), 1)), "a path takes channel 6 at node 0, where it does not begin"),
    ("end", lambda: by_paths(((1,), 1)), "a path to node 1 ends at node 2"),
    ("chance", lambda: by_paths(((0,), "x")), "'x' is not a probability"),
    ("hop", lambda: by_hops([2]), "next hop 2 of node 0 is not a channel that leaves it"),
    ("hop -6", lambda: by_hops([-6]), "next hop -6 of node 0 is not a channel that leaves it"),
    ("hop 6", lambda: by_hops([6]), "next hop 6 of node 0 is not a channel that leaves it"),
    ("half", lambda: by_hops([(0, HALF)]), "the next hops of node 0 towards 1 do not add up to 1"),
    ("no hop", lambda: by_hops([]), "node 0 has no next hop towards node 1"),
    ("loop", lambda: by_hops([1], [4]), "the next hops towards node 1 form a loop"),
    ("whole", lambda: by_hops([(0, HALF), (1, HALF)]), "the loads of liar are not integers over 1"),
    ("any 6", lambda: by_hops([6], any_choice=True), "next hop 6 of node 0 is not a channel that leaves it"),
    ("any -6", lambda: by_hops([-6], any_choice=True), "next hop -6 of node 0 is not a channel that leaves it"),
    ("any 2", lambda: by_hops([2], any_choice=True), "next hop 2 of node 0 is not a channel that leaves it"),
    ("astray", lambda: by_hops([], any_choice=True), "next hops from node 0 can lead packets for node 1 astray"),
    ("next 6", lambda: by_next(lambda at, end: at * 0 + 6), "node 0 has no next hop towards node 1"),
    ("next -6", lambda: by_next(lambda at, end: at * 0 - 6), "node 0 has no next hop towards node 1"),
    ("next 2", lambda: by_next(lambda at, end: (at * 2 + 2) % 6), "node 0 has no next hop towards node 1"),
    ("next loop", lambda: by_next(lambda at, end: at * 2 + (at == 1)), "the next hops towards node 2 form a loop"),
    ("bits", many_orders, "the flows of ring:3 need more than 64 bits"),
    ("number", by_number, "the path from node 0 to node 1 does not end there"),
    ("mix", lambda: mix(HALF), "the weights of liar do not add up to 1"),
    ("mix < 0", lambda: mix(HALF, 2 * HALF, -HALF), "the weights of liar do not add up to 1"),
    ("phases", lambda: two_phases(Fraction(1, 3)), "the loads of liar are not integers over 3"),
    ("forward", lambda: links(forward=put(0, 3)), PAIRS),
    ("link", lambda: links(link=lambda link: link[::-1].copy()), PAIRS),
    ("sign", lambda: links(sign=put(0, -1)), PAIRS),
    ("sign back", lambda: links(sign=put(LINE.channel(1, 0), 1)), PAIRS),
    ("tails", lambda: paired(((0, 1), (1, 2)), ((2, 1), (1, 0))), PAIRS),
    ("heads", lambda: paired(((1, 0), (2, 1)), ((1, 2), (0, 1))), PAIRS),
    ("shape", lambda: by_flows(amounts(lambda rows: rows[:, 1:])), "the flows do not fit the links and terminals"),
    ("over 0", lambda: by_flows(lambda flows: replace(flows, denominator=0)), "the flows do not fit the links"),
    ("huge", lambda: by_flows(amounts(put((0, 0), 2**62))), "the flows exceed 64 bits"),
    ("-huge", lambda: by_flows(amounts(put((0, 0), -(2**62)))), "the flows exceed 64 bits"),
    ("over huge", lambda: by_flows(lambda flows: replace(flows, denominator=2**62)), "the flows exceed 64 bits"),
    ("leak", lambda: by_flows(amounts(put((0, 1), 5))), "the flow of terminal 1 is not conserved at node 0"),
    ("order", lambda: by_tree(order=[0, 1, 1]), NESTED),
    ("ends", lambda: by_tree(end=[3, 2, 3, 1]), NESTED),
    ("all", lambda: by_tree(end=[2, 2, 3, 1, 2]), NESTED),
    ("parent", lambda: by_tree(parent=[-1, 0, 0, 1, 4]), NESTED),
    ("-parent", lambda: by_tree(parent=[-1, 0, 0, 1, -1]), NESTED),
    ("outside", lambda: by_tree(parent=[-1, 0, 0, 1, 2], first=[0, 0, 2, 0, 1]), NESTED),
    ("climb", lambda: by_tree(up=[(), (), (0,), (0,), ()]), "a path between two clusters takes channel 0 at node 2"),
    ("climb 9", lambda: by_tree(up=[(), (), (9,), (0,), ()]), "a path between two clusters takes channel 9 at node 2"),
    ("center", lambda: by_tree(up=[(), (), (), (0,), ()]), "the paths to a cluster end at nodes"),
]


@pytest.mark.parametrize(("make", "why"), [(make, why) for _, make, why in LIARS], ids=[name for name, _, _ in LIARS])
def test_each_part_is_refused_by_its_own_check(make: Callable[[], obliv.Routing], why: str) -> None:
    routing = make()
    (said,) = [step.detail for step in obliv.verify(genuine(routing.topology), routing=routing).checks if not step.ok]
    assert why in said


HONEST: list[Callable[[], obliv.Routing]] = [
    lambda: by_paths(((0,), 1)),
    lambda: by_hops([0]),
    lambda: by_hops([0], any_choice=True),
    lambda: by_flows(lambda flows: flows),
    lambda: by_tree(),
]


@pytest.mark.parametrize("make", HONEST)
def test_what_is_changed_is_proved(make: Callable[[], obliv.Routing]) -> None:
    routing = make()
    assert obliv.verify(genuine(routing.topology), routing=routing).proved


PARALLEL = obliv.build("parallel", 3, [(0, 1), (0, 1), (1, 0), (1, 2), (2, 0), (2, 1), (2, 0)])


@pytest.mark.parametrize(
    ("network", "routing"),
    [
        ("torus:4x3", "romm"),  # with ties
        ("torus:2x3", "romm"),
        ("mesh:3x4", "romm:xy"),
        ("mesh:2x3x2", "romm"),
        ("mesh:3x3", "0.5*dor + 0.5*o1turn"),
        ("torus:4x4", "dor"),
        ("random-regular:n=18,d=3,seed=1", "ecmp"),  # more sources than follow hops together
        ("random-regular:n=12,d=3,seed=1", "shortest"),
        (PARALLEL, "ecmp"),
        (PARALLEL, "shortest"),
    ],
)
def test_flows_are_those_of_the_paths(network: Any, routing: str) -> None:
    made = obliv.routing(routing, obliv.topology(network) if isinstance(network, str) else network)
    described, listed = source_flows(made, denominator_of(made)), path_flows(made, lambda: None)
    for i in reversed(range(len(made.topology.terminals))):
        assert sorted(described(i).loads()) == sorted(listed(i).loads())


def test_own_next_hops_of_a_subclass_count() -> None:
    class Last(obliv.ECMP):
        def next_hops(self, node: int, destination: int) -> list[int]:
            return super().next_hops(node, destination)[-1:]

    first, last = source_flows(obliv.Shortest(PARALLEL), 1)(0), source_flows(Last(PARALLEL), 1)(0)
    assert (first.channel.tolist(), last.channel.tolist()) == ([0, 0, 3], [1, 1, 3])
