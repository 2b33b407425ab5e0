"""The command line as a user meets it: answers, mistakes, exit statuses."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.cli.stopping import messages

import obliv
from obliv.capabilities import CAPABILITIES
from obliv.cli import main
from obliv.cli.app import VERBS
from obliv.results import write_json

PATIENCE = 300.0  # seconds after which a process is taken to hang


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def test_the_readmes_first_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "worst", "torus:9x9", "romm")
    assert status == 0
    assert "32/5" in out
    assert "25/144" in out
    assert err == ""


def test_worst_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "worst", "torus:9x9", "romm", "--format", "json")
    content = json.loads(out)
    assert status == 0
    assert content["kind"] == "worst"
    assert content["topology"] == "torus:9x9"
    assert content["routing"] == "romm"
    assert content["channel_load"] == {"exact": "32/5", "value": 6.4}
    assert content["fraction_of_capacity"]["exact"] == "25/144"
    assert content["capacity"]["exact"] == "9/10"
    assert sorted(content["permutation"]) == list(range(81))
    assert content["focus_channels"] == 1
    assert set(content["channel"]) == {"id", "tail", "head"}
    assert content["provenance"]["exactness"] == "exact"
    assert "certificate" not in content
    _, out, _ = run(capsys, "worst", "torus:3x3", "romm", "--format", "json", "--certificate")
    assert json.loads(out)["certificate"]["denominator"] >= 1


def test_worst_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "worst", "mesh:4x4", "dor", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert float(row["channel_load"]) == 3
    assert row["channel_name"] == "(0,0) -> (0,1)"
    assert row["pairs"] == "(0,0) -> (0,1); (1,0) -> (0,2); (2,0) -> (0,3)"


def test_the_proof_of_a_channel_by_its_nodes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    claim = str(tmp_path / "claim.json")
    run(capsys, "worst", "mesh:3x3", "dor", "-o", claim)
    by_number = run(capsys, "verify", claim, "--channel", "0")
    assert by_number[0] == 0
    for name in ("(0,0) -> (1,0)", "(0,0)->(1,0)", "0->1"):
        assert run(capsys, "verify", claim, "--channel", name)[:2] == by_number[:2]
    for wrong, problem in (
        ("(0,0)->(2,0)", "no channel leads"),
        ("x", "not a channel"),
        ("99", "channels are 0 to 23"),
    ):
        status, _, err = run(capsys, "verify", claim, "--channel", wrong)
        assert status == 2
        assert problem in err


def test_keep_then_verify(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    remaining = tmp_path / "claim.json.gz"
    status, _, err = run(capsys, "worst", "torus:5x5", "romm", "-o", str(remaining))
    assert status == 0
    assert "obliv verify" in err
    status, out, _ = run(capsys, "verify", str(remaining))
    assert status == 0
    assert "proved" in out
    status, out, _ = run(capsys, "verify", str(remaining), "--format", "json")
    assert json.loads(out)["proved"] is True
    status, out, _ = run(capsys, "verify", str(remaining), "--budget", "0")
    assert status == 1
    assert "not proved" in out
    status, _, err = run(capsys, "verify", str(tmp_path / "none.json"))
    assert status == 2
    assert err.count("\n") == 1


def test_throughput(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "throughput", "torus:9x9", "dor", "uniform", "tornado", "--format", "json")
    content = json.loads(out)
    assert status == 0
    assert [p["traffic"] for p in content["patterns"]] == ["uniform", "tornado"]
    assert content["patterns"][1]["fraction_of_capacity"]["exact"] == "5/18"
    _, out, _ = run(capsys, "throughput", "mesh:3x3", "dor", "nearest-neighbor", "--format", "json")
    assert json.loads(out)["patterns"][0]["admissible"] is False


def test_a_mix_of_traffic(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "throughput", "torus:9x9", "dor", "1/2*uniform+1/2*tornado", "--format", "json")
    (pattern,) = json.loads(out)["patterns"]
    assert pattern["channel_load"]["exact"] == "23/9"  # (10/9 + 4) / 2, both on the +x channels


@pytest.mark.parametrize("what", ["topologies", "routings", "traffic"])
def test_list(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list", what, "--format", "json")
    assert status == 0
    for row in json.loads(out)["rows"]:
        assert row["summary"].endswith("."), row
    assert run(capsys, "list", what)[0] == 0


MISTAKES = [
    ("worst", "toros:9x9", "romm"),
    ("worst", "torus:9x9", "rom"),
    ("worst", "torus:1x9", "romm"),
    ("worst", "torus:9xx9", "romm"),
    ("worst", "torus", "romm"),
    ("worst", "torus:", "romm"),
    ("worst", "mesh:0x0", "dor"),
    ("worst", "mesh:-3x3", "dor"),
    ("worst", "mesh:99999999999999999999x3", "dor"),
    ("worst", "mesh:100000x100000", "dor"),
    ("worst", "complete:200000", "shortest"),
    ("worst", "random-regular:n=5,d=3", "ecmp"),
    ("worst", "random-regular:n=10,d=10", "ecmp"),
    ("worst", "random-regular:n=9,k=2", "ecmp"),
    ("worst", "complete:5", "table:/nowhere.txt"),
    ("worst", "file:/nowhere.graphml", "ecmp"),
    ("worst", "file:.", "ecmp"),
    ("worst", "torus:9x9", "1/2*dor"),
    ("worst", "torus:9x9", "1/2*dor+1/3*romm"),
    ("worst", "torus:9x9", "1/0*dor+1/2*romm"),
    ("worst", "random-regular:n=10,d=3", "romm"),
    ("worst", "torus:9x9", "dor:zz"),
    ("worst", "torus:9x9", "dor:order=0-0"),
    ("worst", "torus:9x9"),
    ("worst", "torus:9x9", "dor", "extra"),
    ("worst", "torus:9x9", "dor", "--format", "yaml"),
    ("worst", "torus:9x9", "dor", "--symmetry", "maybe"),
    ("worst", "torus:9x9", "dor", "--samples", "-1"),
    ("worst", "torus:9x9", "dor", "--samples", "2", "--certificate"),
    ("worst", "torus:9x9", "dor", "--output", "/nowhere/at/all.json"),
    ("wrost", "torus:9x9", "dor"),
    ("throughput", "torus:9x9", "dor", "tornados"),
    ("throughput", "torus:9x8", "dor", "transpose"),
    ("throughput", "torus:9x9", "dor", "bit-complement"),
    ("throughput", "torus:9x9", "dor", "shift"),
    ("throughput", "torus:9x9", "dor", "permutation:/nowhere"),
    ("throughput", "torus:9x9", "dor"),
    ("list", "things"),
    ("verify",),
    ("--import", "/nowhere.py", "list", "routings"),
    ("--import",),
]


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_gets_one_line_and_status_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *words)
    assert status == 2
    assert out == ""
    assert err.startswith("obliv: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert "Value error" not in err


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["worst"], "obliv worst"),
        (["worst", "mesh:3x3", "dor", "--formatt", "json"], "obliv worst"),
        (["fabric", "worst", "a.net"], "obliv fabric worst"),
        (["fabric", "wrost"], "obliv fabric"),
        (["plot", "loads", "mesh:3x3"], "obliv plot loads"),
        (["list", "networks"], "obliv list"),
        (["wrost"], "obliv"),
        (["--import"], "obliv"),
    ],
)
def test_an_error_names_the_help_of_its_verb(
    words: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, *words)
    assert status == 2
    assert err.endswith(f" (see {command} --help)\n")
    assert run(capsys, *command.split()[1:], "--help")[0] == 0


def test_formats_are_recognized_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["worst", "mesh:3x3", "dor", "--format"]
    for spelling in ("json", "JSON", "Json"):
        assert json.loads(run(capsys, *words, spelling)[1])["kind"] == "worst"
    err = run(capsys, *words, "jsn")[2]
    assert "'table', 'json', 'csv', 'markdown', 'latex'" in err


def test_patterns_are_listed_like_traffic(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "json"):
        assert run(capsys, "list", "patterns", "--format", form) == run(capsys, "list", "traffic", "--format", form)


@pytest.mark.parametrize("former", ["worst mesh:3x3 dor --dark", "compare mesh:3x3 dor --picture bars"])
def test_former_options_are_refused_with_the_new_way(former: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, *former.split())
    assert status == 2
    assert err.count("\n") == 1
    assert "obliv plot result RESULT.json FILE" in err


def test_the_former_name_of_a_verb(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("fattree:4,2", "shift:2", "--flows", "2")
    assert run(capsys, "lottery", *words) == run(capsys, "collisions", *words)
    saved = obliv.collisions("fattree:4,2", "shift:2", flows=2).to_dict() | {"kind": "lottery"}
    write_json(saved, tmp_path / "old.json")
    assert obliv.load(tmp_path / "old.json") == obliv.lottery("fattree:4,2", "shift:2", flows=2)
    assert obliv.verify(tmp_path / "old.json").proved


def test_hints(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean torus" in run(capsys, "worst", "toros:9x9", "romm")[2]
    assert "did you mean romm" in run(capsys, "worst", "torus:9x9", "rom")[2]
    assert "ecmp" in run(capsys, "worst", "random-regular:n=10,d=3", "dor")[2]


def test_own_code_by_import(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(
        "import obliv\n"
        "@obliv.register_routing('clockwise')\n"
        "class Clockwise:\n"
        "    '''Always one way round the ring.'''\n"
        "    def __init__(self, topology):\n"
        "        self.topology = topology\n"
        "    def next_hops(self, node, destination):\n"
        "        return [self.topology.channel(node, (node + 1) % 5)]\n"
    )
    first, last = (
        ["--import", str(own), "worst", "ring:5", "clockwise"],
        ["worst", "ring:5", "clockwise", f"--import={own}"],
    )
    for words in (first, last):  # in a process of its own, so that the name stays there
        done = subprocess.run([sys.executable, "-m", "obliv", *words], capture_output=True, text=True, check=True)
        assert "throughput      1/4 = 0.25" in done.stdout  # every packet may have to go all but one step round
    own.write_text("import obliv\n1/0\n")
    status, _, err = run(capsys, "--import", str(own), "list", "routings")
    assert status == 2
    assert f"{own}:2: ZeroDivisionError" in err


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("worst", "verify", "throughput", "list", "reproduce"):
        status, out, _ = run(capsys, verb, "--help")
        assert status == 0
        assert f"Example: obliv {verb}" in out


def test_the_version_and_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"obliv {obliv.__version__}\n", "")
    status, out, _ = run(capsys, "--version", "--verbose")
    assert status == 0
    assert {"Python", "platform", "numba", "numpy", "matplotlib"} <= {line.split()[0] for line in out.splitlines()}
    assert run(capsys, "--verbose", "list", "routings")[0] == 2


def test_what_start_up_loads() -> None:
    heavy = ("scipy", "numba", "matplotlib", "pandas", "networkx")
    code = f"import sys, obliv; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_same_seed_gives_the_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("worst", "mesh:3x3", "romm", "--samples", "20", "--seed", "3", "--format", "json")
    first, second = json.loads(run(capsys, *words)[1]), json.loads(run(capsys, *words)[1])
    for result in (first, second):
        result["provenance"].pop("wall_seconds")
    assert first == second
    assert first["provenance"]["exactness"] == "estimated"
    assert set(first["channel_load"]) == {"value", "stderr", "samples"}


def status_without_reader(*words: str) -> tuple[int, str]:
    """The exit status and what is on standard error where nobody reads the answer."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        code = "import sys; from obliv.cli import run; sys.argv[0] = 'obliv'; run()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    finally:
        os.close(writer)
    return done.returncode, messages(done.stderr)


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("routing", "form", "status"), [("dor", "table", 1), ("updown", "json", 0)])
def test_a_reader_that_has_gone_changes_no_verdict(routing: str, form: str, status: int, tmp_path: Path) -> None:
    net, tables = str(tmp_path / "f.net"), str(tmp_path / "f.lfts")
    # the dimension order has credit loops on a ring
    assert main(["fabric", "generate", "torus:5", "-o", net, "--routing", routing, "--tables", tables]) == 0
    assert status_without_reader("fabric", "check", net, "--lft", tables, "--format", form) == (status, "")


