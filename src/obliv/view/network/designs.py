"""A designed routing: its worst case on the network, and how far from the best one it can be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from obliv.checker.designs import worst_case_of
from obliv.errors import InputError
from obliv.results import AverageDesign, Design, RatioDesign, WorstCase
from obliv.results.format import short
from obliv.results.numbers import bounds_of
from obliv.topologies.make import topology as topology_of
from obliv.view.axes import Title, title_of
from obliv.view.network.names import Labels
from obliv.view.network.witness import network_named
from obliv.view.network.worst_case import draw_worst

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_design"]


def plot_design(
    result: Design, kind: str = "network", ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the worst traffic of a designed routing and the loads under it, with the proved distance to the optimum.

    Parameters
    ----------
    result : Design
        The result of :func:`obliv.design`, with its certificate.
    kind, ax, labels, title
        As for :func:`obliv.view.plot_worst`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the result was saved without its certificate, which holds the worst traffic.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_design(obliv.design("mesh:3x3"))
    """
    worst, optimum = _worst_of(result), dict(result.summary())["optimality"]
    optimum = "proved optimal" if optimum == "proved" else optimum
    load, aim, remarks = f"worst-case channel load {short(worst.channel_load)}", "", []
    if isinstance(result, RatioDesign):
        aim, remarks = f"ratio {short(bounds_of(result.ratio)[1])}", [load]
    elif isinstance(result, AverageDesign):
        remarks = [f"mean largest load {short(result.average_load)} (estimated)"]
    what = title_of(result).removeprefix("design: ")
    heading = ", ".join((what[0].upper() + what[1:], *result.constraints))
    return draw_worst(worst, kind, ax, labels, [heading, f"{aim or load}, {optimum}"], remarks, title)


def _worst_of(result: Design) -> WorstCase:
    """Return the worst case inside a design, with its routing."""
    if result.certificate is None:
        raise InputError("this design has no certificate, which holds its worst traffic: save the design whole")
    worst = WorstCase.from_dict(result.certificate["worst"])
    if result.subject is not None:
        return replace(worst, subject=result.subject)
    inside = {name: result.certificate[name] for name in ("network",) if name in result.certificate}
    network = topology_of(network_named(replace(worst, certificate=(worst.certificate or {}) | inside)))
    return replace(worst, subject=worst_case_of(result.to_dict(), network)[2])
