"""Simulations beside their prediction: the rates at which BookSim2 is stable, and what crosses each channel there."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean, integer, real
from obliv._util.text import plural
from obliv.errors import InputError, Interrupted, RoutingError, TrafficError
from obliv.io.simulators.booksim import Written, saturation, write_without_deadlock
from obliv.io.simulators.booksim_runs import PERIOD, PERIODS, SimulatedRun, crossed, failed, program_of, run_booksim
from obliv.patterns.base import Traffic
from obliv.patterns.base import traffic as traffic_of
from obliv.questions.subject import by_specs, identity, routing_of
from obliv.questions.worst_case import worst_traffic
from obliv.results.base import Curve, Lines, Mark, Result
from obliv.results.codec import Record, derived, entry
from obliv.results.numbers import Bounds, Estimate, bounded, bounds_of, known, shown
from obliv.routings.base import Routing

_COARSE = tuple(Fraction(tenths, 10) for tenths in (1, 3, 5, 7, 9, 11))  # shares of the prediction
_HALVINGS = 4  # between the last of them that is stable and the next
_TOP = 10  # channels in the text; the rows have all

#: A stable rate above the prediction by more than this share contradicts it: a queue that takes in less than a fortieth
#: of the measured cycles too much, in all cycles, is not noticed, and nor is one with as few packets by chance.
ERROR = PERIODS / 40 / (PERIODS + 1) + 2 / sqrt(PERIOD * (PERIODS + 1))


@dataclass(frozen=True)
class CountedChannel(Record):
    """The load of a channel as predicted, and as counted: its share of packets times those of a cycle at rate 1."""

    channel: int = entry(column="channel")
    name: str = entry(column="name")
    load: Fraction = entry(column="load")
    counted: Estimate = entry(column="counted")

    @property
    @derived(column="difference")
    def difference(self) -> float:
        """The counted load less the predicted one."""
        return self.counted.value - float(self.load)


@dataclass(frozen=True, repr=False)
class Simulation(Result):
    """The highest stable rate in a simulator beside the predicted one, and the runs behind it.

    ``measured`` lies between the highest rate that is stable with every seed and the lowest one that is not.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.simulate("mesh:4x4", "dor", "transpose", booksim="src/booksim")  # doctest: +SKIP
    >>> result.predicted, result.contradicted  # doctest: +SKIP
    (Fraction(1, 3), False)
    """

    kind: ClassVar[str] = "simulate"

    traffic: str = entry("", column="traffic")
    router: str = entry("ideal", column="router")
    scheme: str = entry("none")  #: Of virtual channels, with listed paths.
    acyclic: bool = entry(True)  #: Whether packets cannot deadlock.
    seeds: int = entry(2)
    error: float = entry(ERROR)
    complete: bool = entry(True)  #: Whether all rates were tried in time.
    limited_by: str = entry("")
    predicted: Fraction = entry(Fraction(1), column="predicted")
    measured: Fraction | Bounds = entry(Fraction(0), column="measured")

    @property
    @derived(column="ratio")
    def ratio(self) -> Fraction | Bounds:
        """The measured rate divided by the predicted one."""
        low, high = bounds_of(self.measured)
        return bounded(low / self.predicted, high / self.predicted)

    least_accepted: Estimate | None = entry(None, reason="no rate was stable")
    latency: Estimate | None = entry(None, reason="no rate was stable")
    runs: tuple[SimulatedRun, ...] = ()
    channels: tuple[CountedChannel, ...] = entry((), omit=lambda result: not result.channels)

    @property
    @derived()
    def contradicted(self) -> bool:
        """Whether a stable rate exceeds the prediction by more than its error, or packets deadlock that cannot."""
        too_high = float(bounds_of(self.measured)[0]) > float(self.predicted) * (1 + self.error)
        return too_high or (self.acyclic and any(run.deadlock for run in self.runs))

    @property
    def title(self) -> str:
        return f"simulate: {self.routing} on {self.topology} under {self.traffic}"

    def summary(self) -> list[tuple[str, str]]:
        lines = [("", "predicted | measured | ratio")]
        lines.append(("stable rate", f"{shown(self.predicted)} | {_ends(self.measured)} | {_ends(self.ratio)}"))
        lines.append(("limited by", self.limited_by))
        if self.least_accepted is not None and self.latency is not None:
            lines.append(("least accepted", f"{self.least_accepted} at rate {_ends(self.measured).partition(' ')[0]}"))
            lines.append(("latency", f"{self.latency} cycles at rate {self.runs[0].rate:.4g}"))
        seen = next((f"seen at rate {run.rate:.4g}" for run in self.runs if run.deadlock), "none seen")
        scheme = f" by the scheme {self.scheme}" if self.acyclic and self.scheme != "none" else ""
        lines.append(("deadlock", f"{seen}; packets {'cannot' if self.acyclic else 'can'} deadlock{scheme}"))
        ends = "" if self.complete else "; stopped before all rates were tried"
        lines.append(("runs", f"{len(self.runs)}, {self.seeds} seeds a rate, {self.router} router{ends}"))
        verdict = "contradiction" if self.contradicted else "no contradiction"
        lines.append(("verdict", f"{verdict}; a stable rate may exceed the prediction by {100 * self.error:.1f} %"))
        lines += [("channel", "load | counted | ratio")] if self.channels else []
        for one in self.channels[:_TOP]:
            ratio = f" | {one.counted.value / float(one.load):.4g}" if one.load else ""
            lines.append((one.name, f"{shown(one.load)} | {one.counted.value:.4g} ± {one.counted.stderr:.2g}{ratio}"))
        if more := self.channels[_TOP:]:
            lines.append((plural(len(more), "more channel"), "with smaller differences; all in CSV"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each run, or for each channel where they were counted, largest differences first."""
        own = self.cells()
        yield from (own | row.cells() for row in self.channels or self.runs)

    def lines(self) -> Lines:
        """Return the latency over the rate, with the predicted limit."""
        places = [(run.rate, run.latency) for run in self.runs if run.latency is not None]
        if not places:
            raise InputError("no packets arrived at any rate: there are no latencies to draw")
        rates, latencies = [rate for rate, _ in places], [latency for _, latency in places]
        steps = sorted(set(rates))
        means = [fmean(latency for rate, latency in places if rate == at) for at in steps]
        calm = max((run.latency or 0.0 for run in self.runs if run.stable), default=means[0])
        return Lines(
            [Curve("line", steps, means), Curve("samples", rates, latencies, "runs")],
            "rate, in packets per node and cycle",
            "mean latency, in cycles",
            (5.2, 3.4),
            (0.0, 1.04 * max(steps[-1], float(self.predicted))),
            (0.0, 3.0 * calm),
            ["{subject}", f"under {self.traffic}"],
            [f"highest stable rate {_ends(self.measured)}, {self.router} router"],
            [Mark(float(self.predicted), f"limit {shown(self.predicted, 4)} ", "right")],
        )


