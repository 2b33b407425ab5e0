"""Runs that are killed or interrupted at random moments: the final table is that of an undisturbed run."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.study.files import written

import obliv

TEXT = """
topologies = ["ring:{k}"]
routings = ["dor", "valiant"]
measures = ["worst", "hops", { measure = "average", samples = 20 }]
seeds = [0, 1, 2, 3, 4, 5]

[ranges]
k = "3..60"
"""


def begun(folder: Path, jobs: int) -> Any:
    """Begin a run; one without workers in a fork of this process, which has imported everything."""
    if jobs == 1 and hasattr(os, "fork"):
        names = folder / "small.study.toml", folder / "s.db"
        process = multiprocessing.get_context("fork").Process(target=obliv.study.run, args=names, kwargs={"jobs": 1})
        process.start()
        return process
    return command(folder, jobs)


def command(folder: Path, jobs: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "obliv", "study", "run", "small.study.toml", "--store", "s.db", "-j", str(jobs)]
    return subprocess.Popen(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # it is ignored in the background of a script
    )


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(word) for word in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True).stdout.split()]


def ended(run: Any) -> bool:
    return run.poll() is not None if isinstance(run, subprocess.Popen) else not run.is_alive()


def status_of(run: Any) -> int | None:
    """Wait for a run and return its exit status."""
    if isinstance(run, subprocess.Popen):
        run.communicate()
        return run.returncode
    run.join()
    return int(run.exitcode)


def at_work(store: Path, run: Any, done: int) -> None:
    """Wait until more cells than `done` are finished, or the run has ended."""
    while not ended(run):
        if store.exists() and store.stat().st_size:
            db = sqlite3.connect(store, timeout=60)
            try:
                if db.execute("SELECT count(*) FROM cells WHERE status = 'done'").fetchone()[0] > done:
                    return
            except sqlite3.OperationalError:  # the tables are being made
                pass
            finally:
                db.close()
        time.sleep(0.01)


def finished_rows(store: Path) -> dict[str, bytes]:
    """The finished rows, which must all be whole."""
    if not store.exists() or not store.stat().st_size:
        return {}
    db = sqlite3.connect(store)
    try:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return {}
        rows = db.execute("SELECT key, result FROM cells WHERE status = 'done'").fetchall()
        assert len({key for key, _ in rows}) == len(rows)
        return dict(rows)
    finally:
        db.close()


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # of a fork
@pytest.mark.parametrize(
    ("jobs", "processes", "moments"), [(1, 1, 50), (1, 2, 50), (2, 1, 50)], ids=["serial", "two runs", "pool"]
)
def test_kill_at_random_moments(jobs: int, processes: int, moments: int, tmp_path: Path) -> None:
    """No finished row is lost or computed again, none is half written, and no worker outlives its run."""
    file = written(tmp_path, TEXT)
    obliv.study.run(file, tmp_path / "whole.db", jobs=1)
    store, chance, before = tmp_path / "s.db", random.Random(jobs + 10 * processes), dict[str, bytes]()
    killed = 0
    for moment in range(moments):
        runs = [begun(tmp_path, jobs) for _ in range(processes)]
        if moment % 5 if jobs > 1 else moment % 10 == 9:  # a busy machine would get nowhere
            at_work(store, runs[0], len(before))
        time.sleep(chance.uniform(0.0, 0.8))
        workers = [pid for run in runs for pid in children(run.pid)]
        for run in runs:
            killed += not ended(run)
            with suppress(ProcessLookupError):
                os.kill(run.pid, signal.SIGKILL)
            status_of(run)
        while any(Path(f"/proc/{pid}/stat").exists() for pid in workers):  # they end by themselves
            time.sleep(0.1)
        after = finished_rows(store)
        assert after.items() >= before.items()
        before = after
    assert before
    assert killed > moments * processes // 2
    for run in [begun(tmp_path, jobs) for _ in range(processes)]:
        assert status_of(run) == 0
    assert finished_rows(store).items() >= before.items()
    for form in ("csv", "json"):
        assert obliv.study.export(store, form) == obliv.study.export(tmp_path / "whole.db", form)
    assert obliv.study.verify(store).proved


@pytest.mark.nightly
def test_workers_killed_at_random_moments(tmp_path: Path) -> None:
    """A run whose workers are killed now and then finishes all cells."""
    file = written(tmp_path, TEXT)
    obliv.study.run(file, tmp_path / "whole.db", jobs=1)
    store, kills = tmp_path / "s.db", 0
    run = command(tmp_path, 2)
    while kills < 5 and not ended(run):
        at_work(store, run, len(finished_rows(store)) + 20)
        worker = subprocess.run(["pgrep", "-P", str(run.pid), "-f", "spawn_main"], capture_output=True, text=True)
        for number in worker.stdout.split()[:1]:
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
                kills += 1
    assert kills
    run.communicate()
    assert not run.returncode
    assert obliv.study.export(tmp_path / "s.db") == obliv.study.export(tmp_path / "whole.db")


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_at_random_moments(jobs: int, tmp_path: Path) -> None:
    """The status is 130 in a moment, and what is finished is kept."""
    written(tmp_path, TEXT)
    chance, before, interrupted = random.Random(jobs), dict[str, bytes](), 0
    for _ in range(5):
        run = command(tmp_path, jobs)
        at_work(tmp_path / "s.db", run, len(before))
        time.sleep(chance.uniform(0.0, 1.0))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=300)  # a moment, but for a busy machine
        assert "Traceback" not in out + err
        if run.returncode == 130:
            interrupted += 1
            assert "interrupted" in err
        else:
            assert run.returncode == 0, err
        after = finished_rows(tmp_path / "s.db")
        assert after.items() >= before.items()
        before = after
    assert interrupted
