"""Instances of packet routing, a path along a leveled network for each packet: read from JSON; bounds of schedules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.files import Value, inflated, pack, read_json, write_json
from obliv._util.progress import require_memory
from obliv._util.text import shown
from obliv.bufferless.leveled.base import Leveled, given
from obliv.errors import FileError, InputError
from obliv.kernels import kernel, run
from obliv.specs.registry import TOPOLOGIES

# Kernels: how many paths use every edge, and lower bounds of schedules


@kernel
def count(edge: Array, users: Array) -> None:
    """Count how often every edge occurs; `users` starts at zero."""
    for at in range(len(edge)):
        users[edge[at]] += 1


@kernel
def repeated(node: Array, seen: Array) -> bool:
    """Return whether a node occurs twice; `seen` starts at zero."""
    for p in range(len(node)):
        if seen[node[p]]:
            return True
        seen[node[p]] = 1
    return False


@kernel
def prefixes(
    start: Array, edge: Array, users: Array, least: int, chosen: Array, slot: Array, before: Array, after: Array
) -> None:
    """Find the fewest edges that paths have before and after the edges `chosen`, which have `least` users or more."""
    direct = len(slot) > 0
    for p in range(len(start) - 1):
        first = start[p]
        last = start[p + 1] - 1
        for at in range(first, last + 1):
            e = edge[at]
            if users[e] < least:
                continue
            k = 0
            if direct:
                k = slot[e]
            else:
                end = len(chosen)
                while end - k > 1:
                    middle = (k + end) // 2
                    if chosen[middle] <= e:
                        k = middle
                    else:
                        end = middle
            before[k] = min(before[k], at - first)
            after[k] = min(after[k], last - at)


@kernel
def first_break(start: Array, edge: Array, low: Array, high: Array) -> int:
    """Return where in `edge` the first path breaks; -1 if every path holds together."""
    for p in range(len(start) - 1):
        for at in range(start[p], start[p + 1] - 1):
            if high[edge[at]] != low[edge[at + 1]]:
                return at
    return -1


# Instances read from JSON, which may be damaged or untrusted


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
        built_in = entry.make.__module__ == "obliv.bufferless.leveled.families"  # reads no file
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


_SEARCHED = 64  # up to this number of edges a binary search replaces an array over all edges


@dataclass(frozen=True, eq=False, repr=False)
class Instance(Value):
    """A leveled network and the preselected path of every packet, lowest level first.

    Parameters
    ----------
    network : Leveled
    start : int64 array, shape (packets + 1,)
        Packet p has the path ``edge[start[p] : start[p + 1]]``, of one edge at least.
    edge : int32 array
        Numbers of edges.
    paths : str
        The kind of paths, such as "random", or the name of a file.
    seed : int, optional
        Random seed of the paths.
    notes : tuple of str
        Remarks for the user: packets already at their destination, pairs that no path joins.

    Raises
    ------
    InputError
        Naming the packet whose path is empty, leaves the network or is broken.

    Examples
    --------
    >>> import obliv
    >>> obliv.bufferless.instance("array:6", [[0, 1, 2], [2, 3]])
    <Instance of 2 packets on array:6, given paths: congestion 2, dilation 3>
    """

    network: Leveled
    start: Array
    edge: Array
    paths: str = "given"
    seed: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        start, edge = self.start, self.edge
        if len(start) < 1 or start[0] != 0 or start[-1] != len(edge) or (np.diff(start) < 0).any():
            raise InputError("start must begin with 0, end with the number of path edges, and not decrease")
        empty = np.flatnonzero(np.diff(start) == 0)
        if len(empty):
            raise InputError(f"packet {empty[0]} has an empty path; leave it out, it is already at its destination")
        if len(edge) and (edge.min() < 0 or edge.max() >= self.network.edges):
            at = int(np.argmax((edge < 0) | (edge >= self.network.edges)))
            packet = int(np.searchsorted(start, at, side="right")) - 1
            raise InputError(f"packet {packet} takes edge {edge[at]}, the edges are 0 to {self.network.edges - 1}")

    def require_paths(self) -> None:
        """Check that every path is continuous; paths by formula are by construction."""
        low, high = self.network.edge_ends
        at = int(run(first_break, len(self.edge), self.start, self.edge, low, high))
        if at >= 0:
            packet = int(np.searchsorted(self.start, at, side="right")) - 1
            one, two = int(self.edge[at]), int(self.edge[at + 1])
            raise InputError(
                f"the path of packet {packet} is broken: edge {one} ends at node {high[one]} and edge {two} begins at "
                f"node {low[two]}; list its edges from the lowest level up"
            )

    @property
    def packets(self) -> int:
        """The number of packets (N)."""
        return len(self.start) - 1

    @cached_property
    def length(self) -> Array:
        """The edges of every path."""
        return np.diff(self.start)

    @cached_property
    def source(self) -> Array:
        """The node where every packet begins."""
        return self.network.ends_of(self.edge[self.start[:-1]])[0]

    @cached_property
    def destination(self) -> Array:
        """The node where every packet ends."""
        return self.network.ends_of(self.edge[self.start[1:] - 1])[1]

    @cached_property
    def level(self) -> Array:
        """The level where every packet begins."""
        return np.asarray(self.network.edge_level(self.edge[self.start[:-1]]), np.int64)

    @cached_property
    def dilation(self) -> int:
        """The length of the longest path (D)."""
        return int(self.length.max(initial=0))

    @cached_property
    def users(self) -> Array:
        """The number of paths over every edge; int32, shape (edges,)."""
        require_memory(4.0 * self.network.edges, f"counting the paths of {self.network.edges} edges")
        users = np.zeros(self.network.edges, np.int32)
        run(count, len(self.edge), self.edge, users)
        return users

    @cached_property
    def congestion(self) -> int:
        """The largest number of paths over one edge (C)."""
        return int(self.users.max(initial=0))

    @cached_property
    def one_source(self) -> bool:
        """Whether every node is the source of at most one packet."""
        return not run(repeated, self.packets, self.source, np.zeros(self.network.nodes, np.int8))

    @cached_property
    def lower_bound(self) -> int:
        """A lower bound of all schedules: D, and for every edge its users plus the fewest edges before and after it.

        Notes
        -----
        The last user of an edge crosses it after at least the fewest edges that any user has before it, and one step
        for every other user; then it still has at least the fewest edges after it to cross.
        """
        best, users = self.dilation, self.congestion
        while users > 1:  # the bound of an edge with c users is at most c + D - 1
            best = max(best, self._bound_over(users))
            needed = max(best - self.dilation + 2, 2)
            if needed >= users:
                break
            users = needed
        return best

    def _bound_over(self, users: int) -> int:
        """Return the bound over all edges with at least `users` users."""
        edges = np.flatnonzero(self.users >= users)
        slot = np.zeros(self.network.edges if len(edges) > _SEARCHED else 0, np.int32)
        if len(slot):
            slot[edges] = np.arange(len(edges), dtype=np.int32)
        least = np.full((2, len(edges)), self.dilation, np.int64)
        work = 3 * len(self.edge)
        run(prefixes, work, self.start, self.edge, self.users, users, edges, slot, least[0], least[1])
        return int((self.users[edges] + least.sum(axis=0)).max(initial=0))

    def __repr__(self) -> str:
        return (
            f"<Instance of {self.packets} packets on {self.network.spec}, {self.paths} paths: "
            f"congestion {self.congestion}, dilation {self.dilation}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the instance as JSON types."""
        small = len(self.edge) <= 100_000
        bounds = self.start.tolist()
        data: dict[str, Any] = {
            "topology": self.network.spec,
            "levels": pack(self.network.node_level),
            "edges": pack(np.stack(self.network.edge_ends, axis=1)),
            "paths": [self.edge[a:b].tolist() for a, b in pairwise(bounds)] if small else pack(self.edge),
            "sources": pack(self.source),
            "destinations": pack(self.destination),
            "made": {"paths": self.paths, "seed": self.seed},
            "notes": list(self.notes),
        }
        if not small:
            data["path_starts"] = pack(self.start)
        if self.network.labels:
            data["labels"] = list(self.network.labels)
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Instance:
        """Return the instance that :meth:`to_dict` wrote, with all of it checked.

        Returns
        -------
        Instance
            On the network of the spec if its levels and edges are the saved ones, else on the saved levels and edges.

        Raises
        ------
        InputError
            If something is missing, is not a list of integers, or contradicts the rest.
        """
        with readable():
            instance = cls(*fields_of(data))
            instance.require_paths()
            for name, nodes in (("sources", instance.source), ("destinations", instance.destination)):
                saved = numbers_of(data, name)
                if saved is not None and not np.array_equal(saved, nodes):
                    raise ValueError(f"{name!r} are not where the paths begin and end")
        return instance

    def save(self, path: str | Path) -> None:
        """Write the instance as JSON; compressed where the name ends in ``.gz``."""
        write_json({"kind": "instance", **self.to_dict()}, path)

    @classmethod
    def load(cls, path: str | Path) -> Instance:
        """Return the instance in a file that :meth:`save` wrote, or in a saved schedule.

        Raises
        ------
        FileError
            If the file does not hold a valid instance.
        """
        data = read_json(path)
        try:
            return cls.from_dict(data.get("instance", data))
        except InputError as error:
            raise FileError(str(error), path) from None
