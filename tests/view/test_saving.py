from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import obliv
from obliv import view


@pytest.fixture(scope="module")
def result() -> obliv.WorstCase:
    return obliv.worst_case(obliv.routing("dor", obliv.mesh(3, 3)))


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "head"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")])
def test_the_format_is_that_of_the_name(result: obliv.WorstCase, tmp_path: Path, name: str, head: bytes) -> None:
    view.save(result, tmp_path / name, kind="matrix")
    assert (tmp_path / name).read_bytes().startswith(head)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_picture_has_the_same_bytes(result: obliv.WorstCase, tmp_path: Path, kind: str) -> None:
    for name in ("a", "b"):
        view.save(result, tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


@pytest.mark.nightly
def test_another_process_makes_the_same_bytes_without_a_date(tmp_path: Path) -> None:
    code = "import sys, obliv; from obliv import view; view.save(view.plot_topology(obliv.ring(5)), sys.argv[1])"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "MPLBACKEND": "Agg"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.svg")], check=True, env=environment)
    view.save(view.plot_topology(obliv.ring(5)), tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "<dc:date>" not in text
    assert "matplotlib.org" not in text.lower()


def test_axes_and_figures_can_be_saved(tmp_path: Path) -> None:
    ax = view.plot_topology(obliv.ring(5))
    view.save(ax, tmp_path / "a.svg")
    view.save(ax.figure, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["picture.gif", "picture", "picture.svg.tiff"])
def test_an_unknown_format_is_refused_before_anything_is_drawn(
    result: obliv.WorstCase, tmp_path: Path, name: str
) -> None:
    with pytest.raises(obliv.InputError, match=r"\.pdf, \.png, \.svg"):
        view.save(result, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_a_file_error_and_leaves_nothing(result: obliv.WorstCase, tmp_path: Path) -> None:
    with pytest.raises(obliv.FileError, match="does not exist"):
        view.save(result, tmp_path / "missing" / "a.png")
    (tmp_path / "a.png").mkdir()
    with pytest.raises(obliv.FileError, match="is a directory"):
        view.save(result, tmp_path / "a.png")
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(obliv.InputError, match="list"):
        view.save([1], tmp_path / "a.png")
    with pytest.raises(obliv.InputError, match="results only"):
        view.save(view.plot_topology(obliv.ring(5)), tmp_path / "a.png", kind="matrix")


@pytest.mark.nightly
def test_saving_a_result_leaves_no_figure_open_and_no_setting_changed(result: obliv.WorstCase, tmp_path: Path) -> None:
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    view.save(result, tmp_path / "a.svg")
    result.plot()
    result.plot(kind="matrix")
    assert dict(matplotlib.rcParams) == before
    assert len(pyplot.get_fignums()) == 2
    assert "loads" not in matplotlib.colormaps


def test_matplotlib_is_loaded_only_to_draw() -> None:
    code = (
        "import sys, obliv, obliv.view; from obliv import view;"
        "view.to_csv([{'a': 1}]);"
        "assert not {'matplotlib', 'rich', 'networkx'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, result: obliv.WorstCase) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(obliv.MissingExtraError, match=r"obliv\[plot\]"):
        result.plot()
    with pytest.raises(obliv.MissingExtraError, match=r"obliv\[plot\]"):
        view.plot_topology(obliv.ring(4))
