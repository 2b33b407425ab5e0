"""The statistical approach of Towles, section 3.2, and relative routing, section 4.2."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.strategies import ladder_of_skips, table

import obliv
from obliv._util.progress import silent
from obliv.cli import main
from obliv.cli.output import Answer
from obliv.loads.mixed import MixedLoads, TwoPhaseLoads
from obliv.results.numbers import from_number, interval_beside, number, to_csv, with_interval
from obliv.routings.mixes import TwoPhase
from obliv.routings.paths import checked_paths

SPECS = [
    ("torus:5x5", "romm"),
    ("mesh:4x3", "romm"),
    ("mesh:3x3", "u2turn"),
    ("mesh:4x4", "1/3*dor+2/3*valiant"),
    ("torus:4x4", "ecmp"),
    ("random-regular:8,3", "valiant"),
    ("fattree:4,2", "kpath:2"),
    ("dragonfly:p=1,a=2,h=1", "ecmp"),
]


@pytest.mark.parametrize(("topology", "routing"), SPECS)
def test_random_paths_have_the_chances_of_the_paths(topology: str, routing: str) -> None:
    network = obliv.topology(topology)
    algorithm = obliv.routing(routing, network)
    rng = np.random.default_rng(5)
    nodes = network.terminals.tolist()
    pairs = [(nodes[0], nodes[-1]), (nodes[1], nodes[0]), (nodes[2], nodes[2]), (nodes[-2], nodes[1])]
    for source, destination in pairs:
        expected: Counter[tuple[int, int]] = Counter()
        for path, chance in algorithm.paths(source, destination):
            for crossing in Counter(path).items():
                expected[crossing] += chance  # type: ignore[assignment]
        packets = 4000
        drawn = algorithm.crossings(source, destination, packets, rng)
        assert set(drawn) <= set(expected)
        for crossing, chance in expected.items():
            error = (float(chance) * (1 - float(chance)) / packets) ** 0.5
            assert abs(drawn[crossing] / packets - float(chance)) <= 5 * error + 1e-12, (source, destination, crossing)


def covers(topology: str, routing: str, seeds: range) -> int:
    algorithm = obliv.routing(routing, obliv.topology(topology))
    exact = float(obliv.worst_case(algorithm).channel_load)
    hits = 0
    for seed in seeds:
        load = obliv.worst_case(algorithm, samples=100, rng=seed).channel_load
        assert isinstance(load, obliv.Estimate)
        assert load.interval is not None
        hits += load.interval[0] - 1e-9 <= exact <= load.interval[1] + 1e-9
    return hits


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("topology", "routing"), [("torus:5x5", "romm"), ("mesh:3x3", "u2turn"), ("ring:7", "valiant")]
)
def test_the_estimate_covers_the_exact_worst_case(topology: str, routing: str) -> None:
    assert covers(topology, routing, range(20)) >= 17


@pytest.mark.nightly
@pytest.mark.parametrize("samples", [5, pytest.param(20, marks=pytest.mark.nightly)])
def test_paths_that_are_seldom_drawn_leave_an_error(samples: int) -> None:
    """One packet in a hundred goes the other way: most samples miss it, and no estimate may call itself certain."""
    algorithm = obliv.routing("99/100*dor+1/100*dor:yx", obliv.mesh(3, 3))
    hits = 0
    for seed in range(30):
        load = obliv.worst_case(algorithm, samples=samples, rng=seed).channel_load
        assert isinstance(load, obliv.Estimate)
        assert load.interval is not None
        hits += load.interval[0] <= 1.99 <= load.interval[1]
    assert hits >= 28


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("samples", [2, 4, 5, 50])
def test_an_interval_from_few_paths_is_marked_as_unreliable(samples: int) -> None:
    algorithm = obliv.ROMM(obliv.mesh(3, 3))
    result = obliv.worst_case(algorithm, samples=samples)
    load, through = result.channel_load, result.throughput
    assert isinstance(load, obliv.Estimate)
    assert isinstance(through, obliv.Estimate)
    assert load.reliable == through.reliable == (samples >= 5)
    assert ("unreliable" in repr(result)) == (samples < 5)
    data = result.to_dict()
    assert set(data["channel_load"]) == {"value", "stderr", "samples"}
    if samples < 5:
        assert load.interval is through.interval is data["channel_load_interval"] is None
        assert "fewer than 5" in data["channel_load_interval_reason"]
    else:
        assert load.interval is not None
        assert through.interval is not None
        assert load.value - 1.96 * load.stderr <= load.interval[0] + 1e-12
        assert load.interval[0] <= load.value <= load.interval[1]
        assert load.interval[1] == pytest.approx(load.value + 1.96 * load.stderr)
        assert through.interval[0] == pytest.approx(1 / load.interval[1])
        assert data["channel_load_interval"] == list(load.interval)
        assert data["throughput_interval"] == list(through.interval)
    (row,) = obliv.throughput(algorithm, "transpose", samples=samples).patterns
    assert row.channel_load.reliable == row.throughput.reliable == (samples >= 5)
    average = obliv.average_case(algorithm, 50, path_samples=samples)
    assert average.channel_load.reliable == (samples >= 5)


def test_intervals_are_saved(tmp_path: Path) -> None:
    for samples in (3, 30):
        result = obliv.worst_case(obliv.ROMM(obliv.mesh(3, 3)), samples=samples)
        result.save(tmp_path / "x.json")
        assert obliv.load(tmp_path / "x.json") == result
        assert eval(repr(result.channel_load), {"Estimate": obliv.Estimate}) == result.channel_load
    assert repr(obliv.Estimate(1.0, 0.5, 9)) == "Estimate(value=1.0, stderr=0.5, samples=9)"
    endless = obliv.Estimate(1.0, 2.0, 20, (0.5, float("inf")))
    data = json.loads(json.dumps({"x": number(endless)} | interval_beside("x", endless), allow_nan=False))
    assert with_interval(from_number(data["x"]), "x", data) == endless
    text = to_csv(result.rows())
    assert "channel_load_stderr,channel_load_lower,channel_load_upper" in text.splitlines()[0]


@pytest.mark.parametrize("words", ["worst mesh:3x3 romm --samples 1", "average mesh:3x3 romm --path-samples 1"])
def test_one_path_is_not_enough(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert "at least 2 paths per pair" in capsys.readouterr().err


def test_a_wrong_declaration_is_refused_when_sampling_too() -> None:
    with pytest.raises(obliv.RoutingError, match="declared relative"):
        obliv.worst_case(Skewed(obliv.torus(5, 5)), samples=5)


@pytest.mark.nightly
def test_an_average_over_sampled_paths_can_be_repeated_from_its_seed() -> None:
    algorithm = obliv.O1TURN(obliv.mesh(3, 3))
    first = obliv.average_case(algorithm, 100, rng=np.random.default_rng(8), path_samples=10)
    assert obliv.average_case(algorithm, 100, rng=first.provenance.seed, path_samples=10) == first
    with pytest.raises(obliv.InputError, match="leave out exact and ensemble"):
        obliv.average_case(algorithm, 100, ensemble="sinkhorn", path_samples=10)


def test_a_network_without_channels() -> None:
    lonely = obliv.build("lonely", 1, [])
    assert obliv.routing("shortest", lonely).sample(0, 0, np.random.default_rng(0)) == ()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("topology", "routing"), [*SPECS, ("mesh:4x4", "o1turn"), ("hypercube:3", "valiant"), ("ring:7", "valiant")]
)
def test_in_95_of_100_runs(topology: str, routing: str) -> None:
    assert covers(topology, routing, range(100)) >= 95


class Skips:
    """Forward by one or two nodes, equally likely: 10^12 paths from a node to the one before it."""

    def __init__(self, topology: obliv.Topology) -> None:
        self.topology = topology

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> list[int]:
        n, path = self.topology.nodes, []
        while source != destination:
            step = 1 if (destination - source) % n == 1 else int(rng.integers(1, 3))
            path.append(2 * source + step - 1)
            source = (source + step) % n
        return path


class SkipsByHops(obliv.HopRouting):
    def next_hops(self, node: int, destination: int) -> list[int]:
        return [2 * node] if (destination - node) % self.topology.nodes == 1 else [2 * node, 2 * node + 1]


@pytest.mark.nightly
def test_a_routing_that_only_draws_paths_is_enough_for_estimates() -> None:
    network = ladder_of_skips(8)
    own, exact = obliv.routing(Skips(network), network), SkipsByHops(network, "skips")
    worst = float(obliv.worst_case(exact).channel_load)
    load = obliv.worst_case(own, samples=200, rng=1).channel_load
    assert isinstance(load, obliv.Estimate)
    assert abs(load.value - worst) <= 3 * load.stderr
    uniform = obliv.throughput(own, "uniform", samples=200, rng=2).patterns[0].channel_load
    assert isinstance(uniform, obliv.Estimate)
    assert abs(uniform.value - float(obliv.throughput(exact, "uniform").patterns[0].channel_load)) <= 3 * uniform.stderr
    average = obliv.average_case(own, 200, rng=3, path_samples=200)
    assert isinstance(average.channel_load, obliv.Estimate)
    expected = obliv.average_case(exact, 2000, rng=4).channel_load
    assert abs(average.channel_load.value - float(expected)) <= 3 * average.channel_load.stderr
    assert average.mean_throughput is None


def test_a_million_million_paths() -> None:
    network = ladder_of_skips(64)
    routing = SkipsByHops(network, "skips")
    crossed = routing.crossings(0, 63, 1000, np.random.default_rng(0))
    # From 0 every packet reaches node 1 or 2 first; the way to node 63 takes 63 = ones + 2 twos.
    assert crossed[0, 1] + crossed[1, 1] == 1000


@pytest.mark.nightly
def test_a_million_million_paths_of_every_pair() -> None:
    network = ladder_of_skips(64)
    exact = float(obliv.worst_case(SkipsByHops(network, "skips")).channel_load)
    load = obliv.worst_case(obliv.routing(Skips(network), network), samples=20).channel_load
    assert isinstance(load, obliv.Estimate)
    assert abs(load.value - exact) <= 3 * load.stderr


class RommByPaths(obliv.Routing):
    """ROMM as a user would give it: by its paths alone."""

    relative = True

    def __init__(self, topology: obliv.Topology) -> None:
        super().__init__(topology, "by-paths")
        self.built_in = obliv.ROMM(topology)
        self.asked: set[tuple[int, int]] = set()

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        self.asked.add((source, destination))
        yield from self.built_in.paths(source, destination)


def test_a_relative_routing_is_enumerated_from_one_source() -> None:
    routing = RommByPaths(obliv.torus(5, 5))
    loads = routing.pair_loads()
    assert loads._start.size == 101  # entries of the pairs from one source, by channel
    assert not loads.declared
    built_in = obliv.ROMM(obliv.torus(5, 5))
    assert obliv.worst_case(loads).channel_load == obliv.worst_case(built_in).channel_load == Fraction(8, 3)
    for channel in (0, 17, 63):
        assert table(loads, channel) == table(built_in.pair_loads(), channel)


class OnePairApart(RommByPaths):
    """Relative, but for one pair of every source, another one each."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        odd = destination == self.topology.nodes - 1 and source > 0
        yield from (obliv.DOR(self.topology, "yx") if odd else self.built_in).paths(source, destination)


