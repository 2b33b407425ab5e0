"""Lemma 8 on small trees: links whose maximum disjoint size is 1 carry the pairs of one source or one destination."""

from __future__ import annotations

from itertools import product

import obliv
from obliv.analysis.ratios.disjoint_sets import largest_disjoint_subset, source_set, sources
from obliv.papers.paper import require

__all__ = ["gap_instance", "most_pairs"]

Pair = tuple[int, int]


def most_pairs(half: int, leaves: int) -> int:
    """Return the largest set of pairs through the root of SEFT2(2 half, leaves) with disjoint sizes up to 1.

    The pairs of such a link have one source or one destination in common; all choices of these hosts are tried.
    """
    hosts = range(half * leaves)
    leaf = [host // half for host in hosts]
    between = [(s, d) for s in hosts for d in hosts if leaf[s] != leaf[d]]
    stars = [{pair for pair in between if pair[end] == host} for end in (0, 1) for host in hosts]
    up = [{(s, d) for s, d in between if leaf[s] == switch} for switch in range(leaves)]
    down = [{(s, d) for s, d in between if leaf[d] == switch} for switch in range(leaves)]
    stars_up, stars_down = (
        [list({frozenset(star & link) for star in stars if star & link}) for link in side] for side in (up, down)
    )
    best = 0
    for chosen in product(*stars_up):
        carried = set().union(*chosen)
        best = max(best, sum(max(len(carried & star) for star in link) for link in stars_down))
    return best


def gap_instance() -> tuple[int, int]:
    """Return the pairs of the instance on SEFT2(4,4), and L of what is left of the pairs from switch 0.

    Raises
    ------
    ArithmeticError
        If a link's maximum disjoint size is not 1.
    """
    tree = obliv.sub_eft2(4, 4)
    elsewhere = range(2, 8)
    pairs = {(0, host) for host in elsewhere} | {(host, 0) for host in elsewhere}
    routing = obliv.routing("dmodk", tree)
    on_links: dict[int, set[Pair]] = {}
    for s, d in pairs:
        for channels, _ in routing.paths(s, d):
            for channel in channels:
                on_links.setdefault(channel, set()).add((s, d))
    sizes = {len(largest_disjoint_subset(part)) for part in on_links.values()}
    require(sizes == {1}, "every link has a maximum disjoint size of 1")
    from_switch = {(s, d) for s, d in pairs if s < 2}
    heavy: set[Pair] = set()
    for switch in range(1, 4):
        part = {(s, d) for s, d in from_switch if d // 2 == switch}
        for source in sources(part):
            if len(source_set(part, source)) > 1:
                heavy |= source_set(part, source)
    return len(pairs), len(largest_disjoint_subset(from_switch - heavy))
