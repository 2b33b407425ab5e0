"""The curve of hops and worst case: its ends, its shape, known points."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

import obliv
from obliv.cli import main


@pytest.mark.nightly
def test_the_curve_of_a_torus() -> None:
    curve = obliv.pareto("torus:4x4", 8)  # from 2 to 2.7 hops: 1, 1.05 .. 1.35 times the least
    share = [float(point.fraction_of_capacity) for point in curve.points]
    known = {Fraction(1): 0.33333, Fraction(11, 10): 0.40323, Fraction(6, 5): 0.44944, Fraction(13, 10): 0.48684}
    for point, value in zip(curve.points, share, strict=True):
        assert point.times_minimal not in known or abs(known[point.times_minimal] - value) < 1e-5
    assert curve.points[-1].channel_load == 1
    slopes = [
        (float(two.channel_load) - float(one.channel_load)) / float(two.hops - one.hops)
        for one, two in pairwise(curve.points)
    ]
    assert all(one <= two + 1e-9 for one, two in pairwise(slopes))  # convex


def test_one_point_where_shortest_paths_are_best() -> None:
    curve = obliv.pareto("mesh:4x4", 5)
    assert [(point.hops, point.channel_load) for point in curve.points] == [(Fraction(5, 2), 2)]


def test_a_curve_is_drawn_and_saved(tmp_path: pytest.TempPathFactory) -> None:
    curve = obliv.pareto("mesh:3x3", 3)
    curve.save(f"{tmp_path}/curve.json")
    assert obliv.load(f"{tmp_path}/curve.json") == curve
    ax = curve.plot()
    points = ax.collections[0].get_offsets()
    assert [round(float(y), 6) for _, y in points] == [round(float(point.guarantee), 6) for point in curve.points]
    with pytest.raises(obliv.InputError, match="at least 2"):
        obliv.pareto("mesh:3x3", 1)


@pytest.mark.parametrize("option", ["--then=nothing", "--exact", "--no-exact", "--gap=0"])
def test_options_that_a_curve_does_not_take_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "mesh:3x2", "--pareto", "2", option]) == 2
    assert "--pareto" in (error := capsys.readouterr().err) or "a gap of 0" in error
