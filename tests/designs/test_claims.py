"""Saved designs: loaded as routings, verified, and refused where something in them was changed."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.claims import reasons, refused, save_claim

import obliv
from obliv._util.files import read_json, unpack, write_json
from obliv.checker.constraints import broken_rule, constraints_of, ways_of
from obliv.checker.designs import _line
from obliv.checker.linear import terminal_maps
from obliv.errors import InputError
from obliv.results.claims import MalformedError
from obliv.results.markup import from_content
from obliv.routings.listed import PathTable

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("designs") / "best.json.gz"
    obliv.design("mesh:3x3").save(path)
    return path


@pytest.mark.nightly
def test_a_design_is_a_routing_like_any_other(saved: Path) -> None:
    mesh = obliv.mesh(3, 3)
    routing = obliv.routing(f"design:{saved}", mesh)
    assert obliv.worst_case(routing).channel_load == Fraction(7, 6)
    mixed = 0.5 * routing + 0.5 * obliv.DOR(mesh)
    assert obliv.worst_case(mixed).channel_load <= Fraction(7, 12) + 1
    claim = obliv.worst_case(routing, certificate=True)
    assert obliv.verify(claim).proved
    assert obliv.load(saved) == obliv.design("mesh:3x3")


def test_designs_of_translated_networks_load_too(tmp_path: Path) -> None:
    obliv.design("torus:3x3").save(tmp_path / "torus.json")
    torus = obliv.torus(3, 3)
    routing = obliv.routing(f"design:{tmp_path}/torus.json", torus)
    listed = PathTable(torus, {(s, d): list(routing.paths(s, d)) for s in range(9) for d in range(9)}, "listed")
    assert routing.pair_loads() == listed.pair_loads()


def test_another_network_is_refused(saved: Path) -> None:
    with pytest.raises(obliv.FileError, match="does not fit mesh:4x4"):
        obliv.routing(f"design:{saved}", obliv.mesh(4, 4))


def _set(content: dict[str, Any], *keys: Any, value: Any) -> None:
    for key in keys[:-1]:
        content = content[key]
    content[keys[-1]] = value


def exact(text: str) -> dict[str, Any]:
    return {"exact": text, "value": float(Fraction(text))}


def lengths(content: dict[str, Any], factor: int) -> None:
    for k, rows in enumerate(content["certificate"]["load_line"]["lengths"]):
        table = unpack(rows)
        content["certificate"]["load_line"]["lengths"][k] = [[s, d, factor * x] for s, d, x in table]


@pytest.mark.parametrize(("factor", "proved"), [(2**45, True), (2**50, False)])
def test_lengths_have_at_most_48_bits(factor: int, proved: bool, saved: Path, tmp_path: Path) -> None:
    """What lengths prove does not depend on their unit; exact ones of larger networks have more than 40 bits."""
    content = copy.deepcopy(read_json(saved))
    lengths(content, factor)
    assert refused(content, tmp_path / "long.json") != proved


def move_a_probability(content: dict[str, Any]) -> None:
    amounts = unpack(content["paths"]["amounts"])
    place = next(k for k, (one, two) in enumerate(itertools.pairwise(amounts)) if one > 1 and two >= 1)
    amounts[place], amounts[place + 1] = amounts[place] - 1, amounts[place + 1] + 1
    content["paths"]["amounts"] = amounts


def drop_a_path(content: dict[str, Any]) -> None:
    paths = content["paths"]
    per_pair, hops, channels, amounts = (unpack(paths[key]) for key in ("per_pair", "hops", "channels", "amounts"))
    pair = next(k for k, count in enumerate(per_pair) if count > 1)
    per_pair[pair] -= 1
    amounts[1] += amounts[0]
    paths |= {"per_pair": per_pair, "hops": hops[1:], "channels": channels[hops[0] :], "amounts": amounts[1:]}


FORGERIES: dict[str, Change] = {
    "lower bound raised": lambda c: _set(c, "channel_load", value={"lower": 7 / 6 + 1e-9, "upper": 1.17}),
    "exact load lowered": lambda c: _set(c, "channel_load", value=exact("1")),
    "hops lowered": lambda c: _set(c, "hops", value=exact("2")),
    "bound of the hops raised": lambda c: _set(c, "hops_bound", value=exact("65/27")),
    "a probability moved": move_a_probability,
    "a path dropped": drop_a_path,
    "lengths of nothing": lambda c: lengths(c, 0),
    "lengths that are too large to be added up": lambda c: _set(
        c, "certificate", "load_line", "lengths", 0, value=[[0, d, 2**48 - 1] for d in range(9)] * 9
    ),
    "numbers of paths in rows": lambda c: c["paths"].update(per_pair=[unpack(c["paths"]["per_pair"])]),
    "negative lengths": lambda c: lengths(c, -1),
    "rows of lengths without a length": lambda c: _set(c, "certificate", "load_line", "lengths", 0, value=[[0, 1]]),
    "worst case of another routing": lambda c: _set(
        c, "certificate", "worst", value=obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)), certificate=True).to_dict()
    ),
    "worst case of an unknown kind": lambda c: _set(c, "certificate", "worst", "kind", value="9" * 5000),
    "fewer paths claimed": lambda c: _set(c, "most_paths", value=1),
    "another capacity": lambda c: _set(c, "capacity", value=exact("5/3")),
    "minimal claimed": lambda c: _set(c, "constraints", value=["minimal"]),
    "a limit of hops claimed": lambda c: _set(c, "constraints", value=["hops ≤ 2"]),
    "no hops claimed": lambda c: _set(c, "constraints", value=["hops ≤ 0"]),
    "multiples of nothing claimed": lambda c: c.update(constraints=["weights in multiples of 1/0"], loss=c["gap"]),
    "a generator that is no permutation": lambda c: _set(c, "certificate", "generators", value=[[0] * 9]),
    "a channel of another focus": lambda c: _set(c, "certificate", "channels", 5, value=[99, []]),
    "no lengths": lambda c: _set(c, "certificate", "load_line", value=None),
    "price of a hop": lambda c: _set(c, "certificate", "load_line", "price", value=1),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_designs_are_refused(name: str, saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    FORGERIES[name](content)
    assert refused(content, tmp_path / "forged.json")


def table(rows: Any) -> Change:
    return lambda c: _set(c, "certificate", "load_line", "lengths", 0, value=rows)


def certificate(key: str, value: Any) -> Change:
    return lambda c: _set(c, "certificate", key, value=value)


def constrained(*texts: str) -> Change:
    """Claim constraints, with the figures that follow from them."""

    def change(content: dict[str, Any]) -> None:
        result = from_content(copy.deepcopy(content))
        assert isinstance(result, obliv.Design)
        made = dataclasses.replace(result, constraints=texts, hops_bound=None).to_dict()
        content.clear()
        content.update(made)

    return change


def add_up_to_more(content: dict[str, Any]) -> None:
    amounts = unpack(content["paths"]["amounts"])
    content["paths"]["amounts"] = [amounts[0] + 1, *amounts[1:]]


def a_negative_number_of_paths(content: dict[str, Any]) -> None:
    content["paths"]["per_pair"] = [-1, *unpack(content["paths"]["per_pair"])[1:]]


ALONE: list[tuple[Change, str]] = [
    (add_up_to_more, "the probabilities of the paths of a pair do not add up to 1"),
    (lambda c: c.update(objective="average"), "the objective 'average' is not that of the other figures"),
    (a_negative_number_of_paths, "a number of paths or hops is out of range"),
    (FORGERIES["numbers of paths in rows"], "per_pair has 2 dimensions where 1 are expected"),
    (lambda c: c["paths"].update(per_pair="x"), "per_pair cannot be unpacked"),
    (lambda c: c["paths"].update(more=[]), "paths is not a list of paths"),
    (certificate("worst", None), "worst is missing in the certificate"),
    (lambda c: c["certificate"]["worst"]["certificate"].update(digest="0"), "does not fit the content"),
    (certificate("focus", [99]), "focus lists something other than channels"),
    (certificate("focus", None), "channels must list where the lengths of every channel come from"),
    (certificate("channels", [[0, []]]), "channels must list where the lengths of every channel come from"),
    (FORGERIES["a channel of another focus"], "an entry of channels is not [focus, word]"),
    (lambda c: _set(c, "certificate", "channels", 5, value=[0, [99]]), "other than generator numbers"),
    (lambda c: _set(c, "certificate", "channels", 5, value=[0, [-1]]), "other than generator numbers"),
    (FORGERIES["a generator that is no permutation"], "a generator is not a permutation of the nodes"),
    (certificate("generators", [list(range(8))]), "a generator is not a permutation of the nodes"),
    (FORGERIES["no lengths"], "a line of the certificate is missing, or its price is not a whole number"),
    (lambda c: _set(c, "certificate", "load_line", "price", value=-1), "its price is not a whole number"),
    (lambda c: _set(c, "certificate", "load_line", "lengths", value=[]), "lengths are missing for a focus channel"),
    (table([[0, 1]]), "a row of lengths is not [source, destination, length]"),
    (table([[0, 1, -1]]), "a row of lengths is out of range"),
    (table([[-1, 1, 1]]), "a row of lengths is out of range"),
    (table([[0, 9, 1]]), "a row of lengths is out of range"),
    (table([[0, 1, 2**48 + 1]]), "a row of lengths is out of range"),
    (constrained("minimal"), "a path is longer than the shortest"),
    (constrained("hops ≤ 2"), "64/27 mean hops exceed 2"),
    (constrained("at most 1 path per pair"), "pairs have up to 4, the limit is 1"),
    (constrained("weights in multiples of 1/2"), "is claimed to be a multiple, but one is not"),
    (constrained("at most 2 virtual channels by turn"), "a path takes 2 turns that count, the limit is 1"),
    (constrained("at most 2 × 2 virtual channels by turn+dateline"), "by turn+dateline do not fit the network"),
    (constrained("at most 1 virtual channel by turn+dateline"), "is not a constraint that is known"),
    (constrained("minimal", "minimal"), "is not a constraint that is known, or not the only one of its kind"),
    (constrained("within dor"), "the next hops of dor depend on the source"),
    (constrained("within ecmp"), "a path leaves the next hops"),
    (constrained("within ecmp", "minimal"), "cannot be combined with other constraints"),
]


@pytest.mark.parametrize(("change", "why"), ALONE, ids=lambda part: part[:40] if isinstance(part, str) else "")
def test_each_part_is_refused_by_its_own_check(change: Change, why: str, saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    change(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


RING = obliv.ring(4)
ONWARD = [RING.channel(v % 4, (v + 1) % 4) for v in range(5)]
DATELINE = constraints_of(("at most 2 × 2 virtual channels by turn+dateline",))
TURNS = constraints_of(("at most 1 turn",))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (ONWARD[:4], ""),
        (ONWARD, "passes a dateline twice in one direction"),
        ([ONWARD[0], RING.channel(1, 0)], f"takes channel {RING.channel(1, 0)} right after channel {ONWARD[0]}"),
    ],
)
def test_paths_that_virtual_channels_forbid(path: list[int], why: str) -> None:
    assert broken_rule([tuple(path)], RING, DATELINE) == why


@pytest.mark.parametrize("network", ["complete:4", "hyperx:3x3", "fattree:4,2"])
def test_turns_are_those_of_a_mesh(network: str) -> None:
    with pytest.raises(MalformedError, match="turns are limited, but the network is not a mesh, torus or hypercube"):
        ways_of(obliv.topology(network), TURNS)


def test_too_many_states_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(ways_of(RING, TURNS).node) == 12
    monkeypatch.setattr("obliv.checker.constraints._MOST_STATES", 11)
    with pytest.raises(InputError, match="have too many states to be checked"):
        ways_of(RING, TURNS)


def test_a_generator_keeps_the_terminals() -> None:
    part = RING.with_terminals([0, 1, 2])
    assert [each.tolist() for each in terminal_maps(np.array([[2, 1, 0, 3]]), part)] == [[2, 1, 0]]
    with pytest.raises(MalformedError, match="a generator does not keep the terminals"):
        terminal_maps(np.array([[1, 2, 3, 0]]), part)


def test_nothing_is_proved_where_no_path_keeps_to_the_rule(saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    constrained("at most 0 turns")(content)
    said = reasons(content, tmp_path / "forged.json")
    assert said == ["a path takes 2 turns that count, the limit is 0", "a terminal cannot be reached from another one"]


def test_lengths_too_large_to_be_added_up_prove_nothing(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    table([[0, d, 2**48 - 1] for d in range(9)] * 9000)(content)
    assert reasons(content, tmp_path / "forged.json") == ["the lengths of the certificate are too large to be added up"]


def test_a_price_too_large_for_the_network_proves_nothing() -> None:
    """Sums over all pairs of a large network exceed 64 bits with a price that does not exceed them alone."""
    nothing, many = np.zeros(0, np.int64), np.zeros(2**10)
    carried: Any = SimpleNamespace(source=nothing)
    network: Any = SimpleNamespace(terminals=many, nodes=2**10)
    line, anything = {"price": 2**60, "lengths": []}, cast(Any, None)
    with pytest.raises(InputError, match="too large to be added up"):
        _line(line, carried, anything, network, anything, nothing, lambda what, share: None)


def test_a_price_of_hops_proves_nothing_without_a_limit(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["certificate"]["load_line"]["price"] = 1
    checks = obliv.verify(save_claim(content, tmp_path / "forged.json")).checks
    wrong = [step.detail for step in checks if not step.ok]
    assert wrong == ["hops have a price, which proves nothing without a limit of hops"]


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"channel_load": Fraction(1)}, "worst case"),
        ({"channel_load": obliv.Bounds(Fraction(1), Fraction(8, 7))}, "worst case"),
        ({"channel_load": Fraction(4, 3)}, "worst case"),
        ({"channel_load": obliv.Bounds(Fraction(5, 4), Fraction(4, 3))}, "lower bound"),
        ({"hops_bound": Fraction(65, 27)}, "fewest hops"),
        ({"hops": Fraction(65, 27), "hops_bound": None}, "figures"),
        ({"constraints": ("hops ≤ 2",), "hops_bound": None}, "limit of hops"),
    ],
)
def test_each_statement_is_refused_by_its_check(
    changes: dict[str, Any], check: str, saved: Path, tmp_path: Path
) -> None:
    """The other figures follow from the false one."""
    result = obliv.load(saved)
    assert isinstance(result, obliv.Design)
    content = dataclasses.replace(result, **changes).to_dict()
    checks = obliv.verify(save_claim(content, tmp_path / "forged.json")).checks
    assert check in [step.check for step in checks if step.ok is False]


@pytest.mark.parametrize("spec", ["mesh:5x5", "random-regular:n=16,d=5,seed=2"])
def test_worst_cases_of_designs_are_proved_where_terminals_have_rates(spec: str, tmp_path: Path) -> None:
    """Prices of many channels are rounded to save room, but not for more than one packet per cycle."""
    plain = obliv.topology(spec)
    obliv.design(plain, then=None, gap=1e-2, exact=False).save(tmp_path / "design.json")
    rated = plain.with_rates(injection=[2] + [1] * (len(plain.terminals) - 1))
    routing = obliv.routing(f"design:{tmp_path / 'design.json'}", rated)
    claim = obliv.worst_case(routing, certificate=True)
    assert obliv.verify(claim, topology=rated, routing=routing).proved


def test_loads_of_nothing_are_refused(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["channel_load"] = {"lower": 0.0, "upper": 7 / 6}
    with pytest.raises(obliv.FileError, match="not above 0"):
        obliv.verify(save_claim(content, tmp_path / "forged.json"))


def test_a_design_for_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text("a b\nb c\n")
    obliv.design(f"file:{tmp_path}/net.txt").save(tmp_path / "design.json")
    assert obliv.verify(tmp_path / "design.json").proved
    (tmp_path / "net.txt").write_text("a b\nb c\n\n")
    checks = obliv.verify(tmp_path / "design.json").checks
    assert "source file" in [step.check for step in checks if step.ok is False]


def test_a_changed_file_is_refused_by_its_digest(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["objective"] = "average"
    write_json(content, tmp_path / "changed.json")
    assert not obliv.verify(tmp_path / "changed.json").proved


@pytest.mark.parametrize("key", ["throughput", "fraction_of_capacity", "gap"])
def test_figures_that_do_not_follow_are_refused(key: str, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content[key] = exact("1/7")
    save_claim(content, tmp_path / "forged.json")
    failed = [step for step in obliv.verify(tmp_path / "forged.json").checks if step.ok is False]
    assert [step.check for step in failed] == ["figures"]
    assert key in failed[0].detail


def test_designs_of_a_single_terminal_are_refused(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["topology"] = "xgft:1;1;1"
    content["paths"] = {"whole": 1, "per_pair": [0], "hops": [], "channels": [], "amounts": []}
    with pytest.raises(obliv.FileError, match="no pair of terminals"):
        obliv.verify(save_claim(content, tmp_path / "claim.json"))


def point(**changes: Any) -> Change:
    """Claim another first point of a curve, with the figures that follow from it."""

    def change(content: dict[str, Any]) -> None:
        result = from_content(copy.deepcopy(content))
        assert isinstance(result, obliv.Pareto)
        points = (dataclasses.replace(result.points[0], **changes), *result.points[1:])
        made = dataclasses.replace(result, points=points).to_dict()
        content.clear()
        content.update(made)

    return change


def the_first_point_again(content: dict[str, Any]) -> None:
    content["points"].append(content["points"][0])
    content["certificate"]["designs"].append(content["certificate"]["designs"][0])


@pytest.fixture(scope="module")
def curve() -> dict[str, Any]:
    result = obliv.pareto("mesh:3x2", certificate=True)
    assert obliv.verify(result).proved
    return result.to_dict()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (certificate("designs", None), "designs must be a list of designs"),
        (certificate("designs", [None]), "designs must be a list of designs"),
        (certificate("designs", []), "there must be a design for each point of the curve"),
        (lambda c: c["certificate"]["designs"].pop(), "there must be a design for each point of the curve"),
        (the_first_point_again, "a point of the curve is listed twice"),
        (point(hops=Fraction(5, 4)), "its design has other constraints"),
        (point(channel_load=Fraction(1, 2)), "its design has another load"),
        (point(fraction_of_capacity=Fraction(1, 7)), "its design has another fraction of capacity"),
        (point(times_minimal=Fraction(2)), "its design has another least number of hops"),
        (lambda c: c["certificate"]["designs"].reverse(), "its design has more hops"),
        (
            lambda c: c["certificate"]["designs"][0]["certificate"].update(digest="0"),
            "digest: does not fit the content",
        ),
        (lambda c: c.update(constraints=["at most 9 turns"]), "its design has other constraints"),
    ],
)
def test_each_part_of_a_curve_is_refused_by_its_own_check(
    change: Change, why: str, curve: dict[str, Any], tmp_path: Path
) -> None:
    content = copy.deepcopy(curve)
    change(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said
