"""Saved schedules of packets: every part is checked for its form before it is used."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, starts
from obliv._util.codec import digest_of, unpack_array
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError
from obliv.checker.kernels.schedules import Links, Paths, Rows
from obliv.checker.schedules.claim import Figures, ScheduleClaim
from obliv.results.bufferless.schedule import Moves, Schedule

__all__ = ["claim_of", "read_classes", "read_schedule"]


_FIGURES = ("packets", "congestion", "dilation", "makespan", "lower_bound", "deflections")


def claim_of(schedule: Schedule) -> ScheduleClaim:
    """Return a schedule as the checks take it.

    Raises
    ------
    MalformedError
        If it has no moves.
    """
    instance, moves = schedule.instance, schedule.moves
    if instance is None or moves is None:
        raise MalformedError("it contains no moves; check the file that it was saved to")
    low, high = instance.network.edge_ends
    return ScheduleClaim(
        topology=schedule.topology,
        algorithm=schedule.algorithm,
        rules=schedule.rules,
        level=instance.network.node_level,
        links=Links(*_wide(low, high)),
        paths=Paths(*_wide(instance.start, instance.edge, instance.source, instance.destination)),
        rows=_rows(moves),
        figures=_figures({name: getattr(schedule, name) for name in _FIGURES}),
        plan=None if schedule.plan is None else schedule.plan.columns(),
        trusted_network=True,
    )


def read_schedule(content: dict[str, Any]) -> ScheduleClaim:
    """Read the content of a saved schedule.

    Raises
    ------
    MalformedError
        Naming the key that is missing or malformed.
    """
    instance = content.get("instance")
    if not isinstance(instance, dict):
        raise MalformedError("it contains no instance; save the schedule, which has one")
    words = {key: content.get(key) for key in ("topology", "algorithm", "rules")}
    for key, word in words.items():
        if not isinstance(word, str):
            raise MalformedError(f"{key} is missing or not a string")
    if instance.get("topology", words["topology"]) != words["topology"]:
        raise MalformedError("the instance is of another topology")
    figures = _figures({name: content.get(name) for name in _FIGURES})
    edges = _array(instance, "edges", 2)
    if edges.shape[1] != 2 and len(edges):
        raise MalformedError("edges must be rows of [tail, head]")
    path_start, path = _paths(instance)
    packets = len(path_start) - 1
    rows = _array(content, "moves", 2)
    if len(rows) and rows.shape[1] not in (4, 5):
        raise MalformedError("moves must be rows of [time, packet, edge, direction] with an optional fifth number")
    if len(rows):
        if rows[:, 1].min() < 0 or rows[:, 1].max() >= packets:
            raise MalformedError("a move is of a packet that does not exist")
        if not np.isin(rows[:, 3], (-1, 1)).all():
            raise MalformedError("a direction is neither 1 nor -1")
        if np.abs(rows).max() >= INT64_SAFE:
            raise MalformedError("a number of a move is out of range")
    if any(len(part) and (part.min() < -(2**31) or part.max() >= 2**31) for part in (edges, path, rows[:, 2:3])):
        raise MalformedError("the number of an edge or of a node exceeds 32 bits")
    moves = Moves.from_rows(rows, packets)
    plan = content.get("plan")
    if plan is not None and not isinstance(plan, dict):
        raise MalformedError("plan must be an object")
    low, high = (edges[:, side] for side in (0, 1)) if len(edges) else (edges.ravel(), edges.ravel())
    return ScheduleClaim(
        topology=str(words["topology"]),
        algorithm=str(words["algorithm"]),
        rules=str(words["rules"]),
        level=_array(instance, "levels", 1),
        links=Links(*_wide(low, high)),
        paths=Paths(*_wide(path_start, path, _array(instance, "sources", 1), _array(instance, "destinations", 1))),
        rows=_rows(moves),
        figures=figures,
        plan=plan,
        digest_holds=None if "digest" not in content else content["digest"] == digest_of(content),
    )


def read_classes(content: dict[str, Any]) -> list[ScheduleClaim]:
    """Read the content of a saved schedule of several classes; raise MalformedError as for one."""
    classes = content["classes"]
    if not isinstance(classes, list) or not classes or not all(isinstance(part, dict) for part in classes):
        raise MalformedError("classes must be a list of schedules")
    if any(part.get("kind") != "bufferless" for part in classes):
        raise MalformedError("a class is not a schedule: its kind is bufferless")
    return [read_schedule(part) for part in classes]


def _wide(*arrays: Array) -> list[Array]:
    """Return arrays of integers as the kernels take them, of 64 bits and in one piece: each is compiled once."""
    return [np.ascontiguousarray(array, np.int64) for array in arrays]


def _rows(moves: Moves) -> Rows:
    """Return moves as the kernels take them."""
    start, time, edge, more = _wide(moves.start, moves.time, moves.edge, moves.more)
    return Rows(start, time, edge, np.ascontiguousarray(moves.up), more)


def _figures(values: dict[str, Any]) -> Figures:
    """Return the claimed figures; deflections may be missing."""
    for name, value in values.items():
        if value is None and name == "deflections":
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedError(f"{name} is missing or not an integer")
    return Figures(**values)


def _array(content: dict[str, Any], key: str, dimensions: int) -> Array:
    if key not in content:
        raise MalformedError(f"{key} is missing")
    try:
        array = unpack_array(content[key])
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"{key} cannot be unpacked: {str(error) or type(error).__name__}") from None
    if array.size == 0:
        return np.zeros((0,) * dimensions if dimensions == 1 else (0, 4), np.int64)
    if array.ndim != dimensions:
        raise MalformedError(f"{key} must have {dimensions} dimension{'s' * (dimensions > 1)}")
    return np.asarray(array)


def _paths(instance: dict[str, Any]) -> tuple[Array, Array]:
    """Return where the paths start, and their edges: from lists, or from one packed list and its starts."""
    paths = instance.get("paths")
    if isinstance(paths, list) and "path_starts" not in instance:
        if not all(isinstance(path, list) for path in paths):
            raise MalformedError("paths must be lists of edges")
        start = starts([len(path) for path in paths])
        return start, _array({"paths": list(chain.from_iterable(paths))}, "paths", 1)
    start = _array(instance, "path_starts", 1)
    if not len(start):
        raise MalformedError("path_starts is empty")
    return start, _array(instance, "paths", 1)