def _ends(value: Fraction | Bounds) -> str:
    """Return one number, or two ends, in a few digits."""
    return " to ".join(dict.fromkeys(f"{float(end):.4g}" for end in bounds_of(value)))


@by_specs
def simulate(
    routing: Routing,
    traffic: str | Traffic = "uniform",
    *,
    booksim: str | Path | None = None,
    router: str = "ideal",
    vc: str | None = None,
    seeds: int = 3,
    channels: bool = False,
    time_limit: float = 1800.0,
    progress: Progress | None = None,
) -> Simulation:
    """Find the highest rate at which BookSim2 is stable, and compare it with the predicted one.

    TRAFFIC is a pattern, or worst: that of the worst case. Rates are tried from a tenth of the prediction up, then
    between the last that is stable and the next. The exit status is 1 if the simulator contradicts the prediction.

    Parameters
    ----------
    routing : Routing
    traffic : Traffic or str
        A pattern, or ``worst``: that of the worst case of the routing.
    booksim : str or Path, optional
        The program of BookSim2; default: that of the environment variable BOOKSIM.
    router : {"ideal", "lean"}
        An ideal router, which shows the limits of the network, or a lean one.
    vc : str, optional
        Virtual channels by this scheme, none for all on every hop; by default the one with the fewest that avoids
        deadlock.
    seeds : int
        Runs at a rate, with seeds from 1 on; at least 2.
    channels : bool
        Count the packets on every channel, at the highest stable rate if there is one.
    time_limit : float
        Seconds after which no more rates are tried.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Simulation
        A rate is stable if no packet of any run is under way for longer than a fortieth of the 15,000 measured cycles.
        A stable rate may exceed the prediction by ``error``: what such runs do not notice.

    Raises
    ------
    InputError
        If there is no such program, or BookSim2 cannot simulate the network, routing or traffic.
    OblivError
        If the program fails or prints no statistics; its files are kept.

    Examples
    --------
    >>> simulate("mesh:4x4", "dor", "worst", booksim="booksim2/src/booksim")  # doctest: +SKIP
    """
    began = time.perf_counter()
    channels, seeds, limit = boolean(channels, "channels"), integer(seeds, "seeds"), real(time_limit, "time_limit")
    chosen, step = routing_of(routing, "simulate"), rising(progress)
    if router not in ("ideal", "lean"):
        raise InputError.naming("{router}={0!r}: choose ideal or lean", router)
    if not 2 <= seeds <= 1000:
        raise InputError.naming("{seeds}={0}: use a whole number from 2 to 1000", seeds)
    if not limit > 0:
        raise InputError.naming("{time_limit}={0}: use a number of seconds above 0", limit)
    program = program_of(booksim)
    pattern = (
        worst_traffic(chosen, within(step, 0, 0.1)) if traffic == "worst" else traffic_of(traffic, chosen.topology)
    )
    predicted = saturation(chosen, pattern)
    if predicted is None:
        raise TrafficError(f"{pattern.spec}: there is no traffic to simulate")
    most = 1 / max(pattern.row_sums)  # a node sends a packet per cycle
    runs: list[SimulatedRun] = []
    with _place() as place:
        config = place / "simulation.cfg"
        half = min(float(predicted.rate) / 2, 1.0)  # of files that are kept
        written = _written(chosen, config, pattern, half, router, vc, within(step, 0.1, 0.2))

        def result(complete: bool) -> Simulation:
            low, high = _enclosed(runs, seeds, most)
            specs = {"traffic": pattern.spec, "router": router}
            return Simulation(
                **identity(chosen, began, "estimated", None, pattern.sources, **specs),
                subject=chosen,
                traffic=pattern.spec,
                router=router,
                scheme=written.scheme,
                acyclic=written.acyclic,
                seeds=seeds,
                complete=complete,
                limited_by=str(predicted.limited_by),
                predicted=predicted.rate,
                measured=bounded(low, high),
                least_accepted=_mean([run.least_accepted for run in runs if run.rate == float(low)]),
                latency=_mean([run.latency for run in runs if run.rate == runs[0].rate]) if low else None,
                runs=tuple(runs),
                channels=loads(float(low)) if channels and complete and low else (),
            )

        def loads(rate: float) -> tuple[CountedChannel, ...]:
            counts = [crossed(chosen.topology, program, config, one) for one in runs if one.rate == rate]
            return _counted(chosen, pattern, counts)

        def run(rate: float, seed: int) -> bool:
            one = run_booksim(program, config, pattern, rate, seed, end=end, counts=channels)
            if one is None and not runs:
                raise failed(f"does not end, after {limit:g} seconds", program, config, rate, seed)
            runs.extend([] if one is None else [one])
            if channels and len(runs) == 1 and runs[0].stable:
                crossed(chosen.topology, program, config, runs[0])  # refuses another program at once
            return one is not None

        end = time.monotonic() + limit
        try:
            return result(_sweep(runs, predicted.rate, most, seeds, run, within(step, 0.2, 1.0)))
        except KeyboardInterrupt:
            if not runs:
                raise
            raise Interrupted(f"after {plural(len(runs), 'run')} of the simulator", result(False)) from None