def test_all_pairs_of_one_source_are_compared() -> None:
    with pytest.raises(obliv.RoutingError, match=r"paths from .* to \(4,4\) are not those from \(0,0\)"):
        OnePairApart(obliv.torus(5, 5)).pair_loads()


class Drawn(obliv.Routing):
    """A routing of which paths are drawn only."""

    relative = True

    def __init__(self, topology: obliv.Topology, astray: bool = False) -> None:
        super().__init__(topology, "drawn")
        self.base, self.other = obliv.DOR(topology), obliv.DOR(topology, "yx")
        self.astray = astray

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return (self.other if self.astray and source % 2 else self.base).sample(source, destination, rng)


def test_drawn_paths_that_are_not_relative_are_named() -> None:
    with pytest.raises(obliv.RoutingError, match=r"declared relative, but its paths from \(.*\) to \(.*\) are not"):
        obliv.worst_case(Drawn(obliv.torus(5, 5), astray=True), samples=10)


@pytest.mark.nightly
def test_a_declaration_about_drawn_paths_is_not_verified() -> None:
    routing = Drawn(obliv.torus(3, 2))
    assert "not verified" in obliv.worst_case(routing, samples=10).provenance.exactness
    assert "not verified" in obliv.throughput(routing, "uniform", samples=10).provenance.exactness
    assert "not verified" in obliv.average_case(routing, 10, path_samples=10).provenance.exactness
    assert obliv.worst_case(obliv.ROMM(obliv.torus(3, 2)), samples=10).provenance.exactness == "estimated"
    plain = Drawn(obliv.torus(3, 2))
    plain.relative = False
    assert obliv.worst_case(plain, samples=10).provenance.exactness == "estimated"


