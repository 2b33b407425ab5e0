"""The search for the worst channel: which channels are solved, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.matching.shipments import Rates, Solution, simple_bound

if TYPE_CHECKING:
    from obliv.loads.base import PairLoads

__all__ = ["ChannelSearch", "Solved", "announce_channels", "best_first", "one_after_another", "search_channels"]

#: A channel with its solution.
Solved = tuple[int, Solution]


def best_first(loads: PairLoads, channels: Array, rates: Rates, progress: Progress) -> Iterator[list[Solved]]:
    """Solve channels by falling simple bound, until no bound exceeds what another channel carries.

    Bounds and loads are compared per bandwidth.
    """
    if len(channels) < 2:
        yield from one_after_another(loads, channels, rates, progress)
        return
    speeds = loads.topology.bandwidth
    at_once = loads.bounds(rates.supply, rates.demand)
    queue: list[tuple[Any, int]] = []
    for channel in channels.tolist():
        bound = simple_bound(loads.weights(channel), rates) if at_once is None else int(at_once[channel])
        queue.append((bound / speeds[channel] if speeds else bound, channel))
    queue.sort(key=lambda pair: (-pair[0], pair[1]))
    best: Any = -1
    for done, (bound, channel) in enumerate(queue, 1):
        if bound <= best:
            break
        solution = loads.solve(channel, rates)
        best = max(best, solution.value / speeds[channel] if speeds else solution.value)
        yield [(channel, solution)]
        progress("channels", done / len(queue))


def one_after_another(loads: PairLoads, channels: Array, rates: Rates, progress: Progress) -> Iterator[list[Solved]]:
    """Solve every channel, in the order given: for loads whose channels are solved as fast as bounded."""
    for done, channel in enumerate(channels.tolist(), 1):
        yield [(channel, loads.solve(channel, rates))]
        progress("channels", done / len(channels))


@dataclass(frozen=True, eq=False)
class ChannelSearch:
    """The outcome of a search for the worst channel.

    Attributes
    ----------
    worst : int
        The channel that carries most per bandwidth, of equals the lowest number; -1 where there is no channel.
    solution : Solution or None
        Its worst traffic, None where there is no channel.
    optima : dict
        The optimum of every channel that was solved, in units of the numerators times the rates' scale.
    prices : dict
        Prices of the destinations for the same channels, where they were asked for.
    rates : Rates
        What terminals send and take.
    """

    worst: int
    solution: Solution | None
    optima: dict[int, int]
    prices: dict[int, Array]
    rates: Rates


def announce_channels(loads: PairLoads, channels: Array, progress: Progress) -> None:
    """Pass on what solving some channels will take, if that is much; refuse what cannot fit in memory."""
    count = len(channels)
    what = f"solving {count:,} channel{'s' * (count != 1)} of {loads.topology.spec}"
    announce(progress, what, loads.work(channels) if count else Work())


def search_channels(
    loads: PairLoads, channels: Array, *, prices: bool = False, progress: Progress | None = None
) -> ChannelSearch:
    """Find the worst of some channels, with the prices of every solved channel if they are asked for."""
    step = progress or silent
    announce_channels(loads, channels, step)
    rates, speeds = loads.rates, loads.topology.bandwidth
    optima: dict[int, int] = {}
    dual_prices: dict[int, Array] = {}
    worst, best, solution = -1, None, None
    for group in loads.solve_worst(channels, rates, prices, step):
        for channel, solved in group:
            optima[channel] = solved.value
            if prices and solved.prices is not None:
                dual_prices[channel] = solved.prices
            key = (solved.value / speeds[channel] if speeds else solved.value, -channel)
            if best is None or key > best:
                worst, best, solution = channel, key, solved
    return ChannelSearch(worst, solution, optima, dual_prices, rates)
