"""The quality of forwarding tables, lower bounds of worst loads, and the limits, aims and LIDs of new tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, sqrt
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress
from obliv._util.rationals import exact
from obliv._util.text import did_you_mean, plural
from obliv.errors import InputError
from obliv.fabric.analyses.permutations import BLOCK, largest, shift_images
from obliv.fabric.lanes.graph import judge
from obliv.fabric.lanes.pairs import PairLevels
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.sl2vl import LaneTables, identity
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.names import with_lids
from obliv.fabric.reroute.tiers import SwitchNetwork, Tiers, pairs_apart, switch_network, tiers_of
from obliv.fabric.results.route import FIGURES, ShiftLoads, Standing
from obliv.fabric.routes.dependencies import credit_loops
from obliv.fabric.routes.routing import FabricRouting, idle_channels, uniform_load
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Offset
from obliv.fabric.shape import Shape
from obliv.fabric.topology import FabricTopology, cut_sizes, network, partitions
from obliv.questions.worst_case import worst_load
from obliv.results.numbers import Estimate
from obliv.topologies.recognise.grids import Grid, nearest_grid
from obliv.topologies.trees import bound_of
from obliv.topologies.trees import with_lids as tree_with_lids

#: The first figure by which tables are compared.
BY = ("worst", "uniform", "shifts", "balanced")

_SAMPLES = 256  # random permutations
_SEED = 0  # the same ones for all tables

_Key = Callable[[Standing], tuple[Any, ...]]


def standing_of(
    routing: FabricRouting,
    levels: PairLevels | None = None,
    tables: LaneTables | None = None,
    *,
    brief: bool = False,
    progress: Progress | None = None,
) -> Standing:
    """Return the quality of the tables of a routing; pairs that do not reach each other count as missing."""
    fabric, hosts = routing.topology.fabric, len(routing.topology.terminals)
    step = progress or (lambda what, share: None)
    owned = fabric.ports.lid > 0
    shifts = random = None
    if hosts > 1 and not brief:
        load, unit = largest(routing, shift_images(hosts), hosts - 1, what="shifts", jobs=None, progress=step)
        shifts = ShiftLoads(int(load.max()) * unit, Fraction(int(load.sum()), hosts - 1) * unit)
        load, unit = largest(routing, _samples(hosts), _SAMPLES, what="random", jobs=None, progress=step)
        sample = load * float(unit)
        random = Estimate(float(sample.mean()), float(sample.std(ddof=1) / sqrt(_SAMPLES)), _SAMPLES)
    deadlock, lanes = not credit_loops(routing.routes.traces).acyclic if levels is None else False, 1
    if levels is not None:
        verdict = judge(routing.routes.traces, Lanes(fabric, tables or identity(fabric), levels))
        deadlock = verdict.graph.cycle is not None or verdict.lacking > 0
        lanes = 1 + max(verdict.lanes_used, default=0)
    return Standing(
        worst=worst_load(routing.fabric_loads),
        uniform=uniform_load(routing),
        shifts=shifts,
        random=random,
        idle_channels=0 if brief else len(idle_channels(routing)),
        missing=routing.skipped,
        credit_loops=deadlock,
        lmc=int(fabric.ports.lmc[fabric.endpoints].max()),
        lids=int((1 << fabric.ports.lmc[owned].astype(np.int64)).sum()),
        lanes=lanes,
    )


def _samples(hosts: int) -> Iterator[Array]:
    """Yield random permutations of the hosts, always the same ones."""
    random, step = np.random.default_rng(_SEED), max(1, BLOCK // hosts)
    for first in range(0, _SAMPLES, step):
        yield random.permuted(np.tile(np.arange(hosts), (min(step, _SAMPLES - first), 1)), axis=1)


def key_by(by: str, brief: bool = False) -> _Key:
    """Return the order of tables, the smaller, the better: served pairs, credit loops, then figure by figure."""
    # A brief key ends before the first figure that :func:`standing_of` leaves out.
    first = {"uniform": ("uniform", "mean-shift"), "shifts": ("mean-shift", "worst-shift")}.get(by, ())
    names = list(dict.fromkeys((*first, "worst", "uniform", "mean-shift", "idle", "lids")))
    if brief:
        names = names[: names.index("mean-shift")]

    def key(standing: Standing) -> tuple[Any, ...]:
        figures = standing.figures
        rest = () if brief else (standing.lanes,)
        return standing.missing, standing.credit_loops, *(figures[name] for name in names), *rest

    return key


def limits_for(allow: Mapping[str, object]) -> dict[str, Fraction]:
    """Return the figures that may grow, and up to what."""
    limits: dict[str, Fraction] = {}
    for name, value in allow.items():
        figure = str(name).lower().replace("_", "-").replace(" ", "-")
        if figure not in (known := (*FIGURES, "shifts")):
            raise InputError(f"allow: figure {figure[:40]!r} is unknown: {did_you_mean(figure, known)}")
        if (limit := exact(value)) is None:
            raise InputError(f"allow: {figure}={str(value)[:40]} is not a number, such as 2 or 7/4")
        if limit < 0:
            raise InputError(f"allow: {figure}={str(value)[:40]} is negative, and no figure is")
        for one in ("worst-shift", "mean-shift") if figure == "shifts" else (figure,):
            limits[one] = limit
    return limits


def refused(new: Standing, old: Standing, limits: Mapping[str, Fraction]) -> dict[str, Fraction | int | float]:
    """Return the figures that are larger than in use and larger than allowed, with their values."""
    figures = new.figures
    return {
        name: figures[name]
        for name in sorted(new.grown(old), key=list(FIGURES).index)
        if not (name in limits and figures[name] <= limits[name])
    }


# a lower bound of the worst load of tables on any fabric: the routes to a host form a tree


_STEPS, _SWITCHES = 100_000, 40  # of the search for fewer heavy channels, and of the largest fabric with one


def in_tree_bound(tail: Array, head: Array, hosts: Array) -> int:
    """Return a load that the tables of any fabric attain for some permutation, if hosts have one LID each."""
    # Call a channel heavy for a destination if more than c hosts reach the destination over it. If on average more than
    # D - 1 destinations are heavy on a channel, then D are on some channel, and min(c + 1, D) of the hosts send over it
    # to different ones of these destinations. At least this many channels are heavy: the switches that heavy channels
    # leave, and that of the destination, form a connected set S, since channels of the tree only become heavier. The
    # other switches hang off S in sub-trees of at most c hosts, each at another neighbor of S. A switch with h hosts
    # and d neighbors brings S at most d - 2 more such neighbors, so a set that is large enough has at least some size;
    # on small fabrics a search finds out whether a set of that size exists.
    count, total = len(hosts), int(hosts.sum())
    unit = gcd(*hosts.tolist()) if total else 0
    if not unit or not len(tail):
        return 0
    near = [0] * count
    for a, b in set(zip(tail.tolist(), head.tolist(), strict=True)):
        near[a] |= 1 << b
    degree = np.array([mask.bit_count() for mask in near])
    best, light, steps = 0, 0, [_STEPS if count <= _SWITCHES else 0]
    while light < total:
        most = light + unit
        gains = hosts + light * (degree - 2)
        fewest = _fewest(total - hosts - light * degree, gains)
        if best < most:
            heavy, needed = int((hosts * fewest).sum()), len(tail) * (most - 1) + 1  # more is of no use
            for switch in np.flatnonzero(hosts).tolist():
                size = int(fewest[switch])
                while steps[0] and heavy < needed and not _exists(switch, size, light, near, hosts, gains, steps):
                    size += 1
                    heavy += int(hosts[switch])
            best = max(best, min(most, -(-heavy // len(tail))))
        if light and not fewest.any():
            break
        light += unit
    return best


def _fewest(lacking: Array, gains: Array) -> Array:
    """Return for every destination's switch how many of the largest gains add up to what is lacking."""
    sums = np.concatenate([[0], np.cumsum(np.sort(gains[gains > 0])[::-1])])
    return np.minimum(np.searchsorted(sums, lacking), len(sums) - 1)


