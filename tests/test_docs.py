"""The documentation is what the program does: every command and Python session in it is run and its output compared.

On each page, from top to bottom, in an empty folder of its own:

* a fenced block with ``title="NAME"`` behind its language is the file NAME;
* in a ``console`` block each line ``$ COMMAND`` is run (``obliv``, ``python``, ``cat``, ``echo $?``), what follows up
  to the next one is its output and messages;
* a ``pycon`` block is a session, in which names live on from block to block.

``...`` in an output stands for anything, wall seconds and digests are not compared.  Other blocks are not run.  By day
the README and the tutorials run but for blocks with the word ``slow``, and the first block of all other pages; by night
everything.  ``python tests/test_docs.py [PAGE ...]`` pastes what has changed.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import obliv
from obliv.cli import main
from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES, Registry
from obliv.testing import check_topology

ROOT = Path(__file__).resolve().parents[1]
_MADE = ("_build", "gallery", "generated")  # by the build of the site
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    if not set(page.relative_to(ROOT).parts) & set(_MADE)
)
WHOLE = ("README.md", "docs/tutorials/")  # what newcomers try, run by day but for slow blocks
RUNNING = [
    page for page in PAGES if re.search(r"^```(console|pycon)\b", (ROOT / page).read_text(encoding="utf-8"), re.M)
]
REGISTRIES = (TOPOLOGIES, ROUTINGS, PATTERNS)

_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n", re.MULTILINE)
_VARIES = [
    (re.compile(r'("wall_seconds": ?)[\d.e-]+'), r"\1..."),
    (re.compile(r'("digest": ?")[0-9a-f]{64}'), r"\1..."),
]


@dataclass
class Run:
    """A page that is run: what it has made so far, where it differs, and the text with what it should say."""

    text: str
    slow: bool = False
    first: bool = False  # only the first block that runs
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    status: int = 0
    ran: int = 0
    faults: list[str] = field(default_factory=list)

    def page(self) -> str:
        """Run all blocks; returns the page with the outputs that are."""
        return _FENCE.sub(self._block, self.text)

    def _block(self, found: re.Match[str]) -> str:
        language, more, body = found.groups()
        title = re.search(r'title="([^"]+)"', more)
        if ("slow" in more.split() and not self.slow) or (self.first and self.ran):
            return found[0]
        if title:
            Path(title[1]).write_text(body, encoding="utf-8")
        elif language == "console":
            body = self._console(body)
        elif language == "pycon":
            body = self._session(body)
        return f"```{language}{more}\n{body}```"

    def _console(self, body: str) -> str:
        starts = list(_COMMAND.finditer(body))
        assert starts, f"no line of this block starts with $:\n{body}"
        assert starts[0].start() == 0, f"this block starts with no command:\n{body}"
        result = ""
        for here, after in zip(starts, [*starts[1:], None], strict=True):
            want = body[here.end() : after.start() if after else None]
            got = self._command(here[1].replace("\\\n", " "))
            result += here[0] + self._kept(here[0], want, got)
        return result

    def _session(self, body: str) -> str:
        result = body
        for example in doctest.DocTestParser().get_examples(body):
            source = "".join(
                f"{'>>>' if k == 0 else '...'} {line}".rstrip() + "\n"
                for k, line in enumerate(example.source.splitlines())
            )
            got = self._evaluated(example.source)
            remaining = self._kept(source, example.want, got)
            result = result.replace(source + example.want, source + remaining, 1)
        return result

    def _evaluated(self, source: str) -> str:
        """What a session prints for a statement; of an error only what a reader wants to see."""
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out), mock.patch.object(sys, "displayhook", sys.__displayhook__):
            try:
                exec(compile(source, "<session>", "single"), self.names)
            except Exception as error:
                name = f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")
                print(f"Traceback (most recent call last):\n    ...\n{name}: {error}")
        return out.getvalue()

    def _kept(self, command: str, want: str, got: str) -> str:
        """The expected output where it fits, else the one that came."""
        self.ran += 1
        got = "".join(line.rstrip() + "\n" for line in got.splitlines())
        one, two = want, got
        for pattern, by in _VARIES:
            one, two = pattern.sub(by, one), pattern.sub(by, two)
        if doctest.OutputChecker().check_output(one, two, doctest.ELLIPSIS):
            return want
        self.faults.append(f"{command}expected:\n{want}got:\n{got}")
        return got

    def _command(self, line: str) -> str:
        line = line.removeprefix("pip install uv && uv run ")
        if line == "echo $?":
            return str(self.status)
        words = shlex.split(line)
        where = words[words.index(">") + 1 :] if ">" in words else []
        words = words[: words.index(">")] if where else words
        out, messages = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(messages if where else out):
            if words[0] == "obliv":
                with _registries():  # a command is a program of its own
                    self.status = main(words[1:])
            elif words[0] == "cat":
                print("".join(Path(name).read_text(encoding="utf-8") for name in words[1:]), end="")
                self.status = 0
            elif words[0] == "python":
                self.status = _script(words[1:])
            else:
                raise AssertionError(f"a page cannot run {words[0]!r}")
        if where:
            Path(where[0]).write_text(out.getvalue(), encoding="utf-8")
            return messages.getvalue()
        return out.getvalue()


# Programs that pages name as if they were copied into the folder.
_COPIED = {path.name: path for path in (ROOT / "src/obliv/checker/obliv_check.py", ROOT / "examples/check_schedule.py")}


def _script(words: list[str]) -> int:
    named = Path(words[0])
    program = named if named.exists() else _COPIED.get(named.name, named)
    with mock.patch.object(sys, "argv", words):
        try:
            runpy.run_path(str(program), run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
                return 1
            return int(end.code or 0)
    return 0


@contextmanager
def _registries() -> Iterator[None]:
    """Registries with what is built in, as in a new program; afterwards they are as they were."""
    remaining = []
    for registry in REGISTRIES:
        built_in = {entry.name: entry for entry in registry if entry.make.__module__.startswith("obliv.")}
        names = {word: name for word, name in registry._names.items() if name in built_in}
        remaining.append((registry, registry._entries, registry._names))
        registry._entries, registry._names = built_in, names
    try:
        yield
    finally:
        for registry, entries, words in remaining:
            registry._entries, registry._names = entries, words


@contextmanager
def _clean(folder: str | Path) -> Iterator[None]:
    """Another folder, and afterwards everything as it was."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with _registries():
            yield
    finally:
        os.chdir(before)


