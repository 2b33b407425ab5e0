"""The checker on the page on schedules holds what the verifier holds, and refuses what it refuses."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obliv._util.codec import unpack_array
from obliv.bufferless import instance, instances, schedule, schedules
from obliv.checker.verify import verify as check

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "schedules.md"


@pytest.fixture(scope="module")
def short() -> Callable[[dict[str, Any]], Any]:
    found = re.search(r'^```python title="check.py"\n(.*?)^```$', PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    code, _, rest = found[1].partition("\ntext = ")
    assert rest
    assert "obliv" not in found[1]
    names: dict[str, Any] = {}
    exec(compile(code, "check.py", "exec"), names)
    made: Callable[[dict[str, Any]], Any] = names["check"]
    return made


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
    made: dict[str, Any] = json.loads(json.dumps(schedule(instance(spec), algorithm, **options).to_dict()))
    made["moves"] = unpack_array(made["moves"]).tolist()
    return made


@pytest.mark.parametrize(("spec", "algorithm", "options"), MADE)
def test_it_holds_what_is_made(short: Callable[..., Any], spec: str, algorithm: str, options: dict[str, Any]) -> None:
    made = schedule(instance(spec), algorithm, **options).to_dict()
    assert short(json.loads(json.dumps(made))) == (made["packets"], made["makespan"])


def test_it_holds_classes(short: Callable[..., Any]) -> None:
    made = schedules(instances("mesh:6x6"), "hot-potato", topology="mesh:6x6").to_dict()
    assert sum(short(each)[1] for each in made["classes"]) == made["makespan"]


def _forgeries(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    rows = made["moves"]
    for at in {0, len(rows) // 3, len(rows) // 2, len(rows) - 1}:
        for column, change in ((0, 1), (0, -1), (1, 1), (2, 1), (3, None)):
            forged = copy.deepcopy(made)
            row = forged["moves"][at]
            row[column] = -row[column] if change is None else row[column] + change
            yield forged
        forged = copy.deepcopy(made)
        del forged["moves"][at]
        yield forged
    for key in ("makespan", "congestion", "dilation", "packets"):
        yield copy.deepcopy(made) | {key: made[key] + 1}
    swapped = copy.deepcopy(made)
    swapped["rules"] = "buffered" if made["rules"] == "bufferless" else "bufferless"
    yield swapped


def _holds(call: Callable[..., Any], made: dict[str, Any]) -> bool:
    try:
        return bool(call(made))
    except (AssertionError, IndexError):
        return False


@pytest.mark.parametrize(("spec", "algorithm", "options"), MADE)
def test_it_refuses_what_the_verifier_refuses(
    short: Callable[..., Any], spec: str, algorithm: str, options: dict[str, Any], tmp_path: Path
) -> None:
    made = _made(spec, algorithm, options)
    made.pop("plan", None)
    made["algorithm"] += " elsewhere"  # the rules alone
    path = tmp_path / "forged.json"
    refused = 0
    for forged in _forgeries(made):
        path.write_text(json.dumps(forged))
        try:
            theirs = check(path).proved
        except ValueError:
            theirs = False
        assert _holds(short, forged) == theirs, forged["moves"]
        refused += not _holds(short, forged)
    assert refused >= 12
