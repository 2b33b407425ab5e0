"""Claims of ratios on any network: forged parts are refused, whatever the digest says."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import reasons, refused, save_claim

import obliv
from obliv._util.files import pack, read_json, unpack, write_json

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ratios") / "ratio.json.gz"
    result = obliv.ratio(obliv.routing("romm", obliv.topology("mesh:3x3")), certificate=True)
    result.save(path)
    assert obliv.verify(path).proved
    assert obliv.verify(path, quick=True).proved
    assert len(obliv.verify(path, quick=True).unchecked) == 23
    assert not obliv.verify(path, budget=0).proved
    return path


def _ratio(content: dict[str, Any], lower: Fraction, upper: Fraction) -> None:
    if lower == upper:
        content["ratio"] = {"exact": str(lower), "value": float(lower)}
    else:
        content["ratio"] = {"lower": float(lower), "upper": float(upper)}


def claim(change: Callable[[Fraction], tuple[Fraction, Fraction]]) -> Change:
    return lambda content: _ratio(content, *change(Fraction(content["ratio"]["exact"])))


def table(key: str, change: Callable[[list[list[int]]], Any]) -> Change:
    def apply(content: dict[str, Any]) -> None:
        rows = unpack(content["certificate"][key])
        content["certificate"][key] = change(rows) or rows

    return apply


def certificate(key: str, value: Any) -> Change:
    return lambda content: content["certificate"].update({key: value})


def traffic(change: Callable[[list[list[Any]]], Any]) -> Change:
    return lambda content: change(content["traffic"])


FORGERIES: dict[str, Change] = {
    "a smaller ratio": claim(lambda r: (r - Fraction(1, 8), r - Fraction(1, 8))),
    "a larger ratio": claim(lambda r: (r + Fraction(1, 8), r + Fraction(1, 8))),
    "the lower bound raised": claim(lambda r: (r + Fraction(1, 64), r + 1)),
    "the upper bound lowered": claim(lambda r: (r - 1, r - Fraction(1, 64))),
    "bounds out of order": claim(lambda r: (r + 1, r - 1)),
    "more traffic": traffic(lambda rows: rows[0].__setitem__(2, str(2 * Fraction(rows[0][2])))),
    "less traffic": traffic(lambda rows: rows.pop()),
    "traffic to itself": traffic(lambda rows: rows.append([0, 0, "1"])),
    "traffic of a terminal that does not exist": traffic(lambda rows: rows.append([0, 9, "1"])),
    "no traffic": lambda content: content.pop("traffic"),
    "a flow dropped": table("flows", lambda rows: rows.pop() and None),
    "a flow elsewhere": table("flows", lambda rows: rows[0].__setitem__(1, (rows[0][1] + 1) % 24)),
    "a negative flow": table("flows", lambda rows: rows[0].__setitem__(2, -rows[0][2])),
    "a flow of a terminal that does not exist": table("flows", lambda rows: rows[0].__setitem__(0, 9)),
    "a channel that does not exist": table("flows", lambda rows: rows[0].__setitem__(1, 24)),
    "a larger unit": lambda c: c["certificate"].update(unit=str(2 * Fraction(c["certificate"]["unit"]))),
    "no lengths": table("lengths", lambda rows: [[0] * 24] * 24),
    "negative lengths": table("lengths", lambda rows: [[-x for x in row] for row in rows]),
    "lengths of another channel": table("lengths", lambda rows: rows[1:] + rows[:1]),
    "lengths of fewer channels": table("lengths", lambda rows: rows[1:]),
    "lengths beyond 64 bits": table("lengths", lambda rows: [["9" * 30] * 24] * 24),
    "huge lengths": table("lengths", lambda rows: [[2**62] * 24] * 24),
    "another channel": lambda c: c["channel"].update(id=(c["channel"]["id"] + 1) % 24),
    "a bound of single paths": lambda c: c.update(lower_bound={"exact": "2", "value": 2.0}, lower_bound_source="mine"),
    "a negative denominator": certificate("denominator", -7),
    "no denominator": certificate("denominator", None),
    "a file that is not read": certificate("sources", {"network.txt": "0" * 64}),
    "a length of zero for its own channel": table(
        "lengths", lambda rows: [[0] * k + row[k:] for k, row in enumerate(rows)]
    ),
    "a unit of zero": certificate("unit", "0"),
    "a unit that is text": certificate("unit", "large"),
    "another routing": lambda content: content.update(routing="dor"),
    "another network": lambda content: content.update(topology="mesh:9x3"),
    "a number beside the ratio": lambda content: content["ratio"].update(value=1.0),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_ratios_are_refused(name: str, saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    FORGERIES[name](content)
    assert refused(content, tmp_path / "forged.json")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda c: c["ratio"].update(value=1.0), "the decimal value of ratio differs"),
        (lambda c: c.pop("traffic"), "channel, traffic, lengths or flows is missing"),
        (lambda c: c["channel"].update(tail=(c["channel"]["tail"] + 1) % 9), "is not that of the network"),
        (lambda c: _ratio(c, Fraction(3), Fraction(1)), "the bounds are out of order"),
        (lambda c: c.update(lower_bound_reason="another"), "is missing for another reason"),
        (lambda c: c["certificate"].update(denominator=0), "the denominator must be a positive integer"),
        (FORGERIES["traffic to itself"], "a row of the traffic is out of range"),
        (FORGERIES["a negative flow"], "a row of the flows is out of range"),
        (FORGERIES["huge lengths"], "lengths must be one number, 0 or more"),
    ],
)
def test_each_part_is_refused_by_its_own_check(change: Change, why: str, saved: Path, tmp_path: Path) -> None:
    content = copy.deepcopy(read_json(saved))
    change(content)
    (said,) = reasons(content, tmp_path / "forged.json")
    assert why in said


def test_loads_that_are_not_whole_over_the_denominator_prove_nothing(tmp_path: Path) -> None:
    content = obliv.ratio(obliv.routing("ecmp", obliv.ring(4)), certificate=True).to_dict()
    assert content["certificate"]["denominator"] == 2
    content["certificate"]["denominator"] = 1
    assert reasons(content, tmp_path / "forged.json") == ["the loads of ecmp are not integers over 1"]


def test_flows_beyond_a_bandwidth_are_refused(tmp_path: Path) -> None:
    """All else of this claim holds: twice the traffic, with flows that carry it, loads the channel twice as much."""
    content = obliv.ratio(obliv.routing("dor", obliv.ring(5)), certificate=True).to_dict()
    ratio = Fraction(content["ratio"]["exact"])
    _ratio(content, 2 * ratio, 2 * ratio)
    content["traffic"] = [[s, d, str(2 * Fraction(amount))] for s, d, amount in content["traffic"]]
    content["certificate"]["unit"] = str(2 * Fraction(content["certificate"]["unit"]))
    checked = obliv.verify(save_claim(content, tmp_path / "forged.json"))
    assert [(check.check, check.ok) for check in checked.checks if check.ok is not True] == [("optimum", False)]
    assert "beyond its bandwidth" in next(check.detail for check in checked.checks if check.check == "optimum")


def test_flows_in_a_unit_of_nothing_carry_nothing(tmp_path: Path) -> None:
    """They would fill no channel, however much traffic there is."""
    content = obliv.ratio(obliv.routing("dor", obliv.ring(5)), certificate=True).to_dict()
    ratio = Fraction(content["ratio"]["exact"])
    _ratio(content, 2 * ratio, 2 * ratio)
    content["traffic"] = [[s, d, str(2 * Fraction(amount))] for s, d, amount in content["traffic"]]
    flows = [[s, c, 2 * amount] for s, c, amount in unpack(content["certificate"]["flows"])]
    content["certificate"] |= {"unit": "0", "flows": flows}
    assert reasons(content, tmp_path / "forged.json") == ["the flows do not carry the traffic"]


@pytest.mark.parametrize("key", ["lengths", "flows", "permutation"])
def test_arrays_of_very_many_numbers_are_not_unpacked(key: str, saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    many = pack(np.zeros(10_000, np.int64))
    part = content if key == "permutation" else content["certificate"]
    part[key] = [many] * 24 if key == "lengths" else many
    with pytest.raises(obliv.FileError, match="an array of 10000 numbers"):
        obliv.verify(save_claim(content, tmp_path / "forged.json"))


def test_a_changed_file_is_refused_by_its_digest(saved: Path, tmp_path: Path) -> None:
    content = read_json(saved)
    content["lower_bound_reason"] = "another"
    write_json(content, tmp_path / "changed.json")
    assert not obliv.verify(tmp_path / "changed.json").proved


def test_the_checker_uses_the_bandwidths() -> None:
    links = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]
    slow = obliv.build("slow", 3, links, bandwidth=[1, 1, 1, 1, Fraction(1, 3), Fraction(1, 3)])
    fast = obliv.build("slow", 3, links)
    result = obliv.ratio(obliv.ECMP(slow), certificate=True)
    assert result.ratio == 4  # all that two paths carry, 1 + 1/3, over the channel of 1/3
    assert obliv.verify(result).proved
    assert not obliv.verify(result, topology=fast, routing=obliv.ECMP(fast)).proved
