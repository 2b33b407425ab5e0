"""GraphML of made-up wide-area networks, in the manner of the Internet Topology Zoo.

Nodes have labels, coordinates and a flag for those inside the network; edges have link labels and sometimes raw speeds;
there are parallel edges, repeated labels and networks that fall apart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["NETWORKS", "WideArea"]


@dataclass(frozen=True)
class WideArea:
    """What a file is to contain."""

    nodes: int
    edges: int
    seed: int
    parallel: bool = False
    repeated_labels: bool = False
    speeds: str = "none"  # none, some, all
    outside: int = 0  # nodes beyond the network's border
    components: int = 1

    def links(self) -> list[tuple[int, int]]:
        """The edges: a tree on each component, then more of them."""
        chance = random.Random(self.seed)
        part = [node % self.components for node in range(self.nodes)]
        links: list[tuple[int, int]] = []
        for node in range(self.components, self.nodes):
            links.append((chance.choice([v for v in range(node) if part[v] == part[node]]), node))
        if self.parallel:
            links.append(links[0])
        while len(links) < self.edges:
            one, two = chance.sample(range(self.nodes), 2)
            if part[one] == part[two] and not {(one, two), (two, one)} & set(links):
                links.append((one, two))
        return links

    def text(self) -> str:
        """The file."""
        chance = random.Random(self.seed + 1)
        keys = [
            ("label", "string", "node", "d0"),
            ("Longitude", "double", "node", "d1"),
            ("Latitude", "double", "node", "d2"),
        ]
        keys += [
            ("Internal", "int", "node", "d3"),
            ("LinkLabel", "string", "edge", "d4"),
            ("LinkSpeedRaw", "double", "edge", "d5"),
        ]
        lines = ['<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
        lines += [
            f'  <key attr.name="{name}" attr.type="{kind}" for="{part}" id="{key}" />' for name, kind, part, key in keys
        ]
        lines.append('  <graph edgedefault="undirected">')
        for node in range(self.nodes):
            label = "Vienna" if self.repeated_labels and node < 2 else f"City {node}"
            inside = int(node >= self.outside)
            lines += [f'    <node id="{node}">', f'      <data key="d0">{label}</data>']
            lines += [
                f'      <data key="d1">{chance.uniform(-9, 30):.5f}</data>',
                f'      <data key="d2">{chance.uniform(35, 60):.5f}</data>',
            ]
            lines += [f'      <data key="d3">{inside}</data>', "    </node>"]
        for number, (one, two) in enumerate(self.links()):
            lines += [f'    <edge source="{one}" target="{two}">', '      <data key="d4">fiber &amp; more</data>']
            if self.speeds == "all" or (self.speeds == "some" and number % 3):
                lines.append(f'      <data key="d5">{chance.choice((155000000.0, 1e9, 2.5e9, 1e10))}</data>')
            lines.append("    </edge>")
        return "\n".join([*lines, "  </graph>", "</graphml>", ""])


NETWORKS = {
    "plain": WideArea(11, 14, 1),
    "dense": WideArea(15, 40, 2),
    "long": WideArea(40, 61, 3, speeds="some"),
    "fast": WideArea(27, 38, 4, speeds="all"),
    "parallel": WideArea(13, 16, 5, parallel=True, speeds="all"),
    "border": WideArea(16, 37, 6, parallel=True, outside=7),
    "labels": WideArea(37, 38, 7, repeated_labels=True),
    "two pieces": WideArea(15, 19, 8, components=2),
    "many pieces": WideArea(15, 8, 9, components=7),
}
