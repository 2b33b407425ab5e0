"""The oblivious performance ratio of a routing on a fat tree."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

from obliv._util.progress import Progress, rising
from obliv.analysis.ratios.disjoint import largest_disjoint
from obliv.analysis.ratios.optimum import require_base_load
from obliv.analysis.subject import Subject, identity, loads_of, sources_of, subject_of
from obliv.analysis.worst_case.exact import named_channel, solved_worst_case
from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.results import pack
from obliv.results.analysis.ratio import Ratio
from obliv.results.verification import NO_BOUND
from obliv.topologies.tree_bounds import bound_of
from obliv.topologies.trees import Tree

__all__ = ["tree_ratio"]


def tree_ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the oblivious performance ratio on a tree that carries every traffic at its base load; see `obliv.ratio`.

    Raises
    ------
    InputError
        If the best routing of every traffic is not known on this topology.
    """
    began = time.perf_counter()
    step = rising(progress)
    subject = subject_of(x, "ratio")
    tree = require_base_load(subject.topology)
    loads = loads_of(subject, "ratio", step).without_self()
    single, numbered = loads.denominator == 1, loads.numbered_paths
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
