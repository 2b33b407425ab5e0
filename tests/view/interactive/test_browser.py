"""Interactive networks in a real browser: what pointing, keys and sizes do."""

from __future__ import annotations

import gzip
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.view.interactive.fragment import PageLimits, checker_page, document, network_payload

#: By day test_proof.py runs the script of the page, and test_fragment.py reads the page.
pytestmark = pytest.mark.nightly


def page_of(shown: Any, tmp_path: Path, limits: PageLimits | None = None) -> str:
    path = tmp_path / "page.html"
    path.write_text(document([network_payload(shown, limits)], "a network"), encoding="utf-8")
    return path.as_uri()


def proof_of(page: Any) -> str:
    page.wait_for_function("!document.querySelector('.on-proof').textContent.startsWith('Checking')")
    return str(page.inner_text(".on-proof"))


def test_a_channel_shows_its_load_and_its_pairs(opened: Any, tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.routing("romm", obliv.mesh(4, 4)))
    page = opened(page_of(result, tmp_path))
    assert proof_of(page) == "✓ 48 of 48 channels proved in this page"
    assert result.channel is not None
    assert page.inner_text(".on-panel h3") == f"Channel {result.channel.id} (worst)"
    pairs = [
        [cell.inner_text() for cell in row.query_selector_all("td")] for row in page.query_selector_all("tbody tr")
    ]
    assert pairs == [[p.source, p.destination, str(p.channel_load)] for p in result.crossing_pairs()]
    assert page.locator(".on-flow").count() == len(pairs)
    outlined = str(page.get_attribute(".on-matrix .on-chosen", "d"))
    assert outlined.count("M") == len(pairs)
    page.click("summary")
    assert result.permutation is not None
    assert page.inner_text(".on-whole").startswith(f"(0,0) → {result.terminal_names[result.permutation[0]]}, (1,0) →")
    page.click("summary")
    # pointing at another channel
    page.hover('[aria-label^="channel 7,"]', force=True)
    assert page.inner_text(".on-panel h3") == "Channel 7"
    # by keys alone: Tab reaches one channel, arrows the others
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.getAttribute('role')") != "option":
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("channel 8,")
    assert page.inner_text(".on-panel h3") == "Channel 8"
    page.keyboard.press("Home")
    assert str(result.channel_load) in page.inner_text(".on-panel dl")
    assert page.locator('.on-channel[tabindex="0"]').count() == 1
    # other loads as color, a closer look
    page.select_option("select", label="load under uniform traffic")
    assert "uniform" in page.inner_text(".on-legend")
    before = page.get_attribute(".on-picture", "viewBox")
    page.click("text=+")
    assert page.get_attribute(".on-picture", "viewBox") != before
    page.click("text=Fit")
    assert page.get_attribute(".on-picture", "viewBox") == before


