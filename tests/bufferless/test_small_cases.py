"""Cases small enough to follow by hand: networks as they show themselves, and two or three packets on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import obliv
from obliv.bufferless.frames.centralized import centralized
from obliv.bufferless.frames.constants import assign, largest_degree
from obliv.bufferless.frames.distributed import distributed
from obliv.bufferless.leveled.files import leveled_file
from obliv.bufferless.problems import instance, oriented
from obliv.bufferless.schedulers import direct, hot_potato, queues
from obliv.errors import InputError


@pytest.mark.parametrize(
    ("spec", "depth", "nodes", "edges"),
    [
        ("butterfly:5", 5, 192, 320),
        ("leveled-mesh:3x4", 5, 12, 17),
        ("leveled-mesh:4x4x4", 9, 64, 144),
        ("array:64", 63, 64, 63),
        ("leveled-hypercube:6", 6, 64, 192),
        ("random-leveled:L=60,W=16,d=2,seed=1", 60, 976, 1920),
        ("deep:L=200,W=64,S=32,seed=1", 200, 12864, 25600),
        ("multibutterfly:5,d=2,seed=1", 5, 192, 640),
        ("unrolled-fattree:2,5", 10, 208, 320),
        ("unrolled-debruijn:5", 5, 192, 320),
        ("unrolled-shuffle:5", 10, 352, 480),
    ],
)
def test_what_a_network_shows(spec: str, depth: int, nodes: int, edges: int) -> None:
    network: Any = obliv.topology(spec)
    assert repr(network) == f"<Leveled {spec}: levels 0 to {depth}, {nodes} nodes, {edges} edges>"
    assert network.faithful == (spec not in ("unrolled-debruijn:5", "unrolled-shuffle:5"))


def test_levels_follow_orientation_and_file(tmp_path: Any) -> None:
    network: Any = obliv.topology("leveled-mesh:2x2,orientation=+-")
    assert network.node_level.tolist() == [1, 0, 2, 1]
    (tmp_path / "diamond.txt").write_text("a b\na c\nb d\nc d\n", encoding="utf-8")
    assert leveled_file(tmp_path / "diamond.txt").node_level.tolist() == [0, 1, 1, 2]


def test_two_packets_that_want_one_edge() -> None:
    both, rng = instance("array:3", [[0], [0, 1]]), np.random.default_rng(1)
    assert direct(instance("array:3", [[0, 1], [0]])).delivery.tolist() == [2, 2]
    assert hot_potato(both, rng, "farthest").delivery.tolist() == [2, 2]
    assert queues(both, rng, "farthest-to-go").delivery.tolist() == [2, 2]
    run = distributed(instance("array:3", [[0, 1], [1]]), np.random.default_rng(0), "tuned", timetable="oracle", chi=1)
    assert run.delivery.tolist() == [2, 14]
    assert run.moves.rows().tolist() == [[1, 0, 0, 1], [2, 0, 1, 1], [14, 1, 1, 1]]


def test_constants_of_a_butterfly() -> None:
    run = centralized(instance("butterfly:4"), np.random.default_rng(0))
    assert run.constants == {"constants": "paper", "lambda": 72, "s": 131, "chi": 1, "tau": 144, "phases": 255}
    assert int(centralized(instance("butterfly:4"), np.random.default_rng(0), "one-frame").delivery.max()) == 8


def test_a_packet_that_shares_edges_with_two_others() -> None:
    array = instance("array:20", [range(9), range(3, 6), range(5, 8), range(17, 19)])
    places = assign(array.level, array.length, 12, 2)
    assert largest_degree(array, places, np.ones(4, np.int64), 12) == 2


def test_a_line_has_two_orientations() -> None:
    classes = [(one.network.spec, one.packets) for one in oriented("line:8", "bit-reverse")]
    assert classes == [("array:8", 2), ("array:8,orientation=-", 2)]
    with pytest.raises(InputError, match="bit-reverse on line:9: 9 nodes are not a power of two"):
        oriented("line:9", "bit-reverse")
