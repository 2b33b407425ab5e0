"""The measures of the house (benchmarks/house.py): the lists kept by hand are true, and counts on a small tree."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import house  # type: ignore[import-not-found]

    yield house
    del sys.modules["house"]


ONE = '"""1."""\n\nfrom obliv import two\n\n\nclass Walk:\n    x = 1\n\n\ndef follow(a, b):\n    pass\n'
FILES = {
    "src/obliv/__init__.py": '"""The package."""\n',
    "src/obliv/one.py": ONE,
    "src/obliv/two.py": "import os\n\n\ndef late():\n    from obliv.one import Walk\n\n    return Walk\n",
    "src/obliv/fabric/__init__.py": "",
    "src/obliv/fabric/walks.py": "from . import other\n\n\nclass Walk:\n    def follow(self, a):\n        pass\n",
    "src/obliv/fabric/other.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .walks import Walk\n",
    "src/obliv/results/fabric.py": "VERBS = {}\n",
    "README.md": "one two three\n",
    "docs/page.md": "# four five\n\nsix seven\n",
    "docs/table.md": "\n".join("| seven | eight |" for _ in range(9)),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_measures_of_a_small_tree(house: Any, tree: Path) -> None:
    answer = house.measures(tree, walked=False)
    assert (answer["lines"], answer["files"]) == (1 + 11 + 7 + 0 + 6 + 4 + 1, 7)
    assert answer["lines of the core"] == 19
    assert answer["lines of fabric"] == 11
    assert answer["lines of the core, rooms of wings in it"] == 20
    assert answer["heads, % of lines"] == pytest.approx(100 * (1 + 3 + 2 + 1 + 4) / 30, abs=0.05)
    assert answer["class names defined more than once"] == 1
    assert answer["circles of imports"] == [2, "(largest 2 files)"]
    assert answer["circles of imports that run"] == [1, "(largest 2 files)"]
    assert answer["circles of imports that run when modules load"] == [0, "(largest 0 files)"]
    assert answer["words of docs"] == 3 + 4 + 9 * 2
    assert answer["longest page, not a table"] == ["docs/page.md", 4]


def test_entries_of_lists_name_one_function(house: Any, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "FOLLOWERS", [["follow"], ["follow(a, b)"], ["Walk.follow"], ["gone"]])
    monkeypatch.setattr(house, "BUILDERS", [["late"]])
    monkeypatch.setattr(house, "RESULT_TABLES", ["VERBS", "PARTS", "docs/page.md"])
    assert house.stale(tree) == ["2 functions follow", "0 functions gone", "no table PARTS"]


def test_the_lists_kept_by_hand_are_true(house: Any) -> None:
    assert house.stale(ROOT) == []


COMMON = {
    "kernel",
    "kernels",
    "that",
    "their",
    "them",
    "these",
    "they",
    "this",
    "those",
    "what",
    "when",
    "where",
    "which",
}


def _words(text: str) -> set[str]:
    """Return the words of four or more letters, singular and plural alike, without those that name nothing."""
    words = {*re.findall(r"[^\W\d_]{4,}", text.lower())} - COMMON
    return {re.sub(r"(ies|y|es|e|s)$", "", word) for word in words}


def test_first_lines_name_what_all_sections_hold() -> None:
    """A section begins with a comment of its own; the first line of its module has a word of this heading."""
    unnamed = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        if path.name == "obliv_check.py":  # a program by itself, whose beginning says how it is read
            continue
        text = path.read_text(encoding="utf-8")
        first = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        headings = re.findall(r"^\n# (\S.*)\n#?\n", text, re.MULTILINE)
        if missing := [heading for heading in headings if not _words(heading) & _words(first)]:
            unnamed[str(path.relative_to(ROOT))] = missing
    assert not unnamed
