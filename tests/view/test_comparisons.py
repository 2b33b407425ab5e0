from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.colors
import numpy as np
import pytest
from tests.view.drawn import boxes, how_many, legend, part, texts, without_capacity

import obliv
from obliv import view
from obliv.view.labels import box_of, label_points, overlap


def bars(ax: Any) -> list[Any]:
    return [each for each in ax.patches if each.get_width()]


def whiskers(ax: Any) -> list[float]:
    """The lengths of all whiskers."""
    from matplotlib.container import ErrorbarContainer

    held = [each for each in ax.containers if isinstance(each, ErrorbarContainer)]
    lines = [line for each in held for part in each.lines[2] for line in part.get_segments() if len(line)]
    return [float(np.abs(np.diff(line, axis=0)).max()) for line in lines]


@pytest.mark.nightly
def test_bars_of_worst_average_and_patterns() -> None:
    result = obliv.compare("mesh:5x5", "dor", "u2turn", traffic="transpose", samples=100)
    ax = result.plot()
    assert len(bars(ax)) == 6
    assert [bar.get_width() for bar in bars(ax)[:2]] == pytest.approx([0.3, 6 / 11])
    assert legend(ax) == ["worst case", "average", "transpose"]
    assert [each.get_text() for each in ax.get_yticklabels()] == ["dor", "u2turn"]
    assert "6/11 = 0.5455" in texts(ax)
    assert ax.get_title() == "Throughput on mesh:5x5"
    assert len(bars(result.plot(of="transpose"))) == 2


@pytest.mark.nightly
def test_estimates_have_whiskers_and_a_note_and_digits_that_fit_the_error() -> None:
    result = obliv.compare("mesh:5x5", "dor", "u2turn", samples=100)
    ax = result.plot()
    errors = [each.of_capacity("average").stderr for each in result.entries]
    assert whiskers(ax) == pytest.approx([2 * each for each in errors])
    estimates = [text for text in texts(ax) if re.match(r"0\.\d+ ± 0\.\d+$", text)]
    assert len(estimates) == 2
    for text in estimates:
        value, error = text.split(" ± ")
        assert len(value) == len(error)
        assert len(error.lstrip("0.")) in (1, 2)
    assert "without ±: exact" in texts(ax)[-1]
    assert not whiskers(obliv.compare("mesh:5x5", "dor").plot())
    for kind in ("plane", "lines"):
        assert whiskers(result.plot(kind=kind, of="average")) == pytest.approx([2 * each for each in errors])


def test_exact_numbers_without_a_short_fraction_are_marked_as_in_the_table() -> None:
    result = obliv.compare("mesh:7x7", "romm:xy", traffic="transpose")
    ax = result.plot()
    assert "≈ 0.5757" in texts(ax)
    assert "≈ 0.5757" in repr(result)
    assert texts(ax)[-1] == "≈: exact, but its fraction is too long to write"


@pytest.mark.nightly
def test_the_line_of_capacity_is_named_and_behind_the_numbers() -> None:
    result = obliv.compare("mesh:4x4", "dor", traffic="nearest-neighbor", unit="capacity")  # a terminal limits it
    ax = result.plot()
    assert "capacity" in texts(ax)
    line = next(each for each in ax.lines if list(each.get_xdata()) == [1.0, 1.0])
    assert all(line.get_zorder() < each.get_zorder() for each in [*bars(ax), *ax.texts])
    title = ax.title.get_window_extent()
    assert not title.overlaps(boxes(ax)["capacity"])
    assert "capacity" not in texts(obliv.compare("mesh:4x4", "dor").plot())


def test_series_have_colors_of_their_own() -> None:
    ax = obliv.compare("mesh:4x4", "dor", traffic=["transpose", "tornado", "uniform"], samples=10).plot()
    colors = [matplotlib.colors.to_hex(bar.get_facecolor()) for bar in bars(ax)]
    assert len(set(colors)) == 5


def test_traffic_that_loads_nothing_is_told_from_what_does_not_fit() -> None:
    ax = obliv.compare("mesh:4x4", "dor", traffic=["shift:0", "transpose"]).plot()
    assert "loads nothing" in texts(ax)
    assert "does not fit" not in texts(ax)
    ax = obliv.compare(["mesh:4x4", "mesh:5x4"], "dor", traffic=["shift:0", "transpose"]).plot(kind="bars")
    assert texts(ax).count("loads nothing") == 2
    assert texts(ax).count("does not fit") == 1


@pytest.mark.nightly
def test_numbers_at_the_ends_of_bars_stay_on_the_axes() -> None:
    ax = obliv.compare("torus:8x8", "dor", "romm:xy", traffic="transpose", samples=10).plot()
    ends = [box for text, box in boxes(ax).items() if text[0] in "0123456789≈"]
    assert max(box.x1 for box in ends) <= ax.get_window_extent().x1


def test_lines_over_several_topologies() -> None:
    meshes = [f"mesh:{k}x{k}" for k in (3, 5, 7)]
    ax = obliv.compare(meshes, "dor", "u2turn").plot()
    assert legend(ax) == ["dor", "u2turn"]
    assert list(ax.lines[1].get_ydata()) == pytest.approx([4 / 7, 6 / 11, 8 / 15])
    assert [each.get_text() for each in ax.get_xticklabels()] == ["3x3", "5x5", "7x7"]
    assert ax.get_xlabel() == "mesh"


