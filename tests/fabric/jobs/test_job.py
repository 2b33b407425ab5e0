"""Jobs: phase by phase the loads of the same permutation, cables by name, several jobs at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.jobs.clusters import routed
from tests.mistakes import mistake
from tests.strategies import examples

import obliv
from obliv.fabric.generate import from_routing
from obliv.fabric.jobs.collectives import PATTERNS
from obliv.fabric.jobs.job import job, prepared
from obliv.fabric.jobs.worst_placement import worst_placement
from obliv.fabric.model import NONE
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.patterns.base import Traffic

SPECS = (*PATTERNS, "stencil2d", "stencil3d", "hierarchical")


def names(routing: FabricRouting, chosen: list[int]) -> list[str]:
    return [f"node{k + 1:03d}" for k in chosen]


def test_files_of_all_launchers_are_the_same_job(tmp_path: Path) -> None:
    """Two ranks on each of three hosts: of PBS, LSF, MPI, and of Slurm with a number."""
    routing = routed("fattree:4,3")
    chosen = ["node014", "node001", "node009"]
    texts = {
        "pbs": "".join(f"{host}\n" * 2 for host in chosen),
        "lsf": " ".join(f"{host} 2" for host in chosen),
        "lsb_hosts": " ".join(f"{host} {host}" for host in chosen),
        "mpi": "".join(f"{host} slots=2\n" for host in chosen),
    }
    wanted = job(routing, chosen, "alltoall", per_host=2)
    assert (wanted.jobs[0].ranks, wanted.jobs[0].hosts) == (6, 3)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        result = job(routing, tmp_path / name, "alltoall")
        assert (result.phases, result.cables, result.load) == (wanted.phases, wanted.cables, wanted.load), name


def as_traffic(routing: FabricRouting, flows: dict[tuple[int, int], Fraction]) -> Traffic:
    n = len(routing.topology.terminals)
    ends = np.array(sorted(flows), np.int32).reshape(-1, 2)
    scale = int(np.lcm.reduce([amount.denominator for amount in flows.values()])) if flows else 1
    amount = np.array([int(flows[s, d] * scale) for s, d in ends.tolist()], np.int64)
    return Traffic("replayed", n, Fraction(0), ends[:, 0], ends[:, 1], amount, scale)


@examples(60)
@given(st.sampled_from(SPECS), st.permutations(range(16)), st.integers(2, 16), st.sampled_from(["dmodk", "osrm3-d"]))
def test_each_phase_replayed_as_a_permutation(spec: str, order: list[int], ranks: int, engine: str) -> None:
    routing = routed("fattree:4,3", routing=engine)
    chosen = order[:ranks]
    result = job(routing, names(routing, chosen), spec)
    loads = prepared(routing, names(routing, chosen), spec)
    (_, pattern) = loads.jobs[0]
    for phase, row in zip(pattern.phases, result.phases, strict=True):
        source, destination, _ = phase.messages()
        flows = {
            (chosen[s], chosen[d]): Fraction(1) for s, d in zip(source.tolist(), destination.tolist(), strict=True)
        }
        replayed = obliv.fabric.throughput(routing, as_traffic(routing, flows), hottest=1)
        assert row.load == replayed.patterns[0].channel_load
        (cable,) = replayed.cables[0]
        assert row.cable is not None
        assert (row.cable.channel, row.cable.ends, row.crossing) == (cable.channel, cable.ends, cable.pairs)
        assert len(row.pairs) == row.crossing
        assert all(pair.tail == f"node{chosen[pair.source] + 1:03d}" for pair in row.pairs)
        assert row.ideal == 1
    assert result.load == max((phase.load for phase in result.phases), default=0)
    weight = sum(phase.times * phase.size for phase in result.phases)
    assert result.mean * weight == sum(phase.load * phase.times * phase.size for phase in result.phases)


@pytest.mark.parametrize("rails", ["rank", "all"])
def test_several_ranks_and_rails_by_hand(rails: str, tmp_path: Path) -> None:
    """Messages within a host load nothing; the others go from rail to rail, in parts if all rails are used."""
    routing = routed("fattree:4,3", rails=2)
    (tmp_path / "phases").write_text("0 1\n0 2 3\n1 5 1/2\n4 0\n3 2\n")
    hosts = ["node003", "node001", "node008"]  # each with ranks 2k and 2k + 1, and terminals 4, 5 and so on
    result = job(routing, hosts, f"file:{tmp_path / 'phases'}", per_host=2, rails=rails)
    first = {0: 4, 1: 0, 2: 14}
    flows: dict[tuple[int, int], Fraction] = {}
    for s, d, size in ((0, 2, 3), (1, 5, Fraction(1, 2)), (4, 0, 1)):
        for rail in range(2) if rails == "all" else (None,):
            ends = [first[rank // 2] + (rank % 2 if rail is None else rail) for rank in (s, d)]
            share = Fraction(size) / (3 if rail is None else 6)  # in largest messages
            flows[ends[0], ends[1]] = flows.get((ends[0], ends[1]), Fraction(0)) + share
    replayed = obliv.fabric.throughput(routing, as_traffic(routing, flows))
    assert result.phases[0].load == replayed.patterns[0].channel_load
    assert result.phases[0].size == 3


def test_jobs_together_are_the_worst_of_all_alignments() -> None:
    routing = routed("fattree:4,3")
    rng = np.random.default_rng(3)
    chosen = rng.permutation(16).tolist()
    jobs = (names(routing, chosen[:6]), names(routing, chosen[6:11]), names(routing, chosen[11:]))
    specs = ("alltoall", "recursive-doubling", "binomial")
    result = job(routing, jobs, specs)
    loads = prepared(routing, jobs, specs)
    rows = [list(loads.rows(k)) for k in range(3)]
    assert loads.unit == 1
    every = [sum(some) for some in product(*rows)]
    assert result.together == max(int(row.max()) for row in every)
    for k, index in [(k, index) for k, some in enumerate(rows) for index in range(len(some))]:
        row = rows[k][index]
        others = [rows[other] for other in range(3) if other != k]
        worst = max(int((row + sum(some))[row > 0].max()) for some in product(*others))
        phase = [phase for phase in result.phases if phase.job == k][index]
        assert phase.together == worst
        (at,) = (c for c in range(len(row)) if routing.topology.cable(c).ends == phase.together_at)
        assert row[at] > 0
        assert max(int(row[at] + sum(some)[at]) for some in product(*others)) == worst
    tops = np.array([np.max(row, axis=0) for row in rows]).sum(axis=0)
    assert [cable.together for cable in result.cables] == [tops[cable.channel] for cable in result.cables]
    assert [cable.together for cable in result.cables] == sorted(tops.tolist(), reverse=True)[: len(result.cables)]
    alone = [job(routing, hosts, spec) for hosts, spec in zip(jobs, specs, strict=True)]
    assert result.jobs == tuple(one.jobs[0] for one in alone)
    assert [phase.load for phase in result.phases] == [phase.load for one in alone for phase in one.phases]
    assert [row["job"] for row in result.rows()][-1] == 2


def test_the_means_of_several_jobs_add_up_on_a_cable() -> None:
    """A cable's mean load may exceed its largest load in one phase, as jobs share it."""
    routing = routed("fattree:4,2")
    jobs = (names(routing, [0, 2]), names(routing, [1, 4]))
    both = job(routing, jobs, "ring")
    single = job(routing, jobs[0], "ring")
    hottest = both.cables[0]
    assert (hottest.load, hottest.mean) == (1, 2)
    assert (hottest.job, hottest.phase) == (0, "to the next")
    assert all(cable.job is None for cable in single.cables)
    cables = [text for name, text in both.summary() if name == "cable"]
    assert cables[0].startswith("2 together, 1 in job 0: to the next   ")
    assert hottest.together == 2
    assert all(text.startswith("1, mean 1   ") for name, text in single.summary() if name == "cable")
    assert type(both).from_dict(both.to_dict()) == both


