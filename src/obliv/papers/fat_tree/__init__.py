"""Oblivious routing in fat-tree based system area networks with uncertain traffic demands.

X. Yuan, W. Nienaber, Z. Duan, R. Melhem, IEEE/ACM Transactions on Networking, 2009.
"""

from __future__ import annotations

from obliv.papers.fat_tree import curves, disjointness, routes, said, structure, variants
from obliv.papers.paper import ComputedEntry, Paper, Step, Table

__all__ = ["PAPER"]


def _other_traffic(step: Step) -> dict[str, ComputedEntry]:
    """Compute the traffic and the trees that the text mentions without figures."""
    return curves.other_trees(lambda share: step(0.2 * share)) | variants.compute(lambda share: step(0.2 + 0.8 * share))


_PROPERTIES = routes.NETWORK | disjointness.DISJOINTNESS | disjointness.PROOFS | routes.ROUTES


def _properties(step: Step) -> dict[str, ComputedEntry]:
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
        "table1": Table("oblivious performance ratios, every even m from 4 to 36", structure.TABLE1, structure.compute),
        "osrm2": Table("OSRM2 if √(m/2) is not an integer: the best grid of groups", structure.OSRM2, structure.osrm2),
        "table2": Table(
            "mean ratio of regular traffic on FT(32,2), random placements", structure.TABLE2, variants.table2
        ),
        "table3": Table(
            "mean ratio of regular traffic on FT(8,3) and FT(16,3), random placements",
            structure.TABLE3,
            variants.table3,
        ),
        "regular": Table("what the text says of Tables II and III", said.REGULAR, variants.regular),
        "figure9": Table("OSRM2, where √(m/2) is not an integer", said.FIGURE9, said.figure9),
        "figure10": Table("OSRM3", said.FIGURE10, said.figure10),
        "figure11": Table(
            "random traffic on FT(16,3): points and what the text says", said.FIGURES["figure11"], curves.figure11
        ),
        "figure12": Table(
            "clusters on FT(32,2): points and what the text says", said.FIGURES["figure12"], curves.figure12
        ),
        "figure13": Table(
            "clusters on FT(8,3): points and what the text says", said.FIGURES["figure13"], curves.figure13
        ),
        "figure14": Table(
            "hot spots on FT(32,2): points and what the text says", said.FIGURES["figure14"], curves.figure14
        ),
        "figure15": Table(
            "hot spots on FT(16,3): points and what the text says", said.FIGURES["figure15"], curves.figure15
        ),
        "clusters": Table(
            "clusters that the text mentions without a figure", said.OTHER_TREES | variants.PRINTED, _other_traffic
        ),
        "properties": Table(
            "the network, its properties and routes, the lemmas and the steps of two proofs",
            {entry: printed for entry, (printed, _) in _PROPERTIES.items()},
            _properties,
        ),
        "statements": Table("algorithms and theorems as printed", said.STATEMENTS, said.compute),
    },
    figures=structure.STRUCTURE | curves.PANELS,
)
