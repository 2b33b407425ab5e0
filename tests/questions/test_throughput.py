"""Throughput counts channels and terminals: what is answered can be carried exactly, and not a bit more."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies

import obliv
from obliv.cli import main

NETWORKS = {
    "mesh:3x3": "dor valiant",
    "torus:4x3": "dor romm",
    "hypercube:3": "dor",
    "ring:5": "valiant",
    "complete:4": "shortest",
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, obliv.Traffic]:
    """A routing on a network with rates and bandwidths, and traffic of any row and column sums."""
    spec = draw(st.sampled_from(sorted(NETWORKS)))
    topology = obliv.topology(spec)
    n = len(topology.terminals)
    rate = st.fractions(Fraction(1, 4), 3, max_denominator=4)
    if draw(st.booleans()):
        topology = topology.with_rates(*(draw(st.lists(rate, min_size=n, max_size=n)) for _ in range(2)))
    routing = obliv.routing(draw(st.sampled_from(NETWORKS[spec].split())), topology)
    traffic = obliv.permutation(draw(st.permutations(range(n)))) * draw(rate)
    if draw(st.booleans()):
        hot = draw(st.integers(0, n - 1))
        rows = [[Fraction(int(d == hot)) for d in range(n)] for _ in range(n)]
        traffic = traffic + obliv.matrix(rows) * draw(rate)
    if draw(st.booleans()):
        traffic = traffic + obliv.traffic("uniform", topology) * draw(rate)
    return routing, traffic


def fits(routing: Any, traffic: obliv.Traffic) -> bool:
    """Whether a network carries a traffic, from the definition."""
    topology = routing.topology
    injection, ejection = topology.rates()
    return (
        all(load <= 1 for load in routing.pair_loads().under(traffic))
        and all(total <= rate for total, rate in zip(traffic.row_sums, injection, strict=True))
        and all(total <= rate for total, rate in zip(traffic.column_sums, ejection, strict=True))
    )


@given(cases())
@strategies.examples(60)
def test_throughput_times_traffic_fits_and_no_more(case: tuple[Any, obliv.Traffic]) -> None:
    routing, traffic = case
    (row,) = obliv.throughput(routing, traffic).patterns
    assert isinstance(row.throughput, Fraction)
    assert fits(routing, traffic * row.throughput)
    assert not fits(routing, traffic * (row.throughput * (1 + Fraction(1, 10**12))))
    # What is named is what is full.
    topology, limit = routing.topology, row.limited_by
    full = traffic * row.throughput
    if limit.kind == "channel":
        assert routing.pair_loads().under(full)[limit.channel.id] == 1
        assert limit.name == topology.channel_name(limit.channel.id)
    else:
        injection, ejection = topology.rates()
        sums, rates = (full.row_sums, injection) if limit.kind == "injection" else (full.column_sums, ejection)
        assert sums[limit.terminal] == rates[limit.terminal]
    injection, ejection = topology.rates()
    assert row.admissible == traffic.fits(injection, ejection)


@pytest.mark.parametrize("spec", ["uniform", "1/2*uniform"])
def test_rates_below_one_in_specs(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["throughput", "mesh:4x4,injection=1/2", "dor", spec, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["patterns"]
    assert row["throughput"]["exact"] == {"uniform": "1/2", "1/2*uniform": "1"}[spec]
    assert row["admissible"] == (spec != "uniform")
    assert row["limited_by"] == {"kind": "injection", "name": "(0,0)", "terminal": 0}


def test_two_memory_controllers() -> None:
    """Most traffic goes to two nodes: their ejection limits it, not the channels of the mesh."""
    mesh = obliv.mesh(4, 4)
    rows = [[Fraction(int(d in (5, 10)), 2) for d in range(16)] for s in range(16)]
    traffic = obliv.matrix(rows)
    (row,) = obliv.throughput(obliv.routing("o1turn", mesh), traffic).patterns
    assert row.throughput == Fraction(1, 8)
    assert 1 / row.channel_load > row.throughput
    assert str(row.limited_by) == "ejection at (1,1)"
    assert str(row).endswith("(not admissible)")
    assert row.remarks().startswith("(1,1) receives 8 times its rate; limited by ejection at (1,1); mean hops ")


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=4, max_size=4), st.integers(1, 4))
def test_the_overload_is_the_largest_sum_over_its_rate(rows: list[list[int]], rate: int) -> None:
    """Sums of rows and columns of the matrix itself, over rates that differ."""
    shares = [[Fraction(cell, 4 * max(sum(row), 1)) for cell in row] for row in rows]
    injection, ejection = [Fraction(1), Fraction(1, 8), Fraction(1), Fraction(rate, 8)], [Fraction(rate, 4)] * 4
    network = obliv.mesh(2, 2).with_rates(injection, ejection)
    (row,) = obliv.throughput(obliv.DOR(network), obliv.matrix(shares)).patterns
    over = {("injection", i): sum(shares[i]) / injection[i] for i in range(4)}
    over |= {("ejection", j): sum(shares[i][j] for i in range(4)) / ejection[j] for j in range(4)}
    if row.admissible:
        assert row.overload is None
        assert max(over.values()) <= 1
    else:
        assert row.overload.share == over[row.overload.kind, row.overload.terminal] == max(over.values()) > 1
        assert row.overload.name == network.name_of(row.overload.terminal)


def test_an_overload_is_in_json_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    """The two middle nodes of a line of four each receive 3/2: a whole neighbor at the end, half of the other one."""
    assert main(["throughput", "mesh:4", "dor", "uniform", "nearest-neighbor", "--format", "json"]) == 0
    even, near = json.loads(capsys.readouterr().out)["patterns"]
    assert "overload" not in even
    share = {"exact": "3/2", "value": 1.5}
    assert near["overload"] == {"kind": "ejection", "name": "1", "terminal": 1, "share": share}
    assert main(["throughput", "mesh:4", "dor", "uniform", "nearest-neighbor", "--format", "csv"]) == 0
    even, near = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (even["overload"], even["overload_at"]) == ("", "")
    assert (near["overload_exact"], near["overload_at"]) == ("3/2", "ejection at 1")


def test_a_channel_is_named_where_it_limits() -> None:
    (row,) = obliv.throughput(obliv.DOR(obliv.mesh(4, 4)), "transpose").patterns
    assert row.limited_by.channel.to_dict() == {"id": 1, "tail": 0, "head": 4}
    assert str(row.limited_by) == "channel (0,0) -> (0,1)"


def test_saved_and_loaded_again(tmp_path: Any) -> None:
    result = obliv.throughput(obliv.DOR(obliv.mesh(3, 3)), "uniform", "nearest-neighbor", "transpose")
    result.save(tmp_path / "x.json")
    assert obliv.load(tmp_path / "x.json") == result


@pytest.mark.parametrize("spec", ["3/2*uniform", "1/2*uniform+2/3*tornado", "0*uniform"])
def test_weights_above_one_are_refused(spec: str) -> None:
    with pytest.raises(obliv.SpecError, match="at most 1"):
        obliv.traffic(spec, obliv.mesh(3, 3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("topology", "routing"),
    [("mesh:3x3", "romm"), ("torus:4x3", "valiant"), ("mesh:3x3,bandwidth=1x1/3", "ecmp"), ("fattree:4,2", "omrmn")],
)
def test_hops_of_a_traffic_are_those_of_its_paths(topology: str, routing: str) -> None:
    network = obliv.topology(topology)
    algorithm = obliv.routing(routing, network)
    nodes = network.terminals.tolist()
    for spec in ("shift:1", "1/3*uniform+1/2*shift:2", "hot-nodes:1,share=1/3"):
        traffic = obliv.traffic(spec, network)
        hops = packets = Fraction(0)
        for s, row in enumerate(traffic.to_matrix()):
            for d, rate in enumerate(row):
                hops += rate * sum(chance * len(path) for path, chance in algorithm.paths(nodes[s], nodes[d]))
                packets += rate
        (figures,) = obliv.throughput(algorithm, spec).patterns
        assert figures.hops == hops / packets
        (row,) = obliv.compare(network, algorithm, traffic=spec).entries
        assert row.under[spec].hops == figures.hops


def test_hops_of_a_traffic_count_packets_that_arrive() -> None:
    network = obliv.ring(4)
    whole = obliv.routing("dor", network)

    class Lossy(obliv.Routing):
        partial = True

        def paths(self, source: int, destination: int) -> list[tuple[list[int], Fraction]]:
            listed = whole.paths(source, destination)
            return [(path, chance / 2) for path, chance in listed] if (source, destination) == (0, 2) else listed

    lossy = Lossy(network)
    (uniform, shift) = obliv.throughput(lossy, "uniform", "shift:2").patterns
    assert shift.hops == 2
    assert uniform.hops == obliv.locality(lossy).hops
    (row,) = obliv.throughput(lossy.pair_loads(), "uniform").patterns
    assert row.hops is None
    assert "give the routing" in row.no_hops


def test_hops_of_a_traffic_need_exact_loads_and_packets() -> None:
    mesh = obliv.mesh(3, 3)
    (sampled,) = obliv.throughput(obliv.ROMM(mesh), "transpose", samples=5).patterns
    assert sampled.hops is None
    assert sampled.no_hops == "mean hops need exact pair loads"
    (idle,) = obliv.throughput(obliv.DOR(mesh), obliv.matrix([[0] * 9] * 9)).patterns
    assert idle.hops is None
    assert idle.no_hops == "there is no traffic"
