"""Pictures of the kinds of results that are bars of numbers, or the network of something worst."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.fabric.by_hand import random_fabric, random_tables
from tests.view.drawn import everything, how_many, legend, part, texts

import obliv
from obliv import fabric, view
from obliv.fabric.results.route import Attempt, Standing
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.results import Bounds, Estimate, Result, Results
from obliv.results.base import Curve, Lines, Plane
from obliv.view.axes import drawn_kinds
from obliv.view.saving import drawn_for

pytest.importorskip("matplotlib")
pytest.importorskip("highspy")

from matplotlib.text import Text

TREE = obliv.fattree(4, 2)


def tables() -> Any:
    return fabric.from_routing(obliv.DModK(TREE))


def change() -> Any:
    return fabric.what_if(fabric.base_of(tables()), entries=["switch((0),1)/14=3"])


KINDS: dict[str, Callable[[], Result]] = {
    "bounds": lambda: obliv.bounds("mesh:3x2"),
    "design": lambda: obliv.design("mesh:3x2"),
    "fabric-bisection": lambda: fabric.bisection(tables(), samples=20),
    "fabric-route": lambda: fabric.route(fabric.from_topology(TREE)),
    "fabric-shifts": lambda: fabric.shifts(tables()),
    "heaviest-permutation": lambda: obliv.heaviest_permutation(obliv.ROMM(obliv.mesh(3, 3)), "uniform"),
    "locality": lambda: obliv.locality(obliv.ROMM(obliv.torus(5, 5))),
    "traffic-ratio": lambda: obliv.traffic_ratio(obliv.DModK(TREE), "shift:1", "uniform"),
    "virtual-channels": lambda: obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(3, 3))),
    "what-if": change,
}


def bars(ax: Any) -> list[float]:
    """The lengths of the solid bars."""
    return [patch.get_width() for patch in ax.patches if patch.get_gid() != "bounds"]


def hatched(ax: Any) -> list[tuple[float, float]]:
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches if patch.get_gid() == "bounds"]


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def whiskers(ax: Any) -> list[list[float]]:
    """The ends of the whiskers of estimates."""
    from matplotlib.collections import LineCollection

    paths = [
        path.vertices[:, 0]
        for lines in ax.collections
        if isinstance(lines, LineCollection)
        for path in lines.get_paths()
    ]
    return [ends.tolist() for ends in paths if not np.isnan(ends).any()]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_saved_without_warnings(kind: str, tmp_path: Path) -> None:
    result = KINDS[kind]()
    assert result.kind == kind
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dark in (False, True):
            with view.dark() if dark else nullcontext():
                view.save(result, tmp_path / f"{dark}.png", width=400)
                ax = result.plot(title=False)
            assert ax.get_title() == ""
    assert (tmp_path / "True.png").stat().st_size > 2000
    with drawn_for(400):
        ax = result.plot()
    pixels = 400 / ax.figure.get_size_inches()[0] / 72  # of a point
    assert min(text.get_fontsize() for text in ax.findobj(Text) if text.get_text().strip()) * pixels >= 8


def test_every_kind_has_a_picture_but_lists_and_texts() -> None:
    def below(cls: type[Result]) -> set[str]:
        own = {cls.kind} if cls.__module__.startswith("obliv.") else set()
        return own.union(*map(below, cls.__subclasses__()))

    importlib.import_module("obliv.results.study")
    for name in dir(obliv.results):
        getattr(obliv.results, name)  # which imports its module
    bare = {"explanation", "fabric-check", "list", "reproduce", "results", "verification"}
    bare |= {"study", "study-diff", "study-run", "study-verification"}
    assert below(Result) - {""} - bare == set(drawn_kinds())
    with pytest.raises(obliv.InputError, match="draw each of its entries"):
        Results(entries=(obliv.locality(obliv.DOR(obliv.mesh(3, 3))),)).plot()


def test_bounds_do_not_look_like_exact_numbers() -> None:
    exact = obliv.bounds("torus:4x4")
    with pytest.raises(obliv.InputError, match="write plot"):
        exact.plot("bars")
    ax = exact.plot()
    assert bars(ax) == [0.5, 1.0, 1.0, 1.0, 1.0]
    assert hatched(ax) == []
    assert texts(ax) == ["1/2 = 0.5", "1", "1", "1", "1"]
    between = Bounds(Fraction(1), Fraction(3, 2))
    ax = replace(exact, adaptive=between, bisection=None).plot()
    assert bars(ax) == [0.5, 1.0, 1.0, 0.0, 1.0]
    assert hatched(ax) == [(1.0, 1.5)]
    assert [patch.get_alpha() for patch in ax.patches] == [None, None, 0.5, None, None, None]
    assert texts(ax) == [
        "1/2 = 0.5",
        "1",
        "between 1 and 1.5",
        "not known",
        "1",
        "pale and hatched: between proved bounds; others: exact",
    ]
    assert "price of being oblivious between 1 and 1.5" not in ax.get_title()
    assert "price of being oblivious 1" in ax.get_title()
    nothing = dict.fromkeys(("capacity", "oblivious", "adaptive", "bisection", "matching_bound"))
    with pytest.raises(obliv.InputError, match="nothing to draw"):
        replace(exact, **nothing).plot()


def test_ratios_by_pattern() -> None:
    result = obliv.traffic_ratio(obliv.DOR(obliv.mesh(3, 3)), "shift:1", "transpose", "uniform")
    ax = result.plot()
    assert bars(ax) == [float(row.ratio) for row in result.patterns]
    assert names(ax) == ["shift:1", "transpose", "uniform"]
    one, two, three = result.patterns
    mixed = (replace(one, ratio=Bounds(Fraction(1), Fraction(2))), replace(two, ratio=Estimate(1.5, 0.25, 9)), three)
    ax = replace(result, patterns=mixed).plot()
    assert bars(ax) == [1.0, 1.5, float(three.ratio)]
    assert hatched(ax) == [(1.0, 2.0)]
    (ends,) = whiskers(ax)
    assert ends == pytest.approx([1.25, 1.75])
    for words in ("between proved bounds", "standard error of an estimate", "others: exact"):
        assert words in texts(ax)[-1].replace("\n", " ")
    with pytest.raises(obliv.InputError, match="no numbers"):
        replace(result, patterns=()).plot()


def test_lengths_of_paths() -> None:
    result = obliv.locality(obliv.ROMM(obliv.torus(5, 5)))
    ax = result.plot()
    assert [patch.get_height() for patch in ax.patches] == [float(share) for share in result.lengths]
    assert texts(ax) == [*(str(share) for share in result.lengths), "mean, the least possible"]
    farther = obliv.locality(obliv.routing("valiant", "mesh:4x4"))
    ax = farther.plot()
    assert texts(ax) == ["least mean ", " mean"]  # too many fractions to write
    assert [line.get_xdata()[0] for line in ax.lines] == [float(farther.minimal_hops), float(farther.hops)]
    assert "2 times the least" in ax.get_title()
    with pytest.raises(obliv.InputError, match="pair loads"):
        obliv.locality(obliv.DOR(obliv.mesh(3, 3)).pair_loads()).plot()


def test_virtual_channels_of_schemes() -> None:
    result = obliv.fewest_virtual_channels(obliv.ROMM(obliv.mesh(3, 3)))
    ax = result.plot()
    assert bars(ax) == [row.virtual_channels for row in result.schemes]
    assert names(ax) == [row.scheme for row in result.schemes]
    colors = {patch.get_facecolor() for patch, row in zip(ax.patches, result.schemes, strict=True) if row.acyclic}
    assert len(colors) == 1
    assert "cyclic: 4 channels" in texts(ax)[0]
    assert "2, by double-y" in ax.get_title()


def test_engines_beside_the_tables_in_use() -> None:
    result = fabric.route(fabric.from_topology(TREE))
    ax = result.plot()
    assert bars(ax) == [0.0 if one.standing is None else float(one.standing.worst) for one in result.tried]
    assert names(ax) == ["osrm2", "osrm2-c", "dmodk\n(written)", "updown"]
    assert "single paths: at least 2" in texts(ax)
    assert ax.lines[0].get_xdata()[0] == 2
    lost = Standing(Fraction(7), Fraction(1), missing=4, credit_loops=True)
    odd = replace(result, candidates=(Attempt("in use", lost, chosen=True), Attempt("updn", None, "x" * 90)))
    ax = odd.plot()
    assert bars(ax) == [7.0, 0.0]
    assert any("4 pairs missing" in text for text in texts(ax))
    assert max(map(len, texts(ax))) <= 60


def test_a_change_before_and_after() -> None:
    result = change()
    worse = replace(result, after=replace(result.after, channel_load=Fraction(7, 2), missing=1, deadlock=True))
    ax = replace(worse, changes=tuple("abcde")).plot()
    assert bars(ax) == [2.0, 3.5]
    assert texts(ax) == ["worst load 2", "worst load 7/2 = 3.5, 1 pair missing, a credit loop on one lane"]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert "a; b; c; and 2 more changes" in ax.get_title()


def test_the_bandwidth_of_bisections() -> None:
    result = fabric.bisection(tables(), samples=20)
    ax = result.plot()
    assert bars(ax) == [result.bandwidth.value, float(result.smallest), float(result.largest)]
    assert "±" in texts(ax)[1]


def test_the_worst_shift_on_its_fabric() -> None:
    routing = fabric.from_routing(obliv.DModK(obliv.xgft([2, 2, 2], [1, 2, 1])))
    result = fabric.shifts(routing)
    ax = result.plot()
    assert part(ax, "channels").get_array().max() == float(result.worst_load)
    assert f"shift {result.worst_shift}, the worst of {result.shifts}" in ax.get_title()
    with pytest.raises(obliv.InputError, match="no longer those of this result"):
        replace(result, worst_load=result.worst_load + 1).plot()
    with pytest.raises(obliv.InputError, match="every terminal once"):
        replace(result, order=(0,) * 8).plot()


def test_the_worst_shift_in_an_order_of_ones_own() -> None:
    """Its largest load and its number are those of the hosts' own order, its traffic is another one."""
    routing, order = tables(), [5, 4, 3, 2, 1, 0, 7, 6]
    usual, result = fabric.shifts(routing), fabric.shifts(routing, order=order)
    assert (result.worst_load, result.worst_shift) == (usual.worst_load, usual.worst_shift)
    ax = result.plot()
    traffic = [order[(order.index(host) + result.worst_shift) % 8] for host in range(8)]
    loads = routing.pair_loads().under(obliv.permutation(traffic))
    assert everything(ax.figure) != everything(usual.plot().figure)
    assert sorted(part(ax, "channels").get_array()) == sorted(float(load) for load in loads if load)
    assert "in the given order" in ax.get_title()
    loaded = replace(type(result).from_dict(result.to_dict()), subject=routing)
    assert everything(loaded.plot().figure) == everything(ax.figure)