class OwnDrawn:
    """An object with random paths alone, and a declaration."""

    relative = True

    def __init__(self, topology: obliv.Topology) -> None:
        self.topology = topology
        self.base = obliv.DOR(topology)

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return self.base.sample(source, destination, rng)


def test_the_declaration_of_an_object_counts() -> None:
    network = obliv.torus(5, 5)
    assert obliv.routing(OwnDrawn(network), network).relative


class Skewed(RommByPaths):
    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        yield from (obliv.DOR(self.topology) if source == 7 else self.built_in).paths(source, destination)


class HiddenYX(obliv.Routing):
    """Dimension order, Y first from one node only: the worst case is 3, and 2 if the declaration is believed."""

    relative = True

    def __init__(self, topology: obliv.Topology, node: int = 12) -> None:
        super().__init__(topology, "hidden-yx")
        self.node, self.ways = node, (obliv.DOR(topology), obliv.DOR(topology, "yx"))

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        return iter(self.ways[source == self.node].paths(source, destination))


@pytest.mark.parametrize("node", [1, 12, 24])
def test_all_pairs_are_compared(node: int) -> None:
    torus = obliv.torus(5, 5)
    routing = HiddenYX(torus, node)
    name = rf"\({node % 5},{node // 5}\)"
    mixed = Fraction(1, 2) * routing + Fraction(1, 2) * obliv.DOR(torus)
    for call in (
        lambda: obliv.worst_case(routing),
        lambda: obliv.worst_case(routing, samples=5),
        lambda: obliv.worst_case(mixed),
        lambda: obliv.worst_case(mixed, samples=5),
        lambda: obliv.throughput(routing, "uniform"),
        lambda: obliv.average_case(routing, 10, path_samples=10),
        lambda: obliv.compare(torus, routing, obliv.DOR(torus)),
    ):
        with pytest.raises(obliv.RoutingError, match=f"hidden-yx is declared relative, but its paths from {name} to"):
            call()
    assert obliv.worst_case(HiddenYXPlain(torus)).channel_load == 3


