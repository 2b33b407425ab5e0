"""Fabrics as topologies: channels keyed by port, speeds relative to the fastest host, names that are safe."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.by_hand import fabric_of, random_fabric

import obliv
from obliv.errors import TopologyError
from obliv.fabric.files.folder import read_fabric
from obliv.fabric.generate import from_topology
from obliv.fabric.model import RATES
from obliv.fabric.names import safe
from obliv.fabric.topology import network


def test_a_generated_fabric_gives_its_tree_back() -> None:
    tree = obliv.topology("fattree:4,3")
    result = network(from_topology(tree))
    assert result.same_network(tree)
    assert result.spec == "fabric:fattree:4,3"
    assert result.labels[0] == "host(0,0,0)"
    assert result.unit_rates
    assert result.unit_bandwidth


@pytest.mark.parametrize("seed", range(20))
def test_every_cable_between_endpoints_and_switches_is_two_channels(seed: int) -> None:
    fabric = random_fabric(seed, mixed=seed % 2 == 1)
    result = network(fabric)
    cabled = {s for s in range(len(fabric.ports.peer)) if fabric.ports.peer[s] >= 0}
    assert set(result.slot_of.tolist()) == cabled
    for c, slot in enumerate(result.slot_of.tolist()):
        assert result.channel_of[slot] == c
        assert result.node_at[slot] == result.tail[c]
        assert result.node_at[fabric.ports.peer[slot]] == result.head[c]
    assert (result.channel_of >= 0).sum() == result.channels
    assert (result.terminals == np.arange(5)).all()


def test_ports_of_one_adapter_are_endpoints_of_their_own() -> None:
    fabric = fabric_of("hhs", [2, 1, 3], [((0, 1), (2, 1)), ((0, 2), (2, 2)), ((1, 1), (2, 3))])
    result = network(fabric)
    assert result.labels == ("h0 port 1", "h0 port 2", "h1", "s2")
    assert result.head[:3].tolist() == [3, 3, 3]
    assert result.port_name(int(fabric.endpoints[1])) == "h0 port 2 port 2"


def test_parallel_cables_and_cables_to_the_switch_itself_are_kept() -> None:
    cables = [((0, 1), (2, 1)), ((1, 1), (3, 1)), ((2, 2), (3, 2)), ((2, 3), (3, 3)), ((2, 4), (2, 5))]
    result = network(fabric_of("hhss", [1, 1, 5, 3], cables))
    assert result.channels == 10
    assert ((result.tail == 2) & (result.head == 2)).sum() == 2
    assert ((result.tail == 2) & (result.head == 3)).sum() == 2


def test_speeds_are_relative_to_the_fastest_host() -> None:
    rate = {(0, 1): "4xFDR10", (3, 1): "4xFDR10", (3, 4): "12xQDR", (4, 2): "12xQDR"}
    cables = [((0, 1), (3, 1)), ((1, 1), (3, 2)), ((2, 1), (4, 1)), ((3, 4), (4, 2))]
    fabric = fabric_of("hhhss", [1, 1, 1, 4, 2], cables, rate=rate)
    result = network(fabric)
    assert result.reference == RATES["4xFDR10"] == 40
    assert result.injection == result.ejection == (Fraction(1), Fraction(4, 5), Fraction(4, 5))
    between = int(result.channel_of[fabric.slot(3, 4)])
    assert result.bandwidth_of(between) == Fraction(96, 40)
    assert any("40 Gb/s" in note for note in result.notes)


def test_lanes_of_pam4_carry_50_100_and_200_gbits() -> None:
    """Frames of RS(544,514) hold 20 blocks of 256b/257b: 5120 of 5440 bits are data (IEEE 802.3, clause 119)."""
    signaling = {"HDR": Fraction("53.125"), "NDR": Fraction("106.25"), "XDR": Fraction("212.5")}
    for speed, lane, data in (("HDR", 1, 50), ("HDR", 4, 200), ("NDR", 2, 200), ("NDR", 4, 400), ("XDR", 8, 1600)):
        assert RATES[f"{lane}x{speed}"] == data == lane * signaling[speed] * Fraction(20 * 256, 544 * 10)
    assert (RATES["4xFDR"], RATES["4xEDR"]) == (Fraction(600, 11), 100)


def test_hosts_with_hdr_on_one_cable_with_edr() -> None:
    """Eight hosts of 200 Gb/s at each of two switches: 1600 Gb/s cross a cable of 100, with the load 16."""
    cables = [((h, 1), (16 + h // 8, 1 + h % 8)) for h in range(16)] + [((16, 9), (17, 9))]
    rate = {end: "4xHDR" for ends in cables[:-1] for end in ends} | dict.fromkeys(cables[-1], "4xEDR")
    topology = network(fabric_of("h" * 16 + "ss", [1] * 16 + [9, 9], cables, rate=rate))
    assert topology.reference == 200
    result = obliv.worst_case(obliv.routing("shortest", topology))
    assert result.channel_load == 16
    assert "capacity" not in repr(result)  # which is not known here: no hint about Python for operators
    assert result.to_dict()["fraction_of_capacity_reason"]
    assert any("a host's link of 200 Gb/s" in note for note in topology.notes)


def test_the_slower_end_counts_and_the_unknown_are_as_most_are() -> None:
    rate = {(0, 1): "1xQDR", (1, 1): "?", (3, 2): "?"}
    cables = [((0, 1), (3, 1)), ((1, 1), (3, 2)), ((2, 1), (3, 3))]
    result = network(fabric_of("hhhs", [1, 1, 1, 3], cables, rate=rate))
    assert result.injection == (Fraction(1, 4), Fraction(1), Fraction(1))
    assert sum("1 cables" in note for note in result.notes) == 2
    unknown = network(
        fabric_of(
            "hhs",
            [1, 1, 2],
            [((0, 1), (2, 1)), ((1, 1), (2, 2))],
            rate={(0, 1): "?", (1, 1): "?", (2, 1): "?", (2, 2): "?"},
        )
    )
    assert unknown.unit_bandwidth
    assert unknown.reference is None
    assert "no cable reports a speed" in unknown.notes[0]


def test_labels_are_unique_and_harmless() -> None:
    evil = ["a\nb", "\x1b[31mred", "same", "same", "", "\u202eright to left" + "x" * 500]
    cables = [((h, 1), (5, h + 1)) for h in range(5)]
    result = network(fabric_of("hhhhhs", [1] * 5 + [5], cables, descriptions=evil))
    assert len(set(result.labels)) == len(result.labels)
    assert all(label.isprintable() and len(label) < 100 for label in result.labels)
    assert result.labels[2] == "same [H-0000000000000002]"
    assert result.labels[4] == "H-0000000000000004"
    assert safe("x" * 65) == "x" * 61 + "..."
    assert safe("x" * 64) == "x" * 64


def test_labels_that_imitate_made_ones_stay_unique() -> None:
    words = ["same", "same", "same [H-0000000000000000]", "same #0"]
    result = network(
        fabric_of("hhhhs", [1] * 4 + [4], [((h, 1), (4, h + 1)) for h in range(4)], descriptions=[*words, "s"])
    )
    assert len(set(result.labels)) == 5


def test_nothing_to_send_is_an_error() -> None:
    with pytest.raises(TopologyError, match="no channel adapter has a cable"):
        network(fabric_of("hs", [1, 1], []))


def test_what_hangs_on_a_router_is_of_another_subnet(tmp_path: Path) -> None:
    path = tmp_path / "routed.net"
    path.write_text(
        'Switch 4 "S-1"\n[1] "H-1"[1]\n[2] "H-2"[1]\n[3] "R-1"[1]\n\nCa 1 "H-1"\n[1] "S-1"[1]\n\n'
        'Ca 1 "H-2"\n[1] "S-1"[2]\n\nRt 2 "R-1"\n[1] "S-1"[3]\n[2] "H-3"[1]\n\nCa 1 "H-3"\n[1] "R-1"[2]\n'
    )
    topology = network(read_fabric(path))
    assert topology.labels[:2] == ("H-1", "H-2")
    assert len(topology.terminals) == 2
    assert "1 port of channel adapters left out, since no switch or adapter is at the other end: H-3" in topology.notes
