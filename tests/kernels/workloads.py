"""Workloads: small generated inputs that together reach every kernel of the package.

A workload uses the public interface, so it need not change when kernels do. A new kernel that no workload reaches fails
``test_both_ways``; add a workload here, or a line to one.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.bufferless.centralized_corpus import some_constants, some_instance, some_plan
from tests.fabric.lanes import spelled_lanes

import obliv
from obliv.bufferless import results as moves
from obliv.bufferless.frames.centralized import simulate
from obliv.bufferless.frames.rounds import simulate_rounds
from obliv.cli import main
from obliv.errors import OblivError
from obliv.fabric.files import raw_tables
from obliv.fabric.kernels.lane_rows import GroupEntries, read_group_entries
from obliv.fabric.kernels.pair_levels import ForwardingEntries, Moved, read_entries
from obliv.loads import tree as tree_loads
from obliv.papers.bufferless import errata
from obliv.papers.bufferless import errata as variants

WORKLOADS: dict[str, Callable[[Path, int], None]] = {}


def workload(function: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
    """Register a workload: a function of an empty folder and a random seed."""
    WORKLOADS[function.__name__] = function
    return function


def command(line: str, status: int = 0) -> None:
    """Run a command line of obliv."""
    assert main(shlex.split(line)) == status, line


@workload
def worst_cases(folder: Path, seed: int) -> None:
    for topology, routing in (
        ("torus:3x3", "romm"),
        ("mesh:3x2", "valiant"),
        ("torus:4x2", "0.5*dor + 0.5*u2turn"),
        (f"random-regular:n=10,d=3,seed={seed}", "ecmp"),
        ("hypercube:3", "shortest"),
    ):
        network = obliv.topology(topology)
        result = obliv.worst_case(obliv.routing(routing, network), certificate=True)
        assert obliv.verify(result).proved
    large = obliv.topology(f"random-regular:n=40,d=4,seed={seed}")
    obliv.worst_case(obliv.routing("ecmp", large), certificate=True)
    cycle = [(v, (v + step) % 6) for v in range(6) for step in (1, 5)]
    assert obliv.ECMP(obliv.build("cycle", 6, cycle)).pair_loads().keeps([1, 2, 3, 4, 5, 0])


@workload
def designs(folder: Path, seed: int) -> None:
    command(f"design mesh:3x2 --minimal --output {folder}/best.json")
    command(f"verify {folder}/best.json")
    command("bounds mesh:3x2")


@workload
def collisions(folder: Path, seed: int) -> None:
    for hashed in ("independent", "polarised"):
        obliv.collisions("fattree:4,2", "uniform", flows=2, hash=hashed, samples=20, rng=seed)
    obliv.collisions("mesh:3x3", "transpose", samples=20, rng=seed)  # paths that are not equally likely


@workload
def rates(folder: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = obliv.mesh(3, 2).with_rates(rng.integers(1, 4, 6).tolist(), rng.integers(1, 4, 6).tolist())
    result = obliv.worst_case(obliv.ECMP(network), certificate=True)
    assert obliv.verify(result).proved


@workload
def averages(folder: Path, seed: int) -> None:
    routing = obliv.routing("romm", obliv.topology("torus:4x3"))
    obliv.average_case(routing, samples=50)
    obliv.average_case(obliv.routing("dor", obliv.topology("mesh:2x3")), exact=True)


@workload
def fat_trees(folder: Path, seed: int) -> None:
    tree = obliv.topology("fattree:4,3")
    for routing in ("smodk", f"hash:seed={seed}", "osrm3", "wsr"):
        obliv.ratio(obliv.routing(routing, tree))
        result = obliv.worst_case(obliv.routing(routing, tree), certificate=True)
        assert obliv.verify(result).proved
    for number in range(4):  # one of them needs an augmenting path
        obliv.ratio(obliv.routing(f"hash:seed={number}", tree))
    obliv.routing("kpath:2,base=dmodk,select=shift", tree).pair_loads()


@workload
def bufferless(folder: Path, seed: int) -> None:
    for topology in (
        "butterfly:3",
        "leveled-mesh:3x3",
        "leveled-hypercube:3",
        f"multibutterfly:3,d=2,seed={seed}",
        "unrolled-fattree:2,3",
        "unrolled-debruijn:3",
        "unrolled-shuffle:3",
        f"random-leveled:L=12,W=6,d=2,seed={seed}",
    ):
        command(f"bufferless {topology} --algorithm direct --seed {seed}")
    for options in (
        "--algorithm centralized",
        "--algorithm centralized --constants tuned",
        "--algorithm distributed --constants tuned",
        "--algorithm distributed --constants tuned --timetable oracle",
        "--algorithm hot-potato",
        "--algorithm hot-potato --priority random",
        "--algorithm fifo",
        "--algorithm random-delay",
    ):
        command(f"bufferless leveled-mesh:6x6 {options} --seed {seed} --output {folder}/schedule.json")
        command(f"verify {folder}/schedule.json")
    command(f"bufferless leveled-mesh:6x6 --algorithm hot-potato --seed {seed} --plot {folder}/schedule.svg")
    obliv.bufferless.instance("array:6", [[0, 1, 2], [2, 3]])
    obliv.bufferless.instance("leveled-mesh:2x128", route="random")  # long sides are drawn in whole vectors


@workload
def large_networks(folder: Path, seed: int) -> None:
    """Small networks as if they had the sizes from which compiled loops are the faster way."""
    tree = obliv.fattree(4, 3)
    shifts = [obliv.traffic(f"shift:{k}", tree) * Fraction(1, 3) for k in (1, 5, 8)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_loads, "_MANY", 0)
        obliv.traffic_ratio(obliv.DModK(tree), "bernoulli:1")
        obliv.throughput(obliv.DModK(tree), sum(shifts[1:], shifts[0]))
        patch.setattr(moves, "INTERPRETED", 0)
        command(f"bufferless leveled-mesh:4x3 --algorithm hot-potato --seed {seed}")


@workload
def planned_steps(folder: Path, seed: int) -> None:
    """Plans of the centralized algorithm followed step by step."""
    for number in range(8):
        rng = np.random.default_rng([seed, number])
        instance = some_instance(rng)
        planned = some_plan(instance, **some_constants(rng, instance))
        if planned is not None:
            simulate(instance, planned, record=True)


@workload
def wrong_rules(folder: Path, seed: int) -> None:
    """Rules as printed in the paper, or read in another way, on the instances that show the difference."""
    nodes, paths = errata.LAST_TARGET
    assert errata.printed_target(obliv.bufferless.instance(f"array:{nodes}", paths))[0]
    for name, network in variants.DISTRIBUTED.items():
        assert simulate_rounds(errata.game_of(name)[1], network=network).violation


@workload
def fabrics(folder: Path, seed: int) -> None:
    net, lft = folder / "tree.net", folder / "tree.lfts"
    command(f"fabric generate fattree:4,3 --output {net}")
    command(f"fabric route {net} --engine dmodk --output {lft}")
    command(f"fabric check {net} --lft {lft}")
    command(f"fabric generate ring:6 --output {folder}/ring.net")
    layered = f"--lanes 2 --effort 0.05 --seed {seed} --policy {folder}/policy --output {folder}/ring.lfts"
    command(f"fabric route {folder}/ring.net --engine layered {layered}")
    command(f"fabric worst {net} --lft {lft} --output {folder}/worst.json")
    command(f"verify {folder}/worst.json")
    command(f"fabric bisection {net} --lft {lft} --samples 20")
    command(f"fabric shifts {net} --lft {lft}")
    command(f"fabric average {net} --lft {lft} --samples 20")
    command(f"fabric ratio {net} --lft {lft}")
    command(f"fabric throughput {net} --lft {lft} shift:1")
    names = re.findall(r'^Ca.*"(host[^"]*)"', net.read_text(), re.MULTILINE)
    (folder / "hosts").write_text("".join(f"{name} slots=2\n" for name in names[3:12]))
    for pattern in ("alltoall", "hierarchical"):
        order = f"--order {folder}/ranks --effort 0.0005 --seed {seed}"
        command(f"fabric job {net} --lft {lft} --hosts {folder}/hosts --pattern {pattern} {order}")
    command(f"fabric route {net} --engine osrm3-d --output {folder}/osrm.lfts")
    command(f"fabric failures {net} --lft {folder}/osrm.lfts --repair refill")
    command(f"fabric failures {net} --lft {lft} --of switches")
    lines = lft.read_text().splitlines(keepends=True)
    holes = np.random.default_rng(seed).integers(0, 25, len(lines))
    lft.write_text("".join(line for line, hole in zip(lines, holes, strict=True) if hole or "0x00" not in line[:4]))
    command(f"fabric check {net} --lft {lft}", status=1)


@workload
def lanes(folder: Path, seed: int) -> None:
    """SL-to-VL tables and service levels in all spellings, sound and damaged."""
    rng = np.random.default_rng(seed)
    net, lft = folder / "ring.net", folder / "ring.lfts"
    command(f"fabric generate ring:4 --output {net} --routing shortest --tables {lft}")
    fabric, tables = obliv.fabric.read(net, lft)
    rows, pairs = spelled_lanes.all_rows(fabric, rng, holes=0.2), spelled_lanes.pair_levels(fabric, rng)
    sl2vl, levels = folder / "sl2vl", folder / "levels"
    for spelling, printed in zip(spelled_lanes.TABLES.values(), spelled_lanes.LEVELS.values(), strict=True):
        sl2vl.write_text(spelling(fabric, rows))
        levels.write_text(printed(fabric, pairs))
        obliv.fabric.check(fabric, tables, lanes=obliv.fabric.read_lanes(fabric, sl2vl, levels))
        for path in (sl2vl, levels):
            data = bytearray(path.read_bytes())
            for _ in range(20):
                data[rng.integers(len(data))] = rng.integers(256)
            path.write_bytes(data)
        with contextlib.suppress(OblivError):
            obliv.fabric.read_lanes(fabric, sl2vl, levels)


@workload
def hostile_tables(folder: Path, seed: int) -> None:
    """Forwarding tables as they come from outside: cut, damaged and random bytes, all read to their last byte."""
    rng = np.random.default_rng(seed)
    entry = b"0x0001 003 : (Switch portguid 0x0008f10500650001: 'a')\n"
    for _ in range(20):
        lines = b"".join([entry.replace(b"0001 003", b"%04x %03d" % (rng.integers(99), rng.integers(300)))] * 2)
        damaged = bytearray(lines)
        for at in rng.integers(0, len(lines) - 1, int(rng.integers(12))):
            damaged[at] = int(rng.choice(list(b"0x9afGp:# U\t\xff\r\n")))
        cut = bytes(damaged[: int(rng.integers(len(damaged)))]) + b"\n"
        for data in (cut, rng.bytes(30) + b"\n", b"0x" + b"f" * int(rng.integers(20)) + b"\n", b"\n"):
            # the array is as long as the lines: a read beyond the last line end is out of bounds
            moved = Moved(*np.zeros((4, 3), np.int64))
            entries = ForwardingEntries(np.full(64, 255, np.uint8), raw_tables.port_guids_of(64), moved)
            read_entries(np.frombuffer(data, np.uint8), 0, len(data), raw_tables.DIGITS, entries)
    row = b"0x000a  5            Free       1\n"
    for _ in range(20):
        damaged = bytearray(row.replace(b"000a  5", b"%04x  %d" % (rng.integers(99), rng.integers(300))) * 2)
        for at in rng.integers(0, len(damaged) - 1, int(rng.integers(8))):
            damaged[at] = int(rng.choice(list(b"0x9afGpFreStatic \t\xff\r\n")))
        cut = bytes(damaged[: int(rng.integers(len(damaged)))]) + b"\n"
        for data in (cut, row[: int(rng.integers(len(row)))] + b"\n", bytes(damaged)):
            stored = GroupEntries(*(np.full(64, 255, kind) for kind in (np.uint8, np.uint8, np.uint16)))
            end = data.rindex(b"\n") + 1
            read_group_entries(np.frombuffer(data, np.uint8), 0, end, raw_tables.DIGITS, stored)


@workload
def adaptive_routing(folder: Path, seed: int) -> None:
    net, far = folder / "tree.net", folder / "tree.far"
    for topology, rule in (("fattree:4,3", "updn"), ("torus:3x3", "minimal")):
        command(f"fabric generate {topology} --adaptive {rule} --far {far} --output {net}")
        obliv.fabric.check(
            obliv.fabric.read_fabric(net), groups=obliv.fabric.read_groups(far, obliv.fabric.read_fabric(net))
        )
        for mode in ("even", "worst"):
            command(f"fabric worst {net} --far {far} --adaptive {mode}")
            command(f"throughput fabric:{net} far:{far},adaptive={mode} shift:1")
