"""The check that the best routing of every traffic is known: its largest link load is what a host sends or takes."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from obliv.routing import from_spec
from obliv.topology.topology import Topology
from obliv.topology.tree import Tree
from obliv.verify.claim import Claim
from obliv.verify.flows import source_flows
from obliv.verify.report import Report
from obliv.verify.sums import OutOfTimeError, Prices, Sums

__all__ = ["check_optimum"]


def check_optimum(report: Report, claim: Claim, topology: Topology, end: float) -> None:
    """Note whether no routing does better than a base load, and some routing reaches it for every traffic.

    The first holds where every host has one link each way. The second is shown by equal splits at every hop: their
    simple bound, from next hops that are asked here, is at most 1 on every channel, and loads are linear in traffic.
    """
    ends = (np.bincount(side, minlength=topology.nodes)[topology.terminals] for side in (topology.tail, topology.head))
    if any((links != 1).any() for links in ends) or topology.bandwidth or not topology.unit_rates:
        report.note("optimum", False, "a host has more than one link, or a rate or bandwidth that is not 1")
        return

    def look() -> None:
        if time.perf_counter() > end:
            raise OutOfTimeError

    even = replace(
        claim,
        denominator=prod(topology.parents) if isinstance(topology, Tree) else 1,  # others fail, as they should
        duals=[],
        generators=[],
        channels=["simple"] * topology.channels,
    )
    sums = Sums(even, topology, Prices(even, topology, [], np.int64), np.ones(len(topology.terminals), np.int64))
    try:
        flows = source_flows(from_spec("ecmp", topology), even.denominator, look)
        whole = all(sums.add(i, flows(i)) for i in range(len(topology.terminals))) and sums.flush()
    except OutOfTimeError:
        report.note("optimum", None, "the time ran out before the best routing was checked; raise --budget")
        return
    if not whole:
        report.note("optimum", False, "equal splits cannot be written over a denominator that fits")
        return
    tops = [min(int(sums.total[c]), int(sums.tops_of(c).sum())) for c in range(topology.channels)]
    worst = Fraction(max(tops, default=0), even.denominator)
    detail = "equal splits over shortest paths carry every traffic at its base load, which is the least"
    report.note("optimum", worst <= 1, detail if worst <= 1 else f"equal splits may load a channel by {worst}")
