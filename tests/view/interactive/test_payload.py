"""What a page is told about a network: the loads of pairs as their paths give them, and reasons for what is missing."""

from __future__ import annotations

import base64
import json
from fractions import Fraction
from typing import Any

import pytest

import obliv
from obliv.errors import InputError, TooLargeError
from obliv.view.interactive.fragment import PageLimits, network_payload


def numbers(text: str) -> list[int]:
    """Whole numbers of seven bits a byte."""
    out, value, bits = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << bits
        bits += 7
        if byte < 128:
            out.append(value)
            value, bits = 0, 0
    return out


def unpacked(crossing: dict[str, Any], channels: int) -> list[dict[tuple[int, int], Fraction]]:
    """The loads of pairs on every channel."""
    text, rows = iter(numbers(crossing["rows"])), []
    for length in text:
        gaps = [(next(text), next(text)) for _ in range(length)]
        rows.append([(sum(gap for gap, _ in gaps[: k + 1]), value) for k, (_, value) in enumerate(gaps)])
    text, loads = iter(numbers(crossing["channels"])), []
    for _ in range(channels):
        pairs, source = {}, 0
        for _ in range(next(text)):
            source += next(text)
            for destination, value in rows[next(text)]:
                pairs[source, destination] = Fraction(int(crossing["values"][value]), int(crossing["denominator"]))
        loads.append(pairs)
    assert not list(text)
    return loads


@pytest.mark.parametrize(
    ("topology", "routing"),
    [("mesh:3x3", "romm"), ("torus:4x3", "valiant"), ("fattree:4,2", "ecmp"), ("ring:5", "1/2*dor+1/2*shortest")],
)
def test_the_loads_of_pairs_are_those_of_the_paths(topology: str, routing: str) -> None:
    network = obliv.topology(topology)
    way = obliv.routing(routing, network)
    expected: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(network.channels)]
    for s, source in enumerate(network.terminals.tolist()):
        for d, destination in enumerate(network.terminals.tolist()):
            for path, chance in way.paths(source, destination):
                for channel in path:
                    expected[channel][s, d] = expected[channel].get((s, d), Fraction(0)) + Fraction(chance)
    payload = network_payload(way)
    assert unpacked(payload["crossing"], network.channels) == expected
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_a_result_of_pair_loads_has_pairs_but_no_proof() -> None:
    loads = obliv.DOR(obliv.mesh(3, 3)).pair_loads()
    payload = network_payload(obliv.worst_case(loads))
    assert payload["crossing"]
    assert payload["proof"] is None
    assert "without a routing" in payload["proof_reason"]


def test_what_does_not_fit_is_left_out_with_a_reason() -> None:
    routing = obliv.routing("romm", obliv.mesh(4, 4))
    small = network_payload(obliv.worst_case(routing), PageLimits(room=1000))
    assert small["crossing"] is small["proof"] is None
    assert small["crossing_reason"] == small["proof_reason"] == "the loads of pairs take more than 0.001 MB"
    assert small["worst"]["pairs"]
    assert small["views"]
    late = network_payload(routing, PageLimits(seconds=-1.0))
    assert "seconds" in late["crossing_reason"]
    unsolved = network_payload(routing, PageLimits(solved=1))
    assert unsolved["worst"] is None
    assert unsolved["views"] == []
    assert "this size" in unsolved["crossing_reason"]
    with pytest.raises(TooLargeError, match="up to 20,000 of each are drawn"):
        network_payload(obliv.topology("torus:200x200"))


def test_estimates_are_marked() -> None:
    payload = network_payload(obliv.worst_case(obliv.routing("romm", obliv.mesh(3, 3)), samples=8, rng=1))
    assert payload["crossing"] is None
    assert payload["crossing_reason"] == "the loads are estimates"
    assert payload["worst"]["load"] is None
    assert "estimated" in payload["views"][0]["label"]


def test_networks_alone_and_other_things() -> None:
    payload = network_payload(obliv.topology("graph:petersen"))
    assert (payload["routing"], payload["views"], payload["worst"], payload["crossing"]) == (None, [], None, None)
    assert len(payload["nodes"]) == 10
    with pytest.raises(InputError, match="a page shows"):
        network_payload("mesh:3x3")  # type: ignore[arg-type]


def test_every_channel_has_its_own_worst_load() -> None:
    routing = obliv.routing("dor", obliv.mesh(3, 2))
    payload = network_payload(routing)
    own = next(view for view in payload["views"] if view["kind"] == "own")
    assert [Fraction(load) for load in own["loads"]] == [
        row.channel_load for row in obliv.worst_channels(routing).channels
    ]
