"""What does not fit in the free memory is refused before the work begins."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import obliv
from obliv._util import progress
from obliv.cli import main
from obliv.loads import separable
from obliv.loads import separable_blocks as axis_tables
from obliv.loads.separable import SeparableLoads


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("network", "routing"),
    [
        *product(["torus:9x9", "mesh:8x5", "torus:4x4x3", "ring:12"], ["dor", "o1turn", "romm", "valiant"]),
        *product(["torus:9x9", "mesh:8x5"], ["u2turn", "xyx"]),
    ],
)
def test_the_entries_of_a_channel_are_known_before_they_exist(
    monkeypatch: pytest.MonkeyPatch, network: str, routing: str
) -> None:
    topology = obliv.topology(network)
    loads = obliv.routing(routing, topology).pair_loads()
    assert isinstance(loads, SeparableLoads)
    needed: list[float] = []
    monkeypatch.setattr(axis_tables, "require_memory", lambda size, what: needed.append(size / 40))
    for channel in range(0, topology.channels, 5):
        needed.clear()
        weights = loads.weights(channel)
        assert needed == [loads._entries(channel)]
        assert len(weights.weight) <= needed[0]


def test_a_torus_too_large_is_refused_before_any_exact_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*parts: Any) -> Any:
        raise AssertionError("an exact table was computed")

    monkeypatch.setattr(progress, "free_memory", lambda: 4.0 * 2**30)
    monkeypatch.setattr(separable, "_summed", unwanted)
    torus = obliv.torus(301, 301)
    for symmetry in ("auto", "off"):
        with pytest.raises(obliv.TooLargeError, match="a channel of torus:301x301 would need"):
            obliv.worst_case(obliv.ROMM(torus), symmetry=symmetry)
    with pytest.raises(obliv.TooLargeError, match="a channel of torus:301x301 would need"):
        obliv.worst_channels(obliv.ROMM(torus))


def test_merged_classes_need_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Valiant's classes make a channel small, however large the network."""
    monkeypatch.setattr(progress, "free_memory", lambda: 2.0**30)
    loads = obliv.routing("valiant", obliv.torus(101, 101)).pair_loads()
    assert loads.memory(np.arange(loads.topology.channels)[:1]) < 2**24
    assert len(loads.weights(0).weight) < 20_000


def test_dense_traffic_is_carried_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    torus = obliv.torus(5, 4)
    rates = np.random.default_rng(1).dirichlet(np.ones(20), 20)
    rates = np.round(rates / max(1.0, rates.sum(axis=0).max()), 3)
    loads = obliv.ROMM(torus).pair_loads()
    traffic = obliv.matrix(rates.tolist())
    whole = loads.under(traffic)
    monkeypatch.setattr(separable, "_FLOWS", 7)
    assert loads.under(traffic) == whole


def test_a_huge_network_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "free_memory", lambda: 2.0**30)
    assert main(["worst", "torus:3000x3000", "dor"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "torus:3000x3000 (9,000,000 nodes, 36,000,000 channels) would need about" in err


def test_a_channel_that_does_not_fit_is_refused_before_symmetries_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a mesh, a channel in the middle has far more entries than one at the corner."""
    loads = obliv.routing("romm", obliv.topology("mesh:60x60")).pair_loads()
    corner, middle = (loads.memory(np.array([c])) for c in (0, loads.topology.channels // 2))
    assert middle > 2 * corner
    monkeypatch.setattr(progress, "free_memory", lambda: middle)
    monkeypatch.setattr(type(loads), "keeps", lambda *_: pytest.fail("symmetries were checked"))
    with pytest.raises(obliv.errors.TooLargeError, match=r"a channel of mesh:60x60 .* a tenth of which is not used: "):
        obliv.worst_case(loads)


def test_next_hops_that_do_not_fit_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SMALL", 0)
    monkeypatch.setattr(progress, "free_memory", lambda: 20.0 * 9 * 9)
    routing = obliv.routing("ecmp", obliv.build("ring", 9, [(v, (v + step) % 9) for v in range(9) for step in (1, 8)]))
    with pytest.raises(obliv.TooLargeError, match="the next hops of ecmp on ring would need"):
        routing.pair_loads()
