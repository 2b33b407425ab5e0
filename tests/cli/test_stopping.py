"""Interrupted and killed commands, a full disk, and processes that share an empty cache of kernels."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli import killing, stopping

import obliv
from obliv import cli
from obliv._util.files import digest_of, read_json
from obliv.cli import main
from obliv.errors import Interrupted, extra

#: Writes two results in turn under one name, again and again.
WRITER = """
import sys
from obliv._util.files import digest_of, write_json

contents = []
for number in (1, 2):
    content = {"kind": "test", "number": number, "rows": list(range(200_000)), "certificate": {}}
    content["certificate"]["digest"] = digest_of(content)
    contents.append(content)
print("ready", flush=True)
while True:
    for content in contents:
        write_json(content, sys.argv[1])
        print("written", flush=True)
"""


def killed(path: Path, moments: int, seed: int) -> Iterator[bool]:
    """Kill a process that writes a file at random moments; yield whether the file is whole or, at first, absent.

    Moments are shares of the time of one write, whatever this is: every other one while the first file is written, the
    others while it is replaced.
    """
    chance = random.Random(seed)
    took = 0.1
    for number in range(moments):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        replaced = number % 2 == 0
        if replaced:
            began = time.perf_counter()
            assert process.stdout.readline() == "written\n"
            took = time.perf_counter() - began
        time.sleep(chance.uniform(0.0, 2.0 if replaced else 1.0) * took)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if path.exists():
            content = read_json(path)
            yield content["certificate"]["digest"] == digest_of(content)
        else:
            yield not replaced


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["result.json.gz", "result.json"])
@pytest.mark.parametrize("moments", [2, pytest.param(50, marks=pytest.mark.nightly)])
def test_a_killed_process_leaves_no_half_file(name: str, moments: int, tmp_path: Path) -> None:
    seen = list(killed(tmp_path / name, moments, 1))
    assert all(seen)
    assert len(seen) == moments


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore")  # of a fork
@pytest.mark.parametrize("name", killing.WRITERS)
def test_killed_writers_leave_old_files_or_new_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is half written, and no set of files is mixed; nothing else is left but drafts."""
    monkeypatch.chdir(tmp_path)
    killing.prepare(tmp_path)
    wrong, kills, _, missing = killing.faults(name, tmp_path, 50)
    assert not wrong
    assert kills > 25
    assert missing < 20


@pytest.mark.nightly
@pytest.mark.parametrize("verb", stopping.LONG)
def test_ctrl_c_at_fifty_moments(verb: str, tmp_path: Path) -> None:
    """The status is 130 within a second of processor time, without a traceback; all output files are there, or none."""
    stopping.prepare(tmp_path)
    wrong, ends = stopping.faults(stopping.LONG[verb], tmp_path, 50)
    assert not wrong
    assert sum(end.status == 130 for end in ends) > 10


FULL = {
    "worst": ["worst", "mesh:3x3", "dor", "--output"],
    "gzip": ["worst", "mesh:4x4", "dor", "--output"],
    "throughput": ["throughput", "mesh:3x3", "dor", "uniform", "--output"],
    "average": ["average", "mesh:3x3", "dor", "--samples", "50", "--output"],
    "ratio": ["ratio", "fattree:4,2", "dmodk", "--output"],
    "compare": ["compare", "mesh:3x3", "dor", "romm", "--output"],
    "deadlock": ["deadlock", "mesh:3x3", "dor", "--output"],
    "bufferless": ["bufferless", "butterfly:3", "--algorithm", "direct", "--output"],
    "fabric generate": ["fabric", "generate", "fattree:4,2", "-o"],
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", FULL)
def test_a_full_disk_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FULL[name], "/dev/full"]) == 2
    out, err = capsys.readouterr()
    assert err.strip().splitlines()[-1] == "obliv: /dev/full: cannot be written: No space left on device"
    assert "Traceback" not in out + err
    assert bool(out) == (name != "fabric generate")  # what was computed is not lost