def _exists(switch: int, size: int, light: int, near: list[int], hosts: Array, gains: Array, steps: list[int]) -> bool:
    """Return whether a connected set of a switch and so many others has enough neighbors; True if out of steps."""
    gain, number = int(gains.max()), hosts.tolist()
    total = sum(number)

    def extended(inside: int, around: int, held: int, choices: int, banned: int, left: int) -> bool:
        steps[0] -= 1
        lacking = total - held - light * (around & ~inside).bit_count()
        if lacking <= 0 or steps[0] <= 0:
            return True
        if lacking > left * gain:
            return False
        while choices:
            first = choices & -choices
            choices ^= first
            banned |= first
            v = first.bit_length() - 1
            onward = choices | (near[v] & ~banned & ~inside)
            if extended(inside | first, around | near[v], held + number[v], onward, banned, left - 1):
                return True
        return False

    start = 1 << switch
    found = extended(start, near[switch], number[switch], near[switch], start, size)
    steps[0] = max(steps[0], 0)
    return found


# Lower bounds of the worst load that single paths can have on a fabric, also where cables of its tree are missing


def single_path_bound(fabric: Fabric, shape: Shape | None, lmc: int = 16) -> tuple[int, str] | None:
    """Return a lower bound of the worst load with 2**lmc LIDs a host, and its source; None if no bound is known."""
    # It holds for tables that connect all pairs by single paths, on fat trees by paths that climb and then descend.
    used = fabric.ports.peer >= 0
    if len(np.unique(fabric.ports.rate[used])) > 1 or len(fabric.endpoints) < 2:
        return None
    beside = fabric.homes
    if (beside < 0).any():
        return None
    hosts = np.bincount(beside, minlength=len(fabric.switches))
    bounds = []
    if shape is not None and _within(shape):
        if theorem := bound_of(shape.tree):
            bounds.append(theorem)
        if shape.tree.half is not None and shape.levels == 2:
            lids = f"{plural(1 << lmc, 'LID')} a host, docs/explanation/fat-trees.md"
            bounds.append((tree_with_lids(2 * shape.tree.half, 1 << lmc), lids))
    what = "switch" if shape is None else "sub-tree"
    bounds += [(_cut(fabric, part, hosts), f"hosts and cables of a {what}") for part in partitions(fabric, shape)]
    bounds.append(
        (_shared(fabric, hosts, lmc), f"hosts of a switch that share routes, {plural(1 << lmc, 'LID')} a host")
    )
    if lmc == 0:
        tail, head, _ = fabric.trunks
        bounds.append((in_tree_bound(tail, head, hosts), "routes to a host form a tree"))
    best = max(bounds, key=lambda bound: bound[0])
    return best if best[0] > 1 else None


