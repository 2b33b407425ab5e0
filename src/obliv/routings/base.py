"""A routing: for every pair of terminals, paths with probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from inspect import getattr_static
from math import lcm
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from obliv._util.arrays import Array, whole
from obliv._util.lazy import picture_of
from obliv._util.progress import Progress, rising
from obliv._util.rationals import integer, share
from obliv._util.text import html_table
from obliv.errors import InputError, RoutingError, TooLargeError
from obliv.loads.base import PairLoads
from obliv.loads.mixed import MixedLoads, translation_group
from obliv.routings.descriptions import Description, Programs
from obliv.routings.paths import (
    Crossed,
    Lengths,
    Path,
    PathComparison,
    add,
    checked_channels,
    checked_paths,
    compared,
    enumerated_loads,
    lengths_of,
    merged,
    served_of,
    silence,
)
from obliv.topologies.base import Topology, find
from obliv.topologies.cartesian import Cartesian

if TYPE_CHECKING:
    from obliv._util.rng import Rng
    from obliv.loads.separable import Program


_MOST_SAMPLES = 2**53  # which floats count

#: Methods that choose paths, the weightiest first: of two in one class the first one counts, the other says the same.
_CHOOSE = ("paths", "next_hops", "chances", "hops_to", "ways", "sample")
#: What a method that chooses paths is made from where its class does not replace that too.
_MADE_FROM = {"chances": ("next_hops",), "hops_to": ("next_hops", "chances")}
#: What holds of a class whatever its paths; those of a class that is declared relative are compared with that.
_KEPT = {"sources", "notes", "partial", "relative", "spread", "_general", "_repr_html_"}
_OPERATORS = {"__mul__", "__rmul__", "__add__"}


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
        """Return how many of some random packets of a pair of nodes cross channels how often, by (channel, times)."""
        from obliv.routings.samples import crossed_by_paths

        drawn = type(self).sample is not Routing.sample
        return crossed_by_paths(self, source, destination, packets, rng, drawn)

    def symmetries(self) -> list[Array]:
        """Return node maps under which the routing looks the same, to draw fewer paths; see :attr:`relative`."""
        return [] if self.compared is None else list(self.topology.translations)

    @cached_property
    def compared(self) -> PathComparison | None:
        """What was compared of a relative routing; None for other routings, and where it has no use."""
        group = translation_group(self.topology) if self.relative else None
        if group is None or self._by_offset:
            return None if group is None else PathComparison(group, True)
        return compared(self, group, draws_only(self))

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
        """Return the shares of packets that arrive at a terminal, as numerators by source over a denominator.

        They are below 1 for a partial routing only; a terminal always serves itself.
        """
        return served_of(self, destination)

    # ---------------------------------------------------------------------------------- other descriptions of the paths

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        """Return the routings that this one mixes, with weights that add up to one; by default itself alone."""
        return ((Fraction(1), self),)

    def describe(self) -> tuple[Description, ...]:
        """Return what else says what the paths are, best first; see :mod:`obliv.routings.descriptions`.

        Loads, deadlocks and checks read it. By default these are :attr:`programs`, where there are any.
        """
        return (Programs(self.programs),) if self.programs else ()

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
            from obliv._util.rng import generator
            from obliv.routings.samples import PathSampler

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
        """Return the sum of the probabilities of every number of hops, over all ordered pairs of terminals; exact."""
        total: Lengths = {}
        for _, _, lengths in self.pair_lengths(progress):
            add(total, lengths)
        return total

    def pair_lengths(self, progress: Progress) -> Iterator[tuple[int, int, Lengths]]:
        """Yield every ordered pair of terminals with the distribution of the lengths of its paths."""
        terminals = self.topology.terminals.tolist()
        for j, destination in enumerate(terminals):
            for i, source in enumerate(terminals):
                yield i, j, lengths_of(self, source, destination)
            progress("path lengths", (j + 1) / len(terminals))

    def _loads(self, progress: Progress) -> PairLoads:
        """Return the exact pair loads."""
        return enumerated_loads(self, None if self.compared is None else self.compared.group, progress)

    # ------------------------------------------------------------------------------------------------------- operators

    def __mul__(self, weight: Any) -> Mix:
        mix: Mix = Mix([(Fraction(1), self)]) * weight
        return mix

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
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


def draws_only(routing: Routing) -> bool:
    """Return whether the paths of a routing can be drawn, but not listed pair by pair."""
    return type(routing).paths is Routing.paths


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


class Mix(Routing):
    """A convex mix: each packet follows one of several routings, drawn with their weights.

    Examples
    --------
    >>> import obliv
    >>> routing = 0.5 * obliv.DOR(obliv.mesh(4, 4)) + 0.5 * obliv.ROMM(obliv.mesh(4, 4))
    >>> routing
    <Routing 1/2*dor+1/2*romm on mesh:4x4>
    >>> obliv.worst_case(routing).channel_load
    Fraction(121, 48)
    """

    def __init__(self, parts: Sequence[tuple[Fraction, Routing]]) -> None:
        self.parts: list[tuple[Fraction, Routing]] = []
        for weight, part in parts:
            self.parts += [(weight * factor, inner) for factor, inner in _parts_of(part)]
        if not self.parts:
            raise RoutingError("a mix needs at least one routing")
        topology = self.parts[0][1].topology
        if any(not topology.same_network(part.topology) for _, part in self.parts):
            raise RoutingError("a mix needs routings on one topology")
        super().__init__(topology, "+".join(f"{weight}*{part.spec}" for weight, part in self.parts))
        if sum((weight for weight, _ in self.parts), Fraction(0)) > 1:
            raise RoutingError(f"the weights of {self.spec} add up to more than 1: write 0.5 * a + 0.5 * b")
        self.sources = tuple(source for _, part in self.parts for source in part.sources)
        self.partial = any(part.partial for _, part in self.parts)

    def components(self) -> tuple[tuple[Fraction, Routing], ...]:
        total = sum((weight for weight, _ in self.parts), Fraction(0))
        if total != 1:
            raise RoutingError(f"the weights of {self.spec} add up to {total}, they must add up to 1")
        return tuple(self.parts)

    def describe(self) -> tuple[Description, ...]:
        if not all(part.programs for _, part in self.parts):
            return ()
        mixed = [(weight, program) for weight, part in self.parts for program in part.programs]
        return (Programs(tuple(replace(p, probability=weight * p.probability) for weight, p in mixed)),)

    def path_lengths(self, progress: Progress) -> Lengths:
        total: Lengths = {}
        for weight, part in self.components():
            add(total, part.path_lengths(progress), weight)
        return total

    def served(self, destination: int) -> tuple[Array, int]:
        parts = [(weight, *part.served(destination)) for weight, part in self.components()]
        over = lcm(*(weight.denominator * denominator for weight, _, denominator in parts))
        total: Array = np.zeros(len(self.topology.terminals), object)
        for weight, numerators, denominator in parts:
            total += numerators.astype(object) * int(weight * over / denominator)
        return whole(total.tolist()), over

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        return merged(self._paths_of_parts(source, destination))

    def _paths_of_parts(self, source: int, destination: int) -> Iterator[Path]:
        if source != destination:
            for weight, part in self.components():
                for channels, chance in checked_paths(part, source, destination):
                    yield channels, weight * chance
            return
        own = [(weight, list(checked_paths(part, source, destination))) for weight, part in self.components()]
        for weight, paths in own if any(paths for _, paths in own) else []:
            for channels, chance in paths or silence(source, destination):
                yield channels, weight * chance

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        parts = self.components()
        at = rng.choice(len(parts), p=np.array([float(weight) for weight, _ in parts]))
        return parts[int(at)][1].sample(source, destination, rng)

    def crossings(self, source: int, destination: int, packets: int, rng: np.random.Generator) -> Crossed:
        parts = self.components()
        counts = rng.multinomial(packets, np.array([float(weight) for weight, _ in parts]))
        crossed: Crossed = Counter()
        for (_, part), count in zip(parts, counts.tolist(), strict=True):
            crossed.update(part.crossings(source, destination, count, rng))
        return crossed

    @property
    def declared(self) -> bool:
        return any(part.declared for _, part in self.parts)

    def symmetries(self) -> list[Array]:
        first, *others = [part.symmetries() for _, part in self.parts]
        return [g for g in first if all(any(np.array_equal(g, h) for h in maps) for maps in others)]

    def _loads(self, progress: Progress) -> PairLoads:
        parts = self.components()
        joined = find(self, Programs)
        if joined is not None and isinstance(self.topology, Cartesian):
            from obliv.loads.separable import SeparableLoads

            return SeparableLoads(self.topology, joined.programs)
        return MixedLoads([(weight, part.pair_loads(progress=progress)) for weight, part in parts])

    def __mul__(self, factor: Any) -> Mix:
        factor = _weight(factor)
        return Mix([(factor * weight, part) for weight, part in self.parts])

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Mix:
        if not isinstance(other, Routing):
            return NotImplemented
        return Mix([*self.parts, *_parts_of(other)])


def _parts_of(routing: Routing) -> Sequence[tuple[Fraction, Routing]]:
    """Return the parts of a mix, even if its weights do not add up to 1; any other routing is its only part."""
    return routing.parts if isinstance(routing, Mix) and type(routing).paths is Mix.paths else [(Fraction(1), routing)]


def _weight(weight: Any) -> Fraction:
    exact = share(weight)
    if exact is None:
        raise RoutingError(f"{weight!r} is not a valid weight of a mix: use a number from 0 to 1")
    return exact
