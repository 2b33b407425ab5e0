"""Numbers of a claim that are shown beside what is proved: each is as exact as the claim, or the claim is refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.claims import refused, save_claim

import obliv
from obliv._util.files import read_json

RING = obliv.routing("dor", obliv.ring(5))
CLAIMS = {
    "design": lambda: obliv.design("mesh:2x2"),
    "ratio": lambda: obliv.design("mesh:2x2", objective="ratio", then="hops"),
    "average": lambda: obliv.design("mesh:2x2", objective="average", samples=2),
    "bounds": lambda: obliv.bounds("mesh:2x2"),
    "traffic": lambda: obliv.traffic_ratio(RING, "tornado", "uniform", certificate=True),
    "channels": lambda: obliv.worst_channels(RING, certificate=True),
    "network": lambda: obliv.ratio(RING, certificate=True),
    "worst": lambda: obliv.worst_case(RING, certificate=True),
}


def exact_numbers(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all exact numbers outside the certificate."""
    if isinstance(value, dict) and value.keys() == {"exact", "value"}:
        yield value
    elif isinstance(value, dict | list):
        entries = value.values() if isinstance(value, dict) else value
        for part in entries if isinstance(value, list) else (v for k, v in value.items() if k != "certificate"):
            yield from exact_numbers(part)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", CLAIMS)
def test_a_decimal_value_that_is_not_the_exact_one_is_refused(kind: str, tmp_path: Path) -> None:
    CLAIMS[kind]().save(tmp_path / "claim.json")
    valid = read_json(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    count = len(list(exact_numbers(valid)))
    assert count
    for place in range(count):
        content = copy.deepcopy(valid)
        list(exact_numbers(content))[place]["value"] += 1.0
        assert refused(content, tmp_path / "forged.json")


def test_claims_about_every_channel_list_every_channel(tmp_path: Path) -> None:
    CLAIMS["channels"]().save(tmp_path / "claim.json")
    valid = read_json(tmp_path / "claim.json")
    for change in (
        lambda rows: rows.pop(),
        lambda rows: rows.append(rows[1]),
        lambda rows: rows[1].pop("channel"),
        lambda rows: rows[2]["channel"].update(head=3),
    ):
        content = copy.deepcopy(valid)
        change(content["channels"])
        assert refused(content, tmp_path / "forged.json")


@pytest.mark.parametrize("kind", ["ratio", "network"])
def test_tables_of_another_form_are_refused(kind: str, tmp_path: Path) -> None:
    CLAIMS[kind]().save(tmp_path / "claim.json")
    content = read_json(tmp_path / "claim.json")
    content["certificate"] |= {"flows": [1, 2]}
    if kind == "ratio":
        content["certificate"]["ratio_line"]["flows"][0] = [1, 2, 3, 4]
    with pytest.raises(obliv.FileError, match="is not a complete claim"):
        obliv.verify(save_claim(content, tmp_path / "forged.json"))


def test_a_permutation_beside_other_traffic_is_refused(tmp_path: Path) -> None:
    CLAIMS["worst"]().save(tmp_path / "claim.json")
    content = read_json(tmp_path / "claim.json")
    content["traffic"] = [[s, d, "1"] for s, d in enumerate(content["permutation"])]
    content["permutation"] = content["permutation"][::-1]
    assert refused(content, tmp_path / "forged.json")
