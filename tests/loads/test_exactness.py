"""Exact answers where 64 bits do not hold the numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests import strategies
from tests.oracles import paths as oracle

import obliv
from obliv.loads.base import PairLoads
from obliv.results.base import Channel


class Gate(obliv.Routing):
    """n terminals; every pair takes the gate (channel A -> B, first of two) with a probability of its own.

    So the pair loads of the gate are any matrix of numbers from 0 to 1 whatever.
    """

    def __init__(self, chances: list[list[Fraction]]) -> None:
        n = len(chances)
        links = [(i, n) for i in range(n)] + [(n, n + 1), (n, n + 1)] + [(n + 1, j) for j in range(n)]
        bandwidth = [1000] * n + [1, 1000] + [1000] * n
        super().__init__(obliv.build("gate", n + 2, links, bandwidth=bandwidth, terminals=range(n)), "gate")
        self.chances, self.gate = chances, n

    def paths(self, source: int, destination: int) -> Any:
        n, p = self.gate, self.chances[source][destination]
        for channel, share in ((n, p), (n + 1, 1 - p)):
            if share:
                yield (source, channel, n + 2 + destination), share


def gate_worst(chances: list[list[Fraction]]) -> Fraction:
    denominator = lcm(*(p.denominator for row in chances for p in row))
    return Fraction(oracle.hungarian([[int(p * denominator) for p in row] for row in chances]), denominator)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bits", [10, 40, 52, 53, 54, 57, 58, 59, 60, 61, 62, 63, 64, 65, 90, 200])
def test_any_numerators(bits: int) -> None:
    """Chances over 2^bits, many of them next to each other, against Kuhn's algorithm in Python integers."""
    rng = random.Random(bits)
    base = 2**bits
    for n in (2, 5, 8, 12):
        near = rng.randint(0, base)
        chances = [
            [
                Fraction(
                    rng.choice(
                        [0, base, base - 1, 1, max(0, near - rng.randint(0, 2)), rng.randint(0, base), base // 3]
                    ),
                    base,
                )
                for _ in range(n)
            ]
            for _ in range(n)
        ]
        chances[0][0] = Fraction(base - 1, base)
        routing = Gate(chances)
        loads = routing.pair_loads()
        assert loads.denominator == base
        assert strategies.table(loads, n) == chances
        result = obliv.worst_case(routing)
        assert result.channel.id == n
        assert result.channel_load == gate_worst(chances)
        assert sum(chances[i][j] for i, j in enumerate(result.permutation)) == result.channel_load
        assert max(loads.under(obliv.permutation(result.permutation))) == result.channel_load
        assert obliv.worst_case(routing, symmetry="off").channel_load == result.channel_load


@given(st.integers(2, 5), st.integers(0, 2**32), st.sampled_from([7, 2**61 - 1, 2**62, 2**64, 10**30, 3**100]))
@strategies.examples(80)
def test_any_chances_against_all_permutations(n: int, seed: int, largest: int) -> None:
    rng = random.Random(seed)
    chances = [[Fraction(rng.randint(0, largest), largest) for _ in range(n)] for _ in range(n)]
    chances[rng.randrange(n)][rng.randrange(n)] = Fraction(1)
    result = obliv.worst_case(Gate(chances))
    assert result.channel_load == oracle.worst_of(chances)


@given(st.integers(2, 5), st.integers(0, 2**32))
@strategies.examples(40)
def test_every_entry_has_a_denominator_of_its_own(n: int, seed: int) -> None:
    """The common denominator is a product of primes, far beyond 64 bits."""
    rng = random.Random(seed)
    primes = [p for p in range(50, 400) if all(p % q for q in range(2, 20))]
    rng.shuffle(primes)
    chances = [[Fraction(rng.randint(1, p - 1), p) for p in primes[i * n : (i + 1) * n]] for i in range(n)]
    loads = Gate(chances).pair_loads()
    whole = 1
    for row in chances:
        for chance in row:
            whole *= chance.denominator
    assert loads.denominator % whole == 0
    assert obliv.worst_case(loads).channel_load == oracle.worst_of(chances)


@pytest.mark.parametrize(
    "scale",
    [
        Fraction(1),
        Fraction(10**15 + 37, 10**15),
        pytest.param(Fraction(7, 10**20 - 39), id="small"),
        pytest.param(
            Fraction(10**20 + 39, 10**20 - 39),
        ),
    ],
)
def test_rates_with_big_denominators(scale: Fraction) -> None:
    """A transportation problem with rates and chances beyond 64 bits: against matchings of copies of the terminals."""
    rng = random.Random(3)
    for _ in range(10):
        n = rng.randint(2, 4)
        base = 2**70
        chances = [[Fraction(rng.randint(0, base), base) for _ in range(n)] for _ in range(n)]
        chances[0][0] = Fraction(1)
        # Whole rates split a terminal into so many unit terminals: a matching of the copies.
        out, into = [2] + [rng.randint(1, 3) for _ in range(n - 1)], [rng.randint(1, 3) for _ in range(n)]
        rows = [i for i, a in enumerate(out) for _ in range(a)]
        columns = [j for j, b in enumerate(into) for _ in range(b)]
        copies = [[chances[i][j] for j in columns] for i in rows]
        plain = Gate(chances)

        class Rated(Gate):
            def __init__(self, given: Gate, topology: Any) -> None:
                obliv.Routing.__init__(self, topology, "rated gate")
                self.chances, self.gate = given.chances, given.gate

        topology = plain.topology.with_rates([a * scale for a in out], [b * scale for b in into])
        result = obliv.worst_case(Rated(plain, topology))
        assert result.channel_load == scale * oracle.best_by_subsets(copies)
        assert sum(amount * chances[i][j] for i, j, amount in result.traffic) == result.channel_load


@pytest.mark.parametrize("fast", [3, 100.1, 500.1, 1000, 1e6, 1e30])
def test_rates_given_as_floats(fast: float) -> None:
    """One slow terminal at 0.1 and fast ones: DOR's worst channel of a ring carries what two terminals let through."""
    ring = obliv.ring(5).with_rates([fast, fast, 0.1, fast, fast], [1, 1, 1, 1, 1])
    # A +x channel of ring:5 is crossed by pairs (tail, +1), (tail, +2), (tail - 1, +2): destinations head, head + 1,
    # and at most one packet per cycle goes to each.  So 2 at any speed of the sources above 2.
    assert obliv.worst_case(obliv.routing("dor", ring)).channel_load == 2


# Networks whose equal splits make such denominators by themselves.


def braid(layers: int) -> tuple[int, list[tuple[int, int]]]:
    """Nodes u_i = 2i and l_i = 2i + 1; u_i splits over u_(i+1) and l_(i+1), l_i stays below, both ends meet at last.

    All ways to the last node are equally long, so ecmp splits in halves `layers` times in a row: 2^layers.
    """
    links = []
    for i in range(layers):
        links += [(2 * i, 2 * i + 2), (2 * i, 2 * i + 3), (2 * i + 1, 2 * i + 3)]
    last = 2 * layers + 2
    links += [(2 * layers, last), (2 * layers + 1, last), (last, 0), (last, 1)]
    return last + 1, links


@pytest.mark.parametrize("layers", [20, 61, 62, 63, 64, 70, 100])
def test_seventy_splits_in_a_row(layers: int) -> None:
    nodes, links = braid(layers)
    last = nodes - 1
    fast = [1000 if link[0] == last else 1 for link in links]
    topology = obliv.build("braid", nodes, links, bandwidth=fast, terminals=[0, last])
    loads = obliv.routing("ecmp", topology).pair_loads()
    assert loads.denominator == 2**layers
    under = loads.under(obliv.permutation([1, 0]))
    number = {link: c for c, link in enumerate(sorted(links, key=lambda link: link[0]))}
    for i in range(layers):
        assert under[number[2 * i, 2 * i + 2]] == Fraction(1, 2 ** (i + 1))
        assert under[number[2 * i + 1, 2 * i + 3]] == 1 - Fraction(1, 2**i)
    result = obliv.worst_case(loads)
    assert result.channel_load == 1 - Fraction(1, 2**layers)
    assert result.channel == Channel(number[2 * layers + 1, last], 2 * layers + 1, last)
    assert result.throughput == Fraction(2**layers, 2**layers - 1)
    assert loads.hops() == Fraction((layers + 1) + 1, 4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("layers", [10, 45, 75])
@pytest.mark.parametrize("wide", [2, 3])
def test_braids_with_more_terminals(layers: int, wide: int) -> None:
    """Some terminals along the way and parallel channels (thirds): against propagation by hand and all permutations."""
    nodes, links = braid(layers)
    links += [(2 * i, 2 * i + 2) for i in range(layers) for _ in range(wide - 1)]
    links += [(2 * i + 1, 2 * i + 2) for i in range(0, layers, 3)]
    links.sort(key=lambda link: link[0])
    terminals = [0, 1, 2 * (layers // 2), 2 * (layers // 2) + 1, nodes - 1]
    topology = obliv.build("braid", nodes, links, terminals=terminals)
    loads = obliv.routing("ecmp", topology).pair_loads()
    assert loads.denominator >= (1 + wide) ** layers, "a split into 1 + wide parts at every layer"
    table: list[list[dict[int, Fraction]]] = [[{} for _ in terminals] for _ in terminals]
    for j, d in enumerate(terminals):
        far = oracle.distances(nodes, [a for a, _ in links], [b for _, b in links], d)
        near: dict[int, list[int]] = {}
        for c, (a, b) in enumerate(links):
            if far[b] == far[a] - 1:
                near.setdefault(a, []).append(c)
        for i, s in enumerate(terminals):
            flow = {s: Fraction(1)}
            for node in sorted(range(nodes), key=lambda v: -far[v]):
                if node == d or node not in flow:
                    continue
                for c in near[node]:
                    share = flow[node] / len(near[node])
                    table[i][j][c] = share
                    flow[links[c][1]] = flow.get(links[c][1], Fraction()) + share
    worst = Fraction()
    for c in range(len(links)):
        expected = [[cell.get(c, Fraction()) for cell in row] for row in table]
        assert strategies.table(loads, c) == expected
        worst = max(worst, oracle.worst_of(expected))
    assert obliv.worst_case(loads).channel_load == worst


def test_the_numerators_of_a_channel_always_come() -> None:
    """Numerators fit in 64 bits although denominator · N does not: `on_channel` must give them (2^62 > 2^61)."""
    chances = [[Fraction(1, 2**61), Fraction(3, 2**61)], [Fraction(5, 2**61), Fraction(1)]]
    loads = Gate(chances).pair_loads()
    assert loads.denominator == 2**61
    assert loads.on_channel(2).toarray().tolist() == [[1, 3], [5, 2**61]]


def test_on_channel_beyond_64_bits_raises_an_error_of_the_tree() -> None:
    """One tree of errors: scipy holds no larger integers, so this cannot be answered; but never with a wrong number."""
    loads = Gate([[Fraction(1, 2**70), Fraction(3, 2**70)], [Fraction(5, 2**70), Fraction(1)]]).pair_loads()
    with pytest.raises(obliv.OblivError):
        loads.on_channel(2)


@pytest.mark.parametrize("k", [16, 17, *(pytest.param(k, marks=pytest.mark.nightly) for k in (33, 65))])
def test_hops_and_uniform_traffic_of_large_tori(k: int) -> None:
    """Minimal routings have mean hops (k² - 1)/(2k) or k/2 and uniform throughput one; Valiant twice and a half."""
    torus = obliv.torus(k, k)
    hops = Fraction(k, 2) if k % 2 == 0 else Fraction(k * k - 1, 2 * k)
    for name, times in (("dor", 1), ("romm", 1), ("o1turn", 1), ("valiant", 2)):
        loads = obliv.routing(name, torus).pair_loads()
        assert loads.hops() == times * hops
        assert set(loads.under(obliv.traffic("uniform", torus))) == {times * hops / 4}


# Against floating point, on whole networks.


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("spec", "least"), [("mesh:4x4", 4), ("mesh:7x7", 9), ("torus:8x8", 6), ("mesh:5x5x4", 8), ("hypercube:6", 6)]
)
def test_ecmp_against_scipy(spec: str, least: int) -> None:
    """All channels solved by scipy on integers below 2^53 (exact there)."""
    loads = obliv.routing("ecmp", obliv.topology(spec)).pair_loads()
    assert loads.denominator.bit_length() >= least
    best = 0
    for channel in range(loads.topology.channels):
        table = loads.on_channel(channel).toarray()
        assert int(table.sum()) < 2**53
        rows, columns = linear_sum_assignment(table, maximize=True)
        best = max(best, int(table[rows, columns].sum()))
    assert obliv.worst_case(loads).channel_load == Fraction(best, loads.denominator)


@pytest.mark.nightly
@pytest.mark.parametrize("k", [20, 24])
def test_ecmp_on_large_meshes(k: int) -> None:
    """Denominators up to 2^51 on k × k: scipy's value agrees to rounding, the witness is evaluated by hand."""
    mesh = obliv.mesh(k, k)
    loads = obliv.routing("ecmp", mesh).pair_loads()
    assert loads.denominator >= 2 ** (2 * k - 6)
    result = obliv.worst_case(loads)
    channel = result.channel.id
    tail, head = result.channel.tail, result.channel.head

    def chance(s: int, d: int) -> Fraction:
        """Equal split on the grid between s and d: the probability of passing the tail, and then the head."""
        sx, sy, dx, dy = s % k, s // k, d % k, d // k
        step = (1 if dx > sx else -1, 1 if dy > sy else -1)
        a, b = abs(dx - sx), abs(dy - sy)
        reach = {(0, 0): Fraction(1)}
        tx, ty = (tail % k - sx) * step[0], (tail // k - sy) * step[1]
        hx, hy = (head % k - sx) * step[0], (head // k - sy) * step[1]
        if not (0 <= tx <= a and 0 <= ty <= b and 0 <= hx <= a and 0 <= hy <= b and hx + hy == tx + ty + 1):
            return Fraction()
        for total in range(tx + ty):
            for x in range(total + 1):
                y = total - x
                if (x, y) not in reach:
                    continue
                ways = [(x + 1, y)] * (x < a) + [(x, y + 1)] * (y < b)
                for way in ways:
                    reach[way] = reach.get(way, Fraction()) + reach[x, y] / len(ways)
        return reach.get((tx, ty), Fraction()) / ((tx < a) + (ty < b))

    assert sum(chance(s, d) for s, d in enumerate(result.permutation)) == result.channel_load
    table = loads.on_channel(channel).toarray().astype(float) / loads.denominator
    rows, columns = linear_sum_assignment(table, maximize=True)
    assert float(result.channel_load) == pytest.approx(table[rows, columns].sum(), rel=1e-12)
    for other in range(0, mesh.channels, mesh.channels // 20):
        table = loads.on_channel(other).toarray().astype(float) / loads.denominator
        rows, columns = linear_sum_assignment(table, maximize=True)
        assert table[rows, columns].sum() <= float(result.channel_load) * (1 + 1e-12)


@pytest.mark.nightly
def test_romm_with_a_denominator_of_73_bits() -> None:
    """Notes, section 2: k = 97; the value is bracketed by the witness and by scipy on the same channel."""
    loads = obliv.routing("romm", obliv.torus(97, 97)).pair_loads()
    assert loads.denominator.bit_length() >= 73
    result = obliv.worst_case(loads)
    assert loads.under(obliv.permutation(result.permutation))[result.channel.id] == result.channel_load


def test_every_figure_of_a_result_is_exact() -> None:
    result = obliv.worst_case(Gate([[Fraction(1, 3**50), Fraction(2, 3**50)], [Fraction(1, 2**80), Fraction(1, 7)]]))
    for value in (result.channel_load, result.throughput):
        assert type(value) is Fraction
    assert result.channel_load == max(Fraction(1, 3**50) + Fraction(1, 7), Fraction(2, 3**50) + Fraction(1, 2**80))
    assert result.throughput == 1 / result.channel_load


def test_bandwidths_of_many_digits() -> None:
    links = [(v, (v + 1) % 5) for v in range(5)]
    fast = obliv.build("", 5, links, bandwidth=[3, *[10**21] * 4])
    assert obliv.worst_case(obliv.Shortest(fast)).channel_load == Fraction(4, 3)
    slow = obliv.build("", 5, links, bandwidth=[3, *[Fraction(1, 10**19)] * 4])
    with pytest.raises(obliv.TooLargeError, match="bandwidths have too many digits"):
        obliv.average_case(obliv.Shortest(slow), 10)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("spec", ["torus:5x4", "mesh:4x3", "hyperx:3x4", "torus:3x3x2", "line:5", "ring:2"])
@pytest.mark.parametrize("routing", ["romm", "valiant", "dor"])
def test_loads_beyond_64_bits_on_small_networks(spec: str, routing: str) -> None:
    """The loads are those of machine words, entry by entry, pair by pair and in sums."""
    topology = obliv.topology(spec)
    narrow: Any = obliv.routing(routing, topology).pair_loads()
    wide: Any = obliv.routing(routing, topology).pair_loads()
    wide.__dict__["_dtype"] = object
    source, destination = (side.ravel() for side in np.indices((topology.nodes, topology.nodes)))
    for channel in range(0, topology.channels, 3):
        one, two = narrow.weights(channel), wide.weights(channel)
        values, number = two.distinct
        assert two.weight.dtype == object
        assert (values[number] == two.weight).all()
        for a, b in zip(one.spread(), two.spread(), strict=True):
            assert a.tolist() == b.tolist()
        pairs = [loads.between(channel, source, destination).tolist() for loads in (narrow, wide)]
        assert pairs[0] == pairs[1] == one.of(source, destination).tolist()
    assert wide.totals().tolist() == narrow.totals().tolist() == PairLoads.totals(narrow).tolist()
    assert obliv.worst_case(wide).channel_load == obliv.worst_case(narrow).channel_load


def test_chances_of_nodes_that_no_packet_visits_do_not_matter() -> None:
    """Nodes 0 and 1 exchange packets directly; at node 2 chances have denominators beyond 64 bits."""

    class Aside(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> Any:
            there = [channel for channel in range(topology.channels) if topology.tail[channel] == node]
            direct = [channel for channel in there if topology.head[channel] == destination]
            rare = Fraction(1, 3**60)
            return [(direct[0], rare), (direct[1], 1 - rare)] if node == 2 else [(direct[0], 1)]

    links = [(0, 1), (1, 0), (2, 0), (2, 0), (2, 1), (2, 1), (0, 2), (1, 2)]
    topology = obliv.build("aside", 3, links, terminals=[0, 1])
    loads = Aside(topology, "aside").pair_loads()
    assert loads.denominator == 1
    assert strategies.table(loads, topology.channel(0, 1)) == [[0, 1], [0, 0]]
    used = [channel for channel in range(topology.channels) if loads.on_channel(channel).nnz]
    assert used == [topology.channel(0, 1), topology.channel(1, 0)]
    plain = obliv.routing("shortest", obliv.mesh(3, 3)).pair_loads()
    assert plain.on_channel(0).dtype == np.int64  # Python integers would be exact, but slow
