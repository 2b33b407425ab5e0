"""Pictures on a dark background: what is drawn differs from it, and the largest values differ most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import obliv
from obliv import view
from obliv.cli import main

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.text import Text

WORST = obliv.worst_case(obliv.ROMM(obliv.torus(5, 5)))
MESH = obliv.mesh(3, 3)
PICTURES: dict[str, Any] = {
    "worst": lambda: WORST.plot(),
    "matrix": lambda: WORST.plot(kind="matrix"),
    "topology": lambda: view.plot_topology(obliv.dragonfly(2, 2, 1)),
    "throughput": lambda: obliv.throughput(obliv.DOR(MESH), "uniform", "transpose").plot(),
    "compare": lambda: obliv.compare(MESH, "dor", "valiant").plot(),
    "paths": lambda: view.draw_paths(obliv.XYX(obliv.mesh(4, 4)), 1, 14),
    "schedule": lambda: obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:3", rng=1), "direct").plot(),
}


def lightness(color: Any) -> float:
    return float(np.dot(to_rgb(color), (0.299, 0.587, 0.114)))


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("style", ["dark", "dark_background"])
@pytest.mark.parametrize("name", PICTURES)
def test_texts_stand_out_from_a_dark_background(name: str, style: str) -> None:
    with view.dark() if style == "dark" else pyplot.style.context("dark_background"):
        ax = PICTURES[name]()
    texts = [text for text in ax.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert texts
    ground = lightness(ax.figure.get_facecolor())
    for text in texts:
        on_disc = lightness(text.get_color()) < 0.5
        assert not on_disc or text.get_zorder() >= 8, text.get_text()  # names inside bright discs only
    assert ground < 0.2
    pyplot.close(ax.figure)


@pytest.mark.nightly
def test_loads_are_dim_to_bright_and_a_second_pass_changes_nothing() -> None:
    with view.dark():
        ax = WORST.plot()
    loads = next(artist for artist in ax.collections if artist.get_gid() == "channels")
    low, high = loads.get_cmap()(0.0), loads.get_cmap()(1.0)
    assert 0.1 < lightness(low[:3]) < 0.4 < 0.8 < lightness(high[:3])
    ax.figure.canvas.draw()
    before = np.asarray(ax.figure.canvas.buffer_rgba()).copy()
    from obliv.view.axes import recolor

    recolor(ax)
    ax.figure.canvas.draw()
    assert (np.asarray(ax.figure.canvas.buffer_rgba()) == before).all()
    pyplot.close(ax.figure)


def test_pictures_on_paper_have_none_of_the_dark_colors(tmp_path: Path) -> None:
    ax = WORST.plot()
    assert lightness(ax.figure.get_facecolor()) == pytest.approx(1.0)
    assert lightness(ax.title.get_color()) < 0.3
    pyplot.close(ax.figure)


def test_the_worst_channel_is_drawn_above_the_flows() -> None:
    ax = WORST.plot()
    order = {artist.get_gid(): artist for artist in ax.collections}
    worst, flows = order["worst channel"], order["flows on the worst channel"]
    assert worst.get_zorder() > flows.get_zorder()
    ax.figure.canvas.draw()
    assert worst.get_facecolor()[0, 3] == 1.0  # filled: flows do not show through
    pyplot.close(ax.figure)


@pytest.mark.nightly
def test_routers_of_a_large_dragonfly_have_names() -> None:
    ax = view.plot_topology(obliv.dragonfly(2, 4, 2))
    names = {text.get_text() for text in ax.texts}
    assert {f"({i},{j})" for i in range(9) for j in range(4)} - names == set()
    assert not any("." in name for name in names)
    pyplot.close(ax.figure)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("words", ["topology dragonfly:2,4,2", "worst torus:9x9 romm", "loads mesh:4x4 dor transpose"])
def test_the_command_draws_narrow_and_dark(words: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    assert main(["plot", *words.split(), "-o", str(path), "--dark", "--width", "400"]) == 0
    pixels = pyplot.imread(path)
    assert pixels.shape[1] == 400
    assert pixels[0, 0, :3].max() < 0.2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "words", ["worst mesh:3x3 dor", "compare mesh:3x3 dor", "deadlock ring:4 dor", "average mesh:3x3 dor --samples 9"]
)
def test_every_saved_result_is_drawn_narrow_and_dark(words: str, tmp_path: Path) -> None:
    path, saved = tmp_path / "picture.png", str(tmp_path / "saved.json")
    assert main([*words.split(), "--output", saved]) in (0, 1)
    assert main(["plot", "result", saved, str(path), "--dark", "--width", "400"]) == 0
    pixels = pyplot.imread(path)
    assert pixels.shape[1] == 400
    assert pixels[0, 0, :3].max() < 0.2


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["worst", "matrix", "throughput", "compare"])
def test_texts_are_readable_at_400_pixels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from obliv.view.saving import drawn_for

    with drawn_for(400):
        ax = PICTURES[name]()
    dpi = 400 / ax.figure.get_size_inches()[0]
    texts = [text for text in ax.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert min(text.get_fontsize() for text in texts) * dpi / 72 >= 8
    pyplot.close(ax.figure)


SCHEDULE = obliv.bufferless.schedule(obliv.bufferless.instance("leveled-mesh:3x3", rng=1), "hot-potato")


def test_texts_of_a_gif_stand_out_from_a_dark_background(tmp_path: Path) -> None:
    from PIL import Image

    with view.dark():
        view.animate(SCHEDULE, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        pixels = np.asarray(image.convert("L")).astype(int)
    assert pixels[2, 2] < 30
    assert min(pixels[:25].max(), pixels[30:50, 55:].max(), pixels[-75:-45].max(), pixels[-45:].max()) > 180
    assert (pixels > 180).mean() < 0.05


def test_a_page_of_packets_follows_the_background(tmp_path: Path) -> None:
    view.animate(SCHEDULE, tmp_path / "light.html")
    with view.dark():
        view.animate(SCHEDULE, tmp_path / "dark.html")
    light, dark = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("light", "dark"))
    assert "color-scheme: light" in light
    assert "color-scheme: dark" in dark
    assert all(color not in dark for color in ("#22262b", "#fff", "#fefefe", "#0072b2", "#c3c8ce"))


def test_shaded_frames_are_mixes_with_the_background() -> None:
    from obliv.bufferless.pictures.space_time import tint

    assert lightness(tint("#0072b2", 0.24)) > 0.8
    with view.dark():
        assert lightness(tint("#0072b2", 0.24)) < 0.2


@pytest.mark.parametrize(("paper", "figure"), [("towles", "figure2"), ("fat-tree", "figure3"), ("fat-tree", "figure7")])
def test_figures_of_papers_follow_the_background(paper: str, figure: str, tmp_path: Path) -> None:
    from PIL import Image

    from obliv import papers

    with view.dark():
        (path,) = papers.draw(paper, tmp_path, figure)
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("L")).astype(int)
    assert pixels[2, 2] < 30
    assert (pixels > 200).mean() < 0.03  # letters and thin lines, no white boxes
    caption = pixels[-pixels.shape[0] // 8 :]
    assert caption.max() > 130
