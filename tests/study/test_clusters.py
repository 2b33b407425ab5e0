"""Executors of other packages, where they are installed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.study.files import SMALL, written

import obliv
from obliv.cli import main


def test_extras_that_are_missing_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", str(written(tmp_path)), "--store", str(tmp_path / "s.db")]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("distributed", "mpi4py"):
            patch.setitem(sys.modules, name, None)
        assert main([*words, "--dask", "local"]) == 2
        assert main([*words, "--mpi"]) == 2
    assert main([*words, "--mpi", "--dask", "local"]) == 2
    err = capsys.readouterr().err
    assert "pip install 'obliv[dask]'" in err
    assert "pip install 'obliv[mpi]'" in err
    assert "choose one" in err


@pytest.mark.parametrize(
    "error",
    [
        "ImportError('libmpi.so.40: cannot open shared object file')",
        "RuntimeError('cannot load MPI library')",
    ],
)
def test_a_library_of_mpi_that_is_missing_is_named(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """This is not to be mended by installing mpi4py, which is there."""
    package = tmp_path / "mpi4py"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "MPI.py").write_text(f"raise {error}", encoding="utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["study", "run", str(written(tmp_path)), "--store", str(tmp_path / "s.db"), "--mpi"]) == 2
    line = capsys.readouterr().err
    assert "mpi4py is installed, but a library of MPI is not: install one" in line
    assert "openmpi" in line
    assert "obliv[mpi]" not in line
    for name in [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]:
        monkeypatch.delitem(sys.modules, name)


def test_dask_logs_nothing_where_all_goes_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stand-in for Dask, which warns whenever it can."""
    log, chosen = logging.getLogger("distributed.client"), {}

    class Cluster(SimpleNamespace):
        def __init__(self, **options: Any) -> None:
            chosen.update(options)

        def close(self) -> None:
            log.warning("a worker was closed")

    class Client(SimpleNamespace):
        def __init__(self, *_: Any, **__: Any) -> None:
            log.error("Failed to reconnect to scheduler after 30.00 seconds, closing client")

        def wait_for_workers(self, *_: Any, **__: Any) -> None:
            log.warning("no workers found")

        def get_executor(self, **_: Any) -> Any:
            return ThreadPoolExecutor(1)

        def nthreads(self) -> dict[str, int]:
            return {"one": 1}

        def close(self) -> None:
            log.warning("closing")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=Client, LocalCluster=Cluster))
    words = ["study", "run", str(written(tmp_path)), "--store", str(tmp_path / "s.db"), "--dask", "local"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    assert chosen["silence_logs"] == logging.CRITICAL
    assert log.isEnabledFor(logging.WARNING)  # afterwards it is as it was


@pytest.mark.nightly
def test_a_scheduler_that_does_not_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    words = ["study", "run", str(written(tmp_path)), "--store", str(tmp_path / "s.db"), "--dask", "tcp://127.0.0.1:9"]
    assert main(words) == 2
    assert "the scheduler tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err


@pytest.mark.nightly
def test_dask_with_three_workers_of_which_one_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    file = written(tmp_path, SMALL.replace("3..5", "3..30"))
    obliv.study.run(file, tmp_path / "whole.db", jobs=1)
    words = [sys.executable, "-m", "obliv", "study", "run", str(file), "--store", "s.db", "--dask", "local", "-j", "3"]
    run = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    killed = False
    while run.poll() is None and not killed:
        time.sleep(0.2)
        if (tmp_path / "s.db").exists() and (tmp_path / "s.db").stat().st_size and done(tmp_path / "s.db") > 5:
            children = subprocess.run(["pgrep", "-P", str(run.pid), "-f", "spawn_main"], capture_output=True, text=True)
            os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
            killed = True
    out, err = run.communicate()
    assert killed
    assert run.returncode == 0, out + err
    assert obliv.study.export(tmp_path / "s.db") == obliv.study.export(tmp_path / "whole.db")


def done(store: Path) -> int:
    try:
        return obliv.study.show(store).done
    except obliv.OblivError:  # the tables are being made
        return 0


@pytest.mark.nightly
def test_mpi_with_four_ranks(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    file = written(tmp_path)
    obliv.study.run(file, tmp_path / "whole.db", jobs=1)
    ranks = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "4", sys.executable]
    words = ["-m", "obliv", "study", "run", str(file), "--store", "s.db", "--mpi"]
    # Without what MPI adds to the variables of a process that loads it: mpiexec fails with them, and says nothing.
    options: Any = {"cwd": tmp_path, "env": dict(os.environ), "capture_output": True, "text": True}
    run = subprocess.run([*ranks, *words], check=False, **options)
    assert run.returncode == 2, run
    assert "do not work together: start them with mpiexec" in run.stderr
    assert not (tmp_path / "s.db").exists()
    run = subprocess.run([*ranks, "-m", "mpi4py.futures", *words], check=False, **options)
    assert run.returncode == 0, run.stderr
    assert obliv.study.export(tmp_path / "s.db") == obliv.study.export(tmp_path / "whole.db")


@pytest.mark.nightly
def test_a_scheduler_without_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("obliv._util.executors._PATIENCE", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=False, protocol="tcp") as cluster:
        address = cluster.scheduler_address
        words = ["study", "run", str(written(tmp_path)), "--store", str(tmp_path / "s.db"), "--dask", address]
        assert main(words) == 2
    assert "has no workers: start some" in capsys.readouterr().err
