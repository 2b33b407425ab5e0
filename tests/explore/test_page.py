"""The page in a real browser, served by the real server: knobs, removed links, keys, widths, names that are markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import obliv

#: A server, its workers and a browser take five seconds; by day the server is asked without one.
pytestmark = pytest.mark.nightly

HOSTILE = "<script>document.title='broken'</script>"
Start = Callable[..., Any]


@pytest.fixture(scope="module")
def address(start: Start, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("networks")
    (folder / "net.txt").write_text(f"a {HOSTILE}\n{HOSTILE} c\nc a\n", encoding="utf-8")
    return str(start("mesh:4x4", "ecmp", "--files", str(folder)).address) + f"#{folder}"


def opening(address: str) -> str:
    """The address at which the page leaves out the average, which is a second of work for every new worker."""
    return address.partition("#")[0] + "#" + quote(json.dumps({"samples": 0}))


@pytest.fixture
def page(address: str, opened: Any) -> Any:
    """The page after its first answer; its addresses are those of the server and files made in the page."""
    page = opened(opening(address), allowed=("http://127.0.0.1:", "blob:", "data:"))
    rows(page, 1)
    return page


def rows(page: Any, count: int) -> None:
    page.locator("#rows button").nth(count - 1).wait_for()


def fill(page: Any, knob: str, text: str) -> None:
    page.fill(knob, text)
    page.keyboard.press("Enter")


def figure(page: Any, part: str, label: str) -> str:
    block = page.locator(f'[data-part="{part}"]')
    return str(block.locator(f'dt:text-is("{label}") + dd').first.inner_text())


def test_the_figures_follow_the_routing_and_what_is_removed(page: Any) -> None:
    assert figure(page, "worst", "channel load") == dict(obliv.worst_case("mesh:4x4", "ecmp").summary())["channel load"]
    page.locator('[aria-label^="channel 14,"]').click(force=True)
    page.click("#cuts button:has-text('Remove link')")
    page.locator("#rows tr:first-child td:has-text('link ')").wait_for()
    spec = page.locator("#commands dd code").first.inner_text().split()[2]
    assert re.fullmatch(r"damaged:mesh:4x4,\d+-\d+", spec)
    assert figure(page, "worst", "channel load") == dict(obliv.worst_case(spec, "ecmp").summary())["channel load"]


@pytest.mark.nightly
def test_the_figures_follow_links_and_nodes_removed_and_restored(page: Any) -> None:
    page.locator('[aria-label^="channel 14,"]').click(force=True)
    page.click("#cuts button:has-text('Remove link')")
    page.locator("#rows tr:first-child td:has-text('link ')").wait_for()
    page.click("#breaking")
    page.locator(".on-nodes circle").nth(5).click(force=True)
    page.locator('#rows tr:first-child td:has-text("node (1,1)")').wait_for()
    spec = page.locator("#commands dd code").first.inner_text().split()[2]
    assert re.fullmatch(r"damaged:mesh:4x4,5,\d+-\d+", spec)
    assert figure(page, "worst", "channel load") == dict(obliv.worst_case(spec, "ecmp").summary())["channel load"]
    assert page.locator(".on-removed circle").count() == 1
    fill(page, "#routing", "dor")  # cannot go on, on what is left
    page.get_by_text("has no coordinates: shortest, ecmp and valiant fit any network").wait_for()
    page.click("#restore")
    page.locator('#rows tr:first-child td:text-is("dor")').wait_for()
    assert figure(page, "worst", "throughput") == dict(obliv.worst_case("mesh:4x4", "dor").summary())["throughput"]


@pytest.mark.nightly
def test_the_figures_follow_traffic_and_history(page: Any) -> None:
    fill(page, "#pattern", "transpose")
    rows(page, 2)
    assert "transpose" in page.locator(".on-choice").inner_text()
    fill(page, "#routing", "o1turn")
    rows(page, 3)
    assert figure(page, "traffic", "transpose").startswith("load 3/2 = 1.5")  # half of the 3 of dimension order
    fill(page, "#routing", "dro")
    page.click('#parts button:text-is("dor")')
    rows(page, 5)
    assert page.input_value("#routing") == "dor"
    assert page.locator("#title").inner_text() == "dor on mesh:4x4"
    assert page.locator("#commands dd code").first.inner_text() == "obliv worst mesh:4x4 dor"
    page.locator("#rows button").last.click()
    page.locator('#title:text-is("ecmp on mesh:4x4")').wait_for()
    page.go_back()
    page.locator('#title:text-is("dor on mesh:4x4")').wait_for()


@pytest.mark.nightly
def test_an_answer_that_is_late_is_never_shown(page: Any) -> None:
    fill(page, "#topology", "torus:48x48")
    fill(page, "#routing", "valiant")
    fill(page, "#topology", "ring:6")
    fill(page, "#routing", "dor")
    page.locator('#rows tr:first-child td:text-is("ring:6")').wait_for()
    page.wait_for_timeout(500)
    assert page.locator("#title").inner_text() == "dor on ring:6"
    assert page.locator("#rows tr").count() == 2
    assert figure(page, "worst", "channel load") == dict(obliv.worst_case("ring:6", "dor").summary())["channel load"]
    fill(page, "#topology", "torus:48x48")
    page.locator("#status.busy").wait_for()
    page.click("#stop")
    assert page.locator("#doing").inner_text() == "stopped"
    assert "…" not in page.locator("#parts").inner_text()


def test_names_are_text_and_files_must_be_named(page: Any, address: str) -> None:
    fill(page, "#topology", f"file:{address.partition('#')[2]}/net.txt")
    rows(page, 2)
    assert HOSTILE in page.locator(".on-nodes title").all_text_contents()
    page.locator("#cuts button").first.wait_for()
    assert "<script>" in page.locator("#cuts").inner_text()
    page.locator("#cuts button").first.click()
    page.locator("#failed li").wait_for()
    fill(page, "#topology", "file:/etc/passwd")
    page.get_by_text("may not be read from here: allow it, or its folder, with --files PATH").wait_for()
    fill(page, "#topology", "<img src=x onerror=document.title='broken'>")
    page.locator('#network-problem:has-text("unknown topology")').wait_for()
    assert "broken" not in page.title().partition("–")[2]
    assert page.locator("img, main script").count() == 0


@pytest.mark.nightly
@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_widths_and_themes(width: int, theme: str, address: str, opened: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(
        opening(address),
        allowed=("http://127.0.0.1:", "data:"),
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        bypass_csp=True,  # the checker of accessibility adds a script
    )
    rows(page, 1)
    fill(page, "#routing", "dro")
    page.locator("#parts .problem").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    page.click(f"[data-theme-choice={'light' if theme == 'dark' else 'dark'}]")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 248)"
    assert light == (theme == "dark")


@pytest.mark.nightly
def test_a_network_that_falls_apart(page: Any) -> None:
    fill(page, "#topology", "damaged:line:5,1-2,component=largest")
    page.locator('#failed li:has-text("link 1 - 2")').wait_for()
    assert page.input_value("#topology") == "line:5"
    assert "cut off by the failures: 2 nodes (0, 1)" in page.locator("#size").inner_text()
    rows(page, 2)
    fill(page, "#topology", "line:4")
    rows(page, 3)  # until then the drawing changes, and a click may come too early or hit another channel
    page.locator('[aria-label^="channel 2,"]').click(force=True)
    page.click("#cuts button:has-text('Remove link')")
    page.locator('#network-problem:has-text("the network falls into 2 components")').wait_for()
    assert page.locator("#size").inner_text() == ""  # nothing is said of the network before
    assert page.locator("#parts").inner_text() == "–"
    page.click("text=Go on with the largest")
    page.locator("#size:has-text('3 nodes, 3 terminals')").wait_for()
    page.click("#restore")
    page.locator("#size:has-text('4 nodes')").wait_for()


@pytest.mark.nightly
def test_by_keys_alone(page: Any) -> None:
    keys = page.keyboard

    def tab_to(selector: str) -> None:
        for _ in range(60):
            keys.press("Tab")
            if page.evaluate(f"document.activeElement.matches('{selector}')"):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    tab_to("#routing")
    keys.press("Control+A")
    keys.type("dor")
    keys.press("Enter")
    rows(page, 2)
    page.evaluate("document.activeElement.blur()")
    tab_to("[role=option]")
    keys.press("ArrowRight")
    keys.press("Delete")
    page.locator("#failed button").wait_for()
    page.get_by_text("has no coordinates").wait_for()
    page.evaluate("document.activeElement.blur()")
    tab_to("#restore")
    keys.press("Enter")
    page.locator('#title:text-is("dor on mesh:4x4")').wait_for()  # as before the failure, until the answer is there
    page.locator("#failures").wait_for(state="hidden")


@pytest.mark.nightly
def test_what_is_saved(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as download:
        page.click("#claim")
    download.value.save_as(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    assert obliv.load(tmp_path / "claim.json") == obliv.worst_case("mesh:4x4", "ecmp", certificate=True)
    with page.expect_download() as download:
        page.click("#results")
    download.value.save_as(tmp_path / "results.json")
    kinds = [result.kind for result in obliv.load(tmp_path / "results.json").entries]
    assert kinds == ["worst", "locality", "throughput", "deadlock"]
    with page.expect_download() as download:
        page.click("#csv")
    download.value.save_as(tmp_path / "tried.csv")
    lines = (tmp_path / "tried.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith("Topology,Removed,Routing,Worst load")
    assert lines[1].startswith("mesh:4x4,,ecmp,51/16 = 3.188")
