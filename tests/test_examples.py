"""The gallery: every script in ``examples`` runs, draws what it says, and uses public names only."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

import obliv

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
#: Those that take a second or more.
SLOW = {
    *("plot_average", "plot_design", "plot_study", "plot_worst_case"),
    *("plot_abilene", "plot_bounds", "plot_petersen", "plot_random_graph", "plot_tradeoff"),
    *("plot_collisions", "plot_slimfly", "plot_turn_models", "plot_virtual_channels"),
}
#: Those that solve linear programs.
SOLVER = {"plot_abilene", "plot_bounds", "plot_design", "plot_petersen", "plot_tradeoff"}
#: Those that write a page instead of drawing.
PAGES = {"plot_study"}


def test_there_is_a_gallery() -> None:
    assert len(EXAMPLES) >= 22
    assert {path.stem for path in EXAMPLES} > SLOW | SOLVER | PAGES


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.nightly] * (path.stem in SLOW), id=path.stem) for path in EXAMPLES],
)
def test_an_example_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("highspy") if path.stem in SOLVER else None
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert bool(figures) == (path.stem not in PAGES)
    assert all(figure.axes for figure in figures)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_uses_public_names_only(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, rule, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert rule == "=" * len(title)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("obliv"):
            assert node.module == "obliv"
            assert all(name.name in obliv.__all__ for name in node.names)
