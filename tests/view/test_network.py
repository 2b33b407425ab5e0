from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.view.drawn import boxes, how_many, legend, part, texts

import obliv
from obliv import view
from obliv.view.layout import RADIUS, channel_lines, layout_of
from obliv.view.network.canvas import ribbon

pytestmark = pytest.mark.usefixtures("search_in_process")
SPECS = [
    "mesh:4x3",
    "torus:4x3",
    "torus:2x2",
    "mesh:3x3x3",
    "torus:4x4x4",
    "hypercube:5",
    "hyperx:3x3",
    "complete:6",
    "complete:2",
    "ring:7",
    "ring:2",
    "line:5",
    "random-regular:n=12,d=3,seed=1",
]


@pytest.mark.nightly
@pytest.mark.sampled(6)
@pytest.mark.parametrize("spec", SPECS)
def test_every_channel_is_an_arrow_and_every_node_a_disc(spec: str) -> None:
    topology = obliv.topology(spec)
    ax = view.draw_topology(topology)
    assert how_many(ax, "channels") == topology.channels
    assert how_many(ax, "nodes") == topology.nodes


@pytest.mark.sampled(6)
@pytest.mark.parametrize("spec", SPECS)
def test_no_two_channels_are_drawn_on_one_line(spec: str) -> None:
    topology = obliv.topology(spec)
    lines = [line for group in channel_lines(topology, layout_of(topology)) for line in group]
    middles = {tuple(np.round(line[len(line) // 2 - 1] + line[len(line) // 2], 6).tolist()) for line in lines}
    assert len(middles) == len(lines)


@pytest.mark.nightly
@pytest.mark.sampled(6)
@pytest.mark.parametrize("spec", SPECS)
def test_arrows_run_from_the_rim_of_the_tail_to_the_rim_of_the_head(spec: str) -> None:
    topology = obliv.topology(spec)
    points = layout_of(topology).points
    for c, group in enumerate(channel_lines(topology, layout_of(topology))):
        assert np.hypot(*(group[0][0] - points[topology.tail[c]])) == pytest.approx(RADIUS, abs=0.02)
        assert np.hypot(*(group[-1][-1] - points[topology.head[c]])) == pytest.approx(RADIUS, abs=0.02)


def test_channels_that_wrap_round_a_torus_leave_the_grid_and_no_line_crosses_it() -> None:
    topology = obliv.torus(5, 4)
    stubs = 0
    for group in channel_lines(topology, layout_of(topology)):
        assert all(np.ptp(line, axis=0).max() < 1 for line in group)
        if len(group) == 2:
            stubs += 1
            out, back = group[0][-1], group[1][0]
            assert not (0 <= out[0] <= 4 and 0 <= out[1] <= 3)
            assert not (0 <= back[0] <= 4 and 0 <= back[1] <= 3)
    assert stubs == 2 * (5 + 4)


def test_parallel_channels_are_apart() -> None:
    topology = obliv.build("double", 2, [(0, 1), (0, 1), (1, 0)])
    middles = [group[0][len(group[0]) // 2] for group in channel_lines(topology, layout_of(topology))]
    gaps = [np.hypot(*(a - b)) for k, a in enumerate(middles) for b in middles[:k]]
    assert min(gaps) > 0.1


def test_positions_of_a_file_are_kept_up_to_scale() -> None:
    given = np.array([[10.0, 50.0], [14.0, 50.0], [10.0, 53.0]])
    topology = obliv.build("map", 3, [(0, 1), (1, 2), (2, 0)], positions=given)
    result = layout_of(topology).points
    sides, wanted = np.hypot(*np.diff(result, axis=0).T), np.hypot(*np.diff(given, axis=0).T)
    assert sides[0] / sides[1] == pytest.approx(wanted[0] / wanted[1])


@pytest.mark.parametrize("given", [np.zeros((4, 2)), np.full((4, 2), np.nan)])
def test_positions_that_say_nothing_are_not_used(given: np.ndarray) -> None:
    topology = obliv.build("nowhere", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], positions=given)
    result = layout_of(topology).points
    assert np.isfinite(result).all()
    assert len(np.unique(np.round(result, 6), axis=0)) == 4


def test_without_networkx_nodes_stand_on_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    result = layout_of(obliv.topology("random-regular:n=12,d=3,seed=1")).points
    radii = np.hypot(*result.T)
    assert np.allclose(radii, radii[0])


def test_a_rim_in_the_color_of_the_background_keeps_crossing_channels_apart() -> None:
    from matplotlib.colors import to_hex

    from obliv.view.axes import NODE

    network = obliv.complete(5)
    channels = part(view.draw_loads(network, [1] * network.channels), "channels")
    assert {to_hex(color) for color in channels.get_edgecolor()} == {NODE}
    assert channels.get_linewidth()[0] > 0
    with view.dark():
        ax = view.draw_loads(network, [1] * network.channels)
    assert part(ax, "channels").get_edgecolor()[0].tolist() == pytest.approx([*ax.figure.get_facecolor()])


def test_colors_and_widths_follow_the_loads() -> None:
    topology = obliv.ring(4)
    loads = [Fraction(c % 4, 2) for c in range(topology.channels)]
    ax = view.draw_loads(topology, loads)
    ax.figure.canvas.draw()
    busy = part(ax, "channels")
    assert sorted(busy.get_array()) == sorted(float(load) for load in loads if load)
    assert how_many(ax, "idle channels") == sum(load == 0 for load in loads)
    red, green, blue, _ = busy.get_facecolor().T
    lightness = 0.2 * red + 0.7 * green + 0.1 * blue
    assert (np.diff(lightness) <= 1e-9).all()  # sorted by load: light to dark
    areas = [abs(_area(path.vertices)) for path in busy.get_paths()]
    assert areas[0] < areas[-1]


def test_the_worst_channel_is_pointed_out_with_its_load() -> None:
    topology = obliv.mesh(3, 3)
    loads = [Fraction(1, 3)] * topology.channels
    loads[7] = Fraction(5, 2)
    ax = view.draw_loads(topology, loads)
    assert how_many(ax, "worst channel") == 1
    assert legend(ax) == [f"channel {topology.channel_name(7).replace('->', '→')}: 5/2"]
    assert "1/3" in legend(view.draw_loads(topology, loads, worst=2))[0]
    assert texts(ax) == []  # nothing hides the channels


@pytest.mark.nightly
def test_on_a_fine_grid_the_worst_channel_is_circled_within_the_picture() -> None:
    topology = obliv.torus(30, 30)
    ax = view.draw_loads(topology, [Fraction(1)] * topology.channels)
    circle = next(each for each in ax.lines if each.get_gid() == "circle round the worst channel")
    assert not circle.get_clip_on()
    assert ax.figure.bbox.x0 <= circle.get_window_extent().x0


def test_nothing_is_pointed_out_where_nothing_is_loaded() -> None:
    topology = obliv.mesh(3, 3)
    ax = view.draw_loads(topology, [0.0] * topology.channels)
    assert how_many(ax, "idle channels") == topology.channels
    assert part(ax, "worst channel") is None
    assert not ax.child_axes  # no color bar


def test_axes_that_are_given_are_used_and_keep_their_figure() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3))
    left, right = figure.subplots(1, 2)
    assert view.draw_topology(obliv.mesh(3, 3), left) is left
    assert view.plot_loads(obliv.routing("dor", obliv.mesh(3, 3)), "transpose", right) is right
    assert tuple(figure.get_size_inches()) == (7, 3)


@pytest.mark.nightly
def test_everything_is_inside_a_figure_of_our_own() -> None:
    for spec in ("line:9", "complete:6", "mesh:3x3x3", "torus:9x9"):
        ax = view.plot_topology(obliv.topology(spec))
        around, figure = ax.get_tightbbox(), ax.figure.bbox
        assert around.x0 >= 0
        assert around.y0 >= 0
        assert around.x1 <= figure.width
        assert around.y1 <= figure.height


def test_labels() -> None:
    cube = obliv.hypercube(3)
    assert "0,1,1" in texts(view.draw_topology(cube))
    assert "0,2,1" in texts(view.draw_topology(obliv.topology("mesh:3x3x3")))
    assert texts(view.draw_topology(cube, labels=False)) == []
    grid = obliv.mesh(4, 4)
    assert [each.get_text() for each in view.draw_topology(grid).get_xticklabels()] == ["0", "1", "2", "3"]
    assert len(texts(view.draw_topology(grid, labels=True))) == 16
    named = obliv.build("two", 2, [(0, 1), (1, 0)], labels=("Frankfurt am Main", "Köln"))
    assert "Frankfurt am Main" in texts(view.draw_topology(named))


def test_long_names_stand_clear_of_each_other_and_above_all_lines() -> None:
    labels = ("Frankfurt am Main", "Mainz", "Wiesbaden", "Offenbach am Main", "Hanau")
    at = np.array([[0.0, 0.0], [0.25, 0.05], [0.5, 0.0], [0.75, 0.05], [1.0, 0.0]])
    links = [(k, k + 1) for k in range(4)] + [(k + 1, k) for k in range(4)]
    ax = view.draw_topology(obliv.build("near", 5, links, labels=labels, positions=at))
    result = boxes(ax)
    assert sorted(result) == sorted(labels)
    assert not any(one.overlaps(two) for one, two in combinations(result.values(), 2))
    highest = max(each.get_zorder() for each in ax.collections)
    assert all(each.get_zorder() > highest and each.get_path_effects() for each in ax.texts)


def test_names_keep_clear_of_color_bar_key_and_title() -> None:
    labels = ("a terminal at the top of all", "a terminal far out on the right", "a low one")
    at = np.array([[0.5, 1.0], [1.0, 0.5], [0.5, 0.0]])
    topology = obliv.build("wide", 3, [(0, 1), (1, 0), (1, 2), (2, 1)], labels=labels, positions=at)
    ax = view.plot_loads(obliv.routing("shortest", topology), "uniform")
    rows = list(boxes(ax).values())
    around = [ax.title.get_window_extent(), ax.get_legend().get_window_extent()]
    around += [each.get_tightbbox() for each in ax.child_axes]
    assert not any(box.overlaps(other) for box in rows for other in around)


@pytest.mark.nightly
def test_the_key_says_what_black_and_white_nodes_are() -> None:
    both = ["terminal (sends and takes packets)", "router (passes packets on)"]
    assert legend(view.plot_topology(obliv.topology("cmesh:2x2,c=2"))) == both
    assert legend(view.plot_topology(obliv.mesh(3, 3))) == []
    routing = obliv.routing("ecmp", obliv.topology("cmesh:2x2,c=2"))
    assert legend(obliv.worst_case(routing).plot())[-2:] == both
    assert legend(view.draw_paths(routing, 0, 11))[-2:] == both


def test_terminals_with_other_rates_have_a_ring() -> None:
    corners = obliv.mesh(4, 4).with_rates([4 if v in (0, 15) else 1 for v in range(16)], [1] * 16)
    ax = view.plot_topology(corners)
    assert part(ax, "rates").get_offsets().tolist() == part(ax, "nodes").get_offsets()[[0, 15]].tolist()
    assert legend(ax) == ["sends 4 and takes 1"]
    several = obliv.mesh(2, 2).with_rates([1, 2, 3, 1], [1] * 4)
    assert legend(view.plot_topology(several)) == ["sends or takes other rates"]
    alike = view.plot_topology(obliv.mesh(2, 2).with_rates([Fraction(1, 2)] * 4, [1] * 4))
    assert part(alike, "rates") is None


@pytest.mark.nightly
def test_channels_of_large_networks_stay_visible() -> None:
    ax = view.draw_topology(obliv.torus(60, 60))
    across = min(np.ptp(path.vertices, axis=0).min() for path in part(ax, "channels").get_paths()[:100])
    assert across * ax.get_window_extent().width / np.ptp(ax.get_xlim()) * 72 / ax.figure.dpi > 0.5


@pytest.mark.nightly
def test_switches_look_unlike_terminals() -> None:
    topology = obliv.build("star", 4, [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)], terminals=[0, 1, 2])
    faces = part(view.draw_topology(topology), "nodes").get_facecolor()
    assert (faces[0] == faces[1]).all()
    assert not (faces[0] == faces[3]).all()


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        ([1.0], "1 loads are given"),
        ([float("nan")] * 4, "channel 0"),
        ([0.0, -1.0, 0.0, 0.0], "channel 1"),
        ([float("inf")] * 4, "finite"),
    ],
)
def test_loads_that_do_not_fit_are_refused(loads: list[float], words: str) -> None:
    with pytest.raises(obliv.InputError, match=words):
        view.draw_loads(obliv.line(3), loads)


