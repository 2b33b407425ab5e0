"""Checks of networks and their parameters, before anything is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliv._util.cost import Work, announce_here
from obliv._util.text import printable
from obliv._util.typing import IntArray
from obliv.errors import TopologyError

if TYPE_CHECKING:
    from obliv.topologies.base import Topology

__all__ = [
    "at_most",
    "check",
    "integers",
    "places",
    "positive_number",
    "require_network",
    "require_nodes",
    "require_pairs",
    "whole_numbers",
]


_LIMIT: ContextVar[tuple[int, str] | None] = ContextVar("limit", default=None)


@contextmanager
def at_most(nodes: int, why: str) -> Iterator[None]:
    """Refuse networks of more nodes before they are built, inside a ``with`` statement; `why` ends the message."""
    before = _LIMIT.set((nodes, why))
    try:
        yield
    finally:
        _LIMIT.reset(before)


def require_network(nodes: int, channels: int, spec: str) -> None:
    """Refuse a network that is too large to be held, and announce a large one, before anything is allocated."""
    if nodes >= 2**31 or channels >= 2**31:
        raise TopologyError(
            f"{spec}: {_count(nodes)} nodes and {_count(channels)} channels; "
            "fewer than 2,147,483,648 of either are supported"
        )
    limit = _LIMIT.get()
    if limit is not None and nodes > limit[0]:
        raise TopologyError(f"{spec}: {nodes:,} nodes, {limit[1]}")
    work = Work(2.5e-7 * channels, 64.0 * nodes + 200.0 * channels)
    announce_here(f"{spec} ({nodes:,} nodes, {channels:,} channels)", work)


def _count(number: int) -> str:
    """Return a number in full where that is short, else its order."""
    return f"{number:,}" if number < 10**18 else f"some 10^{int(number.bit_length() * 0.30103)}"


def require_nodes(topology: Topology, *nodes: int) -> None:
    """Refuse numbers that are not nodes of a topology."""
    for node in nodes:
        if not 0 <= node < topology.nodes:
            raise TopologyError(f"{topology.spec} has no node {node}; nodes are 0 to {topology.nodes - 1}")


def integers(network: str, /, *radices: Any, **parameters: Any) -> tuple[int, ...]:
    """Return the arguments of a network as Python's integers, of whatever integer type they are."""
    named = [*(("radix", radix) for radix in radices), *parameters.items()]
    for name, value in named:
        if not hasattr(value, "__index__"):
            raise TopologyError(f"{network}: {name} {value!r} is not a whole number")
    return tuple(int(index(value)) for _, value in named)


def whole_numbers(values: Any, what: str) -> IntArray:
    """Return whole numbers as an array; refuse all else with an error that begins with `what`."""
    try:
        array = np.asarray(values)
        if array.size == 0:
            return np.zeros(array.shape, np.int64)
        if array.ndim == 0 or not np.issubdtype(array.dtype, np.integer):
            raise ValueError
    except ValueError:
        raise TopologyError(f"{what}, whole numbers from 0") from None
    return array.astype(np.int64)


def positive_number(value: Any, what: str) -> Fraction:
    """Return a positive number as an exact one; refuse all else with an error that begins with `what`."""
    number = Fraction(value) if type(value) in (int, Fraction) else _exact(value)
    if number is None or number <= 0:
        raise TopologyError(f"{what} is {value}: it must be a positive, finite number such as 2, 0.5 or 1/3")
    return number


def _exact(value: Any) -> Fraction | None:
    from obliv._util.rationals import exact

    return exact(value)


def places(topology: Topology) -> npt.NDArray[np.float64] | None:
    """Return the positions of a topology as an array of numbers, a row for every node; None where there are none."""
    if topology.positions is None or not len(topology.positions):
        return None
    try:
        array = np.asarray(topology.positions, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (topology.nodes, 2):
        raise TopologyError(f"{topology.spec}: positions must be two numbers, x and y, for every node")
    return array


def require_pairs(topology: Topology) -> None:
    """Refuse to analyze a network of one terminal or without channels, where no packet can go to another terminal."""
    if len(topology.terminals) < 2:
        name = topology.name_of(int(topology.terminals[0]))
        raise TopologyError(
            f"{topology.spec} has one terminal ({printable(name)[:40]}), so there is no traffic to analyze; "
            "choose the terminals, or the component, so that there are at least two"
        )
    if not topology.channels:
        raise TopologyError(
            f"{topology.spec} has no channels, so there is no traffic to analyze; give it links that join its terminals"
        )


def check(topology: Topology) -> None:
    """Check that the parts of a topology fit together; TopologyError names the first part that does not."""
    spec, terminals = topology.spec, topology.terminals
    if not isinstance(spec, str):
        raise TopologyError(f"a topology is called {spec!r:.40}, which is not a text")
    if topology.nodes < 1:
        raise TopologyError(f"{spec}: a network needs at least one node")
    if len(terminals) < 1:
        raise TopologyError(f"{spec}: a network needs at least one terminal")
    if terminals.min() < 0 or terminals.max() >= topology.nodes:
        wrong = terminals.min() if terminals.min() < 0 else terminals.max()
        raise TopologyError(f"{spec}: terminal {wrong} is not a node; nodes are 0 to {topology.nodes - 1}")
    if len(topology.tail) != len(topology.head) or (np.diff(topology.tail) < 0).any():
        raise TopologyError(f"{spec}: channels must be sorted by tail; obliv.build sorts them")
    if len(topology.head) and not (
        min(topology.tail.min(), topology.head.min()) >= 0
        and max(topology.tail.max(), topology.head.max()) < topology.nodes
    ):
        raise TopologyError(f"{spec}: a channel names a node that does not exist; nodes are 0 to {topology.nodes - 1}")
    if (np.bincount(terminals) > 1).any():
        raise TopologyError(f"{spec}: a node appears twice among the terminals")
    for what, count, wanted in (
        ("labels", len(topology.labels), topology.nodes),
        ("bandwidths", len(topology.bandwidth), topology.channels),
        ("positions", 0 if topology.positions is None else len(topology.positions), topology.nodes),
    ):
        if count not in (0, wanted):
            raise TopologyError(f"{spec}: {count} {what} are given, {wanted} are needed")
    for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
        if rates and len(rates) != len(terminals):
            raise TopologyError(f"{spec}: {len(rates)} {name} rates are given for {len(terminals)} terminals")
        for rate in rates:
            positive_number(rate, f"{spec}: an {name} rate")
