"""What notebooks show: valid, escaped tables in HTML with a heading and a body."""

from __future__ import annotations

from fractions import Fraction
from html.parser import HTMLParser
from types import MappingProxyType
from typing import Any

import pytest

import obliv


class Grid(HTMLParser):
    """The cells of a table; it fails at tags that are not nested as in a valid table."""

    inside = MappingProxyType(
        {"caption": "table", "thead": "table", "tbody": "table", "tr": "thead tbody", "th": "tr", "td": "tr"}
    )

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.caption = ""
        self.rows: dict[str, list[list[str]]] = {"thead": [], "tbody": []}
        table, end, picture = text.partition("</table>")
        assert picture.partition(" ")[0] in ("", "<iframe", "<p>The")
        self.feed(table + end)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert (tag == "table" and not self.open) or self.open[-1] in self.inside[tag].split(), (tag, self.open)
        self.open.append(tag)
        if tag == "tr":
            self.rows[self.open[1]].append([])
        elif tag in ("th", "td"):
            self.rows[self.open[1]][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "caption":
            self.caption += data
        else:
            self.rows[self.open[1]][-1][-1] += data


MESH = obliv.mesh(3, 3)
ROUTING = obliv.DOR(MESH)


@pytest.mark.parametrize(
    ("shown", "row"),
    [
        (obliv.worst_case(ROUTING), ["channel load", "2"]),
        (obliv.compare(MESH, "dor", "o1turn", traffic=["uniform"]), ["dor", "1/3 = 0.3333"]),
        (obliv.throughput(ROUTING, "uniform"), None),
        (obliv.average_case(ROUTING, samples=5), None),
        (obliv.deadlock(obliv.DOR(obliv.ring(5))), ["scheme", "none"]),
        (MESH, ["nodes", "9"]),
        (MESH.with_rates(injection=["1/2"] * 8 + [1]), ["injection", "1/2 to 1"]),
        (ROUTING, ["topology", "mesh:3x3"]),
        (obliv.traffic("1/2*uniform+1/4*transpose", MESH), ["busiest terminal", "0: injection 3/4"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_tables_have_a_heading_a_body_and_rows_of_one_length(shown: Any, row: list[str] | None) -> None:
    grid = Grid(shown._repr_html_())
    assert grid.caption
    assert len(grid.rows["thead"]) == 1
    assert {len(cells) for cells in grid.rows["tbody"]} == {len(grid.rows["thead"][0])}
    assert row is None or row in [cells[: len(row)] for cells in grid.rows["tbody"]]


def test_names_are_escaped() -> None:
    evil = obliv.build("<script>&", 2, [(0, 1), (1, 0)], bandwidth=[Fraction(1, 2), 2], labels=("<b>", '"'))
    assert Grid(evil._repr_html_()).caption == "topology: <script>&"
    assert ["bandwidth", "1/2 to 2"] in Grid(evil._repr_html_()).rows["tbody"]
    routing = obliv.Shortest(evil)
    assert Grid(routing._repr_html_()).rows["tbody"][0] == ["topology", "<script>&"]
    assert ["worst channel", '0: <b> -> "'] in Grid(obliv.worst_case(routing)._repr_html_()).rows["tbody"]