def test_other_wrong_arguments_are_refused() -> None:
    with pytest.raises(obliv.InputError, match="channel 9"):
        view.draw_loads(obliv.line(3), [1.0] * 4, worst=9)
    with pytest.raises(obliv.InputError, match="labels"):
        view.draw_topology(obliv.line(3), labels="some")


def test_loads_beyond_floats_are_refused_not_drawn_wrongly() -> None:
    with pytest.raises(obliv.InputError, match="finite"):
        view.draw_loads(obliv.line(3), [Fraction(10**400)] * 4)


@pytest.mark.nightly
def test_a_title_says_what_is_drawn() -> None:
    ax = view.plot_loads(obliv.routing("dor", obliv.mesh(4, 4)), obliv.traffic("transpose", obliv.mesh(4, 4)))
    assert "dor on mesh:4x4 under transpose" in ax.get_title()
    assert "largest channel load 3" in ax.get_title()
    assert "mesh:4x4" in view.plot_topology(obliv.mesh(4, 4)).get_title()


def test_a_ribbon_is_closed_and_as_wide_as_asked() -> None:
    outline = ribbon(np.array([[0.0, 0.0], [2.0, 0.0]]), 0.1)
    assert (outline[0] == outline[-1]).all()
    assert outline[0][1] == pytest.approx(0.05)
    assert outline[:, 0].max() == 2.0


def _area(outline: np.ndarray) -> float:
    x, y = outline.T
    return float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
