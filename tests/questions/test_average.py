"""The average case against exact values, against evaluating permutation by permutation, and against itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import gcd, isqrt, prod

import numpy as np
import pytest

import obliv
from obliv.questions import average as random_traffic
from obliv.questions.average import PairWords, pair_words
from obliv.questions.kernels.permutations import largest_loads, random_permutations
from obliv.results.numbers import shown

NETWORKS = [
    ("mesh:3x2", "u2turn"),
    ("mesh:2x3", "valiant"),
    ("mesh:3x2", "1/2*dor+1/2*xyx"),  # more words for links along x than along y
    ("torus:3x2", "romm"),
    ("torus:2x3", "dor"),
    ("ring:5", "ival"),
    ("line:6", "dor"),
    ("hypercube:2", "o1turn"),
    ("hyperx:3x2", "u2turn-a:p=1/3"),
    ("complete:5", "valiant"),
    ("mesh:2x2x2", "u2turn"),
    ("random-regular:n=6,d=3,seed=1", "ecmp"),
    ("random-regular:n=6,d=3,seed=1", "valiant"),
    ("torus:3x2", "1/3*dor+2/3*ecmp"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("network", "routing"), NETWORKS)
def test_exact_equals_permutation_by_permutation(network: str, routing: str) -> None:
    loads = obliv.routing(routing, obliv.topology(network)).pair_loads()
    n = loads.terminals
    parts = pair_words(loads)
    for order in [np.random.default_rng(k).permutation(n).tolist() for k in range(60 if n > 7 else 5)]:
        assert Fraction(_largest(parts, order), parts.denominator) == max(loads.under(obliv.permutation(order)))
    if n > 7:
        return
    orders = np.array(list(permutations(range(n))))
    tables = np.stack([loads.on_channel(c).toarray() for c in range(loads.topology.channels)])
    largest = tables[:, np.arange(n), orders].sum(axis=2).max(axis=0)  # channel, permutation, source
    every = [Fraction(int(load), loads.denominator) for load in largest]
    result = obliv.average_case(loads, exact=True)
    assert result.channel_load == sum(every, Fraction(0)) / len(every)
    assert result.samples == len(every)
    if min(every) == 0:
        assert result.mean_throughput is None
        assert result.mean_throughput_reason
    else:
        assert result.mean_throughput == sum((1 / load for load in every), Fraction(0)) / len(every)


def _largest(parts: PairWords, order: list[int]) -> int:
    """Interpreted; the kernel visits the sources in an order of its own, which the table of entries has to match."""
    n = parts.terminals
    step = next(s for s in range(isqrt(n) + 1, 2 * n + 2) if gcd(s, n) == 1)
    image = np.array(order)[np.arange(n) * step % n]
    out = np.empty(1, np.int64)
    largest_loads(image[None], parts.entries, np.full_like(parts.entries.base, -1), out)
    return int(out[0])


def test_values_over_all_permutations_of_the_3x3_mesh() -> None:
    """Source: the exact averages over 9! permutations that settle the table of the U2TURN paper."""
    mesh = obliv.mesh(3, 3)
    for routing, wanted in (("dor", Fraction(241920, 590783)), ("u2turn", Fraction(725760, 1190837))):
        exact = obliv.average_case(obliv.routing(routing, mesh), exact=True)
        assert exact.fraction_of_capacity == wanted
        drawn = obliv.average_case(obliv.routing(routing, mesh), 50_000, 7).fraction_of_capacity
        assert isinstance(drawn, obliv.Estimate)
        assert abs(drawn.value - float(wanted)) < 3 * drawn.stderr


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("network", "routing"), NETWORKS[:5])
def test_the_largest_load_of_all_permutations_is_the_worst_case(network: str, routing: str) -> None:
    loads = obliv.routing(routing, obliv.topology(network)).pair_loads()
    result = obliv.average_case(loads, exact=True)
    largest = max(max(loads.under(obliv.permutation(order))) for order in permutations(range(loads.terminals)))
    assert result.largest_load == result.worst_load == largest
    assert result.largest_permutation is not None
    assert max(loads.under(obliv.permutation(result.largest_permutation))) == largest
    assert f"largest load         {shown(largest)}, the worst case" in repr(result)


def test_the_largest_load_of_a_sample_is_that_of_the_permutations_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_traffic, "_BLOCK", 150)  # 6 permutations of 25 terminals
    routing = obliv.routing("romm", obliv.topology("torus:5x5,bandwidth=1x1/3"))
    loads = routing.pair_loads()
    n, sources = loads.terminals, pair_words(loads).sources
    lower = set()
    for seed in range(2):
        results = [obliv.average_case(routing, 20, seed, jobs=jobs) for jobs in (1, 3)]
        assert results[0] == results[1]
        drawn = []
        for block in range(4):
            images = np.empty((min(6, 20 - 6 * block), n), np.int32)
            random_permutations.compiled()(seed, block, images)
            for image in images:
                order = np.empty(n, np.int64)
                order[sources] = image
                drawn.append(tuple(order.tolist()))
        every = [max(loads.under(obliv.permutation(order))) for order in drawn]
        assert results[0].largest_load == max(every)
        assert results[0].largest_permutation == drawn[every.index(max(every))]
        assert results[0].worst_load == obliv.worst_case(routing).channel_load
        lower.add(max(every) < results[0].worst_load)
    assert True in lower
    assert "of those drawn; the worst case is" in repr(results[0])


def test_the_largest_load_is_left_out_where_it_bounds_nothing() -> None:
    mesh = obliv.mesh(3, 3)
    for options in ({"ensemble": "sinkhorn"}, {"ensemble": "birkhoff:2"}, {"path_samples": 5}):
        result = obliv.average_case(obliv.routing("romm", mesh), 20, 1, **options)  # type: ignore[arg-type]
        assert (result.largest_load, result.largest_permutation, result.worst_load) == (None, None, None)
        assert "largest_load" not in result.to_dict()


def test_valiant_is_one_half_whatever_the_permutation() -> None:
    result = obliv.average_case(obliv.routing("valiant", obliv.mesh(4, 4)), 1000, 1)
    assert result.fraction_of_capacity == obliv.Estimate(0.5, 0.0, 1000)


def test_the_digits_depend_on_the_seed_and_not_on_the_threads() -> None:
    way = obliv.routing("o1turn", obliv.mesh(5, 5))
    results = [obliv.average_case(way, 30_000, 5, jobs=jobs).channel_load for jobs in (1, 2, 5)]
    assert results[0] == results[1] == results[2]
    assert obliv.average_case(way, 30_000, 6).channel_load != results[0]
    rng = np.random.default_rng(3)
    assert obliv.average_case(way, 1000, rng).provenance.seed == int(np.random.default_rng(3).integers(2**62))


def test_bandwidths_count() -> None:
    topology = obliv.build("square", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], bandwidth=[1, 2, "1/3", 5])
    loads = obliv.routing("shortest", topology).pair_loads()
    every = [max(loads.under(obliv.permutation(order))) for order in permutations(range(4))]
    assert obliv.average_case(loads, exact=True).channel_load == sum(every, Fraction(0)) / 24


def test_permutations_are_uniform() -> None:
    """Every permutation of four as often as any other, by the loads of a network that tells them all apart."""
    links = [(i, j) for i in range(4) for j in range(4) if i != j]
    topology = obliv.build("all", 4, links, bandwidth=[Fraction(1, 2**k) for k in range(12)])
    parts = pair_words(obliv.routing("shortest", topology).pair_loads())
    images, out = np.empty((48_000, 4), np.int32), np.empty(48_000, np.int64)
    random_permutations.compiled()(11, 3, images)
    largest_loads.compiled()(images, parts.entries, np.empty_like(parts.entries.base), out)
    # the largest load names the dearest channel used; how many permutations use none dearer is counted
    wanted: dict[int, int] = {}
    for order in permutations(range(4)):
        used = [2 ** links.index((i, j)) for i, j in enumerate(order) if i != j]
        wanted[max(used, default=0)] = wanted.get(max(used, default=0), 0) + 1
    values, counts = np.unique(out, return_counts=True)
    assert set((values // (values[1] // min(filter(None, wanted)))).tolist()) == set(wanted)
    for count, share in zip(counts, [wanted[key] for key in sorted(wanted)], strict=True):
        mean = 48_000 * share / 24
        assert abs(count - mean) < 5 * mean**0.5


def _drawn(seed: int, block: int, n: int, count: int) -> list[list[int]]:
    """The permutations of a seed and a block in plain Python: splitmix64, halves of 64 bits, up to three exchanges."""
    most = 2**64 - 1
    state = seed
    for salt in (block, 0):
        for _ in range(2):
            state = (state ^ (state >> 32)) * 0xD6E8FEB86659FD93 & most
        state = (state ^ (state >> 32)) + salt * 0x9E3779B97F4A7C15 & most
    halves: list[int] = []
    drawn = []
    for _ in range(count):
        image = list(range(n))
        top = n - 1
        while top > 0:
            sizes = [size for size in (top + 1, top, top - 1) if size > 1] if top < 1600 else [top + 1]
            while True:
                if not halves:
                    state = state + 0x9E3779B97F4A7C15 & most
                    word = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & most
                    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & most
                    word ^= word >> 31
                    halves = [word % 2**32, word >> 32]
                rest, places = halves.pop(0), []
                for size in sizes:
                    place, rest = divmod(rest * size, 2**32)
                    places.append(place)
                if rest >= 2**32 % prod(sizes):  # the last leftover must not be one of those that come too often
                    break
            for k, place in enumerate(places):
                image[top - k], image[place] = image[place], image[top - k]
            top -= 3 if top < 1600 else 1
        drawn.append(image)
    return drawn


@pytest.mark.parametrize(("n", "count"), [(1, 3), (2, 40), (3, 40), (4, 40), (5, 40), (9, 60), (64, 20), (1700, 2)])
@pytest.mark.parametrize(("seed", "block"), [(0, 0), (7, 3), (2**62 + 5, 2**33)])
def test_permutations_are_those_of_the_generator(n: int, count: int, seed: int, block: int) -> None:
    images = np.empty((count, n), np.int32)
    random_permutations.compiled()(seed, block, images)
    assert images.tolist() == _drawn(seed, block, n, count)


def test_the_digits_of_a_seed() -> None:
    """The same seed gives the same answer, in later versions too: blocks of 2^16 // n permutations."""
    loads = obliv.routing("1/2*valiant+1/2*dor", obliv.mesh(3, 2)).pair_loads()
    n, size, step = 6, 2**16 // 6, 5  # row position k is source k · step modulo n
    images = [image for block in (0, 1) for image in _drawn(5, block, n, size if block == 0 else 40)]
    tables = np.stack([loads.on_channel(c).toarray() for c in range(loads.topology.channels)])
    largest = tables[:, np.arange(n) * step % n, np.array(images)].sum(axis=2).max(axis=0)
    worst = largest / loads.denominator
    result = obliv.average_case(loads, len(images), 5)
    for estimate, values in ((result.channel_load, worst), (result.mean_throughput, 1 / worst)):
        assert isinstance(estimate, obliv.Estimate)
        assert estimate.samples == len(images)
        assert estimate.value == pytest.approx(values.mean(), rel=1e-13)
        assert estimate.stderr == pytest.approx(values.std(ddof=1) / len(images) ** 0.5, rel=1e-9)


