"""Runs of studies: nothing is computed twice or lost, whoever computes it and whatever ends it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.cli.stopping import messages
from tests.study.files import written

import obliv
from obliv._util.executors import Processes, Serial
from obliv.cli import main
from obliv.designs import pareto as two_turns
from obliv.errors import FileError, Interrupted
from obliv.questions import subject
from obliv.study import running as compute
from obliv.study.store import _host, opened


def tables(store: Path) -> tuple[str, str]:
    """Both exports, byte for byte."""
    return obliv.study.export(store), obliv.study.export(store, "json")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an undisturbed run."""
    folder = tmp_path_factory.mktemp("finished")
    run = obliv.study.run(written(folder), folder / "store.db", jobs=1)
    assert (run.cells, run.done, run.computed, run.found, run.left) == (30, 30, 30, 0, 0)
    return folder / "store.db"


def test_finished_cells_are_not_computed_again(finished: Path, tmp_path: Path) -> None:
    before = tables(finished)
    run = obliv.study.run(written(tmp_path), finished, executor=Refusing())
    assert (run.done, run.computed, run.found) == (30, 0, 30)
    assert tables(finished) == before


def test_the_table(finished: Path) -> None:
    study = obliv.study.show(finished)
    assert (study.done, study.failed, len(study.entries)) == (30, 0, 30)
    row = next(row for row in study.rows() if (row["topology"], row["routing"]) == ("ring:5", "valiant"))
    assert row["hops"] == obliv.locality("ring:5", "valiant").hops
    assert row["tornado"] == obliv.throughput("ring:5", "valiant", "tornado").patterns[0].throughput
    assert row["average seed=1"] == obliv.average_case("ring:5", "valiant", samples=20, rng=1).throughput
    assert study._repr_html_().count("<tr>") == 1 + 6
    assert type(study).from_dict(json.loads(json.dumps(study.to_dict()))) == study