def test_shifts_where_links_of_hosts_differ() -> None:
    hosts = random_fabric(0, mixed=True)
    topology = network(hosts)
    assert not topology.unit_rates
    result = fabric.shifts(fabric_routing(topology, random_tables(hosts, 0)))
    assert part(result.plot(), "channels").get_array().max() == pytest.approx(float(result.worst_load))


def test_the_heaviest_permutation_is_drawn_like_a_worst_case() -> None:
    result = obliv.heaviest_permutation(obliv.ROMM(obliv.mesh(3, 3)), "uniform")
    ax = result.plot()
    shares = part(ax, "flows on the worst channel").get_array()
    assert shares.sum() == pytest.approx(float(result.channel_load))
    assert f"load {result.channel_load}" in legend(ax)[0]
    moved = sum(s != d for s, d in enumerate(result.permutation))
    assert len(shares) + how_many(ax, "other flows") == moved
    assert "heaviest permutation in uniform" in ax.get_title()
    loaded = obliv.HeaviestPermutation.from_dict(result.to_dict())
    assert everything(loaded.plot(kind="matrix").figure) == everything(result.plot(kind="matrix").figure)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["Least worst case on ring:5", "proved optimal"]),
        (
            {"objective": "ratio"},
            ["Least oblivious ratio", "ratio 8/5 = 1.6, proved optimal", "worst-case channel load"],
        ),
        ({"objective": "average", "samples": 9}, ["mean largest load", "±", "(estimated)"]),
        ({"paths": 1}, ["at most 1 path per pair", "of the optimum"]),
    ],
)
def test_a_design_is_drawn_with_its_distance_to_the_optimum(options: dict[str, Any], words: list[str]) -> None:
    result = obliv.design("ring:5", **options)
    ax = result.plot()
    for word in words:
        assert word in ax.get_title()
    load = obliv.worst_case(result.subject).channel_load
    assert part(ax, "channels").get_array().max() == float(load)
    assert part(ax, "flows on the worst channel").get_array().sum() == pytest.approx(float(load))
    loaded = type(result).from_dict(result.to_dict())
    assert everything(loaded.plot().figure) == everything(ax.figure)
    with pytest.raises(obliv.InputError, match="no certificate"):
        replace(result, certificate=None).plot()


