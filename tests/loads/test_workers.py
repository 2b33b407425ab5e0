"""Channels solved by workers: the outcome is that of one process, to the bit."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv._util.executors import Serial
from obliv.cli import main
from obliv.errors import OblivError, RoutingError
from obliv.loads import separable, workers
from obliv.loads.base import PairLoads
from obliv.loads.separable import SeparableLoads
from obliv.loads.workers import WorkerCalls

SUBJECTS = [
    ("mesh:6x5", "romm"),  # in closed form, by transports
    ("mesh:5x5,injection=1/2,ejection=2/3", "romm"),
    ("random-regular:n=12,d=3,seed=1", "ecmp"),  # stored, many channels a call
    ("mesh:4x3,bandwidth=1x1/2,injection=1/2", "ecmp"),  # stored, one by one
    ("random-regular:n=10,d=3,seed=1", "valiant"),
    ("random-regular:n=10,d=3,seed=1", "raecke:trees=2"),
    ("random-regular:n=10,d=3,seed=1", "1/2*ecmp+1/2*valiant"),
    ("fattree:4,3", "kpath:2"),
]


class Unruly(Executor):
    """A thread in place of processes: what goes in and out is pickled, the order is random, some calls are lost.

    It forgets what it was sent as often as another process would not know it.
    """

    def __init__(self, seed: int, deaths: int = 4) -> None:
        self.num_workers = 3
        self.calls = self.lost = 0
        self._random, self._deaths = random.Random(seed), deaths
        self._waiting: list[tuple[Future[Any], bytes]] = []
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._changed:
            self._waiting.append((future, pickle.dumps((fn, args))))
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._changed:
            self._waiting.append((Future(), b""))
            self._changed.notify()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                future, text = self._waiting.pop(self._random.randrange(len(self._waiting)))
            if not text:
                return
            if not future.set_running_or_notify_cancel():
                continue
            self.calls += 1
            if self._deaths and self.calls % self._deaths == 0:
                self.lost += 1
                future.set_exception(BrokenExecutor("a worker died"))
                continue
            if self._random.random() < 0.3:
                workers._RECEIVED.clear()
            fn, args = pickle.loads(text)
            future.set_result(pickle.loads(pickle.dumps(fn(*args))))


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small work goes to workers too."""
    monkeypatch.setattr(workers, "_ALONE", 0.0)
    yield
    workers._RECEIVED.clear()


def same(one: Any, two: Any) -> None:
    assert one == two
    assert one.focus_channels == two.focus_channels
    for key in one.certificate or {}:
        if key != "digest":  # which covers the wall time
            assert pickle.dumps(one.certificate[key]) == pickle.dumps(two.certificate[key])


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("network", "routing"), SUBJECTS)
@pytest.mark.parametrize("certificate", [False, True])
def test_the_result_is_that_of_one_process(
    monkeypatch: pytest.MonkeyPatch, network: str, routing: str, certificate: bool
) -> None:
    monkeypatch.setattr(separable, "_MANY", -1)
    subject = obliv.routing(routing, obliv.topology(network))
    alone = obliv.worst_case(subject, symmetry="off", certificate=certificate)
    with Unruly(1) as unruly, ThreadPoolExecutor(3) as threads:
        for executor in (unruly, threads, Serial()):
            same(alone, obliv.worst_case(subject, symmetry="off", certificate=certificate, executor=executor))
        stored = "random-regular:n=12" in network
        assert (unruly.calls > 0) != stored  # how many depends on how fast the first ones were


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(3))
def test_every_channel_of_workers_is_that_of_one_process(seed: int) -> None:
    with Unruly(seed, deaths=2) as unruly:
        result = obliv.worst_channels("mesh:5x4", "romm", symmetry="off", executor=unruly)
        assert result == obliv.worst_channels("mesh:5x4", "romm", symmetry="off")
        assert unruly.lost  # how many depends on how fast the first ones were


def test_the_loads_are_sent_once_for_each_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    submit = ThreadPoolExecutor.submit

    def counted(self: ThreadPoolExecutor, fn: Any, /, *args: Any) -> Future[Any]:
        sent.append(len(args[1]))
        return submit(self, fn, *args)

    class Processes(Unruly):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            sent.append(len(args[1]))
            return super().submit(fn, *args, **kwargs)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    subject = obliv.routing("romm", obliv.mesh(6, 6))
    with ThreadPoolExecutor(2) as threads:
        obliv.worst_case(subject, certificate=True, executor=threads)
    assert sent
    assert not any(sent)  # threads share them
    sent.clear()
    with Processes(0, deaths=0) as unruly:
        obliv.worst_case(subject, symmetry="off", certificate=True, executor=unruly)
    assert len(sent) > 10
    assert sum(map(bool, sent[:3])) == 3


class Broken(Executor):
    """An executor all of whose workers die."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor())
        return future


class Closed(Executor):
    """An executor that takes no work."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


