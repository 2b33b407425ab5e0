"""The quality of forwarding tables, and which tables are better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from obliv._util.progress import Progress
from obliv._util.rationals import exact
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.analysis.worst_case.exact import worst_load
from obliv.errors import InputError
from obliv.fabric.analyses.many import BLOCK, largest
from obliv.fabric.analyses.shifts import shift_images
from obliv.fabric.checks.credit_loops import credit_loops
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.lanes.read import Lanes
from obliv.fabric.lanes.tables import LaneTables, identity
from obliv.fabric.lanes.verdict import judge
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.uniform import idle_channels, uniform_load
from obliv.results.fabric.route import FIGURES, ShiftLoads, Standing
from obliv.results.numbers import Estimate

__all__ = ["BY", "key_by", "limits_for", "refused", "standing_of"]

#: The first figure by which tables are compared.
BY = ("worst", "uniform", "shifts", "balanced")

_SAMPLES = 256  # random permutations
_SEED = 0  # the same ones for all tables

_Key = Callable[[Standing], tuple[Any, ...]]


def standing_of(
    routing: FabricRouting,
    levels: Levels | None = None,
    tables: LaneTables | None = None,
    *,
    brief: bool = False,
    progress: Progress | None = None,
) -> Standing:
    """Return the quality of the tables of a routing; pairs that do not reach each other count as missing.

    Parameters
    ----------
    routing : FabricRouting
        Made with ``missing="skip"``.
    levels : Levels, optional
        The service levels of pairs; by default all packets take one lane.
    tables : LaneTables, optional
        The SL-to-VL tables; by default the lane is the service level.
    brief : bool
        Whether to leave out shifts, random permutations and idle channels.
    progress : callable, optional
    """
    fabric, hosts = routing.topology.fabric, len(routing.topology.terminals)
    step = progress or (lambda what, share: None)
    owned = fabric.ports.lid > 0
    shifts = random = None
    if hosts > 1 and not brief:
        load, unit = largest(routing, shift_images(hosts), hosts - 1, what="shifts", jobs=None, progress=step)
        shifts = ShiftLoads(int(load.max()) * unit, Fraction(int(load.sum()), hosts - 1) * unit)
        load, unit = largest(routing, _samples(hosts), _SAMPLES, what="random", jobs=None, progress=step)
        sample = load * float(unit)
        random = Estimate(float(sample.mean()), float(sample.std(ddof=1) / sqrt(_SAMPLES)), _SAMPLES)
    deadlock, lanes = not credit_loops(routing.routes.traces).acyclic if levels is None else False, 1
    if levels is not None:
        verdict = judge(routing.routes.traces, Lanes(fabric, tables or identity(fabric), levels))
        deadlock = verdict.graph.cycle is not None or verdict.lacking > 0
        lanes = 1 + max(verdict.lanes_used, default=0)
    return Standing(
        worst=worst_load(routing.fabric_loads),
        uniform=uniform_load(routing),
        shifts=shifts,
        random=random,
        idle_channels=0 if brief else len(idle_channels(routing)),
        missing=routing.skipped,
        credit_loops=deadlock,
        lmc=int(fabric.ports.lmc[fabric.endpoints].max()),
        lids=int((1 << fabric.ports.lmc[owned].astype(np.int64)).sum()),
        lanes=lanes,
    )


def _samples(hosts: int) -> Iterator[Array]:
    """Yield random permutations of the hosts, always the same ones."""
    random, step = np.random.default_rng(_SEED), max(1, BLOCK // hosts)
    for first in range(0, _SAMPLES, step):
        yield random.permuted(np.tile(np.arange(hosts), (min(step, _SAMPLES - first), 1)), axis=1)


def key_by(by: str, brief: bool = False) -> _Key:
    """Return the order of tables, the smaller, the better: served pairs, credit loops, then figure by figure.

    A brief key ends before the first figure that :func:`standing_of` leaves out.
    """
    first = {"uniform": ("uniform", "mean-shift"), "shifts": ("mean-shift", "worst-shift")}.get(by, ())
    names = list(dict.fromkeys((*first, "worst", "uniform", "mean-shift", "idle", "lids")))
    if brief:
        names = names[: names.index("mean-shift")]

    def key(standing: Standing) -> tuple[Any, ...]:
        figures = standing.figures
        rest = () if brief else (standing.lanes,)
        return standing.missing, standing.credit_loops, *(figures[name] for name in names), *rest

    return key


def limits_for(allow: Mapping[str, object]) -> dict[str, Fraction]:
    """Return the figures that may grow, and up to what.

    Raises
    ------
    InputError
        If a figure is unknown or its limit is not a number.
    """
    limits: dict[str, Fraction] = {}
    for name, value in allow.items():
        figure = str(name).lower().replace("_", "-").replace(" ", "-")
        if figure not in (known := (*FIGURES, "shifts")):
            raise InputError(f"allow: figure {figure[:40]!r} is unknown: {did_you_mean(figure, known)}")
        if (limit := exact(value)) is None:
            raise InputError(f"allow: {figure}={str(value)[:40]} is not a number, such as 2 or 7/4")
        if limit < 0:
            raise InputError(f"allow: {figure}={str(value)[:40]} is negative, and no figure is")
        for one in ("worst-shift", "mean-shift") if figure == "shifts" else (figure,):
            limits[one] = limit
    return limits


def refused(new: Standing, old: Standing, limits: Mapping[str, Fraction]) -> dict[str, Fraction | int | float]:
    """Return the figures that are larger than in use and larger than allowed, with their values."""
    figures = new.figures
    return {
        name: figures[name]
        for name in sorted(new.grown(old), key=list(FIGURES).index)
        if not (name in limits and figures[name] <= limits[name])
    }
