"""Simulations beside predictions, with a small program in place of BookSim2; and in BookSim2 where there is one."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.cli import main
from obliv.errors import InputError, Interrupted
from obliv.io.simulators import booksim_runs, simulation
from obliv.io.simulators.booksim_runs import SimulatedRun, crossed, output_of
from obliv.results.numbers import Bounds, bounds_of

#: A network of `limit` packets per node and cycle: below, packets take 10 cycles; above, queues grow. Then what a test
#: changes.
FAKE = """#!{python}
import sys
words = dict(word.split("=") for word in sys.argv[2:])
rate, limit = float(words["injection_rate"]), {limit}
accepted = sent = min(rate, limit)
wait = max(0.0, rate / limit - 1) * 20000
{change}
print("====== Overall Traffic Statistics ======")
print(f"Packet latency average = {{10 + wait / 2}} (1 samples)\\n\\tmaximum = {{20 + wait}} (1 samples)")
print(f"Injected packet rate average = {{sent}} (1 samples)\\n\\tminimum = {{sent}}")
print(f"Accepted packet rate average = {{accepted}} (1 samples)\\n\\tminimum = {{accepted * 0.99}} (1 samples)")
sys.exit(255)
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def make(limit: str = "1 / 3", change: str = "") -> str:
        program = tmp_path / "booksim"
        program.write_text(FAKE.format(python=sys.executable, limit=limit, change=change))
        program.chmod(0o755)
        return str(program)

    return make


def left(tmp_path: Path) -> list[Path]:
    """The folders of simulations that are left."""
    return list(tmp_path.glob("obliv-booksim-*"))


def test_the_highest_stable_rate_is_enclosed(fake: Any, tmp_path: Path) -> None:
    """Packets wait for 375 cycles at most up to a fifty-third above the limit; rates are halved to a hundredth."""
    result = obliv.simulate("mesh:4x4", "dor", "transpose", booksim=fake(), seeds=2)
    low, high = bounds_of(result.measured)
    most = Fraction(1, 3) * (1 + Fraction(355, 20000))
    assert result.predicted == Fraction(1, 3)
    assert low <= most < high
    assert high - low <= Fraction(1, 3) / 50
    assert not result.contradicted
    assert result.complete
    assert [run.seed for run in result.runs[:4]] == [1, 2, 1, 2]
    assert {run.stable for run in result.runs if run.rate <= low} == {True}
    assert {run.stable for run in result.runs if run.rate >= high} == {False}
    assert result.latency == obliv.Estimate(10, 0, 2)
    assert result.limited_by == "channel (0,0) -> (0,1)"
    assert not left(tmp_path)


def test_no_rate_is_above_a_packet_a_cycle(fake: Any) -> None:
    assert obliv.simulate("mesh:4x4", "dor", booksim=fake("2"), seeds=2).measured == 1
    half = obliv.simulate("mesh:4x4", "dor", "1/2*shift:1", booksim=fake("4", "accepted = sent = rate / 2"), seeds=2)
    assert max(run.rate for run in half.runs) <= 2
    assert half.predicted == 2  # of half a packet each


