"""Messages name parameters below `cli`, and options on the command line."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv.cli import main
from obliv.errors import FileError, InputError, OptionError, RoutingError

SOURCE = Path(inspect.getfile(obliv)).parent
#: An option of the command line: a word of its own, or after what may stand before one in a text.
OPTION = re.compile(r"(?:^|[\s`'\"(\[])--[a-z]")
#: Files that write whole command lines, which users copy, and the program that has options of its own.
WRITERS = {"explore/question.py", "explore/answers.py", "checker/obliv_check.py"}
#: Options of other programs.
OTHERS = ("uv sync --extra", "var(--")  # and variables of CSS


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every text of a module that is not a docstring, with the expressions in braces, and its line."""
    heads = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = list(ast.walk(tree))
    docs = {id(node.body[0].value) for node in nodes if isinstance(node, heads) and _has_doc(node)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            whole = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, whole))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (docs | parts):
            yield node.lineno, node.value


def _has_doc(node: Any) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)


@cache
def modules() -> dict[str, ast.Module]:
    """Return all modules of the package by their place; parsed once."""
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def below_cli(having: str = "") -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules below the command line whose text has some characters."""
    for name, tree in modules().items():
        words = {"cli", "cli.py", "_builtin.py"} & set(name.split("/"))  # commands, and examples of them
        if not words and having in (SOURCE / name).read_text():
            yield name, tree


def test_no_message_below_the_command_line_speaks_in_options() -> None:
    found = [
        f"{name}:{line}: {text}"
        for name, tree in below_cli("--")
        if name not in WRITERS
        for line, text in texts(tree)
        if OPTION.search(text) and not any(other in text for other in OTHERS)
    ]
    assert not found, "\n".join(found)


def test_the_walk_finds_options() -> None:
    tree = ast.parse(
        'def f(x):\n    """About --this."""\n    raise ValueError(f"--of {x}: no", "see --that", "a--b")\n'
    )
    assert [text for _, text in texts(tree) if OPTION.search(text)] == ["--of {}: no", "see --that"]


def test_names_in_templates_are_parameters() -> None:
    """A name in braces is a parameter or a function of the package: no other could be given."""
    known = {"import"}
    templates = []
    for name, tree in below_cli():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                known |= {node.name, *(argument.arg for argument in [*node.args.args, *node.args.kwonlyargs])}
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "naming" and node.args:
                first = node.args[0]
                templates += [(name, text) for _, text in texts(ast.Module([ast.Expr(first)], [])) if "{" in text]
                templates += [(name, first.value)] if isinstance(first, ast.Constant) else []
    assert len(templates) > 40
    for name, template in templates:
        assert set(re.findall(r"\{([A-Za-z_]\w*)\}", str(template))) <= known, (name, template)


def callables(function: ast.FunctionDef, nodes: list[ast.AST]) -> set[str]:
    """Return the names of a function that stand for something to call, as `here` for the name of a node."""
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node is not function}
    for argument in [*function.args.args, *function.args.kwonlyargs]:
        if argument.annotation is not None and ast.unparse(argument.annotation).startswith("Callable"):
            names.add(argument.arg)
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
            for target, value in pairs:
                made = isinstance(value, ast.Call) and ast.unparse(value.func) in ("partial", "functools.partial")
                method = isinstance(value, ast.Attribute) and value.attr in ("name_of", "channel_name")
                if isinstance(target, ast.Name) and (made or method or isinstance(value, ast.Lambda)):
                    names.add(target.id)
    return names


def not_called(tree: ast.Module, methods: set[str]) -> Iterator[str]:
    """Yield what f-strings write though it has to be called first."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            nodes = list(ast.walk(function))
            written = [node for node in nodes if isinstance(node, ast.FormattedValue)]
            names = callables(function, nodes) if written else set()
            for node in written:
                bare = isinstance(node.value, ast.Name) and node.value.id in names
                if bare or (isinstance(node.value, ast.Attribute) and node.value.attr in methods):
                    yield f"{node.lineno}: {ast.unparse(node.value)}"


