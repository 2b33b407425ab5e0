"""Focus sets against a search of the whole group."""

from __future__ import annotations

import pytest

import obliv
from obliv.papers.focus import channel_between, focus_of


@pytest.mark.parametrize(("spec", "classes"), [("torus:4x3", 2), ("torus:5x5", 1), ("mesh:3x3", 4), ("mesh:4x3", 10)])
def test_classes_are_the_orbits_of_the_group(spec: str, classes: int) -> None:
    topology = obliv.topology(spec)
    focus = focus_of(topology, topology.generators)
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    for c, pair in enumerate(ends):
        reached = {pair}
        waiting = [pair]
        while waiting:
            tail, head = waiting.pop()
            for g in topology.generators:
                image = int(g[tail]), int(g[head])
                if image not in reached:
                    reached.add(image)
                    waiting.append(image)
        assert focus[c] == min(ends.index(each) for each in reached)
    assert len(set(focus)) == classes


def test_without_symmetries_every_channel_stands_for_itself() -> None:
    topology = obliv.topology("torus:4x3")
    assert focus_of(topology, []) == list(range(topology.channels))


def test_channel_between() -> None:
    topology = obliv.topology("torus:4x3")
    for tail, head in ((0, 1), (0, 4), (3, 0), (11, 3)):
        c = channel_between(topology, tail, head)
        assert (int(topology.tail[c]), int(topology.head[c])) == (tail, head)