@pytest.mark.parametrize(
    ("limit", "change", "options", "status", "says"),
    [
        ("1 / 3", "", [], 0, "no contradiction; a stable rate may exceed the prediction by 3.3 %"),
        ("0.36", "", [], 1, "verdict         contradiction"),
        ("0.1", "", [], 0, "0.1 to 0.10"),  # a router may take a part
        (
            "1 / 3",
            "while rate > 0.2: print('WARNING: Possible network deadlock.', flush=True)",
            [],
            1,
            "seen at rate 0.2333",
        ),
        (
            "1 / 3",
            "while rate > 0.2: print('WARNING: Possible network deadlock.')",
            ["--vc", "none"],
            1,
            "packets cannot",
        ),
    ],
)
def test_exit_status(
    limit: str, change: str, options: list[str], status: int, says: str, fake: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", "mesh:4x4", "dor", "transpose", "--booksim", fake(limit, change), "--seeds", "2", *options]
    assert main(words) == status
    assert says in capsys.readouterr().out


def test_a_deadlock_that_obliv_knows_contradicts_nothing(fake: Any) -> None:
    change = "while True: print('WARNING: Possible network deadlock.', flush=True)"
    result = obliv.simulate("ring:8", "dor", "tornado", booksim=fake(change=change), vc="none", seeds=2)
    assert not result.acyclic
    assert not result.contradicted
    assert bounds_of(result.measured)[0] == 0
    assert result.latency is None
    assert all(run.deadlock for run in result.runs)
    with pytest.raises(InputError, match="there are no latencies"):
        result.lines()


def test_warnings_before_all_packets_arrive_are_no_deadlock(fake: Any) -> None:
    result = obliv.simulate(
        "mesh:4x4", "dor", "transpose", booksim=fake(change="print('WARNING: Possible network deadlock.')"), seeds=2
    )
    assert not any(run.deadlock for run in result.runs)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "print('bus error'); sys.exit(3)",
            "printed no statistics as BookSim2 does (exit status 3); its last lines: bus error",
        ),
        ("print('one\\n\\ntwo\\nthree'); sys.exit()", "last lines: two | three"),
        ("accepted = sent = float('nan')", "no statistics as BookSim2"),
        ("accepted = float('inf')", "no statistics as BookSim2"),
        ("wait = -100", "no statistics as BookSim2"),
        ("sent *= 4", "sent 0.1333 packets per node and cycle where 0.03333 were offered"),  # it counts flits
        ("sys.exit()", "last lines: nothing"),
        ("sys.stdout.buffer.write(bytes(range(256))); sys.exit()", "no statistics"),
        (
            "print('Error: Invalid routing function: paths_anynet\\nbye'); sys.exit()",
            "build it with obliv.io.extend_booksim",
        ),
        ("while True: print('x' * 10_000)", "printed more than 1,000,000 bytes"),
        (
            "import time; print('waiting', flush=True); time.sleep(60)",
            "does not end, after 0.5 seconds; its last lines: waiting",
        ),
    ],
)
def test_a_program_that_is_not_booksim(
    change: str,
    says: str,
    fake: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, exit status 2, and files with which the command that it names can be repeated."""
    monkeypatch.setattr(booksim_runs, "_BYTES", 10**6)
    limit = ["--time-limit", "0.5"] if "sleep" in change else []
    assert main(["simulate", "mesh:4x4", "dor", "transpose", "--booksim", fake(change=change), *limit]) == 2
    out, err = capsys.readouterr()
    assert not out
    (line,) = [line for line in err.splitlines() if "to repeat it" in line]
    assert says in line
    (folder,) = left(tmp_path)
    assert line.endswith(f"to repeat it: sh {folder}/repeat.sh")
    command = (folder / "repeat.sh").read_text()
    assert command == f"cd {folder} && {tmp_path}/booksim simulation.cfg injection_rate=0.033333 seed=1\n"
    assert (folder / "simulation.cfg").is_file()


def test_a_missing_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("BOOKSIM", raising=False)
    words = ["simulate", "mesh:3x3", "dor", "uniform"]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "https://github.com/booksim/booksim2" in err
    assert "--booksim PATH" in err
    assert main([*words, "--booksim", str(tmp_path)]) == 2
    assert "is a folder: name the program in it, src/booksim" in capsys.readouterr().err
    (tmp_path / "text").write_text("no program")
    for name in ("text", "nothing"):
        monkeypatch.setenv("BOOKSIM", str(tmp_path / name))
        assert main(words) == 2
        assert "is not a program" in capsys.readouterr().err
    (tmp_path / "text").chmod(0o755)
    monkeypatch.setenv("BOOKSIM", str(tmp_path / "text"))
    assert main(words) == 2
    assert "cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize("options", [{"seeds": 1}, {"router": "huge"}, {"time_limit": 0}, {"traffic": "0*uniform"}])
def test_invalid_options(options: dict[str, Any], fake: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        obliv.simulate("mesh:3x3", "dor", **({"traffic": "uniform", "booksim": fake()} | options))
    assert not left(tmp_path)


def test_paths_are_listed_where_booksim_lacks_the_routing(fake: Any) -> None:
    assert obliv.simulate("mesh:4x4", "valiant", "worst", booksim=fake("0.5"), seeds=2).scheme == "turn+uturn"
    assert obliv.simulate("mesh:4x4", "o1turn", "worst", booksim=fake("0.5"), seeds=2).scheme == "none"


def test_what_is_known_when_time_is_over_or_work_is_interrupted(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[SimulatedRun | None] = []

    def two_runs(*given: Any, **named: Any) -> SimulatedRun | None:
        runs.append(booksim_run(*given, **named) if len(runs) < 3 else stop())
        return runs[-1]

    def interrupt() -> None:
        raise KeyboardInterrupt

    booksim_run = simulation.run_booksim
    monkeypatch.setattr(simulation, "run_booksim", two_runs)
    stop: Any = lambda: None  # noqa: E731
    result = obliv.simulate("mesh:4x4", "dor", "transpose", booksim=fake(), seeds=2)
    assert not result.complete
    assert result.measured == Bounds(Fraction("0.033333"), Fraction(1))
    assert len(result.runs) == 3
    runs.clear()
    stop = interrupt
    with pytest.raises(Interrupted, match="after 3 runs") as stopped:
        obliv.simulate("mesh:4x4", "dor", "transpose", booksim=fake(), seeds=2)
    assert stopped.value.so_far == result
    runs[:] = [None] * 3
    with pytest.raises(KeyboardInterrupt) as before:
        obliv.simulate("mesh:4x4", "dor", "transpose", booksim=fake(), seeds=2)
    assert not isinstance(before.value, Interrupted)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are for Linux")
def test_a_program_that_no_one_stops_prints_within_a_limit(fake: Any) -> None:
    change = "import resource; sys.exit(print(*resource.getrlimit(resource.RLIMIT_FSIZE)))"
    change = f"import time; time.sleep(0.2); {change}"
    with pytest.raises(obliv.OblivError, match=f"its last lines: {2**27} {2**27};"):
        obliv.simulate("mesh:4x4", "dor", "transpose", booksim=fake(change=change))


def test_an_interrupt_ends_the_program(fake: Any, tmp_path: Path) -> None:
    program = fake(
        change=f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )

    def interrupt() -> None:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        obliv.simulate("mesh:4x4", "dor", "transpose", booksim=program)
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert not left(tmp_path)


def test_formats_and_picture(fake: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "mesh:4x4", "dor", "--traffic", "transpose", "--booksim", fake(), "--seeds", "2"]
    assert main([*words, "--format", "json", "-o", str(tmp_path / "s.json"), "--plot", str(tmp_path / "s.svg")]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = obliv.load(tmp_path / "s.json")
    assert printed["predicted"] == {"exact": "1/3", "value": 1 / 3}
    assert printed["measured"]["lower"] == float(bounds_of(result.measured)[0])
    assert main([*words, "--format", "csv"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.endswith(",rate,seed,latency,longest,accepted,least_accepted,deadlock,stable")
    assert len(rows) == len(result.runs)
    assert main(["plot", "result", str(tmp_path / "s.json"), str(tmp_path / "p.svg")]) == 0
    assert "limit 1/3" in (tmp_path / "p.svg").read_text()


def test_a_cell_of_a_study(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOOKSIM", fake("0.4"))
    study = tmp_path / "s.toml"
    measure = '{ measure = "simulate", traffic = ["worst", "transpose"], seeds = 2 }'
    study.write_text(f'topologies = ["mesh:4x4"]\nroutings = ["dor"]\nmeasures = [{measure}]\n')
    words = ["--store", str(tmp_path / "s.db"), "--format", "json"]
    assert main(["study", "run", str(study), *words]) == 0
    capsys.readouterr()
    assert main(["study", "show", str(tmp_path / "s.db"), "--format", "json"]) == 0
    shown = capsys.readouterr().out
    assert shown.count('"exact": "1/3"') == 2
    study.write_text(study.read_text().replace("transpose", "nothing"))
    assert main(["study", "run", str(study), *words]) == 2
    assert "unknown traffic 'nothing'" in capsys.readouterr().err


# What crossed each channel


@pytest.mark.parametrize(
    ("spec", "routing", "listed"),
    [
        ("mesh:3x3", "dor", False),
        ("hypercube:3", "dor", False),
        ("torus:4x4", "dor", False),
        ("mesh:3x2", "dor", True),
        ("graph:petersen", "shortest", True),
        ("fattree:4,2", "ecmp", True),
    ],
)
def test_channels_are_counted_by_the_ports_of_booksim(spec: str, routing: str, listed: bool, tmp_path: Path) -> None:
    """Every pair sends 12 packets along its paths; each is counted at each router, by input and output, as there."""
    topology = obliv.topology(spec)
    rule = obliv.routing(routing, topology)
    config = tmp_path / "simulation.cfg"
    files = obliv.io.write_booksim(rule, config, paths=listed)
    assert (config.with_suffix(".anynet") in files) == listed
    hosts = {int(topology.head[topology.first_channel[t]]) for t in topology.terminals} if "fattree" in spec else set()
    outputs = numbered(topology, listed, set(topology.terminals.tolist()) if hosts else set())
    counts: dict[int, dict[tuple[int, int], int]] = {}
    for s in topology.terminals.tolist():
        for d in topology.terminals.tolist():
            for channels, share in rule.paths(s, d):
                at = [s, *(int(topology.head[c]) for c in channels)]
                home = [int(topology.head[topology.first_channel[s]])] if hosts and s == d else at
                routers = [node for node in home if node in outputs]
                enters, ends = s, [*routers[1:], ("node", d)]
                source: Any = ("node", enters)
                for node, onward in zip(routers, ends, strict=True):
                    ports = outputs[node]
                    pair = ports.index(source) if source in ports else 0, ports.index(onward)
                    own = counts.setdefault(node, {})
                    own[pair] = own.get(pair, 0) + int(12 * share)
                    source = node
    lines = []
    for node, own in counts.items():
        lines.append(f"{name_of(topology, node, listed, bool(hosts))}.switchMonitor:\nInputs=9Outputs=9")
        for row in range(9):
            lines += [f"[{row} -> {column}] 0:{own.get((row, column), 0)} \n" for column in range(9)]
        lines.append("\n")
    text = "".join(lines)
    run = SimulatedRun(0.1, 1, 1.0, 1.0, 1.0, 1.0)
    output_of(config, 0.1, 1).write_text("router_0.bufferMonitor:\n[ 0 ] Type=0:(R#1176,W#1176) \n\n" + text)
    through, arrived = crossed(topology, "booksim", config, run)
    assert arrived == 12 * len(topology.terminals) ** 2
    loads = rule.pair_loads().under(obliv.traffic("uniform", topology))
    assert [Fraction(count, 12 * len(topology.terminals)) for count in through] == list(loads)


def numbered(topology: Any, listed: bool, hosts: set[int]) -> dict[int, list[Any]]:
    """What lies behind each output of a router: on a mesh or torus, up and down in each dimension, then its node."""
    ports: dict[int, list[Any]] = {}
    for node in range(topology.nodes):
        if node in hosts:
            continue
        if listed:
            own = sorted(t for t in hosts if int(topology.head[topology.first_channel[t]]) == node) if hosts else [node]
            ports[node] = [("node", t) for t in own]
            ports[node] += sorted(
                {int(topology.head[c]) for c in range(topology.channels) if int(topology.tail[c]) == node} - hosts
            )
            continue
        ports[node], stride = [], 1
        for radix in topology.radices:
            digit = node // stride % radix
            wraps = topology.spec.startswith("torus")
            for other in (digit + 1, digit - 1):
                ports[node].append(node + (other % radix - digit) * stride if wraps or 0 <= other < radix else None)
            stride *= radix
        ports[node].append(("node", node))
    return ports


def name_of(topology: Any, node: int, listed: bool, hosts: bool) -> str:
    """The name of a router: its number, or its digits from the last dimension on."""
    if listed:
        return f"router_{node - (len(topology.terminals) if hosts else 0)}"
    digits, rest = [], node
    for radix in topology.radices:
        digits.append(rest % radix)
        rest //= radix
    return "_".join(["router", *map(str, reversed(digits))])


def test_counts_that_are_missing(fake: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "mesh:4x4", "dor", "transpose", "--booksim", fake(), "--seeds", "2", "--channels"]) == 2
    assert "printed no count of router_0_0, port 0, with print_activity=1; its last lines" in capsys.readouterr().err
    assert left(tmp_path)


# In BookSim2 itself, where the environment variable BOOKSIM names a program that was built with both headers


@pytest.mark.skipif(not os.environ.get("BOOKSIM"), reason="BOOKSIM does not name a program of BookSim2")
@pytest.mark.parametrize(
    ("network", "routing", "traffic"),
    [("mesh:4x4", "dor", "worst"), ("fattree:4,2", "ecmp", "uniform"), ("torus:4x4", "romm", "transpose")],
)
def test_booksim_agrees(network: str, routing: str, traffic: str) -> None:
    result = obliv.simulate(network, routing, traffic, seeds=2, channels=True)
    low, high = bounds_of(result.ratio)
    assert 0.95 <= low <= high <= 1.05
    assert not result.contradicted
    assert result.complete
    for channel in result.channels:
        assert abs(channel.difference) <= 5 * channel.counted.stderr
