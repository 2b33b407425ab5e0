"""The oblivious performance ratio of forwarding tables, on fabrics that are complete fat trees."""

from __future__ import annotations

import time

from obliv._util.progress import Progress
from obliv.analysis.ratios.optimum import require_base_load
from obliv.analysis.worst_case.exact import worst_case
from obliv.errors import InputError
from obliv.fabric.analyses.many import provenance_of
from obliv.fabric.arguments import typed
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.shape.tree import recognise
from obliv.fabric.topology import FabricTopology
from obliv.results import Ratio
from obliv.results.numbers import known
from obliv.topologies.tree_bounds import bound_of
from obliv.topologies.trees import Tree

__all__ = ["has_closed_form", "ratio"]

_INSTEAD = "use obliv.ratio, which solves linear programs"


def has_closed_form(topology: FabricTopology) -> bool:
    """Return whether the best routing of every traffic on a fabric is known, so that :func:`ratio` is defined."""
    try:
        _known_tree(topology)
    except InputError:
        return False
    return True


@typed
def ratio(routing: FabricRouting, *, progress: Progress | None = None) -> Ratio:
    """Return how much more tables load a cable than the best routing of the same traffic, at most over all traffic.

    Parameters
    ----------
    routing : FabricRouting
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Ratio
        Exact.

    Raises
    ------
    InputError
        If the best routing of every traffic is not known: the fabric is not a fat tree, or it is tapered or has cables
        that are missing, parallel or of unequal speeds. :func:`obliv.ratio` then solves linear programs.

    Notes
    -----
    On a fat tree whose best routing carries every traffic at its base load, the ratio is the worst case; see
    :func:`obliv.ratio`.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> int(ratio(from_routing(obliv.routing("osrm3-d", obliv.topology("fattree:8,3")))).ratio)
    4
    """
    began = time.perf_counter()
    topology = routing.topology
    name, tree = _known_tree(topology)
    worst = worst_case(routing, progress=progress)
    single = routing.routes.denominator == 1
    bound = bound_of(tree) if single and _climbs(routing, tree) else None
    ends = (worst.channel.tail, worst.channel.head) if worst.channel else ()
    names = tuple(topology.name_of(node) for node in ends) or ("", "")
    return Ratio(
        topology=topology.spec,
        routing=routing.spec,
        provenance=provenance_of(routing, began),
        subject=routing,
        ratio=known(worst.channel_load),
        channel=worst.channel,
        permutation=worst.permutation or (),
        lower_bound=None if bound is None else bound[0],
        lower_bound_source=bound[1] if bound is not None else f"no bound is known for these paths on {name}",
        names=(names[0], names[1]),
    )


def _known_tree(topology: FabricTopology) -> tuple[str, Tree]:
    """Return the fat tree that a fabric is, by name; InputError where its best routing is not known."""
    shape = recognise(topology.fabric)
    if shape is None or not shape.complete:
        what = "is not a fat tree" if shape is None else f"is not a complete {shape.name}"
        raise InputError(
            f"{topology.fabric.name} {what}, so the best routing of every traffic is not known; {_INSTEAD}"
        )
    if topology.bandwidth or not topology.unit_rates:
        raise InputError(
            f"{topology.fabric.name} has cables of unequal speeds, so the best routing is not known; {_INSTEAD}"
        )
    return shape.name, require_base_load(shape.tree)


def _climbs(routing: FabricRouting, tree: Tree) -> bool:
    """Return whether all paths are shortest, so that they go up and then down."""
    hosts = tree.below[-1]
    least = 2 * hosts * sum(hosts - below for below in tree.below[:-1])
    return int(routing.fabric_loads.totals().sum()) == least
