from __future__ import annotations

import dataclasses
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.view.drawn import everything, how_many, legend, part, texts, without_capacity

import obliv
from obliv import view


def worst(topology: str, routing: str) -> obliv.WorstCase:
    return obliv.worst_case(obliv.routing(routing, obliv.topology(topology)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("topology", "routing"), [("mesh:4x4", "dor"), ("torus:4x3", "romm"), ("ring:7", "ecmp")])
def test_arrows_are_the_pairs_of_the_permutation(topology: str, routing: str) -> None:
    result = worst(topology, routing)
    weights = result.subject.pair_loads().on_channel(result.channel.id)
    strong = sum(weights[s, d] > 0 for s, d in enumerate(result.permutation))
    moved = sum(s != d for s, d in enumerate(result.permutation))
    ax = result.plot()
    assert how_many(ax, "flows on the worst channel") == strong
    assert how_many(ax, "other flows") == moved - strong
    assert part(ax, "channels").get_array().max() == pytest.approx(float(result.channel_load))
    assert f"{strong} pair" in legend(ax)[1]


def test_what_the_pairs_put_on_the_channel_adds_up_to_its_load() -> None:
    result = worst("torus:5x5", "romm")
    shares = part(result.plot(), "flows on the worst channel").get_array()
    assert shares.sum() == pytest.approx(float(result.channel_load))


def test_the_title_says_topology_routing_load_and_share_exactly() -> None:
    title = worst("torus:9x9", "romm").plot().get_title()
    for words in ("romm", "torus:9x9", "32/5 = 6.4", "25/144 = 0.1736 of capacity"):
        assert words in title
    assert "throughput 1/35" in obliv.worst_case(without_capacity(), "shortest").plot().get_title()
    assert worst("mesh:3x3", "dor").plot(title=False).get_title() == ""


def test_the_traffic_that_attains_a_ratio() -> None:
    own = obliv.build("own", 4, [(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (0, 3)])
    for routing in (obliv.DModK(obliv.fattree(4, 2)), obliv.DOR(obliv.mesh(3, 3)), obliv.Shortest(own)):
        result = obliv.ratio(routing, certificate=True)
        ax = result.plot()
        assert f"performance ratio {result.ratio}" in ax.get_title()
        shares = part(ax, "flows on the worst channel").get_array()
        assert shares.sum() == pytest.approx(float(result.lower))
        loaded = obliv.Ratio.from_dict(result.to_dict()).plot()
        assert everything(loaded.figure) == everything(ax.figure)
        dots = result.plot(kind="matrix")
        assert part(dots, "pairs on the worst channel").get_offsets().shape[0] == len(shares)


def test_the_matrix_has_a_dot_for_every_pair() -> None:
    result = worst("mesh:4x4", "dor")
    ax = result.plot(kind="matrix")
    dots = [part(ax, name).get_offsets() for name in ("pairs on the worst channel", "other pairs", "fixed points")]
    pairs = {(int(s), int(d)) for d, s in np.vstack(dots)}
    assert pairs == set(enumerate(result.permutation))
    assert all(s == d for d, s in dots[2])
    assert len(dots[0]) == 3
    assert ax.get_xlabel() == "destination"
    assert ax.get_ylabel() == "source"
    assert ax.yaxis_inverted()  # sources are counted downwards


def test_pairs_to_themselves_that_load_the_channel_are_drawn() -> None:
    result = worst("torus:3x3", "valiant")
    own = dataclasses.replace(result, permutation=tuple(range(9)))
    ax = view.plot_worst(own)
    assert how_many(ax, "flows on the worst channel") > 0
    assert part(ax, "other flows") is None


@pytest.mark.nightly
def test_a_saved_result_is_drawn_like_the_fresh_one(tmp_path: Path) -> None:
    result = worst("mesh:4x4", "o1turn")
    result.save(tmp_path / "claim.json")
    for name, each in (("a", result), ("b", obliv.load(tmp_path / "claim.json"))):
        view.save(each, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_pair_loads_can_be_drawn_while_they_are_at_hand(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)).pair_loads())
    assert how_many(result.plot(), "nodes") == 9
    result.save(tmp_path / "claim.json")
    with pytest.raises(obliv.InputError, match="names no routing"):
        obliv.load(tmp_path / "claim.json").plot()


def test_with_rates_the_traffic_is_drawn() -> None:
    topology = obliv.ring(6).with_rates([Fraction(1, 2)] * 6, [Fraction(1, 3)] * 6)
    result = obliv.worst_case(obliv.routing("dor", topology))
    assert result.permutation is None
    ax = result.plot()
    shares = part(ax, "flows on the worst channel").get_array()
    assert shares.sum() == pytest.approx(float(result.channel_load))
    assert len(shares) + how_many(ax, "other flows") <= len(result.traffic)
    assert part(result.plot(kind="matrix"), "pairs on the worst channel") is not None


@pytest.mark.nightly
def test_with_bandwidths_the_shares_are_of_the_channel() -> None:
    topology = obliv.build("slow", 3, [(0, 1), (1, 2), (2, 1), (1, 0)], bandwidth=[2, "1/2", 1, 1])
    result = obliv.worst_case(obliv.routing("shortest", topology))
    shares = part(result.plot(), "flows on the worst channel").get_array()
    assert shares.sum() == pytest.approx(float(result.channel_load))


def test_estimates_say_so() -> None:
    routing = obliv.routing("o1turn", obliv.mesh(3, 3))
    result = obliv.worst_case(routing, samples=5, rng=np.random.default_rng(1))
    ax = result.plot()
    assert "±" in ax.get_title()
    assert "(estimated)" in ax.get_title()
    assert "estimated" in ax.child_axes[0].get_ylabel()
    assert "estimated" in result.plot(kind="matrix").child_axes[0].get_ylabel()


@pytest.mark.nightly
def test_a_picture_of_an_estimate_shows_the_estimate_and_nothing_exact() -> None:
    routing = obliv.routing("valiant", obliv.mesh(4, 4))
    result = obliv.worst_case(routing, samples=20)
    searched = routing.pair_loads(20).under(obliv.permutation(result.permutation))[result.channel.id]
    assert searched > result.channel_load.value + result.channel_load.stderr  # biased: chosen as the worst
    shown = f"{result.channel_load.value:.1f} ± {result.channel_load.stderr:.1f}"
    for kind in ("network", "matrix"):
        ax = result.plot(kind=kind)
        assert str(searched) not in everything(ax.figure)
        assert not re.search(r"\d/\d", everything(ax.figure))
        assert shown in ax.get_title()
    ax = result.plot()
    assert legend(ax)[0].endswith(shown)
    loads = part(ax, "channels").get_array()
    assert np.isclose(loads, result.channel_load.value).any()
    exact = routing.pair_loads().under(obliv.permutation(result.permutation))
    assert loads.max() < float(max(exact)) + 5 * result.channel_load.stderr


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(obliv.InputError, match="matrix"):
        worst("mesh:3x3", "dor").plot(kind="matrx")
    with pytest.raises(obliv.InputError, match="labels"):
        worst("mesh:3x3", "dor").plot(kind="matrix", labels="some")


def test_a_large_network_is_drawn_without_what_does_not_matter() -> None:
    topology = obliv.torus(21, 21)
    result = obliv.worst_case(obliv.routing("romm", topology))
    ax = result.plot()
    assert part(ax, "other flows") is None
    assert "not drawn" in legend(ax)[2]


def test_bars_of_throughput() -> None:
    result = obliv.throughput(obliv.routing("dor", obliv.torus(9, 9)), "tornado", "uniform", "shift:0")
    ax = result.plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([5 / 18, 1.0, 0.0])
    assert texts(ax) == ["capacity", "5/18 = 0.2778", "1", "loads nothing"]
    assert [each.get_text() for each in ax.get_yticklabels()] == ["tornado", "uniform", "shift:0"]
    assert ax.get_xlabel() == "fraction of capacity"


def test_bars_where_the_capacity_is_unknown() -> None:
    ax = obliv.throughput(without_capacity(), "ecmp", "shift:1").plot()
    assert "throughput" in ax.get_xlabel()
    assert ax.patches[0].get_width() == 1.0


def test_only_results_with_a_picture_are_drawn() -> None:
    with pytest.raises(
        obliv.InputError,
        match="worst, throughput, average, compare, design, bounds, ratio, deadlock, failures, collisions",
    ):
        view.plot([1, 2, 3])
    with pytest.raises(obliv.InputError, match="no numbers"):
        obliv.Throughput("mesh:3x3", "dor", {}).plot()


def test_failures_with_one_outcome_share_a_bar() -> None:
    result = obliv.failures("line:5", "shortest")
    outcomes = {row.rank for row in result.failures}
    ax = result.plot()
    assert [bar.get_width() for bar in ax.patches] == [float(load) for *_, load in sorted(outcomes, reverse=True)]
    assert sum("pairs lost" in text for text in texts(ax)) == len(outcomes)
    names = [label.get_text() for label in ax.get_yticklabels()]
    more = [int(name.partition("+")[2].split()[0]) for name in names if "+" in name]
    assert sum(more) + len(outcomes) == len(result.failures) == 4
    assert ax.get_title().splitlines() == ["shortest on line:5", f"routes: {result.repair}"]
    assert result.plot(count=1).get_xlabel().endswith("more outcomes are not shown")


def test_pictures_say_which_terminal_makes_traffic_not_admissible() -> None:
    """The middle of a line of three receives two packets: one from either end."""
    over = "not admissible since 1 receives 2 times its rate"
    result = obliv.throughput("mesh:3", "dor", "nearest-neighbor", "uniform")
    names = [each.get_text() for each in result.plot().get_yticklabels()]
    assert names == [f"nearest-neighbor\n({over},\nlimited by ejection at 1)", "uniform"]
    compared = obliv.compare("mesh:3", "dor", traffic=["nearest-neighbor", "uniform"])
    legend = compared.plot().get_legend()
    assert [over in each.get_text() for each in legend.get_texts()] == [False, True, False]
    assert over in compared.plot(of="nearest-neighbor").get_title()
    assert over in obliv.view.plot_loads(obliv.DOR(obliv.mesh(3)), "nearest-neighbor").get_title().replace("\n", " ")
    several = obliv.compare(["mesh:3", "mesh:4"], "dor", traffic="nearest-neighbor")
    assert several.plot(of="nearest-neighbor").get_title().endswith("not admissible")
