"""A routing: for every pair of terminals, paths with probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from inspect import getattr_static
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from obliv._util.arrays import Array
from obliv._util.lazy import picture_of
from obliv._util.progress import Progress, rising
from obliv._util.rationals import share
from obliv._util.text import html_table
from obliv.errors import InputError, RoutingError, TooLargeError, TopologyError
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv._util.rng import Rng
    from obliv.loads.base import PairLoads
    from obliv.loads.separable import Program
    from obliv.routings.congestion import DecompositionTree
    from obliv.routings.hops import HopRouting, Lengths
    from obliv.routings.mixes import Mix, PathComparison
    from obliv.topologies.cartesian import LinkFlows
    from obliv.topologies.trees import NumberedPaths


_MOST_SAMPLES = 2**53  # which floats count

#: Methods that choose paths, the weightiest first: of two in one class the first one counts, the other says the same.
_CHOOSE = ("paths", "next_hops", "chances", "hops_to", "ways", "sample")
#: What a method that chooses paths is made from where its class does not replace that too.
_MADE_FROM = {"chances": ("next_hops",), "hops_to": ("next_hops", "chances")}
#: What holds of a class whatever its paths; those of a class that is declared relative are compared with that.
_KEPT = {"sources", "notes", "partial", "relative", "spread", "_general", "_repr_html_"}
_OPERATORS = {"__mul__", "__rmul__", "__add__"}

#: The channels of a path, and its probability.
Path = tuple[tuple[int, ...], Fraction]

#: The number of random packets by (channel, times): those that cross the channel that many times.
Crossed = Counter[tuple[int, int]]


class LaneDependencies(NamedTuple):
    """Virtual lanes of channels in use, and which is used right after which: rows of (channel, lane).

    ``used`` has shape (n, 2), ``follows`` shape (dependencies, 4): a channel and lane, then the next ones.
    """

    used: Array
    follows: Array


class Routing:
    """An oblivious routing on a topology.

    A subclass gives :meth:`paths`, or derives from :class:`HopRouting` and gives ``next_hops``, or gives
    :meth:`sample` alone, which is enough for estimates. Everything else has a default.
    ``0.5 * a + 0.5 * b`` of two routings is a routing.

    What a class inherits that says something about its parent's paths, such as a closed form of their loads, does not
    hold of a subclass that chooses paths by a method of its own: defaults take its place there.

    Two routings are equal if their class, network and all other attributes are equal.

    Parameters
    ----------
    topology : Topology
    spec : str
        The spec that makes this routing again; default the name of the class.

    Attributes
    ----------
    sources : tuple of (path, SHA-256)
        The files behind it.
    programs : tuple of Program
        What a dimension-ordered routing does, as data; empty where there is no such description.
    notes : tuple of str
        Remarks for the user, such as a routing that stands in for this one.
    partial : bool
        Whether some pairs have no path, or paths for a share of their packets only.
    any_choice : bool
        Whether packets may take any of the next hops, by choices that are not known: a pair then counts in full on each
        channel that it can take.
    unnumbered : bool
        Whether paths depend on the network alone, not on the numbers of nodes and channels, on any network.
    relative : bool
        Whether paths depend only on the position of the destination relative to the source (Towles, section 4.2), on
        a network with translations: then the paths from one source are enumerated, the others are moved there. A
        declaration: the paths of all pairs are compared with it. On networks of several thousand terminals, and where
        paths are only drawn, some pairs are, and results say that the routing is declared relative, not verified.

    Examples
    --------
    >>> import obliv
    >>> class Clockwise(obliv.Routing):
    ...     '''Always the first channel: one way round a ring.'''
    ...     def paths(self, source, destination):
    ...         hops = (destination - source) % self.topology.nodes
    ...         nodes = [(source + hop) % self.topology.nodes for hop in range(hops)]
    ...         yield tuple(int(self.topology.first_channel[node]) for node in nodes), 1
    >>> obliv.worst_case(Clockwise(obliv.ring(6), "clockwise")).channel_load
    Fraction(5, 1)
    """

    sources: tuple[tuple[str, str], ...] = ()
    programs: tuple[Program, ...] = ()
    notes: tuple[str, ...] = ()
    partial: bool = False
    any_choice: bool = False
    unnumbered: bool = False
    relative: bool = False
    _by_offset: bool = False  # relative by its code, which makes all paths from the offset alone: nothing to compare

    _general = True  # everything else is made from what chooses the paths

    def __init_subclass__(cls, same_paths: bool = False, **options: Any) -> None:
        """Undo what a class inherits about other paths than its own, unless it declares that they are the same."""
        super().__init_subclass__(**options)
        for name, general in () if same_paths else _voided(cls).items():
            setattr(cls, name, general)

    def __init__(self, topology: Topology, spec: str = "") -> None:
        self.spec = spec or type(self).__name__
        require_topology(topology, self.spec)
        self.topology = topology

    # ------------------------------------------------------------------------------------------------------- paths

    def paths(self, source: int, destination: int) -> Iterable[Path]:
        """Return every path of a pair of nodes as (channels, probability); probabilities add up to one.

        The built-in routings give each path once. A user's own may also name the nodes of a path, from the source to
        the destination, in place of its channels: ``(["a", "b", "c"], 1)``, or ``([(0, 0), (1, 0)], 1)``.
        """
        if type(self).sample is not Routing.sample:
            raise RoutingError(f"{self.spec} gives random paths only, enough for estimates: set samples")
        by_hops = hasattr(self, "next_hops")
        hint = "; with next_hops(node, destination) alone, derive it from HopRouting" if by_hops else ""
        raise NotImplementedError(f"{type(self).__name__} must give paths(source, destination){hint}")

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the channels of one path, drawn with the routing's probabilities."""
        choices = list(self.paths(source, destination))
        shares = np.array([float(chance) for _, chance in choices])
        if source == destination and not shares.sum():  # a terminal may send itself nothing
            return ()
        if not np.isclose(shares.sum(), 1):
            there = f"from {self.topology.name_of(source)} to {self.topology.name_of(destination)}"
            raise RoutingError(f"{self.spec}: the paths {there} have total probability {shares.sum():g}, not 1")
        return checked_channels(
            self, source, destination, choices[int(rng.choice(len(choices), p=shares / shares.sum()))][0]
        )

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        """Return how often random packets of a pair of nodes cross the channels.

        Parameters
        ----------
        source, destination : int
            Nodes.
        packets : int
            How many packets to draw, independent of each other.
        rng : numpy.random.Generator

        Returns
        -------
        collections.Counter
            How many packets cross a channel how often: keys (channel, times), times at least 1.

        Raises
        ------
        RoutingError
            If a path does not lead from the source to the destination.
        """
        from obliv.routings.sampled import crossed_by_paths

        return crossed_by_paths(self, source, destination, packets, rng)

    def symmetries(self) -> list[Array]:
        """Return node maps under which the routing looks the same, to draw fewer paths; see :attr:`relative`."""
        return [] if self.compared is None else list(self.topology.translations)

    @cached_property
    def compared(self) -> PathComparison | None:
        """What was compared of a relative routing; None for other routings, and where it has no use."""
        if not self.relative:
            return None
        from obliv.routings.mixes import compared

        return compared(self)

    @property
    def declared(self) -> bool:
        """Whether the paths of some pairs are taken from :attr:`relative`, and were not compared with it."""
        return self.compared is not None and not self.compared.complete

    @property
    def skipped(self) -> int:
        """The number of ordered pairs without paths for all of their packets."""
        if not self.partial:
            return 0
        shares = map(self.served, self.topology.terminals.tolist())
        return sum(int((numerators < denominator).sum()) for numerators, denominator in shares)

    def served(self, destination: int) -> tuple[Array, int]:
        """Return the shares of packets that arrive at one terminal, which are below 1 for a partial routing only.

        Parameters
        ----------
        destination : int
            A node that is a terminal.

        Returns
        -------
        numerators : integer array, shape (terminals,)
            By source; a terminal always serves itself.
        denominator : int
        """
        from obliv.routings.mixes import served_of

        return served_of(self, destination)

    # ---------------------------------------------------------------------------------- other descriptions of the paths

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        """Return the routings that this one mixes, with weights that add up to one; by default itself alone."""
        return ((Fraction(1), self),)

    @property
    def by_hops(self) -> HopRouting | None:
        """The same routing by next hops that depend on node and destination only; None for other routings."""
        return None

    @property
    def hop_groups(self) -> Sequence[tuple[Array, HopRouting]]:
        """Groups of sources, with the next hops that their packets follow; empty for other routings."""
        return [] if self.by_hops is None else [(self.topology.terminals, self.by_hops)]

    @property
    def phase_routing(self) -> Routing | None:
        """The routing of both phases, to a uniformly random terminal and on from there; None for other routings."""
        return None

    @property
    def lane_dependencies(self) -> LaneDependencies | None:
        """What follows what on the virtual lanes that come with the routing; None for routings without lanes."""
        return None

    @property
    def plain_dependencies(self) -> LaneDependencies | None:
        """What follows what on one virtual lane, for routings that tell it faster than by hops and paths; else None."""
        return None

    @property
    def by_next_channel(self) -> Callable[[Array, Array], Array] | None:
        """The only next channels of many nodes towards as many destinations, -1 without; None for other routings."""
        return None

    @property
    def by_number(self) -> NumberedPaths | None:
        """The same routing by one numbered shortest path per pair of a fat tree; None for other routings."""
        return None

    @property
    def cluster_trees(self) -> list[DecompositionTree] | None:
        """Decomposition trees, all equally likely, whose paths have their loops; None for other routings."""
        return None

    @property
    def link_flows(self) -> LinkFlows | None:
        """One unit flow per terminal, of which the flows of pairs are differences; None for other routings."""
        return None

    # ----------------------------------------------------------------------------------------- loads and path lengths

    def pair_loads(self, samples: int | None = None, rng: Rng = None, progress: Progress | None = None) -> PairLoads:
        """Return the pair loads of this routing.

        Parameters
        ----------
        samples : int, optional
            Random paths sampled per pair, which gives an estimate (Towles, section 3.2); default: enumerate all paths.
        rng : numpy.random.Generator or int, optional
            Source of the samples, or its seed; default 0.
        progress : callable, optional
            Called with what is being done and the share that is done.

        Returns
        -------
        PairLoads
            Exact unless `samples` is given; then marked as estimated.
        """
        step = rising(progress)
        if samples is None:
            loads = self._loads(step)
        else:
            from obliv._util.rationals import integer
            from obliv._util.rng import generator
            from obliv.routings.sampled import PathSampler

            samples = integer(samples, "samples")
            if samples < 2:
                raise RoutingError(f"{samples} samples: at least 2 paths per pair are needed for a standard error")
            if samples > _MOST_SAMPLES:
                raise TooLargeError(f"{samples} samples: use at most {_MOST_SAMPLES:,} paths per pair")
            loads = PathSampler(self).loads(samples, generator(rng), step)
        if self.partial:
            loads.partial = True
        if self.declared:
            loads.declared = True
        return loads

    def path_lengths(self, progress: Progress) -> Lengths:
        """Return how long the paths are: the distributions of all ordered pairs of terminals, added up.

        Parameters
        ----------
        progress : callable
            Called with what is being done and the share that is done.

        Returns
        -------
        dict
            For every number of hops the sum of its probabilities; exact.
        """
        from obliv.routings.hops import add

        total: Lengths = {}
        for _, _, lengths in self.pair_lengths(progress):
            add(total, lengths)
        return total

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        """Yield every ordered pair of terminals with the distribution of the lengths of its paths."""
        from obliv.routings.mixes import lengths_of

        terminals = self.topology.terminals.tolist()
        for j, destination in enumerate(terminals):
            for i, source in enumerate(terminals):
                yield i, j, lengths_of(self, source, destination)
            progress("path lengths", (j + 1) / len(terminals))

    def _loads(self, progress: Progress) -> PairLoads:
        """Return the exact pair loads."""
        from obliv.routings.mixes import enumerated_loads

        return enumerated_loads(self, progress)

    # ------------------------------------------------------------------------------------------------------- operators

    def joined_loads(self, parts: Sequence[tuple[Fraction, Routing]]) -> PairLoads | None:
        """Return the pair loads of a mix that starts with this routing; None where nothing beats adding them up."""
        return None

    def __mul__(self, weight: Any) -> Mix:
        from obliv.routings.mixes import Mix

        mix: Mix = Mix([(Fraction(1), self)]) * weight
        return mix

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
        from obliv.routings.mixes import Mix

        if not isinstance(other, Routing):
            return NotImplemented
        return Mix([(Fraction(1), self), (Fraction(1), other)])

    def __eq__(self, other: object) -> bool:
        from obliv._util.files import same_content

        return type(self) is type(other) and same_content(self.__getstate__(), other.__getstate__())

    def __hash__(self) -> int:
        return hash((type(self), self.spec))

    def __getstate__(self) -> dict[str, Any]:
        from obliv._util.files import state_of

        return state_of(self)

    def __str__(self) -> str:
        return self.spec

    def _repr_html_(self) -> str:
        topology = self.topology
        figures = [
            ("topology", topology.spec),
            ("terminals", f"{len(topology.terminals):,}"),
            ("channels", f"{topology.channels:,}"),
            *(("note", note) for note in self.notes),
        ]
        return html_table(f"routing: {self.spec}", [("figure", "value"), *figures]) + picture_of(self)

    def __repr__(self) -> str:
        return f"<Routing {self.spec} on {self.topology.spec}>"


