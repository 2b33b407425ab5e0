"""Capacities by linear programs: closed forms, brute force, saved claims, and forged proofs."""

from __future__ import annotations

import copy
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims import refused, save_claim
from tests.designs.networks import networks
from tests.oracles.optima import least_load_of
from tests.strategies import examples

import obliv
from obliv._util.files import pack, read_json, unpack_array
from obliv.cli import main
from obliv.questions import subject

F = Fraction
CHORD = "a b\nb c\nc d\nd a\na c\n"


def plain(topology: obliv.Topology) -> obliv.Topology:
    """Return the same network without its closed form."""
    ends = list(zip(topology.tail.tolist(), topology.head.tolist()))
    speeds = list(topology.bandwidth)
    return obliv.build("plain", topology.nodes, ends, terminals=topology.terminals.tolist(), bandwidth=speeds)


TREES = ["fattree:4,2", "eft2:4,3", "sub-eft2:4,3", "subft:4,2", "subft:6,1", "xgft:2;3,2;2,2", "xgft:2;2,3;1,2;1,1/3"]


@pytest.mark.parametrize("spec", ["mesh:4x4", "mesh:5x3", "torus:5x5", "hypercube:4", "ring:6", *TREES])
def test_closed_forms(spec: str) -> None:
    topology = obliv.topology(spec)
    assert obliv.with_capacity(topology) is topology
    assert obliv.with_capacity(plain(topology)).capacity_load == topology.capacity_load


def test_one_network_has_one_capacity() -> None:
    specs = ["fattree:4,2", "xgft:2;2,4;1,2", "eft2:4,4"]
    assert {obliv.topology(spec).capacity_load for spec in specs} == {Fraction(7, 8)}
    assert {obliv.bounds(spec).capacity for spec in specs} == {Fraction(7, 8)}
    best = obliv.worst_case("fattree:4,2", "omrmn")
    assert (best.channel_load, best.fraction_of_capacity) == (1, Fraction(7, 8))
    assert obliv.topology("xgft:1;1;1").capacity is None


@examples(20)
@given(st.integers(0, 10**9))
def test_against_a_plain_linear_program(seed: int) -> None:
    network = networks(seed)
    known = obliv.with_capacity(network)
    n = len(network.terminals)
    if network.unit_rates:
        assert known.capacity_load is not None
        rows = [[F(int(s != d), n) for d in range(n)] for s in range(n)]
        assert float(known.capacity_load) == pytest.approx(least_load_of(network, rows), abs=1e-7)
        result = obliv.worst_case(obliv.routing("ecmp", known), certificate=True)
        assert result.capacity == 1 / known.capacity_load
        assert obliv.verify(result).proved
        assert obliv.verify(result, topology=network, routing=obliv.routing("ecmp", network)).proved
    else:
        assert known is network


def test_where_it_stays_unknown() -> None:
    one_way = obliv.build("one-way", 3, [(0, 1), (1, 2)])
    large = obliv.topology("random-regular:n=200,d=6,seed=1")
    rated = obliv.topology("kautz:2,2").with_rates([2] * 6, [1] * 6)
    for network in (one_way, large, rated):
        assert obliv.with_capacity(network) is network
    known = obliv.with_capacity(obliv.topology("kautz:2,2"))
    assert known.capacity_load is not None
    for changed in (known.with_terminals([0, 1, 2]), known.with_rates([2] * 6, [1] * 6)):
        assert changed.capacity_load is None
        assert changed.capacity_proof is None


@pytest.fixture
def claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.txt").write_text(CHORD)
    assert main(["worst", "file:net.txt", "ecmp", "--output", "claim.json"]) == 0
    return tmp_path / "claim.json"


def forge(claim: Path, change: Any) -> Path:
    content = copy.deepcopy(read_json(claim))
    change(content)
    save_claim(content, claim.with_name("forged.json"))
    return claim.with_name("forged.json")


def test_a_saved_claim(claim: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read_json(claim)["capacity"]["exact"] == "8/3"
    capsys.readouterr()
    assert main(["verify", str(claim)]) == 0
    assert "capacity     ok: 8/3: flows attain it" in capsys.readouterr().out


def _rows(proof: dict[str, Any]) -> Any:
    return unpack_array(proof["flows"]).copy()


def _flow(place: int, column: int, by: int) -> Any:
    def change(content: dict[str, Any]) -> None:
        proof = content["certificate"]["capacity"]
        rows = _rows(proof)
        rows[place, column] += by
        proof["flows"] = pack(rows)

    return change


def _part(key: str, value: Any) -> Any:
    return lambda content: content["certificate"]["capacity"].update({key: value})


def _capacity(content: dict[str, Any]) -> None:
    content["capacity"] = {"exact": "2", "value": 2.0}
    content["fraction_of_capacity"] = {"exact": "1/2", "value": 0.5}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "change",
    [
        _capacity,
        _flow(0, 2, 1),
        _flow(0, 2, -1),
        _flow(0, 1, 1),
        _flow(0, 0, 100),
        _flow(0, 1, 100),
        _flow(0, 2, -(10**6)),
        _part("lengths", [1] * 10),
        _part("lengths", [0] * 10),
        _part("lengths", [1] * 9),
        _part("lengths", [-1] * 10),
        _part("lengths", "x"),
        _part("flows", []),
        _part("flows", [1, 2]),
        _part("whole", 0),
        _part("whole", 1.5),
        _part("whole", 10**30),
        lambda content: content["certificate"].update({"capacity": 5}),
        lambda content: content["certificate"].pop("capacity"),
    ],
)
def test_forged_capacities_are_refused(claim: Path, change: Any) -> None:
    try:
        assert not obliv.verify(forge(claim, change)).proved
    except obliv.InputError as error:
        assert "\n" not in str(error)


