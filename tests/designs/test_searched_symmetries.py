"""Designs of networks whose symmetries are searched: the same optimum with either package, and with none."""

from __future__ import annotations

import numpy as np
import pytest

import obliv
from obliv.designs import programme as symmetry
from obliv.designs.programme import orbits, symmetry_of
from obliv.topologies import isomorphism


@pytest.mark.nightly
@pytest.mark.parametrize("package", ["igraph", "canonaut", "none"])
def test_the_optimum_is_the_same(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if package != "none":
        pytest.importorskip(package)
    scripts = {package: isomorphism._SEARCHES[package]} if package != "none" else {}
    monkeypatch.setattr(isomorphism, "_SEARCHES", scripts)
    monkeypatch.setattr(symmetry, "_WORTH", 0)
    mesh = obliv.topology("mesh:3x3")
    ends = list(zip(mesh.tail.tolist(), mesh.head.tolist()))
    network = obliv.build("from a file", 9, ends)
    maps = symmetry_of(network, search=True).generators
    assert symmetry_of(network).generators == ()
    label, count = orbits(24, [g.channels for g in maps])
    assert count == (4 if package != "none" else 24)  # from corners, to corners, to the middle, from it
    assert np.array_equal(np.unique(label), np.arange(count))
    best = obliv.design(network)
    assert (best.channel_load, best.hops) == (obliv.design(mesh).channel_load, obliv.design(mesh).hops)
    assert obliv.verify(best).proved


def test_wrong_maps_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry, "_WORTH", 0)
    wrong = np.array([1, 0, 2, 3])
    monkeypatch.setattr(symmetry, "network_automorphisms", lambda topology, seconds: [wrong])
    path = obliv.build("path", 4, [(0, 1), (1, 2), (2, 3), (1, 0), (2, 1), (3, 2)])
    assert symmetry_of(path, search=True).generators == ()
