"""Heat maps of jobs: the load of each of the hottest cables in every phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from obliv.errors import InputError
from obliv.fabric.results.job import FabricJob
from obliv.view.axes import LITERAL, LOADS, Title, bar, colormap, finish, room, subject_of

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