def _voided(cls: type) -> dict[str, Any]:
    """Return what a class must not inherit, each name with what stands for it: what is made from the class's own paths.

    The class is asked for the first method in its order of resolution that chooses paths. Descriptions of a later class
    that chooses paths too are void; a class that does not choose any, such as a base for others, speaks of all paths.
    """
    order = cls.__mro__
    places = {name: place for name in _CHOOSE if (place := _place(order, name)) is not None}
    if not places:
        return {}
    chosen = min(places, key=lambda name: (places[name], _CHOOSE.index(name)))
    base = _general_class(order, chosen)
    names = {name for kind in base.__mro__[:-1] for name in vars(kind)} - _KEPT - {chosen, *_MADE_FROM.get(chosen, ())}
    return {
        name: getattr_static(base, name)
        for name in names
        if (not name.startswith("__") or name in _OPERATORS)
        and (place := _place(order, name)) is not None
        and place > places[chosen]
        and order[place] not in base.__mro__
        and any(_own(order[place], base, choose) for choose in _CHOOSE)
    }


def _place(order: tuple[type, ...], name: str) -> int | None:
    return next((place for place, kind in enumerate(order) if name in vars(kind)), None)


def _general_class(order: tuple[type, ...], name: str) -> type:
    """Return the class that makes everything else from a method, Routing where none does."""
    general = [kind for kind in order if "_general" in vars(kind)]
    return next((kind for kind in reversed(general) if name in vars(kind)), general[-1])


