"""Pages of reports, and visits to them in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.results.study import Study, StudyRow
from obliv.view import write_report

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"

STUDY = """
topologies = ["mesh:3x3", "mesh:4x4"]
routings = ["dor", "valiant", "o1turn"]
measures = ["worst", "hops", { measure = "average", samples = 50 }, { measure = "throughput", traffic = "transpose" }]
"""


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "small.study.toml").write_text(STUDY, encoding="utf-8")
    obliv.study.run(folder / "small.study.toml", folder / "small.db", jobs=1)
    return folder / "small.db"


@pytest.fixture(scope="session")
def small(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a study, of a paper, and of a result with names that are markup."""
    path = tmp_path_factory.mktemp("pages") / "small.html"
    row = StudyRow(topology=EVIL, routing=f"{EVIL}:2", measure="worst", status="failed", reason=EVIL, figures={})
    write_report([store, obliv.papers.reproduce("towles", "figure9"), Study(name=EVIL, entries=(row,))], path)
    return path


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with ten thousand rows; the value of row k is k over a prime."""
    path = tmp_path_factory.mktemp("pages") / "large.html"
    rows = []
    for k in range(10_000):
        about: dict[str, Any] = {"topology": f"mesh:{k // 100 + 2}x{k // 100 + 2}", "routing": f"own:{k}"}
        worst = Fraction(k * 7919 % 10_007, 10_007)
        rows.append(StudyRow(**about, measure="worst", status="done", figures={"": worst}))
    write_report(Study(name="large", entries=tuple(rows)), path)
    return path


@pytest.fixture(scope="session")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a saved worst case whose load was lowered."""
    folder = tmp_path_factory.mktemp("pages")
    content = obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4)), certificate=True).to_dict()
    assert content["channel_load"]["exact"] == "3"  # k - 1 of Towles and Dally
    content["channel_load"] = {"exact": "5/2", "value": 2.5}
    (folder / "lowered.json").write_text(json.dumps(content), encoding="ascii")
    write_report(folder / "lowered.json", folder / "lowered.html")
    return folder / "lowered.html"


class Visit:
    """A page in the browser, with what it complained about."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}") or dialog.dismiss())
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('policy', e.violatedDirective))"
        )
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def column(self, number: int) -> list[str]:
        """The texts in a column of the rows that are in the page, without the spaces that align them."""
        cells = self.page.locator(f"#table tbody tr[data-place] > :nth-child({number})").all_text_contents()
        return [cell.strip(" \u2007\u2008") for cell in cells]


@pytest.fixture(scope="session")
def _visits(browser: Any) -> Iterator[dict[str, Visit]]:
    visits: dict[str, Visit] = {}
    yield visits
    for each in visits.values():
        each.context.close()


@pytest.fixture
def visit(browser: Any, _visits: dict[str, Visit]) -> Iterator[Any]:
    """Open pages, or go on with those that are open; none asks for anything but itself, or complains."""
    used: list[tuple[Visit, Path]] = []

    def opened(path: Path, **options: Any) -> Visit:
        name = f"{path} {options}"
        if name in _visits:
            _visits[name].page.fill("#filter", "")
        else:
            _visits[name] = Visit(browser, path, **options)
        used.append((_visits[name], path))
        return used[-1][0]

    yield opened
    for each, path in used:
        assert each.complaints == []
        assert each.requests == [path.as_uri()]
