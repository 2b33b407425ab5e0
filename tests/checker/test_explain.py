"""The proof of one channel: terms that add up to a bound, which is at least what any traffic puts on the channel."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import obliv
from obliv.cli import main
from obliv.fabric.generate import from_routing
from obliv.routings.hops import HopRouting

RATED = obliv.ring(5).with_rates(injection=["1/2", 1, 2, 1, 1], ejection=[1, 1, 1, "3/2", 1])
CASES = {
    "prices": obliv.DOR(obliv.mesh(4, 3)),
    "split": obliv.ROMM(obliv.torus(4, 3)),
    "rates": obliv.DOR(RATED),
    "bandwidths": obliv.Shortest(
        obliv.build("uneven", 3, [(0, 1), (1, 2), (2, 0), (1, 0)], bandwidth=[1, "1/2", 3, 2])
    ),
    "thresholds": obliv.routing("electrical", RATED),
    "mix": "1/3" * obliv.DOR(obliv.mesh(3, 3)) + "2/3" * obliv.valiant(obliv.mesh(3, 3)),
}


def test_a_channel_is_named_in_every_way_that_results_and_topologies_have() -> None:
    claim = obliv.worst_case(CASES["prices"], certificate=True)
    ends = claim.channel.tail, claim.channel.head
    names = [obliv.explain(claim, way).channel for way in (claim.channel, ends, claim.channel.id, "(1,0) -> (2,0)")]
    assert names[:3] == [claim.channel] * 3
    assert names[3] == obliv.explain(claim, ("(1,0)", (2, 0))).channel


@pytest.mark.sampled(3)
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", CASES)
def test_terms_add_up_to_a_bound_between_the_channels_worst_case_and_the_claim(name: str, step: int) -> None:
    routing = CASES[name]
    claim = obliv.worst_case(routing, certificate=True)
    rows = obliv.worst_channels(routing).channels
    for row in rows[::step]:
        proof = obliv.explain(claim, row.channel.id)
        assert proof.bound == sum(term.amount for term in proof.terms)
        assert row.channel_load <= proof.bound <= proof.limit == claim.channel_load
        assert proof.holds
        for term in proof.terms:
            extra = term.price if term.partner is None else term.weight - term.price
            assert term.amount == term.rate * extra > 0


def test_a_ratio_is_explained() -> None:
    claim = obliv.ratio(obliv.DModK(obliv.fattree(4, 2)), certificate=True)
    assert claim.channel is not None
    proof = obliv.explain(claim, claim.channel.id)
    assert proof.bound == claim.ratio


def test_a_design_is_explained_by_its_worst_case(tmp_path: Path) -> None:
    design = obliv.design(obliv.mesh(3, 2))
    for claim in (design, tmp_path / "design.json.gz"):
        design.save(tmp_path / "design.json.gz")
        for channel in range(14):
            proof = obliv.explain(claim, channel)
            assert proof.holds
            assert proof.bound == sum(term.amount for term in proof.terms) <= proof.limit == design.channel_load
    bounds = obliv.bounds(obliv.mesh(2, 2))
    with pytest.raises(obliv.InputError, match="no proofs of single channels"):
        obliv.explain(bounds, 0)


def test_the_command_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claim.json"
    obliv.worst_case(obliv.DOR(obliv.mesh(4, 4)), certificate=True).save(path)
    assert main(["verify", str(path), "--channel", "1"]) == 0
    out = capsys.readouterr().out
    assert "channel         1: (0,0) -> (0,1)" in out
    assert out.count("price of") == 3
    assert out.splitlines()[-1].split() == ["sum", "3"]
    assert main(["verify", str(path), "--channel", "1", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["verify", str(path), "--channel", "48"]) == 2
    assert "channels are 0 to 47" in capsys.readouterr().err


def test_a_lowered_claim_is_not_proved_on_its_channel(tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    claim = obliv.worst_case(obliv.DOR(obliv.mesh(4, 4)), certificate=True)
    content = claim.to_dict()
    content["channel_load"] = {"exact": "2", "value": 2.0}
    content["throughput"] = {"exact": "1/2", "value": 0.5}
    content["fraction_of_capacity"] = {"exact": "1/2", "value": 0.5}
    path.write_text(json.dumps(content))
    proof = obliv.explain(path, 1)
    assert not proof.holds
    assert (proof.bound, proof.limit) == (Fraction(3), Fraction(2))
    assert main(["verify", str(path), "--channel", "1"]) == 1


def test_tables_asked_for_all_nodes_at_once_have_the_flows_of_single_next_hops(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = from_routing(obliv.routing("dmodk", obliv.fattree(4, 3)))
    claim = obliv.worst_case(tables, certificate=True)
    at_once = [obliv.explain(claim, c, routing=tables, topology=tables.topology).terms for c in range(0, 96, 7)]
    monkeypatch.setattr(type(tables), "describe", HopRouting.describe)
    one_by_one = [obliv.explain(claim, c, routing=tables, topology=tables.topology).terms for c in range(0, 96, 7)]
    assert at_once == one_by_one
    assert any(at_once)
