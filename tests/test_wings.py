"""A wing can be deleted: the core, its verbs and its tests work without its folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import obliv

SOURCE = Path(obliv.__file__).parent
TESTS = Path(__file__).parent
WINGS = sorted(path.parent.name for path in SOURCE.glob("*/wing.py"))

VERBS = [
    "--help",
    "list topologies",
    "list routings",
    "list traffic",
    "worst mesh:3x3 dor -o claim.json",
    "verify claim.json",
    "compare mesh:3x3 dor o1turn",
    "failures ring:4 ecmp",
    "deadlock mesh:3x3 dor",
    "plot result claim.json claim.svg",
    "report claim.json -o claim.html",
    "study schema",
]

#: Rooms of the core whose tests run without a wing, but for files that name one.
ROOMS = ("matching", "loads", "patterns", "questions")


def run(root: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python where the copy is found before the package."""
    given = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=root, env=given, text=True, capture_output=True, timeout=900, check=False)


@pytest.fixture(params=WINGS)
def without(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with a copy of the package that lacks a wing."""
    shutil.copytree(SOURCE, tmp_path / "obliv", ignore=shutil.ignore_patterns("__pycache__", request.param))
    assert not (tmp_path / "obliv" / request.param).exists()
    return tmp_path


def test_the_wings() -> None:
    assert WINGS == ["bufferless", "explore", "fabric", "papers"]


@pytest.mark.sampled(2)
def test_the_verbs_of_the_core(without: Path) -> None:
    lines = "\n".join(f"assert main({line.split()!r}) == 0, {line!r}" for line in VERBS)
    done = run(without, "-c", f"from obliv.cli import main\n{lines}")
    assert done.returncode == 0, done.stderr
    assert str(without) in run(without, "-c", "import obliv; print(obliv.__file__)").stdout


@pytest.mark.nightly
def test_the_tests_of_the_core(without: Path) -> None:
    shutil.copytree(TESTS, without / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TESTS.parent / "pyproject.toml", without)
    shutil.copytree(TESTS.parent / "docs", without / "docs", ignore=shutil.ignore_patterns("_build", "pictures"))
    words = "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not nightly"
    found = [path for room in ROOMS for path in (without / "tests" / room).rglob("test_*.py")]
    places = [path for path in found if not re.search(rf"\b({'|'.join(WINGS)})\b", path.read_text("utf-8"))]
    done = run(without, "-m", "pytest", *words, *places)
    assert done.returncode == 0, done.stdout[-3000:]
