"""What ``import obliv`` offers: names, types, and what is imported for them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pickle
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import obliv
from obliv.specs import MODULES
from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES, Registry

SOURCES = Path(obliv.__file__).parent
PUBLIC = ("bufferless", "errors", "fabric", "io", "papers", "results", "study", "testing", "view")
PACKAGES = ("obliv", *(f"obliv.{name}" for name in PUBLIC))


@pytest.mark.parametrize("name", PACKAGES)
def test_every_exported_name_is_there(name: str) -> None:
    package = importlib.import_module(name)
    assert dir(package) == sorted(package.__all__)
    for export in package.__all__:
        value = getattr(package, export)
        assert not isinstance(value, ModuleType) or export in ROOMS


def test_packages_are_there_after_import_obliv_and_load_nothing_before_they_are_used() -> None:
    script = (
        "import sys, obliv; before = set(sys.modules);"
        "obliv.view.plot_topology, obliv.io.read_anynet, obliv.papers.reproduce, obliv.errors.OblivError;"
        "print(*before)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"obliv.view", "obliv.io", "obliv.papers", "numpy"} & set(loaded)


def test_functions_have_their_own_signatures() -> None:
    assert list(inspect.signature(obliv.topology).parameters) == ["spec"]
    assert list(inspect.signature(obliv.routing).parameters) == ["spec", "topology"]
    assert "torus:9x9" in (inspect.getdoc(obliv.topology) or "")


@pytest.mark.parametrize("registry", [TOPOLOGIES, ROUTINGS, PATTERNS], ids=lambda registry: registry.kind)
def test_the_table_of_built_in_names_is_what_modules_register(registry: Registry[object]) -> None:
    table = MODULES[registry.kind]
    registered = {
        word: entry.make.__module__
        for entry in registry
        for word in (entry.name, *entry.aliases)
        if entry.make.__module__.startswith("obliv.") and entry.make.__module__ != "obliv.specs.registry"
    }
    assert registered == table


def test_every_class_that_a_function_returns_is_at_the_top() -> None:
    returned = {
        str(inspect.signature(value).return_annotation)
        for value in (getattr(obliv, name) for name in obliv.__all__)
        if inspect.isfunction(value)
    }
    results = returned & set(importlib.import_module("obliv.results").__all__)
    assert {"Collisions", "WorstCase"} <= results <= set(obliv.__all__)


DECORATORS = {"register_topology": "topology", "register_routing": "routing", "register_pattern": "traffic"}


def _decorated() -> Iterator[tuple[str, str, str]]:
    """The kind, the word and the module of every name that a decorator in the sources registers, imported or not."""
    for path in sorted(SOURCES.rglob("*.py")):
        module = ".".join(("obliv", *path.relative_to(SOURCES).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "@register_" in text else ():
            for call in getattr(node, "decorator_list", ()):
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in DECORATORS):
                    continue
                aliases = [ast.literal_eval(word.value) for word in call.keywords if word.arg == "aliases"]
                for word in (ast.literal_eval(call.args[0]), *(alias for some in aliases for alias in some)):
                    yield DECORATORS[call.func.id], word, module


def test_every_registered_name_is_in_the_table_of_built_in_names() -> None:
    decorated = set(_decorated())
    assert len(decorated) > 50
    missing = decorated - {(kind, word, module) for kind, table in MODULES.items() for word, module in table.items()}
    assert not missing, f"add these names to the tables in src/obliv/_builtin.py: {sorted(missing)}"


def test_what_a_torus_imports() -> None:
    script = "import sys; from obliv.cli import main; main(['worst', 'torus:9x9', 'romm']); print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    loaded = output.splitlines()[-1].split()
    assert not {"scipy", "numba", "matplotlib", "pandas", "networkx"} & set(loaded)
    modules = [name for name in loaded if name.split(".")[0] == "obliv"]
    assert not [name for name in modules if name.split(".")[1:2] in (["fabric"], ["bufferless"], ["papers"])]
    assert len(modules) <= 60


MOVED = {
    old: new
    for line in (Path(obliv.__file__).with_name("_moved.txt")).read_text("ascii").splitlines()
    for new, _, olds in [line.partition(": ")]
    for old in olds.split()
}


def test_moved_modules_exist_and_others_stay_unknown() -> None:
    for old, new in MOVED.items():
        assert importlib.util.find_spec(f"obliv.{new}") is not None, old
        with pytest.raises(ModuleNotFoundError, match=r"^obliv\S+ is in obliv\S+ now") as error:
            importlib.import_module(f"obliv.{old}")
        assert error.value.name is not None  # that of a package above it, where this has moved as well
        assert f" is in obliv.{MOVED[error.value.name.removeprefix('obliv.')]} now" in str(error.value)
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module("obliv.nothing")
    finder = next(each for each in sys.meta_path if getattr(each, "__name__", "") == "_OldNames")
    assert finder.find_spec("obliv.cli.made") is None  # as importers ask that ask every finder for one folder


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("analysis.worst_case.exact", "worst_case"),
        ("bufferless.plan", "plan"),
        ("checker.failures.check", "check_failures"),
        ("fabric.loads", "FabricLoads"),
        ("fabric.read", "read_fabric"),
        ("fabric.routing", "FabricRouting"),
        ("results.average", "Average"),
        ("results.ratio", "Ratio"),
        ("results.throughput", "Throughput"),
        ("topologies.leveled.base", "Leveled"),
        ("view.pictures", "plot_topology"),
    ],
)
def test_the_new_place_of_a_module_has_what_it_had(old: str, name: str) -> None:
    assert hasattr(importlib.import_module(f"obliv.{MOVED[old]}"), name)


ROOMS = ("bufferless", "errors", "fabric", "io", "papers", "study", "testing", "view")
EXPORTS = [name for name in obliv.__all__ if name not in (*ROOMS, "__version__")]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_explains_itself(name: str) -> None:
    export = getattr(obliv, name)
    doc = inspect.getdoc(export) or ""
    assert doc.partition("\n")[0].endswith(".")
    parameters = inspect.signature(export).parameters
    assert list(parameters) not in (["args", "kwargs"], ["args", "named"])
    for parameter in parameters:
        assert parameter == "more" or parameter in doc or inspect.isclass(export), parameter
    if not (inspect.isclass(export) and issubclass(export, Exception)):
        sections = ("Examples\n--------",) if inspect.isclass(export) else ("Examples\n--------", "Returns\n-------")
        assert all(section in doc for section in sections)
        assert export.__doc__ is not None


LONG_WORK = {
    "obliv": "average_case bounds compare deadlock design explain failures fewest_virtual_channels "
    "heaviest_permutation locality collisions pareto ratio simulate throughput traffic_ratio verify with_capacity "
    "worst_case worst_channels",
    "obliv.bufferless": "schedule schedules verify",
    "obliv.fabric": "average bisection check failures job ratio read route shifts throughput worst worst_placement",
    "obliv.study": "impossible run verify",
}


@pytest.mark.parametrize("package", LONG_WORK)
def test_long_work_reports_progress_by_one_keyword(package: str) -> None:
    for name in LONG_WORK[package].split():
        parameter = inspect.signature(getattr(importlib.import_module(package), name)).parameters["progress"]
        assert (parameter.annotation, parameter.default) == ("Progress | None", None), name


#: Functions with an executor, whose module takes longer to import than they may take to start.
UNRESOLVED = {"worst_case", "worst_channels"}


@pytest.mark.parametrize("package", ["obliv", "obliv.bufferless", "obliv.fabric", "obliv.study"])
def test_annotations_can_be_evaluated(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        export = getattr(module, name)
        if inspect.isfunction(export) and name not in UNRESOLVED:
            hints = typing.get_type_hints(export)
            assert {*inspect.signature(export, eval_str=True).parameters, "return"} == {*hints}, name


def test_progress_is_called() -> None:
    seen: list[float] = []
    tree = obliv.topology("fattree:4,2")
    for work in (
        lambda report: obliv.heaviest_permutation(obliv.Shortest(tree), "uniform", progress=report),
        lambda report: obliv.bufferless.verify(
            obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:5")), progress=report
        ),
    ):
        seen.clear()
        work(lambda what, share: seen.append(share))
        assert seen
        assert seen == sorted(seen)


def test_every_export_is_pickled_by_reference() -> None:
    for name in EXPORTS:
        export = getattr(obliv, name)
        assert pickle.loads(pickle.dumps(export)) is export, name


@pytest.mark.parametrize("registry", [TOPOLOGIES, ROUTINGS, PATTERNS], ids=lambda registry: registry.kind)
def test_registries_and_their_entries_are_picklable(registry: Registry[object]) -> None:
    assert pickle.loads(pickle.dumps(registry)) is registry
    for entry in registry:
        if entry.make.__module__.startswith("obliv."):
            assert pickle.loads(pickle.dumps(entry)) == entry
