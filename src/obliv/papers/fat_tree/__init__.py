"""Oblivious routing in fat-tree based system area networks with uncertain traffic demands.

X. Yuan, W. Nienaber, Z. Duan, R. Melhem, IEEE/ACM Transactions on Networking, 2009.
"""

from __future__ import annotations

from functools import partial

from obliv.papers.fat_tree import curves, disjointness, routes, statements, structure, variants

__all__ = ["PAPER"]

_PROPERTIES = (*routes.NETWORK, *disjointness.DISJOINTNESS, *disjointness.PROOFS, *routes.ROUTES)

PAPER = statements.PRINT.paper(
    "fat-tree",
    {
        "table1": structure.compute,
        "osrm2": structure.osrm2,
        "table2": partial(variants.means, "table2"),
        "table3": partial(variants.means, "table3"),
        "regular": variants.regular,
        "figure9": statements.figure9,
        "figure10": statements.figure10,
        "figure11": curves.figure11,
        "figure12": curves.figure12,
        "figure13": curves.figure13,
        "figure14": partial(curves.spots, "figure14", 32, 2),
        "figure15": partial(curves.spots, "figure15", 16, 3),
        "clusters": curves.other_traffic,
        "properties": lambda step: (compute() for compute in _PROPERTIES),
        "statements": statements.compute,
    },
    structure.STRUCTURE | curves.PANELS,
    more={"table1": structure.TABLE1, "osrm2": structure.OSRM2, "clusters": variants.PRINTED, **statements.POINTS},
)
