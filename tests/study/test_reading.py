"""Study files: what they expand to, and how mistakes in them are refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.study.files import SMALL, written

import obliv
from obliv.cli import main
from obliv.study.measures import MEASURES


def test_axes_are_multiplied_in_order(tmp_path: Path) -> None:
    plan = obliv.study.read(written(tmp_path))
    assert plan.name == "small"
    assert len(plan.cells) == 3 * 2 * (1 + 2 + 2)
    assert [str(cell) for cell in plan.cells[:5]] == [
        "hops: dor on ring:3",
        "throughput traffic=tornado: dor on ring:3",
        "throughput traffic=uniform: dor on ring:3",
        "average samples=20: dor on ring:3",
        "average samples=20 seed=1: dor on ring:3",
    ]
    assert len({cell.key for cell in plan.cells}) == len(plan.cells)


def test_measures_of_a_topology_have_one_cell_each(tmp_path: Path) -> None:
    text = 'topologies = ["ring:5"]\nroutings = ["dor", "valiant"]\nmeasures = ["bounds", "hops"]'
    cells = obliv.study.read(written(tmp_path, text)).cells
    assert [(cell.measure, cell.routing) for cell in cells] == [("bounds", None), ("hops", "dor"), ("hops", "valiant")]


def test_ranges_in_several_places_and_options(tmp_path: Path) -> None:
    text = (
        'topologies = ["fattree:{m},2"]\nroutings = ["kpath:{p}"]\n'
        'measures = [{ measure = "average", samples = "{n}" }, { measure = "throughput", traffic = "shift:{m}" }]\n'
        "[ranges]\nm = [4]\np = '1..2'\nn = '100..300 step 200'"
    )
    assert [str(cell) for cell in obliv.study.read(written(tmp_path, text)).cells] == [
        "average samples=100: kpath:1 on fattree:4,2",
        "average samples=300: kpath:1 on fattree:4,2",
        "throughput traffic=shift:4: kpath:1 on fattree:4,2",
        "average samples=100: kpath:2 on fattree:4,2",
        "average samples=300: kpath:2 on fattree:4,2",
        "throughput traffic=shift:4: kpath:2 on fattree:4,2",
    ]


def test_options_at_their_default_make_no_other_cell(tmp_path: Path) -> None:
    text = 'topologies = ["ring:5"]\nroutings = ["dor"]\nmeasures = ["worst", { measure = "worst", symmetry = "auto" }]'
    assert len(obliv.study.read(written(tmp_path, text)).cells) == 1


def test_filters(tmp_path: Path) -> None:
    text = SMALL + '\n[[only]]\ntopology = ["ring:3", "ring:4"]\n[[skip]]\nrouting = "val*"\nmeasure = "average"'
    cells = obliv.study.read(written(tmp_path, text)).cells
    assert {cell.topology for cell in cells} == {"ring:3", "ring:4"}
    assert len(cells) == 2 * (5 + 3)


def test_keys_follow_the_content_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.txt").write_text("a b\nb c\nc a\n")
    file = written(tmp_path, 'topologies = ["file:net.txt"]\nroutings = ["ecmp"]\nmeasures = ["hops"]')
    (before,) = obliv.study.read(file).cells
    assert obliv.study.read(file).cells[0].key == before.key
    assert [path for path, _ in before.files] == ["net.txt"]
    Path("net.txt").write_text("a b\nb c\nc d\n")
    (after,) = obliv.study.read(file).cells
    assert after.key != before.key
    assert after.identity == before.identity


def test_the_published_schema_is_current() -> None:
    file = Path(obliv.study.__file__).with_name("study.schema.json")  # written by  obliv study schema
    assert json.loads(file.read_text(encoding="utf-8")) == obliv.study.schema()
    assert set(MEASURES) <= {
        entry.get("properties", {}).get("measure", {}).get("const")
        for entry in obliv.study.schema()["properties"]["measures"]["items"]["anyOf"]
    }


HEAD = 'topologies = ["ring:5"]\nroutings = ["dor"]\n'

MISTAKES = {
    'topologys = ["ring:5"]': (1, "unknown key 'topologys': did you mean topologies?"),
    'topologies = ["ring:5"]': (None, "measures is missing"),
    HEAD + "measures = []": (3, "measures is empty"),
    'topologies = []\nmeasures = ["bounds"]': (1, "topologies is empty"),
    'topologies = "ring:5"\nmeasures = ["bounds"]': (1, "topologies must be a list"),
    "topologies = [5]\nmeasures = ['bounds']": (1, "topologies must be a list of text"),
    'topologies = ["ring:5"]\nmeasures = ["bounds", "worst"]': (2, "worst needs routings"),
    HEAD + 'measures = ["worts"]': (3, "unknown measure 'worts': did you mean worst?"),
    HEAD + 'measures = ["throughput"]': (3, "throughput needs traffic"),
    HEAD + 'measures = [\n  "worst",\n  { measure = "average", sampels = 5 }]': (5, "did you mean samples?"),
    HEAD + 'measures = [{ measure = "average", samples = 1 }]': (3, "must be at least 2"),
    HEAD + 'measures = [{ measure = "average", samples = "many" }]': (3, "must be a whole number"),
    HEAD + 'measures = [{ measure = "average", samples = [] }]': (3, "is empty"),
    HEAD + 'measures = [{ measure = "worst", symmetry = "autp" }]': (3, "did you mean auto?"),
    HEAD + "measures = [{ samples = 5 }]": (3, "a measure has no name"),
    HEAD + "measures = [7]": (3, "measures must be names or tables"),
    HEAD + 'measures = ["worst"]\nseeds = [-1]': (4, "0 or more"),
    HEAD + f'measures = ["average"]\nseeds = [{2**63}]': (4, "below 2^63"),
    HEAD + f'measures = ["average"]\nseeds = [1{"0" * 45}]': (4, f"seed '1{'0' * 36}...'"),
    HEAD + 'measures = ["worst"]\nseeds = [1]': (4, "no measure is random"),
    HEAD + 'measures = ["bounds"]': (2, "no measure is about routings"),
    HEAD + 'measures = ["worst"]\n[ranges]\nk = "3..5"': (5, "the range k is not used"),
    HEAD + 'measures = ["worst"]\n[ranges]\nk = "5..3"': (5, "the range k is empty"),
    HEAD + 'measures = ["worst"]\n[ranges]\nk = "3-5"': (5, "invalid range k"),
    HEAD + f'measures = ["worst"]\n[ranges]\nk = "1..{"9" * 5000}"': (5, "invalid range k"),
    f"topologies = {'[' * 20_000}": (None, "nested too deeply"),
    'topologies = ["ring:{k}"]\nmeasures = ["bounds"]': (1, "has no range k"),
    'topologies = ["rnig:5"]\nmeasures = ["bounds"]': (1, "did you mean ring?"),
    HEAD + '# "romm2"\nmeasures = ["worst"]\n[[skip]]\nrouting = "romm*"': (6, "selects no cell"),
    HEAD + 'measures = ["worst"]\n[[skip]]\nrooting = "dor"': (5, "did you mean routing?"),
    HEAD + 'measures = ["worst"]\n[[skip]]\nrouting = "*"': (None, "leave no cell"),
    HEAD + 'measures = ["worst"': (3, "invalid TOML"),
    HEAD + 'measures = ["worst"]\nimports = ["own"]': (4, "own: file to import not found"),
    'topologies = ["ring:5"]\nroutings = [" "]\nmeasures = ["hops"]': (2, "routings must be a list of text"),
    'topologies = ["ring:{k}"]\nmeasures = ["bounds"]\n[ranges]\nk = [3, " "]': (4, "has an empty value"),
    'topologies = ["mesh:{a}x{b}x{c}"]\nmeasures = ["bounds"]\n[ranges]\na = "2..999"\nb = "2..999"\nc = "2..999"': (
        None,
        "994,011,992 cells, more than 1,000,000: use smaller ranges",
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    line, message = MISTAKES[text]
    with pytest.raises(obliv.FileError) as caught:
        obliv.study.read(written(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.line == line


def test_numbers_of_too_many_digits(tmp_path: Path) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)  # the command line has no such limit
    try:
        with pytest.raises(obliv.FileError, match="a number has too many digits"):
            obliv.study.read(written(tmp_path, HEAD + f'measures = ["worst"]\n[ranges]\nk = [{"9" * 5000}]'))
    finally:
        sys.set_int_max_str_digits(before)


#: What a study may name that is not there or wrong, and the line.
SPECS = {
    'topologies = [\n  "ring:5",\n  "file:none.txt",\n]\nroutings = ["dor"]\nmeasures = ["hops"]': (
        3,
        "none.txt: file not f",
    ),
    'topologies = [\n  "file:net{k}.txt"]\nroutings = ["dor"]\nmeasures = ["hops"]\n[ranges]\nk = [1]': (2, "net1.txt"),
    'topologies = ["ring:5"]\nroutings = [\n"table:no.json"]\nmeasures = ["hops"]': (3, "no.json: file not found"),
    HEAD + 'measures = [\n"hops",\n{ measure = "throughput", traffic = "matrix:m.csv" }]': (5, "m.csv: file not found"),
    HEAD + 'measures = [\n"hops",\n{ measure = "throughput", traffic = "shift:x" }]': (5, "by must be a whole number"),
    HEAD + 'measures = [\n"hops",\n{ measure = "deadlock", vc = "tturn" }]': (5, "did you mean turn?"),
    HEAD + 'measures = [\n"hops",\n{ measure = "average", ensemble = "dearangements" }]': (5, "choose permutations"),
    'topologies = ["ring:5"]\nmeasures = [\n{ measure = "design", max_hops = "few" }]': (3, "'few' is not a number"),
    'topologies = ["ring:5"]\nmeasures = [{ measure = "design", objective = "ratio", max_turns = 2 }]': (
        2,
        "without limits",
    ),
    'topologies = ["ring:5",\n"mesh:axb"]\nroutings = ["dor"]\nmeasures = ["hops"]': (2, "radices must be whole num"),
    'topologies = ["ring:5"]\nroutings = [\n"1/3*dor+1/3*valiant"]\nmeasures = ["hops"]': (3, "they must add up to 1"),
}


@pytest.mark.parametrize("text", SPECS)
def test_specs_that_cannot_be_made_are_refused_at_their_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line, message = SPECS[text]
    assert main(["study", "run", str(written(Path(), text, "own.toml")), "--store", "s.db", "-j", "1"]) == 2
    (err,) = capsys.readouterr().err.splitlines()
    assert err.startswith(f"obliv: own.toml:{line}: ")
    assert message in err
    assert not Path("s.db").exists()


def test_a_fault_inside_a_file_is_named_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.txt").write_text("a b\nc\n", encoding="utf-8")
    file = written(tmp_path, 'topologies = ["file:net.txt"]\nroutings = ["ecmp"]\nmeasures = ["hops"]')
    with pytest.raises(obliv.FileError) as caught:
        obliv.study.run(file, "s.db", jobs=1)
    assert (str(caught.value.path), caught.value.line) == ("net.txt", 2)


def test_the_example() -> None:
    plan = obliv.study.read(Path(__file__).parents[2] / "examples" / "mesh-routings.study.toml")
    assert plan.name == "mesh-routings"
    assert len(plan.cells) == (18 * 10 + 4 * 6) * 5
