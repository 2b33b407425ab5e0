"""Commands that are stopped in the middle of their work: by Ctrl-C, and for good."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


def messages(stderr: str) -> str:
    """What a command says on standard error, but for the words on work that takes some seconds on a busy machine."""
    return re.sub(r"^obliv: .* (so far|left)\n", "", stderr, flags=re.MULTILINE)


#: Where the tests run in the background of a script, processes start with interrupts ignored.
_CODE = (
    "import signal, sys; from obliv.cli import run; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.argv[0] = 'obliv'; run()"
)
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 600.0

#: A command of each long verb that works for some seconds.
LONG: dict[str, list[str]] = {
    "worst": ["worst", "random-regular:n=250,d=6,seed=1", "valiant"],
    "average": ["average", "mesh:10x10", "romm", "--samples", "100000"],
    "ratio": ["ratio", "fattree:20,3", "hash:seed=1"],
    "design": ["design", "mesh:5x5", "-o", "out.json"],
    "bounds": ["bounds", "mesh:5x5", "-o", "out.json"],
    "compare": ["compare", "random-regular:n=100,d=6,seed=1", "ecmp", "valiant", "shortest", "-o", "out.json"],
    "bufferless": ["bufferless", "random-leveled:L=120,W=20,d=3,seed=1", "--algorithm", "centralized"],
    "fabric worst": ["fabric", "worst", "fabric.net", "--lft", "fabric.lfts"],
    "fabric route": ["fabric", "route", "tree.net", "-o", "out.lfts", "--net", "out.net"],
    "fabric route layered": [
        *("fabric", "route", "torus.net", "--engine", "layered", "--lanes", "2", "-o", "out.lfts"),
        *("--policy", "out.conf", "--psl", "out.psl", "--net", "out.net"),
    ],
    "fabric generate": [
        *("fabric", "generate", "hyperx:5x5x5", "-o", "out.net"),
        *("--adaptive", "minimal", "--far", "out.far"),
    ],
    "collisions": ["collisions", "fattree:16,3", "random-permutation:seed=1", "--samples", "20000", "-o", "out.json"],
    "failures": ["failures", "mesh:6x6", "ecmp", "-o", "out.json"],
    "fabric failures": ["fabric", "failures", "tree.net", "--lft", "tree.lfts", "--repair", "updown", "-o", "out.json"],
    "fabric job": [
        *("fabric", "job", "fabric.net", "--lft", "fabric.lfts", "--hosts", "hosts.txt", "--pattern", "alltoall"),
        *("--order", "out.ranks", "--effort", "20", "-o", "out.json"),
    ],
    "fabric check": [
        *("fabric", "check", "fabric.net", "--lft", "fabric.lfts", "--limits", "limits.toml"),
        *("--junit", "out.xml", "-o", "out.json"),
    ],
    "reproduce": ["reproduce", "u2turn", "table1"],
    "study run": ["study", "run", "meshes.study.toml", "--store", "meshes.db", "--jobs", "1"],
    "report": ["report", "worst.json", "-o", "out.html"],
}

#: Seconds of processor time that some verbs may take to stop: `average` has two threads.
_SLOW = {"average": 2.0}

#: What a study of some seconds computes.
_STUDY = """
topologies = ["mesh:{k}x{k}"]
routings = ["dor", "o1turn", "valiant", "romm"]
measures = ["worst", "hops", { measure = "throughput", traffic = ["transpose", "tornado"] }]
[ranges]
k = "3..9"
"""


def prepare(folder: Path) -> None:
    """Write the files that the long commands read."""
    for words in (
        "fabric generate fattree:8,3 -o fabric.net --routing dmodk --tables fabric.lfts",
        "fabric generate torus:5x5 -o torus.net",
        "fabric generate xgft:3;3,3,3;1,3,3 -o tree.net",
        "fabric route tree.net -o tree.lfts",
        "worst mesh:4x4 dor -o worst.json",
    ):
        subprocess.run([sys.executable, "-c", _CODE, *words.split()], cwd=folder, check=True, capture_output=True)
    (folder / "meshes.study.toml").write_text(_STUDY)
    (folder / "hosts.txt").write_text(
        "".join(f"host({a},{b},{c})\n" for a in range(8) for b in range(4) for c in range(4))
    )
    (folder / "limits.toml").write_text("worst_load = 100\n")


@dataclass(frozen=True)
class Stopped:
    """How a command ended: its status, the processor time between signal and end, and what it wrote."""

    status: int
    begun: float
    seconds: float
    wall: float
    out: str
    err: str


def start(words: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CODE, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def busy(pid: int) -> float:
    """The processor time of a process and of those that it started so far, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(busy(int(child)) for child in children)


def stop_after(words: list[str], folder: Path, moment: float, number: int) -> Stopped:
    """Run a command, send it a signal after some processor time, and wait for its end."""
    process = start(words, folder)
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit and process.poll() is None and busy(process.pid) < moment:
        time.sleep(0.003)
    before, began = busy(process.pid), time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
    last = before
    while time.monotonic() < limit:
        last = max(last, busy(process.pid))
        try:
            out, err = process.communicate(timeout=0.02)
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        process.kill()
        out, err = process.communicate()
    return Stopped(process.returncode, before, last - before, time.monotonic() - began, out, err)


def time_of(words: list[str], folder: Path) -> float:
    """The processor time that a command takes."""
    spent = 0.0
    with start(words, folder) as process:  # also closes its pipes where it ends while nothing is read
        while process.poll() is None:
            spent = max(spent, busy(process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=0.05)
    return spent


def moments(total: float, count: int, seed: int = 1) -> list[float]:
    """Moments from the start of Python to the end of a command."""
    chance = random.Random(seed)
    return sorted(chance.uniform(0.0, 0.95 * total) for _ in range(count))


def faults(words: list[str], folder: Path, count: int, seed: int = 1) -> tuple[list[str], list[Stopped]]:
    """Interrupt a command at many moments; return what went wrong, and all ends."""
    inputs = {path.name for path in folder.iterdir()}
    time_of(words, folder)  # kernels may be compiled
    _added(folder, inputs)  # a study would find its cells computed
    total = time_of(words, folder)
    outputs = _added(folder, inputs)
    wrong, ends = [], []
    for moment in moments(total, count, seed):
        end = stop_after(words, folder, moment, signal.SIGINT)
        ends.append(end)
        state = f"{' '.join(words)}: after {end.begun:.2f} of {total:.2f} s"
        left = _added(folder, inputs)
        if left not in (set(), outputs) and not all(name.endswith(".db") for name in left):
            wrong.append(f"{state}: left {sorted(left)}")
        if end.status == -signal.SIGINT:  # as Python itself began or ended; shells call this 130 as well
            continue
        if end.status == 1 and end.begun < 0.1 and "obliv" not in end.err:  # while Python imported its own modules
            continue
        if end.status not in (0, 130):
            wrong.append(f"{state}: status {end.status}: {end.err[-300:]}")
        if "Traceback" in end.err and end.begun > 0.5:  # before, Python itself may still be starting
            wrong.append(f"{state}: a traceback: {end.err[-600:]}")
        most = _SLOW.get(words[0], 1.0)
        if end.status == 130 and end.seconds > most:
            wrong.append(f"{state}: {end.seconds:.2f} s to the end")
    return wrong, ends


def _added(folder: Path, inputs: set[str]) -> set[str]:
    """Return the names of the files that a command wrote, and remove them."""
    names = {path.name for path in folder.iterdir()} - inputs
    for name in names:
        (folder / name).unlink()
    return names
