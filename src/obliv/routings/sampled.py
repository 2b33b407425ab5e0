"""K paths per pair drawn from another oblivious routing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from obliv._util.rationals import integer
from obliv.errors import RoutingError
from obliv.routings.base import Routing
from obliv.routings.congestion import without_loops
from obliv.routings.make import routing
from obliv.routings.paths import Path, checked_channels, checked_paths, require_all
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology


@register_routing("sampled", example="sampled:4,base=raecke")
class Sampled(Routing):
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
    [ZHR23] G. Zuzic, B. Haeupler, A. Roeyskoe, "Sparse semi-oblivious routing: few random paths suffice", 2023.

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
        super().__init__(topology, spec)
        self.base, self.k, self.seed = drawn_from, k, seed
        self.sources = drawn_from.sources

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Yield the paths of a pair; its draws do not depend on other pairs, nor on how often it is asked."""
        if source == destination:
            return
        rng = np.random.default_rng([self.seed, source, destination])
        drawn = [without_loops(self.topology, path) for path in _drawn(self.base, source, destination, self.k, rng)]
        for path, times in Counter(sorted(drawn)).items():
            yield path, Fraction(times, self.k)


def _drawn(base: Routing, source: int, destination: int, k: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return k random paths of a pair; a routing that lists its paths lists them once."""
    if type(base).sample is not Routing.sample:
        paths = (base.sample(source, destination, rng) for _ in range(k))
        return [checked_channels(base, source, destination, path) for path in paths]
    listed = list(checked_paths(base, source, destination))
    require_all(base, source, destination, sum((chance for _, chance in listed), Fraction(0)))
    shares = np.array([float(chance) for _, chance in listed])
    return [listed[number][0] for number in rng.choice(len(listed), size=k, p=shares / shares.sum()).tolist()]