def test_workers_that_cannot_begin() -> None:
    with pytest.raises(OblivError, match="if __name__ == '__main__'"):
        obliv.worst_case("mesh:5x5", "romm", executor=Broken())
    heard: list[str] = []
    alone = obliv.worst_case("mesh:5x5", "romm")
    assert alone == obliv.worst_case(
        "mesh:5x5", "romm", executor=Closed(), progress=lambda what, share: heard.append(what)
    )
    assert "the work is done without workers: they take no more work (cannot schedule" in "".join(heard)


class Unpicklable(PairLoads):
    """Pair loads that no other process can have."""

    def __init__(self) -> None:
        self.inner = obliv.routing("romm", obliv.mesh(4, 4)).pair_loads()
        self.topology, self.denominator = self.inner.topology, self.inner.denominator
        self.secret = lambda: 1

    def weights(self, channel: int) -> Any:
        return self.inner.weights(channel)


def test_loads_that_cannot_be_sent() -> None:
    heard: list[str] = []
    with Unruly(0) as unruly:
        result = obliv.worst_case(Unpicklable(), executor=unruly, progress=lambda what, share: heard.append(what))
        assert unruly.calls == 0
    assert result.channel_load == obliv.worst_case("mesh:4x4", "romm").channel_load
    assert "without workers" in "".join(heard)


def test_too_little_memory_for_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    with Unruly(0) as unruly:
        monkeypatch.setattr(workers, "free_memory", lambda: 2.5 * 2**28 / 0.9)
        calls = WorkerCalls(None, unruly)
        calls.memory(0.0)
        assert calls.width == 2
        monkeypatch.setattr(workers, "free_memory", lambda: 1.5 * 2**28)
        obliv.worst_case("mesh:5x5", "romm", executor=unruly, progress=lambda what, share: heard.append(what))
        assert unruly.calls == 0
    assert "no room for 3 copies" in "".join(heard)


def _refused(self: SeparableLoads, channel: int, rates: Any) -> Any:
    raise RoutingError("this channel cannot be solved")


def test_errors_are_those_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SeparableLoads, "solve", _refused)
    with Unruly(0) as unruly, pytest.raises(RoutingError, match="this channel cannot be solved"):
        obliv.worst_case("mesh:5x5", "romm", executor=unruly)


def test_the_command_takes_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("obliv._util.executors.processes", lambda jobs: Unruly(jobs))
    for words in (["-j", "1"], ["-j", "3"]):
        assert main(["worst", "mesh:5x5", "romm", *words, "-o", str(tmp_path / f"{words[1]}.json")]) == 0
    assert obliv.load(tmp_path / "1.json") == obliv.load(tmp_path / "3.json")
    capsys.readouterr()
    assert main(["worst", "mesh:5x5", "romm", "--mpi", "--dask", "local"]) == 2
    assert "choose one" in capsys.readouterr().err
    assert main(["worst", "mesh:5x5", "romm", "-j", "0"]) == 2


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "obliv", "worst", "mesh:27x27", "romm", "--format", "json", "--certificate", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # it is ignored in the background of a script
    )


def workers_of(run: subprocess.Popen[str], count: int) -> list[int]:
    """Wait for a run's workers and return them."""
    while run.poll() is None:
        found = subprocess.run(["pgrep", "-P", str(run.pid), "-f", "spawn_main"], capture_output=True, text=True)
        if len(found.stdout.split()) == count:
            return list(map(int, found.stdout.split()))
        time.sleep(0.05)
    raise AssertionError(run.communicate())


def gone(workers: list[int]) -> None:
    """Wait until processes have ended by themselves."""
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/stat").exists() for pid in workers):
        assert time.monotonic() < end
        time.sleep(0.1)


def claim_of(text: str) -> dict[str, Any]:
    claim: dict[str, Any] = json.loads(text)
    del claim["provenance"], claim["certificate"]["digest"]
    return claim


@pytest.mark.nightly
def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    alone, _ = command(tmp_path).communicate()
    run = command(tmp_path, "-j", "2")
    workers = workers_of(run, 2)
    time.sleep(2)  # most of the work is still to be done
    os.kill(workers[0], signal.SIGKILL)
    out, err = run.communicate()
    assert run.returncode == 0, err
    assert claim_of(out) == claim_of(alone)
    gone(workers)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command(tmp_path: Path, number: signal.Signals) -> None:
    run = command(tmp_path, "-j", "2")
    workers = workers_of(run, 2)
    time.sleep(1)
    run.send_signal(number)
    _, err = run.communicate(timeout=60)
    assert run.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in err
    gone(workers)


@pytest.mark.nightly
def test_dask_and_mpi(tmp_path: Path) -> None:
    alone, _ = command(tmp_path).communicate()
    pytest.importorskip("distributed")
    out, err = command(tmp_path, "--dask", "local", "-j", "2").communicate()
    assert claim_of(out) == claim_of(alone), err
    pytest.importorskip("mpi4py")
    start = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    words = ["worst", "mesh:27x27", "romm", "--format", "json", "--certificate", "--mpi"]
    run = subprocess.run([*start, "-m", "obliv", *words], cwd=tmp_path, capture_output=True, text=True)
    assert claim_of(run.stdout) == claim_of(alone), run.stderr
