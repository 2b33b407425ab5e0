"""Networks of SNDlib in its native format, and their demands as traffic."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.io.formats.test_hostile_topology_files import SNDLIB
from tests.strategies import examples

import obliv
from obliv.errors import FileError, InputError
from obliv.io import read_sndlib
from obliv.io.formats.topology_file import file

F = Fraction
Write = Callable[..., Path]

NETWORK = """?SNDlib native format; type: network; version: 1.0
# a network made up for tests
META (
  granularity = 5min
  origin = ( nobody )
)
NODES (
  Aachen ( 6.04 50.76 )
  Bern ( 7.44 46.95 )   # the capital
  1 ( 8 47 )
  Zug ( 8.52 47.17 )
)
LINKS (
  L1 ( Bern Aachen ) 0.00 0.00 0.00 195.00 ( 40.00 8.00 160.00 16.00 )
  L2 ( Bern 1 ) 20.00 0.00 0.00 30.00 ( )
  L3 ( 1 Zug ) 10.00 0.00 0.00 30.00 ( 2.5 1.0 )
  L4 ( Zug Aachen ) 0.00 0.00 0.00 30.00 ( 10 1 )
  L5 ( Aachen Zug ) 0.00 0.00 0.00 30.00 ( 12 1 )
)
DEMANDS (
  D1 ( Aachen 1 ) 1 28.00 UNLIMITED
  D2 ( Bern Zug ) 1 14.00 3
  D3 ( Aachen 1 ) 2 7 UNLIMITED
)
ADMISSIBLE_PATHS (
  D1 (
    P1 ( L1 L2 )
  )
)
"""


def speeds(network: obliv.Topology) -> dict[str, Fraction]:
    return {network.channel_name(c): network.bandwidth_of(c) for c in range(network.channels)}


def test_a_network(write: Write) -> None:
    network = file(write(NETWORK))
    assert network.labels == ("Aachen", "Bern", "1", "Zug")
    assert network.positions is not None
    assert network.positions[0].tolist() == [6.04, 50.76]
    assert network.channels == 8
    assert network.unit_bandwidth
    notes = "; ".join(network.notes)
    for messages in (
        "undirected: two channels each",
        "1 parallel link merged",
        "3 demands in it",
        "bandwidth=capacity",
    ):
        assert messages in notes
    assert read_sndlib(write(NETWORK)) == file(write(NETWORK), format="sndlib")


def test_capacities(write: Write) -> None:
    path = write(NETWORK)
    assert speeds(file(path, bandwidth="capacity")) == {
        **{"Aachen -> Bern": F(160), "Bern -> Aachen": F(160), "Bern -> 1": F(20), "1 -> Bern": F(20)},
        **{"1 -> Zug": F(10), "Zug -> 1": F(10), "Zug -> Aachen": F(22), "Aachen -> Zug": F(22)},
    }
    assert speeds(file(path, bandwidth="module", default="3"))["Bern -> 1"] == 3
    assert speeds(file(path, bandwidth="preinstalled", default="1/2"))["Aachen -> Zug"] == F(1, 2)
    with pytest.raises(FileError, match=r"network.txt:14: edge 'Bern' - 'Aachen' has no preinstalled .*default="):
        file(path, bandwidth="preinstalled")


def test_demands(write: Write) -> None:
    path = write(NETWORK)
    network = file(path)
    traffic = obliv.traffic(f"demands:{path}", network)
    assert traffic.to_matrix()[0] == [0, 0, 1, 0]  # 28 and twice 7
    assert traffic.to_matrix()[1] == [0, 0, 0, F(1, 3)]
    assert sum(map(sum, traffic.to_matrix())) == F(4, 3)
    assert any("divided by 42" in note for note in traffic.notes)
    assert any("ways=2" in note for note in traffic.notes)
    both = obliv.traffic(f"demands:{path},ways=2", network)
    assert both.to_matrix()[2] == [1, 0, 0, 0]
    assert both.admissible
    assert obliv.traffic(str(both), network) == both
    assert obliv.traffic_ratio(obliv.routing("ecmp", network), both).ratio == 1
    fast = network.with_rates([2] * 4, [2] * 4)
    assert obliv.traffic(f"demands:{path}", fast).to_matrix()[0] == [0, 0, 2, 0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("NODES (", "NODE ("), ":7: 'NODE' where a section"),
        (("1 ( 8 47 )", "1 ( 8 )"), ":10: \\) where y is expected in node '1'"),
        (("1 ( 8 47 )", "1 ( 8 north )"), ":10: y of node '1' is 'north'"),
        (("Zug ( 8.52", "Bern ( 8.52"), ":11: node 'Bern' appears twice"),
        (("L2 ( Bern 1 )", "L2 ( Bern Basel )"), ":15: link 'L2' names node 'Basel'"),
        (("L2 ( Bern 1 ) 20.00", "L2 ( Bern 1 ) -20"), ":15: the pre-installed capacity of link 'L2' is negative"),
        (("( 2.5 1.0 )", "( 2.5 )"), ":16: \\) where the cost of a module"),
        (("( 2.5 1.0 )", "( 5/2 1.0 )"), ":16: the capacity of a module of link 'L3' is '5/2'"),
        (("L5 (", "L4 ("), ":18: link 'L4' appears twice"),
        (("14.00 3", "14.00 x"), ":22: the maximum path length of demand 'D2' is 'x'"),
        (("D2 ( Bern Zug )", "D2 ( Bern Basel )"), ":22: demand 'D2' names node 'Basel'"),
        (("META (", "LINKS ( ) META ("), ":13: a second section LINKS; the first is in line 3"),
        (("P1 ( L1 L2 )\n  )\n)", "P1 ( L1 L2 )"), "the file ends inside ADMISSIBLE_PATHS"),
        (("type: network", "type: solution"), ":1: is a file of type 'solution'"),
    ],
)
def test_mistakes_in_a_line(write: Write, change: tuple[str, str], says: str) -> None:
    with pytest.raises(FileError, match=says):
        file(write(NETWORK.replace(*change)))


def test_demands_that_do_not_fit(write: Write) -> None:
    path, ring = write(NETWORK), obliv.ring(4)
    with pytest.raises(
        FileError, match=r"network.txt:21: demand 'D1' names 'Aachen', which is not a terminal of ring:4"
    ):
        obliv.traffic(f"demands:{path}", ring)
    with pytest.raises(FileError, match="are the traffic  demands:"):
        obliv.traffic(f"matrix:{path}", ring)
    with pytest.raises(FileError, match="are the traffic  demands:"):
        obliv.traffic(f"flows:{path}", ring)
    with pytest.raises(InputError, match="ways=3"):
        obliv.traffic(f"demands:{path},ways=3", file(path))
    empty = NETWORK[: NETWORK.index("DEMANDS")]
    with pytest.raises(FileError, match="no demands"):
        obliv.traffic(f"demands:{write(empty, 'c.txt')}", file(path))


def check_demands(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        path.write_bytes(data)
        try:
            network = file(path, format="sndlib")
            traffic = obliv.traffic(f"demands:{path}", network)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert traffic.admissible


@st.composite
def shuffled(draw: st.DrawFn) -> bytes:
    words = SNDLIB.decode().split()
    for _ in range(draw(st.integers(1, 5))):
        at, to = (draw(st.integers(0, len(words) - 1)) for _ in range(2))
        words[at] = draw(st.sampled_from([words[to], "(", ")", "0", "-1", "1e9", "a", "#", "9" * 50, "UNLIMITED", ""]))
    return " ".join(words).replace("META", "\nMETA", 1).encode()


@examples(200)
@given(shuffled())
def test_changed_words(data: bytes) -> None:
    check_demands(data)


@pytest.mark.nightly
@settings(max_examples=20_000)
@given(shuffled())
def test_changed_words_at_night(data: bytes) -> None:
    check_demands(data)