class Refusing(Executor):
    """Computes nothing."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise AssertionError("a finished cell is computed again")


class Dying(Executor):
    """Processes whose worker dies with each call that has a cell for the `times`-th time at most."""

    def __init__(self, topology: str, times: int) -> None:
        self._max_workers = 2
        self._topology, self._times = topology, times

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._times and any(cell.topology == self._topology for cell in args[0]):
            self._times -= 1
            future: Future[Any] = Future()
            future.set_exception(BrokenExecutor("a worker died"))
            return future
        return Serial().submit(fn, *args, **kwargs)


def test_threads_give_the_same_table(finished: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        obliv.study.run(written(tmp_path), tmp_path / "store.db", executor=pool)
    assert tables(tmp_path / "store.db") == tables(finished)
    assert obliv.study.diff(tmp_path / "store.db", finished).equal


def test_a_worker_that_dies_costs_its_cells_time(finished: Path, tmp_path: Path) -> None:
    run = obliv.study.run(written(tmp_path), tmp_path / "store.db", executor=Dying("ring:4", 1))
    assert (run.done, run.failed) == (30, ())
    assert tables(tmp_path / "store.db") == tables(finished)


def test_cells_whose_worker_dies_again_fail_with_the_reason(finished: Path, tmp_path: Path) -> None:
    file, store = written(tmp_path), tmp_path / "store.db"
    run = obliv.study.run(file, store, executor=Dying("ring:4", 10**6))
    assert {cell.topology for cell in run.failed} == {"ring:4"}
    assert (run.done, len(run.failed)) == (20, 10)
    assert "died three times" in run.failed[0].reason
    assert "- hops: dor on ring:4 and 9 more cells: its process died three times" in repr(obliv.study.show(store))
    again = obliv.study.run(file, store, executor=Refusing())
    assert again.failed == run.failed
    assert obliv.study.run(file, store, jobs=1, retry_failed=True).done == 30
    assert tables(store) == tables(finished)


def test_workers_that_die_at_once_are_not_the_fault_of_cells(tmp_path: Path) -> None:
    text = 'topologies = ["ring:4"]\nroutings = ["dor", "valiant"]\nmeasures = ["hops"]'
    with pytest.raises(obliv.OblivError, match="die as soon as they begin"):
        obliv.study.run(written(tmp_path, text), tmp_path / "store.db", executor=Dying("ring:4", 10**6))
    assert {row.status for row in obliv.study.show(tmp_path / "store.db").entries} == {"pending"}


def test_a_second_run_on_a_store_is_refused(tmp_path: Path) -> None:
    file, store = written(tmp_path), tmp_path / "store.db"

    class Curious(Serial):
        heard = ""

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if not self.heard:
                with pytest.raises(FileError) as caught:
                    obliv.study.run(file, store, jobs=1)
                self.heard = str(caught.value)
            return super().submit(fn, *args, **kwargs)

    first = Curious()
    assert obliv.study.run(file, store, executor=first).computed == 30
    assert f"process {os.getpid()} on " in first.heard
    assert "wait for its end, or use another store" in first.heard
    with opened(store, write=True) as db, db._writing() as rows:  # a run whose process is gone, one elsewhere
        rows.execute("INSERT INTO runs (host, process, beat) VALUES (?, '999999:1', ?)", (_host(), time.time()))
        rows.execute("INSERT INTO runs (host, process, beat) VALUES ('elsewhere', '1:1', ?)", (time.time() - 100,))
    assert obliv.study.run(file, store, jobs=1).done == 30


def test_an_interrupt_keeps_what_is_finished(finished: Path, tmp_path: Path) -> None:
    file, store = written(tmp_path), tmp_path / "store.db"

    class Stopping(Serial):
        calls = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.calls += 1
            if self.calls == 8:
                raise KeyboardInterrupt
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(Interrupted) as caught:
        obliv.study.run(file, store, executor=Stopping())
    assert caught.value.so_far.done == obliv.study.show(store).done == 7
    assert caught.value.so_far.left == 23
    assert obliv.study.run(file, store, jobs=1).computed == 23
    assert tables(store) == tables(finished)


def test_too_little_memory_beside_others_is_tried_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[str]] = []
    true = compute.compute

    def computed(cells: Any, imports: Any, progress: Any) -> Any:
        names = [cell.topology for cell in cells]
        short = "ring:4" in names and not any("ring:4" in call for call in tried)
        tried.append(names)
        outcomes = true(cells, imports)
        return [outcome._replace(reason="no", retry=True) if short else outcome for outcome in outcomes]

    monkeypatch.setattr("obliv.study.running.compute", computed)
    text = 'topologies = ["ring:4", "ring:5", "ring:6"]\nroutings = ["dor"]\nmeasures = ["hops"]'
    with ThreadPoolExecutor(2) as pool:
        run = obliv.study.run(written(tmp_path, text), tmp_path / "store.db", executor=pool)
    assert run.done == 3
    assert tried[-1] == ["ring:4"]


def test_the_progress_of_a_cell_has_its_name(tmp_path: Path) -> None:
    text = 'topologies = ["mesh:12x12"]\nroutings = ["dor"]\nmeasures = ["worst", "hops"]'
    heard: list[tuple[str, float]] = []
    file, store = written(tmp_path, text), tmp_path / "store.db"
    obliv.study.run(file, store, jobs=1, progress=lambda what, share: heard.append((what, share)))
    own = [share for what, share in heard if what.startswith("mesh:12x12 dor worst: ")]
    assert own
    assert max(own) <= 0.5


def test_impossible_cells_are_refused_or_left_out(tmp_path: Path) -> None:
    text = 'topologies = ["ring:4", "mesh:3x3"]\nroutings = ["dor", "xyx"]\nmeasures = ["hops"]'
    file, store = written(tmp_path, text), tmp_path / "store.db"
    with pytest.raises(obliv.FileError, match="1 of 4 cells cannot be computed") as caught:
        obliv.study.run(file, store, jobs=1)
    assert not store.exists()
    assert caught.value.lines == ("hops: xyx on ring:4: xyx needs two dimensions, ring:4 has 1; u2turn fits any",)
    run = obliv.study.run(file, store, jobs=1, skip_impossible=True)
    assert (run.done, len(run.skipped), run.left) == (3, 1, 0)
    file = written(tmp_path, text.replace('["hops"]', '["deadlock", "bounds", "hops"]'))
    run = obliv.study.run(file, store, jobs=1, skip_impossible=True)
    assert "deadlock: xyx on ring:4 and 1 more cell (xyx needs two dimensions" in repr(run)
    rows = [(row["topology"], row["routing"]) for row in obliv.study.show(store).rows()]
    grid = [("mesh:3x3", None), ("mesh:3x3", "dor"), ("mesh:3x3", "xyx")]
    assert rows == [("ring:4", None), ("ring:4", "dor"), *grid]


def test_the_share_that_is_reported(tmp_path: Path) -> None:
    shares: list[float] = []
    obliv.study.run(written(tmp_path), tmp_path / "s.db", jobs=1, progress=lambda _, share: shares.append(share))
    assert 0 <= min(shares) <= max(shares) == shares[-1] == 1


def test_a_file_that_changes_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    net, store = Path("net.txt"), tmp_path / "store.db"
    file = written(tmp_path, 'topologies = ["file:net.txt"]\nroutings = ["ecmp"]\nmeasures = ["hops"]')
    hops = []
    for text in ("a b\nb c\n", "a b\nb c\nc a\n"):
        net.write_text(text)
        assert obliv.study.run(file, store, jobs=1).computed == 1
        (row,) = obliv.study.show(store).rows()
        hops.append(row["hops"])
    assert hops[0] > hops[1]
    net.write_text("a b\nb c\nc d\n")
    plan = obliv.study.read(file)
    net.write_text("a b\n")
    run = obliv.study.run(plan, tmp_path / "other.db", jobs=1)
    assert "changed during the study" in run.failed[0].reason


def test_own_names_by_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(
        "import obliv\n@obliv.register_topology('own-ring-of-study')\n"
        "def own(k: int):\n    'Ring of a study.'\n"
        "    return obliv.build(f'own-ring-of-study:{k}', k, [(v, (v + 1) % k) for v in range(k)])\n"
    )
    text = 'topologies = ["own-ring-of-study:3"]\nroutings = ["shortest"]\nmeasures = ["hops"]\nimports = ["own.py"]'
    plan = obliv.study.read(written(tmp_path, text))
    assert plan.imports == ("own.py",)
    assert [path for path, _ in plan.cells[0].files] == ["own.py"]
    assert obliv.study.run(plan, "store.db", jobs=1).done == 1


@pytest.mark.nightly
@pytest.mark.parametrize("by_file", [True, False])
def test_own_names_in_other_processes(by_file: bool, tmp_path: Path) -> None:
    """Workers run the imports of the study and those of the command line."""
    (tmp_path / "own.py").write_text(
        "import obliv\n@obliv.register_routing('own-routing-of-study')\n"
        "class Own(obliv.HopRouting):\n    def next_hops(self, node, destination):\n"
        "        return [(int(self.topology.first_channel[node]), 1)]\n"
    )
    text = 'topologies = ["ring:{k}"]\nroutings = ["own-routing-of-study"]\nmeasures = ["hops"]\n'
    written(tmp_path, text + 'imports = ["own.py"]\n' * by_file + '[ranges]\nk = "3..6"')
    words = ["study", "run", "small.study.toml", "--store", "s.db", "-j", "2"] + ["--import", "own.py"] * (not by_file)
    done = subprocess.run([sys.executable, "-m", "obliv", *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, messages(done.stderr)) == (0, "")
    assert obliv.study.show(tmp_path / "s.db").done == 4


def end(status: int) -> None:
    """End this process, as a crash would."""
    os._exit(status)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_processes_are_replaced_when_one_dies() -> None:
    with Processes(1) as pool:
        first = pool.submit(os.getpid).result()
        with pytest.raises(BrokenExecutor):
            pool.submit(end, 1).result()
        assert pool.submit(os.getpid).result() not in (first, os.getpid())


def test_claims_are_proved_and_forged_ones_are_not(tmp_path: Path) -> None:
    text = 'topologies = ["ring:4", "mesh:2x2"]\nroutings = ["dor"]\nmeasures = ["worst", "hops"]'
    store = tmp_path / "store.db"
    obliv.study.run(written(tmp_path, text), store, jobs=1)
    checked = obliv.study.verify(store)
    assert (checked.proved, checked.count("proved"), checked.count("no claim")) == (True, 2, 2)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE cells SET headline = ? WHERE measure = 'worst'", ['{"": {"exact": "2", "value": 2.0}}'])
    db.close()
    assert not obliv.study.verify(store).proved


class Recording(Serial):
    """Claims to have two workers, and notes the routings of every call."""

    _max_workers = 2

    def __init__(self) -> None:
        self.calls: list[list[str | None]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls.append([cell.routing for cell in args[0]])
        return super().submit(fn, *args, **kwargs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_routing_that_is_designed_is_designed_once(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    designed: list[str] = []
    design = two_turns.design

    def counted(topology: obliv.Topology, **options: Any) -> Any:
        designed.append(topology.spec)
        return design(topology, **options)

    monkeypatch.setattr(two_turns, "design", counted)
    text = """
        topologies = ["mesh:3x3", "mesh:3x2"]
        routings = ["dor", "2turn", "valiant"]
        measures = ["worst", "hops", { measure = "throughput", traffic = ["complement", "uniform"] }]
    """
    recording = Recording()
    result = obliv.study.run(
        written(tmp_path, text), tmp_path / "s.db", jobs=jobs, executor=recording if jobs > 1 else None
    )
    assert result.done == 24
    assert designed == ["mesh:3x3", "mesh:3x2"]
    assert sum("2turn" in call for call in recording.calls) == (2 if jobs > 1 else 0)


def test_known_capacities_need_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing the designs would take longer than many small cells."""
    compute._topology.cache_clear()
    monkeypatch.setattr(subject, "from_above", None)
    text = 'topologies = ["mesh:3x2"]\nroutings = ["dor"]\nmeasures = ["worst", "hops"]'
    assert obliv.study.run(written(tmp_path, text), tmp_path / "s.db", jobs=1).done == 2


