"""How printed and computed entries become rows and text, whatever the paper."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from obliv import Bounds, FileError, SpecError, papers
from obliv.papers.paper import Paper, Printed, Table, Value, rows_of
from obliv.papers.verdicts import Computed
from obliv.results.reproduction import ReproducedEntry, Reproduction


def judged(printed: Printed, computed: Value) -> ReproducedEntry:
    paper = Paper("p", "", {"t": Table("", {"e": printed}, lambda step: {"e": computed})})
    return rows_of(paper, "t", lambda share: None)[0]


def test_a_row() -> None:
    assert judged(Printed("0.5"), Value(Fraction(1, 2))).to_dict() == {
        "paper": "p",
        "table": "t",
        "entry": "e",
        "published": "0.5",
        "computed": {"exact": "1/2", "value": 0.5},
        "verdict": "match",
    }


def test_an_erratum_counts_only_where_the_numbers_disagree() -> None:
    wrong = Printed("0.6", erratum="It is a half.", right=Fraction(1, 2))
    assert judged(wrong, Value(Fraction(1, 2), "Proof.")).verdict == "erratum"
    assert judged(wrong, Value(Fraction(1, 2), "Proof.")).note == "It is a half. Proof."
    assert judged(wrong, Value(Fraction(3, 5))).verdict == "match"
    assert not judged(wrong, Value(Fraction(3, 5))).note
    assert judged(wrong, Value(Fraction(1, 3))).verdict == "differs"
    with pytest.raises(ValueError, match="right value"):
        Printed("0.6", erratum="It is a half.")


def test_open_and_differs() -> None:
    assert judged(Printed("0.6", open="Not defined."), Value(Fraction(1, 2))).verdict == "open"
    assert judged(Printed("0.6", open="Not defined.", right=Fraction(2, 5)), Value(Fraction(1, 2))).verdict == "differs"
    assert judged(Printed("0.6"), Value(Fraction(1, 2))).verdict == "differs"


@pytest.mark.parametrize("value", [Fraction(1, 2), Fraction(3, 5), Bounds(Fraction(0), Fraction(1))])
def test_a_number_that_the_paper_does_not_print_is_beyond_it_whatever_it_is(value: Fraction | Bounds) -> None:
    row = judged(Printed("", beyond="The limit."), Value(value, "Proof."))
    assert (row.verdict, row.note) == ("beyond", "The limit. Proof.")
    assert judged(Printed("0.6", beyond="The limit."), Value(value)).verdict == "beyond"


def test_an_undecided_print_never_counts_as_a_match() -> None:
    row = judged(Printed("0.5", undecided="Bound only: nothing else is known."), Value(Fraction(1, 2)))
    assert (row.verdict, row.note) == ("open", "Bound only: nothing else is known.")


@pytest.mark.parametrize("remark", ["erratum", "open", "undecided"])
def test_a_remark_beyond_the_paper_stands_alone(remark: str) -> None:
    with pytest.raises(ValueError, match="no other remark"):
        Printed("0.5", beyond="A limit.", **{remark: "Why."})
    with pytest.raises(ValueError, match="beyond="):
        Printed("")


def test_beyond_is_shown_in_text_json_and_csv() -> None:
    row = judged(Printed("", beyond="The limit."), Value(Fraction(1, 2)))
    result = Reproduction(entries=(row,), titles={"t": "title"})
    assert result.ok
    line = repr(result).splitlines()[4]
    assert line.split("  ")[0] == "e"
    assert "not printed" in line
    assert line.endswith("beyond")
    assert (row.to_dict()["published"], row.to_dict()["verdict"]) == ("", "beyond")
    assert [(cells["published"], cells["verdict"]) for cells in result.rows()] == [("", "beyond")]


def test_what_a_sentence_says_goes_before_its_text_and_what_is_computed_before_both() -> None:
    assert judged(Printed("about half", "0.5"), Value(Fraction(9, 17))).verdict == "match"
    assert judged(Printed("about half", "0.6"), Value(Fraction(9, 17))).verdict == "differs"
    assert judged(Printed("as before"), Value(Fraction(9, 17), against=Fraction(9, 17))).verdict == "match"
    assert judged(Printed("as before"), Value(Fraction(9, 17), against=Fraction(1, 2))).verdict == "differs"


def test_no_printed_entry_is_left_out() -> None:
    two = {"a": Printed("1"), "b": Printed("2")}
    paper = Paper("p", "", {"t": Table("", two, lambda step: {"a": Value(Fraction(1))})})
    with pytest.raises(KeyError, match="printed"):
        rows_of(paper, "t", lambda share: None)


def test_text_is_aligned_and_wrapped() -> None:
    rows = [
        judged(Printed("0.5"), Value(Fraction(1, 2), "so " * 60)),
        judged(Printed("the same loading as it had before, in words"), Value(Fraction(1), against=Fraction(1))),
    ]
    lines = repr(Reproduction(entries=tuple(rows), titles={"t": "title"})).splitlines()
    assert lines[0] == "p t: title"
    at = lines[2].index("computed")
    assert lines[4][at:].startswith("1/2 = 0.5")
    assert lines[5][at:].startswith("1 ")
    assert lines[6].strip() == "in words"
    assert max(map(len, lines)) <= 120
    assert lines[8].startswith("* e: so so")
    assert lines[9].startswith("  so")
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize(("count", "names"), [(1, "a0"), (3, "a0; a1; a2"), (4, "a0 and 3 more rows")])
def test_rows_with_the_same_note_share_it(count: int, names: str) -> None:
    rows = [ReproducedEntry("p", "t", f"a{i}", "1", Fraction(1), "match", "Same.") for i in range(count)]
    rows.append(ReproducedEntry("p", "t", "b", "1", Fraction(1), "match", "Other."))
    notes = [line for line in repr(Reproduction(entries=tuple(rows))).splitlines() if line.startswith("*")]
    assert notes == [f"* {names}: Same.", "* b: Other."]


def test_unknown_names_say_what_was_meant() -> None:
    with pytest.raises(SpecError, match="unknown paper 'towels': did you mean towles"):
        papers.reproduce("towels")
    with pytest.raises(SpecError, match="unknown table of towles 'table2': did you mean table1"):
        papers.reproduce("towles", "table2")


def test_one_table_alone() -> None:
    steps: list[tuple[str, float]] = []
    result = papers.reproduce("towles", "figure9", lambda *step: steps.append(step))
    assert {row.table for row in result.entries} == {"figure9"}
    assert steps[0] == ("towles figure9", 0.0)
    assert steps[-1] == ("towles figure9", 1.0)
    assert repr(result).startswith("towles figure9: the worst-case permutation")


def test_one_figure_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    steps: list[tuple[str, float]] = []
    folder = tmp_path / "new"
    assert papers.draw("towles", folder, "figure3", lambda *step: steps.append(step)) == [folder / "towles-figure3.png"]
    assert steps == [("towles figure3", 0.0)]


def test_folders_and_figures_that_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="table1 of towles is a table without a picture; the figures are figure1"):
        papers.draw("towles", tmp_path, "table1")
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "a" / "b"):
        with pytest.raises(FileError, match="cannot be used as a folder"):
            papers.draw("towles", folder)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_known_papers_have_one_line_each() -> None:
    assert "towles" in papers.known()
    assert all(line and "\n" not in line for line in papers.known().values())


def moved(value: Computed, factor: Fraction) -> Computed:
    if isinstance(value, Bounds):
        return Bounds(value.lower * factor, value.upper * factor)
    if isinstance(value, Fraction):
        return value * factor if value else factor - 1
    return replace(value, value=value.value * float(factor))


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("u2turn", "figure5"),
        *(pytest.param("u2turn", f, marks=pytest.mark.nightly) for f in ("figure2", "table1", "table4", "claims")),
        *(pytest.param("u2turn", table, marks=pytest.mark.nightly) for table in ("equations", "figure6")),
        *(pytest.param("towles", table, marks=pytest.mark.nightly) for table in ("table1", "figure4", "figure8")),
        pytest.param("fat-tree", "statements", marks=pytest.mark.nightly),
        pytest.param("bufferless", "errata", marks=pytest.mark.nightly),
    ],
)
def test_every_decided_row_can_fail(name: str, table: str) -> None:
    """Another computed number, larger or smaller, changes the verdict: no row agrees whatever comes out."""
    tables = papers._paper(name).tables
    computed = tables[table].compute(lambda share: None)
    for entry, printed in tables[table].printed.items():
        verdict = judged(printed, computed[entry]).verdict
        others = [
            judged(printed, replace(computed[entry], value=moved(computed[entry].value, Fraction(factor)))).verdict
            for factor in ("1/2", "3/2", "2")
        ]
        assert verdict in ("open", "beyond") or set(others) - {verdict}, entry
        assert verdict in ("open", "beyond") or printed.open or "differs" in others, entry