class HiddenYXPlain(HiddenYX):
    relative = False


class OtherOrder(RommByPaths):
    """Relative, with paths in another order from every source, half of them split in two."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        paths = list(self.built_in.paths(source, destination))
        (path, chance), *others = paths[source % len(paths) :] + paths[: source % len(paths)]
        yield from (*others, (path, chance / 2), (path, chance / 2))


def test_the_order_of_paths_is_no_difference() -> None:
    assert obliv.worst_case(OtherOrder(obliv.torus(4, 4))).channel_load == Fraction(3, 2)


def test_what_is_only_declared_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("obliv.routings.paths._AFFORDABLE", 0)
    torus = obliv.torus(5, 5)
    routing = HiddenYX(torus)
    words = "declared relative, not verified for all pairs"
    result = obliv.worst_case(routing, certificate=True)
    assert result.channel_load == 2  # wrong, and not called exact
    assert result.provenance.exactness == words
    assert re.search(rf"^  routing +{words}$", repr(result), re.MULTILINE)
    Answer(tmp_path / "claim.json").save(result)
    assert words in capsys.readouterr().err
    assert not obliv.verify(result).proved
    assert not obliv.verify(tmp_path / "claim.json", routing=routing).proved
    mixed = Fraction(1, 2) * routing + Fraction(1, 2) * obliv.DOR(torus)
    for other in (
        obliv.worst_case(mixed),
        obliv.worst_case(mixed.pair_loads()),
        obliv.throughput(routing, "uniform"),
        obliv.ratio(routing),
        obliv.compare(torus, routing, obliv.DOR(torus)),
        obliv.worst_channels(routing),
    ):
        assert other.provenance.exactness == words
        assert words in repr(other)
    assert words in obliv.worst_case(routing, samples=5).provenance.exactness


def test_paths_made_from_the_offset_need_no_comparison() -> None:
    for k in (3, 4, 5):
        routing = obliv.routing("weighted-2turn", obliv.torus(k, k))
        routing._by_offset = False  # compare them here, once
        assert routing.compared is not None
        assert routing.compared.complete


def test_a_declaration_that_is_wrong_is_refused() -> None:
    with pytest.raises(obliv.RoutingError, match=r"declared relative, but its paths from \(2,1\) to .* are not those"):
        Skewed(obliv.torus(5, 5)).pair_loads()


class Astray(Skips):
    def sample(self, source: int, destination: int, rng: np.random.Generator) -> list[int]:
        return [2 * source]


@pytest.mark.parametrize("analysis", ["worst_case", "throughput"])
def test_samples_that_lead_elsewhere_are_refused(analysis: str) -> None:
    network = ladder_of_skips(6)
    traffic = ("uniform",) if analysis == "throughput" else ()
    with pytest.raises(obliv.RoutingError, match="a path from 0 to 0 ends at 1"):
        getattr(obliv, analysis)(obliv.routing(Astray(network), network), *traffic, samples=3)


def test_an_exact_average_takes_no_samples_of_paths() -> None:
    with pytest.raises(obliv.InputError, match="path_samples"):
        obliv.average_case(obliv.DOR(obliv.ring(5)), exact=True, path_samples=10)


class Circling(obliv.Routing):
    """Clockwise round a ring, half of the packets once more around; a node sends itself nothing."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        n = self.topology.nodes
        hops = (destination - source) % n
        for more in (0, n, 2 * n) if hops else ():
            yield tuple((source + k) % n for k in range(hops + more)), Fraction(1, 3)


