"""A saved schedule of packets taken apart, every number checked for what it is before it is used."""

from __future__ import annotations

import zlib
from itertools import chain
from typing import Any

import numpy as np

from obliv._util.codec import unpack_array
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.checker.schedules.moves import Claimed
from obliv.results.schedule import Moves, Schedule

__all__ = ["claimed_of", "read_classes", "read_schedule"]


_FIGURES = ("packets", "congestion", "dilation", "makespan", "lower_bound", "deflections")


def claimed_of(schedule: Schedule) -> Claimed:
    """A schedule at hand as what the checker takes.

    Raises
    ------
    MalformedError
        If it was made without its moves.
    """
    instance, moves = schedule.instance, schedule.moves
    if instance is None or moves is None:
        raise MalformedError("it holds no moves; make it with moves, or check the file that it was saved to")
    low, high = instance.network.edge_ends
    return Claimed(
        topology=schedule.topology,
        algorithm=schedule.algorithm,
        rules=schedule.rules,
        level=instance.network.node_level,
        low=low,
        high=high,
        path_start=instance.start,
        path=instance.edge,
        source=instance.source,
        destination=instance.destination,
        row_start=moves.start,
        time=moves.time,
        edge=moves.edge,
        up=moves.up,
        more=moves.more,
        figures={name: int(getattr(schedule, name) or 0) for name in _FIGURES},
        paths=schedule.routing,
        made_here=True,
        uncounted=schedule.deflections is None,
        plan=None if schedule.plan is None else schedule.plan.columns(),
    )


def read_schedule(made: dict[str, Any]) -> Claimed:
    """Take a saved schedule apart.

    Raises
    ------
    MalformedError
        Naming the key that is missing or has the wrong form.
    """
    instance = made.get("instance")
    if not isinstance(instance, dict):
        raise MalformedError("it holds no instance; keep schedules with  obliv bufferless ... --output FILE")
    words = {key: made.get(key) for key in ("topology", "algorithm", "rules")}
    for key, word in words.items():
        if not isinstance(word, str):
            raise MalformedError(f"{key} is missing or no text")
    figures = {name: made.get(name) for name in _FIGURES}
    uncounted = figures["deflections"] is None
    figures["deflections"] = 0 if uncounted else figures["deflections"]
    for name, value in figures.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedError(f"{name} is missing or no whole number")
    edges = _array(instance, "edges", 2)
    if edges.shape[1] != 2 and len(edges):
        raise MalformedError("edges must be rows of [tail, head]")
    path_start, path = _paths(instance)
    packets = len(path_start) - 1
    rows = _array(made, "moves", 2)
    if len(rows) and rows.shape[1] not in (4, 5):
        raise MalformedError("moves must be rows of [time, packet, edge, direction] or one number more")
    if len(rows):
        if rows[:, 1].min() < 0 or rows[:, 1].max() >= packets:
            raise MalformedError("a move is of a packet that is not there")
        if not np.isin(rows[:, 3], (-1, 1)).all():
            raise MalformedError("a direction is neither 1 nor -1")
        if np.abs(rows).max() >= 2**62:
            raise MalformedError("a move has a number beyond any time")
    if any(len(each) and (each.min() < -(2**31) or each.max() >= 2**31) for each in (edges, path, rows[:, 2:3])):
        raise MalformedError("an edge, or a node of an edge, is numbered beyond 32 bits")
    moves = Moves.from_rows(rows, packets)
    plan = made.get("plan")
    if plan is not None and not isinstance(plan, dict):
        raise MalformedError("plan is no object")
    low, high = (edges[:, side] for side in (0, 1)) if len(edges) else (edges.ravel(), edges.ravel())
    return Claimed(
        topology=str(words["topology"]),
        algorithm=str(words["algorithm"]),
        rules=str(words["rules"]),
        level=_array(instance, "levels", 1),
        low=np.ascontiguousarray(low),
        high=np.ascontiguousarray(high),
        path_start=path_start,
        path=path,
        source=_array(instance, "sources", 1),
        destination=_array(instance, "destinations", 1),
        row_start=moves.start,
        time=moves.time,
        edge=moves.edge.astype(np.int64),
        up=moves.up,
        more=moves.more,
        figures={name: int(value or 0) for name, value in figures.items()},
        uncounted=uncounted,
        paths=str(made.get("routing", ""))[:200],
        plan=plan,
    )


def read_classes(made: dict[str, Any]) -> list[Claimed]:
    """Take a saved schedule of several classes apart; MalformedError as for one."""
    classes = made["classes"]
    if not isinstance(classes, list) or not classes or not all(isinstance(each, dict) for each in classes):
        raise MalformedError("classes is no list of schedules")
    return [read_schedule(each) for each in classes]


def _array(made: dict[str, Any], key: str, dimensions: int) -> Array:
    if key not in made:
        raise MalformedError(f"{key} is missing")
    try:
        array = unpack_array(made[key])
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, zlib.error, RecursionError) as error:
        raise MalformedError(f"{key} cannot be unpacked: {str(error) or type(error).__name__}") from None
    if array.size == 0:
        return np.zeros((0,) * dimensions if dimensions == 1 else (0, 4), np.int64)
    if array.ndim != dimensions:
        raise MalformedError(f"{key} must have {dimensions} dimension{'s' * (dimensions > 1)}")
    return np.asarray(array)


def _paths(instance: dict[str, Any]) -> tuple[Array, Array]:
    """Where the paths start, and their edges: lists, or one packed list with the places where paths start."""
    paths = instance.get("paths")
    if isinstance(paths, list) and "path_starts" not in instance:
        if not all(isinstance(path, list) for path in paths):
            raise MalformedError("paths must be lists of edges")
        start = np.concatenate([[0], np.cumsum([len(path) for path in paths], dtype=np.int64)]).astype(np.int64)
        return start, _array({"paths": list(chain.from_iterable(paths))}, "paths", 1)
    start = _array(instance, "path_starts", 1)
    if not len(start):
        raise MalformedError("path_starts is empty")
    return start, _array(instance, "paths", 1)