PICTURES = {
    "worst": "worst mesh:3x3 dor --plot full.svg",
    "compare": "compare mesh:3x3 dor romm --plot full.svg",
    "average": "average mesh:3x3 dor --samples 50 --plot full.svg",
    "deadlock": "deadlock torus:3x3 dor --plot full.svg",
    "fabric worst": "fabric worst fabric.net --lft fabric.lfts --plot full.svg",
    "fabric job": "fabric job fabric.net --lft fabric.lfts --hosts hosts.txt --pattern ring --plot full.svg",
    "order": "fabric job fabric.net --lft fabric.lfts --hosts hosts.txt --pattern ring --order full.svg",
    "junit": "fabric check fabric.net --lft fabric.lfts --junit full.svg -o new.json",
    "sarif": "fabric check fabric.net --lft fabric.lfts --junit new.xml --sarif full.svg",
    "failures": "failures ring:4 ecmp --plot full.svg",
    "fabric failures": "fabric failures fabric.net --lft fabric.lfts --plot full.svg",
    "collisions": "collisions fattree:4,2 shift:2 --flows 2 --plot full.svg",
    "bufferless": "bufferless butterfly:3 --plot full.svg",
    "bounds": "bounds mesh:3x3 --plot full.svg",
    "ratio": "ratio torus:3x3 dor --plot full.svg",
    "traffic ratio": "ratio torus:3x3 dor --traffic transpose --traffic uniform --traffic tornado --plot full.svg",
}
_BY_DAY = ("junit", "bounds")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "name", [name if name in _BY_DAY else pytest.param(name, marks=pytest.mark.nightly) for name in PICTURES]
)
def test_an_answer_outlives_its_pictures_and_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a file about a result cannot be written, the answer is printed before the error."""
    monkeypatch.chdir(tmp_path)
    Path("full.svg").symlink_to("/dev/full")
    Path("hosts.txt").write_text("host(0,0)\nhost(1,0)\nhost(0,1)\nhost(2,0)\n")
    tree = ["fabric", "generate", "fattree:4,2", "-o", "fabric.net"]
    assert main([*tree, "--routing", "dmodk", "--tables", "fabric.lfts"]) == 0
    before = set(tmp_path.iterdir())
    capsys.readouterr()
    assert main(PICTURES[name].split()) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) > 3
    assert err == "obliv: full.svg: cannot be written: No space left on device\n"
    assert set(tmp_path.iterdir()) == before


SEVERAL = {
    "fabric generate": "fabric generate fattree:4,2 -o new.net --routing dmodk --tables /dev/full",
    "groups": "fabric generate fattree:4,2 -o new.net --adaptive updn --far /dev/full",
    "fabric route": "fabric route old.net --engine dmodk -o new.lfts --net /dev/full",
    "levels": "fabric route old.net --engine layered --lanes 2 -o new.lfts --policy new.conf --psl /dev/full",
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", [*list(SEVERAL)[:3], pytest.param("levels", marks=pytest.mark.nightly)])
def test_of_several_files_all_are_written_or_none(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if "old.net" in SEVERAL[name]:
        network = "torus:5x5" if name == "levels" else "fattree:4,2"  # on the torus, the policy is needed
        assert main(["fabric", "generate", network, "-o", "old.net"]) == 0
    before = set(tmp_path.iterdir())
    capsys.readouterr()
    assert main(SEVERAL[name].split()) == 2
    assert capsys.readouterr().err == "obliv: /dev/full: cannot be written: No space left on device\n"
    assert set(tmp_path.iterdir()) == before


@pytest.mark.sampled(2)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("form", ["table", "json"])
def test_standard_output_on_a_full_disk(form: str) -> None:
    words = ["worst", "mesh:3x3", "dor", "--format", form]
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "obliv", *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert stopping.messages(done.stderr) == "obliv: the answer cannot be written: No space left on device\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["claim.json", "claim.json.gz"])
def test_a_disk_that_fills_while_a_result_is_written(name: str, tmp_path: Path) -> None:
    """Files may grow to one kilobyte: the old result stays, no draft is left."""
    (tmp_path / name).write_text("old")

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run(
        [sys.executable, "-B", "-m", "obliv", "worst", "mesh:8x8", "romm", "--output", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    assert done.returncode == 2
    assert stopping.messages(done.stderr) == f"obliv: {name}: cannot be written: File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.mark.nightly
def test_four_processes_on_one_empty_cache(tmp_path: Path) -> None:
    words = ["worst", "random-regular:n=300,d=4,seed=1", "ecmp", "--format", "json"]
    space = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "obliv", *words],
            env=space,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert (process.returncode, stopping.messages(err)) == (0, "")
        answers.append(json.loads(out) | {"provenance": None})
    assert all(answer == answers[0] for answer in answers)
    assert list(tmp_path.rglob("*.nbc"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_finished_part_that_cannot_be_saved_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = obliv.compare("mesh:2x2", "dor")

    def compare(*_: object, **__: object) -> None:
        raise Interrupted("after 1 of 2 rows", part)

    monkeypatch.setattr("obliv.compare", compare)
    assert main(["compare", "mesh:2x2", "dor", "romm", "-o", "/dev/full"]) == 130
    out, err = capsys.readouterr()
    assert "dor" in out
    assert err == "\nobliv: interrupted after 1 of 2 rows; /dev/full: cannot be written: No space left on device\n"


def test_an_interrupt_that_python_discards_comes_again() -> None:
    """An interrupt in a callback of the garbage collector is printed and lost, without a hook; it ends waiting, too."""
    code = """
