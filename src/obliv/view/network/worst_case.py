"""The worst case of a routing: its traffic and the loads under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from obliv._util.text import did_you_mean, plural
from obliv.errors import InputError
from obliv.results import Estimate, HeaviestPermutation, Ratio, WorstCase
from obliv.results.format import brief, short
from obliv.view.axes import Title, finish, key, subject_of
from obliv.view.figures import require_matplotlib
from obliv.view.network.canvas import canvas
from obliv.view.network.channels import as_amounts, loads_on, outlined, worst_sign
from obliv.view.network.flows import draw_flows, flow_sign
from obliv.view.network.matrix import draw_matrix
from obliv.view.network.names import Labels, require_labels
from obliv.view.network.nodes import draw_missing, node_signs
from obliv.view.network.ports import channel_title
from obliv.view.network.tiers import draw_tiers, tiers_of
from obliv.view.network.witness import Witness, witness
from obliv.view.style import INK, MANY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_worst", "plot_heaviest", "plot_ratio", "plot_worst"]

_KINDS = ("matrix", "network")


def plot_worst(
    result: WorstCase, kind: str = "network", ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the worst case of a routing.

    Parameters
    ----------
    result : WorstCase
        The result of :func:`obliv.worst_case`, or a loaded one, whose routing is created from its spec.
    kind : {"network", "matrix"}
        ``network``: the load of every channel, and an arrow for every pair of the worst traffic. ``matrix``: a dot for
        every pair, in the row of its source and the column of its destination. In both, orange shows the load of a pair
        on the worst channel.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure.
    labels : {"auto", True, False}
        Names of the nodes, as for :func:`obliv.view.draw_topology`.
    title : bool or str
        Whether to write a title, or the title to write in its place.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the kind is unknown, or the result does not name its routing.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.routing("dor", obliv.mesh(4, 4)))
    >>> ax = plot_worst(result, "matrix")
    """
    estimated = " (estimated)" if isinstance(result.channel_load, Estimate) else ""
    load = f"worst-case channel load {short(result.channel_load)}{estimated}"
    return draw_worst(result, kind, ax, labels, [subject_of(result), load], _remarks(result), title)


def plot_ratio(
    result: Ratio, kind: str = "network", ax: Axes | None = None, *, labels: Labels = "auto", title: Title = True
) -> Axes:
    """Draw the traffic that attains the performance ratio of a routing, and the loads under it.

    The best routing of this traffic loads no channel by more than its bandwidth.

    Parameters
    ----------
    result : Ratio
        The result of :func:`obliv.ratio`, or a loaded one, whose routing is created from its spec.
    kind, ax, labels, title
        As for :func:`plot_worst`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        As for :func:`plot_worst`.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_ratio(obliv.ratio(obliv.DModK(obliv.fattree(4, 2))))
    """
    worst = WorstCase(
        topology=result.topology,
        routing=result.routing,
        subject=result.subject,
        channel_load=result.lower,
        channel=result.channel,
        permutation=result.permutation or None,
        traffic=result.traffic,
        certificate=result.certificate,
    )
    lines = [subject_of(result), f"performance ratio {short(result.ratio)}"]
    return draw_worst(worst, kind, ax, labels, lines, [], title)


def plot_heaviest(
    result: HeaviestPermutation,
    kind: str = "network",
    ax: Axes | None = None,
    *,
    labels: Labels = "auto",
    title: Title = True,
) -> Axes:
    """Draw the permutation in a traffic matrix that loads the worst channel of the matrix most.

    Parameters
    ----------
    result : HeaviestPermutation
        The result of :func:`obliv.heaviest_permutation`, or a loaded one, whose routing is created from its spec.
    kind, ax, labels, title
        As for :func:`plot_worst`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        As for :func:`plot_worst`.

    Examples
    --------
    >>> import obliv
    >>> ax = plot_heaviest(obliv.heaviest_permutation(obliv.DOR(obliv.mesh(3, 3)), "uniform"))
    """
    worst = WorstCase(
        topology=result.topology,
        routing=result.routing,
        subject=result.subject,
        channel_load=result.channel_load,
        channel=result.channel,
        permutation=result.permutation,
    )
    heading = f"{subject_of(result)}: heaviest permutation in {result.traffic}"
    load = f"channel load {short(result.channel_load)}"
    whole = f"under all of {result.traffic}: {short(result.traffic_load)}"
    return draw_worst(worst, kind, ax, labels, [heading, load], [whole], title)


def draw_worst(
    result: WorstCase,
    kind: str,
    ax: Axes | None,
    labels: Labels,
    lines: Sequence[str],
    remarks: Sequence[str],
    title: Title,
) -> Axes:
    """Draw the traffic of a worst case, under a title of `lines` and `remarks`, another one, or none."""
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r} of picture: {did_you_mean(str(kind), _KINDS)}")
    require_labels(labels)
    require_matplotlib()
    shown, own = witness(result), ax is None
    ax = draw_matrix(shown, ax, labels) if kind == "matrix" else _network(shown, ax, labels, result)
    return finish(ax, own, lines, remarks, title=title)


def _network(shown: Witness, ax: Axes | None, labels: Labels, result: WorstCase) -> Axes:
    from matplotlib.lines import Line2D

    topology, many, worst = shown.topology, shown.topology.nodes > MANY, shown.channel
    amounts = as_amounts(topology, shown.loads.under(shown.traffic))
    if isinstance(result.channel_load, Estimate):  # one number for one channel: the estimate that is written
        amounts[worst] = result.channel_load.value
    name = f"worst {channel_title(topology, worst)}: load {brief(result.channel_load)}"
    if (tiers := tiers_of(topology)) is not None:
        on, more = draw_tiers(topology, tiers, ax, amounts, shown.label, worst, shown.strong)
        first = worst_sign("o", name)
    else:
        weak = () if many else shown.weak
        on = canvas(topology, ax, labels, [*shown.strong, *weak], worst)
        more = [*draw_missing(on), *node_signs(topology)]
        loads_on(on, amounts, shown.label)
        draw_flows(on, shown.strong, weak)
        first = outlined(on, worst, amounts, name)
    darker = " (darker: more)" if len({share for _, _, share in shown.strong}) > 1 else ""
    weak_text = plural(len(shown.weak), "other pair") + (" (not drawn)" if many else "")
    signs = [
        first,
        flow_sign(on, shown.strong, plural(len(shown.strong), "pair that loads it", "pairs that load it") + darker),
        Line2D([], [], color=INK, alpha=0.4, linewidth=0.9, label=weak_text),
    ]
    key(on.ax, [*(signs if shown.weak else signs[:2]), *more])
    return on.ax


def _remarks(result: WorstCase) -> list[str]:
    if result.fraction_of_capacity is not None:
        return [f"throughput {short(result.fraction_of_capacity)} of capacity"]
    return [] if result.throughput is None else [f"throughput {short(result.throughput)}"]
