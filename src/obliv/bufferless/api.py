"""One call for every algorithm of packet routing; what it returns has passed the verifier."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliv._util.text import did_you_mean
from obliv.bufferless.moves import Run
from obliv.bufferless.problems import generator
from obliv.checker.verify import verify as check
from obliv.errors import InputError, OblivError
from obliv.results import Schedule, Schedules, Verification, provenance
from obliv.topologies.leveled.instances import Instance

__all__ = ["ALGORITHMS", "Algorithm", "schedule", "schedules", "verify"]

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name: where it is, what it may be told, and a line of help."""

    module: str
    function: str
    summary: str
    options: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()


_FRAMES = ("constants", "lam", "s", "segments")
ALGORITHMS = {
    "centralized": Algorithm(
        "obliv.bufferless.frames.centralized",
        "centralized",
        "waves of frames, planned by one who knows all paths (Busch et al., section 3)",
        _FRAMES,
    ),
    "distributed": Algorithm(
        "obliv.bufferless.frames.distributed",
        "distributed",
        "the same, colours found by trial; nodes know only C, D, N (Busch et al., section 4)",
        ("constants", "lam", "s", "chi", "timetable", "tie"),
    ),
    "direct": Algorithm(
        "obliv.bufferless.schedulers.direct",
        "direct",
        "leave at the right time, then never stop; first fit",
        ("order",),
    ),
    "hot-potato": Algorithm(
        "obliv.bufferless.schedulers.hot_potato",
        "hot_potato",
        "greedy; losers are deflected and go back",
        ("priority",),
    ),
    "fifo": Algorithm(
        "obliv.bufferless.schedulers.queues",
        "queues",
        "store and forward, first come first served",
        (),
        (("priority", "fifo"),),
    ),
    "random-delay": Algorithm(
        "obliv.bufferless.schedulers.queues",
        "queues",
        "store and forward, start delays below C (Leighton, Maggs and Rao)",
        (),
        (("priority", "random-delay"),),
    ),
    "random-rank": Algorithm(
        "obliv.bufferless.schedulers.queues",
        "queues",
        "store and forward, random ranks",
        (),
        (("priority", "random-rank"),),
    ),
    "farthest-to-go": Algorithm(
        "obliv.bufferless.schedulers.queues",
        "queues",
        "store and forward, farthest to go first",
        (),
        (("priority", "farthest-to-go"),),
    ),
    "queues": Algorithm(
        "obliv.bufferless.schedulers.queues", "queues", "store and forward by a rule of your own", ("priority",)
    ),
}


