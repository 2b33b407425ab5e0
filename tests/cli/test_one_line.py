"""Whatever is typed or read: a message is one line of at most some 300 letters, and no traceback."""

from __future__ import annotations

import contextlib
import gzip
import json
import pickle
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.main import get_command

import obliv
from obliv.cli import main
from obliv.cli.app import VERBS, app
from obliv.errors import MOST_LETTERS

LONGEST = MOST_LETTERS + len("obliv: ")
ODD = [
    "x" * 40_000,
    "mesh:" + "4x" * 20_000 + "4",
    "mesh:" + "9" * 5_000,
    "dor:" + ",".join(f"key{k}=1" for k in range(5_000)),
    "+".join(["1/3*dor"] * 3_000),
    "1/" + "7" * 10_000 + "*dor",
    "torus:4x4,injection=" + "1" * 1_000,
    "file:" + "a/" * 5_000,
    "no\nsuch\nname\n" * 200,
    "\x1b[2J\x1b]0;title\x07" * 50,
    "me\u0455h:4x4\u202e" * 100,
    "name with \udc80 surrogates" * 30,
    "\u2028\u2029\x85" * 200,
    "(" * 3_000,
    "kpath:3,base=" * 2_000,
    "{braces} {0} %s" * 100,
    "",
    " ",
    "--",
    "--no-such-option" * 500,
    "-" + "q" * 4_000,
]
WORDS = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_characters="\0"), max_size=40),  # which no command line has
    st.integers(1, 2_000).flatmap(lambda times: st.sampled_from("x0:,=+*/(").map(lambda letter: letter * times)),
    st.sampled_from(["mesh:3x3", "dor", "uniform", "fattree:4,2", "butterfly:2", "all", "nothing.json"]),
)


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield every verb and sub-verb with its parameters."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            sub = command.get_command(None, name)
            yield from verbs(sub, (*path, name))
    else:
        yield path, command.params


ALL = dict(verbs(get_command(app)))
#: These wait for a browser.
ENDLESS = {("explore",)}


def require_short(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    status = main(words)
    told = capsys.readouterr().err
    lines = told.split("\n")[:-1]
    assert status in (0, 1, 2)
    assert "Traceback" not in told
    assert "internal error" not in told, told
    assert len(lines) == 1 or status != 2, told[:2_000]
    for line in lines:
        assert len(line) <= LONGEST, line[:1_000]
        assert line.isprintable(), line


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own, and an end for what would run long."""
    monkeypatch.chdir(tmp_path)

    def late(*_: Any) -> None:
        raise TimeoutError("a mistake that takes long")

    before = signal.signal(signal.SIGALRM, late) if hasattr(signal, "SIGALRM") else None
    if before is not None:
        signal.alarm(60)
    yield
    if before is not None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("verb", sorted(set(ALL) - ENDLESS), ids=" ".join)
def test_odd_words_of_every_verb(verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    for k, word in enumerate(ODD):
        words = ([word], ["mesh:3x3", word], [word, "dor"], ["mesh:3x3", "dor", word])[(k + len(verb[-1])) % 4]
        require_short(capsys, [*verb, *words])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("verb", sorted(set(ALL) - ENDLESS), ids=" ".join)
def test_odd_values_of_every_option(verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    options = [option.opts[0] for option in ALL[verb] if option.param_type_name == "option" and not option.is_flag]
    for k, option in enumerate(options):
        for word in ODD[k % 3 :: 3]:
            require_short(capsys, [*verb, "mesh:3x3", "dor", option, word])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["worst", "throughput", "ratio", "deadlock", "verify", "export"]), st.lists(WORDS, max_size=4))
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_any_words(capsys: pytest.CaptureFixture[str], verb: str, words: list[str]) -> None:
    require_short(capsys, [verb, *words])


def test_an_odd_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ODD:
        if word not in ("", " ", "--"):
            require_short(capsys, [word])
    assert set(VERBS) == {verb[0] for verb in ALL}


CALLS: dict[str, Callable[[Any], Any]] = {
    "topology": obliv.topology,
    "routing": lambda word: obliv.routing(word, "mesh:3x3"),
    "traffic": lambda word: obliv.traffic(word, "mesh:3x3"),
    "worst": lambda word: obliv.worst_case("mesh:3x3", word),
    "load": obliv.load,
    "verify": obliv.verify,
    "budget": lambda word: obliv.verify("c.json", budget=word),
    "explain": lambda word: obliv.explain(obliv.worst_case("mesh:2x2", "dor", certificate=True), word),
    "deadlock": lambda word: obliv.deadlock(obliv.routing("dor", "mesh:2x2"), word),
    "failures": lambda word: obliv.failures("mesh:2x2", "dor", of=word),
    "instance": lambda word: obliv.bufferless.instance("butterfly:2", word),
    "schedule": lambda word: obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:2"), word),
    "fabric": obliv.fabric.read,
    "build": lambda word: obliv.build(word, 2, [(0, 5)]),
    "channel": lambda word: obliv.mesh(3, 3).channel(word, word),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_of_python(name: str) -> None:
    for word in [*ODD, "\0"]:
        try:
            CALLS[name](word)
        except obliv.OblivError as error:
            assert str(error).isprintable()
            assert len(str(error)) <= MOST_LETTERS
            assert str(pickle.loads(pickle.dumps(error))) == str(error)


READERS = ["x.json", "x.json.gz", "x.graphml", "x.gml", "x.txt", "x.net", "x.dot", "x.toml", "x.db", "x.csv", "x.lst"]


@pytest.mark.parametrize("name", READERS)
def test_odd_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands in a file may be as long and as odd as what is typed."""
    for k, word in enumerate([*ODD, "\0"]):
        data = word.encode("utf-8", "surrogatepass")
        if name.endswith((".json", ".gz")):
            claim = {"kind": word, "topology": word, "routing": word, "certificate": {}, "channel_load": word}
            data = json.dumps(claim | {"kind": "worst"} if k % 2 else claim).encode()
        Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        for words in (
            ["verify", name],
            ["worst", f"file:{name}", "ecmp"],
            ["worst", "mesh:3x3", f"table:{name}"],
            ["throughput", "mesh:3x3", "dor", f"matrix:{name}"],
            ["fabric", "check", name, "--lft", name],
            ["report", name, "-o", "page.html"],
            ["study", "show", name],
            ["study", "run", name, "--store", "s.db"],
            ["bufferless", "butterfly:2", "--paths", name],
        ):
            with contextlib.suppress(obliv.MissingExtraError):
                require_short(capsys, words)
