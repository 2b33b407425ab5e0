"""The oblivious performance ratio of a routing on a fat tree, where the best routing of any traffic is known."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from obliv._util.arrays import addable
from obliv._util.files import pack
from obliv._util.progress import Progress, rising
from obliv._util.text import plural
from obliv.errors import InputError, TrafficError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic
from obliv.questions.disjoint import largest_disjoint
from obliv.questions.subject import Subject, identity, loads_of, sources_of, subject_of
from obliv.questions.worst_case import FLOWS, WorstCase, WorstTraffic, named_channel, solved_worst_case
from obliv.results.base import CERTIFICATE, Bar, Bars, Channel, Mark, Result
from obliv.results.codec import PACKED, Codec, Record, codec_of, derived, entry
from obliv.results.numbers import Bounds, Estimate, bounded, bounds_of, percent, short, shown
from obliv.results.study import NO_BOUND
from obliv.topologies.base import Instead, Topology, find
from obliv.topologies.families.trees import xgft
from obliv.topologies.trees import NumberedPaths, Tree, bound_of

# Where the best routing of any traffic is known: trees whose split over all paths loads no link beyond a host's


def all_paths_worst(tree: Tree) -> Fraction:
    """Return the exact worst case of all shortest paths, equally likely, on a tree with all its hosts.

    A pair that crosses height h uses each of the ``width[h + 1]`` links of its sub-tree there with the same share; of
    disjoint pairs as many cross as the sub-tree has hosts, or as there are others.
    """
    hosts = tree.below[-1]
    crossing = [min(below, hosts - below) for below in tree.below[:-1]]
    return max(Fraction(pairs, tree.width[height + 1]) for height, pairs in enumerate(crossing))


def has_base_load(topology: Topology) -> bool:
    """Return whether the least largest load of every traffic is known to be its base load; see `require_base_load`."""
    try:
        require_base_load(topology)
    except InputError:
        return False
    return True


def require_base_load(topology: Topology) -> Tree:
    """Return the topology as a tree on which the least largest load of every traffic is its base load.

    The base load, the most that a host sends or takes, is a lower bound where every host has one link; the split over
    all shortest paths reaches it where its own worst case is 1 (Yuan et al., Theorem 1 and Corollary 1 for FT(m, n)).
    By linearity that is enough: a traffic of base load b loads no link beyond b.
    """
    spec = topology.spec
    instead = "obliv worst gives its guaranteed throughput instead"
    if not isinstance(topology, Tree):
        known = find(topology, Instead)
        reason = known.ratio if known is not None else "the best routing of every traffic is known on fat trees only"
        raise InputError(f"{spec}: {reason}; {instead}")
    if topology.bandwidth or not topology.unit_rates:
        raise InputError(f"{spec}: the best routing of every traffic is known for equal links only; {instead}")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise InputError(f"{spec}: the best routing of every traffic is known where every host sends; {instead}")
    if topology.parents[0] != 1:
        links = topology.parents[0]
        raise InputError(f"{spec}: hosts have {links} links, so what they send is not a lower bound; {instead}")
    worst = all_paths_worst(topology)
    if worst > 1:
        raise InputError(
            f"{spec} is tapered: even all paths together load a link by {worst} where a host's own has 1, "
            f"so the best routing of every traffic is not known; {instead}"
        )
    _require_useful_levels(topology)
    return topology


def _require_useful_levels(tree: Tree) -> None:
    """Refuse levels above all hosts that are too narrow for them: no shortest path uses them, a claim could not say so.

    The check of a claim splits what hosts send over all ways to the top, where these links would carry too much.
    """
    height = tree.below.index(tree.below[-1])
    if any(tree.below[-1] > wide for wide in tree.width[height + 1 :]):
        raise InputError(
            f"{tree.spec}: all hosts are below each switch of level {height}, the narrow levels above serve no host; "
            f"leave them out: {xgft(tree.children[:height], tree.parents[:height]).spec}"
        )


# The results of analyses of the oblivious performance ratio


_EXACT = codec_of(Fraction)


def _whole(data: Any) -> int:
    bound = _EXACT.decode(data)
    if bound.denominator != 1:
        raise ValueError(f"{bound} where a whole number is expected")
    return int(bound)


@dataclass(frozen=True, repr=False)
class Ratio(Result):
    """The oblivious performance ratio: the largest link load divided by that of the best routing, over all traffic.

    A permutation shows it on fat trees with a closed form, elsewhere a traffic matrix that some routing carries without
    loading a channel by more than its bandwidth.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.DModK(obliv.fattree(8, 2)))
    ratio: dmodk on fattree:8,2
      ratio         4
      attained at   36: ((0),1) -> ((0),0)
      single paths  at least 2 (Yuan et al., Theorem 3)
    """

    kind: ClassVar[str] = "ratio"
    on_network: ClassVar[bool] = True

    ratio: Fraction | Bounds = entry(Fraction(1), label="ratio", column="ratio")

    @property
    @derived(
        label="gap",
        text=lambda ratio: None if ratio.gap is None else percent(ratio.gap),
        omit=lambda ratio: ratio.gap is None,
    )
    def gap(self) -> Fraction | None:
        """How far apart the bounds are, relative to the lower one; None if the ratio is exact."""
        return self.upper / self.lower - 1 if isinstance(self.ratio, Bounds) else None

    @property
    def lower(self) -> Fraction:
        """The ratio, or its proved lower bound."""
        return self.ratio.lower if isinstance(self.ratio, Bounds) else self.ratio

    @property
    def upper(self) -> Fraction:
        """The ratio, or its proved upper bound."""
        return self.ratio.upper if isinstance(self.ratio, Bounds) else self.ratio

    channel: Channel | None = entry(
        None,
        label="attained at",
        text=lambda ratio: "{}: {} -> {}".format(ratio.channel.id, *ratio.names) if ratio.channel else "-",
        column="channel",
        reason="the network has no channels",
    )
    names: tuple[str, str] = entry(
        ("", ""), key="channel_names", compare=False, omit=lambda ratio: ratio.channel is None
    )
    permutation: tuple[int, ...] = entry((), codec=PACKED, omit=lambda ratio: ratio.traffic is not None)
    traffic: tuple[tuple[int, int, Fraction], ...] | None = entry(
        None,
        codec=FLOWS,
        omit=lambda ratio: ratio.traffic is None,
        label="traffic",
        text=lambda ratio: None if ratio.traffic is None else plural(len(ratio.traffic), "flow"),
    )
    lower_bound: int | None = entry(
        None,
        codec=Codec(lambda bound: _EXACT.encode(Fraction(bound)), _whole),
        label="single paths",
        text=lambda ratio: ratio.bound_text,
        column="lower_bound",
        reason=lambda ratio: ratio.lower_bound_source,
    )
    lower_bound_source: str = entry("", omit=lambda ratio: ratio.lower_bound is None)
    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda ratio: ratio.certificate is None, rank=2
    )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        source = data.get("lower_bound_source", data.get("lower_bound_reason", ""))
        return super().from_dict({**data, "lower_bound_source": source})

    def worst_traffic(self) -> WorstTraffic:
        """Return what a picture shows: the best routing of this traffic loads no channel by more than its bandwidth."""
        case = WorstCase(
            topology=self.topology,
            routing=self.routing,
            subject=self.subject,
            channel_load=self.lower,
            channel=self.channel,
            permutation=self.permutation or None,
            traffic=self.traffic,
            certificate=self.certificate,
        )
        return WorstTraffic(case, ["{subject}", f"performance ratio {short(self.ratio)}"])

    @property
    def optimal(self) -> bool:
        """Whether the ratio attains the lower bound for single-path routings."""
        return self.lower_bound is not None and self.ratio == self.lower_bound

    @property
    def bound_text(self) -> str | None:
        """The lower bound as text; None if there is none."""
        if self.lower_bound is None:
            return None
        best = ", so this one is optimal" if self.optimal else ""
        return f"at least {self.lower_bound} ({self.lower_bound_source}){best}"


@dataclass(frozen=True)
class PatternRatio(Record):
    """The performance ratio under one traffic pattern, by its spec, and the two loads that it divides."""

    traffic: str = entry(column="traffic")
    ratio: Fraction | Bounds | Estimate = entry(column="ratio")
    channel_load: Fraction | Bounds | Estimate | None = entry(
        None, column="channel_load", omit=lambda row: row.channel_load is None
    )
    optimal_load: Fraction | Bounds | Estimate | None = entry(
        None, column="optimal_load", omit=lambda row: row.optimal_load is None
    )

    @property
    def text(self) -> str:
        """The ratio in words; of a single pattern with the largest link load and the least possible one."""
        ratio = f"ratio {shown(self.ratio)}"
        if isinstance(self.ratio, Estimate) or self.channel_load is None:
            return ratio
        return f"{ratio} (load {shown(self.channel_load)}, least possible {shown(self.optimal_load)})"


@dataclass(frozen=True, repr=False)
class TrafficRatio(Result):
    """The performance ratio of a routing under single traffic patterns.

    Examples
    --------
    >>> import obliv
    >>> obliv.traffic_ratio(obliv.DModK(obliv.fattree(8, 2)), "shift:1", "shift:5")
    traffic-ratio: dmodk on fattree:8,2
      shift:1  ratio 1 (load 1, least possible 1)
      shift:5  ratio 1 (load 1, least possible 1)
      largest  1
    """

    kind: ClassVar[str] = "traffic-ratio"
    table: ClassVar[str] = "patterns"

    @property
    @derived()
    def ratio(self) -> Fraction | Bounds | Estimate | None:
        """The largest of the ratios."""
        ratios = [row.ratio for row in self.patterns]
        if any(isinstance(ratio, Bounds) for ratio in ratios):
            bounds = [bounds_of(ratio) for ratio in ratios if not isinstance(ratio, Estimate)]
            return bounded(max(lower for lower, _ in bounds), max(upper for _, upper in bounds))
        return max((ratio for ratio in ratios if not isinstance(ratio, Bounds)), key=float, default=None)

    patterns: tuple[PatternRatio, ...] = ()
    adaptive: bool = entry(False, omit=lambda result: not result.adaptive)

    @property
    @derived(omit=lambda result: result.loss is None)
    def loss(self) -> Fraction | Bounds | Estimate | None:
        """How much larger the largest load is than over all paths, relative to it; None without adaptive rates."""
        ratio = self.ratio
        if not self.adaptive or ratio is None:
            return None
        if isinstance(ratio, Bounds):
            return Bounds(ratio.lower - 1, ratio.upper - 1)
        return replace(ratio, value=ratio.value - 1) if isinstance(ratio, Estimate) else ratio - 1

    certificate: dict[str, Any] | None = entry(
        None, codec=CERTIFICATE, omit=lambda ratio: ratio.certificate is None, rank=2
    )

    def summary(self) -> list[tuple[str, str]]:
        lines = [(row.traffic, row.text) for row in self.patterns]
        if len(lines) > 1:
            lines.append(("largest", shown(self.ratio)))
        if self.adaptive:
            lines.append(("rates", "the best for each traffic over the paths of the routing"))
            lines.append(("loss", _loss(self.loss)))
        return lines

    def bars(self) -> Bars:
        """Return the ratio under each pattern."""
        estimated = " (estimated)" if isinstance(self.ratio, Estimate) else ""
        heading = ["{subject}", f"largest ratio {short(self.ratio)}{estimated}"]
        rates = ["with the best rates over its paths"] if self.adaptive else []
        bars = [Bar(row.traffic, row.ratio) for row in self.patterns]
        best = Mark(1.0, "best routing of each pattern", "right")
        return Bars(bars, "performance ratio", heading, rates, [best], 1.0)


def _loss(loss: Fraction | Bounds | Estimate | None) -> str:
    """Return in words what fewer paths than all cost."""
    if loss is None or loss == 0:
        return "0 %: no more load than over all paths"
    most = loss.upper if isinstance(loss, Bounds) else loss
    about = "about " if isinstance(loss, Estimate) else "at most " if isinstance(loss, Bounds) else ""
    return f"{about}{percent(most, 3)} more load than over all paths"


def tree_ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the ratio on a tree that carries every traffic at its base load; see `obliv.ratio`."""
    began = time.perf_counter()
    step = rising(progress)
    subject = subject_of(x, "ratio")
    tree = require_base_load(subject.topology)
    loads = loads_of(subject, "ratio", step).without_self()
    single, numbered = loads.denominator == 1, find(loads, NumberedPaths)
    solve = _worst if numbered is None else _disjoint
    value, channel, permutation, proof = solve(loads, certificate, step)
    climbs = numbered is not None or (single and _all_shortest(loads, tree))
    bound = bound_of(tree) if climbs else None
    place, names = named_channel(tree, channel)
    if proof is not None:
        proof["sources"] = dict(sources_of(subject))
    return Ratio(
        **identity(subject, began),
        subject=x,
        ratio=value,
        channel=place,
        permutation=permutation,
        lower_bound=None if bound is None else bound[0],
        lower_bound_source=bound[1]
        if bound is not None
        else NO_BOUND["tree" if climbs else "longer" if single else "several"],
        certificate=proof,
        names=names,
    )


