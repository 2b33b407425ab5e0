"""Trees of switches with parallel cables, as topologies; D-mod-k on them by its definition, and drawn ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.topologies.base import Topology
from obliv.topologies.make import build


@dataclass(frozen=True)
class Tree:
    """A tree of two or three levels of switches.

    Every leaf has `cables` parallel cables to each of the `aggs` switches of its pod. With three levels each of these
    has `more` cables to each of its `cores`, which all of them share (`joined`) or those of one number in all pods.
    """

    leaves: int
    hosts: int
    aggs: int
    cables: int
    pods: int = 1
    cores: int = 0
    more: int = 0
    joined: bool = False

    @property
    def levels(self) -> int:
        return 3 if self.cores else 2

    @property
    def tapered(self) -> bool:
        up = self.leaves * self.cables, self.cores * self.more
        return self.hosts > self.aggs * self.cables or (self.levels == 3 and up[0] > up[1])

    def topology(self, without: int = 0, seed: int = 0) -> Topology:
        """The network with hosts first, leaf by leaf, and without some cables between switches."""
        hosts = self.pods * self.leaves * self.hosts
        agg = hosts + self.pods * self.leaves
        core = agg + self.pods * self.aggs
        links, trunks = [], []
        for leaf in range(self.pods * self.leaves):
            links += [(leaf * self.hosts + host, hosts + leaf) for host in range(self.hosts)]
            pod = leaf // self.leaves
            trunks += [(hosts + leaf, agg + pod * self.aggs + a) for a in range(self.aggs) for _ in range(self.cables)]
        for a in range(self.pods * self.aggs if self.cores else 0):
            first = core if self.joined else core + a % self.aggs * self.cores
            trunks += [(agg + a, first + c) for c in range(self.cores) for _ in range(self.more)]
        gone = set(random.Random(seed).sample(range(len(trunks)), without))
        links += [trunk for k, trunk in enumerate(trunks) if k not in gone]
        nodes = core + (self.cores * (1 if self.joined else self.aggs) if self.cores else 0)
        return build("tree", nodes, links + [(b, a) for a, b in links], terminals=range(hosts))

    def fabric(self, without: int = 0, seed: int = 0) -> Fabric:
        return from_topology(self.topology(without, seed))

    def d_mod_k(self, source: int, destination: int) -> list[tuple[str, int, int, int]]:
        """The route by Zahavi's definition for parallel cables: channels as (kind, lower, upper, cable).

        Lower and upper switches are numbered on their levels. At level l the way up takes channel d // w_1...w_l
        modulo w p of the next level, parent by parent and then again for the cables; down it takes the same cables.
        """
        leaf, goal = source // self.hosts, destination // self.hosts
        if leaf == goal:
            return []
        cable, a = divmod(destination % (self.aggs * self.cables), self.aggs)
        pod, far = leaf // self.leaves, goal // self.leaves
        up, down = ("up", leaf, pod * self.aggs + a, cable), ("down", goal, far * self.aggs + a, cable)
        if pod == far:
            return [up, down]
        above, c = divmod(destination // self.aggs % (self.cores * self.more), self.cores)
        core = c if self.joined else a * self.cores + c
        return [up, ("up2", pod * self.aggs + a, core, above), ("down2", far * self.aggs + a, core, above), down]


def drawn(count: int, seed: int = 2026) -> Iterator[tuple[Tree, int]]:
    """Trees of two and three levels, many with parallel cables at both, and how many cables to take out."""
    draw = random.Random(seed)
    while count:
        wide = draw.choice([1, 2, 2, 3, 4]), draw.choice([1, 2, 2, 3, 4])
        if draw.random() < 0.3:
            tree = Tree(draw.randint(2, 8), draw.choice([2, 3, 4, 6, 8]), *wide)
        else:
            pods, more = draw.randint(2, 4), (draw.choice([1, 2, 2, 4]), draw.choice([1, 2, 2]))
            few = draw.choice([1, 2, 2, 3]), draw.choice([1, 2, 2])
            tree = Tree(draw.randint(2, 4), draw.choice([2, 3, 4]), *few, pods, *more, draw.random() < 0.4)
        without = draw.choice([0, 0, 0, 1, 2, 3])
        if without < min(tree.aggs * tree.cables, tree.cores * tree.more or 9):  # no switch is cut off
            yield tree, without
            count -= 1
