"""Shared by all tests: how generated tests run (HYPOTHESIS_PROFILE=night draws afresh and twenty times as many)."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "day",
    deadline=None,
    max_examples=15,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("night", settings.get_profile("day"), derandomize=False, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "day"))


def pytest_configure(config: pytest.Config) -> None:
    """Collect no garbage while tests are collected; keep bytecode where PYTHONDONTWRITEBYTECODE is set.

    Without bytecode in pytest's cache each worker rewrites the assertions of all tests, and each command that a test
    starts compiles numpy.
    """
    gc.disable()
    if sys.dont_write_bytecode:
        cache = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
        if cache:
            os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(cache.mkdir("bytecode"))
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            sys.dont_write_bytecode = False


def pytest_collection(session: pytest.Session) -> None:
    """Import in reverse order, on every second worker, what is collected.

    In a fresh clone each worker then compiles half of the modules, with rewritten assertions, and loads the other half.
    """
    config = session.config
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 0:
        return
    for folder in reversed(config.getini("testpaths") if config.args == config.getini("testpaths") else []):
        for path in sorted((config.rootpath / folder).rglob("*.py"), reverse=True):
            name = ".".join(path.relative_to(config.rootpath).with_suffix("").parts).removeprefix("src.")
            if not name.endswith(("__init__", "__main__", "conftest")):
                with suppress(Exception):  # what cannot be imported is reported by the collection
                    importlib.import_module(name)


@pytest.fixture(scope="session", autouse=True)
def _copies() -> None:
    """Let processes be copied beside the threads of pytest-xdist, which wait and hold no lock."""
    from obliv._util.progress import IDLE

    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.name = f"{IDLE}-{thread.name}"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings of the package only: those of tests have none."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the night all but one in n cases of a test that is marked ``sampled(n)``."""
    cases: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark and not item.get_closest_marker("nightly"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % mark.args[0]:
                item.add_marker("nightly")
            cases[test] += 1


def pytest_collection_finish() -> None:
    """Leave modules and tests, which live to the end, out of garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(params=["few", pytest.param("all", marks=pytest.mark.nightly)])
def moves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By day search for layers with few moves, which are interpreted: the compiler takes seven seconds for them."""
    if request.param == "few":
        monkeypatch.setattr(importlib.import_module("obliv.fabric.reroute.layers"), "_EACH", 0.3)


@pytest.fixture
def search_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for symmetries and isomorphisms in this process, since starting another takes half a second."""
    igraph = pytest.importorskip("igraph")

    def search(method: str, graphs: Any, seconds: float) -> list[Any]:
        return [getattr(igraph.Graph(n=len(colors), edges=edges), method)(color=colors) for edges, colors in graphs]

    for module in ("obliv.topologies.isomorphism", "obliv.questions.subject"):
        monkeypatch.setattr(importlib.import_module(module), "graph_search", search)
