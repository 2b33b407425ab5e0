"""Long work is announced before it begins, and refused where it cannot fit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import obliv
from obliv._util import progress as cost
from obliv._util.progress import Cost, Work, announce
from obliv.cli import main
from obliv.loads import separable
from obliv.loads import separable_blocks as axis_tables
from obliv.loads.separable import SeparableLoads
from obliv.loads.tree import TreeLoads

Heard = list[tuple[str, float]]


@pytest.mark.parametrize(
    ("seconds", "space", "said"),
    [
        (9.9, 2.0**30, []),
        (10.4, 0, ["it: about 10 seconds"]),
        (0, 2.0**32, ["it: about a second and 4 GiB"]),
        (150, 2.0**29, ["it: about 2 minutes and 0.5 GiB"]),
        (9000, 0, ["it: about 2 hours"]),
        (9e5, 0, ["it: about 10 days"]),
    ],
)
def test_what_is_said(monkeypatch: pytest.MonkeyPatch, seconds: float, space: float, said: list[str]) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**34)
    heard: Heard = []
    announce(lambda what, share: heard.append((what, share)), "it", Work(seconds, space))
    assert heard == [(text, 0.0) for text in said]
    assert all(isinstance(what, Cost) for what, _ in heard)


def test_what_cannot_fit_is_refused_and_a_rough_estimate_at_twice_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**30)
    heard: Heard = []
    with pytest.raises(obliv.TooLargeError, match="it would need about 1 GiB"):
        announce(lambda what, share: heard.append((what, share)), "it", Work(1e6, 2.0**30))
    announce(lambda what, share: heard.append((what, share)), "it", Work(1e6, 2.0**30), rough=True)
    assert [what for what, _ in heard] == ["it: about 12 days and 1 GiB"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("network", "routing"),
    [
        *product(["torus:9x9", "mesh:8x5", "torus:4x4x3", "ring:12"], ["dor", "o1turn", "romm", "valiant"]),
        *product(["torus:9x9", "mesh:8x5"], ["u2turn", "xyx"]),
    ],
)
def test_the_entries_of_a_channel_are_known_before_they_exist(
    monkeypatch: pytest.MonkeyPatch, network: str, routing: str
) -> None:
    topology = obliv.topology(network)
    loads = obliv.routing(routing, topology).pair_loads()
    assert isinstance(loads, SeparableLoads)
    needed: list[float] = []
    monkeypatch.setattr(axis_tables, "require_memory", lambda size, what: needed.append(size / 40))
    for channel in range(0, topology.channels, 5):
        needed.clear()
        weights = loads.weights(channel)
        assert needed == [loads._entries(channel)]
        assert len(weights.weight) <= needed[0]


def test_a_torus_too_large_is_refused_before_any_exact_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*parts: Any) -> Any:
        raise AssertionError("an exact table was computed")

    monkeypatch.setattr(cost, "free_memory", lambda: 4.0 * 2**30)
    monkeypatch.setattr(separable, "_summed", unwanted)
    torus = obliv.torus(301, 301)
    for symmetry in ("auto", "off"):
        with pytest.raises(obliv.TooLargeError, match="a channel of torus:301x301 would need"):
            obliv.worst_case(obliv.ROMM(torus), symmetry=symmetry)
    with pytest.raises(obliv.TooLargeError, match="a channel of torus:301x301 would need"):
        obliv.worst_channels(obliv.ROMM(torus))


def test_merged_classes_need_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Valiant's classes make a channel small, however large the network."""
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**30)
    loads = obliv.routing("valiant", obliv.torus(101, 101)).pair_loads()
    assert loads.work(np.arange(loads.topology.channels)[:1]).memory < 2**24
    assert len(loads.weights(0).weight) < 20_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("network", "routing", "parts"),
    [
        ("random-regular:30,3", "ecmp", ["the pair loads of ecmp", "solving 90 channels"]),
        pytest.param(
            *("random-regular:80,3", "ecmp", ["the pair loads of ecmp", "solving 240 channels"]),
            marks=pytest.mark.nightly,
        ),
        ("fattree:4,2", "kpath:2", ["checking symmetries", "solving 4 channels"]),
        ("torus:60x60", "romm", ["solving 1 channel of"]),
        ("torus:5x5", "ecmp", ["the pair loads of ecmp", "solving 1 channel of"]),
        ("ring:5", "1/2*shortest+1/2*ecmp", ["the pair loads of shortest", "solving"]),
    ],
)
def test_every_kind_of_loads_says_what_it_takes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    network: str,
    routing: str,
    parts: list[str],
) -> None:
    assert main(["worst", network, routing]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    monkeypatch.setattr(cost, "_SECONDS", 0.0)
    monkeypatch.setattr(cost, "_BYTES", 0.0)
    assert main(["worst", network, routing]) == 0
    same, err = capsys.readouterr()
    assert same == out
    assert all(line.startswith("obliv: ") and ": about " in line for line in err.splitlines())
    assert all(part in err for part in parts), err


def test_listed_paths_are_announced_after_the_first_source(monkeypatch: pytest.MonkeyPatch) -> None:
    class Direct(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            yield from obliv.DOR(self.topology).paths(source, destination)

    heard: list[str] = []
    monkeypatch.setattr(cost, "_BYTES", 0.0)
    obliv.worst_case(Direct(obliv.mesh(3, 3), "direct"), progress=lambda what, share: heard.append(what))
    assert heard[0].startswith("listing the paths of direct on mesh:3x3: about ")
    assert isinstance(heard[0], Cost)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("average mesh:5x5 dor --samples 70000 --jobs 1", ["70,000 permutations of mesh:5x5"]),
        ("average mesh:3x3 dor --samples 300 --ensemble sinkhorn", ["300 matrices on mesh:3x3"]),
        ("throughput mesh:4x4 dor transpose", ["transpose on mesh:4x4"]),
        ("deadlock ring:4 ecmp", ["the dependencies of ecmp on ring:4"]),
        ("deadlock ring:4 ecmp --fewest", ["the dependencies of ecmp on ring:4"]),
        ("compare ring:4 ecmp --deadlock", ["ecmp on ring:4: the dependencies of ecmp on ring:4"]),
    ],
)
def test_long_verbs_say_what_they_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, parts: list[str]
) -> None:
    status = main(words.split())
    assert status < 2
    out, err = capsys.readouterr()
    assert err == ""
    for limit in ("_SECONDS", "_BYTES", "_TRIAL"):
        monkeypatch.setattr(cost, limit, 0.0)
    assert main(words.split()) == status
    same, err = capsys.readouterr()
    assert same == out
    assert all(line.startswith("obliv: ") and ": about " in line for line in err.splitlines())
    assert all(f"obliv: {part}" in err for part in parts), err


