"""Titles and names of one's own in pictures, in Python and on the command line; texts that stay texts in files."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.cli import main
from obliv.errors import InputError

RESULTS = {
    "worst": lambda: obliv.worst_case("mesh:3x3", "romm"),
    "worst-channels": lambda: obliv.worst_channels(obliv.routing("romm", obliv.mesh(3, 3))),
    "average": lambda: obliv.average_case(obliv.routing("romm", obliv.mesh(3, 3)), samples=10),
    "throughput": lambda: obliv.throughput(obliv.routing("romm", obliv.mesh(3, 3)), "transpose"),
    "compare": lambda: obliv.compare("mesh:3x3", "dor", "romm"),
    "deadlock": lambda: obliv.deadlock(obliv.routing("romm", obliv.mesh(3, 3))),
    "locality": lambda: obliv.locality(obliv.routing("romm", obliv.mesh(3, 3))),
    "schedule": lambda: obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:3", "random"), "direct"),
}


def texts_of(ax: Any) -> str:
    """Return all texts on axes."""
    legend = ax.get_legend()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts, *(legend.get_texts() if legend else ())]
    return "\n".join([ax.get_title(), *(text.get_text() for text in ticks)])


@pytest.mark.parametrize("kind", RESULTS)
def test_a_title_of_ones_own(kind: str) -> None:
    result = RESULTS[kind]()
    assert result.plot(title="Figure 3: $x$ of the prototype").get_title() == "Figure 3: $x$ of the prototype"
    assert result.plot(title=False).get_title() == result.plot(title="").get_title() == ""


@pytest.mark.parametrize("kind", [kind for kind in RESULTS if kind != "schedule"])
def test_names_of_routings(kind: str) -> None:
    result = RESULTS[kind]()
    before = texts_of(result.plot())
    after = texts_of(result.plot(names={"romm": "ROMM, 2 VCs", "mesh:3x3": "the mesh"}))
    assert "romm" in before
    assert re.search(r"\bromm\b|mesh:3x3", after) is None
    assert "ROMM, 2 VCs" in after
    assert "the mesh" in after


def test_names_that_are_not_in_the_picture() -> None:
    with pytest.raises(InputError, match=r"'rom' is not in this picture: did you mean romm\?"):
        RESULTS["worst"]().plot(names={"rom": "ROMM"})
    with pytest.raises(InputError, match="not in this picture"):
        RESULTS["compare"]().plot(names={"valiant": "VAL"})


def test_a_title_does_not_cover_the_legend() -> None:
    ax = RESULTS["schedule"]().plot(title="My butterfly")
    legend = ax.get_legend().get_window_extent()
    assert ax.title.get_window_extent().y0 >= legend.y1


def test_any_saved_result_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, drawn = tmp_path / "c.json", tmp_path / "c.svg"
    obliv.compare("mesh:3x3", "dor", "romm", "u2turn-a:p=1/3").save(saved)
    labels = ["--label", "romm=ROMM, 2 VCs", "--label", "u2turn-a:p=1/3=U2TURN-A"]
    assert main(["plot", "result", str(saved), str(drawn), "--title", "Mesh", *labels]) == 0
    text = drawn.read_text(encoding="utf-8")
    assert all(f">{name}<" in text for name in ("Mesh", "ROMM, 2 VCs", "U2TURN-A", "dor"))
    assert main(["plot", "result", str(saved), str(drawn), "--picture", "plane", *labels]) == 0
    capsys.readouterr()
    for words, line in [
        (["--label", "rom=R"], "--label: 'rom' is not in this result: did you mean romm?"),
        (["--label", "romm"], "--label 'romm': write SPEC=NAME, such as romm=ROMM"),
        (["--picture", "matrix"], "unknown kind 'matrix' of picture: known: auto, bars, lines, plane"),
    ]:
        assert main(["plot", "result", str(saved), str(drawn), *words]) == 2
        assert capsys.readouterr().err == f"obliv: {line}\n"
    obliv.throughput(obliv.routing("dor", obliv.mesh(3, 3)), "uniform").save(saved)
    assert main(["plot", "result", str(saved), str(drawn), "--picture", "bars"]) == 2
    assert "leave out --picture" in capsys.readouterr().err


def test_fonts_of_files(tmp_path: Path) -> None:
    """PDF embeds fonts of type 42, as publishers ask; SVG holds words that can be searched and edited."""
    result = RESULTS["worst"]()
    obliv.view.save(result, tmp_path / "w.pdf")
    content = (tmp_path / "w.pdf").read_bytes()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            content += zlib.decompress(stream)
        except zlib.error:
            continue
    assert b"/CIDFontType2" in content
    assert b"/Type3" not in content
    obliv.view.save(result, tmp_path / "w.svg")
    assert "romm on mesh:3x3" in (tmp_path / "w.svg").read_text(encoding="utf-8")