@contextmanager
def _place() -> Iterator[Path]:
    """Make a folder that is kept where a simulator fails."""
    place = Path(tempfile.mkdtemp(prefix="obliv-booksim-"))
    try:
        yield place
    finally:
        if not (place / "repeat.sh").exists():
            shutil.rmtree(place, ignore_errors=True)


def _written(
    routing: Routing, config: Path, traffic: Traffic, rate: float, router: Any, vc: str | None, step: Progress
) -> Written:
    """Write the files of a simulation, with listed paths where BookSim2 lacks the routing, or a scheme is named."""
    if vc is None:
        with suppress(RoutingError):  # BookSim2 would take other paths
            return write_without_deadlock(routing, config, traffic, rate=rate, router=router, progress=step)
    return write_without_deadlock(routing, config, traffic, rate=rate, paths=True, vc=vc, router=router, progress=step)


def _enclosed(runs: list[SimulatedRun], seeds: int, most: Fraction) -> tuple[Fraction, Fraction]:
    """Return the highest rate that is stable with all seeds, and the lowest that is not, or else the most there is."""
    rates = {run.rate: Fraction(run.rate).limit_denominator(10**6) for run in runs}
    stable = [run.rate for run in runs if run.stable and run.seed == seeds]  # the last one is run after all others are
    unstable = [rates[run.rate] for run in runs if not run.stable]
    return max((rates[rate] for rate in stable), default=Fraction(0)), min(unstable, default=most)


