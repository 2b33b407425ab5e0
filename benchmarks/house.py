"""The measures of the house: how much there is to read, and how far one question walks.

    uv run python benchmarks/house.py [--tree FOLDER] [--format table|json]

Everything is counted in the tree as it is, wherever files move; `--tree` measures another checkout with the packages
of this environment. Three measures are lists kept by hand below: the exit status is 1 if they name what is not there
any more. It takes half a minute.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: A wing, and what its rooms are called where they still stand in rooms of the core.
WINGS = {
    "fabric": {"fabric", "fabrics"},
    "bufferless": {"bufferless", "schedules", "leveled"},
    "papers": {"papers", "reproduce"},
    "explore": {"explore", "interactive"},
}

#: Ways to follow a packet through tables, one a line; functions that are one way stand together. A function is
#: written as Class.method, or with its parameters where the name alone is not unique.
FOLLOWERS = [
    # the automaton: all packets for a LID, one route, without what failed, what follows what, shares of groups
    [
        *("endings", "follow(routes, s, d, o, path)", "walk(v, k, goal, routes, gone, path)", "length_from"),
        *("follows", "send", "denominators", "shares_on", "route_slots"),
    ],
    ["FabricHops.next_channels", "GroupHops.next_hops"],  # one step, as a routing of the core gives it
    ["NextHops.routes"],  # of the checker
]

#: Builders of graphs of channel dependencies.
BUILDERS = [
    ["follow_hops"],
    ["follow_paths"],
    ["follow_programs"],
    ["dependencies_of", "lane_graph", "plain_dependencies(routes)"],
    ["closes"],
    ["assign_layers"],
    ["has_credit_loop(self, after)", "_deadlocks(routing)"],
]

#: Which imports count, beside those of module bodies that run.
CIRCLES = {
    "circles of imports": {"functions", "annotations"},
    "circles of imports that run": {"functions"},
    "circles of imports that run when modules load": set[str](),
}

#: Tables to edit for a new kind of result: a name that is assigned in a module, or a file below the root.
RESULT_TABLES = ["CAPABILITIES"]

#: Commands that are followed, after those that make their files.
MAKE = ["worst torus:5x5 dor -o claim.json", "fabric generate fattree:8,2 --routing dmodk --tables t.lfts -o f.net"]
COMMANDS = [
    "worst torus:5x5 dor",
    "fabric worst f.net --lft t.lfts",
    "fabric failures f.net --lft t.lfts",
    "verify claim.json",
    "failures torus:4x4 shortest",
    "design torus:4x4",
]

# Runs in a process of its own: what a command enters, module bodies left out; and of this the functions proper, without
# bodies of classes (flag 1, "optimized", is set for functions only), lambdas and comprehensions, which newer Pythons
# do not call.
_PROFILE = """
import contextlib, io, json, sys, threading
root, words = sys.argv[1], sys.argv[2:]
entered = set()
def hook(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        entered.add(frame.f_code)
threading.setprofile(hook)
sys.setprofile(hook)
from obliv.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
    status = main(words)
sys.setprofile(None)
assert status == 0, messages.getvalue()
codes = {code for code in entered if code.co_name != "<module>"}
called = {code for code in codes if code.co_flags & 1 and not code.co_name.startswith("<")}
print(json.dumps([len({c.co_filename for c in codes}), len(codes), len({c.co_filename for c in called}), len(called)]))
"""

# Options of all verbs and groups of verbs; those of the program itself (--version ...) are not a verb's.
_OPTIONS = """
from typer.main import get_command
from obliv.cli.app import app
def options(command):
    own = sum(parameter.param_type_name == "option" for parameter in command.params)
    if not hasattr(command, "list_commands"):
        return own
    context = command.context_class(command)
    return own + sum(options(command.get_command(context, name)) for name in command.list_commands(context))
root = get_command(app)
print(options(root) - sum(parameter.param_type_name == "option" for parameter in root.params))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", metavar="FOLDER", type=Path, default=ROOT, help="a checkout (default: this one)")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    given = parser.parse_args()
    root = given.tree.resolve()
    answer = measures(root)
    print(json.dumps(answer, indent=2) if given.format == "json" else table(answer))
    problems = stale(root)
    for problem in problems:
        print(f"{problem}: mend the lists in benchmarks/house.py", file=sys.stderr)
    return 1 if problems else 0


def measures(root: Path, walked: bool = True) -> dict[str, Any]:
    """Return all measures of a checkout by name; those that run commands only if `walked`."""
    source = root / "src" / "obliv"
    lines = {path: count_lines(path) for path in files(source)}
    total = sum(lines.values())
    wing = {path: wing_of(path.relative_to(source)) for path in lines}
    answer: dict[str, Any] = {
        "lines": total,
        "lines of the core": sum(n for path, n in lines.items() if wing[path] is None),
        "lines of the core, rooms of wings in it": sum(
            n for path, n in lines.items() if path.relative_to(source).parts[0] not in WINGS
        ),
        **{f"lines of {name}": sum(n for path, n in lines.items() if wing[path] == name) for name in WINGS},
        "files": len(lines),
        "files of the core": sum(name is None for name in wing.values()),
        "lines a file": round(total / len(lines)),
        "heads, % of lines": round(100 * sum(map(head, lines)) / total, 1),
        "class names defined more than once": len(repeated_classes(source)),
    }
    for name, which in CIRCLES.items():
        rounds = circles(imports(source, which))
        answer[name] = [len(rounds), f"(largest {max(map(len, rounds), default=0)} files)"]
    lists = {"ways to follow a packet": FOLLOWERS, "builders of dependency graphs": BUILDERS}
    answer |= {name: len(kept) for name, kept in lists.items()}
    answer["tables for a new kind of result"] = len(RESULT_TABLES)
    texts = {str(page.relative_to(root)): page.read_text(encoding="utf-8") for page in pages(root)}
    words = {page: len(re.findall(r"\S*\w\S*", text)) for page, text in texts.items()}  # without the bars of tables
    longest = max((page for page in words if not is_table(root / page)), key=lambda page: words[page])
    answer |= {"words of docs": sum(words.values()), "longest page, not a table": [longest, words[longest]]}
    if walked:
        answer["options of all verbs"] = json.loads(python(root, root, "-c", _OPTIONS))
        answer["entered"] = entered(root)
    return answer


def stale(root: Path) -> list[str]:
    """Return the entries of lists kept by hand that do not name exactly one function, or no table."""
    texts = {path: path.read_text(encoding="utf-8") for path in files(root / "src" / "obliv")}
    problems = []
    for entry in (entry for way in (*FOLLOWERS, *BUILDERS) for entry in way):
        name, _, parameters = entry.rstrip(")").partition("(")
        last = name.rpartition(".")[2]
        places = [path for path, text in texts.items() if f"def {last}(" in text]
        times = sum(
            isinstance(node, ast.FunctionDef)
            and f".{place}".endswith(f".{name}")
            and (not parameters or [parameter.arg for parameter in node.args.args] == parameters.split(", "))
            for path in places
            for place, node in definitions(path)
        )
        if times != 1:
            problems.append(f"{times} functions {entry}")
    for entry in RESULT_TABLES:
        named = any(
            re.match(r"(:.*)? = ", rest) for text in texts.values() for rest in f"\n{text}".split(f"\n{entry}")[1:]
        )
        if not named and not (root / entry).exists():
            problems.append(f"no table {entry}")
    return problems


def table(answer: dict[str, Any]) -> str:
    """Return the measures as text."""
    rows = [
        f"{name:<52} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in answer.items()
        if name != "entered"
    ]
    if "entered" in answer:
        rows += ["", f"{'entered by':<40} {'files':>6} {'functions':>10} {'functions proper':>20}"]
        rows += [
            f"{command:<40} {one[0]:>6} {one[1]:>10} {f'{one[2]} / {one[3]}':>20}"
            for command, one in answer["entered"].items()
        ]
    return "\n".join(rows)


# Lines and files.


@cache
def files(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*.py") if "__pycache__" not in path.parts)


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def wing_of(path: Path) -> str | None:
    """Return the wing that a file belongs to by its outermost folder, or file, of such a name, else None."""
    words = path.with_suffix("").parts
    return next((wing for word in words for wing, names in WINGS.items() if word in names), None)


def head(path: Path) -> int:
    """Return the lines of a file that are docstring, imports and ``__all__``, with blank lines between these."""
    total = end = 0
    for statement in parsed(path).body:
        if not is_head(statement):
            break
        end = statement.end_lineno or 0
    total += end
    below = [statement for statement in parsed(path).body if statement.lineno > end]
    inside = import_statements(below, {"functions", "annotations"})
    return total + sum((node.end_lineno or 0) - node.lineno + 1 for node in inside)


def is_head(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.If):
        return "TYPE_CHECKING" in ast.dump(statement.test)
    return assigned(statement) == ["__all__"]


def assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


# Names.


def definitions(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Yield every class and function of a module with its dotted name."""

    def inside(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
        for statement in body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef):
                yield prefix + statement.name, statement
            if isinstance(statement, ast.ClassDef):
                yield from inside(statement.body, f"{prefix}{statement.name}.")

    yield from inside(parsed(path).body, "")


def repeated_classes(source: Path) -> list[str]:
    names = Counter(
        statement.name
        for path in files(source)
        for statement in parsed(path).body
        if isinstance(statement, ast.ClassDef)
    )
    return sorted(name for name, times in names.items() if times > 1)


# Imports.


def imports(source: Path, which: set[str]) -> dict[str, set[str]]:
    """Return what each module imports of the package; `which` says if in functions and for annotations too."""
    names = {module_name(path, source): path for path in files(source)}
    return {name: {to for to in imported(name, path, names, which) if to != name} for name, path in names.items()}


def module_name(path: Path, source: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module: str, path: Path, names: dict[str, Path], which: set[str]) -> Iterator[str]:
    for node in import_statements(parsed(path).body, which):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
            continue
        start = node.module or ""
        if node.level:
            package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
            start = ".".join([*package[: len(package) - node.level + 1], *([start] if start else [])])
        for alias in node.names:
            for to in (f"{start}.{alias.name}", start):
                if to in names:
                    yield to
                    break


def import_statements(body: list[ast.stmt], which: set[str]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            yield from import_statements(statement.body if "annotations" in which else statement.orelse, which)
        elif "functions" in which or not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            below = [block for name in ("body", "orelse", "finalbody") for block in getattr(statement, name, [])]
            handlers = [block for handler in getattr(statement, "handlers", []) for block in handler.body]
            yield from import_statements([*below, *handlers], which)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of several modules that import each other, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for to in sorted(graph[name]):
            if to not in number:
                visit(to)
                low[name] = min(low[name], low[to])
            elif to in stack:
                low[name] = min(low[name], number[to])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 4 * len(graph))
    for name in sorted(graph):
        if name not in number:
            visit(name)
    sys.setrecursionlimit(limit)
    return sorted(found, key=len, reverse=True)


# Pages.


def pages(root: Path) -> list[Path]:
    """Return the pages of the docs and the README; what the build of the site makes is left out."""
    made = {"_build", "gallery", "generated"}
    return [root / "README.md", *(page for page in sorted((root / "docs").rglob("*.md")) if not made & set(page.parts))]


def is_table(page: Path) -> bool:
    """Return whether most words of a page stand in tables."""
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*$", text, re.MULTILINE)
    return 2 * sum(len(row.split()) for row in rows) > len(text.split())


# Commands.


def python(root: Path, folder: Path, *words: str) -> str:
    """Run Python with the package of a checkout."""
    place = {**os.environ, "PYTHONPATH": str(root / "src")}
    ran = subprocess.run([sys.executable, *words], cwd=folder, env=place, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr or ran.stdout)
    return ran.stdout


def entered(root: Path) -> dict[str, list[int]]:
    """Return files and functions that each command enters, with and without bodies of classes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command in MAKE:
            python(root, folder, "-m", "obliv", *command.split())
        place = str(root / "src" / "obliv")
        return {
            command: json.loads(python(root, folder, "-c", _PROFILE, place, *command.split())) for command in COMMANDS
        }


if __name__ == "__main__":
    raise SystemExit(main())
