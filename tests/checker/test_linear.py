"""The one form of linear certificates: what multipliers cover, lengths and flows, against plain arithmetic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import obliv
from obliv.checker._kernels import PriceTable
from obliv.checker.linear import Excess, Lengths, attained, crossed, least_load
from obliv.flows.base import Flow
from obliv.results.claims import MalformedError

LINKS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 1), (3, 4), (4, 0)]
MESH = obliv.build("one-way", 5, LINKS, bandwidth=[1, 2, 2, 1, 1, 1, 3])
SPEEDS = [MESH.bandwidth_of(c) for c in range(7)]
LENGTHS = st.lists(st.integers(0, 9), min_size=7, max_size=7)


@given(LENGTHS, st.sampled_from([1, 2**40, 2**62]))
@settings(max_examples=30, deadline=None)
def test_distances_are_those_of_dijkstra_at_any_size(lengths: list[int], scale: int) -> None:
    table = np.full((5, 5), np.inf)
    table[MESH.tail, MESH.head] = lengths
    nearest = dijkstra(np.ma.masked_invalid(table))
    rows = np.array([[scale * length for length in lengths], [scale] * 7], object)
    under = Lengths(MESH, rows)
    for node in range(5):
        assert under.distances(node)[0].tolist() == [scale * int(far) for far in nearest[node]]
    spent = sum(speed * length for speed, length in zip(SPEEDS, lengths, strict=True))
    assert under.spent() == [scale * spent, scale * sum(SPEEDS)]


@given(LENGTHS, st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_no_routing_has_less_than_lengths_prove(lengths: list[int], image: list[int]) -> None:
    """Weak duality, on the shortest paths of the network: whatever the lengths are."""
    loads = [Fraction(0)] * 7
    for s, d in enumerate(image):
        for path, chance in obliv.routing("shortest", MESH).paths(s, d):
            for c in path:
                loads[c] += Fraction(chance) / MESH.bandwidth_of(c)
    proved = least_load(MESH, lengths, ((s, np.array([d]), 1) for s, d in enumerate(image)))
    assert proved <= max(loads)


def test_a_terminal_out_of_reach_is_no_bound() -> None:
    line = obliv.build("line", 2, [(0, 1)])
    with pytest.raises(MalformedError, match="cannot be reached"):
        least_load(line, [1], [(1, np.array([0]), 1)])


ROUTE = [(0, 0, 1, 3), (0, 1, 2, 3), (2, 2, 3, 2**61), (2, 3, 4, 2**61)]  # 3 from 0 to 2, 2**61 from 2 to 4
FLOWS = [[source, MESH.channel(tail, head), amount] for source, tail, head, amount in ROUTE]


def test_flows_attain_their_loads_only_if_they_carry_the_demand() -> None:
    demand = np.zeros((5, 5), object)
    demand[0, 2], demand[2, 4], demand[1, 1] = 3, 2**61, 7  # what a terminal sends to itself does not count
    loads = [Fraction(0)] * 7
    for _, channel, amount in FLOWS:
        loads[channel] += amount / SPEEDS[channel]
    assert attained(np.array(FLOWS), MESH, demand) == loads
    for row in range(4):
        wrong = np.array(FLOWS)
        wrong[row, 2] += 1
        assert attained(wrong, MESH, demand) is None
    demand[3, 0] = Fraction(1, 3)
    assert attained(np.array(FLOWS), MESH, demand) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(1, 9)), max_size=12))
@pytest.mark.parametrize("scale", [1, 2**70])
@settings(max_examples=30, deadline=None)
def test_what_prices_leave_is_paid_by_sources(scale: int, entries: list[tuple[int, int, int, int]]) -> None:
    """Two channels and three terminals, of which the second sends at twice the rate of the others."""
    load: Counter[tuple[int, int, int]] = Counter()
    for i, j, c, amount in entries:
        load[i, j, c] += scale * amount
    number = np.int64 if scale == 1 else object
    prices, send = np.array([[0, 0, 0], [4 * scale, 0, 2 * scale]], number), np.array([1, 2, 1], number)
    rest = Excess(2, PriceTable(np.array([0, 1]), prices.T), send, np.array([True, False]))
    for i in range(3):
        own = sorted((j, c, scale * amount) for s, j, c, amount in entries if s == i)  # some pairs cross it twice
        ends = np.array([sum(d <= j for d, _, _ in own) for j in range(3)])
        amounts, whole = np.array([amount for _, _, amount in own], number), np.array([2, 2, 2], number)
        flow = Flow(ends, np.array([c for _, c, _ in own], np.int64), amounts, whole)
        assert crossed(flow, [(0, Fraction(1, 3))], 1) == Fraction(load[i, 0, 1], 6)
        assert rest.add(i, flow)
    for c in (0, 1):
        gains = [max(load[i, j, c] - int(prices[c, j]) for j in range(3)) for i in range(3)]
        assert rest.total[c] == sum(int(send[i]) * max(0, gains[i]) for i in range(3))
    assert rest.tops_of(0).tolist() == [max(load[i, j, 0] for i in range(3)) for j in range(3)]


def test_a_load_off_the_denominator_is_noticed() -> None:
    flow = Flow(np.array([1]), np.array([0]), np.array([1]), np.array([3]))
    rest = Excess(2, PriceTable(np.array([0]), np.zeros((1, 1), np.int64)), np.array([1]), np.array([False]))
    assert not rest.add(0, flow)
