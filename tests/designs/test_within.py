"""Designs within the next hops of a routing: against shortest paths, bounds by hand, and forged claims."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.errors import InputError
from obliv.fabric.adaptive.routing import adaptive_routing
from obliv.fabric.generate import from_topology
from obliv.fabric.reroute.fill import groups_of
from obliv.fabric.topology import network
from obliv.results.numbers import bounds_of
from obliv.routings.descriptions import NextHops
from obliv.topologies.base import find

pytest.importorskip("highspy")

NETWORKS = ["ring:5", "mesh:3x3", "mesh:3x2", "hyperx:3x2", "random-regular:n=8,d=3,seed=1", "fattree:4,2"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", NETWORKS)
def test_within_ecmp_are_shortest_paths(spec: str) -> None:
    best = obliv.design(spec, within="ecmp", then=None)
    assert best.channel_load == obliv.design(spec, minimal=True, then=None).channel_load
    assert bounds_of(best.channel_load)[1] <= obliv.worst_case(obliv.routing("ecmp", obliv.topology(spec))).channel_load
    assert best.constraints == ("within ecmp",)
    assert obliv.verify(best).proved


def test_one_next_hop_leaves_no_choice() -> None:
    for spec, routing in (("mesh:3x3", "dor"), ("torus:3x3", "shortest")):
        alone = obliv.worst_case(obliv.routing(routing, obliv.topology(spec))).channel_load
        if find(obliv.routing(routing, obliv.topology(spec)), NextHops) is not None:
            assert obliv.design(spec, within=routing, then=None).channel_load == alone


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", ["torus:3x3", "mesh:3x2", "fattree:4,2", "random-regular:n=6,d=3,seed=2"])
@pytest.mark.parametrize("rule", ["updn", "minimal"])
def test_best_even_and_worst_splits_of_groups(spec: str, rule: str) -> None:
    fabric = from_topology(obliv.topology(spec))
    topology, groups = network(fabric), groups_of(fabric, rule)
    loads = {mode: adaptive_routing(topology, groups, mode) for mode in ("even", "worst")}
    even, worst = (obliv.worst_case(loads[mode]).channel_load for mode in ("even", "worst"))
    best = obliv.design(topology, within=loads["even"], then=None)
    assert bounds_of(best.channel_load)[1] <= even <= worst


def test_groups_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    from obliv.cli import main

    assert main(["fabric", "generate", "mesh:3x2", "--adaptive", "minimal", "--far", "g.far", "-o", "g.net"]) == 0
    assert main(["fabric", "worst", "g.net", "--far", "g.far", "--adaptive", "best", "-o", "best.json"]) == 0
    assert main(["verify", "best.json"]) == 0
    assert "within: " not in capsys.readouterr().err
    saved = json.loads(Path("best.json").read_text())
    assert saved["constraints"] == ["within far:g.far,adaptive=even"]
    assert set(saved["provenance"]["sources"]) == {"g.net", "g.far"}
    Path("g.far").write_text(Path("g.far").read_text() + "# another file\n")
    assert main(["verify", "best.json"]) == 1


def test_forged_claims_are_refused(tmp_path: Path) -> None:
    """A claim about fewer paths than were bounded, or with paths that the next hops do not allow."""
    free = obliv.design("ring:5", then=None).to_dict()
    bound = obliv.design("ring:5", within="ecmp", then=None).to_dict()

    def proved(content: dict[str, Any]) -> bool:
        from obliv._util.files import digest_of

        content = copy.deepcopy(content)
        content["certificate"]["digest"] = digest_of(content)
        (tmp_path / "claim.json").write_text(json.dumps(content))
        return obliv.verify(tmp_path / "claim.json").proved

    assert proved(bound)
    assert proved(free)
    assert not proved(free | {"constraints": ["within ecmp"]})  # its paths go the longer way, too
    assert not proved(bound | {"constraints": []})  # its bound does not hold for all paths
    for claim in (bound | {"constraints": ["within ecmp", "minimal"]}, bound | {"constraints": ["within nonsense"]}):
        with pytest.raises(obliv.OblivError):
            proved(claim)


def test_what_cannot_bound_a_design() -> None:
    for options, message in (
        ({"within": "valiant"}, "next hops"),
        ({"within": "ecmp", "minimal": True}, "without limits"),
        ({"within": "ecmp", "objective": "ratio"}, "objective worst"),
    ):
        with pytest.raises(InputError, match=message):
            obliv.design("mesh:3x2", **options)  # type: ignore[arg-type]


def test_the_least_load_by_hand() -> None:
    """Pairs at distance 2 on a ring of 4 have two ways: each channel takes 1 + 1/2 + 1/2, or less by no split."""
    best = obliv.design("ring:4", within="ecmp", then=None)
    assert best.channel_load == obliv.design("ring:4", minimal=True, then=None).channel_load
    assert bounds_of(best.channel_load)[0] >= Fraction(1)