@pytest.mark.parametrize("spec", ["mesh:7x7", "torus:5x5"])
def test_equal_loads_have_no_error(spec: str) -> None:
    """Valiant loads some channel as much under every permutation; neither mean is blurred by rounding."""
    result = obliv.average_case(obliv.routing("valiant", obliv.topology(spec)), 300, 1)
    for estimate in (result.channel_load, result.mean_throughput):
        assert isinstance(estimate, obliv.Estimate)
        assert estimate.stderr == 0


def test_doubly_stochastic_matrices() -> None:
    way = obliv.routing("dor", obliv.mesh(3, 3))
    single = obliv.average_case(way, 4000, 1, ensemble="birkhoff:1").channel_load
    drawn = obliv.average_case(way, 4000, 1).channel_load
    assert abs(single.value - drawn.value) < 5 * (single.stderr**2 + drawn.stderr**2) ** 0.5
    worst = float(obliv.worst_case(way).channel_load)
    uniform = float(max(way.pair_loads().under(obliv.traffic("uniform", obliv.mesh(3, 3)))))
    for ensemble in ("birkhoff:4", "sinkhorn"):
        mean = obliv.average_case(way, 500, 1, ensemble=ensemble).channel_load.value
        assert uniform < mean < min(worst, drawn.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 1}, "at least 2"),
        ({"samples": -5}, "at least 2"),
        ({"samples": 10, "ensemble": "birkhoff"}, "birkhoff:K"),
        ({"samples": 10, "ensemble": "birkhoff:0"}, "birkhoff:K"),
        ({"samples": 10, "ensemble": "birkhoff:²"}, "birkhoff:K"),
        ({"samples": 10, "ensemble": "gauss"}, "choose"),
        ({"samples": 10, "ensemble": None}, "choose"),
        ({"exact": True}, "up to 9"),
        ({"samples": 10, "rng": -1}, "seed"),
    ],
)
def test_mistakes(options: dict[str, object], message: str) -> None:
    with pytest.raises(obliv.InputError, match=message):
        obliv.average_case(obliv.routing("dor", obliv.mesh(4, 4)), **options)  # type: ignore[arg-type]


def test_result_round_trip(tmp_path: object) -> None:
    import json

    result = obliv.average_case(obliv.routing("dor", obliv.mesh(3, 3)), exact=True)
    content = json.loads(json.dumps(result.to_dict()))
    assert content["kind"] == "average"
    assert content["mean_throughput"] is None
    assert content["mean_throughput_reason"]
    assert obliv.Average.from_dict(content) == result
