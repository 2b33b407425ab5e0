"""One call for every algorithm of packet routing; its schedules are checked by the verifier."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv._util.rng import Rng, generator, seed_of
from obliv.bufferless.algorithms import find, require_options
from obliv.bufferless.moves import Run
from obliv.checker.verify import verify as check
from obliv.errors import InputError, OblivError
from obliv.results import Schedule, Schedules, Verification, provenance
from obliv.topologies.leveled.instances import Instance

__all__ = ["schedule", "schedules", "verify"]


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
    routing = find(algorithm)
    require_options(algorithm, options)
    progress = rising(progress)
    progress(algorithm, 0.1)
    run = routing.run(instance, generator(rng), options)
    progress("checking", 0.5)
    result = _result(instance, algorithm, options, run, seed_of(rng), time.perf_counter() - began)
    if not check_moves or result.moves is None:
        return result
    verification = verify(result)
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


def verify(schedule: Any, *, progress: Progress | None = None) -> Verification:
    """Check a schedule move by move; the same as :func:`obliv.verify`.

    Parameters
    ----------
    schedule : Schedule, Schedules, str or Path
        A schedule, or a file that :meth:`obliv.Schedule.save` wrote.
    progress : callable, optional
        Called with what is being done and the share that is done, from 0 to 1.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If the argument is neither, or the file is not a complete schedule.

    Examples
    --------
    >>> from obliv import bufferless
    >>> verify(bufferless.schedule(bufferless.instance("butterfly:4"), "hot-potato")).proved
    True
    """
    verification: Verification = check(schedule, progress=progress)
    return verification


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
