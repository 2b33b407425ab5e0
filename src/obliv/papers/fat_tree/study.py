"""Tables II and III of the performance study: regular traffic, placed at random.

The paper averages 32 placements, so what it prints has a standard error too; means are over 64 here.
"""

from __future__ import annotations

from itertools import groupby

import obliv
from obliv.papers.fat_tree import placements
from obliv.papers.fat_tree.placements import INSTANCES, placed, ratios
from obliv.papers.fat_tree.printed import TABLE2, TABLE3
from obliv.papers.paper import Step, Value

__all__ = ["PATTERNS", "mean", "table2", "table3"]

#: The definitions that reproduce the tables: "3D mesh" is a torus, rings and trees send both ways.
PATTERNS = {"Ring": "ring", "2D Mesh": "mesh2d", "3D Mesh": "torus3d", "Hypercube": "hypercube", "Binary Tree": "tree"}


def table2(step: Step) -> dict[str, Value]:
    """Compute mean ratios on FT(32,2)."""
    return _table({entry: ("FT(32,2)", *entry.split(", ")) for entry in TABLE2}, step)


def table3(step: Step) -> dict[str, Value]:
    """Compute mean ratios on FT(8,3) and FT(16,3)."""
    return _table({entry: tuple(entry.split(", ")) for entry in TABLE3}, step)


def mean(m: int, n: int, routing: str, traffic: str, instances: int = INSTANCES) -> obliv.Estimate:
    """Return the mean performance ratio of one routing on FT(m, n) over random placements."""
    return placements.mean(ratios(m, n, [routing], placed(traffic), instances)[routing])


def _table(entries: dict[str, tuple[str, ...]], step: Step) -> dict[str, Value]:
    computed = {}
    # the routings of one tree and pattern stand next to each other
    for (tree, pattern), group in groupby(entries.items(), lambda item: item[1][:2]):
        names = {routing: entry for entry, (_, _, routing) in group}
        m, n = (int(number) for number in tree[3:-1].split(","))
        for routing, values in ratios(m, n, list(names), placed(PATTERNS[pattern]), 2 * INSTANCES).items():
            value = placements.mean(values)
            computed[names[routing]] = Value(value, print_error=value.stderr * (value.samples / INSTANCES) ** 0.5)
        step(len(computed) / len(entries))
    return computed