def test_ctrl_c_stops_at_once() -> None:
    # where the tests run in the background of a script, processes start with interrupts ignored
    code = "import signal, sys; from obliv.cli import run; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "; sys.argv[0] = 'obliv'; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "worst", "random-regular:n=1500,d=8,seed=1", "valiant"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None and _seconds_of(process.pid) < 1:
        time.sleep(0.05)  # until it is at work, however busy the machine is
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    if process.returncode == -signal.SIGINT:  # as Python itself began or ended; shells call this 130 as well
        return
    assert process.returncode == 130
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err


def _seconds_of(process: int) -> float:
    """Processor time of a process so far; where the system does not say, time itself."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        time.sleep(2)
        return 2.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_papers_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "reproduce", "--format", "json")
    assert status == 0
    assert {row["paper"] for row in json.loads(out)["papers"]} >= {"towles", "u2turn"}


@pytest.mark.nightly
def test_figures_of_a_paper_are_drawn_into_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    status, out, err = run(capsys, "reproduce", "towles", "figure9", "--plot", str(tmp_path), "--format", "json")
    assert (status, len(json.loads(out)["rows"])) == (0, 3)
    assert "towles-figure9.png" in err
    status, out, _ = run(capsys, "reproduce", "towles", "figure3", "--plot", str(tmp_path))  # without numbers
    assert (status, out) == (0, "")
    assert {file.name for file in tmp_path.iterdir()} == {"towles-figure3.png", "towles-figure9.png"}
    status, _, err = run(capsys, "reproduce", "--plot", str(tmp_path))
    assert status == 2
    assert "name it" in err
    status, _, err = run(capsys, "reproduce", "towles", "--plot", str(tmp_path / "no" / "where"))
    assert status == 2
    assert "cannot be used as a folder" in err


def test_names_of_nodes_are_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    links, remaining = tmp_path / "links.txt", tmp_path / "worst.json"
    links.write_text("rome paris\nparis oslo\noslo rome\n")
    status, out, _ = run(capsys, "worst", f"file:{links}", "shortest", "--output", str(remaining))
    assert status == 0
    assert "rome -> " in out
    assert repr(obliv.load(remaining)).rstrip() == out.rstrip()


def test_a_fault_of_ours_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise TypeError("oh\nno")

    monkeypatch.setattr("obliv.questions.worst_case.worst_case", broken)
    status, out, err = run(capsys, "worst", "ring:4", "dor")
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "internal error" in err


def test_outputs_replace_nothing_that_they_should_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    links, link, target = tmp_path / "links.txt", tmp_path / "link.json", tmp_path / "target.json"
    links.write_text("a b\nb c\nc a\n")
    for words, message in (
        (("worst", f"file:{links}", "ecmp", "-o", str(links)), "is an input file"),
        (("worst", "ring:4", "dor", "-o", str(tmp_path / "a.png"), "--plot", str(tmp_path / "a.png")), "two outputs"),
        (("worst", "ring:4", "dor", "-o", "-"), "not a file name"),
        (("worst", "ring:4", "dor", "--plot", str(tmp_path / "no" / "a.png")), "its directory does not exist"),
        (("average", "ring:4", "dor", "--exact", "--samples", "100"), "cannot be combined with --samples"),
    ):
        status, out, err = run(capsys, *words)
        assert status == 2
        assert out == ""
        assert message in err
    assert links.read_text() == "a b\nb c\nc a\n"
    link.symlink_to(target)
    assert run(capsys, "worst", "ring:4", "dor", "-o", str(link))[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["kind"] == "worst"


def test_an_interrupt_keeps_what_is_finished(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from obliv.questions import compare

    real, rows = compare.worst_load, []

    def twice(*args: Any, **options: Any) -> Any:
        if len(rows) == 2:
            raise KeyboardInterrupt
        rows.append(args)
        return real(*args, **options)

    monkeypatch.setattr("obliv.questions.compare.worst_load", twice)
    status, out, err = run(capsys, "compare", "mesh:3x3", "dor", "o1turn", "valiant", "--format", "json")
    assert status == 130
    assert [row["routing"] for row in json.loads(out)["rows"]] == ["dor", "o1turn"]
    assert "2 of 3 rows" in err


@pytest.mark.parametrize("name", VERBS)
def test_summaries_are_first_lines_and_fit(name: str) -> None:
    verb, summary = VERBS[name], CAPABILITIES[name].summary
    text = verb.info.help if isinstance(verb, typer.Typer) else verb.__doc__
    assert text.splitlines()[0] == summary
    assert len(f"  {'throughput':<10}  {summary}") <= 78  # where 80 columns are wrapped


@pytest.mark.parametrize("group", ["fabric", "plot", "study"])
def test_summaries_of_groups_are_whole(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, group, "--help")
    assert "..." not in out.partition("Commands:")[2]


@pytest.mark.parametrize("place", range(4))
def test_files_are_imported_wherever_the_option_stands(
    place: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(f"import obliv\n\n\n@obliv.register_topology('own{place}')\ndef own(n: int) -> obliv.Topology:\n")
    own.write_text(own.read_text() + '    """A ring of n nodes."""\n    return obliv.ring(n)\n')
    words = ["worst", f"own{place}:5", "dor", "--format", "json"]
    status, out, err = run(capsys, *words[:place], "--import", str(own), *words[place:])
    assert status == 0, err
    assert json.loads(out)["channel_load"]["exact"] == "2"


@pytest.mark.parametrize(
    "words",
    [
        ["throughput", "ring:5", "dor", "uniform"],
        ["average", "ring:5", "dor", "--samples", "10"],
        ["compare", "mesh:3x3", "dor"],
        ["ratio", "fattree:4,2", "dmodk", "--traffic", "tree"],
        ["deadlock", "mesh:3x3", "dor"],
        ["deadlock", "mesh:3x3", "romm", "--fewest"],
        ["list", "traffic"],
        ["reproduce"],
        ["reproduce", "towles", "figure9"],
    ],
    ids=" ".join,
)
def test_every_answer_is_saved_and_loaded(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    remaining = tmp_path / "answer.json.gz"
    status, out, err = run(capsys, *words, "--output", str(remaining), "--format", "json")
    assert status == 0, err
    result, printed = obliv.load(remaining), json.loads(out)
    assert {key: value for key, value in result.to_dict().items() if key in printed} == printed
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(obliv.load(remaining))


def test_a_closed_standard_output_is_no_lost_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["worst", "ring:5", "dor"]) == 2
    assert "standard output is closed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["worst", "ring:5", "dor"]) == 2


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("worst mesh:3x3 dor", "--samples"),
        ("throughput mesh:3x3 dor uniform", "--samples"),
        ("compare mesh:3x3 dor", "--samples"),
        ("ratio fattree:4,2 dmodk", "--instances"),
        ("average mesh:3x3 dor --exact", "--path-samples"),
    ],
)
def test_a_seed_without_chance_is_refused(words: str, needed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), "--seed", "0"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"without {needed} there are none" in err


@pytest.mark.parametrize(
    ("words", "traffic"),
    [
        ("throughput mesh:4x4 dor ring", "ring:seed=7"),
        ("throughput mesh:4x4 dor mesh2d:2x8", "mesh2d:2x8,seed=7"),
        ("throughput mesh:4x4 dor 1/3*tree+2/3*tornado", "1/3*tree:seed=7+2/3*tornado"),
        ("throughput mesh:4x4 dor tree:seed=3 tree tornado", "tree:seed=3 tree:seed=7 tornado"),
        ("throughput mesh:4x4 dor random-permutation:3 tree", "random-permutation:seed=3 tree:seed=7"),
        ("compare mesh:4x4 dor --traffic tornado,ring", "tornado ring:seed=7"),
        ("ratio fattree:4,2 dmodk --traffic ring", "ring:seed=7"),
        ("collisions fattree:4,2 random-permutation", "random-permutation:seed=7"),
    ],
)
def test_the_seed_goes_to_traffic_without_its_own(words: str, traffic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), "--seed", "7", "--format", "json"]) == 0
    named = json.loads(capsys.readouterr().out)["provenance"]["specs"]["traffic"]
    assert (named if isinstance(named, str) else " ".join(named)) == traffic


def test_the_seed_of_traffic_may_be_of_any_size(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = set()
    for seed in ("10000000000000000000", "10000000000000000001"):
        assert main(["throughput", "mesh:3x3", "dor", "random-permutation", "--seed", seed, "--format", "json"]) == 0
        drawn.add(json.loads(capsys.readouterr().out)["patterns"][0]["traffic"])
    assert len(drawn) == 2


def test_compare_says_that_traffic_was_rounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rounded.csv"
    path.write_text("0.333333,0.333333,0.333333\n0.5,0.5,0\n0,0.5,0.5\n")
    notes = []
    for words in (["throughput", "line:3", "dor"], ["compare", "line:3", "dor", "--also", "ring:3", "--traffic"]):
        assert main([*words, f"matrix:{path}"]) == 0
        notes.append(capsys.readouterr().err)
    assert notes[0].count("\n") == 1
    assert notes[1] == notes[0]
