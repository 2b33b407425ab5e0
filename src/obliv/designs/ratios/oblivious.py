"""The oblivious performance ratio: by the closed form of fat trees where it holds, else by linear programming."""

from __future__ import annotations

from obliv._util.progress import Progress
from obliv._util.rationals import boolean
from obliv.analysis.ratios.oblivious import tree_ratio
from obliv.analysis.ratios.optimum import has_base_load
from obliv.analysis.subject import Subject, by_specs, subject_of
from obliv.designs.ratios.search import network_ratio
from obliv.results.analysis.ratio import Ratio

__all__ = ["ratio"]


@by_specs
def ratio(x: Subject, *, certificate: bool = False, progress: Progress | None = None) -> Ratio:
    """Return the most that a routing loads a link beyond the best routing of the same traffic, over all traffic.

    Parameters
    ----------
    x : Routing or PairLoads
        On any network.
    certificate : bool
        Whether to keep what proves it for all channels.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Ratio
        Exact or, where the bounds do not meet, between two proved bounds, with traffic that shows the lower one. On
        fat trees also the best that any single-path routing can do, where known.

    Raises
    ------
    InputError
        If the routing leaves pairs out.
    TopologyError
        If some terminals cannot reach each other.
    MissingExtraError
        If the solver (highspy) is needed and not installed.
    TooLargeError
        If the linear programs would not fit in memory.

    Notes
    -----
    Where a base load of 1, the most that a host sends or takes, can always be carried, the ratio is the worst case over
    all traffic in which no host sends or takes more than 1, so the exact worst case (Towles) is the exact ratio; for
    single paths on trees it is the largest node-disjoint set of pairs on a link. That is checked. Fabrics that are fat
    trees are recognized by :func:`obliv.fabric.ratio`.

    On all other networks one linear program a channel finds the worst traffic among all that some routing carries
    without loading a channel by more than 1 (Applegate and Cohen). No number is believed from the solver: lengths of
    channels prove the upper bound, explicit flows the lower one, in exact arithmetic. Rates of terminals play no part,
    since traffic of any size is compared with the best routing of the same traffic. What a terminal sends to itself
    counts for neither routing.

    References
    ----------
    [YNDM09] X. Yuan, W. Nienaber, Z. Duan, R. Melhem, "Oblivious routing in fat-tree based system area networks with
    uncertain traffic demands", IEEE/ACM Transactions on Networking, 2009.

    [AC03] D. Applegate, E. Cohen, "Making intra-domain routing robust to changing and uncertain traffic demands",
    SIGCOMM 2003.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.topology("fattree:8,3")
    >>> [int(obliv.ratio(obliv.routing(name, tree)).ratio) for name in ("dmodk", "osrm3", "osrm3-d", "omrmn")]
    [7, 4, 4, 1]
    >>> obliv.ratio(obliv.routing("ecmp", obliv.topology("ring:6"))).ratio
    Fraction(2, 1)
    """
    certificate = boolean(certificate, "certificate")
    topology = subject_of(x, "ratio").topology
    solve = tree_ratio if has_base_load(topology) else network_ratio
    return solve(x, certificate=certificate, progress=progress)