def _own(kind: type, base: type, name: str) -> bool:
    """Return whether a class chooses its paths by a method other than that of a general class."""
    return getattr_static(kind, name, None) is not getattr_static(base, name, None)


class _OnTopology(Protocol):
    @property
    def topology(self) -> Topology: ...


class _Paths(_OnTopology, Protocol):
    def paths(self, source: int, destination: int, /) -> Iterable[tuple[Sequence[int], Any]]: ...


class _NextHops(_OnTopology, Protocol):
    def next_hops(self, node: int, destination: int, /) -> Iterable[Any]: ...


class _Sample(_OnTopology, Protocol):
    def sample(self, source: int, destination: int, rng: np.random.Generator, /) -> Sequence[int]: ...


#: A routing, or an object of a user that has a topology and one of the methods that make a routing.
RoutingLike = Routing | _Paths | _NextHops | _Sample


def require_topology(topology: Any, spec: str) -> None:
    """Refuse what is not a topology, such as the spec of one."""
    if not isinstance(topology, Topology):
        raise InputError(f"{spec} needs a Topology, not {topology!r:.60}: make one with obliv.topology(SPEC)")


def is_adaptable(own: Any) -> bool:
    """Return whether an object has one of the methods that make a routing."""
    return any(hasattr(own, name) for name in ("next_hops", "paths", "sample"))


