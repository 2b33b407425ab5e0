"""The worst case of every channel, its symmetries, and Birkhoff's theorem (Towles, sections 2 and 4)."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import save_claim
from tests.strategies import birkhoff as doubly_stochastic
from tests.strategies import examples, table

import obliv
from obliv.cli import main
from obliv.questions.worst_case import orbits


def brute_force(loads: obliv.PairLoads, channel: int) -> Fraction:
    matrix, n = table(loads, channel), loads.terminals
    best = max(sum(matrix[i][p[i]] for i in range(n)) for p in permutations(range(n)))
    return Fraction(best) / loads.topology.bandwidth_of(channel)


@pytest.mark.parametrize(("topology", "routing"), [("mesh:3x2", "dor"), ("ring:5", "valiant"), ("star", "ecmp")])
def test_every_channel_against_all_permutations(topology: str, routing: str) -> None:
    if topology == "star":  # unequal bandwidths, no symmetry known
        network = obliv.build("star", 4, [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)], bandwidth=[1, 2, 3, 1, 1, 2])
    else:
        network = obliv.topology(topology)
    loads = obliv.routing(routing, network).pair_loads()
    result = obliv.worst_channels(loads)
    assert [row.channel_load for row in result.channels] == [brute_force(loads, c) for c in range(network.channels)]
    assert result.channel_load == obliv.worst_case(loads).channel_load


def test_symmetries_change_the_classes_and_no_load() -> None:
    routing = obliv.ROMM(obliv.mesh(4, 4))
    known, none = obliv.worst_channels(routing), obliv.worst_channels(routing, symmetry="off")
    assert [row.channel_load for row in known.channels] == [row.channel_load for row in none.channels]
    assert known.routing_classes < none.routing_classes == routing.topology.channels


def test_edge_symmetry_is_of_the_network_and_of_the_routing() -> None:
    # Dimension order on a cube: the network looks the same from every channel, the routing does not.
    cube = obliv.worst_channels(obliv.DOR(obliv.torus(5, 5, 5)))
    assert (cube.network_classes, cube.routing_classes) == (1, 3)
    assert "edge-symmetric" in repr(cube)
    assert cube.channel_load == 10
    assert obliv.worst_channels(obliv.ROMM(obliv.torus(4, 4))).routing_classes == 1
    assert obliv.worst_channels(obliv.DOR(obliv.torus(4, 3))).network_classes == 2


@pytest.mark.parametrize(("spec", "classes"), [("torus:4x3", 2), ("torus:5x5", 1), ("mesh:3x3", 4), ("mesh:4x3", 10)])
def test_classes_are_the_orbits_of_the_group(spec: str, classes: int) -> None:
    topology = obliv.topology(spec)
    focus = orbits(topology, [np.asarray(g) for g in topology.generators]).focus.tolist()
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    for c, pair in enumerate(ends):
        reached = {pair}
        waiting = [pair]
        while waiting:
            tail, head = waiting.pop()
            for g in topology.generators:
                image = int(g[tail]), int(g[head])
                if image not in reached:
                    reached.add(image)
                    waiting.append(image)
        assert focus[c] == min(ends.index(channel) for channel in reached)
    assert len(set(focus)) == classes == obliv.worst_channels(obliv.DOR(topology)).network_classes


def test_channels_between_nodes() -> None:
    torus = obliv.topology("torus:4x3")
    ends = list(zip(torus.tail.tolist(), torus.head.tolist(), strict=True))
    for pair in ((u, v) for u in range(12) for v in range(12)):
        assert torus.channels_between(*pair) == [c for c, channel in enumerate(ends) if channel == pair]
    assert obliv.build("two", 2, [(0, 1), (1, 0), (0, 1)]).channels_between(0, 1) == [0, 1]


@pytest.mark.nightly
def test_saved_and_drawn(tmp_path: Path) -> None:
    result = obliv.worst_channels(obliv.DOR(obliv.mesh(3, 2)))
    result.save(tmp_path / "channels.json")
    assert obliv.load(tmp_path / "channels.json") == result
    assert len(result.to_dataframe()) == 14
    assert "each channel under its own worst traffic" in result.plot().get_figure().get_axes()[0].get_title()


@given(st.integers(2, 6).flatmap(doubly_stochastic))
@examples(30)
def test_birkhoff(matrix: list[list[Fraction]]) -> None:
    n = len(matrix)
    parts = obliv.birkhoff(obliv.matrix(matrix))
    assert sum(weight for weight, _ in parts) == 1
    assert len(parts) <= (n - 1) ** 2 + 1
    total = [[Fraction(0)] * n for _ in range(n)]
    for weight, image in parts:
        assert weight > 0
        assert sorted(image) == list(range(n))
        for s, d in enumerate(image):
            total[s][d] += weight
    assert total == obliv.completed(obliv.matrix(matrix)).to_matrix()
    assert total == matrix or any(sum(row) < 1 for row in matrix)


@given(st.integers(2, 6).flatmap(doubly_stochastic), st.data())
@examples(30)
def test_substochastic_traffic_is_filled_up(matrix: list[list[Fraction]], data: st.DataObject) -> None:
    n = len(matrix)
    share = data.draw(st.lists(st.fractions(0, 1, max_denominator=6), min_size=n * n, max_size=n * n))
    less = [[matrix[s][d] * share[s * n + d] for d in range(n)] for s in range(n)]
    whole = obliv.completed(obliv.matrix(less))
    assert whole.row_sums == whole.column_sums == [1] * n
    rates = whole.to_matrix()
    assert all(rates[s][d] >= less[s][d] for s in range(n) for d in range(n))


def test_more_than_one_is_refused() -> None:
    network = obliv.ring(4)
    with pytest.raises(obliv.TrafficError, match="terminal 0 receives 3/2; it must be at most 1"):
        obliv.completed(obliv.matrix([[0, 0, 0, 0], [1, 0, 0, 0], ["1/2", 0, 0, 0], [0, 0, 0, 0]]))
    with pytest.raises(obliv.TrafficError, match="sends 2"):
        obliv.birkhoff(obliv.traffic("shift:1", network) * 2)


@given(st.integers(4, 4).flatmap(doubly_stochastic))
@examples(10)
def test_some_permutation_is_at_least_as_heavy(matrix: list[list[Fraction]]) -> None:
    traffic = obliv.matrix(matrix)
    loads = obliv.DOR(obliv.mesh(2, 2)).pair_loads()
    heaviest = obliv.heaviest_permutation(loads, traffic)
    assert heaviest.traffic_load == max(loads.under(traffic)) == loads.under(traffic)[heaviest.channel.id]
    assert heaviest.channel_load == loads.under(obliv.permutation(np.array(heaviest.permutation)))[heaviest.channel.id]
    assert heaviest.channel_load >= heaviest.traffic_load
    assert (heaviest.weight, heaviest.permutation) in obliv.birkhoff(traffic)


@pytest.mark.parametrize("topology", ["mesh:3x3", "mesh:3x3,injection=1/2"])
def test_a_saved_claim_about_every_channel_is_verified(
    topology: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its certificate proves the largest load; rows name their channels as everywhere."""
    claim = tmp_path / "claim.json"
    assert main(["worst", topology, "o1turn", "--channels", "--output", str(claim)]) == 0
    data = json.loads(claim.read_text())
    single = obliv.worst_case(obliv.routing("o1turn", obliv.topology(topology)))
    assert data["channel_load"]["exact"] == str(single.channel_load)
    assert set(data["channel"]) == {"id", "tail", "head"}
    assert all(set(row["channel"]) == {"id", "tail", "head"} for row in data["channels"])
    assert main(["verify", str(claim)]) == 0
    assert "by more than" in capsys.readouterr().out
    assert obliv.load(claim).to_dict() == data
    result = obliv.worst_channels(obliv.routing("o1turn", obliv.topology(topology)), certificate=True)
    assert obliv.verify(result).proved
    # A row above the proved load, or a smaller claim, is refused.
    for place, load in (("row", {"exact": "9", "value": 9.0}), ("claim", {"exact": "1/2", "value": 0.5})):
        forged = json.loads(claim.read_text())
        (forged["channels"][3] if place == "row" else forged)["channel_load"] = load
        save_claim(forged, tmp_path / "forged.json")
        assert main(["verify", str(tmp_path / "forged.json")]) == 2
        assert "not the largest load of its channels" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--seed", "3"], ["--seed", "0"], ["--samples", "10"]])
def test_options_that_an_exact_answer_does_not_use(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worst", "mesh:3x3", "dor", "--channels", *options]) == 2
    assert "--channels is exact: leave out --samples and --seed" in capsys.readouterr().err
