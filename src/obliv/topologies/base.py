"""The network: nodes, terminals and directed channels with their bandwidths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from obliv._util.memory import require_memory
from obliv._util.rationals import exact
from obliv._util.text import did_you_mean
from obliv.errors import InputError, SpecError, TopologyError
from obliv.specs.grammar import split_mix
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.layout_hint import LayoutHint

__all__ = ["IntArray", "Topology", "build", "require_network", "topology"]

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Topology:
    """A network of nodes joined by directed channels.

    Parameters
    ----------
    spec : str
        The spec that makes this topology again.
    nodes : int
        How many nodes there are; they are numbered from 0.
    tail, head : int32 arrays, shape (channels,)
        The ends of every channel, sorted by tail.
    bandwidth : tuple of Fraction
        Packets per cycle of every channel; empty where all are one.
    terminals : int32 array
        The nodes that inject and take packets, in the order of the terminals' numbers.
    injection, ejection : tuple of Fraction
        Packets per cycle that each terminal may send and take; empty where all are one.
    labels : tuple of str
        Names of the nodes; empty where they have none.
    positions : float array, shape (nodes, 2), optional
        Where to draw the nodes.
    capacity_load : Fraction, optional
        The largest channel load of uniform traffic under the best routing.
    generators : tuple of int32 arrays, shape (nodes,)
        Automorphisms of the topology; a claim, checked on the loads before use.
    translations : tuple of int32 arrays, shape (nodes,)
        Generators of a commuting group that moves node 0 onto every node exactly once.
    sources : tuple of (path, SHA-256)
        The files that this topology was read from.
    """

    spec: str
    nodes: int
    tail: IntArray
    head: IntArray
    terminals: IntArray
    bandwidth: tuple[Fraction, ...] = ()
    injection: tuple[Fraction, ...] = ()
    ejection: tuple[Fraction, ...] = ()
    labels: tuple[str, ...] = ()
    positions: npt.NDArray[np.float64] | None = None
    capacity_load: Fraction | None = None
    generators: tuple[IntArray, ...] = ()
    translations: tuple[IntArray, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self)
        for name in ("bandwidth", "injection", "ejection"):  # ones are left out
            if all(value == 1 for value in getattr(self, name)):
                object.__setattr__(self, name, ())

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Topology {self.spec}: {self.nodes} nodes, {self.channels} channels, {len(self.terminals)} terminals>"

    def same_network(self, other: Topology) -> bool:
        """Whether another topology has the same channels, terminals, bandwidths and rates, number by number."""
        return self is other or (
            self.nodes == other.nodes
            and np.array_equal(self.tail, other.tail)
            and np.array_equal(self.head, other.head)
            and np.array_equal(self.terminals, other.terminals)
            and (self.bandwidth, self.injection, self.ejection) == (other.bandwidth, other.injection, other.ejection)
        )

    @property
    def channels(self) -> int:
        """How many directed channels there are."""
        return len(self.tail)

    @property
    def unit_bandwidth(self) -> bool:
        """Whether every channel carries one packet per cycle."""
        return not self.bandwidth

    @property
    def unit_rates(self) -> bool:
        """Whether every terminal sends and takes one packet per cycle."""
        return not self.injection and not self.ejection

    def bandwidth_of(self, channel: int) -> Fraction:
        """Packets per cycle of a channel."""
        return self.bandwidth[channel] if self.bandwidth else Fraction(1)

    def rates(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Injection and ejection rate of every terminal."""
        ones = (Fraction(1),) * len(self.terminals)
        return self.injection or ones, self.ejection or ones

    @cached_property
    def first_channel(self) -> npt.NDArray[np.int64]:
        """Channels of node v are ``first_channel[v] .. first_channel[v + 1] - 1``; shape (nodes + 1,)."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.tail, minlength=self.nodes))]).astype(np.int64)

    @cached_property
    def all_terminals(self) -> bool:
        """Whether every node is a terminal, in the order of the nodes."""
        return len(self.terminals) == self.nodes and bool((self.terminals == np.arange(self.nodes)).all())

    def name_of(self, node: int) -> str:
        """What to call a node in messages and tables."""
        if not self.labels:
            return str(node)
        label = self.labels[node]
        return label if len(self._by_label[label]) == 1 else f"{label} #{node}"  # several may have one name

    def channel_name(self, channel: int) -> str:
        """``tail -> head`` of a channel, in words."""
        return f"{self.name_of(int(self.tail[channel]))} -> {self.name_of(int(self.head[channel]))}"

    def port_names(self, channel: int) -> tuple[str, str]:
        """Return the names of the ports at the tail and the head of a channel; empty where ports have no names."""
        return "", ""

    def layout_hint(self) -> LayoutHint | None:
        """Return how hosts and switches lie, for pictures; None where the topology knows nothing about it."""
        return None

    def node(self, name: str | int) -> int:
        """The number of the node with this number or label.

        Raises
        ------
        TopologyError
            If there is no such node, or several have that label.
        """
        if isinstance(name, int) or (name.isdigit() and name not in self.labels):
            number = int(name)
            if 0 <= number < self.nodes:
                return number
        else:
            found = self._by_label.get(name, [])
            if len(found) == 1:
                return found[0]
            if found:
                raise TopologyError(f"{len(found)} nodes of {self.spec} are called {name!r}: use their numbers {found}")
        known = did_you_mean(str(name)[:80], self.labels[:1000]) if self.labels else f"nodes are 0 to {self.nodes - 1}"
        raise TopologyError(f"{self.spec} has no node {str(name)[:80]!r}; {known}")

    @cached_property
    def _by_label(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, label in enumerate(self.labels):
            found.setdefault(label, []).append(number)
        return found

    def with_rates(self, injection: Iterable[Any] = (), ejection: Iterable[Any] = ()) -> Self:
        """The same network whose terminals send and take at other rates (packets per cycle)."""
        return dataclasses.replace(
            self,
            spec=f"{self.spec} with rates",
            capacity_load=None,
            injection=tuple(_positive(rate, f"{self.spec}: an injection rate") for rate in injection),
            ejection=tuple(_positive(rate, f"{self.spec}: an ejection rate") for rate in ejection),
        )

    def with_terminals(self, nodes: Sequence[int]) -> Self:
        """The same network in which only `nodes` inject and take packets, in this order.

        Nodes that are terminals already keep their rates; the others send and take one packet per cycle.
        """
        chosen = _whole_numbers(nodes, f"{self.spec}: terminals are node numbers").astype(np.int32)
        injection, ejection = (self._rates_at(chosen, rates) for rates in (self.injection, self.ejection))
        return dataclasses.replace(
            self,
            spec=f"{self.spec} with {len(chosen)} terminals",
            terminals=chosen,
            injection=injection,
            ejection=ejection,
            capacity_load=None,
            translations=(),
        )

    def _rates_at(self, nodes: IntArray, rates: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """The rates of nodes, one for those that are not terminals."""
        rate_of = dict(zip(self.terminals.tolist(), rates, strict=False))
        return tuple(rate_of.get(node, Fraction(1)) for node in nodes.tolist()) if rates else ()


def build(
    spec: str,
    nodes: int,
    links: Iterable[tuple[int, int]] | npt.NDArray[np.integer[Any]],
    *,
    bandwidth: Sequence[Any] = (),
    terminals: Sequence[int] | None = None,
    **more: Any,
) -> Topology:
    """A topology from a list of directed channels in any order.

    Parameters
    ----------
    spec : str
        What to call it.
    nodes : int
        Number of nodes.
    links : iterable of (tail, head), or integer array of shape (channels, 2)
        Directed channels; their numbers are by tail, then in the order given here.
    bandwidth : sequence of numbers, optional
        Packets per cycle of each link, in the order of `links`.
    terminals : sequence of int, optional
        Default: every node.
    **more
        Further fields of :class:`Topology`.

    Examples
    --------
    >>> build("triangle", 3, [(0, 1), (1, 2), (2, 0)])
    <Topology triangle: 3 nodes, 3 channels, 3 terminals>
    """
    pairs = _whole_numbers(
        links if isinstance(links, np.ndarray) else list(links), f"{spec}: a channel is (tail, head)"
    )
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
        raise TopologyError(f"{spec}: a channel is (tail, head), two node numbers")
    pairs = pairs.reshape(-1, 2)
    if not isinstance(nodes, int | np.integer):
        raise TopologyError(f"{spec}: {nodes!r} nodes: it must be a whole number")
    order = np.argsort(pairs[:, 0], kind="stable")
    pairs = pairs[order]
    speeds: tuple[Fraction, ...] = ()
    if len(bandwidth):
        if len(bandwidth) != len(pairs):
            raise TopologyError(f"{spec}: {len(bandwidth)} bandwidths are given for {len(pairs)} channels")
        speeds = tuple(_positive(bandwidth[k], f"{spec}: the bandwidth of channel {k}") for k in order.tolist())
        if all(speed == 1 for speed in speeds):
            speeds = ()
    if pairs.size and (pairs.min() < 0 or pairs.max() >= nodes):
        wrong = pairs.min() if pairs.min() < 0 else pairs.max()
        raise TopologyError(f"{spec}: a channel names node {wrong}, there are {nodes}, numbered from 0")
    return Topology(
        spec=spec,
        nodes=nodes,
        tail=pairs[:, 0].astype(np.int32),
        head=pairs[:, 1].astype(np.int32),
        bandwidth=speeds,
        terminals=np.arange(nodes, dtype=np.int32)
        if terminals is None
        else _whole_numbers(terminals, f"{spec}: terminals are node numbers").astype(np.int32),
        **more,
    )


def topology(spec: Any) -> Any:
    """The topology that a spec names.

    Parameters
    ----------
    spec : str or Topology
        For example ``torus:9x9`` or ``file:network.graphml``; a Topology is returned as it is.

    Returns
    -------
    Topology

    Raises
    ------
    SpecError
        If the name is unknown or the parameters are wrong.

    Examples
    --------
    >>> import obliv
    >>> obliv.topology("torus:9x9")
    <Topology torus:9x9: 81 nodes, 324 channels, 81 terminals>
    """
    if isinstance(spec, Topology):
        return spec
    if not isinstance(spec, str):
        raise InputError(f"a topology is a spec or a Topology, not {type(spec).__name__}")
    if split_mix(spec) is not None:
        raise SpecError(f"{spec!r} is a mix; routings and traffic can be mixed, topologies can not")
    made = TOPOLOGIES.make(spec)
    if not isinstance(made, Topology):
        raise TopologyError(f"{spec}: the registered function gave {type(made).__name__}, not a Topology")
    if not made.spec:
        object.__setattr__(made, "spec", spec.strip())
    return made


def require_network(nodes: int, channels: int, spec: str) -> None:
    """Refuse a network too large to be held, before anything is allocated."""
    if nodes >= 2**31 or channels >= 2**31:
        raise TopologyError(
            f"{spec}: {nodes:,} nodes and {channels:,} channels; fewer than 2,147,483,648 can be numbered"
        )
    require_memory(64.0 * nodes + 200.0 * channels, f"{spec} ({nodes:,} nodes, {channels:,} channels)")


def _whole_numbers(values: Any, what: str) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(values)
        if array.size == 0:
            return np.zeros(array.shape, np.int64)
        if array.ndim == 0 or not np.issubdtype(array.dtype, np.integer):
            raise ValueError
    except ValueError:
        raise TopologyError(f"{what}, whole numbers from 0") from None
    return array.astype(np.int64)


def _positive(value: Any, what: str) -> Fraction:
    number = exact(value)
    if number is None or number <= 0:
        raise TopologyError(f"{what} is {value}: it must be a positive, finite number")
    return number


def _check(topology: Topology) -> None:
    spec, terminals = topology.spec, topology.terminals
    if topology.nodes < 1:
        raise TopologyError(f"{spec}: a network needs at least one node")
    if len(terminals) < 1:
        raise TopologyError(f"{spec}: a network needs at least one terminal")
    if terminals.min() < 0 or terminals.max() >= topology.nodes:
        raise TopologyError(f"{spec}: terminal {terminals.max()} is no node; nodes are 0 to {topology.nodes - 1}")
    if len(topology.tail) != len(topology.head) or (np.diff(topology.tail) < 0).any():
        raise TopologyError(f"{spec}: channels must be sorted by tail; obliv.build sorts them")
    if len(topology.head) and not (
        min(topology.tail.min(), topology.head.min()) >= 0
        and max(topology.tail.max(), topology.head.max()) < topology.nodes
    ):
        raise TopologyError(f"{spec}: a channel names a node that is not there; nodes are 0 to {topology.nodes - 1}")
    if len(np.unique(terminals)) != len(terminals):
        raise TopologyError(f"{spec}: a node is named twice among the terminals")
    for what, count, wanted in (
        ("labels", len(topology.labels), topology.nodes),
        ("bandwidths", len(topology.bandwidth), topology.channels),
        ("positions", 0 if topology.positions is None else len(topology.positions), topology.nodes),
    ):
        if count not in (0, wanted):
            raise TopologyError(f"{spec}: {count} {what} are given where {wanted} belong")
    for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
        if rates and len(rates) != len(terminals):
            raise TopologyError(f"{spec}: {len(rates)} {name} rates are given for {len(terminals)} terminals")
        for rate in rates:
            _positive(rate, f"{spec}: an {name} rate")
