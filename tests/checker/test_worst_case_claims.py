"""Certificates: every answer's passes, and every forgery that no longer proves its claim is refused."""

from __future__ import annotations

import copy
import json
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import change, exact, reasons, save_claim

import obliv
from obliv._util.files import unpack
from obliv.cli import main
from obliv.errors import FileError
from obliv.flows.base import Flow
from obliv.flows.sources import program_flows
from obliv.results.numbers import number
from obliv.topologies.cartesian import Cartesian

CASES = [
    ("mesh:4x4", "dor"),
    ("mesh:4x3", "o1turn"),
    ("torus:5x5", "romm"),
    ("torus:4x4", "romm"),
    ("torus:4x3", "valiant"),
    ("torus:2x3", "dor"),
    ("mesh:3x3x2", "romm"),
    ("hypercube:4", "ecmp"),
    ("hyperx:3x3", "romm"),
    ("complete:5", "valiant"),
    ("random-regular:n=20,d=4,seed=1", "ecmp"),
    ("random-regular:n=20,d=4,seed=1", "shortest"),
    ("random-regular:n=12,d=3,seed=2", "valiant"),
    ("torus:5x5", "1/3*dor+2/3*dor:yx"),
    ("torus:4x4", "1/4*romm+3/4*ecmp"),
    ("ring:7", "dor"),
    ("torus:3x4", "ival"),  # rings are traveled either way round in proportion
    ("ring:5", "ival"),
]


def claim_of(topology: str, routing: str) -> dict[str, Any]:
    way = obliv.routing(routing, obliv.topology(topology))
    content: dict[str, Any] = json.loads(json.dumps(obliv.worst_case(way, certificate=True).to_dict()))
    return content


def verdict(made: dict[str, Any], tmp_path: Path, redigest: bool = True, **options: Any) -> Any:
    return obliv.verify(save_claim(made, tmp_path / "claim.json", redigest), **options)


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("topology", "routing"), CASES)
def test_every_answers_certificate_passes(topology: str, routing: str, tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing(routing, obliv.topology(topology)), certificate=True)
    for name in ("claim.json", "claim.json.gz"):
        result.save(tmp_path / name)
        report = obliv.verify(tmp_path / name)
        assert report.proved, report
        assert report.unchecked == ()
    assert obliv.verify(result).proved
    quick = obliv.verify(tmp_path / "claim.json", quick=True)
    assert not quick.proved
    assert quick.verdict == quick.to_dict()["verdict"] == "one channel holds; not proved"
    assert len(quick.unchecked) == obliv.topology(topology).channels - 1


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("topology", "routing"), CASES)
def test_without_symmetry_too(topology: str, routing: str, tmp_path: Path) -> None:
    way = obliv.routing(routing, obliv.topology(topology))
    result = obliv.worst_case(way, certificate=True, symmetry="off")
    assert result.channel_load == obliv.worst_case(way).channel_load
    result.save(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved


def test_a_decimal_that_is_not_its_fractions_is_refused(tmp_path: Path) -> None:
    result = claim_of("mesh:3x3", "dor")
    result["channel_load"]["value"] = 1.5
    with pytest.raises(FileError, match=r"shows 1\.5"):
        verdict(result, tmp_path)


def test_loads_that_are_not_whole_over_the_denominator_prove_nothing(tmp_path: Path) -> None:
    """All else fits: traffic from each node to itself, which ROMM leaves at home, and prices of nothing."""
    made = claim_of("mesh:3x2", "romm")
    certificate = made["certificate"]
    assert unpack(certificate["denominator"]) > 1
    made |= {"permutation": list(range(6)), "channel_load": exact(Fraction(0))}
    made |= {"throughput": None, "throughput_reason": "the channel load is 0", "fraction_of_capacity": None}
    certificate |= {"permutation": list(range(6)), "denominator": 1, "duals": [[0] * 6]}
    certificate["channels"] = [[0, []]] * len(certificate["channels"])
    checks = {check.check: (check.ok, check.detail) for check in verdict(made, tmp_path).checks}
    assert checks["form"][0]
    assert checks["pair loads"] == (False, "a load is not an integer over the denominator 1")


def test_any_change_is_refused_by_the_digest(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "dor")
    assert verdict(result, tmp_path, redigest=False).proved

    def leaves(node: Any, trail: tuple[Any, ...] = ()) -> Any:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from leaves(value, (*trail, key))
        elif isinstance(node, list) and node:
            for at in {0, len(node) - 1}:
                yield from leaves(node[at], (*trail, at))
        else:
            yield trail, node

    changed = 0
    for trail, value in list(leaves(result)):
        forged = copy.deepcopy(result)
        at: Any = forged
        for key in trail[:-1]:
            at = at[key]
        if isinstance(value, bool) or value is None:
            at[trail[-1]] = 1
        elif isinstance(value, int | float):
            at[trail[-1]] = value + 1
        elif isinstance(value, str):
            at[trail[-1]] = value + "0"
        else:
            at[trail[-1]] = [0]
        with suppress(obliv.OblivError):  # refused for its form
            assert not verdict(forged, tmp_path, redigest=False).proved, trail
        changed += 1
    assert changed > 20


def test_a_lowered_claim_is_refused(tmp_path: Path) -> None:
    for topology, routing in CASES[:6]:
        result = claim_of(topology, routing)
        load = Fraction(result["channel_load"]["exact"]) * Fraction(999, 1000)
        capacity = Fraction(result["capacity"]["exact"])
        result["channel_load"] = exact(load)
        result["throughput"] = exact(1 / load)
        result["fraction_of_capacity"] = exact(1 / load / capacity)
        match = verdict(result, tmp_path)
        assert not match.proved
        assert {each.check for each in match.checks if each.ok is False} >= {"witness"}


def test_a_raised_claim_is_refused_because_nothing_attains_it(tmp_path: Path) -> None:
    result = claim_of("mesh:4x4", "dor")
    result["channel_load"] = exact(Fraction(4))
    result["throughput"] = result["fraction_of_capacity"] = exact(Fraction(1, 4))
    match = verdict(result, tmp_path)
    assert not match.proved


def test_another_routing_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "dor")
    for other in ("romm", "dor:yx", "valiant", "ecmp"):
        forged = copy.deepcopy(result)
        forged["routing"] = other
        assert not verdict(forged, tmp_path).proved


