from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.view.drawn import everything, legend, part, texts

import obliv
from obliv import view
from obliv.bufferless.api import schedule, schedules
from obliv.bufferless.leveled.base import Leveled, given
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.pictures.draw import draw, require_drawing, scene
from obliv.bufferless.pictures.traces import deflections, rides, traces
from obliv.bufferless.problems import instance, oriented
from obliv.bufferless.results import Moves, Schedule, Schedules
from obliv.cli import main


@pytest.fixture(scope="module")
def waves() -> Schedule:
    """A schedule of the centralized algorithm with deflections."""
    drawn = instance("random-leveled:L=71,W=4,d=2,seed=2", packets=90, minlen=25, maxlen=60)
    return schedule(drawn, "centralized", lam=12, s=4, rng=16, segments="tight", check_moves=False)


@pytest.fixture(scope="module")
def groups() -> Schedule:
    """A schedule of the centralized algorithm with three groups and two sessions."""
    drawn = instance("array:160", rng=1, rate=0.5, maxlen=20)
    return schedule(drawn, "centralized", lam=14, s=2, rng=3, segments="tight", check_moves=False)


@pytest.fixture(scope="module")
def hot() -> Schedule:
    return schedule(instance("leveled-mesh:8x8", rng=1), "hot-potato", rng=3, check_moves=False)


def places(result: Schedule, packet: int) -> list[tuple[int, int]]:
    """Every (time, level) of a packet, one move after the other, by definition."""
    assert result.instance is not None
    assert result.moves is not None
    network, moves, nodes = result.instance.network, result.moves, []
    for row in range(moves.start[packet], moves.start[packet + 1]):
        up, edge = bool(moves.up[row]), int(moves.edge[row])
        for k in range(1 + (int(moves.more[row]) if len(moves.more) else 0)):
            ends = int(network.node_level[network.low[edge]]), int(network.node_level[network.high[edge]])
            tail, head = ends if up else ends[::-1]
            time = int(moves.time[row]) + k
            if not nodes or nodes[-1] != (time - 1, tail):
                nodes.append((time - 1, tail))
            nodes.append((time, head))
            up = not up
    return nodes


@pytest.mark.parametrize("name", ["hot-potato", "fifo", "direct", "centralized"])
def test_lines_are_the_moves(name: str) -> None:
    options = {"lam": 10, "s": 2} if name == "centralized" else {}
    drawn = instance("random-leveled:L=40,W=6,d=2,seed=1", packets=40)
    result = schedule(drawn, name, rng=1, check_moves=False, **options)
    drawn_traces = traces(result, np.arange(result.packets), (0, result.makespan), coarse=False)
    assert drawn_traces.packets.tolist() == list(range(result.packets))
    for packet, line in enumerate(drawn_traces.lines):
        assert [(int(t), int(y)) for t, y in line] == places(result, packet)
    assert [tuple(map(int, at)) for at in drawn_traces.first] == [places(result, p)[0] for p in range(result.packets)]
    assert [tuple(map(int, at)) for at in drawn_traces.last] == [places(result, p)[-1] for p in range(result.packets)]


def test_going_to_and_fro_is_one_level_line_where_it_is_too_small(waves: Schedule) -> None:
    everyone = np.arange(waves.packets)
    fine = traces(waves, everyone, (0, waves.makespan), coarse=False)
    coarse = traces(waves, everyone, (0, waves.makespan), coarse=True)
    assert len(coarse.at) < len(fine.at)
    for rough, exact in zip(coarse.lines, fine.lines, strict=True):
        assert rough[-1].tolist() == exact[-1].tolist()
        assert (np.diff(rough[:, 0]) >= 0).all()
        known = dict(map(tuple, exact.tolist()))
        assert all(y % 1 == 0.5 or known[x] == y for x, y in rough.tolist())


def test_deflections_are_found_as_the_algorithms_count_them(waves: Schedule, groups: Schedule, hot: Schedule) -> None:
    for result in (waves, groups, hot):
        packet, time, level = deflections(result)
        assert len(packet) == result.deflections > 0
        for p, t, at in zip(packet.tolist(), time.tolist(), level.tolist(), strict=True):
            assert (t - 1, at) in places(result, p)
            if result is not hot:
                assert (t, at - 1) in places(result, p)
                assert (t + 1, at) in places(result, p)
    everyone = rides(waves)
    homes = {(int(p), int(h)) for p, h, n in zip(everyone.packet, everyone.home, everyone.number, strict=True) if n}
    packet, _, level = deflections(waves)
    assert set(zip(packet.tolist(), level.tolist(), strict=True)) <= homes


