"""Leveled networks: nodes on levels 0 to L, every edge leads from a level to the next.

An edge is told by its number, never by its ends: there may be parallel ones.  As a topology every edge is two
channels, one each way.  Ends and levels are made when they are first asked for, since a butterfly of 2^20 inputs has
42 million edges and most that is done with it needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.errors import TopologyError
from obliv.topologies.base import IntArray, Topology

__all__ = ["FAITHFUL", "Leveled", "by_formula", "given", "require_numbers"]


_BLOCK = 1 << 18

FAITHFUL = "every edge is a link of its own"


class Leveled(Topology):
    """A network of levels.

    Parameters
    ----------
    spec : str
    family : str
        What made it, such as "butterfly"; says which paths can be made by formula.
    shape : tuple of int
        The family's numbers.
    nodes, edges, depth : int
        How many nodes and edges there are, and the last level L.
    ends : function
        Returns the lower and the upper end of every edge, two int32 arrays of shape (edges,).
    levels : function
        Returns the level of every node, an int32 array of shape (nodes,).
    rises : function, optional
        Returns the levels at which edges begin, for an array of their numbers, where a formula gives it.
    faithful : bool
        Whether running on it means running on the network that it stands for.
    remark : str
        Why, or why not.
    labels : tuple of str
        Names of the nodes; empty where they have none.
    sources : tuple of (path, SHA-256)
        The files that the network was read from.
    notes : tuple of str
        What the user should know.
    joins : function, optional
        Returns the lower and the upper ends of some edges, for an array of their numbers, where a formula gives them;
        such ends are not checked.

    Raises
    ------
    TopologyError
        If an edge does not lead from a level to the next (found when the ends are first used).
    """

    def __init__(
        self,
        spec: str,
        family: str,
        shape: tuple[int, ...],
        nodes: int,
        edges: int,
        depth: int,
        ends: Callable[[], tuple[Array, Array]],
        levels: Callable[[], Array],
        rises: Callable[[Array], Array] | None = None,
        faithful: bool = True,
        remark: str = FAITHFUL,
        labels: tuple[str, ...] = (),
        sources: tuple[tuple[str, str], ...] = (),
        notes: tuple[str, ...] = (),
        joins: Callable[[Array], tuple[Array, Array]] | None = None,
    ) -> None:
        fields = {
            "spec": spec,
            "family": family,
            "shape": shape,
            "nodes": nodes,
            "edges": edges,
            "depth": depth,
            "faithful": faithful,
            "remark": remark,
            "labels": labels,
            "sources": sources,
            "notes": notes,
            "_ends": ends,
            "_levels": levels,
            "_rises": rises,
            "_joins": joins,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    family: str
    shape: tuple[int, ...]
    edges: int
    depth: int
    faithful: bool
    remark: str
    _ends: Callable[[], tuple[Array, Array]]
    _levels: Callable[[], Array]
    _rises: Callable[[Array], Array] | None
    _joins: Callable[[Array], tuple[Array, Array]] | None

    @cached_property
    def node_level(self) -> IntArray:
        """The level of every node."""
        require_memory(4.0 * self.nodes, f"the levels of {self.nodes} nodes")
        return self._levels().astype(np.int32, copy=False)

    @cached_property
    def edge_ends(self) -> tuple[IntArray, IntArray]:
        """The lower and the upper end of every edge."""
        require_memory(8.0 * self.edges, f"the ends of {self.edges} edges")
        low, high = (side.astype(np.int32, copy=False) for side in self._ends())
        if self._joins is not None:
            return low, high
        if len(low) != self.edges or len(high) != self.edges:
            raise TopologyError(f"{self.spec}: {len(low)} and {len(high)} ends are given for {self.edges} edges")
        if len(low) and (min(low.min(), high.min()) < 0 or max(low.max(), high.max()) >= self.nodes):
            raise TopologyError(f"{self.spec}: an edge leads to a node that there is none of")
        bad = np.flatnonzero(self.node_level[high] != self.node_level[low] + 1)
        if len(bad):
            e = int(bad[0])
            raise TopologyError(
                f"{self.spec}: edge {e} leads from node {low[e]} on level {self.node_level[low[e]]} to node {high[e]} "
                f"on level {self.node_level[high[e]]}; an edge must lead to the next level"
            )
        return low, high

    @property
    def low(self) -> IntArray:
        """The lower end of every edge."""
        return self.edge_ends[0]

    @property
    def high(self) -> IntArray:
        """The upper end of every edge."""
        return self.edge_ends[1]

    def ends_of(self, edge: Array) -> tuple[Array, Array]:
        """The lower and the upper ends of some edges."""
        if self._joins is not None and "edge_ends" not in self.__dict__:
            low, high = self._joins(edge)
            return low, high
        low, high = self.edge_ends
        return low[edge], high[edge]

    def edge_level(self, edge: Array) -> Array:
        """The levels at which edges begin."""
        if self._rises is not None:
            return np.asarray(self._rises(edge))
        return self.node_level[self.low[edge]]

    @cached_property
    def _order(self) -> Array:
        require_memory(60.0 * self.edges, f"the channels of {self.edges} edges")
        low, high = self.edge_ends
        return np.argsort(np.concatenate([low, high]), kind="stable")

    @cached_property
    def tail(self) -> IntArray:
        """The node that every channel leaves."""
        return np.concatenate(self.edge_ends)[self._order]

    @cached_property
    def head(self) -> IntArray:
        """The node that every channel enters."""
        return np.concatenate(self.edge_ends[::-1])[self._order]

    @cached_property
    def terminals(self) -> IntArray:
        """Every node."""
        return np.arange(self.nodes, dtype=np.int32)

    @property
    def channels(self) -> int:
        """Two an edge."""
        return 2 * self.edges

    @cached_property
    def positions(self) -> npt.NDArray[np.float64]:
        """Level above level, the nodes of each side by side."""
        level = self.node_level
        width = np.bincount(level)
        order = np.argsort(level, kind="stable")
        rank = np.empty(self.nodes, np.int64)
        rank[order] = np.arange(self.nodes) - np.repeat(np.cumsum(width) - width, width)
        return np.column_stack([rank - (width[level] - 1) / 2, level])

    def with_rates(self, injection: Iterable[Any] = (), ejection: Iterable[Any] = ()) -> Topology:  # type: ignore[override]
        """As for any topology; the answer has no levels."""
        return self._plain().with_rates(injection, ejection)

    def with_terminals(self, nodes: Sequence[int]) -> Topology:  # type: ignore[override]
        """As for any topology; the answer has no levels."""
        return self._plain().with_terminals(nodes)

    def _plain(self) -> Topology:
        return Topology(
            self.spec,
            self.nodes,
            self.tail,
            self.head,
            self.terminals,
            labels=self.labels,
            positions=self.positions,
            sources=self.sources,
            notes=self.notes,
        )

    def __repr__(self) -> str:
        return f"<Leveled {self.spec}: levels 0 to {self.depth}, {self.nodes} nodes, {self.edges} edges>"


def by_formula(
    spec: str,
    family: str,
    shape: tuple[int, ...],
    nodes: int,
    edges: int,
    depth: int,
    joins: Callable[[Array], tuple[Array, Array]],
    levels: Callable[[], Array],
    rises: Callable[[Array], Array],
    **more: Any,
) -> Leveled:
    """A network whose ends and levels of edges are formulas of their numbers; nothing is made before it is needed.

    Raises
    ------
    TopologyError
        If nodes or edges are too many to be numbered.
    """
    require_numbers(spec, nodes, edges)
    ends = partial(_everywhere, joins, edges)
    return Leveled(spec, family, shape, nodes, edges, depth, ends, levels, rises, joins=joins, **more)


def given(spec: str, low: Array, high: Array, level: Array, **more: Any) -> Leveled:
    """A network whose ends and levels are at hand.

    Raises
    ------
    TopologyError
        If an edge does not lead from a level to the next, or leads to no node.
    """
    level = np.asarray(level, np.int32)
    depth = int(level.max(initial=0))
    ends = partial(_same, (np.asarray(low, np.int32), np.asarray(high, np.int32)))
    more = {"family": "given", "shape": (), **more}
    network = Leveled(
        spec, nodes=len(level), edges=len(low), depth=depth, ends=ends, levels=partial(_same, level), **more
    )
    _ = network.edge_ends
    return network


def require_numbers(spec: str, nodes: int, edges: int) -> None:
    """Refuse networks whose nodes or edges are too many to be numbered in 32 bits."""
    if nodes >= 2**31 or edges >= 2**31:
        raise TopologyError(f"{spec}: {nodes:,} nodes and {edges:,} edges; fewer than 2,147,483,648 can be numbered")


def _everywhere(joins: Callable[[Array], tuple[Array, Array]], edges: int) -> tuple[Array, Array]:
    low, high = np.empty(edges, np.int32), np.empty(edges, np.int32)
    for first in range(0, edges, _BLOCK):  # what a formula makes on its way stays small
        last = min(first + _BLOCK, edges)
        low[first:last], high[first:last] = joins(np.arange(first, last, dtype=np.int32))
    return low, high


def _same(value: Any) -> Any:
    return value
