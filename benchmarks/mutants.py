"""Weakens the checker, or other code, one line after another, and counts how many of these faults its tests notice.

``python benchmarks/mutants.py [--every N] [--sample N] [--minutes M] [--nightly] [--refusals] [--again LOG] [FILE...]``
prints the faults that no test notices and the score; files and folders are below ``src/obliv``, by default those of the
checks (``checker``, ``flows``, ``fabric/checker``, ``bufferless/checker`` and ``results/claims.py``); for others name
their tests with ``--tests``.  A fault takes out a refusal: it makes a check hold or leaves out a ``raise``, a
``return`` or a name of a problem; or it leaves out a part of a condition, or moves a limit by one, or subtracts what is
added.  Tests that reach the line are run, those by day alone unless ``--nightly`` is given.  All of it takes hours: a
night's work.  ``--sample`` tries faults that are drawn by the day of the year, and ``--minutes`` ends with the score of
those tried; ``--refusals`` tries the refusals alone, and ``--again`` those that an earlier run has printed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import itertools
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from obliv import kernels
from obliv.specs import untrusted

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "obliv"
FOLDERS = (*PACKAGE.rglob("checker"), PACKAGE / "flows")
PATHS = sorted((*(path for folder in FOLDERS for path in folder.rglob("*.py")), PACKAGE / "results" / "claims.py"))
FILES: set[str] = set()  # whose lines are seen
TESTS = (
    "tests/checker",
    "tests/designs",
    "tests/bufferless",
    "tests/fabric/outages",
    "tests/fabric/analyses/test_fabric_claims.py",
    "tests/loads/test_arithmetic_and_trust.py",
    "tests/questions/collisions",
    "tests/questions/test_every_channel.py",
    "tests/questions/test_failures.py",
    "tests/routings/trees/test_ratio_certificates.py",
    "tests/routings/trees/test_ratio_refusals.py",
)
ENDLESS = "tests/checker/test_untrusted.py"  # whose claims end by limits alone, which are not set here
SECONDS = 300  # for the tests of one fault; one that hangs is noticed
#: Conditions that look like refusals, but whose loss changes no verdict, by file.
EQUIVALENT = {
    "not loop and (not (refill and after.arrives.any()))": "fabric/checker/failures.py",  # a short cut
    "self.layer is not None and self._stays_acyclic(self.layer, after.routes)": "fabric/checker/routes.py",  # another
    "hops is None or (ask := hops.next_channels) is None": "fabric/checker/routes.py",  # asked before
    "isinstance(value, Bounds)": "checker/traffic_ratios.py",  # the words of a message
}
_TABLE = "(wrong, problem)"  # loops over it
_BOUNDS: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}

_FAILED = 2  # the status of a process whose action was not carried out

Fault = tuple[int, str, Callable[[], ast.Module]]  # line, words, the module with it
Change = Callable[[Any], None]


def faults_of(path: Path, refusals: bool = False) -> Iterator[Fault]:
    """Yield all faults of a module, or those alone that take out a refusal."""
    tree = ast.parse(path.read_text())
    for number, node in enumerate(ast.walk(tree)):
        test = ast.unparse(node.test) if isinstance(node, ast.If) else ""
        own = [] if path == PACKAGE / EQUIVALENT.get(test, ".") else [*_refusals(node)]
        for words, change in own if refusals else (*own, *_conditions(node)):
            yield node.lineno, words, partial(_with, tree, number, change)  # type: ignore[attr-defined]


def _with(tree: ast.Module, number: int, change: Change) -> ast.Module:
    """Return a copy of a module with one node changed."""
    other = copy.deepcopy(tree)
    change(next(inner for at, inner in enumerate(ast.walk(other)) if at == number))
    return ast.fix_missing_locations(other)


def _refusals(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note":
        if ast.unparse(node.args[1]) not in ("True", "None"):
            yield f"note({ast.unparse(node.args[0])}, True)", _to_true
    elif isinstance(node, ast.If) and any(map(_refuses, node.body)):
        yield f"if False: for {ast.unparse(node.test)}", _never
    elif isinstance(node, ast.For) and ast.unparse(node.target) == _TABLE and isinstance(node.iter, ast.Tuple):
        for row in range(len(node.iter.elts)):
            yield f"False for {ast.unparse(node.iter.elts[row])}", _row_never(row)
    elif isinstance(node, ast.Return) or (isinstance(node, ast.Assign) and _names_problem(node)):
        ends = [*_ends(node.value)]
        if any(map(_is_empty, ends)) and any(isinstance(end, ast.Constant | ast.JoinedStr) for end in ends[1:]):
            yield f"nothing wrong for {ast.unparse(node)}", _to_empty


def _conditions(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.BoolOp):
        for part in range(len(node.values)):
            yield f"without {ast.unparse(node.values[part])}", _without(part)
    elif isinstance(node, ast.Compare):
        for part, operator in enumerate(node.ops):
            if type(operator) in _BOUNDS:
                yield f"a limit moved in {ast.unparse(node)}", _moved(part)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and not _is_text(node):
        yield f"a minus in {ast.unparse(node)}", _subtracted


def _is_text(node: ast.BinOp) -> bool:
    texts = ast.JoinedStr | ast.List | ast.Tuple
    sides = (node.left, node.right)
    return any(isinstance(side, texts) or isinstance(getattr(side, "value", 0), str) for side in sides)


def _refuses(statement: ast.stmt) -> bool:
    """Whether a statement ends with a problem, or names it."""
    if isinstance(statement, ast.Raise):
        return True
    if isinstance(statement, ast.Assign):
        return _names_problem(statement)
    value = statement.value if isinstance(statement, ast.Return | ast.Expr) else None
    value = value.value if isinstance(value, ast.Yield) else value if isinstance(statement, ast.Return) else None
    value = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    falsy = isinstance(value, ast.Constant) and (value.value is None or value.value is False)
    named = isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value != ""
    return falsy or named or isinstance(value, ast.JoinedStr)


def _names_problem(statement: ast.Assign) -> bool:
    return bool(re.match(r"problem$|wrong\['", ast.unparse(statement.targets[0])))


def _ends(value: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what a conditional expression can be."""
    if isinstance(value, ast.IfExp):
        yield from (*_ends(value.body), *_ends(value.orelse))
    elif value is not None:
        yield value


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == ""


