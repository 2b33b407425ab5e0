"""Names, specs and files are drawn letter by letter, whatever they hold."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.view.drawn import boxes, legend

import obliv
from obliv import view
from obliv._util.text import shortened
from obliv.view.axes import one_warning, wrapped

NAMES = (r"$\foo$ a", "$x_1$", "a$b", "<b>x</b>", r"\$5 & 100%_#^~{}", "-->")
LINKS = [(k, (k + step) % 6) for k in range(6) for step in (1, 5)]
SPEC = r"L$\foo$.net"


def hostile(names: tuple[str, ...] = NAMES) -> obliv.Topology:
    return obliv.build(SPEC, 6, LINKS, labels=names)


def written(ax: Any) -> dict[str, Any]:
    """The texts of a figure that hold a dollar sign."""
    from matplotlib.text import Text

    ax.figure.draw_without_rendering()
    return {each.get_text(): each for each in ax.figure.findobj(Text) if "$" in each.get_text()}


def pictures() -> dict[str, Any]:
    topology = hostile()
    routing = obliv.routing("shortest", topology)
    worst = dataclasses.replace(obliv.worst_case(routing), routing=r"lft:$\foo$")
    few = hostile(("$x_1$", r"$\foo$", "a$b", "$", "<b>", "f"))  # short enough to stand along a matrix
    short = dataclasses.replace(obliv.worst_case(obliv.routing("shortest", few)), routing=r"lft:$\foo$")
    compared = obliv.compare("mesh:3x3", "dor", "o1turn")
    rows = tuple(dataclasses.replace(each, routing=rf"$\foo$ {each.routing}") for each in compared.entries)
    one = dataclasses.replace(compared, entries=rows)
    two = dataclasses.replace(
        compared, entries=rows + tuple(dataclasses.replace(each, topology=r"$\bar$") for each in rows)
    )
    amounts = obliv.throughput(obliv.routing("dor", obliv.mesh(3, 3)), "uniform")
    row = dataclasses.replace(amounts.patterns[0], traffic=r"matrix:$\foo$")
    amounts = dataclasses.replace(amounts, topology=SPEC, patterns=(row,))
    schedule = obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:3"), "hot-potato")
    schedule = dataclasses.replace(schedule, topology=SPEC)
    return {
        "topology": lambda: view.plot_topology(topology),
        "loads": lambda: view.draw_loads(topology, [1.0] * 12, label=r"load in $\foo$"),
        "paths": lambda: view.draw_paths(routing, 0, 2),
        "worst": lambda: view.plot_worst(worst),
        "matrix": lambda: view.plot_worst(short, "matrix"),
        "bars": lambda: view.plot_comparison(one, "bars"),
        "plane": lambda: view.plot_comparison(one, "plane"),
        "lines": lambda: view.plot_comparison(two, "lines"),
        "throughput": lambda: view.plot_throughput(amounts),
        "space-time": lambda: view.plot_schedule(schedule),
        "deliveries": lambda: view.delivery_times(schedule),
        "makespans": lambda: view.makespans({r"$\foo$": [schedule]}),
    }


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", list(pictures()))
def test_a_dollar_sign_begins_no_formula(name: str) -> None:
    result = written(pictures()[name]())
    assert result
    assert not any(each.get_parse_math() or each.get_usetex() for each in result.values())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_every_format_shows_the_letters_themselves(kind: str, tmp_path: Path) -> None:
    from matplotlib import rc_context

    path = tmp_path / f"a.{kind}"
    with rc_context({"svg.fonttype": "none"}):
        view.save(pictures()["matrix"](), path)
    assert path.stat().st_size > 1000
    if kind == "svg":
        text = path.read_text(encoding="utf-8")
        assert ">$x_1$<" in text
        assert r"lft:$\foo$ on L$\foo$.net" in text


def test_names_stand_as_they_are_also_where_tex_is_switched_on() -> None:
    from matplotlib import rc_context

    with rc_context({"text.usetex": True}):  # which would read files that a name tells it to
        ax = view.plot_topology(hostile())
        ax.figure.draw_without_rendering()
    assert set(NAMES) <= set(boxes(ax))


@pytest.mark.nightly
def test_formulas_of_the_user_and_of_number_formats_stay() -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    ax.set_ylabel(r"$\alpha$")
    mine = ax.text(0, 0, r"$\beta$")
    view.draw_topology(hostile(), ax)
    assert ax.yaxis.label.get_parse_math()
    assert mine.get_parse_math()
    with rc_context({"axes.formatter.use_mathtext": True}):
        drawn = view.draw_loads(hostile(), [1.0] * 12)
        drawn.figure.draw_without_rendering()
        ticks = drawn.child_axes[0].get_yticklabels()
    assert any("$" in each.get_text() for each in ticks)
    assert all(each.get_parse_math() for each in ticks)


def test_a_title_on_axes_of_the_user_is_literal() -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    view.plot_topology(hostile(), ax)
    assert SPEC in ax.get_title()
    assert not ax.title.get_parse_math()


def test_long_titles_are_broken_and_control_characters_shown() -> None:
    topology = obliv.build("file:" + "deep/" * 60 + "\x1b[31mevil\nname", 6, LINKS)
    ax = view.plot_topology(topology)
    assert "\x1b" not in ax.get_title()
    assert "?[31mevil?name" in ax.get_title().replace("\n", "")
    around = ax.get_tightbbox()
    assert around.width < 700  # pixels at 100 per inch
    assert around.x0 >= 0
    assert around.x1 <= ax.figure.bbox.width


def test_long_names_in_a_key_are_broken() -> None:
    labels = tuple(f"{k} {'very long ' * 12}" for k in range(6))
    ax = view.draw_loads(obliv.build("long", 6, LINKS, labels=labels), [1.0] * 12)
    assert max(map(len, legend(ax)[0].splitlines())) <= 90


@pytest.mark.nightly
def test_letters_without_a_glyph_are_told_once_and_in_one_line(tmp_path: Path) -> None:
    labels = ("计算节点", "节点二", "c", "d", "e", "f")
    topology = obliv.build("cjk", 6, LINKS, labels=labels)
    ax = view.plot_topology(topology)  # warnings are errors here: measuring texts says nothing
    for kind in ("png", "svg", "pdf"):
        with pytest.warns(UserWarning, match="no font of the picture has 5 letters") as messages:
            view.save(ax, tmp_path / f"a.{kind}")
        assert len(messages) == 1
        assert "U+4E8C" in str(messages[0].message)


def test_an_animation_tells_it_once_too(tmp_path: Path) -> None:
    schedule = obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:2"), "hot-potato")
    with pytest.warns(UserWarning, match="no font of the picture has 1 letter ") as messages:
        view.animate(dataclasses.replace(schedule, topology=r"$\foo$ 计"), tmp_path / "a.gif")
    assert len(messages) == 1


@pytest.mark.nightly
def test_what_is_told_has_no_place_in_our_sources(tmp_path: Path) -> None:
    code = (
        "import sys, obliv; from obliv import view;"
        "topology = obliv.build('two', 2, [(0, 1), (1, 0)], labels=('计算', '节'));"
        "view.save(view.plot_topology(topology), sys.argv[1])"
    )
    run = [sys.executable, "-c", code, str(tmp_path / "a.png")]
    messages = subprocess.run(run, check=True, capture_output=True, text=True).stderr
    assert len(messages.splitlines()) == 1
    assert ".py" not in messages


def test_other_warnings_are_not_swallowed() -> None:
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        with one_warning():
            warnings.warn("something else", UserWarning, stacklevel=1)
            warnings.warn("Glyph 20013 (\\N{CJK}) missing from current font.", UserWarning, stacklevel=1)
    assert [str(each.message)[:14] for each in messages] == ["something else", "no font of the"]


def test_shortened_names_keep_both_ends() -> None:
    assert shortened("rack-17-node-04 HCA-1", 12) == "rack-1…HCA-1"
    assert shortened("short", 12) == "short"
    assert all(len(shortened("x" * 90, most)) == most for most in range(1, 30))


def test_broken_lines_hold_all_letters() -> None:
    assert wrapped("a" * 25, 10).replace("\n", "") == "a" * 25
    assert wrapped("", 10) == ""