def test_a_designed_routing_has_it_too(claim: Path) -> None:
    assert main(["design", "file:net.txt", "--output", "design.json"]) == 0
    content = read_json(Path("design.json"))
    assert content["fraction_of_capacity"]["exact"] == "9/16"
    assert obliv.verify("design.json").proved
    content["capacity"] = {"exact": "3", "value": 3.0}
    content["fraction_of_capacity"] = {"exact": "1/2", "value": 0.5}
    assert refused(content, Path("forged.json"))


def _answers(network: obliv.Topology | str) -> list[Any]:
    """Return what states a capacity, of one network and one routing."""
    return [
        obliv.worst_case(network, "ecmp"),
        obliv.worst_case(network, "ecmp", certificate=True),
        obliv.worst_channels(network, "ecmp"),
        obliv.throughput(network, "ecmp", "uniform"),
        obliv.average_case(network, "ecmp", 5),
        obliv.compare(network, "ecmp").entries[0],
        obliv.design(network),
    ]


def test_a_network_given_link_by_link_has_the_capacity_of_its_spec() -> None:
    tree = obliv.topology("fattree:4,2")
    own = plain(tree)
    for network in (tree, own):
        assert {answer.capacity for answer in _answers(network)} == {F(8, 7)}
        assert obliv.bounds(network).capacity == F(7, 8)
    (row,) = obliv.throughput(own, "ecmp", "uniform").patterns
    assert row.fraction_of_capacity == 1
    (entry,) = obliv.compare(own, "ecmp", unit="capacity").entries
    assert entry.of_capacity("worst") == F(7, 8)  # as under omrmn, whose load is 1
    assert own.capacity is None  # the topology itself says what was given
    proved = obliv.worst_case(own, "ecmp", certificate=True)
    assert obliv.verify(proved, topology=own).proved
    assert obliv.verify(obliv.design(own), topology=own).proved


def test_the_command_and_python_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.txt").write_text(CHORD)
    spec = f"file:{tmp_path / 'net.txt'}"
    assert main(["worst", spec, "ecmp", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["capacity"]["exact"] == "8/3"
    assert {answer.capacity for answer in _answers(spec)} == {F(8, 3)}
    links = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    own = obliv.build("own", 4, [*links, *(pair[::-1] for pair in links)])
    assert {answer.capacity for answer in _answers(own)} == {F(8, 3)}


def test_results_without_a_capacity_say_what_bounds_it() -> None:
    """A network of 10,082 terminals times channels, and one whose terminals have rates."""
    large = obliv.build("large", 71, [(v, (v + k) % 71) for v in range(71) for k in (1, -1)])
    rated = obliv.topology("kautz:2,2").with_rates([2] * 6, [1] * 6)
    for result in (obliv.worst_case(large, "shortest"), obliv.worst_case(rated, "ecmp")):
        content = result.to_dict()
        assert (content["capacity"], content["fraction_of_capacity"]) == (None, None)
        assert content["capacity_reason"] == "the capacity of this topology is not known"
        assert "not known here (see obliv.bounds)" in repr(result)


def test_a_capacity_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(topology: obliv.Topology) -> obliv.Topology:
        calls.append(topology.spec)
        return obliv.with_capacity(topology)

    monkeypatch.setattr(subject, "from_above", {"capacity": counted}.__getitem__)
    subject._with_capacity.cache_clear()
    for _ in range(2):
        assert obliv.worst_case("kautz:2,2", "ecmp").capacity is not None
        obliv.ratio("kautz:2,2", "ecmp")  # which needs none
    assert calls == ["kautz:d=2,n=2"]
    obliv.worst_case("mesh:4x4", "dor")
    obliv.worst_case("random-regular:n=200,d=6,seed=1", "shortest", samples=2)
    obliv.failures("kautz:2,2", "shortest")
    assert calls == ["kautz:d=2,n=2"]


def test_without_the_solver(claim: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    subject._with_capacity.cache_clear()  # what other tests solved
    capsys.readouterr()
    assert main(["worst", "file:net.txt", "ecmp"]) == 0
    out, err = capsys.readouterr()
    assert "of capacity     not known here (see obliv.bounds)" in out
    assert "the fraction of capacity is left out: this needs highspy" in err
    assert len(err.strip().splitlines()) == 1


@examples(20)
@given(st.integers(0, 10**9))
def test_the_matching_bound(seed: int) -> None:
    """No permutation is farther: brute force on small networks."""
    from itertools import permutations

    from obliv.designs.bounds.congestion import hop_distances
    from obliv.designs.bounds.network import matching_bound

    network = networks(seed)
    far = hop_distances(network)[np.ix_(network.terminals, network.terminals)]
    n = len(far)
    most = max(int(far[range(n), image].sum()) for image in permutations(range(n)))
    load, image = matching_bound(network)
    assert load == F(most) / sum(network.bandwidth_of(c) for c in range(network.channels))
    assert sorted(image) == list(range(n))


@pytest.mark.nightly
def test_large_denominators_are_solved_exactly() -> None:
    """Flows whose denominators are too large to be guessed from floats come from the basis of the simplex method."""
    network = obliv.topology("random-regular:n=24,d=7,seed=2")
    known = obliv.with_capacity(network)
    assert known.capacity_load == F(35, 144)
    result = obliv.worst_case(obliv.routing("shortest", known), certificate=True)
    assert obliv.verify(result).proved


@pytest.mark.nightly
def test_every_small_random_network_has_an_exact_capacity() -> None:
    for seed in range(40):
        network = obliv.topology(f"random-regular:n={12 + 2 * (seed % 10)},d={3 + seed % 4},seed={seed}")
        assert obliv.with_capacity(network).capacity_load is not None, network.spec
