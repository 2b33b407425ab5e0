"""Heat maps of jobs: the load of each of the hottest cables in every phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.fabric.results.job import FabricJob
from obliv.fabric.results.route import FabricRoute
from obliv.fabric.results.worst import Bisection, WhatIf
from obliv.questions.failures import FailureState, state_text
from obliv.results.numbers import as_float
from obliv.view.axes import (
    ACCENT,
    LITERAL,
    LOADS,
    SERIES,
    Title,
    bar,
    called,
    colormap,
    finish,
    room,
    shortened,
    subject_of,
    title_of,
)
from obliv.view.charts.base import Bar, draw_numbers, height_of, mark_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_NAMED = 40  # phases whose names are written


def plot_job(result: FabricJob, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw a row for each of the hottest cables and a column for each phase, darker where the load is larger.

    Parameters
    ----------
    result : FabricJob
        The result of :func:`obliv.fabric.job`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If no phase loads a cable.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> result = obliv.fabric.job(routing, ["host(0,0)", "host(1,0)", "host(2,0)", "host(3,0)"], "alltoall")
    >>> ax = plot_job(result)
    """
    cables, phases = len(result.cables), len(result.phases)
    if not cables or not phases:
        raise InputError.naming("no cable is loaded or named: there is nothing to draw; see {hottest}")
    heat = np.array(result.heat, float).reshape(phases, cables).T / result.heat_unit
    own = ax is None
    ax = room(ax, min(7.0, max(2.4, 0.28 * phases)), 0.6 + 0.2 * cables)
    image = ax.imshow(
        np.ma.masked_equal(heat, 0), cmap=colormap("loads", LOADS), vmin=0, aspect="auto", interpolation="nearest"
    )
    ax.set_yticks(range(cables), labels=[cable.ends for cable in result.cables], fontsize=7, **LITERAL)
    if phases <= _NAMED:
        several = len(result.jobs) > 1
        names = [f"{phase.job}: {phase.name}" if several else phase.name for phase in result.phases]
        ax.set_xticks(range(phases), labels=names, rotation=90, fontsize=7, **LITERAL)
    ax.set_xlabel("phase")
    bar(ax, image, "load")
    patterns = ", ".join(f"{job.pattern} of {job.ranks:,} ranks" for job in result.jobs)
    return finish(ax, own, [f"{patterns}: {subject_of(result)}"], title=title)


# Forwarding tables as bars of worst loads: those of engines, before and after a change; and bisections


_REASON = 52  # characters of the reason why an engine gave no tables
_CHANGES = 3  # that a title names


def plot_route(result: FabricRoute, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the worst loads of the tables in use and of each engine tried, beside the lower bound.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_route(obliv.fabric.route(obliv.fabric.from_topology(obliv.fattree(4, 2))))
    """
    bars = []
    for attempt in result.candidates:
        name = called(attempt.engine) + ("\n(kept)" if result.kept else "\n(written)") * attempt.chosen
        if (standing := attempt.standing) is None:
            bars.append(Bar(name, None, text=shortened(attempt.reason, _REASON)))
        else:
            bars.append(Bar(name, standing.worst, ACCENT if standing.credit_loops else SERIES[0], str(standing)))
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    least = 0.0 if result.lower_bound is None else as_float(result.lower_bound)
    if result.lower_bound is not None:
        mark_line(ax, least, f"single paths: at least {result.lower_bound}", "bound", "left")
    draw_numbers(ax, bars, least)
    ax.set_xlabel("worst load")
    return finish(ax, own, [title_of(result)], title=title)


def plot_what_if(result: WhatIf, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the worst load before and after a change, with the pairs that are missing and credit loops.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> ax = plot_what_if(obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"]))
    """
    bars = [_bar("before", result.before), _bar("after", result.after)]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    draw_numbers(ax, bars)
    ax.set_xlabel("worst load")
    more = len(result.changes) - _CHANGES
    changes = [*result.changes[:_CHANGES], *([f"and {plural(more, 'more change')}"] if more > 0 else [])]
    lines = [f"{subject_of(result)}", "; ".join(changes) or "no change"]
    pairs = f"{plural(abs(result.pairs_lost), 'pair')} {'gained' if result.pairs_lost < 0 else 'lost'}"
    return finish(ax, own, lines, [pairs], title=title)


def _bar(name: str, state: FailureState) -> Bar:
    return Bar(name, state.channel_load, ACCENT if state.deadlock else SERIES[0], state_text(state))


def plot_bisection(result: Bisection, ax: Axes | None = None, *, title: Title = True) -> Axes:
    """Draw the mean bandwidth of random bisections, an estimate, beside the smallest and the largest of them.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    >>> ax = plot_bisection(obliv.fabric.bisection(routing, samples=20))
    """
    bars = [
        Bar(f"mean of {result.bandwidth.samples:,} bisections", result.bandwidth),
        Bar("smallest of them", result.smallest, SERIES[4]),
        Bar("largest of them", result.largest, SERIES[4]),
    ]
    own = ax is None
    ax = room(ax, 5.6, height_of(bars))
    mark_line(ax, 1.0, "full bandwidth", "full", "right")
    draw_numbers(ax, bars, 1.0)
    ax.set_xlabel("bandwidth of a pair, as a share of a host's link")
    return finish(ax, own, [f"{subject_of(result)}"], title=title)
