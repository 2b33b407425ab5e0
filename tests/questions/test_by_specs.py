"""Every analysis of a routing takes a topology and a routing in its place."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

import obliv

CALLS: list[tuple[Any, str, str, tuple[Any, ...]]] = [
    (obliv.worst_case, "mesh:4x3", "o1turn", ()),
    (obliv.worst_channels, "mesh:4x3", "o1turn", ()),
    (obliv.throughput, "mesh:4x3", "1/2*dor+1/2*romm", ("uniform", "tornado")),
    (obliv.average_case, "mesh:4x3", "dor", (50, 1)),
    (obliv.locality, "mesh:4x3", "valiant", ()),
    (obliv.heaviest_permutation, "mesh:4x3", "dor", ("uniform",)),
    (obliv.deadlock, "mesh:4x3", "u2turn", ("turn",)),
    (obliv.fewest_virtual_channels, "mesh:4x3", "romm", ()),
    (obliv.ratio, "fattree:4,2", "dmodk", ()),
    (obliv.traffic_ratio, "fattree:4,2", "smodk", ("shift:3",)),
]


@pytest.mark.parametrize(("analysis", "topology", "routing", "more"), CALLS)
def test_topology_and_routing_in_place_of_a_routing(
    analysis: Any, topology: str, routing: str, more: tuple[Any, ...]
) -> None:
    expected = analysis(obliv.routing(routing, topology), *more)
    assert analysis(topology, routing, *more) == expected
    assert analysis(obliv.topology(topology), obliv.routing(routing, topology), *more) == expected
    assert pickle.loads(pickle.dumps(analysis)) is analysis
    assert next(iter(inspect.signature(analysis).parameters)) in ("x", "routing")
    with pytest.raises(obliv.InputError, match=rf'{analysis.__name__}\("mesh:8x8", "o1turn"\)'):
        analysis(topology)
    with pytest.raises(obliv.InputError, match="is a routing"):
        analysis(routing.partition("*")[2].partition("+")[0] or routing, topology, *more)


def test_classes_of_users() -> None:
    assert obliv.worst_case("mesh:4x4", obliv.O1TURN).channel_load == 2
    assert obliv.worst_case(obliv.mesh(4, 4), routing="o1turn", certificate=True).certificate is not None
