"""Pictures of averages and of deadlocks."""

from __future__ import annotations

from pathlib import Path

import pytest

import obliv
from obliv.cli import main

pytest.importorskip("matplotlib")

from matplotlib import pyplot


def test_an_average_is_drawn_beside_the_worst_case() -> None:
    result = obliv.average_case(obliv.DOR(obliv.mesh(4, 4)), samples=50)
    ax = result.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "mean of 50 permutations",
        "largest of them",
        "worst case",
    ]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[0] == result.channel_load.value
    assert widths[2] == result.worst_load
    pyplot.close(ax.figure)


@pytest.mark.parametrize("exact", [True, False])
def test_averages_without_a_capacity_are_drawn(exact: bool) -> None:
    line = obliv.build("loop", 3, [(0, 1), (1, 2), (2, 0)])
    ax = obliv.average_case(obliv.Shortest(line), samples=None if exact else 9, exact=exact).plot()
    assert ax.patches
    pyplot.close(ax.figure)


@pytest.mark.nightly
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("routing", "scheme"),
    [
        (obliv.ROMM(obliv.mesh(4, 4)), "none"),
        (obliv.DOR(obliv.torus(5, 3)), "none"),
        (obliv.ROMM(obliv.mesh(4, 4)), "phase"),
        (obliv.ECMP(obliv.dragonfly(1, 2, 2)), "none"),
    ],
)
def test_a_cycle_is_drawn_and_numbered(routing: obliv.Routing, scheme: str) -> None:
    result = obliv.deadlock(routing, scheme)
    assert result.cycle
    ax = result.plot()
    cycle = next(artist for artist in ax.collections if artist.get_gid() == "cycle")
    assert len(cycle.get_paths()) == len(result.cycle)
    numbers = [text.get_text() for text in ax.texts if text.get_bbox_patch() is not None]
    placed = sorted(int(place) for text in numbers for place in text.split(","))
    assert placed == list(range(1, len(result.cycle) + 1))
    pyplot.close(ax.figure)


def test_the_network_of_an_acyclic_routing_has_no_cycle(tmp_path: Path) -> None:
    result = obliv.deadlock(obliv.DOR(obliv.mesh(3, 3)))
    result.save(tmp_path / "acyclic.json")
    ax = obliv.load(tmp_path / "acyclic.json").plot()
    assert "cycle" not in [artist.get_gid() for artist in ax.collections]
    assert "no deadlock" in ax.get_title()
    pyplot.close(ax.figure)


def test_the_verbs_draw_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deadlock", "ring:5", "dor", "--plot", str(tmp_path / "cycle.svg")]) == 1
    assert main(["average", "ring:5", "dor", "--samples", "20", "--plot", str(tmp_path / "average.svg")]) == 0
    assert (tmp_path / "cycle.svg").stat().st_size > 1000
    assert (tmp_path / "average.svg").stat().st_size > 1000
    assert main(["deadlock", "ring:5", "dor", "--fewest", "--plot", str(tmp_path / "least.svg")]) == 0
    assert (tmp_path / "least.svg").stat().st_size > 1000


def test_designs_are_drawn_by_their_verbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("highspy")
    monkeypatch.chdir(tmp_path)
    assert main(["design", "ring:5", "--plot", "design.svg"]) == 0
    assert Path("design.svg").stat().st_size > 1000
    assert main(["fabric", "generate", "mesh:3x2", "--adaptive", "minimal", "--far", "g.far", "-o", "g.net"]) == 0
    assert main(["fabric", "worst", "g.net", "--far", "g.far", "--adaptive", "best", "--plot", "best.png"]) == 0
    assert Path("best.png").stat().st_size > 1000