# Checks of the paths and next hops of a routing, and of their probabilities


_LISTS = "a path lists channels (topology.channel(u, v)), or nodes by name"


def terminal_numbers(routing: Routing, *nodes: int) -> list[int]:
    """Return the numbers of terminals by their nodes; RoutingError for other nodes."""
    number_of = routing.topology.number_of
    for node in nodes:
        if not 0 <= node < len(number_of) or number_of[node] < 0:
            raise RoutingError(f"{routing.spec}: node {node} is not a terminal")
    return [int(number_of[node]) for node in nodes]


def checked_paths(routing: Routing, source: int, destination: int) -> Iterator[Path]:
    """Yield the paths of a pair; RoutingError unless channels lead to the destination and probabilities are valid."""
    pair = partial(_pair, routing.topology, source, destination)
    for path in listed(routing, routing.paths(source, destination), lambda: f"the paths {pair()}"):
        if not isinstance(path, tuple | list) or len(path) != 2:
            raise RoutingError(f"{routing.spec}: a path {pair()} is {path!r}, not (channels, probability)")
        chance = share(path[1])
        if chance is None:
            raise RoutingError(f"{routing.spec}: a path {pair()} has probability {path[1]}, not a number from 0 to 1")
        yield checked_channels(routing, source, destination, path[0]), chance