def test_another_topology_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "dor")
    result["topology"] = "mesh:5x5"
    assert not verdict(result, tmp_path).proved


def test_a_channel_left_out_is_refused(tmp_path: Path) -> None:
    result = claim_of("mesh:4x4", "dor")
    result["certificate"]["channels"].pop()
    assert not verdict(result, tmp_path).proved
    result = claim_of("mesh:4x4", "dor")
    worst = result["channel"]["id"]
    remaining = result["certificate"]["channels"][worst]
    result["certificate"]["channels"][worst] = "simple"
    if not verdict(result, tmp_path).proved:
        assert remaining != "simple"


def test_simple_is_refused_where_it_does_not_suffice(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    result["certificate"]["channels"][7] = "simple"
    match = verdict(result, tmp_path)
    assert not match.proved
    assert "channel 7" in str(match)


@pytest.mark.parametrize("k", [3, pytest.param(5, marks=pytest.mark.nightly)])
def test_a_price_lowered_below_need_is_refused(k: int, tmp_path: Path) -> None:
    result = claim_of(f"torus:{k}x{k}", "romm")
    refused = 0
    for at, price in enumerate(result["certificate"]["duals"][0]):
        if price == 0:
            continue
        forged = copy.deepcopy(result)
        forged["certificate"]["duals"][0][at] = 0
        refused += not verdict(forged, tmp_path).proved
        forged["certificate"]["duals"][0][at] = -price
        assert not verdict(forged, tmp_path).proved
    assert refused > 0
    forged = copy.deepcopy(result)
    forged["certificate"]["duals"][0] = [0] * k**2
    assert not verdict(forged, tmp_path).proved


def test_a_load_too_low_by_one_unit_of_the_numerators_is_refused(tmp_path: Path) -> None:
    """Two sources cross the middle of a line of four; both count in the simple bound, the last one too."""
    result = claim_of("line:4", "dor")
    assert result["certificate"]["denominator"] == 1
    result["certificate"] |= {"duals": [], "channels": ["simple"] * 6}
    assert verdict(copy.deepcopy(result), tmp_path).proved
    image = [1, 0, 2, 3]  # neighbors exchange their packets: a load of 1
    result["permutation"] = result["certificate"]["permutation"] = image
    result["channel"] = {"id": 0, "tail": 0, "head": 1}
    result["channel_load"] = result["throughput"] = exact(Fraction(1))
    result["fraction_of_capacity"] = exact(1 / Fraction(result["capacity"]["exact"]))
    match = verdict(result, tmp_path)
    assert not match.proved
    assert [check.check for check in match.checks if not check.ok] == ["channels"]


def test_a_wrong_generator_word_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    refused = 0
    for c, (dual, word) in enumerate(result["certificate"]["channels"]):
        if not word:
            continue
        forged = copy.deepcopy(result)
        forged["certificate"]["channels"][c] = [dual, word[:-1]]
        refused += not verdict(forged, tmp_path).proved
        if refused > 3:
            break
    assert refused > 3
    for word in ([99], [-1]):
        forged = copy.deepcopy(result)
        forged["certificate"]["channels"][5] = [0, word]
        assert not verdict(forged, tmp_path).proved
    forged = copy.deepcopy(result)
    forged["certificate"]["channels"][5] = [3, []]
    assert not verdict(forged, tmp_path).proved


def test_a_generator_that_is_no_permutation_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    result["certificate"]["generators"][0][0] = result["certificate"]["generators"][0][1]
    assert not verdict(result, tmp_path).proved


def test_a_wrong_permutation_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    image = result["permutation"]
    image[0], image[12] = image[12], image[0]
    result["certificate"]["permutation"] = image
    outcome = verdict(result, tmp_path)
    assert not outcome.proved
    image[0] = image[1]
    assert not verdict(result, tmp_path).proved
    result["certificate"]["permutation"] = list(range(25))
    with pytest.raises(FileError, match="permutation"):
        verdict(result, tmp_path)


def test_a_smaller_denominator_is_refused(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    result["certificate"]["denominator"] = 1
    assert not verdict(result, tmp_path).proved
    result["certificate"]["denominator"] = 0
    with pytest.raises(FileError, match="denominator"):
        verdict(result, tmp_path)


def test_a_multiple_of_the_denominator_still_proves(tmp_path: Path) -> None:
    result = claim_of("torus:5x5", "romm")
    certificate = result["certificate"]
    certificate["denominator"] *= 7
    certificate["duals"] = [[7 * price for price in v] for v in certificate["duals"]]
    assert verdict(result, tmp_path).proved
    factor = 10**30  # beyond 64 bits: whole numbers as text
    certificate["denominator"] = str(int(certificate["denominator"]) * factor)
    certificate["duals"] = [[str(factor * price) for price in v] for v in certificate["duals"]]
    assert verdict(result, tmp_path).proved


def test_figures_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    for key in ("throughput", "fraction_of_capacity", "capacity"):
        result = claim_of("mesh:4x4", "dor")
        result[key] = exact(Fraction(1, 7))
        assert not verdict(result, tmp_path).proved
    result = claim_of("mesh:4x4", "dor")
    result["channel"]["head"] = 9
    assert not verdict(result, tmp_path).proved


def test_a_claim_with_rates(tmp_path: Path) -> None:
    topology = obliv.build(
        "star",
        4,
        [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)],
        bandwidth=[1, 1, 2, 2, 1, "1/2"],
        terminals=[0, 1, 2],
    ).with_rates([1, 2, "1/3"], [1, 1, "1/2"])
    result = obliv.worst_case(obliv.routing("ecmp", topology), certificate=True)
    assert result.permutation is None
    assert result.traffic is not None
    report = obliv.verify(result)
    assert report.proved, report
    content = json.loads(json.dumps(result.to_dict()))
    path = tmp_path / "claim.json"

    def check(claim: dict[str, Any]) -> bool:
        save_claim(claim, path)
        proved: bool = obliv.verify(path, topology=topology).proved
        return proved

    assert check(content)
    forged = copy.deepcopy(content)
    forged["traffic"][0][2] = str(2 * Fraction(forged["traffic"][0][2]))
    assert not check(forged)


def test_a_permutation_is_no_witness_where_terminals_have_rates(tmp_path: Path) -> None:
    """At rates of a half it sends too much, at rates of two it is not the worst."""
    line = obliv.line(3)
    whole = obliv.worst_case(obliv.DOR(line), certificate=True)
    content = json.loads(json.dumps(whole.to_dict()))
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(content))
    assert obliv.verify(path, topology=line).proved
    for share in (Fraction(1, 2), 2):
        report = obliv.verify(path, topology=line.with_rates([share] * 3, [share] * 3))
        failed = {check.check: check.detail for check in report.checks if not check.ok}
        assert "traffic matrix" in failed["form"]