def _all_shortest(loads: PairLoads, tree: Tree) -> bool:
    """Return whether single paths are as long together as shortest ones, which climb and then come down."""
    hosts = tree.below[-1]
    least = 2 * hosts * sum(hosts - below for below in tree.below[:-1])  # every height up and down by those that cross
    return int(loads.totals().sum()) == least


Answer = tuple[Fraction, int, tuple[int, ...], dict[str, Any] | None]  # ratio, channel, permutation, certificate


def _disjoint(loads: PairLoads, certificate: bool, step: Progress) -> Answer:
    largest = largest_disjoint(loads, progress=step)
    image = dict(largest.pairs)
    free = iter(sorted(set(range(loads.terminals)) - set(image.values())))
    permutation = tuple(image[s] if s in image else next(free) for s in range(loads.terminals))
    proof = None
    if certificate:
        covered = sorted(largest.covers)
        number = {c: k for k, c in enumerate(covered)}
        proof = {
            "denominator": 1,
            "permutation": list(permutation),
            "duals": [pack(largest.covers[c].astype("int64")) for c in covered],
            "generators": [],
            "channels": [[number[c], []] if c in number else "simple" for c in range(loads.topology.channels)],
        }
    return Fraction(largest.size), largest.channel, permutation, proof


def _worst(loads: PairLoads, certificate: bool, step: Progress) -> Answer:
    result, _ = solved_worst_case(loads, certificate=certificate, progress=step, capacity=False)
    if not isinstance(result.channel_load, Fraction) or result.permutation is None:
        raise InputError(f"{loads.topology.spec}: the ratio needs exact loads between terminals of rate 1")
    return result.channel_load, result.channel.id if result.channel else -1, result.permutation, result.certificate


