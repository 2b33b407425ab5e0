"""The traffic that attains a worst case, and what each of its pairs puts on the worst channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic, from_flows, permutation
from obliv.results import Estimate, WorstCase
from obliv.topologies.base import Topology

__all__ = ["Flow", "Witness", "witness"]

Flow = tuple[int, int, float]  # source and destination terminal, and what the pair puts on the worst channel


@dataclass(frozen=True)
class Witness:
    """The traffic of a worst case on its channel, the pair loads that it makes, and its pairs by what they do.

    ``strong`` pairs load the worst channel, ``weak`` ones do not, ``fixed`` terminals send to themselves without
    loading it.
    """

    channel: int
    loads: PairLoads
    traffic: Traffic
    strong: tuple[Flow, ...]
    weak: tuple[Flow, ...]
    fixed: tuple[Flow, ...]

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.loads.topology

    @property
    def estimated(self) -> bool:
        """Whether the loads are estimates."""
        return self.loads.samples is not None

    @property
    def label(self) -> str:
        """What the loads are called: estimates say so."""
        return "channel load (estimated)" if self.estimated else "channel load"


def witness(result: WorstCase) -> Witness:
    """The traffic of a worst case; the routing is made again from its spec where it is not at hand.

    Raises
    ------
    InputError
        If the result does not say enough.
    """
    if not result.channel:
        raise InputError(f"{result.topology} has no channels: there is no worst case to draw")
    loads = _pair_loads(result)
    if result.traffic is not None:
        amounts = {(s, d): amount for s, d, amount in result.traffic}
        traffic = from_flows("worst case", loads.terminals, amounts, Fraction(0))
    elif result.permutation is not None:
        amounts = {(s, d): Fraction(1) for s, d in enumerate(result.permutation)}
        traffic = permutation(result.permutation, "worst case")
    else:
        raise InputError(f"this worst case of {result.routing} holds no traffic that could be drawn")
    share = _shares(loads, result.channel.id, amounts)
    flows = [(s, d, share.get((s, d), 0.0)) for s, d in sorted(amounts)]
    return Witness(
        result.channel.id,
        loads,
        traffic,
        strong=tuple(sorted((flow for flow in flows if flow[2] > 0), key=lambda flow: flow[2])),
        weak=tuple(flow for flow in flows if flow[2] == 0 and flow[0] != flow[1]),
        fixed=tuple(flow for flow in flows if flow[2] == 0 and flow[0] == flow[1]),
    )


def _shares(loads: PairLoads, channel: int, amounts: dict[tuple[int, int], Fraction]) -> dict[tuple[int, int], float]:
    whole = loads.denominator * loads.topology.bandwidth_of(channel)
    row, col, weight = loads.weights(channel).spread()
    pairs = zip(np.asarray(row).tolist(), np.asarray(col).tolist(), np.asarray(weight).tolist(), strict=True)
    return {(s, d): float(amounts[s, d] * w / whole) for s, d, w in pairs if (s, d) in amounts}


def _pair_loads(result: WorstCase) -> PairLoads:
    import obliv

    subject = result.subject
    if isinstance(subject, PairLoads):
        return subject
    if subject is None:
        if result.routing == "pair loads":
            raise InputError("this result was made from pair loads and names no routing: draw it before it is saved")
        subject = obliv.routing(result.routing, obliv.topology(result.topology))
    if not isinstance(result.channel_load, Estimate):
        made: PairLoads = subject.pair_loads()
        return made
    # The traffic was chosen as the worst for one sample of paths, and on that sample its load looks larger than it is.
    # So paths are drawn afresh, from a stream that no seed of a search gives.
    fresh = np.random.default_rng(np.random.SeedSequence(0).spawn(1)[0])
    made = subject.pair_loads(result.channel_load.samples, fresh)
    return made