def test_messages_name_nodes_and_not_the_functions_that_name_them() -> None:
    """Every text that is put together writes names, never what has to be called for one: a name or a method."""
    trees = list(modules().items())
    methods: set[str] = set()
    others: set[str] = set()
    for _, tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        plain = not any("property" in ast.unparse(each) for each in part.decorator_list)
                        (methods if plain else others).add(part.name)
                    elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        others.add(part.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                others.add(node.attr)
    assert "name_of" in methods - others
    found = [f"{name}:{what}" for name, tree in trees for what in not_called(tree, methods - others)]
    assert not found, "\n".join(found)


def test_the_check_of_names_finds_functions() -> None:
    tree = ast.parse(
        "def f(topology, n):\n"
        "    here, there = partial(topology.name_of, n), topology.name_of\n"
        '    return f"{here} {here()} {there} {topology.name_of} {topology.name_of(n)}"\n'
    )
    assert list(not_called(tree, {"name_of"})) == ["3: here", "3: there", "3: topology.name_of"]


WORDS = st.text(st.characters(categories=("L", "N", "P")), max_size=20)  # others do not stand in messages


@given(WORDS, WORDS)
def test_what_users_write_stays_as_it_is(one: str, two: str) -> None:
    inner = InputError.naming("{of} {0}", two)
    error = RoutingError.naming("{repair}='ecmp', {of}={0!r}: {1}, {skip}=True", one, inner)
    assert str(error) == f"repair='ecmp', of={one!r}: of {two}, skip=True"
    names = {"of": "--of", "repair": "--repair", "skip": "--skip", "skip=True": "--skip"}
    assert error.text(names) == f"--repair ecmp, --of {one!r}: --of {two}, --skip"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.text(names)) == (RoutingError, str(error), error.text(names))


def test_errors_in_files_keep_their_place() -> None:
    error = pickle.loads(pickle.dumps(FileError.naming("give {tables}", path="a.far", line=3)))
    assert str(error) == "a.far:3: give tables"
    assert error.text({"tables": "--lft"}) == "a.far:3: give --lft"
    assert FileError("give {tables}", "a.far").text({"tables": "--lft"}) == "a.far: give {tables}"
    assert OptionError("lam", "{lam} {0}", "{lam}").text({"lam": "--lambda"}) == "--lambda {lam}"


FABRIC = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
NET = ("a.net", "--lft", "a.lfts")