def test_a_loaded_design_has_its_network_inside() -> None:
    links = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1), (3, 2), (0, 3), (0, 2), (2, 0)]
    for options in ({}, {"objective": "ratio"}):
        result = obliv.design(obliv.build("own", 4, links), **options)
        loaded = type(result).from_dict(result.to_dict())
        assert everything(loaded.plot().figure) == everything(result.plot().figure)


@dataclass(frozen=True, repr=False)
class Slope(Result):
    kind: ClassVar[str] = "slope"

    def lines(self) -> Lines:
        line, points = Curve("line", [0, 2], [0, 1]), Curve("points", [1], [0.5])
        return Lines([line, points], "hops", "share", (3, 2), (0, 3), (0, 2), ["{Title} of {subject}", "{other}"])


@dataclass(frozen=True, repr=False)
class Ones(Result):
    kind: ClassVar[str] = "ones"

    def plane(self) -> Plane:
        return Plane([Fraction(1)] * 8, ["{topology}"], ["all alike"])


def test_a_result_of_ones_own_is_drawn_from_what_it_declares() -> None:
    ax = Slope(topology="mesh:2x2", routing="dor").plot(names={"dor": "XY"})
    assert ax.get_title().split("\n") == ["XY on mesh:2x2 of XY on mesh:2x2", "{other}"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xlim(), ax.get_ylim()) == ("hops", "share", (0, 3), (0, 2))
    assert [line.get_xydata().tolist() for line in ax.get_lines()] == [[[0, 0], [2, 1]]]
    ax = Ones(topology="mesh:2x2", routing="dor").plot()
    assert ax.get_title() == "mesh:2x2; all alike"
    assert part(ax, "channels").get_array().tolist() == [1] * 8
    with pytest.raises(obliv.InputError, match="it has 8 channels"):
        Ones(topology="mesh:3x3", routing="dor").plot()


def test_other_names_of_the_functions_that_draw() -> None:
    assert view.plot_failures is view.plot_throughput is view.plot_average is view.plot_bars
    assert view.plot_collisions is view.plot_lines
    assert (view.plot_ratio, view.plot_worst_channels) == (view.plot_worst, view.plot_plane)
