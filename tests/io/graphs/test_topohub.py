"""Networks of TopoHub."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
import topohub

import obliv
from obliv.cli import main
from obliv.errors import MissingExtraError, SpecError
from obliv.testing import check_topology


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # topohub leaves its files open
@pytest.mark.parametrize("name", ["topozoo/Abilene", "sndlib/polska", "gabriel/25/0"])
def test_networks_are_those_of_topohub(name: str) -> None:
    network, given = obliv.topology(f"topohub:{name}"), topohub.get(name)
    number = {node["id"]: k for k, node in enumerate(given["nodes"])}
    links = {frozenset((number[link["source"]], number[link["target"]])) for link in given["edges"]}
    ends = set(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    assert ends == {pair for a, b in map(sorted, links) for pair in ((a, b), (b, a))}
    assert network.positions is not None
    assert network.positions.tolist() == [list(node["pos"]) for node in given["nodes"]]
    check_topology(network)


@pytest.mark.parametrize(
    "name", ["nobody/knows", "../topohub/generate", "topozoo/../../x", "Abilene", "topozoo/Abilen\x00"]
)
def test_other_names(name: str) -> None:
    with pytest.raises(SpecError, match="no such network"):
        obliv.topology(f"topohub:{name}")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("topozoo/abilene", "topozoo/Abilene"),
        ("Abilene", "sndlib/abilene or topozoo/Abilene"),
        ("topozo/Abilene", "topozoo/Abilene"),
        ("sndlb/polska", "sndlib/polska"),
        ("topozoo/Abilen", "topozoo/Abilene"),
        ("sndlip/polska", "sndlib/polska"),
        ("gabrel/25/0", "gabriel/25/0.*"),
    ],
)
def test_a_name_misspelled_or_without_its_group(name: str, meant: str) -> None:
    with pytest.raises(SpecError, match=rf"did you mean {meant}\?"):
        obliv.topology(f"topohub:{name}")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "topohub", None)
    with pytest.raises(MissingExtraError, match="this needs topohub"):
        obliv.topology("topohub:topozoo/Abilene")
    assert main(["worst", "topohub:topozoo/Abilene", "ecmp"]) == 2
    assert "obliv[topohub]" in capsys.readouterr().err
    strange = types.SimpleNamespace(get=lambda name: {"nodes": [{"id": 0}], "edges": [{"source": 1, "target": 0}]})
    monkeypatch.setitem(sys.modules, "topohub", strange)
    with pytest.raises(obliv.OblivError):
        obliv.topology("topohub:topozoo/Abilene")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_claim_holds_for_no_other_network_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = tmp_path / "claim.json"
    obliv.worst_case("topohub:topozoo/Abilene", "ecmp", certificate=True).save(claim)
    assert obliv.verify(claim).proved
    given = topohub.get("topozoo/Abilene")
    given["edges"] = given["edges"][::-1]
    monkeypatch.setattr(topohub, "get", lambda name: given)
    found = obliv.verify(claim)
    assert not found.proved
    assert [step.check for step in found.checks if step.ok is False] == ["source file"]
