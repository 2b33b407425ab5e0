"""An instance of packet routing: a leveled network and one path along it for every packet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.codec import pack, read_json, write_json
from obliv._util.content import Value
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.errors import FileError, InputError
from obliv.kernels import run
from obliv.topologies.leveled._kernels import count, first_break, prefixes, repeated
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.instance_json import fields_of, numbers_of, readable

__all__ = ["Instance"]


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
        """Check that every path is continuous; paths by formula are by construction.

        Raises
        ------
        InputError
            Naming the packet and the edges.
        """
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