def schedule(
    instance: Instance,
    algorithm: str = "direct",
    *,
    seed: int | np.random.Generator = 0,
    check_moves: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Schedule:
    """Run an algorithm on an instance and check every move.

    Parameters
    ----------
    instance : Instance
    algorithm : str
        A name of ``ALGORITHMS``: "centralized", "distributed", "direct", "hot-potato", "fifo", "random-delay",
        "random-rank", "farthest-to-go", or "queues" with a priority of your own.
    seed : int or Generator
        Of what is drawn by chance.
    check_moves : bool
        Whether to let the verifier check the schedule.
    progress : callable, optional
        Called with what is being done and the share that is done.
    **options
        What the algorithm may be told: ``constants`` ("paper", "tuned", "one-frame"), ``priority`` (of hot potato
        "age", "closest", "farthest", "random"; or a function), ``order``, ``lam``, ``s``, ``chi`` and others.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        If the algorithm cannot run on this instance, or with these constants.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("butterfly:4", "bit-reverse")
    >>> made = obliv.bufferless.schedule(instance, "direct")
    >>> made.makespan, made.lower_bound, made.verified
    (5, 5, True)
    """
    began = time.perf_counter()
    if not isinstance(instance, Instance):
        raise InputError(f"an instance of packets, not {type(instance).__name__}: make it with bufferless.instance")
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm {algorithm!r}: {did_you_mean(str(algorithm), ALGORITHMS)}")
    chosen = ALGORITHMS[algorithm]
    unfit = [name for name in options if name not in chosen.options]
    if unfit:
        known = f"it takes {', '.join(chosen.options)}" if chosen.options else "it takes no options"
        raise InputError(f"{algorithm} does not take {unfit[0]}; {known}")
    _require_whole(options)
    step = progress or (lambda what, share: None)
    step(algorithm, 0.1)
    rng = generator(seed)
    made = _function(chosen)(instance, rng, **dict(chosen.fixed), **options)
    step("checking", 0.5)
    result = _result(instance, algorithm, options, made, seed, time.perf_counter() - began)
    if not check_moves or result.moves is None:
        return result
    found = verify(result)
    if not found.proved:
        wrong = next((each for each in found.checks if not each["ok"]), {"detail": "no check failed"})
        raise OblivError(f"{algorithm} made a schedule that breaks the rules, a fault of ours: {wrong['detail']}")
    return replace(result, verified=True)


def schedules(
    instances: Sequence[Instance],
    algorithm: str = "direct",
    *,
    topology: str = "",
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Schedule | Schedules:
    """Run an algorithm on every orientation class of a network, one class after another.

    Parameters
    ----------
    instances : sequence of Instance
        What :func:`obliv.bufferless.instances` made; of one, the schedule is returned as it is.
    topology : str
        What the classes are of, such as ``mesh:8x8``.
    algorithm, seed, progress, **options
        As for :func:`schedule`.

    Returns
    -------
    Schedule or Schedules
    """
    began = time.perf_counter()
    step = progress or (lambda what, share: None)
    made: list[Schedule] = []
    for number, each in enumerate(instances):

        def within(what: str, share: float, number: int = number) -> None:
            step(what, (number + share) / len(instances))

        made.append(schedule(each, algorithm, seed=seed, progress=within, **options))
    if len(made) == 1:
        return made[0]
    if not made:
        raise InputError("there are no packets: choose other paths or another seed")
    first = made[0]
    return Schedules(
        topology=topology,
        routing=first.routing,
        provenance=provenance(
            {"topology": topology, "paths": first.routing, "algorithm": algorithm} | _told(options),
            time.perf_counter() - began,
            "exact: every move is given",
            seed=seed,
        ),
        algorithm=algorithm,
        classes=tuple(made),
    )


def verify(made: Any) -> Verification:
    """Check a schedule, or a file of one, move by move; see :func:`obliv.verify`."""
    found: Verification = check(made)
    return found


#: The largest constants that times in 64 bits bear.
_MOST = {"lam": 10**6, "s": 2**30, "chi": 10**6, "rounds": 10**6}


def _require_whole(options: dict[str, Any]) -> None:
    """Refuse constants that are no whole numbers, or larger than any that makes sense."""
    for name, most in _MOST.items():
        value = options.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            what = "even" if name == "lam" else "at least one"
            raise InputError(f"{name} is {value!r}; it must be a whole number, {what}")
        if value > most:
            raise InputError(f"{name} is {value}; it must be at most {most}, more than any schedule needs")


def _told(options: dict[str, Any]) -> dict[str, Any]:
    """Options as provenance keeps them; of a function its name."""
    return {name: getattr(value, "__name__", value) for name, value in options.items()}


def _function(chosen: Algorithm) -> Callable[..., Run]:
    import importlib

    made: Callable[..., Run] = getattr(importlib.import_module(chosen.module), chosen.function)
    return made


def _result(
    instance: Instance, algorithm: str, options: dict[str, Any], made: Run, seed: Any, seconds: float
) -> Schedule:
    drawn = seed if isinstance(seed, int) else None
    whole = len(made.moves.start) - 1 == instance.packets  # else times alone
    network = instance.network
    return Schedule(
        topology=network.spec,
        routing=instance.paths,
        provenance=provenance(
            {"topology": network.spec, "paths": instance.paths, "algorithm": algorithm} | _told(options),
            seconds,
            "exact: every move is given",
            seed=drawn,
            sources=network.sources,
        ),
        algorithm=algorithm,
        rules=made.rules,
        packets=instance.packets,
        congestion=instance.congestion,
        dilation=instance.dilation,
        makespan=int(made.delivery.max(initial=0)),
        lower_bound=instance.lower_bound,
        deflections=made.deflections if whole else None,
        constants=made.constants,
        notes=(*(() if network.faithful else (network.remark,)), *instance.notes, *made.notes),
        delivery=made.delivery,
        instance=instance,
        moves=made.moves if whole else None,
        plan=made.plan,
    )