def _check(page: str, folder: Path, **how: bool) -> None:
    with _clean(folder):
        run = Run((ROOT / page).read_text(encoding="utf-8"), **how)
        run.page()
    advice = f"If the new output is right, paste it with:  uv run python tests/test_docs.py {page}\n\n"
    assert not run.faults, f"{page} shows other output. {advice}" + "\n".join(run.faults)


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(WHOLE)])
def test_what_the_page_shows(page: str, tmp_path: Path) -> None:
    _check(page, tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", [page for page in RUNNING if not page.startswith(WHOLE)])
def test_what_the_page_shows_first(page: str, tmp_path: Path) -> None:
    _check(page, tmp_path, first=True)


@pytest.mark.nightly
@pytest.mark.parametrize("page", RUNNING)
def test_all_that_the_page_shows(page: str, tmp_path: Path) -> None:
    _check(page, tmp_path, slow=True)


def _anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    here = ROOT / page
    text = _CODE.sub("`", here.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (here.parent / name).resolve() if name else here
        assert there.exists(), f"{page} links to {target}, which is not there"
        assert not anchor or anchor in _anchors(there), f"{page} links to {target}: no such heading"


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_stands_in_the_list_of_specs(registry: Registry[Any]) -> None:
    page = (ROOT / "docs/reference/specs.md").read_text(encoding="utf-8")
    for entry in registry:
        if entry.make.__module__.startswith("obliv."):
            for word in (entry.name, *entry.aliases):
                assert re.search(rf"`{re.escape(word)}[`:]", page), f"specs.md lacks the {registry.kind} {word}"


def test_every_public_name_stands_on_the_python_page() -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    for name in obliv.__all__:
        assert re.search(rf"`(obliv\.)?{name}\b", page), f"docs/reference/python.md lacks {name}"


def test_the_topology_for_contributors_works() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.search(r"^ *```python\n(.*?)^ *```$", page, re.M | re.S)
    assert found
    with _registries():
        exec(compile(textwrap.dedent(found[1]), "CONTRIBUTING.md", "exec"), {"__name__": "two_way_rings"})
        check_topology(obliv.topology("two-way-ring:8"))
        for nodes in (2, 99999999999):
            with pytest.raises(obliv.TopologyError, match=f"two-way-ring:{nodes}: "):
                obliv.topology(f"two-way-ring:{nodes}")


ARCHITECTURE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")


def test_the_layers_on_the_page_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    layers = [layer.replace("obliv.", "") for layer in contract["layers"]]
    assert "\n".join(["```", *layers[1:], "```"]) in ARCHITECTURE  # without __main__


def test_every_folder_of_a_room_is_on_the_page() -> None:
    rows: dict[str, str] = {}
    for name, contents in re.findall(r"^\| `([\w.]+)/?` \| (.*)$", ARCHITECTURE, re.M):
        rows.setdefault(name, contents)  # the first; a room with a table of its own heads that, too
    for room in sorted((ROOT / "src" / "obliv").iterdir()):
        if room.is_dir() and room.name != "__pycache__":
            assert room.name in rows, f"{room.name} has no row"
            folders = {below.parent.name for below in room.glob("*/__init__.py")} - {"kernels"}
            row = ARCHITECTURE if rows[room.name].endswith("below |") else rows[room.name]  # has a table of its own
            missing = {name for name in folders if f"`{name}/`" not in row}
            assert not missing or room.name in ("papers", "cli"), f"{room.name} lacks {sorted(missing)}"


def test_every_page_is_on_the_map() -> None:
    linked = {
        str((ROOT / "docs" / target.partition("#")[0]).resolve().relative_to(ROOT))
        for target in re.findall(r"\]\(([^):]+)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    }
    assert set(PAGES) - {"docs/index.md", "README.md"} <= linked


COVERAGE = sorted(ROOT.glob("docs/explanation/papers/coverage-*.md"))
_VERDICTS = ("reproduced", "erratum", "open", "beyond", "bound only", "thinned", "not there")


def _lines(page: Path) -> list[list[str]]:
    """Return the cells of the numbered lines of a page; a bar behind a backslash is part of a cell."""
    rows = re.findall(r"^\| (\d+[a-z]?, .*) \|$", page.read_text(encoding="utf-8"), re.M)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in rows]


def test_the_heads_of_the_coverage_pages_count_their_lines() -> None:
    overview = (ROOT / "docs/explanation/papers/coverage.md").read_text(encoding="utf-8")
    total = dict.fromkeys(("lines", *_VERDICTS), 0)
    for page in COVERAGE:
        lines = _lines(page)
        numbers = [line[0].partition(",")[0] for line in lines]
        assert numbers == sorted(set(numbers), key=lambda number: (int(number.rstrip("abc")), number)), page.name
        count = {"lines": len(lines), **dict.fromkeys(_VERDICTS, 0)}
        for line in lines:
            (verdict,) = [word for word in _VERDICTS if re.match(rf"{word}\b", line[-1])]
            count[verdict] += 1
            total[verdict] += 1
        total["lines"] += len(lines)
        parts = ", ".join(f"{count[verdict]} {verdict}" for verdict in _VERDICTS if count[verdict])
        assert f"\n{count['lines']} lines: {parts}.\n" in page.read_text(encoding="utf-8"), page.name
        assert f"]({page.name}) | {' | '.join(map(str, count.values()))} |\n" in overview, page.name
    assert f"| all | {' | '.join(map(str, total.values()))} |" in overview


def _paste(pages: list[str]) -> None:
    for page in pages:
        path = ROOT / page
        with tempfile.TemporaryDirectory() as folder, _clean(folder):
            run = Run(path.read_text(encoding="utf-8"), slow=True)
            result = run.page()
        print(f"{page}: {run.ran} run, {len(run.faults)} changed")
        if result != run.text:
            path.write_text(result, encoding="utf-8")


if __name__ == "__main__":
    _paste(sys.argv[1:] or PAGES)
