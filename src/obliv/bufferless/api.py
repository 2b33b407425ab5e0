"""One call for every algorithm of packet routing: the algorithms by name, their schedules, the measure of studies."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv._util.rng import Rng, generator, seed_of
from obliv._util.text import did_you_mean
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.results import Run, Schedule, Schedules
from obliv.capabilities import Parts
from obliv.errors import InputError, OblivError, OptionError
from obliv.results.base import provenance
from obliv.study.measures import Measure
from obliv.topologies.base import Topology

# The algorithms of packet routing by name


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of packet routing."""

    function: str  # where it is, as "module:name"; imported on first use
    summary: str  # a line of help
    options: tuple[str, ...] = ()  # those that a user may set
    fixed: Mapping[str, Any] = field(default_factory=dict)  # what makes this algorithm of a more general function

    def load(self) -> Callable[..., Run]:
        """Import and return the function, which takes an instance, a random generator and the options."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Run] = getattr(importlib.import_module(module), name)
        return function

    def run(self, instance: Any, rng: np.random.Generator, options: Mapping[str, Any]) -> Run:
        """Run the algorithm on an instance."""
        return self.load()(instance, rng, **self.fixed, **options)


def _queues(summary: str, priority: str) -> Algorithm:
    return Algorithm("obliv.bufferless.schedulers:queues", summary, fixed={"priority": priority})


class _Algorithms(dict[str, Algorithm]):
    """Algorithms by name; a name that is unknown is refused with one that may be meant."""

    def __missing__(self, name: str) -> Algorithm:
        raise InputError(f"unknown algorithm {name!r}: {did_you_mean(str(name), self)}")


ALGORITHMS = _Algorithms(
    {
        "centralized": Algorithm(
            "obliv.bufferless.frames.centralized:centralized",
            "waves of frames, planned with global knowledge of the paths (Busch et al., section 3)",
            ("constants", "lam", "s", "segments"),
        ),
        "distributed": Algorithm(
            "obliv.bufferless.frames.distributed:distributed",
            "the same, colors found by trial; nodes know only C, D, N (Busch et al., section 4)",
            ("constants", "lam", "s", "chi", "timetable", "tie"),
        ),
        "direct": Algorithm(
            "obliv.bufferless.schedulers:direct",
            "depart at a fixed time, then never stop; first fit",
            ("order",),
        ),
        "hot-potato": Algorithm(
            "obliv.bufferless.schedulers:hot_potato",
            "greedy; packets that lose a link are deflected and go back",
            ("priority",),
        ),
        "fifo": _queues("store and forward, first come first served", "fifo"),
        "random-delay": _queues("store and forward, start delays below C (Leighton, Maggs and Rao)", "random-delay"),
        "random-rank": _queues("store and forward, random ranks", "random-rank"),
        "farthest-to-go": _queues("store and forward, farthest to go first", "farthest-to-go"),
        "queues": Algorithm(
            "obliv.bufferless.schedulers:queues", "store and forward with a custom priority", ("priority",)
        ),
    }
)

#: The largest constants for which times fit in 64 bits.
_LIMITS = {"lam": 10**6, "s": 2**30, "chi": 10**6}


def require_options(name: str, options: Mapping[str, Any]) -> None:
    """Check that an algorithm takes the given options, and that its constants are integers in range."""
    known = ALGORITHMS[name].options
    for option in options:
        if option == "seed":
            raise OptionError(option, "seed is called rng now: give a random generator or a seed as rng=")
        if option not in known:
            takes = f"it takes {', '.join(map('{{{}}}'.format, known))}" if known else "it takes no options"
            raise OptionError(option, f"{{0}} does not take {{{option}}}; {takes}", name)
    for option, limit in _LIMITS.items():
        value = options.get(option)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            least = "an even integer" if option == "lam" else "an integer of at least 1"
            raise OptionError(option, f"{{{option}}} is {{0}}; it must be {least}", repr(value))
        if value > limit:
            raise OptionError(option, f"{{{option}}} is {value}; it must be at most {limit}")


def schedule(
    instance: Instance,
    algorithm: str = "direct",
    *,
    rng: Rng = None,
    check_moves: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Schedule:
    """Run an algorithm on an instance and check every move.

    Parameters
    ----------
    instance : Instance
        From :func:`obliv.bufferless.instance`.
    algorithm : str
        A name of ``ALGORITHMS``: "centralized", "distributed", "direct", "hot-potato", "fifo", "random-delay",
        "random-rank", "farthest-to-go", or "queues" with a priority of your own.
    rng : numpy.random.Generator, int or None
        Random generator or seed; None for seed 0.
    check_moves : bool
        Whether the verifier checks the schedule.
    progress : callable, optional
        Called as ``progress(what, share)``.
    **options
        Options of the algorithm: ``constants`` ("paper", "tuned", "one-frame"), ``segments`` ("paper", "tight"),
        ``tie`` ("both-fail", "survives"), ``priority`` (for hot-potato "age", "closest", "farthest", "random"; or a
        function), ``order``, ``lam``, ``s``, ``chi`` and others.

    Returns
    -------
    Schedule
        With instance, moves and plan; ``verified`` if the moves were checked.

    Raises
    ------
    OptionError
        If the algorithm does not take an option, or its value is invalid.
    InputError
        If the algorithm cannot run on this instance.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("butterfly:4", "bit-reverse")
    >>> schedule = obliv.bufferless.schedule(instance, "direct")
    >>> schedule.makespan, schedule.lower_bound, schedule.verified
    (5, 5, True)
    """
    check_moves = boolean(check_moves, "check_moves")
    began = time.perf_counter()
    if not isinstance(instance, Instance):
        raise InputError(
            f"an instance of packets is needed, not {type(instance).__name__}: make one with bufferless.instance"
        )
    routing = ALGORITHMS[algorithm]
    require_options(algorithm, options)
    progress = rising(progress)
    progress(algorithm, 0.1)
    run = routing.run(instance, generator(rng), options)
    progress("checking", 0.5)
    result = _result(instance, algorithm, options, run, seed_of(rng), time.perf_counter() - began)
    if not check_moves or result.moves is None:
        return result
    verification = Parts("check")[result.kind]({}, result)
    if not verification.proved:
        failed = [step.detail for step in verification.checks if not step.ok]
        raise OblivError(f"internal error: the schedule of {algorithm} breaks a rule: {failed[0] if failed else ''}")
    return replace(result, verified=True)


def schedules(
    instances: Instance | Sequence[Instance],
    algorithm: str = "direct",
    *,
    topology: str = "",
    rng: Rng = None,
    progress: Progress | None = None,
    **options: Any,
) -> Schedule | Schedules:
    """Run an algorithm on every orientation class of a network, one class after another.

    Parameters
    ----------
    instances : Instance or sequence of Instance
        From :func:`obliv.bufferless.instances`; for a single one, its schedule is returned.
    topology : str
        The network of the classes, such as ``mesh:8x8``.
    algorithm, rng, progress, **options
        As for :func:`schedule`; an integer seeds every class anew.

    Returns
    -------
    Schedule or Schedules

    Raises
    ------
    InputError
        If there is no instance, or as for :func:`schedule`.

    Examples
    --------
    >>> from obliv import bufferless
    >>> classes = bufferless.instances("mesh:4x4", "permutation", rng=1)
    >>> both = schedules(classes, "direct", topology="mesh:4x4")
    >>> len(both.classes), both.makespan == sum(one.makespan for one in both.classes)
    (3, True)
    """
    began = time.perf_counter()
    progress = rising(progress)
    given = instances if isinstance(instances, Sequence) else [instances]
    if not given:
        raise InputError("there are no packets: choose other paths or another random seed")
    classes = []
    for number, instance in enumerate(given):
        part = within(progress, number / len(given), (number + 1) / len(given))
        classes.append(schedule(instance, algorithm, rng=rng, progress=part, **options))
    first = classes[0]
    if len(classes) == 1:
        return first
    return Schedules(
        topology=topology,
        routing=first.routing,
        provenance=provenance(
            {"topology": topology, "paths": first.routing, "algorithm": algorithm} | _named(options),
            time.perf_counter() - began,
            "exact: every move is given",
            seed=seed_of(rng),
        ),
        algorithm=algorithm,
        classes=tuple(classes),
    )


def _named(options: dict[str, Any]) -> dict[str, Any]:
    """Return options for provenance, functions by their names."""
    return {name: getattr(value, "__name__", value) for name, value in options.items()}


def _result(
    instance: Instance, algorithm: str, options: dict[str, Any], run: Run, seed: int | None, seconds: float
) -> Schedule:
    whole = len(run.moves.start) - 1 == instance.packets  # otherwise delivery times only
    network = instance.network
    return Schedule(
        topology=network.spec,
        routing=instance.paths,
        provenance=provenance(
            {"topology": network.spec, "paths": instance.paths, "algorithm": algorithm} | _named(options),
            seconds,
            "exact: every move is given",
            seed=seed,
            sources=network.sources,
        ),
        algorithm=algorithm,
        rules=run.rules,
        packets=instance.packets,
        congestion=instance.congestion,
        dilation=instance.dilation,
        makespan=int(run.delivery.max(initial=0)),
        lower_bound=instance.lower_bound,
        deflections=run.deflections if whole else None,
        constants=run.constants,
        notes=(*(() if network.faithful else (network.remark,)), *instance.notes, *run.notes),
        delivery=run.delivery,
        instance=instance,
        moves=run.moves if whole else None,
        plan=run.plan,
    )


# The measure of studies


def _measured(
    topology: Topology, progress: Progress, *, algorithm: str = "direct", paths: str = "random", seed: int = 0
) -> Schedule | Schedules:
    """Schedule packets on a leveled network, with all moves."""
    from obliv.bufferless.problems import instances

    classes = instances(topology, paths, rng=seed)
    return schedules(classes, algorithm, topology=topology.spec, rng=seed, progress=progress)


def _figures(result: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"steps": result.makespan, "C": result.congestion, "D": result.dilation}


def _require_levels(topology: Any, options: Mapping[str, Any]) -> None:
    from obliv.bufferless.problems import instances

    ALGORITHMS[options.get("algorithm", "direct")]  # refuses an unknown name
    instances(topology, options.get("paths", "random"))


MEASURE = Measure(_measured, _figures, _require_levels, claims=True)
