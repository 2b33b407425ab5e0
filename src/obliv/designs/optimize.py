"""The design of a routing (linear program, lower bound, explicit paths), also within the next hops of another."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory, rising, silent
from obliv._util.progress import within as share_of
from obliv._util.rationals import boolean, integer, real
from obliv._util.rationals import exact as exact_number
from obliv._util.rng import Rng, drawn_seed
from obliv.designs.average import average_design, require_average
from obliv.designs.bounds.congestion import require_connected
from obliv.designs.bounds.lower import permutation_line
from obliv.designs.design import Design
from obliv.designs.network_ratios.best import design_ratio
from obliv.designs.programme import Programme, States, Symmetry, feasible_states, symmetry_of, worst_case_programme
from obliv.designs.search import WorstCaseSearch
from obliv.designs.supports import at_least_one, few_paths, limits
from obliv.errors import InputError, Interrupted
from obliv.questions.subject import with_known_capacity
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.routings.listed import Listed
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Number, Topology, find
from obliv.topologies.make import topology as topology_of

# Designs within the next hops of a routing: each pair splits its packets over the channels that these allow it


def channels_of_pairs(routing: Routing) -> Array:
    """Return the channels that next hops can lead each pair over.

    Shape: (terminals, terminals, channels).
    """
    topology, hops = routing.topology, find(routing, NextHops)
    if hops is None or routing.partial:
        raise InputError(
            f"{routing.spec} does not bound a design: next hops must depend on node and destination only, for all pairs"
        )
    terminals = topology.terminals.tolist()
    count = len(terminals)
    require_memory(2.0 * count**2 * topology.channels, f"the channels of all pairs of {topology.spec}")
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    used = np.zeros((count, count, topology.channels), bool)
    for d, destination in enumerate(terminals):
        legal = np.unique(hops.hops_to(destination).channel)
        reached = np.zeros((topology.nodes, count), bool)  # by node and source
        reached[terminals, np.arange(count)] = True
        before = -1
        while (now := int(reached.sum())) != before:
            before = now
            np.logical_or.at(reached, head[legal], reached[tail[legal]])
        used[:, d, legal] = reached[tail[legal]].T
    return used


def keeping(topology: Topology, symmetry: Symmetry, used: Array) -> Symmetry:
    """Return the symmetries that take the channels of every pair to those of its image."""
    ends = np.arange(len(topology.terminals))
    kept = []
    for maps in symmetry.generators:
        image = used[np.ix_(maps.terminals[ends], maps.terminals[ends], maps.channels)]
        if np.array_equal(image, used):
            kept.append(maps)
    opposite = symmetry.opposite
    if opposite is not None and not np.array_equal(used.transpose(1, 0, 2)[:, :, opposite], used):
        opposite = None
    return replace(symmetry, generators=tuple(kept), opposite=opposite, to_first_node=None, to_first_channel=None)


_VERTEX_ROWS = 5000  # up to which the simplex method is fast, and its vertices are simple rationals
_SAMPLES = 50  # permutations of the objective average


def design(
    topology: Topology | str,
    *,
    objective: str = "worst",
    then: str | None = "default",
    max_hops: Number | None = None,
    minimal: bool = False,
    max_turns: int | None = None,
    vc: int | None = None,
    paths: int | None = None,
    quantize: int | None = None,
    within: Routing | str | None = None,
    gap: float | None = None,
    exact: bool | None = None,
    samples: int | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Design:
    """Design the oblivious routing with the least worst-case channel load of all, or with the least ratio.

    Parameters
    ----------
    topology : Topology or str
    objective : {"worst", "ratio", "average"}
        What to minimize: the worst-case channel load over admissible traffic; the oblivious performance ratio, the
        largest load divided by that of the best routing of the same traffic, over all traffic; or, among the routings
        with the least worst case, the mean of the largest load over random permutations.
    then : {"hops", None}
        What to minimize among the best routings; by default the hops where the objective is the worst case.
    max_hops : number, optional
        Limit of the mean hops over all ordered pairs of terminals, self-pairs included.
    minimal : bool
        Whether paths must be shortest paths; with `max_turns` or `vc`, the shortest that these allow.
    max_turns : int, optional
        Limit of the changes of dimension of a path on a mesh, torus or hypercube; paths do not turn by 180 degrees.
    vc : int, optional
        Number of virtual channels with which the routing is free of deadlock under a known scheme: ``turn`` on meshes
        and hypercubes, ``turn+dateline`` on tori, ``updown`` on other networks.
    paths : int, optional
        Limit of the paths of a pair. The lower bound holds for any number of paths; ``loss`` says how far above it the
        routing is. One more path never makes it worse.
    quantize : int, optional
        Weights are multiples of one over this number, as in the tables of switches.
    within : Routing or str, optional
        A routing by next hops, whose channels alone may be used, for each pair those that its next hops can lead to:
        what the best split of each pair over them guarantees, such as ``ecmp`` or groups of adaptive routing.
    gap : float
        Relative distance between the objective and its proved lower bound at which the search may end; by default 1e-4,
        and 1e-3 for a ratio.
    exact : bool, optional
        Whether to look for rational numbers at which both bounds meet: always, never, or by default where the linear
        program is small.
    samples : int, optional
        Number of random permutations whose mean is minimized, with the objective ``average``; default 50. The average
        in the result is estimated on others.
    rng : numpy.random.Generator or int, optional
        Source of the seed of the permutations, or the seed itself; default 0.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Design
        The routing is its ``subject``. Its worst case is exact; how far it is from the optimum is proved. No number is
        believed from the solver: lengths of channels prove the lower bound, the upper one is the exact worst case of
        explicit paths. :func:`obliv.verify` checks both.

    Raises
    ------
    InputError
        If an option is invalid, or no routing has so few hops, turns or virtual channels.
    MissingExtraError
        If the solver (highspy) is not installed.
    TooLargeError
        If the linear program would not fit in memory.

    References
    ----------
    [TD02] B. Towles, W. J. Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002.

    [AC03] D. Applegate, E. Cohen, "Making intra-domain routing robust to changing and uncertain traffic demands",
    SIGCOMM 2003.

    Examples
    --------
    >>> import obliv
    >>> best = obliv.design("mesh:3x3")
    >>> best.channel_load, best.hops
    (Fraction(7, 6), Fraction(64, 27))
    >>> obliv.design("complete:4", objective="ratio").ratio
    Fraction(3, 2)
    """
    minimal = boolean(minimal, "minimal")
    began = time.perf_counter()
    then, gap = _goal(objective, then, gap)
    paths, quantize = at_least_one(paths, "paths"), at_least_one(quantize, "quantize")
    options = {"then": then, "max_hops": max_hops, "max_turns": max_turns, "vc": vc, "paths": paths}
    require_options(objective, options | {"quantize": quantize, "samples": samples, "rng": rng})
    paths, quantize = (
        None if value is None else integer(value, name) for name, value in (("paths", paths), ("quantize", quantize))
    )
    if not (exact is None or isinstance(exact, bool)):
        raise InputError(f"exact={exact!r:.40}: choose True, False, or None to try it where the network is small")
    limited = minimal or any(value is not None for value in (max_hops, max_turns, vc, paths, quantize))
    if within is not None and (objective != "worst" or limited):
        raise InputError("within is for the objective worst, without limits of hops, turns, paths and weights")
    samples, seed = at_least_one(_SAMPLES if samples is None else samples, "samples") or 0, drawn_seed(rng)
    draws = (samples, seed) if objective == "average" else None
    network = with_known_capacity(topology_of(topology))
    require_connected(network)
    if draws and not network.unit_rates:
        raise InputError(f"{network.spec}: random permutations need terminals of rate 1; choose another objective")
    states, rule = feasible_states(network, max_turns, vc)
    limit, minimal = _hop_limit(states, max_hops, minimal)
    bounding = None if within is None else routing_of(within, network)
    if bounding is not None:
        rule = f"within {bounding.spec}"
    few = limits(paths, quantize)
    constraints = (*filter(None, ("minimal" if minimal else "", rule, f"hops ≤ {limit}" if limit else "")), *few)
    step = rising(progress)
    step("linear program", 0.0)
    if objective == "ratio":
        return design_ratio(
            network, constraints, then=then == "hops", limit=limit, minimal=minimal, gap=gap, exact=exact, progress=step
        )
    programme = _programme(states, bounding, minimal, step)
    if draws:
        require_average(programme, samples)
    vertices = programme.matrix.shape[0] <= _VERTEX_ROWS if exact is None else exact
    search = WorstCaseSearch(programme, limit, gap, vertices, load_line=permutation_line(programme))

    def result() -> Design:
        best = _with_sources(search.result(constraints, time.perf_counter() - began), bounding)
        return average_design(best, *draws) if draws else best

    def routings(progress: Progress) -> Iterator[Listed]:
        free = states.plain and not minimal
        return few_paths(programme, search.listed, paths, quantize, free=free, progress=progress)

    try:
        _minimize(search, then is not None, draws, share_of(step, 0.0, 0.3) if few else step)
        if few:
            search.replace(routings(share_of(step, 0.3, 1.0)))
    except KeyboardInterrupt:
        if search.best is None:
            raise
        if few and not search.replaced:
            search.replace(islice(routings(silent), 1))
        raise Interrupted("the best routing so far", result()) from None
    return result()


def _goal(objective: str, then: str | None, gap: float | None) -> tuple[str | None, float]:
    """Return what to minimize after the objective, and the gap at which to stop, with their defaults."""
    if objective not in ("worst", "ratio", "average"):
        raise InputError.naming("{objective}={0!r}: choose worst, ratio or average", objective)
    if then not in ("hops", "default", None):
        raise InputError.naming("{then}={0!r}: choose hops, or None", then)
    gap = (1e-3 if objective == "ratio" else 1e-4) if gap is None else real(gap, "gap")
    if not 0 < gap < 1:
        raise InputError(f"a gap of {gap:g}: choose a number between 0 and 1, such as 1e-4")
    return None if then == "default" and objective != "worst" else then, gap


def _programme(states: States, bounding: Routing | None, minimal: bool, progress: Progress) -> Programme:
    """Return the linear program of the legal paths, those within another routing where there is one."""
    network = states.topology
    symmetry, used = symmetry_of(network, search=True), None
    if bounding is not None:
        used = channels_of_pairs(bounding)
        symmetry = keeping(network, symmetry, used)
    return worst_case_programme(network, symmetry, states, minimal=minimal, used=used, progress=progress)


def _minimize(search: WorstCaseSearch, then: bool, draws: tuple[int, int] | None, progress: Progress) -> None:
    """Minimize the worst case, then the mean load of permutations that are drawn, or the hops."""
    if then and search.minimize_both(progress):
        return
    search.minimize_load(share_of(progress, 0.0, 0.5) if then or draws else progress)
    if draws:
        search.minimize_average(*draws, share_of(progress, 0.5, 1.0))
    if then:
        search.minimize_hops(share_of(progress, 0.5, 1.0))


def _with_sources(best: Design, bounding: Routing | None) -> Design:
    """Return a design whose provenance names the files of the routing within which it is, too."""
    if bounding is None or not bounding.sources:
        return best
    sources = best.provenance.sources | dict(bounding.sources)
    return replace(best, provenance=replace(best.provenance, sources=sources))


def require_options(objective: str, options: Mapping[str, Any]) -> None:
    """Raise InputError for options that the objective does not take, that exclude each other, or are not numbers."""
    if (hops := options.get("max_hops")) is not None and exact_number(hops) is None:
        raise InputError(f"max_hops: {hops!r:.40} is not a number; write for example 2.5 or 64/27")
    given = {name for name, value in options.items() if value is not None}
    if "max_hops" in given and given & {"paths", "quantize"}:
        raise InputError.naming(
            "{max_hops} cannot be combined with {paths} or {quantize}; choose {minimal}, or neither"
        )
    if objective != "average" and given & {"samples", "rng"}:
        raise InputError.naming("{samples} and {rng} are for the objective average: leave them out")
    if objective == "average" and given - {"samples", "rng"}:
        raise InputError.naming(
            "the objective average cannot be combined with {then}, {max_hops}, {max_turns}, {vc}, {paths} or {quantize}"
        )
    if objective == "ratio" and given & {"max_turns", "vc", "paths", "quantize"}:
        raise InputError("the least ratio is designed without limits of turns, virtual channels, paths and weights")


def _hop_limit(states: States, max_hops: Number | None, minimal: bool) -> tuple[Fraction | None, bool]:
    """Return the limit of the mean hops, if any, and whether only shortest paths are allowed, which need no limit."""
    if max_hops is None:
        return None, minimal
    limit = exact_number(max_hops) or Fraction(0)
    least = states.least_hops
    if limit < least:
        raise InputError(f"at most {max_hops} hops: shortest paths take {least} = {float(least):.6g} on average")
    return (None, True) if limit == least else (limit, minimal)