def checked_channels(routing: Routing, source: int, destination: int, path: Any) -> tuple[int, ...]:
    """Return the channels of a path; raise RoutingError unless they lead from the source to the destination."""
    topology = routing.topology
    pair = partial(_pair, topology, source, destination)
    at = source
    channels = listed(routing, channels_of(routing, source, path), lambda: f"the channels of a path {pair()}")
    for c in channels:
        if not is_channel(topology, c) or topology.tail[c] != at:
            raise RoutingError(
                f"{routing.spec}: a path {pair()} takes channel {c!r} at {topology.name_of(at)}; {_LISTS}"
            )
        at = int(topology.head[c])
    if at != destination:
        raise RoutingError(f"{routing.spec}: a path {pair()} ends at {topology.name_of(at)}; {_LISTS}")
    return tuple(int(c) for c in channels)


def channels_of(routing: Routing, source: int, path: Any) -> Any:
    """Return the channels of a path that names its nodes, from the source on; any other path as it is."""
    if not (isinstance(path, tuple | list) and path and isinstance(path[0], str | tuple | list)):
        return path
    topology = routing.topology
    try:
        if topology.node(path[0]) != source:
            raise TopologyError(f"begins at {path[0]}")
        return tuple(topology.channel(tail, head) for tail, head in pairwise(path))
    except TopologyError as error:
        raise RoutingError(f"{routing.spec}: a path from {topology.name_of(source)}: {error}") from None


def merged(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield every path once, in the order in which it comes first, with its total probability."""
    total: dict[tuple[int, ...], Fraction] = {}
    for channels, chance in paths:
        total[channels] = total.get(channels, Fraction(0)) + chance
    yield from total.items()


def require_all(routing: Routing, source: int, destination: int, total: Fraction) -> None:
    """Raise RoutingError unless the probabilities of a pair's paths add up to one.

    A node may send itself nothing, and those of a partial routing may add up to less.
    """
    if total != 1 and not (source == destination and total == 0) and not (routing.partial and total < 1):
        pair = _pair(routing.topology, source, destination)
        raise RoutingError(f"{routing.spec}: the paths {pair} have total probability {total}, not 1")


def listed(routing: Routing, values: Any, what: Callable[[], str]) -> list[Any]:
    """Return what a routing gave as a list; raise RoutingError where it is something else."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise RoutingError(f"{routing.spec}: {what()} must be a list, not {values!r}")
    return list(values)


def is_channel(topology: Topology, value: Any) -> bool:
    """Return whether a value is the number of a channel."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and bool(0 <= value < topology.channels)


def _pair(topology: Topology, source: int, destination: int) -> str:
    return f"from {topology.name_of(source)} to {topology.name_of(destination)}"
