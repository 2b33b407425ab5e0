"""A text where a list of texts is expected counts as a list of one, never as its letters."""

from __future__ import annotations

import pytest

import obliv
from obliv.specs.registry import Registry
from obliv.topologies.damaged import without

ROUTING = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
CABLE = "switch((0),1)/3"


def test_what_fails() -> None:
    one = obliv.fabric.failures(ROUTING, fail=CABLE)
    assert one == obliv.fabric.failures(ROUTING, fail=[CABLE])
    assert one.of == "given"
    assert without(obliv.mesh(3, 3), "0-1") == without(obliv.mesh(3, 3), ["0-1"])


def test_what_changes() -> None:
    base = obliv.fabric.base_of(ROUTING)
    for change in ({"fail": CABLE}, {"entries": "switch((0),1)/14=3"}):
        listed = {name: [text] for name, text in change.items()}
        assert obliv.fabric.what_if(base, **change) == obliv.fabric.what_if(base, **listed)
    with pytest.raises(obliv.InputError, match="add='switch': write NAME/PORT"):
        obliv.fabric.what_if(base, add="switch")


def test_hosts_and_patterns_of_jobs() -> None:
    alone = obliv.fabric.placement(ROUTING.topology, "host(0,0)", per_host=2)
    assert alone.hosts == ("host(0,0)",)
    pair = obliv.fabric.placement(ROUTING.topology, ["host(0,0)", "host(1,0)"])
    assert obliv.fabric.job(ROUTING, (pair, pair), "ring") == obliv.fabric.job(ROUTING, (pair, pair), ["ring", "ring"])


def test_guarantees() -> None:
    one, two = (obliv.collisions("fattree:4,2", "shift:1", guarantee=given) for given in ("2@0.9", ["2@0.9"]))
    assert one == two


def test_columns() -> None:
    rows = [{"load": 1, "l": 2}]
    assert [str(column.header) for column in obliv.view.table(rows, "load").columns] == ["load"]
    assert obliv.view.to_csv([], "load") == "load\n"


def test_names() -> None:
    with pytest.raises(obliv.TopologyError, match="1 labels are given, 3 are needed"):
        obliv.build("triangle", 3, [(0, 1), (1, 2), (2, 0)], labels="abc")
    assert obliv.build("triangle", 3, [(0, 1), (1, 2), (2, 0)], notes="abc").notes == ("abc",)
    registry: Registry[obliv.Topology] = Registry("topology", "", {})
    registry.register("loop", aliases="circle")(obliv.ring)
    assert registry.find("circle").aliases == ("circle",)