def _sweep(
    runs: list[SimulatedRun],
    predicted: Fraction,
    most: Fraction,
    seeds: int,
    run: Callable[[float, int], bool],
    step: Progress,
) -> bool:
    """Try rates from below until one is not stable, then halve the gap; return whether no run was stopped."""
    total = len(_COARSE) + _HALVINGS
    for done in range(total):
        low, high = _enclosed(runs, seeds, most)
        rate = min(_COARSE[done] * predicted, most) if done < len(_COARSE) else (low + high) / 2
        rate = Fraction(floor(rate * 10**6), 10**6)  # as BookSim2 is told
        if not low < rate <= high or float(rate) in (one.rate for one in runs):
            continue
        for seed in range(1, seeds + 1):
            step(f"rate {float(rate):.4g}", (done + (seed - 1) / seeds) / total)
            if not run(float(rate), seed):
                return False
            if not runs[-1].stable:
                break
    return True


def _mean(values: list[float | None]) -> Estimate | None:
    """Return the mean of runs with its standard error."""
    given = [value for value in values if value is not None]
    return Estimate(fmean(given), stdev(given) / sqrt(len(given)), len(given)) if len(given) > 1 else None


def _counted(routing: Routing, traffic: Traffic, runs: list[tuple[list[int], int]]) -> tuple[CountedChannel, ...]:
    """Return the loads of channels by what crossed them in some runs, the largest difference first."""
    through, arrived = zip(*runs, strict=True)
    share = float(sum(traffic.row_sums)) / sum(arrived)
    rows = []
    for channel, (load, *counts) in enumerate(zip(routing.pair_loads().under(traffic), *through, strict=True)):
        # packets on a channel come as they please, so that their number varies by its root at most
        counted = Estimate(sum(counts) * share, sqrt(max(sum(counts), 1)) * share, sum(arrived))
        rows.append(CountedChannel(channel, routing.topology.channel_name(channel), known(load), counted))
    return tuple(sorted(rows, key=lambda row: -abs(row.difference)))
