"""Cells that are damaged are named, and never shown as numbers; all others go on."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from tests.study.files import written

import obliv
from obliv.cli import main
from obliv.study.store import intact, opened

TEXT = """
topologies = ["ring:4", "mesh:2x2"]
routings = ["dor", "valiant"]
measures = ["worst", "hops", { measure = "average", samples = 20 }]
"""

RESULT = "result = CAST(x'00' || substr(result, 2) AS BLOB)"
FIGURE = """headline = '{"": {"exact": "2", "value": 2.0}}'"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    obliv.study.run(written(folder, TEXT), folder / "store.db", jobs=1)
    return folder / "store.db"


def changed(store: Path, folder: Path, change: str, measure: str = "worst") -> Path:
    """A copy of a store in which the cell of DOR on the ring was changed."""
    copy = folder / "changed.db"
    copy.write_bytes(store.read_bytes())
    db = sqlite3.connect(copy, isolation_level=None)
    where = "topology = 'ring:4' AND routing = 'dor' AND measure = ?"
    assert db.execute(f"UPDATE cells SET {change} WHERE {where}", (measure,)).rowcount == 1
    db.close()
    return copy


DAMAGES = {
    "result": (RESULT, "its result is damaged"),
    "no result": ("result = NULL", "its result is damaged"),
    "another result": ("result = x'789c03000000000001', checksum = 2", "its result is damaged"),
    "a figure": (FIGURE, "its row has another worst than its result"),
    "a row": ("""rows = replace(rows, '"exact"', '"exact" ')""", ""),
    "a number in a row": ("rows = replace(rows, '1/2', '1/3')", "its row has another "),
    "text of a row": ("rows = 'x', sources = 'x'", "its row is damaged"),
    "text of options": ("options = '[1'", "its row is damaged"),
    "text of a figure": ("""headline = '{"": {"exact": "two"}}'""", "its row is damaged"),
    "files": ("files = '7'", "its row is damaged"),
    "status": ("status = 'dome'", "its row is damaged"),
    "seed": ("seed = 'x'", "its row is damaged"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cell_is_named_and_the_rest_goes_on(
    damage: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, reason = DAMAGES[damage]
    store = changed(finished, tmp_path, change)
    checked = obliv.study.verify(store)
    if not reason:  # spaces are no damage
        assert checked.proved
        return
    (row,) = [row for row in checked.verdicts if row.verdict == "damaged"]
    assert (row.topology, row.routing) == ("ring:4", "dor")
    assert row.reason.startswith(reason)
    assert (checked.proved, checked.count("proved"), checked.count("no claim")) == (False, 3, 8)
    assert main(["study", "verify", str(store)]) == 1
    assert f"{row.label} ({reason}" in capsys.readouterr().out
    differences = obliv.study.diff(finished, store)
    assert not differences.equal
    assert not obliv.study.diff(store, store).equal
    (cell,) = [cell for cell in json.loads(obliv.study.export(store, "json"))["cells"] if cell["status"] != "done"]
    assert (cell["status"], cell["result"]) == ("damaged", None)
    assert obliv.study.show(store).done >= 11
    run = obliv.study.run(written(tmp_path, TEXT), store, jobs=1, retry_failed=True)
    assert run.done == 12
    assert run.computed == (change.partition(" ")[0] not in ("options", "files", "seed"))  # these follow from the study
    assert obliv.study.export(store, "json") == obliv.study.export(finished, "json")
    assert obliv.study.diff(finished, store).equal


def test_a_figure_that_was_altered_by_hand(finished: Path, tmp_path: Path) -> None:
    """Also of a measure without a claim."""
    differences = obliv.study.diff(finished, changed(finished, tmp_path, FIGURE, "hops"))
    (row,) = differences.differences
    assert (row.label, row.figure, row.first) == ("hops: dor on ring:4", "status", "done")
    assert "damaged (its row has another hops than its result" in row.second


def test_figures_of_changed_files_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hops on a path of three nodes, and on a triangle: 8/9 and 2/3, pairs to themselves included."""
    monkeypatch.chdir(tmp_path)
    network = tmp_path / "net.txt"
    text = 'topologies = ["file:net.txt"]\nroutings = ["ecmp"]\nmeasures = ["hops"]'
    for name, edges in (("path.db", "0 1\n1 2\n"), ("triangle.db", "0 1\n1 2\n2 0\n")):
        network.write_text(edges)
        obliv.study.run(written(tmp_path, text), tmp_path / name, jobs=1)
    differences = obliv.study.diff(tmp_path / "path.db", tmp_path / "triangle.db")
    assert (differences.equal, differences.same) == (False, 0)
    figures = {row.figure: (row.first, row.second) for row in differences.differences}
    assert figures["hops"] == (Fraction(8, 9), Fraction(2, 3))


def test_tables_have_no_numbers_of_damaged_rows(finished: Path, tmp_path: Path) -> None:
    study = obliv.study.show(changed(finished, tmp_path, "headline = '5'"))
    assert (study.done, study.damaged) == (11, 1)
    assert next(study.rows())["worst"] == "damaged"
    assert "12 cells done, 1 damaged" in repr(study)
    assert study.to_dict()["damaged"] == 1
    assert "damaged" not in obliv.study.show(finished).to_dict()


@pytest.mark.nightly
def test_rows_of_every_measure_agree_with_their_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        topologies = ["ring:5", "mesh:3x3"]
        routings = ["dor", "valiant"]
        measures = [
          "worst", "hops", "design", "bounds", "ratio",
          { measure = "average", samples = 20, ensemble = ["permutations", "birkhoff:2"] },
          { measure = "throughput", traffic = ["uniform", "tornado"] },
          { measure = "ratio", traffic = "uniform" },
          { measure = "deadlock", vc = ["none", "fewest"] },
          { measure = "design", objective = "ratio" },
        ]
    """
    leveled = """
        topologies = ["butterfly:3", "leveled-mesh:3x3"]
        measures = [{ measure = "bufferless", algorithm = ["direct", "hot-potato", "distributed", "fifo"] }]
    """
    for name, study in (("a", text), ("b", leveled)):
        run = obliv.study.run(written(tmp_path, study), tmp_path / f"{name}.db", jobs=1)
        assert run.failed == ()
        with opened(tmp_path / f"{name}.db") as db:
            for stored in db.cells():
                assert intact(db, stored)[0] == stored
