"""Oblivious routing in fat-tree based system area networks with uncertain traffic demands.

X. Yuan, W. Nienaber, Z. Duan, R. Melhem, IEEE/ACM Transactions on Networking, 2009.
"""

from __future__ import annotations

from obliv.papers.fat_tree import (
    curves,
    disjointness,
    drawing,
    network,
    printed,
    proofs,
    routes,
    said,
    statements,
    structure,
    study,
    table1,
    variants,
)
from obliv.papers.paper import Paper, Step, Table, Value

__all__ = ["PAPER"]


def _figures(step: Step) -> dict[str, Value]:
    """Compute the figures, then the traffic without figures."""
    drawn = curves.compute(lambda share: step(0.8 * share))
    return drawn | variants.compute(lambda share: step(0.8 + 0.2 * share))


_PROPERTIES = network.NETWORK | disjointness.DISJOINTNESS | proofs.PROOFS | routes.ROUTES


def _properties(step: Step) -> dict[str, Value]:
    """Compute the properties of the network, and the lemmas."""
    entries = {}
    for at, (entry, (_, compute)) in enumerate(_PROPERTIES.items()):
        entries[entry] = compute()
        step((at + 1) / len(_PROPERTIES))
    return entries


PAPER = Paper(
    name="fat-tree",
    about="X. Yuan et al., Oblivious routing in fat-tree based system area networks (2009): ratios and their study",
    tables={
        "table1": Table("oblivious performance ratios, every even m from 4 to 36", printed.TABLE1, table1.compute),
        "osrm2": Table("OSRM2 if √(m/2) is not an integer: the best grid of groups", printed.OSRM2, table1.osrm2),
        "table2": Table("mean ratio of regular traffic on FT(32,2), random placements", printed.TABLE2, study.table2),
        "table3": Table(
            "mean ratio of regular traffic on FT(8,3) and FT(16,3), random placements", printed.TABLE3, study.table3
        ),
        "regular": Table("what the text says of Tables II and III", said.REGULAR, study.regular),
        "figures": Table(
            "what the text says of Figures 11 to 15, and of clustered traffic that it shows no figure of",
            said.FIGURES | variants.PRINTED,
            _figures,
        ),
        "properties": Table(
            "the network, its properties and routes, the lemmas and the steps of two proofs",
            {entry: printed for entry, (printed, _) in _PROPERTIES.items()},
            _properties,
        ),
        "statements": Table("algorithms and theorems as printed", said.STATEMENTS, statements.compute),
    },
    figures=structure.STRUCTURE | drawing.FIGURES,
)
