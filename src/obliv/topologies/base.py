"""The network: nodes, terminals with their rates, directed channels; checks, descriptions and hints for drawing."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from obliv._util.arrays import Array, IntArray, NodeArray, cells_of, is_number, positions, starts
from obliv._util.files import read_source, same_content, state_of
from obliv._util.lazy import picture_of
from obliv._util.progress import require_memory
from obliv._util.rationals import exact, speed, speed_hint
from obliv._util.text import did_you_mean, html_table, printable, several, shown
from obliv.errors import FileError, TopologyError

# Checks of networks and their parameters, before anything is allocated


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
    """Refuse a network that is too large to be held, before anything is allocated."""
    if nodes >= 2**31 or channels >= 2**31:
        raise TopologyError(
            f"{spec}: {_count(nodes)} nodes and {_count(channels)} channels; "
            "fewer than 2,147,483,648 of either are supported"
        )
    limit = _LIMIT.get()
    if limit is not None and nodes > limit[0]:
        raise TopologyError(f"{spec}: {nodes:,} nodes, {limit[1]}")
    require_memory(64.0 * nodes + 200.0 * channels, f"{spec} ({nodes:,} nodes, {channels:,} channels)")


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
    number = Fraction(value) if type(value) in (int, Fraction) else exact(value)
    if number is None or number <= 0:
        raise TopologyError(f"{what} is {value}: it must be a positive, finite number such as 2, 0.5 or 1/3")
    return number


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


#: A number that is taken as an exact one; a float stands for the simplest rational that rounds to it.
Number = int | Fraction | float | str

#: Rates of terminals: one for all, one for each, of some by name, or the path of a file.
RatesLike = Number | Iterable[Number] | Mapping[Any, Number]

#: A node by its number, by its label or name, or by its coordinates.
NodeName = int | str | Sequence[int]


# Descriptions: what one kind of network knows and others do not have


class Heights(NamedTuple):
    """The height of every node of a network that is built as a hierarchy, 0 at the bottom."""

    heights: NodeArray


class Cables(NamedTuple):
    """The cables that channels belong to: names of the ports at both ends, and the channel in the other direction."""

    port_names: Callable[[int], tuple[str, str]]
    opposite: Callable[[int], int]


class Places(NamedTuple):
    """Where pictures have hosts and switches, found when it is asked for; it may be None."""

    hint: Callable[[], LayoutHint | None]


class Instead(NamedTuple):
    """What to use where a network is no fat tree that is given by its formula: for ratios, and for its routings."""

    ratio: str
    routing: str


class Described(Protocol):
    """What gives descriptions of itself."""

    def describe(self) -> tuple[Any, ...]: ...


_Kind = TypeVar("_Kind")


def find(described: Described, kind: type[_Kind]) -> _Kind | None:
    """Return what a topology, a routing or pair loads have of a kind of description; None if they have none."""
    return next((given for given in described.describe() if isinstance(given, kind)), None)


def heights_of(topology: Topology) -> NodeArray | None:
    """Return the height of every node; None unless the network is built as a hierarchy."""
    levels = find(topology, Heights)
    return None if levels is None else levels.heights


def layout_hint(topology: Topology) -> LayoutHint | None:
    """Return how hosts and switches lie, for pictures; None where the topology has no hint."""
    given = find(topology, Places)
    return None if given is None else given.hint()


def port_names(topology: Topology, channel: int) -> tuple[str, str]:
    """Return the names of the ports at the tail and the head of a channel; empty where ports have no names."""
    cables = find(topology, Cables)
    return ("", "") if cables is None else cables.port_names(channel)


# Hints of a topology of hosts and switches on where to draw its nodes


@dataclass(frozen=True, eq=False)
class LayoutHint:
    """The arrangement of hosts and switches in pictures.

    Parameters
    ----------
    hosts : int
        Nodes with lower numbers are hosts, the others switches.
    order : int array, shape (hosts,)
        The hosts of one switch are drawn in ascending order of this number.
    level : int array, shape (nodes,), optional
        The level of every node in a tree, 0 for hosts, -1 for nodes without a place in the tree.
    across : float array, shape (nodes,), optional
        The horizontal position of every node in the tree.
    missing : sequence of (int, int)
        Pairs of switches with a cable less than in the tree, as often as cables are missing.
    """

    hosts: int
    order: Array
    level: Array | None = None
    across: Array | None = None
    missing: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, eq=False)
class Topology:
    """A network of nodes joined by directed channels.

    A value: two topologies are equal (``==``) if their spec and all else in them are equal; what was read from a file
    and what was built by hand differ in their specs (see :meth:`same_network`). :func:`obliv.build` makes one from a
    list of channels. Self-loops, parallel channels and disconnected networks are legal: a routing raises an error for
    a pair of terminals that it cannot connect.

    Parameters
    ----------
    spec : str
        The spec that makes this topology again.
    nodes : int
        Number of nodes; they are numbered from 0.
    tail, head : int32 arrays, shape (channels,)
        The ends of every channel, sorted by tail.
    terminals : int32 array
        The nodes that inject and take packets, in the order of the terminals' numbers.
    bandwidth : tuple of Fraction
        Packets per cycle of every channel; empty if all are one.
    injection, ejection : tuple of Fraction
        Packets per cycle that each terminal may send and take; empty if all are one.
    labels : tuple of str
        Names of the nodes; empty if they have none.
    positions : float array, shape (nodes, 2), optional
        Where to draw the nodes.
    capacity_load : Fraction, optional
        The largest channel load of uniform traffic under the best routing.
    capacity_proof : dict, optional
        What proves it where no closed form does; saved claims contain it (:func:`obliv.with_capacity`).
    generators : tuple of int32 arrays, shape (nodes,)
        Automorphisms of the topology; a claim, checked on the loads before use.
    translations : tuple of int32 arrays, shape (nodes,)
        Generators of a commuting group that moves node 0 onto every node exactly once.
    sources : tuple of (path, SHA-256)
        The files that this topology was read from.
    notes : tuple of str
        What was dropped, assumed or left aside when it was read.

    Raises
    ------
    TopologyError
        If the parts do not fit together.

    Examples
    --------
    >>> import obliv
    >>> ring = obliv.build("one-way-ring", 4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ring.channels, ring.channel_name(2), ring == obliv.ring(4)
    (4, '2 -> 3', False)
    """

    spec: str
    nodes: int
    tail: NodeArray
    head: NodeArray
    terminals: NodeArray
    bandwidth: tuple[Fraction, ...] = ()
    injection: tuple[Fraction, ...] = ()
    ejection: tuple[Fraction, ...] = ()
    labels: tuple[str, ...] = ()
    positions: npt.NDArray[np.float64] | None = None
    capacity_load: Fraction | None = None
    capacity_proof: dict[str, Any] | None = None
    generators: tuple[NodeArray, ...] = ()
    translations: tuple[NodeArray, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("labels", "generators", "translations", "sources", "notes"):
            object.__setattr__(self, name, several(getattr(self, name)))
        check(self)
        object.__setattr__(self, "positions", places(self))
        for name in ("bandwidth", "injection", "ejection"):  # ones are left out
            if all(value == 1 for value in getattr(self, name)):
                object.__setattr__(self, name, ())

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<Topology {self.spec}: {self.nodes} nodes, {self.channels} channels, {len(self.terminals)} terminals>"

    def _repr_html_(self) -> str:
        figures = [
            ("nodes", f"{self.nodes:,}"),
            ("terminals", f"{len(self.terminals):,}"),
            ("channels", f"{self.channels:,}"),
            ("bandwidth", _range_of(self.bandwidth)),
            *(("injection", _range_of(self.injection)) for _ in self.injection[:1]),
            *(("ejection", _range_of(self.ejection)) for _ in self.ejection[:1]),
            ("capacity", str(self.capacity or "no closed form")),
            *(("note", note) for note in self.notes),
        ]
        return html_table(f"topology: {self.spec}", [("figure", "value"), *figures]) + picture_of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology) or type(self) is not type(other):
            return NotImplemented
        return self is other or all(
            same_content(getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self)
        )

    def __hash__(self) -> int:
        return hash((self.spec, self.nodes))

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def describe(self) -> tuple[Any, ...]:
        """Return what this kind of network knows of itself: levels, cables, places in pictures; see :func:`find`."""
        return ()

    def same_network(self, other: Topology) -> bool:
        """Return whether another topology has the same channels, terminals, bandwidths and rates, number by number."""
        return self is other or (
            self.nodes == other.nodes
            and np.array_equal(self.tail, other.tail)
            and np.array_equal(self.head, other.head)
            and np.array_equal(self.terminals, other.terminals)
            and (self.bandwidth, self.injection, self.ejection) == (other.bandwidth, other.injection, other.ejection)
        )

    @property
    def channels(self) -> int:
        """Number of directed channels."""
        return len(self.tail)

    @property
    def capacity(self) -> Fraction | None:
        """Packets per node and cycle of uniform traffic under the best routing; None where no closed form gives it."""
        return 1 / self.capacity_load if self.capacity_load else None

    @property
    def unit_bandwidth(self) -> bool:
        """Whether every channel carries one packet per cycle."""
        return not self.bandwidth

    @property
    def unit_rates(self) -> bool:
        """Whether every terminal sends and takes one packet per cycle."""
        return not self.injection and not self.ejection

    def bandwidth_of(self, channel: int) -> Fraction:
        """Return the packets per cycle of a channel."""
        return self.bandwidth[channel] if self.bandwidth else Fraction(1)

    def rates(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return the injection and the ejection rate of every terminal."""
        ones = (Fraction(1),) * len(self.terminals)
        return self.injection or ones, self.ejection or ones

    @cached_property
    def first_channel(self) -> npt.NDArray[np.int64]:
        """Channels of node v are ``first_channel[v] .. first_channel[v + 1] - 1``; shape (nodes + 1,)."""
        return starts(np.bincount(self.tail, minlength=self.nodes))

    def channels_between(self, tail: NodeName, head: NodeName) -> list[int]:
        """Return the channels from one node to another: none, one, or several parallel ones.

        Nodes are given as for :meth:`node`.

        Examples
        --------
        >>> import obliv
        >>> obliv.mesh(3, 2).channels_between(1, 2), obliv.mesh(3, 2).channels_between((0, 0), (2, 0))
        ([2], [])
        """
        start, end = self.node(tail), self.node(head)
        first, last = self.first_channel[start : start + 2].tolist()
        return [c for c in range(first, last) if self.head[c] == end]

    def channel(self, tail: NodeName, head: NodeName) -> int:
        """Return the channel from one node to another.

        Parameters
        ----------
        tail, head : int, str or tuple of int
            Nodes, as for :meth:`node`.

        Returns
        -------
        int

        Raises
        ------
        TopologyError
            If there is no such node, or not exactly one channel between them; see :meth:`channels_between`.

        Examples
        --------
        >>> import obliv
        >>> mesh = obliv.mesh(8, 8)
        >>> mesh.channel((0, 0), (1, 0)), mesh.channel("(0,0)", "(0,1)"), mesh.channel(0, 8)
        (0, 1, 1)
        """
        channels = self.channels_between(tail, head)
        if len(channels) == 1:
            return channels[0]
        ends = f"from {self.name_of(self.node(tail))} to {self.name_of(self.node(head))}"
        if channels:
            raise TopologyError(f"{self.spec}: {len(channels)} channels lead {ends}: use one of {channels}")
        raise TopologyError(f"{self.spec}: no channel leads {ends}")

    @cached_property
    def all_terminals(self) -> bool:
        """Whether every node is a terminal, in the order of the nodes."""
        return len(self.terminals) == self.nodes and bool((self.terminals == np.arange(self.nodes)).all())

    @cached_property
    def number_of(self) -> npt.NDArray[np.int64]:
        """The terminal's number of every node, -1 for nodes that are not terminals."""
        return positions(self.terminals, self.nodes)

    @property
    def radices(self) -> tuple[int, ...]:
        """Nodes per dimension of a network with coordinates, x first; empty for others."""
        return ()

    def coordinates(self, node: int) -> tuple[int, ...]:
        """Return the coordinates of a node, x first; empty in a network without coordinates."""
        return ()

    def at_coordinates(self, coordinates: Sequence[int]) -> int:
        """Return the node with these coordinates, x first; TopologyError where there is none."""
        raise TopologyError(f"{self.spec} has no coordinates: use a node's number or label, not {tuple(coordinates)}")

    @property
    def pattern_base(self) -> Topology:
        """The network that defines traffic patterns: this one, or the one before failures that left all terminals."""
        return self

    def name_of(self, node: int) -> str:
        """Return the name of a node in messages and tables."""
        if not self.labels:
            return str(node)
        label = self.labels[node]
        return label if len(self._by_label[label]) == 1 else f"{label} #{node}"  # several may have one name

    def channel_name(self, channel: int) -> str:
        """Return ``tail -> head`` of a channel by the names of its ends."""
        return f"{self.name_of(int(self.tail[channel]))} -> {self.name_of(int(self.head[channel]))}"

    def node(self, name: NodeName) -> int:
        """Return the number of a node.

        Parameters
        ----------
        name : int, str or tuple of int
            Its number, its label or its name in tables such as ``(3,2)``, or its coordinates, x first.

        Returns
        -------
        int

        Raises
        ------
        TopologyError
            If there is no such node, or several have that label.

        Examples
        --------
        >>> import obliv
        >>> mesh = obliv.mesh(8, 8)
        >>> mesh.node(19), mesh.node("19"), mesh.node("(3,2)"), mesh.node((3, 2))
        (19, 19, 19, 19)
        """
        if isinstance(name, tuple | list):
            return self.at_coordinates(name)
        if not isinstance(name, str) or (name.isdecimal() and len(name) < 19 and name not in self.labels):
            (number,) = integers(f"a node of {self.spec}", number=int(name) if isinstance(name, str) else name)
            if 0 <= number < self.nodes:
                return number
        else:
            nodes = self._by_label.get(name, [])
            if len(nodes) > 1:
                raise TopologyError(f"{len(nodes)} nodes of {self.spec} are called {name!r}: use their numbers {nodes}")
            named = nodes[0] if nodes else self._named(name)
            if named is not None:
                return named
        raise TopologyError(f"{self.spec} has no node {str(name)[:80]!r}; {self._meant(str(name))}")

    def _meant(self, name: str) -> str:
        """Return what may be meant by the name of a node that there is not."""
        return did_you_mean(name[:80], self.labels[:1000]) if self.labels else f"nodes are 0 to {self.nodes - 1}"

    def _named(self, name: str) -> int | None:
        """Return the node with a name that :meth:`name_of` returns; None if there is none."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {self.name_of(node): node for node in range(self.nodes)}

    @cached_property
    def _by_label(self) -> dict[str, list[int]]:
        nodes: dict[str, list[int]] = {}
        for number, label in enumerate(self.labels):
            nodes.setdefault(label, []).append(number)
        return nodes

    def with_rates(self, injection: RatesLike = (), ejection: RatesLike = ()) -> Self:
        """Return the same network whose terminals send and take at other rates (packets per cycle).

        Parameters
        ----------
        injection, ejection : number, sequence, mapping or str, optional
            One rate for all terminals, or one for each; or a mapping from some terminals, by number or name, to their
            rates, or the path of a file with such lines, where the others have rate 1. Default: 1.

        Examples
        --------
        >>> import obliv
        >>> obliv.ring(3).with_rates(injection=["1/2", 1, 1]).injection[0]
        Fraction(1, 2)
        >>> obliv.mesh(2, 2).with_rates(ejection={"(1,1)": 4}).ejection[3]
        Fraction(4, 1)
        """
        send, take = rates_of(self, "injection", injection), rates_of(self, "ejection", ejection)
        return dataclasses.replace(
            self,
            spec=f"{self.spec} with rates",
            capacity_load=None,
            capacity_proof=None,
            injection=send.values,
            ejection=take.values,
            sources=self.sources + send.sources + take.sources,
        )

    def with_terminals(self, nodes: Sequence[int]) -> Self:
        """Return the same network in which only `nodes` inject and take packets, in this order.

        Nodes that are terminals already keep their rates; the others send and take one packet per cycle.
        """
        terminals = whole_numbers(nodes, f"{self.spec}: terminals are node numbers").astype(np.int32)
        injection, ejection = (self._rates_at(terminals, rates) for rates in (self.injection, self.ejection))
        return dataclasses.replace(
            self,
            spec=f"{self.spec} with {len(terminals)} terminals",
            terminals=terminals,
            injection=injection,
            ejection=ejection,
            capacity_load=None,
            capacity_proof=None,
            translations=(),
        )

    def _rates_at(self, nodes: NodeArray, rates: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return the rates of nodes, one for those that are not terminals."""
        rate_of = dict(zip(self.terminals.tolist(), rates, strict=False))
        return tuple(rate_of.get(node, Fraction(1)) for node in nodes.tolist()) if rates else ()


def _range_of(numbers: Sequence[Fraction]) -> str:
    """Return the smallest and the largest of some rates in words; rates that are all one are left out."""
    low, high = min(numbers, default=Fraction(1)), max(numbers, default=Fraction(1))
    return str(low) if low == high else f"{low} to {high}"


# Terminals by number or by name, and their rates


class Rates(NamedTuple):
    """Rates of all terminals, empty if all are one, as text in a spec, and the file that they were read from."""

    values: tuple[Fraction, ...]
    text: str
    sources: tuple[tuple[str, str], ...] = ()


def rates_of(topology: Topology, what: str, value: Any) -> Rates:
    """Return the rates of all terminals."""
    n = len(topology.terminals)
    if isinstance(value, str) and exact(value) is None:
        words = value.split("x")
        if len(words) == 1 or not all(map(is_number, words)):
            if not os.path.exists(value):
                raise TopologyError(f"{topology.spec}: {what}={value} is neither a number nor a file")
            return _from_file(topology, what, Path(value))
        value = words
    if isinstance(value, Mapping):
        terminal = terminal_reader(topology)
        rates = [Fraction(1)] * n
        for name, rate in value.items():
            rates[terminal(str(name))] = positive_number(rate, f"{topology.spec}: {what} of terminal {name}")
    elif isinstance(value, Iterable) and not isinstance(value, str):
        rates = [positive_number(rate, f"{topology.spec}: {what} of a terminal") for rate in value]
        if len(rates) not in (0, n):
            raise TopologyError(f"{topology.spec}: {len(rates)} {what} rates are given for {n} terminals")
    else:
        rate = positive_number(value, f"{topology.spec}: {what}")
        rates = [] if rate == 1 else [rate] * n
    if not rates:
        return Rates((), "1")
    return Rates(tuple(rates), str(rates[0]) if len(set(rates)) == 1 else "x".join(map(str, rates)))


def _from_file(topology: Topology, what: str, path: Path) -> Rates:
    """Return the rates of a file with lines of terminal and rate; other terminals have rate 1."""
    terminal = terminal_reader(topology)
    text, digest = read_source(path)
    rates = [Fraction(1)] * len(topology.terminals)
    line_of: dict[int, int] = {}
    for number, cells in cells_of(text):
        try:
            if len(cells) == 3 and cells[2][:1].isalpha():  # a unit
                cells[1:] = [f"{cells[1]} {cells[2]}"]
            if len(cells) != 2:
                raise TopologyError("a line has two cells: a terminal and its rate")
            at = terminal(cells[0])
            if at in line_of:
                raise TopologyError(f"terminal {cells[0]} stands in line {line_of[at]} too")
            rate = speed(cells[1])
            if rate is None:
                raise TopologyError(f"{what} of terminal {cells[0]} is {cells[1][:40]}: {speed_hint(cells[1])}")
            rates[at] = rate
        except TopologyError as error:
            raise FileError(str(error), path, number) from None
        line_of[at] = number
    return Rates(tuple(rates), str(path), ((str(path), digest),))


def terminal_reader(topology: Topology) -> Callable[[str], int]:
    """Return the function from the number of a terminal, or the name of its node, to its number.

    A whole number is the number of a terminal; anything else is a name or coordinates, as for :meth:`Topology.node`.
    TopologyError if there is no such terminal.
    """
    index = {node: k for k, node in enumerate(topology.terminals.tolist())}
    last = f"terminals are 0 to {len(index) - 1}"

    def terminal(word: str) -> int:
        if word.isascii() and word.isdigit():
            if len(word) < 10 and int(word) < len(index):
                return int(word)
            raise TopologyError(f"{topology.spec} has no terminal {word[:40]}; {last}")
        if not word or (word[0] in "+-" and word[1:].isdigit()):
            raise TopologyError(f"{shown(word)} is not a terminal of {topology.spec}; {last}")
        try:
            node = topology.node(word)
        except TopologyError as error:
            if word.count("(") != word.count(")"):
                raise TopologyError(f"{shown(word)} is not a terminal: a parenthesis is missing") from None
            if re.search(r"\)\s*\(", word):
                raise TopologyError(f"{shown(word)}: put commas between terminals") from None
            raise TopologyError(f"{shown(word)} is not a terminal: {error}") from None
        if node not in index:
            raise TopologyError(f"{shown(word)} is a node of {topology.spec}, but not a terminal")
        return index[node]

    return terminal