def test_of_some_packets_only_their_deflections_are_found(hot: Schedule) -> None:
    packet, time, _ = deflections(hot)
    some = np.unique(packet)[::2]
    chosen = np.isin(packet, some)
    assert [row.tolist() for row in deflections(hot, some)[:2]] == [packet[chosen].tolist(), time[chosen].tolist()]
    assert len(deflections(hot, np.zeros(0, np.int64))[0]) == 0


@pytest.mark.nightly
def test_space_and_time_hold_every_packet_and_mark(waves: Schedule) -> None:
    mine = int((waves.plan.session == 1).sum())
    ax = waves.plot()
    assert len(part(ax, "packets").get_paths()) == mine == 90
    assert len(part(ax, "injections").get_offsets()) == len(part(ax, "deliveries").get_offsets()) == mine
    assert len(part(ax, "deflections").get_offsets()) == waves.deflections
    assert legend(ax) == [*(f"wave {k}" for k in (1, 2, 3, 4)), "injection", "delivery", "deflection", "boat"]
    shown = texts(ax)
    assert [text for text in shown if re.fullmatch(r"F\d+", text)] == [f"F{k}" for k in range(1, 7)]
    assert [text for text in shown if text.startswith("phase")] == [f"phase {k}" for k in range(1, 13)]
    chi = waves.constants["chi"]
    constants = (
        "N = 90",
        "C = 12",
        "D = 59",
        "s = 4",
        "λ = 12",
        f"χ = {chi}",
        f"τ = {2 * (chi + 12 - 1)}",
    )  # section 3.5
    for words in (*constants, f"{waves.makespan} steps", f"{waves.deflections} deflections"):
        assert words in everything(ax.figure).replace("\n", " ")


@pytest.mark.nightly
def test_packets_ride_in_dark_cells_of_their_own_color_and_wait_in_light_ones(waves: Schedule) -> None:
    from matplotlib.colors import to_hex

    from obliv.bufferless.pictures.space_time import color_of, tint

    ax = view.space_time(waves)
    cells = part(ax, "cells")
    boxes = [(path.vertices.min(axis=0), path.vertices.max(axis=0)) for path in cells.get_paths()]
    shades = [to_hex(color) for color in cells.get_facecolor()]

    def shade(time: float, level: float) -> str:
        hits = [
            c
            for (low, high), c in zip(boxes, shades, strict=True)
            if (low < (time, level)).all() and (high > (time, level)).all()
        ]
        assert len(hits) == 1
        return hits[0]

    every = rides(waves)
    for row in range(len(every.packet)):
        wave = color_of(int(every.wave[row]) - 1)
        on = every.begin[row] + every.board[row] - 0.5
        assert shade(on, every.home[row] + 0.1) == to_hex(tint(wave, 0.24))
        if every.stops[row]:
            assert shade(every.begin[row] + every.tau - 0.5, every.goal[row] + 0.1) == to_hex(tint(wave, 0.09))


@pytest.mark.nightly
def test_boats_are_parallel_and_meet_their_passengers(waves: Schedule) -> None:
    ax = view.space_time(waves)
    every = rides(waves)
    lines = [path.vertices for path in part(ax, "boats").get_paths()]
    assert len(lines) == len({*zip(every.phase.tolist(), every.wave.tolist(), every.boat.tolist(), strict=True)})
    ends = {(float(a[0] - a[1]), float(b[0]), float(b[1])) for a, b in lines}
    assert all(float(b[0] - b[1]) == float(a[0] - a[1]) for a, b in lines)
    for row in range(len(every.packet)):  # the packet's ride lies on a boat's line
        on = every.begin[row] + every.board[row] - 1
        assert any(off == on - every.home[row] and high >= every.goal[row] for off, _, high in ends)


