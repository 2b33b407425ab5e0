"""The worst channel of pair loads, with its traffic and what proves the other channels."""

from __future__ import annotations

from dataclasses import dataclass

from obliv._util.progress import Progress, silent
from obliv._util.typing import Array
from obliv.loads.base import PairLoads
from obliv.matching.shipments import Rates, Solution

__all__ = ["ChannelSearch", "search_channels"]


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


def search_channels(
    loads: PairLoads, channels: Array, *, prices: bool = False, progress: Progress | None = None
) -> ChannelSearch:
    """Find the worst of some channels.

    Parameters
    ----------
    loads : PairLoads
    channels : integer array
    prices : bool
        Whether to keep the prices of every channel that is solved.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    ChannelSearch
        Exact.
    """
    rates, speeds = loads.rates, loads.topology.bandwidth
    optima: dict[int, int] = {}
    kept: dict[int, Array] = {}
    worst, best, solution = -1, None, None
    for group in loads.solve_worst(channels, rates, prices, progress or silent):
        for channel, solved in group:
            optima[channel] = solved.value
            if prices and solved.prices is not None:
                kept[channel] = solved.prices
            key = (solved.value / speeds[channel] if speeds else solved.value, -channel)
            if best is None or key > best:
                worst, best, solution = channel, key, solved
    return ChannelSearch(worst, solution, optima, kept, rates)