import _thread, signal, time

start = _thread.start_new_thread

def slowly(*arguments):  # as on a busy machine, where the new thread runs first
    start(*arguments)
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end:
        pass

_thread.start_new_thread = slowly
from obliv import cli

class Interrupted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def work(**options):
    part = Interrupted()
    del part
    time.sleep(60)
    return 0

signal.signal(signal.SIGINT, signal.default_int_handler)
cli.main = work
cli.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (130, "")


def test_a_thread_of_a_solver_does_not_abort_an_interrupted_command() -> None:
    """The process ends at once, with what was printed, while a thread still works."""
    code = """
import sys, threading, time
from obliv import cli

def work(**options):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    print("an answer")
    return 130

cli.main = work
cli.run()
"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (130, "an answer\n")


def test_an_interrupt_while_a_class_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def verb(*arguments: object, **options: object) -> None:
        type("Made", (), {"part": Named()})

    monkeypatch.setattr("obliv.cli.app.command", lambda: verb)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "\nobliv: interrupted; no partial file was written\n"


def test_an_interrupted_command_frees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in memory of a report takes a second to free."""
    ends: list[int] = []
    monkeypatch.setattr(cli, "main", lambda **_: 130)
    monkeypatch.setattr(os, "_exit", ends.append)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit):
            cli.run()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert ends == [130]


def test_an_interrupt_that_a_library_loses(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A compiler whose callback is interrupted reports that there is no compiled object, at once."""

    class Freed:
        def __del__(self) -> None:  # whose exceptions Python discards, as it does those of a compiler's callbacks
            signal.raise_signal(signal.SIGINT)

    def verb(*arguments: object, **options: object) -> None:
        freed = Freed()
        del freed
        raise RuntimeError("no compiled object yet")

    ends: list[int] = []
    late = threading.Event()
    monkeypatch.setattr("obliv.cli.app.command", lambda: verb)
    monkeypatch.setattr(cli, "_interrupt_main", lambda _: late.set())  # the interrupt that is sent again comes too late
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(sys, "argv", ["obliv", "list"])
    monkeypatch.setattr(os, "_exit", ends.append)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit):
            cli.run()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert late.wait(60)
    assert ends == [130]
    assert capsys.readouterr().err == "\nobliv: interrupted; no partial file was written\n"


@pytest.mark.parametrize("last", [TypeError("the type of a must be defined"), extra("highspy", "design")])
@pytest.mark.parametrize(("first", "status"), [(KeyboardInterrupt, 130), (OSError, 2)])
def test_an_error_that_an_interrupt_led_to_is_an_interrupt(
    first: type[BaseException],
    status: int,
    last: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A compiler that is interrupted reports an error of its own; a library, that it cannot be imported."""

    def worst_case(*_: object, **__: object) -> None:
        try:
            raise first
        except BaseException:
            raise last from None

    monkeypatch.setattr("obliv.questions.worst_case.worst_case", worst_case)
    assert main(["worst", "mesh:3x3", "dor"]) == status
    assert ("interrupted" in capsys.readouterr().err) == (status == 130)
