"""Schedules as files hold them, and mistakes and proofs as their tests call for them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles import schedules as oracle

import obliv
import obliv.kernels
from obliv.bufferless.leveled.base import Leveled
from obliv.cli import main

PRIORITIES = ("age", "closest", "farthest", "random")
QUEUES = ("fifo", "random-delay", "random-rank", "farthest-to-go")
ONE_EACH = [
    ("centralized", {"lam": 10, "s": 2}),
    ("distributed", {"constants": "tuned"}),
    ("direct", {}),
    ("hot-potato", {"priority": "closest"}),
    *((name, {}) for name in QUEUES),
]


def plain(made: Any) -> dict[str, Any]:
    """A schedule as a file holds it."""
    read: dict[str, Any] = json.loads(json.dumps(made.to_dict()))
    for part in (read, *read.get("classes", ())):  # as in files of versions before 0.3: changes need no new one
        part.pop("digest", None)
    return read


def without_time(made: Any) -> dict[str, Any]:
    """A schedule as a file holds it, without the seconds that it took."""
    read = plain(made)
    for each in (read, *read.get("classes", [])):
        del each["provenance"]["wall_seconds"]
    return read


def walks(network: Leveled, rng: np.random.Generator, packets: int, distinct: bool) -> list[list[int]]:
    """Random walks upward."""
    out = defaultdict(list)
    for edge, low in enumerate(network.low.tolist()):
        out[low].append(edge)
    nodes = sorted(out)
    size = min(packets, len(nodes)) if distinct else packets
    paths = []
    for node in rng.choice(nodes, size, replace=not distinct).tolist():
        path: list[int] = []
        length = int(rng.integers(1, 1 + network.depth))
        while len(path) < length and node in out:
            path.append(int(rng.choice(out[node])))
            node = int(network.high[path[-1]])
        paths.append(path)
    return paths


def ways(rng: np.random.Generator, number: int, one_source: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every algorithm, with constants of its own."""
    yield "centralized", {"constants": "paper", "segments": ("paper", "tight")[number % 2]}
    yield "centralized", {"constants": "tuned"}
    yield "centralized", {"constants": "one-frame"}
    yield "centralized", {"lam": 2 * int(rng.integers(1, 8)), "s": int(rng.integers(1, 4))}
    if one_source:
        timetable = ("fixed", "oracle")[number // 2 % 2]
        yield "distributed", {"constants": "tuned", "timetable": timetable}
        if number % 4 == 0:
            chi = int(rng.integers(1, 4))
            more = {"lam": 6 * chi + 2 * int(rng.integers(3)), "chi": chi, "s": 1 + number % 2}
            yield "distributed", {**more, "timetable": timetable, "tie": ("survives", "both-fail")[number // 4 % 2]}
        if number % 8 == 0:
            yield "distributed", {"constants": "paper"}
    yield "direct", {"order": ("farthest", "longest", "random", "source")[number % 4]}
    yield "direct", {}
    for priority in PRIORITIES:
        yield "hot-potato", {"priority": priority}
    for name in QUEUES:
        yield name, {}


def file_of(made: dict[str, Any], folder: Path) -> Path:
    path = folder / f"{random.randrange(10**12)}.json"
    path.write_text(json.dumps(made))
    return path


def proved(made: dict[str, Any], folder: Path) -> bool:
    path = file_of(made, folder)
    try:
        answer = obliv.verify(path)
    except obliv.InputError as error:
        assert "\n" not in str(error)
        assert "fault" not in str(error)
        return False
    finally:
        path.unlink()
    return bool(answer.proved)


def opened(made: Any) -> dict[str, Any]:
    """A schedule as JSON, all arrays as lists."""
    read = plain(made)

    def lists(value: Any) -> Any:
        if isinstance(value, dict):
            return oracle.unpack(value) if "b64zlib" in value else {key: lists(each) for key, each in value.items()}
        return [lists(each) for each in value] if isinstance(value, list) else value

    result: dict[str, Any] = lists(read)
    return result


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*place, key)
        yield from leaves(each, (*place, key))
