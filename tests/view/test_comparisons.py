from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from drawn import how_many, part, texts

import obliv
from obliv import view


def legend(ax: object) -> list[str]:
    return [each.get_text() for each in ax.get_legend().get_texts()]  # type: ignore[attr-defined]


def test_bars_of_worst_average_and_patterns() -> None:
    result = obliv.compare("mesh:5x5", "dor", "u2turn", traffic="transpose", samples=100)
    ax = result.plot()
    assert len(ax.patches) == 6
    assert [bar.get_width() for bar in ax.patches[:2]] == pytest.approx([0.3, 6 / 11])
    assert legend(ax) == ["worst case", "average", "transpose"]
    assert [each.get_text() for each in ax.get_yticklabels()] == ["dor", "u2turn"]
    assert "6/11 = 0.545" in texts(ax)
    assert sum("±" in text for text in texts(ax)) == 2
    assert ax.get_title() == "Throughput on mesh:5x5"
    assert len(result.plot(of="transpose").patches) == 2


def test_lines_over_several_topologies() -> None:
    meshes = [f"mesh:{k}x{k}" for k in (3, 5, 7)]
    ax = obliv.compare(meshes, "dor", "u2turn").plot()
    assert legend(ax) == ["dor", "u2turn"]
    assert list(ax.lines[1].get_ydata()) == pytest.approx([4 / 7, 6 / 11, 8 / 15])
    assert [each.get_text() for each in ax.get_xticklabels()] == ["3x3", "5x5", "7x7"]
    assert ax.get_xlabel() == "mesh"


def test_the_plane_has_a_name_at_every_point_and_none_over_another() -> None:
    names = ["dor", "o1turn", "romm", "valiant", "xyx", "yxy", "u2turn", "ival", "i2turn", "dor:yx"]
    result = obliv.compare("mesh:6x6", *names)
    ax = result.plot(kind="plane")
    said = [name for text in texts(ax) for name in text.split(", ")]
    assert sorted(said) == sorted(names)
    ax.figure.canvas.draw()
    boxes = [each.get_window_extent() for each in ax.texts]
    assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
    several = obliv.compare(["mesh:3x3", "mesh:5x5"], "dor", "u2turn").plot(kind="plane")
    assert texts(several) == ["dor", "u2turn"]


def test_where_something_does_not_fit_the_rest_is_drawn() -> None:
    result = obliv.compare(["mesh:3x3", "ring:5"], "dor", "xyx")
    for kind in ("bars", "plane", "lines"):
        assert result.plot(kind=kind).get_title()
    assert "of capacity" in result.plot(kind="lines").get_ylabel()
    mixed = obliv.compare(["mesh:3x3", "complete:5"], "ecmp").plot()
    assert mixed.get_ylabel() == "packets per node and cycle"


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
