"""Designs of the best average: known values, estimates on other permutations, proved worst cases, forged claims."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import exact, reasons, refused
from tests.designs.test_claims import drop_a_path, move_a_probability

import obliv
from obliv._util.files import read_json
from obliv.cli import main
from obliv.designs import average
from obliv.errors import Interrupted
from obliv.questions.kernels.permutations import random_permutations


def best(network: Any, **options: Any) -> obliv.AverageDesign:
    result = obliv.design(network, objective="average", **options)
    assert isinstance(result, obliv.AverageDesign)
    return result


def least(result: obliv.Design) -> float:
    load = result.channel_load
    if isinstance(load, obliv.Bounds):
        assert load.upper <= load.lower * (1 + 1e-6)
        return float(load.lower)
    return float(load)


def raise_the_lower_bound(content: dict[str, Any]) -> None:
    load = content["channel_load"]["value"]
    content["channel_load"] = {"lower": load * (1 + 1e-9), "upper": load * 1.01}


def check(spec: str, samples: int, throughput: float) -> None:
    result, worst = best(spec, samples=samples), obliv.design(spec)
    assert least(result) == least(worst)
    share = result.average_fraction_of_capacity
    assert share is not None
    assert share.value == pytest.approx(throughput, abs=0.01)
    other = obliv.average_case(worst.subject, 10_000, 0).channel_load
    assert result.average_load.value <= float(other)
    assert result.average_load == obliv.average_case(result.subject, 10_000, 0).channel_load
    checked = obliv.verify(result)
    assert checked.proved
    assert "an estimate" in checked.claim


@pytest.mark.nightly
def test_torus() -> None:
    check("torus:4x4", 10, 0.583)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "samples", "throughput"), [("torus:4x4", 50, 0.583), ("torus:5x5", 60, 0.564), ("torus:8x8", 40, 0.597)]
)
def test_larger_tori(spec: str, samples: int, throughput: float) -> None:
    check(spec, samples, throughput)


def test_the_estimate_is_on_other_permutations() -> None:
    training = average.drawn(8, 50, 3)
    fresh = np.empty((50, 8), np.int32)
    random_permutations.compiled()(3, 0, fresh)
    assert len(np.unique(np.concatenate([training, fresh]), axis=0)) > 95
    assert not np.array_equal(training, average.drawn(8, 50, 4))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    parts = []
    for k, seed in enumerate((5, 5, 6)):
        path = tmp_path / f"{k}.json"
        best("mesh:3x2", samples=8, rng=seed).save(path)
        content = read_json(path)
        assert content["provenance"]["seed"] == seed
        assert content["provenance"]["exactness"] == "estimated"
        content["provenance"].pop("wall_seconds")
        content["certificate"].pop("digest")
        parts.append(content)
    assert parts[0] == parts[1] != parts[2]


def test_minimal_and_bandwidths() -> None:
    result = best("mesh:3x3", samples=8, minimal=True, exact=False)
    assert result.constraints == ("minimal",)
    assert obliv.verify(result).proved
    uneven = obliv.build("uneven", 3, [(0, 1), (1, 2), (2, 0), (1, 0), (0, 2), (2, 1)], bandwidth=[1, 2, 1, 3, 1, 1])
    assert obliv.verify(best(uneven, samples=8), topology=uneven).proved


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("average_load", {"exact": "1", "value": 1.0}),
        ("average_load", {"value": 0.0, "stderr": 0.0, "samples": 10}),
        ("average_load", None),
        ("average_throughput", {"exact": "1", "value": 1.0}),
        ("objective", "worst"),
        ("channel_load", {"exact": "1/2", "value": 0.5}),
    ],
)
def test_forged_claims(tmp_path: Path, key: str, value: Any) -> None:
    path = tmp_path / "best.json"
    best("ring:4", samples=5).save(path)
    content = read_json(path)
    content[key] = value
    assert refused(content, path)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("average_load", {"value": 0.0, "stderr": 0.0, "samples": 10}, "the average load is not an estimate above 0"),
        ("capacity", exact(Fraction(1, 10**400)), "the capacity is 0, or too small for a float"),
    ],
)
def test_each_part_is_refused_by_its_own_check(tmp_path: Path, key: str, value: Any, why: str) -> None:
    content = best("ring:4", samples=5).to_dict()
    content[key] = value
    (said,) = reasons(content, tmp_path / "best.json")
    assert why in said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("change", [drop_a_path, move_a_probability, raise_the_lower_bound])
def test_changed_paths_are_refused(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "best.json"
    best("torus:3x3", samples=5).save(path)
    content = read_json(path)
    assert obliv.verify(path).proved
    change(content)
    assert refused(content, path)


def test_an_interruption_keeps_the_least_worst_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(average, "solve", stop)
    with pytest.raises(Interrupted) as stopped:
        best("mesh:3x2", samples=5)
    assert isinstance(stopped.value.so_far, obliv.AverageDesign)
    assert obliv.verify(stopped.value.so_far).proved


@pytest.mark.parametrize(
    "options",
    [
        "--samples 5",
        "--seed 5",
        "--objective average --then hops",
        "--objective average --samples 0",
        "--objective average --pareto 3",
        "--objective ratio --samples 5",
    ],
)
def test_mistakes_are_one_line(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "mesh:3x3", *options.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1


def test_what_cannot_be_designed() -> None:
    for options in ({"then": "hops"}, {"max_hops": 2}, {"max_turns": 2}, {"vc": 1}, {"paths": 2}, {"quantize": 4}):
        with pytest.raises(obliv.InputError, match="cannot be combined"):
            best("mesh:3x3", **options)
    with pytest.raises(obliv.InputError, match="terminals of rate 1"):
        best("mesh:3x3,injection=2")
    with pytest.raises(obliv.InputError, match="at least 1"):
        best("ring:4", samples=0)
    with pytest.raises(obliv.InputError, match="rng"):
        best("ring:4", rng=-1)
    with pytest.raises(obliv.TooLargeError, match="permutations"):
        best("ring:4", samples=10**12)
    for option in ({"samples": 5}, {"rng": 5}):
        with pytest.raises(obliv.InputError, match="objective average"):
            obliv.design("ring:4", **option)  # type: ignore[arg-type]
