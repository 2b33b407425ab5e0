"""How printed and computed entries become rows and text, whatever the paper."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from obliv import Bounds, Estimate, FileError, InputError, SpecError, papers
from obliv.cli import main
from obliv.papers.paper import AtLeast, AtMost, Computed, ComputedEntry, Paper, Printed, Table, _paper, rows_of, verdict
from obliv.papers.results import ReproducedEntry, Reproduction


def judged(printed: Printed, computed: ComputedEntry) -> ReproducedEntry:
    paper = Paper("p", "", {"t": Table("", {"e": printed}, lambda step: {"e": computed})})
    return rows_of(paper, "t", lambda share: None)[0]


def test_a_row() -> None:
    assert judged(Printed("0.5"), ComputedEntry(Fraction(1, 2))).to_dict() == {
        "paper": "p",
        "table": "t",
        "entry": "e",
        "published": "0.5",
        "computed": {"exact": "1/2", "value": 0.5},
        "verdict": "match",
        "differs_if": "not in [0.45, 0.6)",
    }


def test_an_erratum_counts_only_where_the_numbers_disagree() -> None:
    wrong = Printed("0.6", erratum="It is a half.", right=Fraction(1, 2))
    assert judged(wrong, ComputedEntry(Fraction(1, 2), "Proof.")).verdict == "erratum"
    assert judged(wrong, ComputedEntry(Fraction(1, 2), "Proof.")).note == "It is a half. Proof."
    assert judged(wrong, ComputedEntry(Fraction(3, 5))).verdict == "match"
    assert not judged(wrong, ComputedEntry(Fraction(3, 5))).note
    assert judged(wrong, ComputedEntry(Fraction(1, 3))).verdict == "differs"
    with pytest.raises(ValueError, match="right value"):
        Printed("0.6", erratum="It is a half.")


def test_open_and_differs() -> None:
    assert judged(Printed("0.6", open="Not defined."), ComputedEntry(Fraction(1, 2))).verdict == "open"
    assert (
        judged(Printed("0.6", open="Not defined.", right=Fraction(2, 5)), ComputedEntry(Fraction(1, 2))).verdict
        == "differs"
    )
    assert judged(Printed("0.6"), ComputedEntry(Fraction(1, 2))).verdict == "differs"


@pytest.mark.parametrize("value", [Fraction(1, 2), Fraction(3, 5), Bounds(Fraction(0), Fraction(1))])
def test_a_number_that_the_paper_does_not_print_is_beyond_it_whatever_it_is(value: Fraction | Bounds) -> None:
    row = judged(Printed("", beyond="The limit."), ComputedEntry(value, "Proof."))
    assert (row.verdict, row.note) == ("beyond", "The limit. Proof.")
    assert judged(Printed("0.6", beyond="The limit."), ComputedEntry(value)).verdict == "beyond"


def test_an_undecided_print_never_counts_as_a_match() -> None:
    row = judged(Printed("0.5", undecided="Bound only: nothing else is known."), ComputedEntry(Fraction(1, 2)))
    assert (row.verdict, row.note) == ("open", "Bound only: nothing else is known.")


@pytest.mark.parametrize("remark", ["erratum", "open", "undecided"])
def test_a_remark_beyond_the_paper_stands_alone(remark: str) -> None:
    with pytest.raises(ValueError, match="no other remark"):
        Printed("0.5", beyond="A limit.", **{remark: "Why."})
    with pytest.raises(ValueError, match="beyond="):
        Printed("")


def test_beyond_is_shown_in_text_json_and_csv() -> None:
    row = judged(Printed("", beyond="The limit."), ComputedEntry(Fraction(1, 2)))
    result = Reproduction(entries=(row,), titles={"t": "title"})
    assert result.ok
    line = repr(result).splitlines()[4]
    assert line.split("  ")[0] == "e"
    assert "not printed" in line
    assert line.endswith("beyond")
    assert (row.to_dict()["published"], row.to_dict()["verdict"]) == ("", "beyond")
    assert [(cells["published"], cells["verdict"]) for cells in result.rows()] == [("", "beyond")]


def test_what_a_sentence_says_goes_before_its_text_and_what_is_computed_before_both() -> None:
    assert judged(Printed("about half", "0.5"), ComputedEntry(Fraction(9, 17))).verdict == "match"
    assert judged(Printed("about half", "0.6"), ComputedEntry(Fraction(9, 17))).verdict == "differs"
    assert judged(Printed("as before"), ComputedEntry(Fraction(9, 17), against=Fraction(9, 17))).verdict == "match"
    assert judged(Printed("as before"), ComputedEntry(Fraction(9, 17), against=Fraction(1, 2))).verdict == "differs"


def test_no_printed_entry_is_left_out() -> None:
    two = {"a": Printed("1"), "b": Printed("2")}
    paper = Paper("p", "", {"t": Table("", two, lambda step: {"a": ComputedEntry(Fraction(1))})})
    with pytest.raises(KeyError, match="printed"):
        rows_of(paper, "t", lambda share: None)


def test_text_is_aligned_and_wrapped() -> None:
    rows = [
        judged(Printed("0.5"), ComputedEntry(Fraction(1, 2), "so " * 60)),
        judged(Printed("the same loading as it had before, in words"), ComputedEntry(Fraction(1), against=Fraction(1))),
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


def test_a_reproduction_in_latex_is_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    """One cell a number and no notes: a table for a paper."""
    assert main(["reproduce", "towles", "figure9", "--format", "latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "% towles figure9"
    assert lines[3] == r"entry & published & computed & verdict \\"
    assert lines[7] == r"fraction of capacity & $0.173$ & $25/144 = 0.1736$ & rounding \\"


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


def test_another_reading_that_fits_is_said_and_open_means_that_none_does() -> None:
    said = Printed("0.72", open="Not defined.", right=Fraction(3, 4))
    fits, misses = ComputedEntry(Fraction(18, 25)), ComputedEntry(Fraction(7, 10))
    row = judged(said, ComputedEntry(Fraction(3, 4), readings={"without the short cut": fits, "drawn": misses}))
    assert (row.verdict, [reading.fits for reading in row.other_readings]) == ("reading", [True, False])
    assert row.note == "Not defined."
    assert judged(said, ComputedEntry(Fraction(3, 4), readings={"drawn": misses})).verdict == "open"
    excluded = ComputedEntry(Fraction(18, 25), undecided="The words exclude it.")
    row = judged(said, ComputedEntry(Fraction(3, 4), readings={"without the short cut": excluded}))
    assert (row.verdict, row.other_readings[0].fits) == ("open", True)
    assert row.note == "Not defined. The words exclude it."
    assert judged(said, ComputedEntry(Fraction(3, 4), readings={"one": excluded, "another": fits})).verdict == "reading"
    unfit = ComputedEntry(Fraction(7, 10), undecided="The words exclude it.")
    assert judged(said, ComputedEntry(Fraction(3, 4), readings={"drawn": unfit})).note == "Not defined."
    assert judged(said, ComputedEntry(Fraction(4, 5), readings={"without": fits})).verdict == "differs"
    assert judged(said, ComputedEntry(Fraction(18, 25), readings={"drawn": misses})).verdict == "match"
    wrong = Printed("0.72", erratum="By the proof.", right=Fraction(3, 4))
    assert judged(wrong, ComputedEntry(Fraction(3, 4), readings={"without": fits})).verdict == "reading"
    assert judged(wrong, ComputedEntry(Fraction(3, 4), readings={"drawn": misses})).verdict == "erratum"


def test_other_readings_in_text_json_and_csv() -> None:
    rows = [
        judged(
            Printed("0.72", open="Why.", right=Fraction(3, 4)),
            ComputedEntry(Fraction(3, 4), readings={"as drawn": value}),
        )
        for value in (ComputedEntry(Fraction(18, 25)), ComputedEntry(Fraction(7, 10)))
    ]
    result = Reproduction(entries=tuple(rows), titles={"t": "title"})
    text = repr(result)
    assert "other readings" in text
    assert "as drawn: 18/25 = 0.72, fits" in text
    assert "as drawn: 7/10 = 0.7, no" in text
    assert max(map(len, text.splitlines())) <= 120
    data = rows[0].to_dict()
    computed = {"exact": "18/25", "value": 0.72}
    assert data["other_readings"] == [{"reading": "as drawn", "computed": computed, "fits": True}]
    assert ReproducedEntry.from_dict(data) == rows[0]
    assert [cells["other readings"] for cells in result.rows()] == [
        "as drawn: 18/25 = 0.72, fits",
        "as drawn: 7/10 = 0.7, no",
    ]


@pytest.mark.parametrize(
    ("printed", "value", "outcome"),
    [
        (Printed("0.278"), Fraction(5, 18), "not in [0.2775, 0.279)"),
        (Printed("62.5%"), Fraction(5, 8), "not in [0.6245, 0.626)"),
        (Printed("-0.3"), Fraction(-1, 3), "not in (-0.4, -0.25]"),
        (Printed("0.255"), Estimate(0.27, 0.01, 40), "not in [0.2545, 0.2555] ± 3 s.e."),
        (Printed("0.255"), Bounds(Fraction(1, 4), Fraction(1, 3)), "not around 0.255"),
        (Printed("all", Fraction(81)), Fraction(81), "not 81"),
        (Printed("no more", AtMost(Fraction(3, 2))), Fraction(1), "not ≤ 1.5"),
        (Printed("larger", AtLeast(Fraction(4))), Estimate(5.0, 0.1, 9), "not ≥ 4 ± 3 s.e."),
        (Printed("0.72", open="Why.", right=Fraction(3, 4)), Fraction(3, 4), "neither in [0.715, 0.73) nor 3/4"),
        (Printed("", beyond="A limit.", right=Bounds(Fraction(0), Fraction(1, 8))), Fraction(0), "not in [0, 0.125]"),
        (Printed("", beyond="A limit."), Fraction(1), ""),
        (Printed("0.6", open="Why."), Fraction(1), ""),
    ],
)
def test_the_outcome_that_would_make_a_row_differ(printed: Printed, value: Computed, outcome: str) -> None:
    assert judged(printed, ComputedEntry(value)).differs_if == outcome


@pytest.mark.parametrize("name", papers.known())
def test_a_wrong_number_differs_in_every_row(name: str) -> None:
    """A number that is neither printed nor right, drawn for each row of each paper, exact or estimated."""
    rng = np.random.default_rng(40)
    idle = []
    for table, source in _paper(name).tables.items():
        for entry, printed in source.printed.items():
            sizes = [*(10.0 ** rng.uniform(-8, 9, 10)), *rng.uniform(1e11, 1e13, 2)]  # a bound stops one side
            exact = [Fraction(float(size)) * sign for size in sizes for sign in (1, -1)]
            for draws in (exact, [Estimate(float(value), 1e-12, 9) for value in exact]):
                values = [ComputedEntry(value, against=_against(printed)) for value in draws]
                if "differs" not in {judged(printed, value).verdict for value in values}:
                    idle.append(f"{table}: {entry}")
    assert not idle


def _against(printed: Printed) -> Fraction | None:
    """Return a number in the place of the one that is computed, for an entry that is compared with such a number."""
    if printed.says is not None or printed.judgement:
        return None
    try:
        verdict(printed.text, Fraction(1))
    except InputError:
        return Fraction(1)
    return None


def wrong_numbers(value: Computed) -> list[Computed]:
    """Other numbers of the same kind, below and above."""
    factors = [Fraction(factor) for factor in ("-2", "1/2", "3/2", "2", "1000000000")]
    if isinstance(value, Bounds):
        factors.append(Fraction(1, 10**6))  # a chance that is neither usual nor impossible
        return [Bounds(value.lower * f + f, value.upper * f + f) for f in factors if f > 0]
    if isinstance(value, Fraction):
        return [value * f if value else f for f in factors]
    return [replace(value, value=value.value * float(f) if value.value else float(f)) for f in factors]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param(name, table, marks=[pytest.mark.nightly] * (table != "figure5"))
        for name in ("towles", "u2turn", "fat-tree", "bufferless")
        for table in papers.tables(name)
    ],
)
def test_every_row_states_what_makes_it_differ_and_a_wrong_number_does(name: str, table: str) -> None:
    """The same for what the command computes: no row agrees whatever comes out."""
    tables = _paper(name).tables
    computed = tables[table].values(lambda share: None)
    for entry, printed in tables[table].printed.items():
        row = judged(printed, computed[entry])
        others = {
            judged(printed, replace(computed[entry], value=value)).verdict
            for value in wrong_numbers(computed[entry].value)
        }
        assert row.verdict != "differs", entry
        assert row.differs_if, entry
        assert "differs" in others, entry