def test_a_design_that_does_not_fit_is_found_before_the_work(tmp_path: Path) -> None:
    text = 'topologies = ["mesh:2x2x2x2"]\nroutings = ["2turn"]\nmeasures = ["hops"]'
    plan = obliv.study.read(written(tmp_path, text))
    ((cell, reason),) = obliv.study.impossible(plan)
    assert (cell.routing, "turns" in reason) == ("2turn", True)


def test_schemes_that_do_not_fit_are_found_before_the_work(tmp_path: Path) -> None:
    text = """
        topologies = ["mesh:3x3", "random-regular:n=8,d=3"]
        routings = ["shortest", "valiant"]
        measures = [{ measure = "deadlock", vc = ["none", "turn", "phase", "updown", "fewest"] }]
    """
    plan = obliv.study.read(written(tmp_path, text))
    misfits = {str(cell): reason for cell, reason in obliv.study.impossible(plan)}
    assert "deadlock vc=phase: shortest on mesh:3x3" in misfits
    assert "what fits" in misfits["deadlock vc=turn: shortest on random-regular:n=8,d=3"]
    assert obliv.study.run(plan, tmp_path / "s.db", jobs=1, skip_impossible=True).failed == ()


def test_notes_of_topologies_are_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = tmp_path / "own.txt"
    network.write_text("0 1\n1 2\n2 0\n1 1\n", encoding="utf-8")
    text = f"topologies = ['file:{network}']\nroutings = ['shortest', 'valiant']\nmeasures = ['hops']"
    assert main(["study", "run", str(written(tmp_path, text)), "--store", str(tmp_path / "s.db"), "-j", "1"]) == 0
    notes = obliv.topology(f"file:{network}").notes
    assert notes
    assert [line for line in capsys.readouterr().err.splitlines() if notes[0] in line] == [f"obliv: {notes[0]}"]