MANY = ["dor", "dor:yx", "o1turn", "romm", "romm:xy", "valiant", "xyx", "yxy", "u2turn", "u2turn-a"]
MANY += ["ival", "i2turn", "ecmp"]


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("topology", ["mesh:4x4", "mesh:6x6", "torus:4x4"])
def test_the_plane_has_a_name_at_every_point_and_none_over_another(topology: str) -> None:
    result = obliv.compare(topology, *MANY)
    ax = result.plot(kind="plane")
    messages = [name for text in texts(ax) for name in text.replace("\n", " ").split(", ")]
    assert sorted(messages) == sorted(MANY)
    rows = list(boxes(ax).values())
    assert len(rows) == len({(each.hops_over_minimal, each.worst) for each in result.entries})
    assert not any(one.overlaps(two) for one, two in combinations(rows, 2))
    marks = [ax.transData.transform(each.get_offsets()) for each in ax.collections if len(each.get_offsets()) == 1]
    assert not any(box.contains(*at) for box in rows for (at,) in marks)
    several = obliv.compare(["mesh:3x3", "mesh:5x5"], "dor", "u2turn").plot(kind="plane")
    assert sorted(texts(several)) == ["dor", "u2turn"]


@pytest.mark.nightly
def test_names_of_crowded_points_do_not_overlap_either() -> None:
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(3, 2))
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    spots = [(0.5 + 0.01 * (k % 5), 0.5 + 0.01 * (k // 5)) for k in range(40)]
    label_points(ax, [(spot, f"routing {k}") for k, spot in enumerate(spots)], spots)
    result = boxes(ax)
    assert len(result) == 40
    assert not any(one.overlaps(two) for one, two in combinations(result.values(), 2))


@pytest.mark.nightly
def test_where_something_does_not_fit_the_rest_is_drawn() -> None:
    result = obliv.compare(["mesh:3x3", "ring:5"], "dor", "xyx")
    for kind in ("bars", "plane", "lines"):
        assert result.plot(kind=kind).get_title()
    assert "of capacity" in result.plot(kind="lines").get_ylabel()
    assert result.plot(kind="plane").get_ylabel() == "worst case as a fraction of capacity"
    mixed = obliv.compare(["mesh:3x3", "complete:5"], "ecmp").plot()
    assert mixed.get_ylabel() == "packets per node and cycle"


def test_a_picture_has_the_unit_of_the_table() -> None:
    result = obliv.compare(["mesh:3x3", without_capacity()], "ecmp", "dor")
    ax = result.plot(kind="bars")
    assert ax.get_xlabel() == "packets per node and cycle"
    assert "4/7 = 0.5714" in texts(ax)
    assert "4/7 = 0.5714" in repr(result)
    assert "packets per node and cycle" in repr(result)


def test_what_cannot_be_drawn_is_refused() -> None:
    result = obliv.compare("mesh:3x3", "dor")
    with pytest.raises(obliv.InputError, match="plane"):
        result.plot(kind="plan")
    with pytest.raises(obliv.InputError, match="average"):
        result.plot(of="average")


def test_a_saved_comparison_is_drawn_like_the_fresh_one(tmp_path: Path) -> None:
    result = obliv.compare(["mesh:3x3", "mesh:4x4"], "dor", "romm", samples=20)
    result.save(tmp_path / "compare.json")
    for name, each in (("a", result), ("b", obliv.load(tmp_path / "compare.json"))):
        view.save(each, tmp_path / f"{name}.svg", kind="plane")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.nightly
def test_the_paths_of_a_pair() -> None:
    routing = obliv.routing("xyx", obliv.mesh(5, 5))
    ax = view.draw_paths(routing, 6, 18)
    used: dict[int, Fraction] = {}
    for channels, chance in routing.paths(6, 18):
        for channel in channels:
            used[channel] = used.get(channel, Fraction(0)) + chance
    assert how_many(ax, "paths") == len(used)
    assert how_many(ax, "idle channels") == 80 - len(used)
    assert sorted(part(ax, "paths").get_array()) == pytest.approx(sorted(map(float, used.values())))
    assert texts(ax).count("3/5") == 2
    assert "5 paths, 4 to 6 hops, mean 24/5" in ax.get_title()


@pytest.mark.nightly
def test_probabilities_of_paths_cover_neither_each_other_nor_nodes() -> None:
    graph = obliv.topology("random-regular:n=12,d=3,seed=1")
    ax = view.draw_paths(obliv.routing("electrical", graph), 0, 7)
    boxes = [box_of(text) for text in ax.texts if "0." in text.get_text()]
    assert len(boxes) >= 6
    assert not any(overlap(one, two) for one, two in combinations(boxes, 2))
    discs = [ax.transData.transform(patch.center) for patch in ax.patches if hasattr(patch, "center")]
    assert not any(a < x < c and b < y < d for x, y in discs for a, b, c, d in boxes)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("topology", "routing"), [("torus:6x6", "romm"), ("ring:7", "valiant"), ("hypercube:4", "ecmp")]
)
def test_paths_on_other_networks(topology: str, routing: str) -> None:
    way = obliv.routing(routing, obliv.topology(topology))
    ax = view.draw_paths(way, 1, 5)
    assert how_many(ax, "paths") > 0
    assert view.draw_paths(way, 2, 2).get_title()


def test_nodes_that_are_not_there_are_refused() -> None:
    with pytest.raises(obliv.InputError, match="no node"):
        view.draw_paths(obliv.routing("dor", obliv.mesh(3, 3)), 0, 9)