def test_heat_and_cables_are_the_loads() -> None:
    routing = routed("fattree:4,3")
    hosts = names(routing, np.random.default_rng(1).permutation(16).tolist())
    result = job(routing, hosts, "rabenseifner", hottest=7)
    rows = np.array(list(prepared(routing, hosts, "rabenseifner").rows(0)))
    heat = np.array(result.heat).reshape(len(result.phases), 7)
    assert result.heat_unit == 1
    for k, cable in enumerate(result.cables):
        assert heat[:, k].tolist() == rows[:, cable.channel].tolist()
        assert cable.load == heat[:, k].max()
        weights = [phase.times * phase.size for phase in result.phases]
        assert cable.mean == sum(w * int(h) for w, h in zip(weights, heat[:, k], strict=True)) / sum(weights)
        assert result.phases[heat[:, k].argmax()].name == cable.phase
    loads = sorted(rows.max(axis=0).tolist(), reverse=True)
    assert [cable.load for cable in result.cables] == loads[:7]


def test_rails_of_a_gpu_cluster() -> None:
    """Rings by rail stay on the leaf switch of their rail; without rails in mind they cross the spines."""
    routing = obliv.fabric.from_routing(
        obliv.routing("shortest", obliv.topology("rail:rails=4,nodes=8,leaf=8,spines=2"))
    )
    hosts = [f"node{v}" for v in range(8)]
    by_rail = job(routing, hosts, "hierarchical", per_host=4)
    assert [phase.load for phase in by_rail.phases] == [0, 1, 0]
    assert by_rail.phases[1].crossing == 1
    assert job(routing, hosts, "alltoall", per_host=4).load > 2
    assert job(routing, hosts, "ring", per_host=4, rails="all").load == Fraction(1, 4)