def test_groups_and_sessions_are_drawn(groups: Schedule) -> None:
    one, two = view.space_time(groups), view.space_time(groups, session=2)
    count = [int((groups.plan.session == k).sum()) for k in (1, 2)]
    assert [len(part(ax, "packets").get_paths()) for ax in (one, two)] == count
    gamma, lam = groups.plan.gamma, groups.plan.lam
    levels = [sorted(path.vertices[0, 1] for path in part(ax, "groups").get_paths()) for ax in (one, two)]
    assert levels[0] == [4 * lam - 0.5, 8 * lam - 0.5]
    assert levels[1] == [(gamma // 2 + 4 * k) * lam - 0.5 for k in range(3)]
    assert two.get_xlim()[0] >= groups.plan.session_start[1] - 2
    with pytest.raises(obliv.InputError, match="sessions 1 and 2"):
        view.space_time(groups, session=3)


def test_without_a_second_session_it_is_refused() -> None:
    result = schedule(instance("butterfly:4"), "centralized", constants="one-frame", check_moves=False)
    with pytest.raises(obliv.InputError, match="draw session 1"):
        view.space_time(result, session=2)


def test_of_the_papers_phases_those_with_packets_are_chosen() -> None:
    result = schedule(instance("butterfly:6", rng=1), "centralized", check_moves=False)
    ax = view.space_time(result)
    low, high = ax.get_xlim()
    assert high - low < result.makespan / 4
    assert "phases" in everything(ax.figure)
    assert 0 < len(part(ax, "packets").get_paths()) < result.packets
    early = view.space_time(result, steps=(0, 1000))
    assert early.get_xlim()[1] < 1010


def test_hot_potatoes_waiting_and_direct_packets(hot: Schedule) -> None:
    ax = view.space_time(hot)
    assert len(part(ax, "deflections").get_offsets()) == hot.deflections
    assert legend(ax)[:2] == ["packet that is deflected (colors distinguish packets)", "packet never held up"]
    queued = schedule(instance("butterfly:6", "bit-reverse"), "fifo", check_moves=False)
    ax = view.space_time(queued)
    levels = [path.vertices for path in part(ax, "packets").get_paths()]
    waits = sum(int(b[0] - a[0]) for line in levels for a, b in pairwise(line) if abs(b[1] - a[1]) < 1e-9)
    moves = queued.moves
    assert moves is not None
    entered = moves.time[moves.start[:-1]] - 1
    assert waits == int((queued.delivery - entered).sum()) - len(moves)
    assert part(ax, "deflections") is None
    straight = schedule(instance("butterfly:6", "bit-reverse"), "direct", check_moves=False)
    ax = view.space_time(straight)
    colors = {tuple(color) for color in part(ax, "packets").get_colors()}
    assert len(colors) == min(len(np.unique(straight.delivery)), 6)  # all have one level to start from


def test_of_many_packets_a_sample_is_drawn_with_the_last_to_arrive() -> None:
    result = schedule(instance("butterfly:9", rng=1), "hot-potato", check_moves=False)
    one, two = view.space_time(result), view.space_time(result)
    lines = [path.vertices for path in part(one, "packets").get_paths()]
    assert len(lines) == 150
    assert "sample of 150 of 512" in everything(one.figure)
    assert max(line[-1, 0] for line in lines) == result.makespan
    assert [line.tolist() for line in lines] == [path.vertices.tolist() for path in part(two, "packets").get_paths()]
    assert len(part(view.space_time(result, packets=7), "packets").get_paths()) == 7
    named = view.space_time(result, packets=[3, 5, 8])
    assert part(named, "injections").get_offsets()[:, 0].tolist() == [
        float(result.moves.time[result.moves.start[p]] - 1) for p in (3, 5, 8)
    ]
    for wrong in ([-1], [512], [0.5]):
        with pytest.raises(obliv.InputError, match="packets are numbers"):
            view.space_time(result, packets=wrong)  # type: ignore[arg-type]
    with pytest.raises(obliv.InputError, match="at least one"):
        view.space_time(result, packets=0)
    for steps in ((5, 5), (-1, 4), (1,), "ab"):
        with pytest.raises(obliv.InputError, match="steps"):
            view.space_time(result, steps=steps)  # type: ignore[arg-type]


def test_one_phase_shows_the_packets_of_one_wave(waves: Schedule) -> None:
    every = rides(waves)
    ax = view.one_phase(waves, 4)
    riders = (every.phase == 4) & (every.wave == 1)
    assert len(part(ax, "packets").get_paths()) == len(np.unique(every.packet[riders]))
    assert len(part(ax, "boats").get_paths()) == len(np.unique(every.boat[riders]))
    fresh = every.number[riders] == 0
    assert len(part(ax, "injections").get_offsets()) == fresh.sum()
    homes = {*zip(every.home[riders][~fresh].tolist(), every.boat[riders][~fresh].tolist(), strict=True)}
    assert len(part(ax, "homes").get_offsets()) == len(homes)
    targets = part(ax, "targets").get_offsets()
    a, lam = int(every.a[riders][0]), every.lam
    stops = np.unique(every.boat[riders & every.stops])
    assert sorted(targets[:, 1].tolist()) == sorted((a + 2 * lam - 2 * stops).tolist())
    assert "wave 1 in the frames F4 (stronger) and F5" in everything(ax.figure)
    other = view.one_phase(waves, 4, wave=2)
    assert len(part(other, "packets").get_paths()) == ((every.phase == 4) & (every.wave == 2)).sum()


def test_one_phase_is_refused_where_nobody_rides(waves: Schedule, hot: Schedule) -> None:
    with pytest.raises(obliv.InputError, match="no packet is in the network in phase 99"):
        view.one_phase(waves, 99)
    with pytest.raises(obliv.InputError, match="wave 3 has no packet"):
        view.one_phase(waves, 1, wave=3)
    with pytest.raises(obliv.InputError, match="session 2 has no packets"):
        view.one_phase(waves, session=2)
    with pytest.raises(obliv.InputError, match="hot-potato schedule has no waves"):
        view.one_phase(hot)


@pytest.fixture(scope="module")
def rounds() -> Schedule:
    drawn = instance("random-leveled:L=71,W=4,d=2,seed=2", packets=90, minlen=25, maxlen=60)
    options: dict[str, Any] = {"constants": "tuned", "lam": 36, "chi": 6, "s": 3, "timetable": "oracle"}
    return schedule(drawn, "distributed", rng=4, check_moves=False, **options)


def test_a_round_is_its_own_mirror_image(rounds: Schedule) -> None:
    ax = view.one_round(rounds)
    tau = rounds.plan.tau
    assert part(ax, "mirror") is None  # a line, no collection
    assert [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "mirror"] == [tau]
    both = [path.vertices for name in ("packets", "wanderers") for path in part(ax, name).get_paths()]
    assert len(part(ax, "wanderers").get_paths()) > 0
    checked = 0
    for line in both:
        level = dict(zip(line[:, 0].tolist(), line[:, 1].tolist(), strict=True))
        if 2 * tau in level:  # not delivered in this round
            pairs = [(level[t], level[2 * tau - t]) for t in level if 2 <= t <= tau]
            assert all(one == two for one, two in pairs)
            checked += 1
    assert checked > 3


@pytest.mark.parametrize("parts", [2, pytest.param(None, marks=pytest.mark.nightly)])
def test_in_the_last_round_everybody_succeeds_and_stays(rounds: Schedule, parts: int | None) -> None:
    for sub in range(len(rounds.plan.sub_rounds))[:parts]:
        phase, which = int(rounds.plan.sub_phase[sub]), ("A", "B1", "B2")[rounds.plan.sub_part[sub]]
        ax = view.one_round(rounds, int(rounds.plan.sub_rounds[sub]), phase=phase, part=which)
        assert len(part(ax, "wanderers").get_paths()) == 0
        assert len(part(ax, "packets").get_paths()) > 0
        assert "no packet goes back" in texts(ax)


def test_rounds_that_there_are_none_of_are_refused(rounds: Schedule, hot: Schedule) -> None:
    with pytest.raises(obliv.InputError, match="rounds 1 to"):
        view.one_round(rounds, 50)
    with pytest.raises(obliv.InputError, match="no packet rides in a sub-phase"):
        view.one_round(rounds, phase=9999)
    with pytest.raises(obliv.InputError, match="A, B1 and B2"):
        view.one_round(rounds, part="C")
    with pytest.raises(obliv.InputError, match="only schedules of the distributed algorithm"):
        view.one_round(hot)


def test_the_distributed_algorithm_in_space_and_time(rounds: Schedule) -> None:
    ax = rounds.plot()
    assert len(part(ax, "packets").get_paths()) == rounds.packets
    assert part(ax, "deflections") is None
    assert "1 B1" in texts(ax)


def test_routing_times_have_a_mark_for_each_schedule_and_the_bound() -> None:
    drawn = [instance(f"butterfly:{k}") for k in (3, 5, 7)]
    result = [schedule(one, name, check_moves=False) for name in ("direct", "hot-potato") for one in drawn]
    ax = view.makespans(result)
    assert legend(ax) == ["direct", "hot-potato, age", "C log DN + D", "C + D"]
    marks = [line for line in ax.lines if line.get_gid() is None]
    assert [list(line.get_ydata()) for line in marks] == [
        [m.makespan for m in result[:3]],
        [m.makespan for m in result[3:]],
    ]
    (bound,) = (line for line in ax.lines if line.get_gid() == "bound")
    for x, y in zip(bound.get_xdata(), bound.get_ydata(), strict=True):
        (one,) = (m for m in result[:3] if m.congestion + m.dilation == x)
        assert y == pytest.approx(one.congestion * np.log2(one.dilation * one.packets) + one.dilation)
    named = view.makespans({"one": result[:3], "two": result[3:]})
    assert legend(named)[:2] == ["one", "two"]
    low, high = ax.get_ylim()
    assert low < min(m.makespan for m in result)
    assert high > max(m.makespan for m in result)
    for wrong, why in (([], "no schedule"), ([3], "int is not a schedule")):
        with pytest.raises(obliv.InputError, match=why):
            view.makespans(wrong)  # type: ignore[arg-type]


def test_times_near_each_other_have_whole_numbers_at_their_ticks() -> None:
    one = instance("butterfly:6", "hotspot", rng=1, share=0.2)
    ax = view.makespans([schedule(one, name, check_moves=False) for name in ("direct", "hot-potato")])
    ax.figure.canvas.draw()
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert len(set(shown)) == len(shown) > 1
    assert [float(text) for text in shown] == ax.get_xticks().tolist()


def test_the_time_of_half_of_the_packets(hot: Schedule) -> None:
    ax = hot.plot(kind="deliveries")
    (caption,) = (text.get_text() for text in ax.texts if "half of the packets" in text.get_text())
    within = int(caption.rpartition("within ")[2].rstrip(".").replace(",", ""))
    assert hot.delivery is not None
    assert 2 * int((hot.delivery <= within).sum()) >= hot.packets > 2 * int((hot.delivery < within).sum())


def test_histograms_count_everything(hot: Schedule, waves: Schedule) -> None:
    for result in (hot, waves):
        ax = result.plot(kind="deflections")
        assert sum(bar.get_height() for bar in ax.patches if bar.get_gid() == "deflections") == result.deflections
        ax = result.plot(kind="deliveries")
        bars = [bar for bar in ax.patches if bar.get_gid() == "deliveries"]
        assert sum(bar.get_height() for bar in bars) == result.packets
        assert sum(bar.get_height() * (bar.get_x() < result.makespan) for bar in bars) == result.packets
    straight = schedule(instance("butterfly:4"), "direct", check_moves=False)
    with pytest.raises(obliv.InputError, match="is deflected"):
        view.deflection_ages(straight)
    packet, time, _ = deflections(hot)
    first = int((time - hot.moves.time[hot.moves.start[packet]]).min())
    bars = [bar for bar in view.deflection_ages(hot).patches if bar.get_gid() == "deflections"]
    assert bars[0].get_x() + 0.5 == first


@pytest.mark.parametrize("name", ["hot-potato", "fifo", "centralized", "direct"])
def test_an_animation_follows_every_packet_from_node_to_node(name: str) -> None:
    drawn = instance("random-leveled:L=30,W=4,d=2,seed=1", packets=30)
    options = {"lam": 10, "s": 3} if name == "centralized" else {}
    result = schedule(drawn, name, rng=1, check_moves=False, **options)
    shown = scene(result, 5000)
    joined = {tuple(pair) for pair in shown.links.tolist()}
    off = 0
    for packet, track in enumerate(shown.packets):
        known = places(result, packet)
        assert track.enters == known[0][0]
        assert track.enters + len(track.nodes) - 1 == result.delivery[packet]
        level = drawn.network.node_level[track.nodes]
        assert all(level[t - track.enters] == y for t, y in known)
        for k, (a, b) in enumerate(pairwise(track.nodes.tolist())):
            assert (a, b) in joined or (b, a) in joined or a == b
            assert name == "fifo" or a != b
            if name == "fifo":
                assert track.looks[k] == (a == b)
        off += int(track.looks.any())
    if name == "hot-potato":
        assert off == len(np.unique(deflections(result)[0]))


def test_classes_of_a_mesh_are_drawn_in_panels_and_move_one_after_another(tmp_path: Path) -> None:
    result = schedules(oriented("mesh:5x5"), "hot-potato", topology="mesh:5x5", check_moves=False)
    assert isinstance(result, Schedules)
    ax = result.plot()
    assert len(ax.figure.axes) == len(result.classes) == 4
    last = result.makespan - result.classes[3].makespan
    title = ax.figure.axes[3].get_title(loc="left")
    assert title == f"class 4 of 4: steps {last + 1} to {result.makespan} of {result.makespan}"
    shown = scene(result, 400)
    assert len(shown.packets) == result.packets
    assert max(track.enters + len(track.nodes) - 1 for track in shown.packets) == result.makespan
    draw(result, tmp_path / "all.svg")
    with pytest.raises(obliv.InputError, match="axes of their own"):
        result.plot(ax)


@pytest.mark.parametrize("spec", ["leveled-mesh:2x2", pytest.param("leveled-mesh:4x4", marks=pytest.mark.nightly)])
def test_the_file_says_what_is_drawn(spec: str, tmp_path: Path) -> None:
    small = schedule(instance(spec, rng=1), "hot-potato", rng=3, check_moves=False)
    for name, head in (
        ("a.png", b"\x89PNG"),
        ("a.svg", b"<?xml"),
        ("a.pdf", b"%PDF"),
        ("a.GIF", b"GIF89a"),
        ("a.html", b"<!DOCTYPE html>"),
    ):
        for copy in ("one", "two"):
            (tmp_path / copy).mkdir(exist_ok=True)
            draw(small, tmp_path / copy / name)
        data = (tmp_path / "one" / name).read_bytes()
        assert data.startswith(head)
        assert data == (tmp_path / "two" / name).read_bytes()
        assert len(data) < 600_000
    assert len(list((tmp_path / "one").iterdir())) == 5


@pytest.mark.nightly
def test_a_gif_ends_with_all_packets_gone_and_shows_them_in_between(hot: Schedule, tmp_path: Path) -> None:
    from PIL import Image

    draw(hot, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 4 * hot.makespan + 1
        counts = []
        for frame in (0, image.n_frames - 1):
            image.seek(frame)
            pixels = np.asarray(image.convert("RGB")).astype(int)
            assert pixels[2, 2].tolist() == [255, 255, 255]
            counts.append(int((abs(pixels[80:] - [0, 0x72, 0xB2]).sum(axis=2) < 30).sum()))
    assert counts[1] == 0 < counts[0]


@pytest.mark.parametrize("name", ["a.bmp", "a", "a.json"])
def test_other_endings_are_refused_in_one_line(hot: Schedule, tmp_path: Path, name: str) -> None:
    with pytest.raises(obliv.InputError, match=r"known: \.gif, \.html, \.pdf, \.png, \.svg") as caught:
        draw(hot, tmp_path / name)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_drawn_says_why(hot: Schedule, tmp_path: Path) -> None:
    with pytest.raises(obliv.InputError, match="dict is not a schedule"):
        draw({}, tmp_path / "a.png")  # type: ignore[arg-type]
    with pytest.raises(obliv.FileError, match="does not exist"):
        draw(hot, tmp_path / "none" / "a.html")
    with pytest.raises(obliv.InputError, match="unknown kind"):
        hot.plot(kind="phases")
    bare = Schedule("t", "r", {}, algorithm="hot-potato", packets=2)
    with pytest.raises(obliv.InputError, match="moves of this hot-potato schedule were not kept"):
        draw(bare, tmp_path / "a.png")
    with pytest.raises(obliv.InputError, match="speed"):
        draw(hot, tmp_path / "a.gif", speed=0)
    assert require_drawing(tmp_path / "a.HTML") == ".html"
    large = schedule(instance("butterfly:8"), "direct", check_moves=False)
    with pytest.raises(obliv.InputError, match=r"2,304 nodes are too many.*600.*\.png"):
        draw(large, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_stands_alone_can_be_used_by_keyboard_and_escapes_names(tmp_path: Path) -> None:
    evil = '</script><script>alert("x")</script>&@DATA@'
    network: Leveled = given(evil, np.array([0, 1]), np.array([1, 2]), np.arange(3), labels=(evil, "b", "c"))
    drawn = Instance(network, np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    result = schedule(drawn, "fifo", check_moves=False)
    draw(result, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    read = _Page()
    read.feed(page)
    scripts = [attrs for tag, attrs in read.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert not any("src" in attrs or "href" in attrs for _, attrs in read.tags)
    named = {attrs.get("id"): attrs for tag, attrs in read.tags if tag in ("button", "input", "select")}
    labels = {attrs["for"] for tag, attrs in read.tags if tag == "label"}
    assert set(named) == {"back", "play", "on", "step", "speed"}
    assert all("aria-label" in attrs or name in labels or name == "play" for name, attrs in named.items())
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert evil in data["packets"][0]["name"]
    assert [len(track["nodes"]) for track in data["packets"]] == [
        int(d - result.moves.time[result.moves.start[p]] + 2) for p, d in enumerate(result.delivery)
    ]


@pytest.mark.nightly
def test_names_that_look_like_formulas_are_written_as_they_are(tmp_path: Path) -> None:
    network = given("$x^2$ $\\frac", np.array([0]), np.array([1]), np.arange(2))
    result = schedule(Instance(network, np.array([0, 1]), np.array([0], np.int32)), "direct", check_moves=False)
    for name in ("a.svg", "a.gif"):
        draw(result, tmp_path / name)
    assert "$x^2$" in everything(result.plot().figure)


@pytest.mark.nightly
def test_the_kernel_is_the_same_compiled(hot: Schedule) -> None:
    from obliv.bufferless.pictures.traces import pushes

    one, moves = hot.instance, hot.moves
    assert one is not None
    assert moves is not None
    counts = []
    for variant in (pushes.python, pushes.compiled()):
        pushed, stack = np.zeros(len(moves), bool), np.zeros(hot.makespan + 1, np.int64)
        variant(moves.start, moves.edge.astype(np.int64), moves.up, one.start, one.edge, stack, pushed)
        counts.append(pushed)
    assert np.array_equal(*counts)
    assert counts[0].sum() == hot.deflections


def test_moves_made_step_by_step_show_the_same(waves: Schedule) -> None:
    from dataclasses import replace

    moves, rows = waves.moves, []
    assert moves is not None
    for packet, time, edge, variant, more in moves.rows()[:, [1, 0, 2, 3, 4]].tolist():
        rows += [(time + k, packet, edge, variant * (-1) ** k) for k in range(more + 1)]
    single = replace(waves, moves=Moves.from_rows(np.array(rows), waves.packets))
    one, two = deflections(waves), deflections(single)
    assert sorted(zip(*one, strict=True)) == sorted(zip(*two, strict=True))


def test_packets_of_one_color_depart_together() -> None:
    ax = view.space_time(obliv.bufferless.schedule(obliv.bufferless.instance("leveled-mesh:4x4", rng=1), "direct"))
    times = part(ax, "injections").get_offsets()[:, 0]
    colors = [tuple(color) for color in part(ax, "injections").get_facecolor()]
    assert len(set(zip(times, colors, strict=True))) == len(set(times)) == len(set(colors))
    assert ("times of departure" in everything(ax.figure)) == (len(set(times)) > 1)


def test_the_looks_of_a_schedule(tmp_path: Path) -> None:
    path, saved = tmp_path / "schedule.png", str(tmp_path / "saved.json")
    assert main(["bufferless", "butterfly:2", "--output", saved]) == 0
    assert main(["plot", "result", saved, str(path), "--dark", "--width", "300"]) == 0
    assert int.from_bytes(path.read_bytes()[16:20], "big") == 300
    assert main(["plot", "result", saved, str(path.with_suffix(".gif")), "--dark"]) == 0
    assert path.with_suffix(".gif").read_bytes().startswith(b"GIF8")