def _to_empty(node: ast.Return | ast.Assign) -> None:
    node.value = ast.Constant("")


def _to_true(node: ast.Call) -> None:
    node.args[1] = ast.Constant(True)


def _never(node: ast.If) -> None:
    node.test = ast.Constant(False)


def _row_never(row: int) -> Change:
    return lambda node: node.iter.elts[row].elts.__setitem__(0, ast.Constant(False))


def _without(part: int) -> Change:
    return lambda node: node.values.pop(part)


def _subtracted(node: ast.BinOp) -> None:
    node.op = ast.Sub()


def _moved(part: int) -> Change:
    def change(node: ast.Compare) -> None:
        node.ops[part] = _BOUNDS[type(node.ops[part])]()

    return change


def put_in(module: Any, tree: ast.Module) -> None:
    """Give the functions of a module that is loaded the code of another one of the same form."""
    codes: dict[str, types.CodeType] = {}

    def list_codes(code: types.CodeType) -> None:
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                codes[inner.co_qualname] = inner
                list_codes(inner)

    list_codes(compile(tree, module.__file__, "exec"))
    parts, seen = list(vars(module).values()), set()
    for part in parts:  # grows
        within = getattr(getattr(part, "func", part), "__module__", module.__name__)  # of cached properties, too
        if id(part) in seen or within != module.__name__:
            continue
        seen.add(id(part))
        parts += vars(part).values() if isinstance(part, type) else ()
        parts += (getattr(part, name, None) for name in ("fget", "func", "__func__", "__wrapped__", "python"))
        own = isinstance(part, types.FunctionType) and part.__code__.co_filename == module.__file__
        if own and part.__qualname__ in codes:  # others are made by dataclasses and decorators
            part.__code__ = codes[part.__qualname__]


