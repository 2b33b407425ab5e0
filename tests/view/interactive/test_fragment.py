"""What notebooks show below a table: a network in a frame of its own, or one line with the reason why there is none."""

from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

import obliv
from obliv.view.interactive.fragment import document, fragment, json_text, network_payload

MESH = obliv.mesh(3, 3)
ROUTING = obliv.routing("romm", MESH)


class Frames(HTMLParser):
    """The attributes of all frames, and the elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.frames: list[dict[str, str | None]] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))


@pytest.mark.parametrize(
    "shown",
    [
        MESH,
        ROUTING,
        obliv.worst_case(ROUTING),
        obliv.worst_channels(ROUTING),
        obliv.throughput(ROUTING, "transpose"),
        obliv.fabric.worst(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_networks_are_shown_in_a_sandbox(shown: Any) -> None:
    (frame,) = Frames(shown._repr_html_()).frames
    assert frame["sandbox"] == "allow-scripts"
    assert "OblivNetwork.mount" in str(frame["srcdoc"])
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|\bimport\(|src=|href=", str(frame["srcdoc"]))


def test_a_loaded_result_is_shown_too(tmp_path: Any) -> None:
    obliv.worst_case(ROUTING).save(tmp_path / "result.json")
    assert Frames(obliv.load(tmp_path / "result.json")._repr_html_()).frames


@pytest.mark.parametrize("shown", [obliv.compare(MESH, "dor"), obliv.deadlock(ROUTING), obliv.traffic("uniform", MESH)])
def test_other_things_are_tables_only(shown: Any) -> None:
    assert shown._repr_html_().endswith("</table>")


def test_the_policy_allows_the_script_and_the_style_of_the_page_only() -> None:
    page = document([network_payload(MESH)], "a mesh")
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in page
    assert "default-src 'none'" in page
    assert "unsafe" not in page


def test_names_stay_text() -> None:
    evil = obliv.build("</script><b>&", 2, [(0, 1), (1, 0)], labels=("<img src=x onerror=alert(1)>", "'\"]]>"))
    html = fragment(evil)
    assert Frames(html).tags == ["iframe"]
    inner = Frames(str(Frames(html).frames[0]["srcdoc"]))
    assert not {"img", "b"} & set(inner.tags)
    assert inner.tags.count("script") == 2
    assert json_text("</script>&'") == '"\\u003c/script\\u003e\\u0026\\u0027"'


def test_what_cannot_be_drawn_has_a_reason() -> None:
    assert fragment(obliv.topology("torus:80x80")).startswith(
        "<p>The network is not drawn: torus:80x80 has 6,400 nodes"
    )
    large = fragment(obliv.routing("dor", obliv.torus(24, 24)))
    assert "loads are not computed for a network of this size" in large

    class Broken:
        topology = MESH

        def paths(self, source: int, destination: int) -> Any:
            raise RuntimeError("<not> done yet")

    routing = obliv.routing(Broken(), MESH)  # type: ignore[arg-type]
    html = routing._repr_html_()
    assert html.startswith("<table>")
    assert html.endswith("<p>The network is not drawn: &lt;not&gt; done yet</p>")


def test_pictures_are_imported_when_a_notebook_asks_for_them() -> None:
    script = (
        "import sys, obliv; result = obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)));"
        "print('obliv.view' in sys.modules); result._repr_html_();"
        "print('obliv.view.interactive.fragment' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
