"""Runs of BookSim2: its program, one run at a rate, what it prints, and what crossed each channel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from shlex import quote

from obliv.errors import InputError, OblivError
from obliv.io.simulators.booksim import cube_of
from obliv.io.simulators.booksim_listed import ports_of, routers_of
from obliv.patterns.base import Traffic
from obliv.results.codec import Record, derived, entry
from obliv.topologies.base import Topology

PERIOD = 5000  #: Cycles of a period.
PERIODS = 3  #: How many are measured after one that is not.

#: The cycles that packets of a stable run take at most. A queue that takes in a share e more than it gives away delays
#: its last packet by e of the run; chance makes packets wait, too, some 200 cycles in the queue of a channel with load
#: 0.97. The mean of accepted packets says less: it hides the few flows that a permutation overloads.
LONGEST = PERIODS * PERIOD / 40

_WARNING = "Possible network deadlock"  # for 256 cycles, no packet arrived
_WARNINGS = 20  # of a run that is in deadlock, and stopped
_BYTES = 2**26  # that a run may print
_FIGURE = r" = (\d[\d.e+-]*)"
_LATENCY = re.compile(rf"Packet latency average{_FIGURE}.*?maximum{_FIGURE}", re.DOTALL)
_SENT = re.compile(rf"Injected packet rate average{_FIGURE}")
_ACCEPTED = re.compile(rf"Accepted packet rate average{_FIGURE}.*?minimum{_FIGURE}", re.DOTALL)
_SWITCH = re.compile(r"^(router\w*)\.switchMonitor:\n((?:[^\n]*\[\d+ -> \d+\][^\n]*\n)*)", re.MULTILINE)
_CROSSED = re.compile(r"\[(\d{1,9}) -> (\d{1,9})\] ((?:\d+:\d{1,18} )*)")
_UNKNOWN = re.compile(r"(?:Invalid|Unknown|Parse error|invalid)[^\n]*")


@dataclass(frozen=True)
class SimulatedRun(Record):
    """One run of a simulator: cycles that packets took, and packets that nodes accepted; None in a deadlock."""

    rate: float = entry(column="rate")
    seed: int = entry(column="seed")
    latency: float | None = entry(None, column="latency")
    longest: float | None = entry(None, column="longest")
    accepted: float | None = entry(None, column="accepted")
    least_accepted: float | None = entry(None, column="least_accepted")
    deadlock: bool = entry(False, column="deadlock")

    @property
    @derived(column="stable")
    def stable(self) -> bool:
        """Whether no packet waits longer than chance explains."""
        return self.longest is not None and self.longest <= LONGEST


def program_of(booksim: str | Path | None) -> str:
    """Return the program of BookSim2 that is named here or in the environment; InputError where there is none."""
    name = os.fspath(booksim or os.environ.get("BOOKSIM", ""))
    if not name:
        raise InputError.naming(
            "BookSim2 is needed: build it from https://github.com/booksim/booksim2 and name its program, src/booksim, "
            "with {booksim}=PATH, or in the environment variable BOOKSIM"
        )
    program = shutil.which(name)
    if program is None:
        why = "is a folder: name the program in it, src/booksim" if os.path.isdir(name) else "is not a program"
        raise InputError.naming("{booksim}={0!r}: {1}", name, why)
    return os.path.abspath(program)


def output_of(config: Path, rate: float, seed: int) -> Path:
    """Return the file that keeps what a run prints."""
    return config.with_suffix(f".{rate:.6f}.{seed}.out")


def run_booksim(
    program: str, config: Path, traffic: Traffic, rate: float, seed: int, *, end: float = inf, counts: bool = False
) -> SimulatedRun | None:
    """Run a configuration at a rate; None where it was stopped, since the clock ``time.monotonic`` was at `end`.

    With `counts`, the program counts what crosses each router. OblivError is raised if it fails, prints no statistics,
    or in a stable run did not send the packets of the traffic.
    """
    words = [*_words(program, config, rate, seed), f"sample_period={PERIOD}", f"max_samples={PERIODS + 1}"]
    text, status = _printed(words + ["print_activity=1"] * counts, output_of(config, rate, seed), end)
    if text is None:
        raise failed(f"printed more than {_BYTES:,} bytes", program, config, rate, seed)
    overall = text.rpartition("Overall Traffic Statistics")[2] if "Overall Traffic Statistics" in text else ""
    if not overall and text.count(_WARNING) >= _WARNINGS:
        return SimulatedRun(rate, seed, deadlock=True)
    if status is None:
        return None
    latency, sent, accepted = _LATENCY.search(overall), _SENT.search(overall), _ACCEPTED.search(overall)
    figures: list[float] = []
    with suppress(ValueError):  # what looks like a number and is none
        figures = [float(text) for match in (latency, accepted, sent) if match for text in match.groups()]
    if len(figures) != 5 or not (figures[0] <= figures[1] < inf and figures[3] <= figures[2] < inf):
        raise failed(f"printed no statistics as BookSim2 does (exit status {status})", program, config, rate, seed)
    run = SimulatedRun(rate, seed, figures[0], figures[1], figures[2], figures[3])
    offered = rate * float(sum(traffic.row_sums)) / traffic.terminals
    chance = 5 * sqrt(offered / (traffic.terminals * PERIODS * PERIOD))
    if run.stable and abs(figures[4] - offered) > 0.02 * offered + chance:  # another version may count flits
        why = f"sent {figures[4]:.4g} packets per node and cycle where {offered:.4g} were offered"
        raise failed(why, program, config, rate, seed)
    return run


def _words(program: str, config: Path, rate: float, seed: int) -> list[str]:
    return [program, config.name, f"injection_rate={rate:.6f}", f"seed={seed}"]


def _printed(words: Sequence[str], output: Path, end: float) -> tuple[str | None, int | None]:
    """Return what a program prints, None if that is too much; and its exit status, None where it was stopped."""
    with output.open("wb") as out, output.open("rb") as reader:
        ends = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}
        try:
            process = subprocess.Popen(words, cwd=output.parent, **ends)  # type: ignore[call-overload]
        except OSError as error:
            raise InputError(f"{words[0]}: cannot be run: {error.strerror or error}") from None
        with suppress(ImportError, AttributeError, OSError):  # should no one be left to stop a program that prints on
            import resource

            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (2 * _BYTES, 2 * _BYTES))
        warnings = 0
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
                warnings += reader.read(_BYTES).count(_WARNING.encode())
                if warnings >= _WARNINGS or reader.tell() > _BYTES or time.monotonic() > end:
                    break
            status = process.poll()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    return None if output.stat().st_size > _BYTES else output.read_text("utf-8", "replace"), status


def failed(why: str, program: str, config: Path, rate: float, seed: int) -> OblivError:
    """Return the error for a program that is not what it should be: its last words, and a script to repeat it."""
    text = output_of(config, rate, seed).read_bytes()[-_BYTES:].decode("utf-8", "replace")
    lines = _UNKNOWN.findall(text)[:1] or [line.strip() for line in text.splitlines() if line.strip()][-2:]
    last = " | ".join(lines)[-80:] or "nothing"
    need = "; build it with obliv.io.extend_booksim" * ("listed(" in last or "_anynet" in last)
    script = config.with_name("repeat.sh")
    command = " ".join(map(quote, _words(program, config, rate, seed)))
    script.write_text(f"cd {quote(str(config.parent))} && {command}\n", encoding="utf-8")
    return OblivError(f"{Path(program).name} {why}; its last lines: {last}{need}; to repeat it:  sh {script}")


# What crossed each channel: with print_activity BookSim2 prints how many flits crossed each router, by input and output


def crossed(topology: Topology, program: str, config: Path, run: SimulatedRun) -> tuple[list[int], int]:
    """Return how many packets of a run crossed each channel, and how many reached their destinations."""
    output = output_of(config, run.rate, run.seed)
    counts: dict[tuple[str, str, int], int] = {}  # by router, side and port
    for router, lines in _SWITCH.findall(output.read_text("utf-8", "replace")):
        for row, column, flits in _CROSSED.findall(lines):
            number = sum(int(word.partition(":")[2]) for word in flits.split())
            places = [(router, "out", int(column))]
            if row != column:  # packets of hosts to themselves turn round at the router, and load no channel
                places += [(router, "from host", int(row)), (router, "to host", int(column))]
            for place in places:
                counts[place] = counts.get(place, 0) + number
    cube = None if config.with_suffix(".anynet").exists() else cube_of(topology)
    of = _places_on_anynet(topology) if cube is None else _places_on_cube(topology.nodes, *cube)
    if (missing := next((place for place in of.values() if place not in counts), None)) is not None:
        why = f"printed no count of {missing[0]}, port {missing[2]}, with print_activity=1"
        raise failed(why, program, config, run.rate, run.seed)
    ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
    return [counts[of[end]] for end in ends], sum(counts[of[end]] for end in of if end[1] < 0)


Places = dict[tuple[int, int], tuple[str, str, int]]  # router, side and port by the ends of a channel; -1 is a terminal


def _places_on_cube(nodes: int, kind: str, radix: int, dimensions: int) -> Places:
    """Return the output of every channel: of two outputs a dimension the first leads up; the node's is the last."""
    places: Places = {}
    for node in range(nodes):
        digits = [node // radix**dim % radix for dim in range(dimensions)]
        router = "_".join(["router", *map(str, reversed(digits))])
        for dim, digit in enumerate(digits):
            for side, other in enumerate((digit + 1, digit - 1)):
                if kind == "ring" or 0 <= other < radix:
                    places[node, node + (other % radix - digit) * radix**dim] = (router, "out", 2 * dim + side)
        places[node, -1] = (router, "out", 2 * dimensions)
    return places


def _places_on_anynet(topology: Topology) -> Places:
    """Return the output of every channel, and the ports of hosts."""
    number, home = routers_of(topology)
    node = {router: at for at, router in number.items()}
    places: Places = {}
    for (at, (k, kind)), port in ports_of(topology, number, home).items():
        router = f"router_{number[at]}"
        if kind == "router":
            places[at, node[k]] = (router, "out", port)
            continue
        host = int(topology.terminals[k])
        places[host, -1] = (router, "out", port)
        if host != at:
            places |= {(at, host): (router, "to host", port), (host, at): (router, "from host", port)}
    return places