def test_it_is_kept_and_loaded_again(tmp_path: Path) -> None:
    routing = routed("fattree:4,3")
    for jobs in (["node001", "node005"], (["node001", "node005"], ["node003", "node005"]), ["node001"]):
        result = job(routing, jobs, "ring")
        result.save(tmp_path / "job.json")
        again = obliv.load(tmp_path / "job.json")
        assert again == result
        assert repr(again) == repr(result)
        assert ("share 1 of their hosts' links" in repr(result)) == isinstance(jobs, tuple)


def test_mistakes() -> None:
    routing = routed("fattree:4,3")
    assert "2 patterns for 3 jobs" in mistake(
        lambda: job(routing, (["node001"], ["node002"], ["node003"]), ("ring", "bruck"))
    )
    assert "unknown host 'node099'" in mistake(lambda: job(routing, ["node099"], "ring"))
    assert "must be 0 or more" in mistake(lambda: job(routing, ["node001"], "ring", hottest=-1))


def without_host_5(missing: str) -> FabricRouting:
    """Return D-mod-k on FT(4,2) with no route to host 5 on any switch."""
    whole = from_routing(obliv.DModK(obliv.fattree(4, 2)))
    tables = whole.routes.tables
    out = tables.out.copy()
    out[:, whole.topology.fabric.ports.lid[whole.topology.fabric.endpoints[5]]] = NONE
    return fabric_routing(whole.topology, replace(tables, out=out), missing=missing)


def named(routing: FabricRouting, hosts: list[int]) -> list[str]:
    return [routing.topology.name_of(v) for v in routing.topology.terminals[hosts].tolist()]


@pytest.mark.parametrize(
    ("hosts", "pattern", "lost"),
    [([0, 2, 1, 5], "ring", 1), ([0, 2, 1, 5], "alltoall", 3), ([0, 2, 1, 4], "alltoall", 0)],
)
def test_a_job_whose_packets_do_not_arrive_says_so(hosts: list[int], pattern: str, lost: int) -> None:
    broken = without_host_5("skip")
    found = job(broken, named(broken, hosts), pattern)
    pairs = "1 pair" if lost == 1 else f"{lost} pairs"
    said = f"packets of {pairs} do not arrive and count nowhere: the job cannot run"
    assert found.notes == ((said,) if lost else ())
    assert found.jobs[0].lost == lost


def test_hosts_outside_a_job_may_be_cut_off() -> None:
    whole = from_routing(obliv.DModK(obliv.fattree(4, 2)))
    broken = without_host_5("refuse")
    inside = named(broken, [0, 2, 1, 4])
    found = job(broken, inside, "alltoall", order=True)
    expected = job(whole, named(whole, [0, 2, 1, 4]), "alltoall", order=True)
    assert [phase.load for phase in found.phases] == [phase.load for phase in expected.phases]
    assert found.notes == ()
    sender, receiver = named(broken, [3, 5])
    text = mistake(lambda: job(broken, (inside, [sender, receiver]), "ring"))
    assert f"what {sender} sends to {receiver} does not arrive: see fabric check" in text
    text = mistake(lambda: job(broken, named(broken, [0, 1, 4, 5]), "ring"))
    assert "does not arrive, and 2 other pairs of the job do not either: see" in text
    assert "do not arrive either: see  obliv fabric check" in mistake(lambda: worst_placement(broken, 2, "ring"))
