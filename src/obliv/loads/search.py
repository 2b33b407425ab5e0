"""The search for the worst channel: which channels are solved, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from obliv._util.cost import Work, announce
from obliv._util.progress import Progress, rising
from obliv._util.typing import Array
from obliv.loads.calls import Calls
from obliv.matching.shipments import Rates, Solution, simple_bound

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from obliv.loads.base import PairLoads

__all__ = [
    "ChannelSearch",
    "Problem",
    "Solved",
    "announce_channels",
    "best_first",
    "by_bound",
    "calls_of",
    "one_after_another",
    "search_channels",
    "solved_channel",
]

#: A channel with its solution.
Solved = tuple[int, Solution]

_MUCH = 5.0  # seconds of work for which workers are started before it begins


class Problem(NamedTuple):
    """What the functions of a search are about.

    Attributes
    ----------
    loads : PairLoads
    rates : Rates
        What terminals send and take.
    prices : bool
        Whether solutions must hold prices.
    """

    loads: PairLoads
    rates: Rates
    prices: bool = True


def calls_of(problem: Problem, executor: Executor | None, progress: Progress) -> Calls:
    """Return calls of the functions of a problem, in the workers of an executor if there is one."""
    if executor is None:
        return Calls(problem)
    from obliv.loads.ahead import Ahead

    return Ahead(problem, executor, progress)


def solved_channel(problem: Problem, channel: int) -> Solution:
    """Solve one channel."""
    solution = problem.loads.solve(channel, problem.rates)
    return solution if problem.prices else solution._replace(prices=None)


def _simple_bound(problem: Problem, channel: int) -> int:
    return simple_bound(problem.loads.weights(channel), problem.rates)


def best_first(channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling simple bound, until no bound exceeds what another channel carries."""
    loads, rates, _ = calls.subject
    if len(channels) < 2:
        return one_after_another(channels, progress, calls)
    at_once = loads.bounds(rates.supply, rates.demand)
    if at_once is not None:
        return by_bound([(int(at_once[channel]), channel) for channel in channels.tolist()], progress, calls)
    calls.plan((_simple_bound, channel) for channel in channels.tolist())
    return by_bound([(calls.result(_simple_bound, channel), channel) for channel in channels.tolist()], progress, calls)


def by_bound(bounds: Iterable[tuple[int, int]], progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve channels by falling upper bound, given as (bound, channel), while a bound exceeds what another one carries.

    Bounds and loads are compared per bandwidth.
    """
    speeds = calls.subject.loads.topology.bandwidth
    queue: list[tuple[Any, int]] = [(bound / speeds[c] if speeds else bound, c) for bound, c in bounds]
    queue.sort(key=lambda pair: (-pair[0], pair[1]))
    best: Any = -1
    calls.plan((solved_channel, channel) for _, channel in takewhile(lambda pair: pair[0] > best, queue))
    for done, (bound, channel) in enumerate(queue, 1):
        if bound <= best:
            break
        solution = calls.result(solved_channel, channel)
        best = max(best, solution.value / speeds[channel] if speeds else solution.value)
        yield [(channel, solution)]
        progress("channels", done / len(queue))


def one_after_another(channels: Array, progress: Progress, calls: Calls) -> Iterator[list[Solved]]:
    """Solve every channel, in the order given: for loads whose channels are solved as fast as bounded."""
    calls.plan((solved_channel, channel) for channel in channels.tolist())
    for done, channel in enumerate(channels.tolist(), 1):
        yield [(channel, calls.result(solved_channel, channel))]
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


def announce_channels(channels: Array, progress: Progress, calls: Calls) -> None:
    """Pass on what solving some channels will take, if that is much; refuse what cannot fit in memory."""
    count, loads = len(channels), calls.subject.loads
    what = f"solving {count:,} channel{'s' * (count != 1)} of {loads.topology.spec}"
    work = loads.work(channels) if count else Work()
    if calls.width == 1 or count < 2:
        announce(progress, what, work)
        return
    if work.seconds > _MUCH:
        calls.begin()
    memory = calls.memory(work.memory)  # may find that fewer calls at a time fit
    many = f" by {calls.width} workers" if calls.width > 1 else ""
    announce(progress, what + many, Work(work.seconds / calls.width, memory))


def search_channels(
    loads: PairLoads,
    channels: Array,
    *,
    prices: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ChannelSearch:
    """Find the worst of some channels, with the prices of every solved channel if they are asked for.

    Parameters
    ----------
    loads : PairLoads
    channels : integer array
    prices : bool
    executor : concurrent.futures.Executor, optional
        Whose workers solve channels ahead of time; the outcome is the same without.
    progress : callable, optional
        Called with what is being done and the share that is done.
    """
    step = rising(progress)
    rates, speeds = loads.rates, loads.topology.bandwidth
    optima: dict[int, int] = {}
    dual_prices: dict[int, Array] = {}
    worst, best, solution = -1, None, None
    with calls_of(Problem(loads, rates, prices), executor, step) as calls:
        announce_channels(channels, step, calls)
        for group in loads.solve_worst(channels, step, calls):
            for channel, solved in group:
                optima[channel] = solved.value
                if prices and solved.prices is not None:
                    dual_prices[channel] = solved.prices
                key = (solved.value / speeds[channel] if speeds else solved.value, -channel)
                if best is None or key > best:
                    worst, best, solution = channel, key, solved
    return ChannelSearch(worst, solution, optima, dual_prices, rates)