# The largest link load under one traffic, and that of its best routing where a closed form gives it


def base_load(traffic: Traffic) -> Fraction:
    """Return the most that a terminal sends to others, or takes: what its own link carries under any routing."""
    n = traffic.terminals
    leaving = traffic.source != traffic.destination
    amount = addable(traffic.amount[leaving])
    largest = 0
    for side in (traffic.source, traffic.destination):
        sums = np.zeros(n, amount.dtype)
        np.add.at(sums, side[leaving], amount)
        largest = max(largest, int(sums.max(initial=0)))
    return Fraction(largest, traffic.denominator) + (traffic.uniform * Fraction(n - 1, n) if n else 0)


def max_link_load(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic (Yuan et al., MLOAD); self-traffic counts for nothing.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> max_link_load(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    return loads.without_self().largest_under(traffic)


def optimal_load(topology: Topology, traffic: Traffic) -> Fraction:
    """Return the least largest link load of any routing under a traffic (Yuan et al., OPTU), which is its base load.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> optimal_load(tree, obliv.traffic("ring", tree))
    Fraction(1, 1)
    """
    require_base_load(topology)
    return base_load(traffic)


def performance(loads: PairLoads, traffic: Traffic) -> Fraction:
    """Return the largest link load of a routing under a traffic over that of the best routing (Yuan et al., PERF).

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.fattree(8, 3)
    >>> performance(obliv.DModK(tree).pair_loads(), obliv.traffic("ring", tree))
    Fraction(3, 1)
    """
    optimal = optimal_load(loads.topology, traffic)
    require_packets(traffic, optimal)
    return max_link_load(loads, traffic) / optimal


def require_packets(traffic: Traffic, optimal: Fraction) -> None:
    """Refuse traffic that loads nothing under any routing."""
    if not optimal:
        raise TrafficError(f"{traffic.spec}: no terminal sends to another one, so that no routing loads anything")
