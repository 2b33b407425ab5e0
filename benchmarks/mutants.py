"""Weakens the checker, one refusal after another, and counts how many of these faults its tests notice.

``python benchmarks/mutants.py [--every N] [--sample N] [--minutes M] [--nightly] [FILE...]`` prints the faults that no
test notices and the score; files are those of ``src/obliv/checker``, by default all.  A fault makes a check hold,
leaves out a ``raise``, a ``return`` of a problem or a part of a condition, or moves a limit by one.  Tests that reach
the line are run, those by day alone unless ``--nightly`` is given.  All of it takes hours: a night's work.
``--sample`` tries faults that are drawn by the day of the year, and ``--minutes`` ends with the score of those tried.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy  # noqa: F401  # loaded once, before processes fork
import pytest
import scipy.sparse.csgraph  # noqa: F401

import obliv  # noqa: F401  # without its checker, which each process loads with its own fault
from obliv.specs import untrusted

ROOT = Path(__file__).resolve().parents[1]
CHECKER = ROOT / "src" / "obliv" / "checker"
FILES = frozenset(map(str, CHECKER.rglob("*.py")))
TESTS = (
    "tests/checker",
    "tests/designs",
    "tests/bufferless",
    "tests/fabric/outages",
    "tests/questions/test_failures.py",
)
SECONDS = 300  # for the tests of one fault; one that hangs is noticed
_BOUNDS: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}

Fault = tuple[int, str, Callable[[], ast.Module]]  # line, words, the module with it
Change = Callable[[Any], None]


def faults_of(path: Path) -> Iterator[Fault]:
    """Yield all faults of a module."""
    tree = ast.parse(path.read_text())
    for number, node in enumerate(ast.walk(tree)):
        for words, change in _changes(node):
            yield node.lineno, words, partial(_with, tree, number, change)  # type: ignore[attr-defined]


def _with(tree: ast.Module, number: int, change: Change) -> ast.Module:
    """Return a copy of a module with one node changed."""
    other = copy.deepcopy(tree)
    change(next(inner for at, inner in enumerate(ast.walk(other)) if at == number))
    return ast.fix_missing_locations(other)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note":
        if ast.unparse(node.args[1]) not in ("True", "None"):
            yield f"note({ast.unparse(node.args[0])}, True)", _to_true
    elif isinstance(node, ast.If) and any(map(_refuses, node.body)):
        yield f"if False: for {ast.unparse(node.test)}", _never
    elif isinstance(node, ast.BoolOp):
        for part in range(len(node.values)):
            yield f"without {ast.unparse(node.values[part])}", _without(part)
    elif isinstance(node, ast.Compare):
        for part, operator in enumerate(node.ops):
            if type(operator) in _BOUNDS:
                yield f"a limit moved in {ast.unparse(node)}", _moved(part)


def _refuses(statement: ast.stmt) -> bool:
    """Whether a statement ends with a problem."""
    if isinstance(statement, ast.Raise):
        return True
    value = statement.value if isinstance(statement, ast.Return | ast.Expr) else None
    value = value.value if isinstance(value, ast.Yield) else value if isinstance(statement, ast.Return) else None
    value = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    falsy = isinstance(value, ast.Constant) and (value.value is None or value.value is False)
    return (
        falsy or isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
    )


def _to_true(node: ast.Call) -> None:
    node.args[1] = ast.Constant(True)


def _never(node: ast.If) -> None:
    node.test = ast.Constant(False)


def _without(part: int) -> Change:
    return lambda node: node.values.pop(part)


def _moved(part: int) -> Change:
    def change(node: ast.Compare) -> None:
        node.ops[part] = _BOUNDS[type(node.ops[part])]()

    return change


class _Faulty(importlib.machinery.SourceFileLoader):
    """Loads a module with a fault."""

    tree: ast.Module

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        loader = _Faulty(fullname, str(self.path))
        loader.tree = self.tree
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


class _Reached:
    """A plugin that keeps which lines of the checker each test reaches, and its seconds.

    Claims in files are checked by copies of the process, which write down their lines before they answer.
    """

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.lines: set[tuple[str, int]] = set()
        self.copies = Path(tempfile.mkdtemp())
        answer = untrusted._answer

        def answered(*given: Any) -> Any:
            found = answer(*given)
            (self.copies / str(os.getpid())).write_text(json.dumps(sorted(self.lines)))
            return found

        untrusted._answer = answered

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.lines.clear()

        def inside(frame: Any, event: str, argument: Any) -> Any:
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
            return inside

        def enter(frame: Any, event: str, argument: Any) -> Any:
            return inside(frame, event, argument) if frame.f_code.co_filename in FILES else None

        began = time.perf_counter()
        sys.settrace(enter)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            for copy_of in self.copies.iterdir():
                self.lines |= {(file, line) for file, line in json.loads(copy_of.read_text() or "[]")}
                copy_of.unlink()
            seen = sorted(f"{file}:{line}" for file, line in self.lines)
            self.tests[item.nodeid] = time.perf_counter() - began, seen


def in_child(action: Callable[[], int]) -> int:
    """Return the exit status of an action in a process of its own, without its output; -1 where it takes too long."""
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        status = 1
        with contextlib.suppress(BaseException):
            status = int(action())
        os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def reached(tests: list[str], options: list[str]) -> dict[str, list[str]]:
    """Return the tests that reach each line of the checker, the fastest first."""
    plugin, kept = _Reached(), Path(tempfile.mkstemp()[1])

    def action() -> int:
        signal.alarm(0)
        status = pytest.main([*options, *tests], plugins=[plugin])
        kept.write_text(json.dumps(plugin.tests))
        return int(status)

    if in_child(action):
        raise SystemExit("the tests fail without any fault")
    found: dict[str, list[tuple[float, str]]] = {}
    for test, (seconds, lines) in json.loads(kept.read_text()).items():
        for line in lines:
            found.setdefault(line, []).append((seconds, test))
    kept.unlink()
    return {line: [test for _, test in sorted(those)] for line, those in found.items()}


def noticed(path: Path, tree: ast.Module, tests: list[str], options: list[str]) -> bool:
    """Whether one of some tests fails with a fault."""

    def action() -> int:
        sys.meta_path.insert(0, _Finder(path, tree))
        return int(pytest.main([*options, "-x", *tests]))

    return in_child(action) != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try one in N faults")
    parser.add_argument("--sample", type=int, metavar="N", help="try N faults, drawn by the day of the year")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no fault later than this")
    parser.add_argument("--nightly", action="store_true", help="run the tests of the night, too")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files or folders of tests")
    parser.add_argument("files", nargs="*", help="such as ratios.py, below the checker's folder")
    given, began = parser.parse_args(), time.monotonic()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    options = ["-q", "-p", "no:cacheprovider"]
    options += ["-m", ""] if given.nightly else []
    tests = reached(list(given.tests), options)
    total = survivors = 0
    paths = [CHECKER / name for name in given.files] or sorted(CHECKER.rglob("*.py"))
    faults = {path: list(faults_of(path)) for path in paths}
    chosen = [(path, fault) for path in paths for fault in faults[path][:: given.every]]
    if given.sample is not None and given.sample < len(chosen):
        day = time.gmtime().tm_yday
        print(f"{given.sample} of {len(chosen)} faults, drawn by day {day} of the year")
        chosen = random.Random(day).sample(chosen, given.sample)
    for path, (line, words, faulty) in chosen:
        if time.monotonic() - began > 60 * given.minutes:
            break
        total += 1
        those = tests.get(f"{path}:{line}", [])
        if not (those and noticed(path, faulty(), those, options)):
            survivors += 1
            why = "" if those else "   (no test reaches it)"
            print(f"{path.relative_to(CHECKER)}:{line}: {words}{why}", flush=True)
        if not total % 20:
            print(f"{total - survivors} of {total} so far", file=sys.stderr, flush=True)
    print(f"{total - survivors} of {total} faults noticed, {100 * (total - survivors) / max(1, total):.0f} %")


if __name__ == "__main__":
    main()