@pytest.mark.parametrize(
    ("moments", "announced"),
    [
        (((0.9, 0.01), (1.2, 0.02), (2.1, 0.03), (9.0, 0.04)), {2: 60}),
        (((4.0, 0.01), (5.1, 0.5), (6.0, 0.9)), {}),  # what is compiled before the first step tells nothing
        (((20.0, 0.5), (40.0, 1.0)), {0: 40}),  # the first step itself is long
    ],
)
def test_a_forecast_is_made_once_from_a_second_of_work(
    moments: tuple[tuple[float, float], ...], announced: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(cost.time, "process_time", lambda: clock[0])
    monkeypatch.setattr(cost.time, "perf_counter", lambda: 2 * clock[0])
    heard: Heard = []
    step = cost.forecast(lambda what, share: heard.append((what, share)), "it")
    expected: Heard = []
    for number, (moment, share) in enumerate(moments):
        clock[0] = moment
        step("part", share)
        expected += [(f"it: about {announced[number]} seconds", 0.0)] if number in announced else []
        expected.append(("part", share))
    assert heard == expected


def test_dense_traffic_is_carried_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    torus = obliv.torus(5, 4)
    rates = np.random.default_rng(1).dirichlet(np.ones(20), 20)
    rates = np.round(rates / max(1.0, rates.sum(axis=0).max()), 3)
    loads = obliv.ROMM(torus).pair_loads()
    traffic = obliv.matrix(rates.tolist())
    whole = loads.under(traffic)
    monkeypatch.setattr(separable, "_FLOWS", 7)
    assert loads.under(traffic) == whole


def test_the_building_of_a_huge_network_is_announced_and_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["worst", "ring:5", "dor"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(cost, "_BYTES", 1.0)
    assert main(["worst", "ring:5", "dor"]) == 0
    assert capsys.readouterr().err.startswith("obliv: ring:5 (5 nodes, 10 channels): about a second and ")
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**30)
    assert main(["worst", "torus:3000x3000", "dor"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "torus:3000x3000 (9,000,000 nodes, 36,000,000 channels) would need about" in err


def test_many_channels_with_few_entries_take_time() -> None:
    """Dimension order on 200 × 200 nodes took 51 s: it is the number of channels, not of entries."""
    loads = obliv.DOR(obliv.mesh(200, 200)).pair_loads()
    assert 25 < loads.work(np.arange(39800)).seconds < 100


def test_a_ratio_is_announced_and_stopped_before_anything_is_bounded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*parts: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cost, "_SECONDS", 0.0)
    monkeypatch.setattr("obliv.designs.ratios.bounds.simple_lengths", interrupted)
    assert main(["ratio", "random-regular:8,3", "ecmp"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert "linear programs of random-regular:n=8,d=3,seed=0, some " in err
    assert err.endswith("\nobliv: interrupted before there was an answer; no partial file was written\n")


def test_a_channel_that_does_not_fit_is_refused_before_symmetries_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a mesh, a channel in the middle has far more entries than one at the corner."""
    loads = obliv.routing("romm", obliv.topology("mesh:60x60")).pair_loads()
    corner, middle = (loads.work(np.array([c])).memory for c in (0, loads.topology.channels // 2))
    assert middle > 2 * corner
    monkeypatch.setattr(cost, "free_memory", lambda: middle)
    monkeypatch.setattr(type(loads), "keeps", lambda *_: pytest.fail("symmetries were checked"))
    with pytest.raises(obliv.errors.TooLargeError, match=r"a channel of mesh:60x60 .* a tenth of which is not used: "):
        obliv.worst_case(loads)


def test_next_hops_are_announced_within_the_first_destinations(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("_SECONDS", "_TRIAL"):
        monkeypatch.setattr(cost, limit, 0.0)
    heard: list[str] = []
    obliv.routing("ecmp", obliv.ring(9)).pair_loads(progress=lambda what, share: heard.append(what))
    said = [what.partition(": about")[0] for what in heard if isinstance(what, Cost)]
    assert "the next hops of ecmp on ring:9" in said
    assert "next hops" in heard


@pytest.mark.parametrize("routing", ["dmodk", "kpath:2", "hash:seed=1"])
def test_checks_of_symmetries_of_trees_compare_as_many_paths_as_foreseen(
    monkeypatch: pytest.MonkeyPatch, routing: str
) -> None:
    """Announced is what is compared where no map fails at once."""
    tree = obliv.fattree(4, 3)
    loads = obliv.routing(routing, tree).pair_loads()
    assert isinstance(loads, TreeLoads)
    for g in map(np.asarray, tree.generators):
        place = tree.number_of[g[tree.terminals]]
        met = sum(len(source) for _, source, _ in loads._meetings(place)) * loads.denominator
        assert met <= loads._paths_met(place) <= 2 * met
    few = loads.work(np.arange(0), 1).seconds
    assert 0 < few < loads.work(np.arange(0), len(tree.generators)).seconds


def test_maps_of_very_many_channels_take_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The symmetries of a fat tree of 12,000,000 channels took 35 s, though ECMP itself is checked by its classes."""
    heard: list[str] = []
    monkeypatch.setattr(cost, "_SECONDS", 0.0)
    monkeypatch.setattr("obliv.questions.worst_case._SECONDS", 1.0)
    obliv.worst_case("fattree:4,2", "ecmp", progress=lambda what, share: heard.append(what))
    assert "checking symmetries of fattree:4,2: about 96 seconds" in heard


def test_translations_of_a_torus_are_announced_before_they_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("_SECONDS", "_TRIAL"):
        monkeypatch.setattr(cost, limit, 0.0)
    heard: list[str] = []
    obliv.routing("ecmp", obliv.torus(3, 3)).pair_loads(progress=lambda what, share: heard.append(what))
    assert next(what for what in heard if isinstance(what, Cost)).startswith(
        "checking translations of torus:3x3: about "
    )


def test_next_hops_that_do_not_fit_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "_SMALL", 0)
    monkeypatch.setattr(cost, "free_memory", lambda: 20.0 * 9 * 9)
    routing = obliv.routing("ecmp", obliv.build("ring", 9, [(v, (v + step) % 9) for v in range(9) for step in (1, 8)]))
    with pytest.raises(obliv.TooLargeError, match="the next hops of ecmp on ring would need"):
        routing.pair_loads()
