"""Claims with exact numbers beyond the range of floats are refused with one line."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.claims import refused, save_claim

import obliv

HUGE = {"exact": "1" + "0" * 400, "value": float("inf")}
TINY = {"exact": "1/1" + "0" * 400, "value": 0.0}

CLAIMS: dict[str, Callable[[], Any]] = {
    "ratio": lambda: obliv.ratio("ring:4", "dor", certificate=True),
    "traffic": lambda: obliv.traffic_ratio("ring:4", "dor", "uniform", certificate=True),
    "collisions": lambda: obliv.collisions("fattree:4,2", "shift:2"),
    "design": lambda: obliv.design("ring:4"),
    "average": lambda: obliv.design("ring:4", objective="average", samples=2),
}


@pytest.mark.parametrize(
    ("name", "path", "number"),
    [
        ("ratio", ("ratio",), HUGE),
        ("traffic", ("patterns", 0, "ratio"), HUGE),
        ("traffic", ("patterns", 0, "channel_load"), HUGE),
        ("collisions", ("distribution", 0, "load"), HUGE),
        ("design", ("channel_load",), HUGE),
        ("design", ("hops_bound",), HUGE),
        ("average", ("capacity",), HUGE),
        ("average", ("capacity",), TINY),
        ("average", ("capacity",), {"exact": "0", "value": 0.0}),
    ],
)
def test_they_are_refused(name: str, path: tuple[Any, ...], number: Any, tmp_path: Path) -> None:
    content = copy.deepcopy(CLAIMS[name]().to_dict())
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = number
    assert refused(content, tmp_path / "claim.json", digest="certificate" in content)


def test_a_negative_capacity_is_refuted(tmp_path: Path) -> None:
    content = copy.deepcopy(CLAIMS["average"]().to_dict())
    content["capacity"] = {"exact": "-2", "value": -2.0}
    checked = obliv.verify(save_claim(content, tmp_path / "claim.json"))
    assert [step.check for step in checked.checks if step.ok is False] == ["figures"]


def test_other_overflows_are_not_the_fault_of_a_claim(tmp_path: Path) -> None:
    class Overflowing(obliv.Routing):
        def paths(self, source: int, destination: int) -> Iterator[Any]:
            raise OverflowError("Python int too large to convert to C long")

    path = tmp_path / "claim.json"
    obliv.worst_case("ring:4", "shortest", certificate=True).save(path)
    with pytest.raises(OverflowError, match="C long"):
        obliv.verify(path, routing=Overflowing(obliv.ring(4), "shortest"))
