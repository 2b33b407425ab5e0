"""The trees of routes for a number of LIDs and lanes: the set with the smallest exact worst load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from obliv.fabric.lanes.tables import SLS
from obliv.fabric.reroute.request import Request
from obliv.fabric.reroute.spread.families import minimal_sets, two_turn_pool, two_turn_sets
from obliv.fabric.reroute.spread.lanes import lanes_for
from obliv.fabric.reroute.spread.plans import Plan
from obliv.fabric.reroute.spread.search import Evaluation, bisection_bound
from obliv.topologies.cartesian import Cartesian

__all__ = ["Choice", "choices"]

_ROUNDS = 40
_SEARCHED, _EVALUATED = 100, 150  # places up to which sets are searched and evaluated


@dataclass(frozen=True)
class Choice:
    """Trees for the LIDs of a host.

    Parameters
    ----------
    family : str
        ``minimal`` or ``two-turn``.
    plans : tuple of Plan
        One for each LID.
    load : Fraction or None
        The exact worst load with one host at each place, None where the network is too large for it.
    lanes : int
    """

    family: str
    plans: tuple[Plan, ...]
    load: Fraction | None
    lanes: int

    @property
    def lmc(self) -> int:
        """The LMC: there are 2**lmc plans."""
        return len(self.plans).bit_length() - 1


def choices(shape: Cartesian, floor: Fraction, request: Request) -> list[Choice]:
    """Return sets of trees that fit into a number of lanes, the best ones first.

    Parameters
    ----------
    shape : Cartesian
    floor : Fraction
        A load below which nothing is gained.
    request : Request
        For ``two-turn``, routes may leave the shortest ways.
    """
    two_turn = request.engine == "two-turn"
    evaluation, bound = Evaluation(shape), max(floor, bisection_bound(shape))
    found: list[Choice] = []

    def key(choice: Choice) -> tuple[Fraction, int, int, int]:
        """Return the key for sorting: where loads are unknown, two turns and many trees are thought to be best."""
        distinct = len(set(choice.plans))
        unknown = Fraction(10**6) - (choice.family == "two-turn") * distinct
        return max(floor, unknown if choice.load is None else choice.load), choice.lmc, choice.lanes, distinct

    rounds = int(request.effort * _ROUNDS) if two_turn and shape.nodes <= _SEARCHED else 0
    pool = two_turn_pool(shape) if rounds else []
    for lmc in range(request.most_lmc + 1):
        request.progress(f"routes for {1 << lmc} LIDs of each host", lmc / (request.most_lmc + 1))
        sets = [*_named("minimal", minimal_sets(shape), lmc)]
        for size in dict.fromkeys((1 << lmc, min(1 << lmc, SLS)) if two_turn else ()):
            sets += _named("two-turn", two_turn_sets(shape, size), lmc)
        for family, plans in sets:
            found += _fitting(shape, family, plans, request.lanes, evaluation)
        if found and min(map(key, found))[0] <= bound:
            break
        known = [choice for choice in found if choice.family == "two-turn"]
        if known and lmc and rounds:
            for plan in pool:
                evaluation.add(plan)
            best = min(known, key=key).plans
            plans = evaluation.improved(best * ((1 << lmc) // len(best)), SLS, rounds, bound, request.seed)
            found += _fitting(shape, "two-turn", plans, request.lanes, evaluation)
    return sorted(found, key=key)


def _named(family: str, sets: Iterator[list[Plan]], lmc: int) -> Iterator[tuple[str, list[Plan]]]:
    """Yield sets, each tree for as many of the LIDs as the others, give or take one."""
    for plans in sets:
        if len(plans) <= 1 << lmc:
            yield family, [plans[k % len(plans)] for k in range(1 << lmc)]


def _fitting(
    shape: Cartesian, family: str, plans: Sequence[Plan], lanes: int, evaluation: Evaluation
) -> Iterator[Choice]:
    """Yield the choice of a set if lanes and service levels suffice."""
    needed = lanes_for(shape, plans)
    if needed.lanes <= lanes and needed.levels <= SLS:
        load = evaluation.load(plans) if shape.nodes <= _EVALUATED else None
        yield Choice(family, tuple(plans), load, needed.lanes)
