"""The traffic that attains a worst case, and the load of each of its pairs on the worst channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from obliv.errors import InputError
from obliv.loads.base import PairLoads
from obliv.patterns.base import Traffic, from_flows
from obliv.patterns.matrices import permutation
from obliv.results import Estimate, WorstCase
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology
from obliv.topologies.carried import network_of

__all__ = ["Flow", "Witness", "network_named", "witness"]

Flow = tuple[int, int, float]  # source and destination terminal, load of the pair on the worst channel


@dataclass(frozen=True)
class Witness:
    """The traffic of a worst case, with its pairs by their load on the worst channel.

    Parameters
    ----------
    channel : int
        The worst channel.
    loads : PairLoads
        The pair loads of the routing.
    traffic : Traffic
        The worst traffic.
    strong, weak, fixed : tuples of Flow
        Pairs that load the worst channel, other pairs, and terminals that send to themselves without loading it.
    routing : Routing, optional
        The routing, where the result is not about given pair loads.
    """

    channel: int
    loads: PairLoads
    traffic: Traffic
    strong: tuple[Flow, ...]
    weak: tuple[Flow, ...]
    fixed: tuple[Flow, ...]
    routing: Routing | None = None

    @property
    def topology(self) -> Topology:
        """Network of the routing."""
        return self.loads.topology

    @property
    def estimated(self) -> bool:
        """Whether the loads are estimates."""
        return self.loads.samples is not None

    @property
    def label(self) -> str:
        """Label of the loads."""
        return "channel load (estimated)" if self.estimated else "channel load"


def witness(result: WorstCase) -> Witness:
    """Return the traffic of a worst case; the routing of a loaded result is created from its spec.

    InputError if the result has no channel, no traffic or no routing.
    """
    if not result.channel:
        raise InputError(f"{result.topology} has no channels: there is no worst case to draw")
    analyzed = _analyzed(result)
    loads = analyzed if isinstance(analyzed, PairLoads) else _pair_loads(analyzed, result)
    if result.traffic is not None:
        amounts = {(s, d): amount for s, d, amount in result.traffic}
        traffic = from_flows("worst case", loads.terminals, amounts, Fraction(0))
    elif result.permutation is not None:
        amounts = {(s, d): Fraction(1) for s, d in enumerate(result.permutation)}
        traffic = permutation(result.permutation, "worst case")
    else:
        raise InputError(f"this worst case of {result.routing} contains no traffic to draw")
    share = _shares(loads, result.channel.id, amounts)
    flows = [(s, d, share.get((s, d), 0.0)) for s, d in sorted(amounts)]
    return Witness(
        result.channel.id,
        loads,
        traffic,
        strong=tuple(sorted((flow for flow in flows if flow[2] > 0), key=lambda flow: flow[2])),
        weak=tuple(flow for flow in flows if flow[2] == 0 and flow[0] != flow[1]),
        fixed=tuple(flow for flow in flows if flow[2] == 0 and flow[0] == flow[1]),
        routing=None if isinstance(analyzed, PairLoads) else analyzed,
    )


def _shares(loads: PairLoads, channel: int, amounts: dict[tuple[int, int], Fraction]) -> dict[tuple[int, int], float]:
    whole = loads.denominator * loads.topology.bandwidth_of(channel)
    row, col, weight = loads.weights(channel).spread()
    pairs = zip(np.asarray(row).tolist(), np.asarray(col).tolist(), np.asarray(weight).tolist(), strict=True)
    return {(s, d): float(amounts[s, d] * w / whole) for s, d, w in pairs if (s, d) in amounts}


def network_named(result: WorstCase) -> Topology | str:
    """Return the network inside the certificate of a result that was loaded, or else the spec of its network."""
    proof = result.certificate or {}
    if "network" not in proof:
        return result.topology
    rows = proof["channels"] if "channels" in proof else proof["lengths"]  # one of every channel
    return network_of(proof["network"], result.topology, len(rows))


def _analyzed(result: WorstCase) -> Routing | PairLoads:
    """Return what a result is about; the routing of a loaded result is built from its spec."""
    if isinstance(result.subject, PairLoads | Routing):
        return result.subject
    if result.routing == "pair loads":
        raise InputError("this result was computed from pair loads and names no routing; draw it before saving it")
    return routing_of(result.routing, network_named(result))


def _pair_loads(routing: Routing, result: WorstCase) -> PairLoads:
    if not isinstance(result.channel_load, Estimate):
        return routing.pair_loads()
    # The traffic is the worst for one sample of paths, so its load on that sample is biased upwards. Draw new paths,
    # from a stream that no seed of a search gives.
    fresh = np.random.default_rng(np.random.SeedSequence(0).spawn(1)[0])
    return routing.pair_loads(result.channel_load.samples, fresh)
