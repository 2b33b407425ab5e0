"""Instances read from JSON, which may be damaged or untrusted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from obliv._util.arrays import starts
from obliv._util.codec import inflated
from obliv._util.text import shown
from obliv.errors import InputError
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.leveled.base import Leveled, given

__all__ = ["fields_of", "network_of", "numbers_of", "readable"]


@contextmanager
def readable() -> Iterator[None]:
    """Turn every error from untrusted JSON into an InputError of one line."""
    try:
        yield
        return
    except KeyError as error:
        what = f"{error.args[0]!r} is missing"
    except (TypeError, AttributeError, IndexError, OverflowError, MemoryError, ValueError) as error:
        what = " ".join(str(error).split())[:300]
    raise InputError(f"invalid instance: {what}")


def fields_of(data: Any) -> tuple[Any, ...]:
    """Return network, offsets, edges, kind of paths, seed and notes of an instance as JSON types, each checked."""
    if not isinstance(data, dict):
        raise ValueError("it is not a JSON object")
    network = network_of(data)
    start, edge = _paths(data)
    about = data.get("made", {})
    if not isinstance(about, dict):
        raise ValueError("'made' is not a JSON object")
    seed, paths, notes = about.get("seed"), about.get("paths", "given"), data.get("notes", [])
    if not (seed is None or isinstance(seed, int)) or not isinstance(paths, str):
        raise ValueError("'made' must have paths, a string, and seed, an integer or null")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError("'notes' is not a list of strings")
    return network, start, edge, paths, seed, tuple(notes)


def numbers_of(data: dict[str, Any], name: str) -> Any:
    """Return a field that is an array of integers, None if it is missing."""
    return _numbers(data[name], name) if name in data else None


def _paths(data: dict[str, Any]) -> tuple[Any, Any]:
    paths = data["paths"]
    if "path_starts" in data:
        return _numbers(data["path_starts"], "path_starts", 2**62).astype(np.int64), _numbers(paths, "paths")
    if not isinstance(paths, list) or not all(isinstance(path, list) for path in paths):
        raise ValueError("'paths' is not a list of lists of edges")
    start = starts([len(path) for path in paths])
    return start, _numbers([edge for path in paths for edge in path], "paths")


def network_of(data: dict[str, Any]) -> Leveled:
    """Return the network of an instance as JSON types; raise ValueError, KeyError and the like if it is invalid."""
    level = _numbers(data["levels"], "levels")
    ends = _numbers(data["edges"], "edges", rows=2)
    spec, labels = data.get("topology", "given"), data.get("labels", [])
    if not isinstance(spec, str) or len(spec) > 1000:
        raise ValueError("'topology' is not a string")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError("'labels' is not a list of strings")
    if len(labels) not in (0, len(level)):
        raise ValueError(f"{len(labels)} labels are given for {len(level)} nodes")
    if len(level) < 1 or len(np.unique(level)) != int(level.max()) + 1:
        raise ValueError("'levels' must go from 0 up without a gap, one number for every node")
    try:
        entry, positional, named = TOPOLOGIES.parse(spec)
        built_in = entry.make.__module__.startswith("obliv.topologies.leveled.")  # reads no file
        known: Leveled | None = entry.make(*positional, **named) if built_in else None
    except InputError:
        known, built_in = None, False
    if known is not None and (known.nodes, known.edges) == (len(level), len(ends)):
        low, high = known.edge_ends
        if all(map(np.array_equal, (known.node_level, low, high), (level, ends[:, 0], ends[:, 1]))):
            return known
    spec = f"{spec} as saved" if built_in else spec
    return given(spec, ends[:, 0], ends[:, 1], level, labels=tuple(labels))


def _numbers(value: Any, what: str, below: int = 2**31, rows: int = 0) -> Any:
    """Return an array of integers from 0, packed or plain; int32 where they are below 2^31."""
    array: Any
    if isinstance(value, dict):
        try:
            array = inflated(value)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{what!r} cannot be unpacked: {error}") from None
    else:
        if not isinstance(value, list):
            raise ValueError(f"{what!r} is not a list of integers")
        flat = [x for row in value if isinstance(row, list) for x in row] if rows else value
        if rows and not all(isinstance(row, list) and len(row) == rows for row in value):
            raise ValueError(f"{what!r} must be pairs [lower node, upper node]")
        odd = next((x for x in flat if type(x) is not int), 0)
        if type(odd) is not int:
            raise ValueError(f"{what!r} holds {shown(repr(odd))} instead of an integer")
        if flat and not 0 <= min(flat) <= max(flat) < below:
            raise ValueError(f"{what!r} holds a number that is negative or too large")
        array = np.array(flat, np.int64).reshape((-1, rows) if rows else -1)
    if array.ndim != (2 if rows else 1) or (rows and array.shape[-1] != rows):
        raise ValueError(f"{what!r} has the shape {list(array.shape)}")
    if array.size and not 0 <= array.min() <= array.max() < below:
        raise ValueError(f"{what!r} holds a number that is negative or too large")
    return array.astype(np.int32) if below <= 2**31 else array