def circling(nodes: int = 3) -> obliv.Routing:
    ring = obliv.build("one-way", nodes, [(k, (k + 1) % nodes) for k in range(nodes)])
    return Circling(ring, "circling")


def test_a_mix_of_a_routing_that_is_silent_to_itself() -> None:
    """Its packets of self-pairs stay at home; those of the other part go out."""
    quiet = circling()
    both = 0.25 * quiet + 0.75 * TwoPhase(quiet, "twice")
    for source in range(3):
        for destination in range(3):
            assert sum(share for _, share in checked_paths(both, source, destination)) == 1
    assert sum(both.path_lengths(silent).values()) == 9
    total = {}
    for _, _, lengths in both.pair_lengths(silent):
        for hops, share in lengths.items():
            total[hops] = total.get(hops, Fraction(0)) + share
    assert total == both.path_lengths(silent)
    alone = 0.5 * quiet + 0.5 * quiet
    assert list(alone.paths(1, 1)) == []


def test_both_phases_may_cross_a_channel_unlike_times() -> None:
    """Mean and second moment of the crossings are those of the paths."""
    routing = TwoPhase(circling(), "twice")
    packets, rng = 20_000, np.random.default_rng(3)
    for pair in ((0, 1), (1, 1)):
        drawn = routing.crossings(*pair, packets, rng)
        for channel in range(3):
            for power in (1, 2):
                exact = sum(share * path.count(channel) ** power for path, share in routing.paths(*pair))
                seen = sum(some * times**power for (c, times), some in drawn.items() if c == channel) / packets
                assert seen == pytest.approx(float(exact), rel=0.03)


def test_loads_made_of_partial_loads_are_partial() -> None:
    loads = obliv.DOR(obliv.ring(4)).pair_loads()
    loads.partial = True
    whole = obliv.DOR(obliv.ring(4)).pair_loads()
    assert MixedLoads([(Fraction(1, 2), whole), (Fraction(1, 2), loads)]).partial
    assert not MixedLoads([(Fraction(1), whole)]).partial
    assert TwoPhaseLoads(loads).partial
