"""Every failure equals the one solved from scratch."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.fabric.opensm import needs_opensm, simulated
from tests.fabric.outages import brute, fabrics

import obliv
from obliv.errors import InputError
from obliv.fabric.generate import from_routing, from_topology
from obliv.fabric.outages.every import failures
from obliv.fabric.outages.sets import every_failure
from obliv.fabric.routes.routing import FabricRouting
from obliv.questions.failures import FailureRow, Failures


def compare(routing: FabricRouting, of: str, repair: str, offset: str = "0") -> None:
    found = {row.failed: row for row in failures(routing, of=of, repair=repair, offset=offset).failures}
    for failure in every_failure(routing.topology, of):
        row = found.pop(failure.name)
        *figures, names = brute.after(routing, failure, repair, offset)
        assert [row.pairs_lost, row.channel_load, row.deadlock] == figures, row
        assert row.channel in names, row
    assert not found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.usefixtures("moves")
def test_failures_equal_those_solved_from_scratch(seed: int) -> None:
    compare(*fabrics.drawn(seed))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 310))
def test_many_failures_equal_those_solved_from_scratch(seed: int) -> None:
    compare(*fabrics.drawn(seed))


@pytest.mark.parametrize("seed", [11, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(12, 112))])
def test_routes_to_lids_that_no_host_uses_count_for_credit_loops(seed: int) -> None:
    """With seed 11 only a replaced route to such a LID closes one."""
    routing, offset = fabrics.several_lids(seed)
    for of in ("cables", "switches"):
        compare(routing, of, "refill", offset)


_FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.nightly
@pytest.mark.parametrize("repair", ["keep", "refill"])
@pytest.mark.parametrize("name", ["ft4_3-ftree", "ft4_3-minhop", "ft8_2-ftree", "ft8_2-minhop", "torus5x5-fallback"])
def test_failures_under_tables_of_opensm(name: str, repair: str) -> None:
    folder = _FIXTURES / name
    fabric, tables = obliv.fabric.read(folder / "ibnetdiscover.txt.gz", folder / "opensm-lfts.dump.gz")
    routing = obliv.fabric.routing(obliv.fabric.network(fabric), tables, missing="skip")
    for of in ("cables", "switches"):
        compare(routing, of, repair)


@pytest.mark.nightly
@needs_opensm
@pytest.mark.parametrize("repair", ["keep", "refill"])
@pytest.mark.parametrize("engine", ["minhop", "dor", "updn"])
def test_failures_on_a_torus_under_tables_of_opensm(engine: str, repair: str, tmp_path: Path) -> None:
    net = tmp_path / "torus.net"
    obliv.fabric.write_net(from_topology(obliv.topology("torus:4x4x4"), lids=False), net)
    with simulated(net, tmp_path / "files") as simulator:
        simulator.opensm("-R", engine)
        scan = simulator.kept("ibnetdiscover.txt", "ibnetdiscover")
    fabric, tables = obliv.fabric.read(scan, scan.parent / "opensm-lfts.dump")
    compare(obliv.fabric.routing(obliv.fabric.network(fabric), tables, missing="skip"), "cables", repair)


def test_a_cable_between_switches_is_named_if_it_is_loaded_as_much_as_those_of_hosts() -> None:
    """Three switches in a ring, a host each: every cable that is left carries one packet, like the hosts' own."""
    after = failures(from_routing(obliv.routing("shortest", obliv.ring(3))))
    assert {row.channel_load for row in after.failures} == {1}
    assert all(row.channel.count("switch") == 2 for row in after.failures)
    pair = from_routing(obliv.routing("dmodk", obliv.topology("xgft:2;2,2;1,1")))  # two hosts at each of two leaves
    assert [(row.channel_load, row.channel) for row in failures(pair).failures] == [(1, brute.OWN)] * 2
    line = failures(from_routing(obliv.routing("shortest", obliv.line(3))), of="switches")
    assert (line.failures[0].channel_load, line.failures[0].channel) == (0, "")


def test_given_failures_and_engines() -> None:
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    (row,) = failures(routing, fail=["host(0,0)/1"]).failures
    assert row.pairs_lost == 14  # a host of eight is cut off
    (row,) = failures(routing, fail=["switch((0),1)/3"]).failures
    kept = next(each for each in failures(routing).failures if each.failed == row.failed)
    assert (row.pairs_lost, row.channel_load) == (kept.pairs_lost, kept.channel_load)
    anew = failures(routing, repair="updown", of="switches")
    spines = [each for each in anew.failures if each.failed.endswith(",0)")]
    assert [each.pairs_lost for each in spines] == [0, 0]  # the other spine reaches all
    assert max(each.pairs_lost for each in anew.failures) == 56 - 30  # two hosts of eight are cut off


def test_the_largest_load_is_found_once_however_many_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, rows and JSON look at all rows a few times, not once for every row."""
    rows = tuple(FailureRow(f"cable {k}", 500 - k, Fraction(k)) for k in range(500))
    result, looks = Failures(failures=rows), []
    whole = Failures.worst_load.fget
    assert whole is not None
    monkeypatch.setattr(Failures, "worst_load", property(lambda self: looks.append(1) or whole(self)))
    assert "largest load  499   after cable 499" in repr(result)
    assert len(list(result.rows())) == len(result.to_dict()["rows"]) == 500
    assert len(looks) < 5


def test_the_number_of_failures_that_are_listed() -> None:
    result = failures(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))))
    assert (repr(result).count("rank "), len(list(result.rows()))) == (2, 8)
    three = replace(result, top=3)
    assert (repr(three).count("rank "), len(list(three.rows()))) == (3, 3)
    assert "and 5 more" in repr(three)
    assert "more" not in repr(replace(result, top=8))
    assert three == result
    assert three.to_dict()["rows"] == result.to_dict()["rows"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fail": ["swich((0),1)/3"]}, "did you mean switch"),
        ({"fail": ["switch((0),1)/9"]}, "ports are 1 to 4"),
        ({"fail": ["switch((0),1)/3", "switch((0),0)/1"]}, "named twice"),
        ({"fail": ["host(0,0)"]}, "not a switch"),
        ({"of": "lanes"}, "no parallel cables"),
        ({"of": "hosts"}, "choose cables"),
        ({"repair": "fix"}, "choose keep, refill"),
    ],
)
def test_what_cannot_fail_is_refused(options: dict[str, object], message: str) -> None:
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    with pytest.raises(InputError, match=message):
        failures(routing, **options)  # type: ignore[arg-type]


def test_engines_that_need_several_lanes_are_refused_without_an_option_that_is_not_there() -> None:
    torus = from_routing(obliv.routing("shortest", obliv.topology("torus:4x4")))
    for engine in ("dor-dateline", "minimal"):
        message = f"{engine} needs 2 virtual lanes on torus:4x4, and tables after a failure have one: choose layered"
        with pytest.raises(InputError, match=message):
            failures(torus, repair=engine, fail=["switch(0,0)/1"])
