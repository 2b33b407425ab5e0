"""K paths per pair drawn from another oblivious routing."""

from __future__ import annotations

from collections import Counter

import numpy as np

from obliv._util.arrays import whole
from obliv._util.cost import require_memory
from obliv._util.rationals import integer
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.routings.base import Routing
from obliv.routings.checks import checked_channels, checked_paths, require_all
from obliv.routings.decompose import without_loops
from obliv.routings.listed import Listed, PathList
from obliv.routings.make import routing
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["Sampled"]

_LONGEST = 10**8  # channels of all paths together


@register_routing("sampled", example="sampled:4,base=raecke")
class Sampled(Listed):
    """K paths per pair, drawn from another routing and used equally; loops are removed.

    A path that is drawn twice counts twice. With ``obliv ratio --adaptive`` the rates on the paths follow the traffic
    (semi-oblivious routing).

    Parameters
    ----------
    topology : Topology
    k : int
        Paths drawn per pair.
    base : str
        The spec of the routing that they are drawn from; in parentheses if it has a comma.
    seed : int
        Random seed; the same seed gives the same paths.

    References
    ----------
    G. Zuzic, B. Haeupler, A. Roeyskoe, "Sparse semi-oblivious routing: few random paths suffice", 2023.

    Examples
    --------
    >>> import obliv
    >>> sampled = obliv.routing("sampled:2,base=valiant,seed=1", obliv.mesh(3, 3))
    >>> sum(chance for channels, chance in sampled.paths(0, 8))
    Fraction(1, 1)
    """

    def __init__(self, topology: Topology, k: int, base: str = "raecke", seed: int = 0) -> None:
        k, seed = integer(k, "sampled: k"), integer(seed, "sampled: seed")
        inner = base[1:-1] if base.startswith("(") and base.endswith(")") else base
        named = f"({inner})" if "," in inner else inner
        spec = f"sampled:{k},base={named}" + f",seed={seed}" * (seed != 0)
        if k < 1:
            raise RoutingError(f"{spec}: at least one path per pair is needed")
        if seed < 0:
            raise RoutingError(f"{spec}: a random seed must be 0 or more")
        drawn_from = routing(inner, topology)
        if drawn_from.partial:
            raise RoutingError(f"{spec}: {drawn_from.spec} leaves pairs out; draw from a routing that serves all pairs")
        require_memory(150.0 * k * len(topology.terminals) ** 2, f"{k} paths per pair of {topology.spec}")
        super().__init__(topology, spec, _drawn(drawn_from, k, seed, spec))
        self.sources = drawn_from.sources


def _drawn(base: Routing, k: int, seed: int, spec: str) -> PathList:
    """Return paths of all pairs; a pair's draws do not depend on the other pairs."""
    terminals = base.topology.terminals.tolist()
    counts, hops, amounts = [0], [0], []
    channels: list[int] = []
    for i, source in enumerate(terminals):
        for j, destination in enumerate(terminals):
            paths = _paths(base, source, destination, k, np.random.default_rng([seed, i, j])) if i != j else Counter()
            for path, times in paths.items():
                channels += path
                hops.append(len(channels))
                amounts.append(times)
            counts.append(len(amounts))
        if len(channels) > _LONGEST:
            raise RoutingError(f"{spec}: more than {_LONGEST:,} hops; choose fewer paths or a smaller network")
    pair: Array = np.array(counts, np.int64)
    return PathList(pair, np.array(hops, np.int64), np.array(channels, np.int64), whole(amounts), k)


def _paths(base: Routing, source: int, destination: int, k: int, rng: np.random.Generator) -> Counter[tuple[int, ...]]:
    """Return k random paths without loops, in a fixed order, with how often each was drawn."""
    topology = base.topology
    if type(base).sample is not Routing.sample:
        drawn = [checked_channels(base, source, destination, base.sample(source, destination, rng)) for _ in range(k)]
    else:
        listed = list(checked_paths(base, source, destination))
        require_all(base, source, destination, sum(chance for _, chance in listed))  # type: ignore[arg-type]
        shares = np.array([float(chance) for _, chance in listed])
        choice = rng.choice(len(listed), size=k, p=shares / shares.sum())
        drawn = [listed[number][0] for number in choice.tolist()]
    return Counter(sorted(without_loops(topology, path) for path in drawn))