def _within(shape: Shape) -> bool:
    """Return whether the fabric is a part of its tree that has all leaves and hosts, and no parallel cables."""
    leaves = all(level > 1 for level, _ in shape.missing_switches)
    return leaves and not (shape.empty or shape.extra or shape.extra_switches) and max(shape.cables) == 1


def _cut(fabric: Fabric, part: Array, hosts: Array) -> int:
    """Return the most flows that must leave a part of the switches over one of its cables."""
    inside, cables = cut_sizes(fabric, part, hosts)
    flows = np.minimum(inside, inside.sum() - inside)
    cut = (flows > 0) & (cables > 0)
    return int((-(-flows[cut] // cables[cut])).max(initial=0))


def _shared(fabric: Fabric, hosts: Array, lmc: int) -> int:
    """Return the most flows to different hosts that leave a switch over one cable, as one table serves its hosts."""
    tail, _, _ = fabric.trunks
    cables = np.bincount(tail, minlength=len(hosts))
    at = np.flatnonzero((hosts > 0) & (cables > 0))
    sharing = -(-hosts[at] >> lmc)
    return int(np.minimum(sharing, -(-(hosts.sum() - hosts[at]) // cables[at])).max(initial=0))


# What new forwarding tables are computed for, and within which limits


@dataclass(frozen=True, eq=False)
class Request:
    """What new tables are computed for."""

    fabric: Fabric
    engine: str  # a name, or ``auto``
    shape: Shape | None  # the fat tree of at least two levels that the fabric is, or nearly is
    # most_lmc, lanes: at most
    most_lmc: int
    lanes: int
    lane_tables: bool  # whether switches can take SL-to-VL tables; ``auto`` selects none that need them otherwise
    effort: float  # multiplies the moves and rounds of searches
    seed: int
    optimum: int  # a lower bound of the worst load of single paths, 0 where none is known
    by: str  # the figure by which tables are chosen
    progress: Progress
    starts: list[Tables]  # from which a search may start: those in use, and those of engines that were tried before

    @cached_property
    def grid(self) -> Grid | None:
        """The grid that the switches form, or nearly form."""
        self.progress("the grid that the switches form", 0.0)
        tail, head, _ = self.fabric.trunks
        return nearest_grid(len(self.fabric.switches), np.stack([tail, head], axis=1))

    @cached_property
    def switches(self) -> SwitchNetwork:
        """The switches and the channels between them."""
        return switch_network(self.topology)

    @cached_property
    def tiers(self) -> Tiers | None:
        """The levels of the switches, if they form a tree."""
        return tiers_of(self.switches, self.shape)

    @cached_property
    def topology(self) -> FabricTopology:
        """The topology of the fabric with its own LIDs."""
        return network(self.fabric)

    def routing(self, fabric: Fabric, tables: Tables, offset: Offset = "0") -> FabricRouting:
        """Return the routing of tables, which may be for other LIDs."""
        topology = self.topology if fabric is self.fabric else replace(self.topology, fabric=fabric)
        return fabric_routing(topology, tables, offset, missing="skip")

    @cached_property
    def apart(self) -> tuple[int, int]:
        """The number of ordered pairs of endpoints that no cables connect, and of parts of the fabric."""
        return pairs_apart(self.fabric)

    def key(self, standing: Standing, brief: bool = False) -> tuple[Any, ...]:
        """Return what tables are compared by, the smaller, the better."""
        return key_by(self.by, brief)(standing)

    def lost(self, standing: Standing) -> int:
        """Return the number of pairs that cables connect and tables do not."""
        return standing.missing - self.apart[0]

    @cached_property
    def single_lid_optimum(self) -> int:
        """A lower bound of the worst load with one LID a host, 0 where none is known."""
        return (single_path_bound(self.fabric, self.shape, 0) or (0, ""))[0]

    def attained_by(self, standing: Standing) -> bool:
        """Return whether tables serve all pairs with a worst load that no single paths are below."""
        return standing.worst <= self.optimum and not self.lost(standing)


# The LIDs of new forwarding tables: those that the fabric has, or new ones


def with_enough_lids(fabric: Fabric, lmc: int, largest: int) -> tuple[Fabric, tuple[str, ...]]:
    """Return the fabric with at least 2**lmc LIDs for every host, and a note where its LIDs are new."""
    # LIDs are new where those of the fabric are not what OpenSM's `-l` would give, or the LMC exceeds `largest`.
    reason = _reason_for_new(fabric, lmc, largest)
    if not reason:
        return fabric, ()
    note = f"LIDs are new, since {reason}; OpenSM moves the entries to those that it assigns"
    return with_lids(fabric, lmc), (note,)


def _reason_for_new(fabric: Fabric, lmc: int, largest: int) -> str:
    """Return why new LIDs are needed, "" if they are not."""
    slots = fabric.endpoints
    low, high = int(fabric.ports.lmc[slots].min()), int(fabric.ports.lmc[slots].max())
    if not (fabric.ports.lid[slots] > 0).all() or not (fabric.ports.lid[fabric.first_slot[fabric.switches]] > 0).all():
        return "the fabric has none"
    if low < high:
        return f"ports have LMCs of {low} to {high}"
    if high < lmc:
        return f"LMC {lmc} is needed"
    if high > largest:
        return f"at most LMC {largest} is allowed"
    owned = np.flatnonzero(fabric.ports.lid > 0)
    first = np.sort(fabric.ports.lid[owned].astype(np.int64) << 8 | fabric.ports.lmc[owned])
    ends = (first >> 8) + (1 << (first & 7))
    return "some ports share a LID" if (ends[:-1] > first[1:] >> 8).any() else ""
