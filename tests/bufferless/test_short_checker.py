"""The short checker of schedules in `examples` holds what the verifier holds, and refuses what it refuses."""

from __future__ import annotations

import copy
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obliv._util.files import digest_of, unpack_array
from obliv.bufferless import instance, instances, schedule, schedules
from obliv.checker.verify import verify as check

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "check_schedule.py"


@pytest.fixture(scope="module")
def short() -> Callable[[dict[str, Any]], Any]:
    assert "import obliv" not in PROGRAM.read_text(encoding="utf-8")
    check: Callable[[dict[str, Any]], Any] = runpy.run_path(str(PROGRAM))["check"]
    return check


MADE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("butterfly:4", "direct", {}),
    ("leveled-mesh:6x5", "hot-potato", {"priority": "farthest"}),
    ("leveled-mesh:8x8", "fifo", {}),
    ("random-leveled:L=30,W=4,seed=2", "centralized", {"constants": "tuned"}),
    ("butterfly:4", "centralized", {}),
    ("butterfly:4", "distributed", {"constants": "tuned", "timetable": "oracle"}),
    ("array:24", "random-delay", {}),
)


def _made(spec: str, algorithm: str, options: dict[str, Any]) -> dict[str, Any]:
    saved: dict[str, Any] = json.loads(json.dumps(schedule(instance(spec), algorithm, **options).to_dict()))
    saved["moves"] = unpack_array(saved["moves"]).tolist()
    return saved


@pytest.mark.parametrize(("spec", "algorithm", "options"), MADE)
def test_it_holds_what_is_made(short: Callable[..., Any], spec: str, algorithm: str, options: dict[str, Any]) -> None:
    saved = schedule(instance(spec), algorithm, **options).to_dict()
    assert short(json.loads(json.dumps(saved))) == (saved["packets"], saved["makespan"])


def test_it_holds_classes(short: Callable[..., Any]) -> None:
    saved = schedules(instances("mesh:6x6"), "hot-potato", topology="mesh:6x6").to_dict()
    assert sum(short(part)[1] for part in saved["classes"]) == saved["makespan"]


def _forgeries(saved: dict[str, Any]) -> Iterator[dict[str, Any]]:
    rows = saved["moves"]
    for at in {0, len(rows) // 3, len(rows) // 2, len(rows) - 1}:
        for column, change in ((0, 1), (0, -1), (1, 1), (2, 1), (3, None)):
            forged = copy.deepcopy(saved)
            row = forged["moves"][at]
            row[column] = -row[column] if change is None else row[column] + change
            yield forged
        forged = copy.deepcopy(saved)
        del forged["moves"][at]
        yield forged
    for key in ("makespan", "congestion", "dilation", "packets"):
        yield copy.deepcopy(saved) | {key: saved[key] + 1}
    swapped = copy.deepcopy(saved)
    swapped["rules"] = "buffered" if saved["rules"] == "bufferless" else "bufferless"
    yield swapped


def _holds(call: Callable[..., Any], saved: dict[str, Any]) -> bool:
    try:
        return bool(call(saved))
    except (AssertionError, IndexError):
        return False


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "algorithm", "options"), MADE)
def test_it_refuses_what_the_verifier_refuses(
    short: Callable[..., Any], spec: str, algorithm: str, options: dict[str, Any], tmp_path: Path
) -> None:
    saved = _made(spec, algorithm, options)
    saved.pop("plan", None)
    saved["algorithm"] += " elsewhere"  # the rules alone
    path = tmp_path / "forged.json"
    refused = 0
    for forged in _forgeries(saved):
        path.write_text(json.dumps({**forged, "digest": digest_of(forged)}))
        try:
            theirs = check(path).proved
        except ValueError:
            theirs = False
        assert _holds(short, forged) == theirs, forged["moves"]
        refused += not _holds(short, forged)
    assert refused >= 12
