"""Traps that were once fallen into: sums that wrap, repeats, forged claims, subclasses that go their own way."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import refused, save_claim

import obliv
from obliv.matching import maximum_weight
from obliv.matching.solve import from_entries

F = Fraction


def test_a_channel_may_be_named_twice_among_the_next_hops() -> None:
    pair = obliv.build("pair", 2, [(0, 1), (0, 1), (1, 0)])

    class Twice(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> Any:
            return [0, 0, 1] if node == 0 else [(2, F(1, 2)), (2, F(1, 2))]

    routing = Twice(pair, "twice")
    result = obliv.worst_case(routing, certificate=True)
    assert result.channel_load == 1
    assert max(routing.pair_loads().under(obliv.permutation([1, 0]))[:2]) == F(2, 3)
    assert obliv.verify(result).proved


def test_sums_of_rates_do_not_wrap() -> None:
    for slow in (F(1, 1000), 0.001, F(1, 2**60), F(1, 2**70)):
        torus = obliv.torus(4, 4).with_rates([1] * 15 + [slow], [1] * 16)
        result = obliv.worst_case(obliv.routing("dor", torus), certificate=True)
        unit = obliv.worst_case(obliv.routing("dor", obliv.torus(4, 4))).channel_load
        assert unit - 1 <= result.channel_load <= unit
        assert obliv.verify(result).proved


def test_scaled_traffic_does_not_wrap() -> None:
    traffic = obliv.matrix([[0, F("0.123456789012345678")], [F(1, 2), 0]])
    scaled = F(999, 1000) * traffic
    assert scaled.row_sums == [F(999, 1000) * total for total in traffic.row_sums]
    assert (0.7 * traffic).row_sums[1] == F(7, 20)


def bouncing(tmp_path: Path, times: int) -> obliv.Routing:
    """Legal paths that go to and fro over one link before they arrive."""
    line = obliv.line(3)
    lines = []
    for s in range(3):
        for d in range(3):
            if s != d:
                straight = list(range(s, d + 1)) if s < d else list(range(s, d - 1, -1))
                other = s + 1 if s < 2 else 1
                lines.append("path 1 " + " ".join(map(str, [s, other] * times + straight)))
    path = tmp_path / "bounce.txt"
    path.write_text("\n".join(lines))
    routing: obliv.Routing = obliv.routing(f"table:{path}", line)
    return routing


def test_paths_that_cross_a_channel_many_times(tmp_path: Path) -> None:
    routing = bouncing(tmp_path, 200)
    result = obliv.worst_case(routing, certificate=True)
    assert result.channel_load >= 400
    assert obliv.verify(result).proved
    loads = routing.pair_loads()
    assert loads.hops() == sum(loads.under(obliv.traffic("uniform", obliv.line(3))), F(0)) / 3


def test_no_overflow_in_the_checker_proves_a_lower_claim(tmp_path: Path) -> None:
    routing = bouncing(tmp_path, 200)
    content = json.loads(json.dumps(obliv.worst_case(routing, certificate=True).to_dict()))
    content["channel_load"] = content["throughput"] = {"exact": "1", "value": 1.0}
    content["fraction_of_capacity"] = {"exact": str(F(2, 3)), "value": 2 / 3}
    for denominator in (1, 2**53, 2**60, 2**62):
        content["certificate"] |= {"denominator": denominator, "channels": ["simple"] * 4, "duals": []}
        path = tmp_path / "forged.json"
        assert refused(content, path)


@pytest.mark.parametrize("kind", ["hops", "paths", "mix", "parts", "negative"])
def test_the_checker_refuses_half_a_routing(kind: str, tmp_path: Path) -> None:
    ring = obliv.ring(3)

    class Hops(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> Any:
            return [(2 * node, F(1, 2))]

    class Paths(obliv.Routing):
        def paths(self, source: int, destination: int) -> Any:
            far = (destination - source) % 3
            return [(tuple(2 * ((source + k) % 3) for k in range(far)), F(1, 2))]

    class Parts(obliv.Routing):
        weights: tuple[F, ...] = (F(1, 2),)

        def components(self) -> Any:
            return [(weight, obliv.routing("shortest", ring)) for weight in self.weights]

        def paths(self, source: int, destination: int) -> Any:
            return obliv.routing("shortest", ring).paths(source, destination)

    class Negative(Parts):
        weights = (F(3, 4), F(1, 2), F(-1, 4))

    whole = obliv.worst_case(obliv.routing("shortest", ring), certificate=True)
    half = {
        "hops": Hops(ring, "h"),
        "paths": Paths(ring, "p"),
        "mix": F(1, 2) * obliv.routing("dor", ring),
        "parts": Parts(ring, "half"),
        "negative": Negative(ring, "negative"),
    }[kind]
    report = obliv.verify(whole, routing=half)
    assert not report.proved
    assert any("1/2" in check.detail or "add up" in check.detail for check in report.checks)
    content = json.loads(json.dumps(whole.to_dict()))  # a claim of half the load, as that routing has it
    load, share = F(content["channel_load"]["exact"]) / 2, F(content["fraction_of_capacity"]["exact"]) * 2
    content["certificate"]["denominator"] *= 2
    content["channel_load"] = {"exact": str(load), "value": float(load)}
    content["throughput"] = {"exact": str(1 / load), "value": float(1 / load)}
    content["fraction_of_capacity"] = {"exact": str(share), "value": float(share)}
    path = tmp_path / "half.json"
    save_claim(content, path)
    report = obliv.verify(path, routing=half)
    assert [check.check for check in report.checks if not check.ok] == ["pair loads"]


def test_a_subclass_with_paths_of_its_own_is_believed_by_them() -> None:
    ring = obliv.ring(5)

    class Up(obliv.DOR):
        def paths(self, source: int, destination: int) -> Any:
            far = (destination - source) % 5
            return [(tuple(2 * ((source + k) % 5) for k in range(far)), F(1))]

    class UpHops(obliv.ECMP):
        def next_hops(self, node: int, destination: int) -> list[int]:
            return [2 * node] if node != destination else []

    for routing in (Up(ring), UpHops(ring)):
        result = obliv.worst_case(routing, certificate=True)
        assert result.channel_load == 4
        assert obliv.verify(result).proved


def test_estimates_never_pass_for_exact() -> None:
    loads = obliv.routing("romm", obliv.mesh(3, 3)).pair_loads(samples=5)
    for call in (lambda: obliv.worst_case(loads), lambda: obliv.throughput(loads, "transpose")):
        with pytest.raises(obliv.InputError, match="estimates"):
            call()


def test_a_mix_needs_the_same_network_and_not_the_same_name() -> None:
    torus = obliv.torus(4, 4)
    one, two = torus.with_terminals(list(range(8))), torus.with_terminals(list(range(8, 16)))
    with pytest.raises(obliv.RoutingError, match="one topology"):
        0.5 * obliv.routing("ecmp", one) + 0.5 * obliv.routing("ecmp", two)


def test_capacity_is_that_of_unit_rates() -> None:
    slow = obliv.torus(4, 4).with_rates([F(1, 4)] * 16, [F(1, 4)] * 16)
    assert obliv.worst_case(obliv.routing("valiant", slow)).fraction_of_capacity is None
    same = obliv.torus(4, 4).with_rates([1] * 16, [1] * 16)
    result = obliv.worst_case(obliv.routing("dor", same), certificate=True)
    assert result.permutation is not None
    assert obliv.verify(result).proved


def test_many_units_and_long_weights() -> None:
    rows, columns = np.array([0, 0, 1]), np.array([0, 1, 0])
    weights = from_entries(rows, columns, np.array([2**70, 1, 2**69], object))
    result = maximum_weight(weights, [2**58, 3], [2**57, 2**60])
    assert result.value == 2**57 * 2**70 + (2**58 - 2**57)


def test_probabilities_longer_than_64_bits(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("hop 0 1 @0=0.123456789012345678901 @1=0.876543210987654321099\nhop 1 0 0\n")
    pair = obliv.build("pair", 2, [(0, 1), (0, 1), (1, 0)], bandwidth=[F(1, 10), 1, 5])
    result = obliv.worst_case(obliv.routing(f"table:{path}", pair), certificate=True)
    assert result.channel_load == F("1.23456789012345678901")
    assert obliv.verify(result).proved


def test_bandwidths_far_apart() -> None:
    links = [(0, 1), (0, 1), (1, 0)]
    topology = obliv.build("apart", 2, links, bandwidth=[1, 10**10, 10**10])

    class Rare(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> Any:
            return [(0, F(1, 10**12)), (1, 1 - F(1, 10**12))] if node == 0 else [2]

    result = obliv.worst_case(Rare(topology, "rare"), certificate=True)
    assert result.channel_load == F(1, 10**10)
    assert obliv.verify(result).proved


@pytest.mark.parametrize("text", ["1e999999999", "9" * 20000, "1/0", "-1", "0x1", "1_0"])
def test_saved_numbers_are_digits_and_few(text: str, tmp_path: Path) -> None:
    content = obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)), certificate=True).to_dict()
    content["channel_load"] = {"exact": text, "value": 1.0}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(content))
    for call in (obliv.load, obliv.verify):
        with pytest.raises(obliv.FileError):
            call(path)


def test_devices_are_no_files() -> None:
    with pytest.raises(obliv.FileError, match="regular"):
        obliv.routing("table:/dev/zero", obliv.mesh(2, 2))
    with pytest.raises(obliv.FileError, match="regular"):
        obliv.traffic("matrix:/dev/zero", obliv.mesh(2, 2))