#: A call in Python and its message, the same on the command line.
BOTH: list[tuple[Callable[[], object], str, tuple[str, ...], str]] = [
    (
        lambda: obliv.failures("torus:3x3", "ecmp", of="foo"),
        "of='foo': choose links or nodes",
        ("failures", "torus:3x3", "ecmp", "--of", "foo"),
        "--of 'foo': choose links or nodes",
    ),
    (
        lambda: obliv.failures("torus:3x3", "ecmp", symmetry="on"),
        "symmetry='on': choose auto or off",
        ("failures", "torus:3x3", "ecmp", "--symmetry", "on"),
        "obliv failures has no --symmetry any more",
    ),
    (
        lambda: obliv.fabric.failures(FABRIC, of="{fail}"),
        "of='{fail}': choose cables",
        ("fabric", "failures", *NET, "--of", "{fail}"),
        "--of '{fail}': choose cables",
    ),
    (
        lambda: obliv.fabric.failures(FABRIC, fail=["nobody"]),
        "fail='nobody': no such node",
        ("fabric", "failures", *NET, "--fail", "nobody"),
        "--fail 'nobody': no such node",
    ),
    (
        lambda: obliv.fabric.failures(FABRIC, repair="glue"),
        "repair='glue': choose keep",
        ("fabric", "failures", *NET, "--repair", "glue"),
        "--repair 'glue': choose keep",
    ),
    (
        lambda: obliv.fabric.what_if(obliv.fabric.base_of(FABRIC), add=["switch((0),1)/3,switch((0),0)/1"]),
        "add='switch((0),1)/3,switch((0),0)/1': port 3 of 'switch((0),1)' has a cable: fail it first",
        ("fabric", "whatif", *NET, "--add", "switch((0),1)/3,switch((0),0)/1"),
        "--add 'switch((0),1)/3,switch((0),0)/1': port 3 of 'switch((0),1)' has a cable: --fail it first",
    ),
    (
        lambda: obliv.fabric.what_if(obliv.fabric.base_of(FABRIC), entries=["switch((0),1)/14"]),
        "entries='switch((0),1)/14': write SWITCH/LID=PORT",
        ("fabric", "whatif", *NET, "--set", "switch((0),1)/14"),
        "--set 'switch((0),1)/14': write SWITCH/LID=PORT",
    ),
    (
        lambda: obliv.fabric.placement(FABRIC.topology, ["host(0,0)"], per_host="x"),
        "per_host='x': write a number",
        ("fabric", "job", *NET, "--hosts", "hosts", "--pattern", "ring", "--per-host", "x"),
        "--per-host 'x': write a number",
    ),
    (
        lambda: obliv.fabric.placement(FABRIC.topology, ["host(0,0)"], rails="none"),
        "rails='none': choose rank, all or first",
        ("fabric", "job", *NET, "--hosts", "hosts", "--pattern", "ring", "--rails", "none"),
        "--rails 'none': choose rank, all or first",
    ),
    (
        lambda: obliv.fabric.route(obliv.fabric.from_topology(obliv.topology("torus:4x4")), "dor-dateline", lanes=1),
        "use lanes=2",
        ("fabric", "route", "t.net", "--engine", "dor-dateline", "-o", "new.lfts", "--lanes", "1"),
        "use --lanes 2",
    ),
    (
        lambda: obliv.average_case("torus:3x3", "dor", exact=True, ensemble="birkhoff:2"),
        "exact takes all permutations: leave out ensemble=birkhoff:2 or exact",
        ("average", "torus:3x3", "dor", "--exact", "--ensemble", "birkhoff:2"),
        "--exact takes all permutations: leave out --ensemble birkhoff:2 or --exact",
    ),
    (
        lambda: obliv.questions.deadlocks.deadlock.deadlock(obliv.routing("romm", "torus:3x3"), "3"),
        "; fewest_virtual_channels finds",
        ("deadlock", "torus:3x3", "romm", "--vc", "3"),
        "; --fewest finds",
    ),
    (
        lambda: obliv.topology("qqqqqq"),
        "; your own: import the file",
        ("worst", "qqqqqq", "dor"),
        "; your own: --import the file",
    ),
    (
        lambda: obliv.design("torus:3x3", max_hops=2, paths=2),
        "max_hops cannot be combined with paths or quantize; choose minimal",
        ("design", "torus:3x3", "--max-hops", "2", "--paths", "2"),
        "--max-hops cannot be combined with --paths or --quantize; choose --minimal",
    ),
    (
        lambda: obliv.bufferless.schedules(obliv.bufferless.instances("butterfly:3"), "centralized", lam=3),
        "lam is 3; it must be even",
        ("bufferless", "butterfly:3", "-a", "centralized", "--lambda", "3"),
        "--lambda is 3; it must be even",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fabric")
    fabric = FABRIC.topology.fabric
    obliv.fabric.write_net(fabric, path / "a.net")
    obliv.fabric.write_tables(
        obliv.fabric.tables_of(obliv.routing("dmodk", "fattree:4,2"), fabric), fabric, path / "a.lfts"
    )
    obliv.fabric.write_net(obliv.fabric.from_topology(obliv.topology("torus:4x4")), path / "t.net")
    (path / "hosts").write_text("host(0,0)\nhost(1,0)\n")
    return path


@pytest.mark.parametrize(("call", "in_python", "words", "in_shell"), BOTH, ids=[case[1] for case in BOTH])
def test_parameters_in_python_and_options_on_the_command_line(
    call: Callable[[], object],
    in_python: str,
    words: tuple[str, ...],
    in_shell: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert in_python in str(caught.value)
    assert not OPTION.search(str(caught.value))
    monkeypatch.chdir(folder)
    assert main(list(words)) == 2
    assert in_shell in capsys.readouterr().err
