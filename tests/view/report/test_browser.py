"""Reports in a real Chromium: what a reader does with mouse, keyboard, phone and printer."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.view.report.conftest import EVIL, Visit

import obliv
from obliv import view
from obliv.results.study import Study, StudyRow

SERIOUS = ("serious", "critical")


def test_sort_filter_details_and_hostile_names(small: Path, visit: Any) -> None:
    seen: Visit = visit(small)
    page = seen.page
    assert page.locator("h1").inner_text().startswith("small")
    worst = page.locator("#table thead th", has_text="worst")
    assert worst.get_attribute("aria-sort") == "none"
    worst.locator("button").click()  # the largest first, what is missing last
    assert worst.get_attribute("aria-sort") == "descending"
    values = [eval(text.split()[-1]) for text in seen.column(3) if re.fullmatch(r"(\S+ )?[\d.]+", text)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 6
    assert seen.column(1)[-1] == f"{EVIL}:2"
    worst.locator("button").click()
    assert worst.get_attribute("aria-sort") == "ascending"
    assert seen.column(3)[0].startswith("1/3")  # DOR on a 4 x 4 mesh
    page.fill("#filter", "mesh:4x4 worst>=1/2")
    assert sorted(seen.column(1)) == ["o1turn", "valiant"]
    assert page.inner_text("#count") == "2 of 7 rows"
    page.fill("#filter", "nothing like this")
    assert page.inner_text("#count") == "0 of 7 rows"
    page.fill("#filter", "onerror")
    page.locator("#table tbody .open").click()
    assert page.inner_text("#details-title") == f"{EVIL}:2 on {EVIL}"
    assert EVIL in page.inner_text("#details-body")
    assert page.locator("img").count() == 0
    page.keyboard.press("Escape")
    assert not page.locator("#details").is_visible()


def test_exact_estimated_and_failed_never_look_alike(small: Path, visit: Any) -> None:
    page = visit(small).page
    looks = {
        name: page.evaluate(
            "name => { const s = getComputedStyle(document.querySelector(`#table .how-${name}`));"
            "return [s.color, s.fontStyle].join() }",
            name,
        )
        for name in "xef"
    }
    assert len(set(looks.values())) == 3
    assert all("±" in text for text in page.locator("#table .how-e").all_text_contents())
    assert not any("±" in text for text in page.locator("#table .how-x").all_text_contents())


def test_charts_follow_the_topology(small: Path, visit: Any) -> None:
    page = visit(small).page
    assert page.locator("#plane svg").count() == 1
    assert page.locator("#bars svg").count() == 1
    assert "1/2" in page.locator("#bars svg").text_content()
    page.select_option("#topology", "mesh:3x3")
    page.locator("#bars svg", has_text="2/3").wait_for()  # O1TURN: a load of 3/2
    mark = page.locator("#plane svg path[aria-label*=valiant]").first
    mark.hover()
    page.wait_for_selector(".tooltip:not([hidden])")
    assert "valiant" in page.inner_text(".tooltip")


def test_the_only_tick_says_the_hops_of_all_routings(tmp_path: Path, visit: Any) -> None:
    view.write_report([obliv.compare("mesh:3x3", "u2turn")], tmp_path / "report.html")
    page = visit(tmp_path / "report.html").page
    assert "1.333" in page.locator("#plane svg .role-axis-label").all_text_contents()[0]  # 4/3 of the least


def test_the_page_proves_its_networks(small: Path, visit: Any) -> None:
    page = visit(small).page
    page.wait_for_selector("html[data-proved]")
    count = page.locator("[data-network]").count()
    assert count >= 3
    assert page.evaluate("document.documentElement.dataset.proved") == f"{count} of {count}"
    assert page.locator("#alarm").is_hidden()
    page.wait_for_selector(".on-proved")
    assert page.inner_text(".on-proved") in (
        "✓ 48 of 48 channels proved in this page",  # of a 4 x 4 mesh
        "✓ 24 of 24 channels proved in this page",
    )
    page.fill("#filter", "valiant mesh:4x4")
    page.locator("#table tbody .open").click()
    page.get_by_role("button", name="Show its network").click()
    assert page.locator("[aria-pressed=true]", has_text="valiant on mesh:4x4").count() == 1
    page.locator("#network [role=option][tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert "Channel" in page.inner_text("#network .on-panel")


def test_a_lowered_claim_is_refused(lowered: Path, visit: Any) -> None:
    page = visit(lowered).page
    page.wait_for_selector("html[data-proved='0 of 1']")
    assert "a claim that does not hold" in page.inner_text("#alarm")
    assert "not proved" in page.inner_text("#network .on-refused")


@pytest.mark.nightly
def test_a_table_that_was_changed_is_refused(small: Path, tmp_path: Path, visit: Any) -> None:
    text = small.read_text("utf-8")
    table = re.search(r'(?<=id="table-data">).*?(?=</script>)', text)
    assert table
    data = json.loads(table[0])
    row = next(k for k, name in enumerate(data["routing"]) if name == "dor" and data["topology"][k] == "mesh:4x4")
    worst = next(column for column in data["columns"] if column["name"] == "worst")
    worst["value"][row], worst["text"][row] = 0.5, "1/2 = 0.5"
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace(table[0], json.dumps(data).replace("<", "\\u003c")), "utf-8")
    page = visit(changed).page
    page.wait_for_selector("html[data-proved]")
    assert "another throughput than the proof" in page.inner_text("#alarm")


def test_everything_with_the_keyboard_alone(small: Path, visit: Any) -> None:
    seen: Visit = visit(small, reduced_motion="reduce")  # a page of its own, where nothing has the focus
    page, focused = seen.page, "document.activeElement"
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(f"{focused}.id || {focused}.textContent.trim()"))
        if reached[-1] == "filter":
            break
    assert reached[0] == "Skip to the results"
    assert {"Auto", "Light", "Dark", "filter"} <= set(reached)
    page.keyboard.type("mesh:4x4")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.id") == "scroller"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # sorts by routing
    assert seen.column(1) == ["dor", "o1turn", "valiant"]
    page.locator("#scroller").focus()
    for key in ("ArrowDown", "ArrowDown", "End", "Home", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate(f"{focused}.textContent") == "o1turn"
    page.keyboard.press("Enter")
    assert page.inner_text("#details-title") == "o1turn on mesh:4x4"
    page.keyboard.press("Escape")
    assert page.evaluate(f"{focused}.textContent") == "o1turn"  # back where it was


@pytest.mark.nightly
def test_dark_by_the_system_and_by_choice(small: Path, visit: Any) -> None:
    color = "getComputedStyle(document.body).backgroundColor"
    fill = "getComputedStyle(document.querySelector('#bars svg text')).fill"
    light, dark = visit(small).page, visit(small, color_scheme="dark").page
    assert light.evaluate(color) != dark.evaluate(color)
    assert light.evaluate(fill) != dark.evaluate(fill)
    light.get_by_role("button", name="Dark").click()
    assert light.evaluate(color) == dark.evaluate(color)
    light.get_by_role("button", name="Auto").click()
    assert light.evaluate(color) != dark.evaluate(color)
    light.get_by_role("button", name="Dark").click()
    dark.get_by_role("button", name="Light").click()
    assert light.evaluate(color) != dark.evaluate(color)
    for page in (light, dark):
        page.get_by_role("button", name="Auto").click()


@pytest.mark.nightly
@pytest.mark.parametrize("width", [375, 320])
def test_no_overflow_on_a_phone(small: Path, visit: Any, width: int) -> None:
    page = visit(small, viewport={"width": width, "height": 700}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    seen = page.locator("#scroller").bounding_box()
    number = page.locator("#table td.number").first.bounding_box()
    assert number["x"] + number["width"] <= seen["x"] + seen["width"] or width < 375  # a figure beside the names
    assert page.locator("#scroller.beyond").count() == 1  # and a hint at the others
    sizes = page.evaluate(
        "[...document.querySelectorAll('p, td, th, li, dd, button, figcaption')].filter(e => e.offsetParent)"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12


@pytest.mark.parametrize("width", [375, 1280])
def test_numbers_stand_beside_bars_and_at_the_edge(tmp_path: Path, visit: Any, width: int) -> None:
    view.write_report(obliv.compare("mesh:4x4", "valiant", "dor", samples=100), tmp_path / "bars.html")
    page = visit(tmp_path / "bars.html", viewport={"width": width, "height": 700}).page
    page.wait_for_selector("#bars .mark-text text")
    edges = "([marks, side]) => [...document.querySelectorAll(marks)].map(e => e.getBoundingClientRect()[side])"
    bars = page.evaluate(edges, ["#bars .mark-rect path", "right"])
    texts = "#bars .mark-text.role-mark text"
    assert min(page.evaluate(edges, [texts, "left"])) > max(bars) > 0
    assert max(page.evaluate(edges, [texts, "right"])) > page.evaluate(edges, ["#bars svg", "right"])[0] - 10


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(small: Path, visit: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(small, color_scheme=scheme).page
    page.wait_for_selector("html[data-proved]")
    found = [rule for rule in axe.run(page).response["violations"] if rule["impact"] in SERIOUS]
    page.locator("#table tbody .open").first.click()
    found += [rule for rule in axe.run(page).response["violations"] if rule["impact"] in SERIOUS]
    assert not found, [(rule["id"], rule["nodes"][0]["target"], rule["nodes"][0]["failureSummary"]) for rule in found]


@pytest.mark.nightly
def test_ten_thousand_rows(large: Path, visit: Any) -> None:
    seen: Visit = visit(large)
    page = seen.page
    assert page.inner_text("#count") == "10,000 rows"
    assert page.locator("#table tbody tr").count() < 60
    page.locator("#table thead button", has_text="worst").click()
    assert seen.column(3)[0].endswith(f"{10_006 / 10_007:.4g}")
    page.locator("#scroller").evaluate("e => { e.scrollTop = e.scrollHeight }")
    page.wait_for_selector("#table tr[data-place='9999']")
    assert seen.column(3)[-1].strip() == "0"
    page.fill("#filter", "own:123")
    assert page.inner_text("#count") == "11 of 10,000 rows"  # 123 and 1230 to 1239
    assert page.get_attribute("#table", "aria-rowcount") == "12"


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["small", "large"])
def test_the_print_has_every_row_up_to_a_limit(name: str, visit: Any, request: pytest.FixtureRequest) -> None:
    page = visit(request.getfixturevalue(name)).page
    rows, note = {"small": (7, ""), "large": (1000, "9,000 more are left out")}[name]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#table tbody tr[data-place]").count() == rows
    assert note in page.inner_text("#left-out")
    assert bool(note) == bool(page.inner_text("#left-out").strip())
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#table tbody tr[data-place]").count() <= 60
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_numbers_are_there(small: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small.as_uri())
    assert page.locator("#table tbody tr").count() == 7
    assert "switched off" in page.locator("noscript").first.inner_html()
    context.close()


@pytest.mark.nightly
def test_ten_thousand_rows_answer_at_once(large: Path, visit: Any) -> None:
    """Print how long sorting, filtering and scrolling take, and check that frames come."""
    page = visit(large).page
    for what, action in (
        ("sort", "document.querySelectorAll('#table thead button')[2].click()"),
        ("sort by text", "document.querySelectorAll('#table thead button')[1].click()"),
        (
            "filter",
            "(f => { f.value = 'own:12'; f.dispatchEvent(new Event('input')) })(document.getElementById('filter'))",
        ),
    ):
        took = page.evaluate(f"(() => {{ const t = performance.now(); {action}; return performance.now() - t }})()")
        print(f"{what}: {took:.0f} ms")
    began = time.perf_counter()
    frames = page.evaluate(
        "new Promise(done => { let n = 0; const e = document.getElementById('scroller');"
        "function f() { e.scrollTop += 340; n += 1; n < 120 ? requestAnimationFrame(f) : done(n) } f() })"
    )
    print(f"{frames} frames of scrolling in {time.perf_counter() - began:.2f} s")
    assert frames == 120


def test_a_brief_page_is_one_page_of_paper(store: Path, tmp_path: Path, visit: Any) -> None:
    view.write_report(store, tmp_path / "brief.html", brief=True)
    paper = visit(tmp_path / "brief.html").page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type */Page\b", paper)) == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_names_of_topologies_show_what_differs(tmp_path: Path, visit: Any, width: int) -> None:
    names = [f"random-regular:n=200,d=6,lambda-of-the-graph=free,seed={k}" for k in (1, 2, 12)]
    rows = [StudyRow(topology=name, routing="ecmp", measure="worst", status="done", figures={}) for name in names]
    view.write_report(Study(name="long", entries=tuple(rows)), tmp_path / "long.html")
    opened = visit(tmp_path / "long.html", viewport={"width": width, "height": 800})
    texts = opened.column(2)
    assert len(set(texts)) == 3
    assert all(text.endswith(name[-3:]) for text, name in zip(texts, names, strict=True))
    cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length"
    assert opened.page.eval_on_selector_all("#table tbody td:nth-child(2)", cut) == 0
