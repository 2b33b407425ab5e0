"""Hosts of jobs: host lists, host files, rank files, names and GUIDs, and mistakes in them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.jobs.clusters import cluster
from tests.mistakes import mistake
from tests.strategies import examples

import obliv
from obliv.errors import FileError, InputError
from obliv.fabric.jobs.host_files import expanded
from obliv.fabric.jobs.placement import Placement, placement, read_hosts
from obliv.fabric.topology import FabricTopology

#: Host lists as Slurm, Flux and pdsh document them, and the hosts that they mean.
LISTS = {
    "host": ["host"],
    "node1,node2": ["node1", "node2"],
    "node[1-3]": ["node1", "node2", "node3"],
    "linux[0-2,7]": ["linux0", "linux1", "linux2", "linux7"],
    "n[00-2]": ["n00", "n01", "n02"],
    "n[8-11]": ["n8", "n9", "n10", "n11"],
    "n[098-101]": ["n098", "n099", "n100", "n101"],
    "n[001-003,7]": ["n001", "n002", "n003", "n7"],
    "foo[1,1,2]": ["foo1", "foo1", "foo2"],
    "[1-3]": ["1", "2", "3"],
    "foo[0-1]-eth2": ["foo0-eth2", "foo1-eth2"],
    "n[1-2]-eth[0-1]": ["n1-eth0", "n1-eth1", "n2-eth0", "n2-eth1"],
    "rack[0-1]node[1-2],login": ["rack0node1", "rack0node2", "rack1node1", "rack1node2", "login"],
    "a[1,3], b": ["a1", "a3", "b"],
    "host(0,1),host(0,2)": ["host(0,1)", "host(0,2)"],
}


@pytest.mark.parametrize("text", LISTS)
def test_documented_host_lists(text: str) -> None:
    assert expanded(text, 20) == LISTS[text]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("n[1-1000000000]", "1,000,000,000 hosts"),
        ("n[0-9][0-9][0-9][0-9]", "10,000 hosts"),
        ("n[0-999999999999999999][0-999999999999999999]", "more than 10^15 hosts"),
        ("a[0-9],b[0-90]", "91 hosts"),
        ("n[3-1]", "falls"),
        ("n[000x133]", "is not a range"),
        ("n[]", "is not a range"),
        ("n[1,]", "is not a range"),
        ("n[-1]", "is not a range"),
        ("n[1-2-3]", "is not a range"),
        ("n[²]", "is not a range"),
        ("n[1-99999999999999999999999]", "is not a range"),
        ("n[1-3", "without a ']'"),
        ("n1-3]", "without its partner"),
        ("n[1[2-3]]", "without its partner"),
        ("n[\x1b[31m]", "without its partner"),
    ],
)
def test_malformed_host_lists(text: str, part: str) -> None:
    assert part in mistake(lambda: expanded(text, 100))


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12), st.integers(1, 4)), min_size=1, max_size=3),
    st.text("ab-", max_size=2),
)
def test_ranges_by_their_definition(ranges: list[tuple[int, int, int]], suffix: str) -> None:
    parts = [[f"{n:0{width}d}" for n in range(first, first + more + 1)] for first, more, width in ranges]
    text = "".join(f"n[{numbers[0]}-{numbers[-1]}]" for numbers in parts) + suffix
    hosts = [f"n{'n'.join(numbers)}{suffix}" for numbers in product(*parts)]
    assert expanded(text, len(hosts)) == hosts
    with pytest.raises(InputError):
        expanded(text, len(hosts) - 1)


@examples(300)
@given(st.text("n0129[]-,() \t\x1bé", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert len(expanded(text, 50)) <= 50
    except InputError as error:
        assert "\n" not in str(error)


def read(topology: FabricTopology, folder: Path, text: str, **how: str) -> Placement:
    path = folder / "hosts"
    path.write_text(text)
    return read_hosts(topology, path, **how)  # type: ignore[arg-type]


def hosts_of(place: Placement) -> list[str]:
    return [place.host(rank) for rank in range(place.ranks)]


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("node[001-003]\n", ["node001", "node002", "node003"]),
        (
            "# my job\nnode002\n\n  node001 # first\nnode[007-008],node003",
            ["node002", "node001", "node007", "node008", "node003"],
        ),
        ("node003 slots=2\nnode001 slots=1 max-slots=4\n", ["node003", "node003", "node001"]),
        ("me@node003 slots = 2\nnode004:1\n", ["node003", "node003", "node004"]),
        ("node[001-002] slots=2\n", ["node001", "node001", "node002", "node002"]),
        ("rank 1=node001 slot=0-3\nrank 0 = node004 slot=1:0\nrank 2=node001\n", ["node004", "node001", "node001"]),
        ("node001.cluster.local\nnode002", ["node001.cluster.local", "node002"]),
        ("0x0002c90300100000\n", ["0x0002c90300100000"]),
        ("0002c90300100011\nnode001\n", ["0002c90300100011", "node001"]),
        ("node001\nnode001\nnode003\nnode001\n", ["node001", "node001", "node003", "node001"]),  # PBS, Torque
        ("node002 2 node001 1", ["node002", "node002", "node001"]),  # LSB_MCPU_HOSTS
        ("node[003-004] 2\nnode001 1\n", ["node003", "node003", "node004", "node004", "node001"]),
        ("node001 node001 node002", ["node001", "node001", "node002"]),  # LSB_HOSTS
        ("node[001-002],node[001-002]", ["node001", "node002", "node001", "node002"]),
        ("node001 slots=1\nnode002 slots=1\nnode001 slots=1\n", ["node001", "node002", "node001"]),
        ("export SLURM_JOB_NODELIST=node[002-003]\n", ["node002", "node003"]),
        ("SLURM_JOB_NODELIST='node002,node001'\n", ["node002", "node001"]),
        ('LSB_MCPU_HOSTS="node002 2 node001 1"\n', ["node002", "node002", "node001"]),
        ("node001/0+node001/1+node003/0\n", ["node001", "node001", "node003"]),  # PBS: a rank for each slot
        ("exec_host = node003/0*2+node001/0-1,5\n", ["node003"] * 2 + ["node001"] * 3),
        ("\ufeffnode002\r\nnode001\r\n", ["node002", "node001"]),
    ],
)
def test_files_of_hosts(tmp_path: Path, text: str, hosts: list[str]) -> None:
    assert hosts_of(read(cluster("fattree:4,3"), tmp_path, text)) == hosts


def test_hosts_that_are_repeated_have_a_rank_each_time(tmp_path: Path) -> None:
    topology = cluster("fattree:4,3", rails=2)
    place = read(topology, tmp_path, "node001\nnode002\nnode001\nnode002\n")
    assert (place.ranks, len(place.hosts)) == (4, 2)
    assert place.local.tolist() == [0, 0, 1, 1]
    assert place.rails.tolist() == [[0], [2], [1], [3]]
    assert placement(topology, ["node002", "node002"]).rails.tolist() == [[2], [3]]
    message = mistake(lambda: read(topology, tmp_path, "node001\nnode002\nnode001\n", per_host="2"))
    assert message.endswith(
        "hosts:3: the host node001 is named several times, once for each rank: give no number of ranks per host"
    )
    many = "node001\n" * 3000 + "node[001-008]\n"
    assert read(topology, tmp_path, many).ranks == 3008


@pytest.mark.parametrize(
    "wanted", ["node2", "NODE002", "noed002", "ode(1", "a[1", "x:8", "twin", "b#", "q\x1bq", "rank"]
)
def test_what_is_suggested_is_taken(wanted: str, tmp_path: Path) -> None:
    odd = (
        "MF0;node001:x/U1",
        "ode(1,2)",
        "a[1]",
        "x:88 HCA",
        "twin",
        "twin",
        "b #c",
        "#b",
        "q\x1bqq",
        "rank 0=a",
        "node002",
    )
    topology = cluster("fattree:4,3", name=lambda k: odd[k] if k < len(odd) else f"node{k:03d} HCA-1")
    message = mistake(lambda: read(topology, tmp_path, f"{wanted}9"))
    for name in (
        message.partition("did you mean ")[2].removesuffix("?").split(" or ") if "did you mean" in message else ()
    ):
        assert hosts_of(read(topology, tmp_path, name)) == [name]


def test_all_spellings_of_one_host(tmp_path: Path) -> None:
    topology = cluster("fattree:4,3")
    spellings = [
        "node002",
        "node002 HCA-1",
        "node002.my.domain",
        "0x2c90300100010",
        "0x2c90300100011",
        "H-0002c90300100010",
    ]
    assert {int(read(topology, tmp_path, text).rails[0, 0]) for text in spellings} == {1}
    assert str(tmp_path / "hosts") in dict(read(topology, tmp_path, "node001").sources)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("node001\nnoed002\n", "line 2: unknown host 'noed002': did you mean node002"),
        (
            "node001\nxxxxx\nyyyyy,zzzzz\n",
            "unknown host 'xxxxx': the fabric has 16 hosts, such as node001; 2 other hosts are unknown",
        ),
        ("xxxxx,yyyyy\n", "such as node001; 1 other host is unknown too"),
        ("node001/0-3+node002/5-2,0-9\n", "'node002/5-2,0-9': write a host with 1 to 1,048,576 slots"),
        ("node001/0*9999999+node002/0\n", "write a host with 1 to"),
        ("node2\n", "unknown host 'node2': did you mean node002?"),
        ("Node[0003]\n", "unknown host 'Node0003': did you mean node003?"),
        (
            '# Topology\n\nvendid=0x2c9\nSwitch 2 "S-01"\n',
            "hosts:3: is a file of the fabric: name a file with the hosts",
        ),
        ("Unicast lids [0x0-0xe] of switch Lid 2 guid 0x0 ('a'):\n", "hosts:1: is a file of the fabric"),
        ("node001,0x0002c90300100000\n", "named twice, as node001"),
        ("node001 2 node002\n", "hosts and numbers do not alternate"),
        ("node001 0 node002 1\n", "slots=0"),
        ("node[001-999] 8\n", "999 hosts, and only 16 of the fabric are left"),
        ("node001\n0x0002c90300100000\n", "line 2: the host 0x0002c90300100000 is named in line 1 too, as node001"),
        ("node[1-1000000000]\n", "1,000,000,000 hosts, and only 16 of the fabric are left"),
        ("rank 0=node001\nrank 2=node002\n", "line 2: rank 1 is missing"),
        ("rank 1=node001 slot=0\n", "rank 0 is missing"),
        ("rank 0=node001\nrank 0=node002\n", "line 2: rank 0 stands in line 1 too"),
        ("rank 0=node001\nnode002\n", "line 2: 'node002' is not a line of a rank file"),
        ("rank x=node001\n", "'x' is not a rank"),
        ("rank 99999999999=node001\n", "is not a rank"),
        ("rank 0=+n0 slot=0\n", "a place in an allocation"),
        ("node001\nrank 0=node001\n", "line 2: a line of a rank file among hosts"),
        ("node001 slots=0\n", "slots=0"),
        ("node001 slots=many\n", "slots=many"),
        ("node001 slots=99999999999999999999\n", "from 1 to"),
        ("# nothing\n", "names no hosts"),
        ("\x1b[31mnode001\n", "without a ']'"),
    ],
)
def test_mistakes_in_files_of_hosts(tmp_path: Path, text: str, part: str) -> None:
    message = mistake(lambda: read(cluster("fattree:4,3"), tmp_path, text))
    assert part in message.replace(":2:", ": line 2:").replace(f"{tmp_path}/", "")


def test_hosts_in_place_of_their_file(tmp_path: Path) -> None:
    message = mistake(lambda: read_hosts(cluster("fattree:4,3"), tmp_path / "node[001-004]"))
    assert message.endswith("node[001-004]: file not found; write the list of hosts into a file, and name this")


def test_several_rails_and_ranks(tmp_path: Path) -> None:
    topology = cluster("fattree:4,3", rails=2)
    by_rank = read(topology, tmp_path, "node001 slots=3\nnode003\n", per_host="2")
    assert by_rank.rails.tolist() == [[0], [1], [0], [4], [5]]
    assert by_rank.local.tolist() == [0, 1, 2, 0, 1]
    assert read(topology, tmp_path, "node[001,003]", rails="all").rails.tolist() == [[0, 1], [4, 5]]
    assert read(topology, tmp_path, "node001 HCA-2\nnode001 HCA-1").rails.tolist() == [[1], [0]]
    assert read(topology, tmp_path, "node[001-003]", per_host="2(x2),1").local.tolist() == [0, 1, 0, 1, 0]
    assert "2 adapters" in mistake(lambda: read(topology, tmp_path, "node001\nnode002 HCA-1", rails="all"))
    for text in ("0", "x", "3,2", "2(x99999)", "-1", ""):
        assert "per_host=" in mistake(lambda text=text: read(topology, tmp_path, "node[001-003]", per_host=text))
    assert "choose rank" in mistake(lambda: read(topology, tmp_path, "node001", rails="both"))


def test_names_that_repeat_are_ambiguous(tmp_path: Path) -> None:
    topology = cluster("fattree:4,3", name=lambda k: "MT4123 ConnectX6")
    assert "16 adapters" in mistake(lambda: read(topology, tmp_path, "MT4123"))
    assert read(topology, tmp_path, "0x2c90300100010").rails.tolist() == [[1]]


def test_rank_files_are_read_again(tmp_path: Path) -> None:
    topology = cluster("fattree:4,3")
    rng = np.random.default_rng(5)
    place = read(
        topology, tmp_path, "rank 0=node003 slot=7\nrank 1=node001 slot=1:0-3\nrank 2=node003 slot=2\nrank 3=node016\n"
    )
    order = rng.permutation(4)
    again = read(topology, tmp_path, place.ordered(order).rank_file())
    assert hosts_of(again) == [place.host(rank) for rank in order.tolist()]
    assert [text for text in again.slots if text != "0"] == [
        place.slots[rank] for rank in order.tolist() if place.slots[rank]
    ]
    assert placement(topology, hosts_of(place)[:2]).rank_file() == "rank 0=node003 slot=0\nrank 1=node001 slot=0\n"


def test_a_fabric_generated_names_hosts_by_coordinates(tmp_path: Path) -> None:
    topology = obliv.fabric.network(obliv.fabric.from_topology(obliv.topology("fattree:4,3")))
    assert read(topology, tmp_path, "host(0,0,1)\nhost(3,1,0) slots=2\nhost(1,0,0),host(2,0,0)\n").ranks == 5
    with pytest.raises(FileError):
        read(topology, tmp_path, "host(0,0,1\n")