@pytest.mark.parametrize(
    ("topology", "routing", "options"),
    [
        ("torus:5x5", "romm", {"viewport": {"width": 375, "height": 700}, "color_scheme": "dark"}),
        *(
            pytest.param(topology, routing, {"viewport": {"width": width, "height": 700}}, marks=pytest.mark.nightly)
            for topology, routing in [
                ("torus:9x9", "romm"),
                ("fattree:4,3", "dmodk"),
                ("dragonfly:p=2,a=4,h=2", "shortest"),
                ("hypercube:6", "valiant"),
                ("graph:petersen", "ecmp"),
                ("mesh:3x3x3", "dor"),
            ]
            for width in (375, 1200)
        ),
    ],
)
def test_every_width_and_theme(topology: str, routing: str, options: Any, opened: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(page_of(obliv.routing(routing, obliv.topology(topology)), tmp_path), **options)
    assert "proved in this page" in proof_of(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    page.emulate_media(media="print")
    assert not page.is_visible(".on-zoom")
    assert page.is_visible(".on-legend")
    page.emulate_media(media="screen")
    serious = [
        (finding["id"], [node["html"][:200] for node in finding["nodes"][:2]])
        for finding in axe.Axe().run(page).response["violations"]
        if finding["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.nightly
def test_thousands_of_channels_are_drawn_together(opened: Any, tmp_path: Path) -> None:
    page = opened(page_of(obliv.routing("dor", obliv.torus(24, 24)), tmp_path, PageLimits(room=1000, solved=10**7)))
    assert "No proof in this page" in proof_of(page)
    assert page.locator(".on-channel").count() == 0
    page.focus(".on-proxy")
    page.keyboard.press("Home")
    assert "(worst)" in page.inner_text(".on-panel h3")
    assert "worst channel" in page.inner_text(".on-live")
    page.keyboard.press("ArrowDown")
    assert "(worst)" not in page.inner_text(".on-panel h3")


@pytest.mark.nightly
def test_a_lowered_claim_is_refused_in_the_page(opened: Any, tmp_path: Path) -> None:
    payload = network_payload(obliv.routing("dor", obliv.mesh(3, 3)))
    payload["proof"]["claim"] = payload["worst"]["load"] = "1"
    path = tmp_path / "lowered.html"
    path.write_text(document([payload], "lowered"), encoding="utf-8")
    page = opened(path.as_uri())
    assert proof_of(page).startswith("✗ not proved: ")


@pytest.mark.nightly
def test_several_frames_in_one_notebook(opened: Any, tmp_path: Path) -> None:
    mesh = obliv.build("<b>two", 2, [(0, 1), (1, 0)], labels=("<i>x</i>", "</script><script>alert(1)</script>"))
    outputs = [obliv.routing("dor", obliv.ring(4)), obliv.worst_case(obliv.DOR(obliv.mesh(3, 2))), mesh]
    path = tmp_path / "notebook.html"
    path.write_text("<!doctype html>" + "".join(shown._repr_html_() for shown in outputs), encoding="utf-8")
    page = opened(path.as_uri(), viewport={"width": 900, "height": 3000})
    page.wait_for_function("document.querySelectorAll('iframe').length === 3")
    frames = page.frames[1:]
    for frame in frames:
        frame.wait_for_selector(".on-channel")
    assert [frame.inner_text(".on-title") for frame in frames] == ["dor on ring:4", "dor on mesh:3x2", "<b>two"]
    frames[0].hover('[aria-label^="channel 3,"]', force=True)
    assert frames[0].inner_text(".on-panel h3") == "Channel 3"
    assert frames[1].inner_text(".on-panel h3") != "Channel 3"
    frames[2].focus('[tabindex="0"]')
    assert "<i>x</i>" in frames[2].inner_text(".on-panel .on-ends")


def test_a_frame_holds_its_panel_and_has_one_background(opened: Any, tmp_path: Path) -> None:
    result = obliv.throughput(obliv.routing("romm", obliv.torus(7, 7)), "tornado", "uniform")
    path = tmp_path / "notebook.html"
    path.write_text("<!doctype html>" + result._repr_html_(), encoding="utf-8")
    (frame,) = opened(path.as_uri(), viewport={"width": 1000, "height": 1200}, color_scheme="dark").frames[1:]
    frame.wait_for_selector(".on-matrix")
    assert frame.evaluate("document.querySelector('.on-panel').getBoundingClientRect().bottom <= innerHeight")
    colors = "['body', '.obliv-network'].map(of => getComputedStyle(document.querySelector(of)).backgroundColor)"
    body, network = frame.evaluate(colors)
    assert body == network


def test_a_closed_claim_is_checked_in_a_page(opened: Any, tmp_path: Path) -> None:
    saved, claim = tmp_path / "saved.json", tmp_path / "claim.txt.gz"
    obliv.worst_case(obliv.mesh(3, 3), "romm", certificate=True).save(saved)
    assert obliv.verify(saved, close=claim).proved
    text = gzip.decompress(claim.read_bytes())
    (tmp_path / "forged.txt").write_bytes(text.replace(b"most 5 3", b"most 4 3"))
    (tmp_path / "cut.txt").write_bytes(text[:1000])
    (tmp_path / "check.html").write_text(checker_page(), encoding="utf-8")
    page = opened((tmp_path / "check.html").as_uri())
    expected = {
        "claim.txt.gz": f"SHA-256 {sha256(text).hexdigest()}\nproved: no admissible traffic loads a channel beyond 5/3",
        "forged.txt": "\nnot proved: ",
        "cut.txt": "\nmalformed: line ",
    }
    for name, words in expected.items():
        page.set_input_files("#claim", tmp_path / name)
        page.get_by_text(re.compile(rf"^{name}: [\d,]+ bytes.*believed: ", re.DOTALL)).wait_for()
        assert words in page.inner_text("#answer")
