"""What the sections of a report are made of: numbers as text, the frontier of the plane, bars, designs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import obliv
from obliv.results import Bounds, Estimate
from obliv.view.report.contents import Row, gather, how, rows_of, text_of
from obliv.view.report.page import _rows, charts_data
from obliv.view.report.sections import bars, plane_points


@pytest.mark.parametrize(
    ("value", "text", "letter"),
    [
        (Fraction(1, 3), "1/3 = 0.3333", "x"),
        (Fraction(24_999_999, 10**8), "0.2499…", "x"),  # exact, cut off: not rounded to something larger
        (Estimate(0.41, 0.002, 100), "0.410 ± 0.002", "e"),
        (Bounds(Fraction(2, 5), Fraction(1, 2)), "0.4 to 0.5", "b"),
        ("free\x1b", "free?", ""),
        (None, "-", ""),
    ],
)
def test_numbers_say_how_they_were_obtained(value: object, text: str, letter: str) -> None:
    assert (text_of(value), how(value)) == (text, letter)


def _row(routing: str, hops: int, worst: Fraction | None) -> Row:
    values = {} if worst is None else {"worst": worst}
    return Row("mesh:4x4", routing, values, Fraction(hops), Fraction(hops), "worst" if values else "")


def test_the_frontier_has_the_routings_that_lose_to_no_other() -> None:
    rows = [
        _row("short", 2, Fraction(1, 4)),
        _row("equal", 2, Fraction(1, 4)),
        _row("worse", 2, Fraction(1, 5)),
        _row("longer", 3, Fraction(1, 4)),
        _row("best", 4, Fraction(1, 2)),
        _row("nothing", 1, None),
    ]
    points = {point["names"]: point for point in plane_points(rows)}
    assert {names for names, point in points.items() if point["front"]} == {"short, equal", "best"}
    assert points.keys() == {"short, equal", "best", "worse", "longer"}


def test_no_label_lies_on_the_line_of_the_frontier() -> None:
    rows = [_row("short", 2, Fraction(1, 4)), _row("middle", 3, Fraction(1, 3)), _row("best", 4, Fraction(1, 2))]
    points = {point["label"]: (point["align"], point["dy"]) for point in plane_points(rows)}
    assert points.keys() == {"short", "middle", "best"}
    for name in ("short", "middle"):  # the line leaves these to the right
        assert points[name] != ("left", 4)


def test_the_longest_text_of_a_bar_has_room_beside_the_bars() -> None:
    row = _row("valiant", 2, None)
    row.values["average"] = Estimate(0.5, 1e-9, 10)
    _, specs = charts_data([row])
    (bar,) = specs["bars"]["data"]["values"]
    (texts,) = (layer["mark"] for layer in specs["bars"]["layer"] if layer["mark"]["type"] == "text")
    assert texts["dx"] > 6 * len(bar["text"])


def test_bars_are_sorted_and_keep_the_ends_of_what_is_not_exact() -> None:
    rows = [_row("low", 2, Fraction(1, 4)), _row("high", 2, Fraction(1, 2))]
    rows[0].values["average"] = Estimate(0.5, 0.125, 10)
    rows[1].values["worst"] = Bounds(Fraction(1, 2), Fraction(3, 4))
    found = bars(rows, ["worst", "average"])
    assert [(bar["routing"], bar["what"], bar["how"]) for bar in found] == [
        ("high", "worst", "bounded"),
        ("low", "worst", "exact"),
        ("low", "average", "estimated"),
    ]
    assert [(bar["low"], bar["high"]) for bar in found] == [(0.5, 0.75), (0.25, 0.25), (0.375, 0.625)]


@pytest.mark.nightly
def test_the_charts_begin_with_a_topology_that_has_points() -> None:
    alone = [obliv.worst_case(obliv.routing(name, obliv.mesh(4, 4))) for name in ("dor", "valiant")]
    rows = rows_of(gather([obliv.compare("mesh:3x3", "dor"), *alone]).items)
    assert [row.topology for row in rows] == ["mesh:3x3", "mesh:4x4", "mesh:4x4"]
    about, specs = charts_data(rows)
    assert about["first"] == "mesh:3x3"
    assert specs["plane"]["usermeta"]["heights"].keys() == {"mesh:3x3"}
    assert specs["bars"]["usermeta"]["heights"].keys() == {"mesh:3x3", "mesh:4x4"}


def test_heights_of_charts_stand_in_the_order_of_the_table() -> None:
    """Not in that of a set, which differs from process to process."""
    names = [f"mesh:{k}x{k}" for k in range(2, 30)]
    assert list(_rows([{"topology": name, "place": place} for name in names for place in (0, 1)]).items()) == [
        (name, 2) for name in names
    ]