def test_a_permutation_may_send_too_much_by_another_way(tmp_path: Path) -> None:
    """Node 0 of a line may send half a packet; the worst load, of 2, is that of packets to it."""
    line = obliv.line(4).with_rates(["1/2", 1, 1, 1], [1] * 4)
    content = json.loads(json.dumps(obliv.worst_case(obliv.DOR(line), certificate=True).to_dict()))
    assert (content["channel_load"]["exact"], content["channel"]["tail"], content["channel"]["head"]) == ("2", 2, 1)
    del content["traffic"]
    permuted([3, 2, 1, 0])(content)
    (said,) = reasons(content, tmp_path / "claim.json", topology=line)
    assert "the witness must be a traffic matrix" in said


def test_time_that_runs_out_proves_nothing(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing("romm", obliv.topology("torus:5x5")), certificate=True)
    report = obliv.verify(result, budget=0)
    assert not report.proved
    assert len(report.unchecked) == 100
    assert "budget" in str(report)


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    network = tmp_path / "net.txt"
    network.write_text("a b\nb c\nc d\nd a\na c\n")
    result = obliv.worst_case(obliv.routing("ecmp", obliv.topology(f"file:{network}")), certificate=True)
    result.save(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    network.write_text("a b\nb c\nc d\nd a\na c\n# a remark\n")
    report = obliv.verify(tmp_path / "claim.json")
    assert not report.proved
    assert "changed" in str(report)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "42",
        '{"kind": "worst"}',
        '{"kind": "dance"}',
        "\x00\x01\x02",
        '{"kind":"worst","certificate":{}}',
    ],
)
def test_what_is_no_claim_is_refused_in_a_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "claim.json"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        obliv.verify(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_claim_cut_anywhere_is_refused(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing("dor", obliv.topology("mesh:3x3")), certificate=True)
    path = tmp_path / "claim.json.gz"
    result.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(FileError):
            obliv.verify(path)


def test_random_damage_never_ends_in_another_error(tmp_path: Path) -> None:
    result = claim_of("torus:3x3", "romm")
    text = json.dumps(result)
    rng = np.random.default_rng(7)
    path = tmp_path / "claim.json"
    for _ in range(300):
        damaged = list(text)
        for at in rng.integers(0, len(text), 3):
            damaged[at] = chr(int(rng.integers(32, 127)))
        path.write_text("".join(damaged))
        try:
            report = obliv.verify(path)
        except obliv.OblivError:
            continue
        assert not report.proved or json.loads("".join(damaged)) == result


@pytest.mark.parametrize("key", ["duals", "generators", "channels", "denominator", "permutation", "sources", "digest"])
def test_parts_of_another_kind_are_refused(key: str, tmp_path: Path) -> None:
    result = claim_of("mesh:3x3", "dor")
    part = result["certificate"][key]
    for value in (None, 3, "x", [], {}, [[]], [1], {"b64zlib": "!", "dtype": "int64", "shape": [3]}):
        if value == part:
            continue  # no sources
        result["certificate"][key] = value
        try:
            assert not verdict(result, tmp_path, redigest=key != "digest").proved, value
        except FileError as error:
            assert "\n" not in str(error)


def test_more_entries_for_one_destination_than_the_first_buffers_hold() -> None:
    """Every node forwards to all nodes below it: packets from the last of 47 to the first use 47 · 46 / 2 channels."""
    n = 47
    links = [(v, w) for v in range(n) for w in range(v)]
    network = obliv.build("down", n, [*links, (0, n - 1)], terminals=[0, n - 1])

    class Down(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> list[int]:
            if destination:
                return [0] if node == 0 else []
            return np.flatnonzero(network.tail == node).tolist() if node else []

    routing = Down(network, "down")
    loads = routing.pair_loads()
    assert sum(len(loads.weights(c).weight) for c in range(network.channels)) == len(links) + 1 > 1024
    assert obliv.verify(obliv.worst_case(routing, certificate=True)).proved


def test_the_clock_is_looked_at_before_all_next_hops_are_asked() -> None:
    topology = obliv.mesh(4, 4)
    result = obliv.worst_case(obliv.ECMP(topology), certificate=True)
    asked = 0

    class Counted(obliv.ECMP):
        def next_hops(self, node: int, destination: int) -> Any:
            nonlocal asked
            asked += 1
            return super().next_hops(node, destination)

    counted = Counted(topology)
    counted.spec = "ecmp"
    assert not obliv.verify(result, budget=0, routing=counted).proved
    assert asked == 0
    assert obliv.verify(result, routing=counted).proved
    assert asked > 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("network", "spec"), [("mesh:3x2x2", "o1turn"), ("torus:3x2x3", "romm"), ("mesh:2x3x2", "u2turn")]
)
def test_all_orders_at_once_are_all_orders_one_by_one(network: str, spec: str) -> None:
    topology = obliv.topology(network)
    assert isinstance(topology, Cartesian)
    for program in obliv.routing(spec, topology).programs:
        listed = tuple(
            replace(phase, orders=tuple(permutations(range(3)))) if phase.orders is None else phase
            for phase in program.phases
        )
        flows = [program_flows(topology, each, lambda: None) for each in (program, replace(program, phases=listed))]
        for i in range(topology.nodes):
            at_once, one_by_one = (_as_fractions(flow(i)) for flow in flows)
            assert at_once == one_by_one


def test_random_orders_after_a_draw_anywhere_are_the_mean_of_all_orders() -> None:
    topology = obliv.mesh(3, 2)
    program = obliv.routing("valiant", topology).programs[0]

    def flows(orders: Any) -> Any:
        return program_flows(
            topology, replace(program, phases=(program.phases[0], replace(last, orders=orders))), lambda: None
        )

    last = program.phases[1]
    at_once, one, two = flows(None), flows(((0, 1),)), flows(((1, 0),))
    for i in range(topology.nodes):
        mean: dict[tuple[int, int], Fraction] = {}
        for part in (_as_fractions(one(i)), _as_fractions(two(i))):
            for key, share in part.items():
                mean[key] = mean.get(key, Fraction(0)) + share / 2
        assert _as_fractions(at_once(i)) == mean


def _as_fractions(flow: Flow) -> dict[tuple[int, int], Fraction]:
    destination = np.repeat(np.arange(len(flow.ends)), np.diff(flow.ends, prepend=0))
    return {
        (int(j), int(c)): Fraction(int(amount), int(flow.whole[j]))
        for j, c, amount in zip(destination, flow.channel, flow.amount, strict=True)
    }


@pytest.mark.nightly
def test_seven_dimensions_are_proved() -> None:
    result = obliv.worst_case(obliv.routing("o1turn", obliv.topology("hypercube:7")), certificate=True)
    assert obliv.verify(result).proved


def test_a_denominator_that_does_not_fit_proves_nothing(tmp_path: Path) -> None:
    """Loads that cannot be written over it must not be left out of the sums."""
    topology = obliv.mesh(3, 3)
    content = obliv.worst_case(obliv.routing("o1turn", topology), certificate=True).to_dict()
    channel = content["channel"]["id"]
    loads = obliv.routing("o1turn", topology).pair_loads()
    image = [1, 0, *range(2, 9)]
    load = loads.under(obliv.permutation(image))[channel]
    assert 0 < load < Fraction(content["channel_load"]["exact"])
    content |= {
        "channel_load": number(load),
        "throughput": number(1 / load),
        "fraction_of_capacity": number(topology.capacity_load / load),
        "permutation": image,
    }
    content["certificate"] |= {"denominator": 1, "permutation": image, "duals": [], "channels": ["simple"] * 24}
    path = tmp_path / "forged.json"
    save_claim(content, path)
    report = obliv.verify(path)
    assert not report.proved
    assert "not an integer" in str(report)


def test_a_load_that_only_the_named_channel_keeps_is_not_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only node (0,0) sends over the first channel of a mesh, so its load is at most 1; that of others reaches 2."""
    claim = claim_of("mesh:3x3", "dor")
    swap = [1, 0, *range(2, 9)]
    claim["certificate"] |= {"permutation": swap, "duals": [], "generators": [], "channels": ["simple"] * 24}
    claim |= {"permutation": swap, "channel": {"id": 0, "tail": 0, "head": 1}}
    claim |= {"channel_load": exact(Fraction(1)), "throughput": exact(Fraction(1))}
    claim["fraction_of_capacity"] = exact(1 / Fraction(claim["capacity"]["exact"]))
    result = verdict(claim, tmp_path, quick=True)
    assert not result.proved
    assert result.verdict == "one channel holds; not proved"
    for form in ("table", "json"):
        assert main(["verify", str(tmp_path / "claim.json"), "--quick", "--format", form]) == 1
        assert '"proved": true' not in capsys.readouterr().out
    assert verdict(claim, tmp_path).verdict == "not proved"


def _peak(path: Path) -> int:
    obliv.verify(path)
    tracemalloc.start()
    try:
        obliv.verify(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_loads_over_large_denominators_are_summed_as_python_integers(tmp_path: Path) -> None:
    content = claim_of("torus:4x3", "dor")
    content["certificate"]["denominator"] = 2**64
    content["certificate"]["duals"] = [[2**64 * int(price) for price in row] for row in _rows(content)]
    assert obliv.verify(save_claim(content, tmp_path / "claim.json")).proved
    content["channel_load"] = number(Fraction(content["channel_load"]["exact"]) - Fraction(1, 2))
    assert not obliv.verify(save_claim(content, tmp_path / "claim.json")).proved


def _rows(content: dict[str, Any]) -> list[list[int]]:
    duals = content["certificate"]["duals"]
    rows: list[list[int]] = np.asarray(unpack(duals) if isinstance(duals, dict) else duals).tolist()
    return rows


@pytest.mark.nightly
def test_large_denominators_take_no_more_memory_than_the_valid_claim(tmp_path: Path) -> None:
    content = claim_of("torus:13x13", "dor")
    valid = _peak(save_claim(content, tmp_path / "claim.json"))
    content["certificate"]["denominator"] = 2**64
    assert _peak(save_claim(content, tmp_path / "claim.json")) < 2 * valid + 2**20


# Each part is refused by its own check, and by nothing else.


@cache
def base(topology: str, routing: str) -> dict[str, Any]:
    """A claim that is proved, to be copied before it is changed."""
    if routing != "osrm2":
        return claim_of(topology, routing)
    way = obliv.routing(routing, obliv.topology(topology))
    content: dict[str, Any] = json.loads(json.dumps(obliv.ratio(way, certificate=True).to_dict()))
    return content


def permuted(image: Any) -> Any:
    def apply(content: dict[str, Any]) -> None:
        content["permutation"] = content["certificate"]["permutation"] = image

    return apply


def witness(*rows: list[Any]) -> Any:
    def apply(content: dict[str, Any]) -> None:
        del content["permutation"], content["certificate"]["permutation"]
        content["traffic"] = list(rows)

    return apply


def raised(content: dict[str, Any]) -> None:
    load = Fraction(content["channel_load"]["exact"]) * Fraction(101, 100)
    content["channel_load"], content["throughput"] = exact(load), exact(1 / load)
    content["fraction_of_capacity"] = exact(1 / load / Fraction(content["capacity"]["exact"]))


TORUS, RANDOM, TREE = ("torus:3x3", "romm"), ("random-regular:n=12,d=3,seed=2", "valiant"), ("fattree:4,2", "osrm2")
SEVENTH = exact(Fraction(1, 7))
CAPACITY = ("certificate", "capacity")
LENGTHS, FLOWS = (*CAPACITY, "lengths"), (*CAPACITY, "flows")
ENTRY = ("certificate", "channels", 0)
ALONE: list[tuple[tuple[str, str], Any, str]] = [
    (TORUS, change("channel", to={"id": 0}), "channel must contain id, tail and head"),
    (TORUS, change("channel", "tail", to=8), "channel 0 does not run from 8 to 1"),
    (TORUS, change("channel", "id", to=99), "channel 99 does not run from"),
    (TORUS, change("channel", "id", to=-1), "channel -1 does not run from"),
    (TORUS, change("certificate", "channels", to=[]), "0 channels are listed, the topology has 36"),
    (TORUS, change(*ENTRY, to="none"), "an entry of channels is neither"),
    (TORUS, change(*ENTRY, to=[0, ["x"]]), "other than generator numbers"),
    *((TORUS, change(*ENTRY, to=to), "does not exist") for to in ([9, []], [-1, []], [0, [99]], [0, [-1]])),
    (TORUS, change(*ENTRY, to={"threshold": 1}), "a threshold proves loads of flow differences only"),
    (TORUS, change(*ENTRY, to="simple"), "channel 0 may carry more than claimed"),
    (TORUS, change("certificate", "generators", to=[[0] * 9]), "a generator is not a permutation of the nodes"),
    (TORUS, change("certificate", "generators", to=[list(range(8))]), "a generator is not a permutation of the nodes"),
    (TORUS, change("certificate", "duals", to=[[-1] * 9]), "a price is negative"),
    (TORUS, change("certificate", "duals", to=lambda v: [row[:8] for row in v]), "one price per terminal"),
    (TORUS, change("certificate", "denominator", to=7), "a load is not an integer over the denominator 7"),
    (TORUS, change("certificate", "channels", to=3), "channels is missing or not a list"),
    (TORUS, change("certificate", "sources", to=[]), "sources is missing or not a dict"),
    (TORUS, lambda content: content["certificate"].pop("duals"), "duals is missing"),
    (TORUS, change("certificate", "duals", to=3), "duals must be a list of lists of integers"),
    (TORUS, change("certificate", "duals", to=[3]), "duals must be a list of lists of integers"),
    (TORUS, permuted(3), "permutation must be a list of integers"),
    (TORUS, change("channel_load", "value", to=2.0), "channel_load shows 2.0 for 1"),
    (TORUS, change("certificate", "denominator", to=0), "the denominator must be a positive integer"),
    (TORUS, permuted([0] * 9), "the permutation is invalid"),
    (TORUS, permuted(list(range(8))), "the permutation is invalid"),
    (TORUS, change("certificate", "permutation", to=list(range(9))), "differs from that of the result"),
    (TORUS, change("traffic", to=[[0, 1, "1"]]), "it has two witnesses"),
    (TORUS, change("throughput", to=SEVENTH), "the throughput is not 1 / channel load"),
    (TORUS, change("capacity", to=SEVENTH), "the capacity is not that of the topology"),
    (TORUS, change("fraction_of_capacity", to=SEVENTH), "the fraction of capacity does not follow"),
    (TORUS, witness([0, 1, "2"]), "the traffic exceeds what a terminal may send or receive"),
    (TORUS, witness([0, 1, "1/2"], [0, 2, "2/3"]), "the traffic exceeds what a terminal may send or receive"),
    (TORUS, witness([0, 1, "1/2"], [2, 1, "2/3"]), "the traffic exceeds what a terminal may send or receive"),
    (TORUS, witness([0, 9, "1"]), "a row of the traffic is out of range"),
    (TORUS, witness([-1, 0, "1"]), "a row of the traffic is out of range"),
    (TORUS, witness([0, "x", "1"]), "traffic must be rows of"),
    (TORUS, witness([0, 1, "x"]), "traffic must be rows of"),
    (TORUS, change("skipped", to=3), "0 pairs that romm does not serve send nothing, claimed 3"),
    (TORUS, change("other", to=3), "other is not what obliv writes in such a claim"),
    (TORUS, raised, "it loads channel 0 by 1, claimed 101/100"),
    (TORUS, change(*CAPACITY, to="x"), "is not an object with lengths, flows and whole"),
    (RANDOM, change(*CAPACITY, to=None), "the capacity is not that of the topology"),
    (RANDOM, change(*CAPACITY, "whole", to=0), "is not an object with lengths, flows and whole"),
    (RANDOM, change(*LENGTHS, to=[1]), "must be one whole number for each channel, 0 or more"),
    (RANDOM, change(*LENGTHS, to=lambda row: [-1, *row[1:]]), "must be one whole number for each channel, 0 or more"),
    (RANDOM, change(*LENGTHS, to=lambda row: [0] * len(row)), "prove less than its flows attain"),
    (RANDOM, change(*LENGTHS, to="x"), "the lengths of the capacity cannot be unpacked"),
    (RANDOM, change(*FLOWS, to=lambda rows: rows[1:]), "do not carry uniform traffic"),
    *(
        (RANDOM, change(*FLOWS, to=lambda rows, row=row: [row, *rows]), "a row of the flows of the capacity is out of")
        for row in ([12, 0, 1], [-1, 0, 1], [0, 36, 1], [0, -1, 1], [0, 0, -1])
    ),
    (TREE, change("lower_bound", to=exact(Fraction(3, 2))), "the lower bound is not that of the topology"),
    (TREE, change("lower_bound_source", to="mine"), "the lower bound has another source"),
    # All else of these holds: node 0 sends to node 1 over channel 0.
    (TORUS, change("certificate", "generators", to=lambda maps: [*maps, [0] * 9]), "a generator is not a permutation"),
    (TORUS, permuted([1, 1, *range(2, 9)]), "the permutation is invalid"),
    (TORUS, witness([0, 1, "1"], [-1, 0, "0"]), "a row of the traffic is out of range"),
    (TORUS, witness([0, 1, "1"], [0, 0, "1"]), "the traffic exceeds what a terminal may send or receive"),
    (TORUS, witness([0, 1, "1"], [1, 1, "1"]), "the traffic exceeds what a terminal may send or receive"),
]


@pytest.mark.parametrize(("of", "forge", "why"), ALONE, ids=[f"{of[1]}-{why}" for of, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(of: tuple[str, str], forge: Any, why: str, tmp_path: Path) -> None:
    content = copy.deepcopy(base(*of))
    forge(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


@pytest.mark.parametrize("of", [TORUS, RANDOM, TREE])
def test_what_is_forged_is_proved(of: tuple[str, str], tmp_path: Path) -> None:
    assert reasons(copy.deepcopy(base(*of)), tmp_path / "claim.json") == []


def test_a_closed_form_that_the_proof_of_the_capacity_contradicts_is_refused(tmp_path: Path) -> None:
    network = replace(obliv.topology(RANDOM[0]), spec="mine", capacity_load=Fraction(1, 7))
    content = copy.deepcopy(base(*RANDOM)) | {"topology": "mine"}
    routing = obliv.routing(RANDOM[1], network)
    (said,) = reasons(content, tmp_path / "claim.json", topology=network, routing=routing)
    assert "the closed form 1/7" in said


def test_the_bound_for_single_shortest_paths_is_not_that_of_a_detour(tmp_path: Path) -> None:
    """All else of this claim holds: hosts 0 and 1, at one switch, send to each other by way of a root."""
    tree = obliv.topology(TREE[0])
    honest = obliv.routing("dmodk", tree)

    class Detour(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            if (source, destination) == (0, 1):
                return [((0, 10, 24, 9), 1)]
            return list(honest.paths(source, destination))

    routing = Detour(tree, "detour")
    content = json.loads(json.dumps(obliv.ratio(routing, certificate=True).to_dict()))
    bound = base(*TREE)
    content |= {key: bound[key] for key in ("lower_bound", "lower_bound_source")}
    content.pop("lower_bound_reason", None)
    (said,) = reasons(content, tmp_path / "claim.json", routing=routing)
    assert "for single paths that climb and then descend; not all do" in said