class Night:
    """A plugin that runs the tests once and keeps the lines that each reaches, then once for each fault.

    Each time they run in a copy of the process, which has collected them all; within it claims in files are checked
    without a copy of their own, so that their lines are seen.
    """

    def __init__(self, faults: list[tuple[Path, Fault]], minutes: float) -> None:
        self.faults, self.end = faults, time.monotonic() + 60 * minutes
        self.total = self.survivors = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        kept = Path(tempfile.mkstemp()[1])
        if in_child(partial(self.keep_lines, session, kept), 0):
            raise SystemExit("the tests could not be run")
        tests = json.loads(kept.read_text())
        kept.unlink()
        print(f"{len(tests)} tests reach a line of these files", file=sys.stderr, flush=True)
        for path, (line, words, faulty) in self.faults:
            if time.monotonic() > self.end:
                break
            self.total += 1
            those = {at: seconds for at, (seconds, lines) in tests.items() if f"{path}:{line}" in lines}
            status = in_child(partial(self.run_with, session, path, faulty, those), SECONDS) if those else 0
            if status == _FAILED:
                self.total -= 1
                print(
                    f"{path.relative_to(PACKAGE)}:{line}: {words}   (could not be put in)", file=sys.stderr, flush=True
                )
            elif not status:
                self.survivors += 1
                why = "" if those else "   (no test reaches it)"
                print(f"{path.relative_to(PACKAGE)}:{line}: {words}{why}", flush=True)
            if not self.total % 20:
                print(f"{self.total - self.survivors} of {self.total} so far", file=sys.stderr, flush=True)
        return True

    def keep_lines(self, session: pytest.Session, kept: Path) -> int:
        """Write down the seconds and lines of each test; of none that fails, as those of limits that are not set."""
        found, lines = {}, set()

        def inside(frame: Any, event: str, argument: Any) -> Any:
            lines.add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            return inside

        def enter(frame: Any, event: str, argument: Any) -> Any:
            return inside(frame, event, argument) if frame.f_code.co_filename in FILES else None

        untrusted._within.set(True)
        vars(kernels)["COMPILE_ABOVE"] = float("inf")  # lines of machine code are not seen
        for at, item in enumerate(session.items):
            began, failed = time.perf_counter(), session.testsfailed
            lines.clear()
            sys.settrace(enter)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=(*session.items, None)[at + 1])
            sys.settrace(None)
            if lines and session.testsfailed == failed:
                found[at] = time.perf_counter() - began, sorted(lines)
        kept.write_text(json.dumps(found))
        return 0

    def run_with(
        self, session: pytest.Session, path: Path, faulty: Callable[[], ast.Module], those: dict[str, float]
    ) -> int:
        """Run some tests with a fault, until one fails: the fastest modules first."""
        untrusted._within.set(True)
        if path.name == "_kernels.py":
            vars(kernels)["COMPILE_ABOVE"] = float("inf")
        put_in(importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts)), faulty())
        modules: dict[Any, list[tuple[float, Any]]] = {}
        for at, seconds in those.items():
            item = session.items[int(at)]
            modules.setdefault(item.path, []).append((seconds, item))
        order = sorted(modules.values(), key=lambda rows: sum(seconds for seconds, _ in rows))
        items = [item for rows in order for _, item in rows]
        for item, following in itertools.pairwise((*items, None)):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
        return 0


def in_child(action: Callable[[], int], seconds: int) -> int:
    """Return the exit status of an action in a copy of this process, without its output; -1 where it takes too long."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        status = _FAILED
        with contextlib.suppress(BaseException):
            status = min(1, int(action()))
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try one in N faults")
    parser.add_argument("--sample", type=int, metavar="N", help="try N faults, drawn by the day of the year")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no fault later than this")
    parser.add_argument("--nightly", action="store_true", help="run the tests of the night, too")
    parser.add_argument("--refusals", action="store_true", help="try only faults that take out a refusal")
    parser.add_argument("--again", type=Path, metavar="LOG", help="try only faults that an earlier run has printed")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files or folders of tests")
    parser.add_argument("files", nargs="*", help="such as checker/ratios.py or matching, below src/obliv")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    options = ["-q", "-p", "no:cacheprovider", f"--ignore={ENDLESS}"]
    options += ["-m", ""] if given.nightly else []
    named = [PACKAGE / name for name in given.files]
    paths = [path for name in named for path in (sorted(name.rglob("*.py")) if name.is_dir() else [name])] or PATHS
    FILES.update(map(str, paths))
    faults = {path: list(faults_of(path, given.refusals)) for path in paths}
    chosen = [(path, fault) for path in paths for fault in faults[path][:: given.every]]
    if given.again:
        lines = re.sub(r"   \(no test.*", "", given.again.read_text()).splitlines()
        before = {re.sub(r":\d+: ", " ", line, count=1) for line in lines}
        chosen = [each for each in chosen if f"{each[0].relative_to(PACKAGE)} {each[1][1]}" in before]
    if given.sample is not None and given.sample < len(chosen):
        day = time.gmtime().tm_yday
        print(f"{given.sample} of {len(chosen)} faults, drawn by day {day} of the year")
        chosen = random.Random(day).sample(chosen, given.sample)
    night = Night(chosen, given.minutes)
    pytest.main([*options, "-s", *given.tests], plugins=[night])
    found, total = night.total - night.survivors, night.total
    print(f"{found} of {total} faults noticed, {100 * found / max(1, total):.0f} %")


if __name__ == "__main__":
    main()
