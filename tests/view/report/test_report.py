"""Reports as files: what goes in, what the page says, and what is refused."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.cli import main
from obliv.errors import FileError, InputError, MissingExtraError
from obliv.results import Result
from obliv.results.numbers import Estimate
from obliv.results.study import Study, StudyRow
from obliv.view import write_report
from obliv.view.report import page as pages
from obliv.view.report.contents import gather
from obliv.view.report.sections import verdict


def data(page: Path, name: str = "table") -> Any:
    found = re.search(rf'<script type="application/json" id="{name}-data">(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(found[1])


def column(table: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in table["columns"] if each["name"] == name)


@pytest.mark.nightly
def test_a_store_and_a_result_share_a_table(store: Path, tmp_path: Path) -> None:
    other = obliv.worst_case(obliv.routing("romm", obliv.mesh(3, 3)))
    other.save(tmp_path / "romm.json.gz")
    write_report([store, tmp_path / "romm.json.gz"], tmp_path / "page.html")
    table = data(tmp_path / "page.html")
    places = list(zip(table["topology"], table["routing"], strict=True))
    assert places == [
        ("mesh:3x3", "dor"),
        ("mesh:3x3", "valiant"),
        ("mesh:3x3", "o1turn"),
        ("mesh:4x4", "dor"),
        ("mesh:4x4", "valiant"),
        ("mesh:4x4", "o1turn"),
        ("mesh:3x3", "romm"),
    ]
    worst = column(table, "worst")
    assert worst["text"][3] == "1/3 = 0.3333"  # DOR on a k x k mesh: a load of k - 1
    assert worst["how"] == "xxxxxxx"
    average = column(table, "average")
    assert average["how"] == "eeeeee-"
    assert all(" ± " in text for text in average["text"][:6])
    assert [part[0] for part in table["details"][6]] == ["worst"]
    assert table["details"][6][0][3] == 1  # from the second input


@pytest.mark.nightly
def test_the_same_inputs_give_the_same_bytes(store: Path, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        write_report(store, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_names_are_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>\x1b\u2028"
    result: Result = obliv.results.WorstCase(topology=evil, routing="<img src=x onerror=alert(1)>")
    write_report(result, tmp_path / "page.html", title="<b>&")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<h1>&lt;b&gt;&amp;</h1>" in text
    assert data(tmp_path / "page.html")["topology"] == [evil.replace("\x1b", "?").replace("\u2028", "?")]


@pytest.mark.nightly
def test_damaged_cells_have_no_numbers(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither where a result is damaged nor where the row says otherwise; the other cells are as they were."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(store.read_bytes())
    where = "WHERE topology = 'mesh:4x4' AND measure = 'worst' AND routing ="
    with sqlite3.connect(copy) as db:
        db.execute(f"UPDATE cells SET checksum = checksum + 1 {where} 'dor'")
        db.execute(f"""UPDATE cells SET headline = '{{"": {{"exact": "7/1009", "value": 1.5}}}}' {where} 'valiant'""")
    db.close()
    assert main(["report", str(copy), "-o", str(tmp_path / "page.html")]) == 0
    err = capsys.readouterr().err
    assert "copy.db: worst: dor on mesh:4x4: its result is damaged; obliv study run --retry-failed" in err
    assert "copy.db: worst: valiant on mesh:4x4: its row has another worst than its result" in err
    write_report(store, tmp_path / "whole.html")
    table, whole = data(tmp_path / "page.html"), data(tmp_path / "whole.html")
    assert column(table, "worst")["text"][3:] == ["damaged", "damaged", column(whole, "worst")["text"][5]]
    assert column(table, "worst")["value"][3:5] == [None, None]
    others = [[c for c in each["columns"] if c["name"] != "worst"] for each in (table, whole)]
    assert others[0] == others[1]
    shown = (tmp_path / "page.html").read_text("utf-8")
    assert "<b>2</b> damaged" in shown
    assert "7/1009" not in shown


def test_a_comparison_and_a_search_for_virtual_channels_agree(tmp_path: Path) -> None:
    """One scheme is needed, or none: both say so in the same words."""
    for name in ("dor", "romm"):
        routing = obliv.routing(name, obliv.mesh(3, 4))
        both = [obliv.compare(obliv.mesh(3, 4), name, deadlock=True), obliv.fewest_virtual_channels(routing)]
        write_report(both, tmp_path / "page.html")
        assert len(data(tmp_path / "page.html")["routing"]) == 1


def test_all_networks_that_are_asked_for_are_in_the_page(tmp_path: Path) -> None:
    """Of a study those of the topology shown first come first, then the others."""
    plan = {"topologies": ["mesh:3x3", "mesh:4x4"], "routings": ["dor", "o1turn"], "measures": ["worst"]}
    (tmp_path / "s.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in plan.items()))
    obliv.study.run(obliv.study.read(tmp_path / "s.toml"), tmp_path / "s.db", jobs=1)
    for most, sizes in ((3, ["mesh:4x4", "mesh:4x4", "mesh:3x3"]), (9, ["mesh:4x4"] * 2 + ["mesh:3x3"] * 2)):
        write_report(tmp_path / "s.db", tmp_path / "page.html", networks=most)
        assert [each["topology"] for each in data(tmp_path / "page.html", "networks")] == sizes


def test_of_two_values_for_a_cell_the_proved_one_wins(tmp_path: Path) -> None:
    """The order of the inputs changes the order of rows alone, not what is proved in the page."""
    table = obliv.compare("mesh:3x3", "dor", "o1turn")
    proved = obliv.worst_case(obliv.routing("o1turn", obliv.mesh(3, 3)), certificate=True)
    bare = replace(proved, certificate=None)
    for inputs in permutations([table, proved, bare]):
        write_report(list(inputs), tmp_path / "page.html")
        assert [each["routing"] for each in data(tmp_path / "page.html", "networks")] == ["o1turn"]
        contents = gather(inputs)
        (best,) = (item for item in contents.items if item.row.label == "worst: o1turn on mesh:3x3")
        assert best.result is proved
        assert len(contents.items) == 4  # worst and hops of two routings


def test_a_missing_value_contradicts_nothing(tmp_path: Path) -> None:
    """A cell that a comparison could not fill is filled by a result."""
    whole = obliv.compare("mesh:3x3", "dor")
    empty = replace(whole, entries=tuple(replace(row, worst=None, hops=None) for row in whole.entries))
    worst = obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)))
    for inputs in ([empty, worst], [worst, empty]):
        write_report(inputs, tmp_path / "page.html")
        assert column(data(tmp_path / "page.html"), "worst")["text"] == ["1/2 = 0.5"]  # a load of k - 1


def test_a_design_has_a_row_beside_those_of_a_comparison(tmp_path: Path) -> None:
    best = obliv.design("mesh:3x3", minimal=True)
    write_report([obliv.compare("mesh:3x3", "dor"), best], tmp_path / "page.html")
    table = data(tmp_path / "page.html")
    assert table["routing"][0] == "dor"
    assert table["routing"][1].startswith("design")
    assert [each["name"] for each in table["columns"]] == ["worst", "hops"]
    assert column(table, "worst")["text"] == ["1/2 = 0.5", "2/3 = 0.6667"]
    assert best.throughput == Fraction(2, 3)
    assert column(table, "hops")["text"] == ["16/9 = 1.778"] * 2  # of shortest paths


def test_the_verdict_says_what_fails_first(tmp_path: Path) -> None:
    dor = obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4)), certificate=True)
    table = obliv.compare("mesh:4x4", "dor", "o1turn", deadlock=True)
    for inputs in ([table, dor], [dor, table]):
        lines = verdict(gather(inputs))
        tail, head = dor.ends
        assert lines == [
            ("weak", "mesh:4x4: o1turn can deadlock without more virtual channels."),
            (
                "weak",
                "mesh:4x4: dor fails first, at 1/3 = 0.3333 packets per node and cycle under its worst traffic, "
                f"when the channel {tail} → {head} is full (with a certificate).",
            ),
            ("good", "mesh:4x4: o1turn guarantees the most, 1/2 = 0.5 packets per node and cycle."),
        ]
        write_report(inputs, tmp_path / "page.html")
        assert "dor fails first" in (tmp_path / "page.html").read_text("utf-8")


def test_the_verdict_on_many_topologies_stays_short() -> None:
    rows = [
        StudyRow(topology=f"mesh:{k}x{k}", routing=f"own:{name}", measure=measure, status="done", figures=figures)
        for k in range(2, 12)
        for name in "abcdef"
        for measure, figures in (("deadlock", {"": "possible"}), ("worst", {"": Fraction(1, k)}))
    ]
    lines = [text for _, text in verdict(gather([Study(name="many", entries=tuple(rows))]))]
    assert lines[0] == (
        "mesh:2x2, mesh:3x3, mesh:4x4 and 7 more: own:a, own:b, own:c, own:d and 2 more can deadlock without more "
        "virtual channels."
    )
    assert lines[-1] == "7 more topologies in the table."
    assert len(lines) == 8


def test_a_brief_page_has_the_verdict_and_the_best_rows(tmp_path: Path) -> None:
    rows = tuple(
        StudyRow(topology="mesh:9x9", routing=f"own:{k}", measure="worst", status="done", figures={"": Fraction(k, 99)})
        for k in range(1, 40)
    )
    write_report(Study(name="many", entries=rows), tmp_path / "page.html", brief=True)
    table = data(tmp_path / "page.html")
    assert table["routing"] == [f"own:{k}" for k in range(28, 40)]
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "own:1 fails first" in text
    assert "The best 12 of 39 rows" in text
    full = obliv.worst_case("complete:4", "ecmp")
    write_report([Study(name="many", entries=rows), full], tmp_path / "page.html", brief=True)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "mesh:9x9, one of 2 topologies" in text  # of which the bars are
    assert "complete:4: ecmp fails at 1 packet per node and cycle under its worst traffic, when" in text


def test_results_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)))
    content = result.to_dict()
    content["channel_load"] = {"exact": "3/2", "value": 1.5}
    result.save(tmp_path / "true.json")
    (tmp_path / "other.json").write_text(json.dumps(content), encoding="ascii")
    write_report([tmp_path / "true.json", result], tmp_path / "page.html")  # the same figures twice
    assert len(data(tmp_path / "page.html")["routing"]) == 1
    with pytest.raises(InputError, match=r"worst: dor on mesh:3x3: true\.json and other\.json have different figures"):
        write_report([tmp_path / "true.json", tmp_path / "other.json"], tmp_path / "bad.html")
    assert not (tmp_path / "bad.html").exists()


def test_exact_figures_win_over_estimates_and_bounds_that_hold_them(tmp_path: Path) -> None:
    routing = obliv.routing("dor", obliv.mesh(3, 3))
    proved, rough, fine = (
        obliv.worst_case(routing, certificate=True),
        obliv.worst_case(routing, samples=5),
        obliv.worst_case(routing, samples=50),
    )
    assert isinstance(rough.channel_load, Estimate)
    rough = replace(rough, channel_load=replace(rough.channel_load, value=2.5))
    for inputs in permutations((proved, rough, fine)):
        contents = gather(inputs)
        assert [item.result for item in contents.items] == [proved]
        assert len(contents.notes) == 2
        assert all("worst: dor on mesh:3x3: the report shows the" in note for note in contents.notes)
    assert gather([rough, fine]).items[0].result == gather([fine, rough]).items[0].result == fine


def test_bad_input_is_one_line(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.json").write_text('{"kind": "worst",', encoding="ascii")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + b"x" * 100)
    (tmp_path / "empty.json").write_text("", encoding="ascii")
    newer = tmp_path / "newer.db"
    newer.write_bytes(store.read_bytes())
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    page = str(tmp_path / "page.html")
    for words, message in (
        ([], "Missing argument"),
        ([__file__, "-o", page], "is neither a store of studies nor a saved result"),
        ([str(store)], "Missing option '--output'"),
        ([str(tmp_path / "none.json"), "-o", page], "none.json: file not found"),
        ([str(store), str(tmp_path / "broken.json"), "-o", page], "broken.json"),
        ([str(store), str(tmp_path / "empty.json"), "-o", page], "empty.json: the file is empty"),
        ([str(store), str(tmp_path / "other.db"), "-o", page], "other.db"),
        ([str(newer), "-o", page], "written by a newer obliv"),
        ([str(store), "-o", str(tmp_path / "page.pdf")], "ends in .html"),
        ([str(store), "-o", str(tmp_path / "no" / "page.html")], "its directory does not exist"),
        ([str(store), "-o", page, "--study", "smal"], "no study 'smal'"),
        ([str(tmp_path), "-o", page], "is a directory"),
    ):
        assert main(["report", *words]) == 2, words
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1
        assert not Path(page).exists()


def test_a_page_never_replaces_an_input(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.html"
    copy.write_bytes(store.read_bytes())
    with pytest.raises(FileError, match="is an input file"):
        write_report(copy, copy)
    assert copy.read_bytes() == store.read_bytes()


def test_a_missing_extra_is_named(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"uv sync --extra report .* pip install 'obliv\[report\]'"):
        pages.write_report(store, tmp_path / "page.html")


def test_closed_claims_beside_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    obliv.worst_case("mesh:3x3", "dor", certificate=True).save(tmp_path / "worst.json")
    obliv.compare("mesh:3x3", "dor", "valiant").save(tmp_path / "compare.json")
    inputs = [str(tmp_path / name) for name in ("worst.json", "compare.json")]
    assert main(["report", *inputs, "--closed", "-o", str(tmp_path / "page.html")]) == 0
    folder = tmp_path / "page-claims"
    assert sorted(path.name for path in folder.iterdir()) == ["check.html", "obliv_check.py", "worst.txt.gz"]
    assert f"no closed claim of {inputs[1]}: " in capsys.readouterr().err
    command = [sys.executable, "-I", "-S", folder / "obliv_check.py", folder / "worst.txt.gz"]
    assert "proved: " in subprocess.run(command, capture_output=True, text=True, check=True).stdout
