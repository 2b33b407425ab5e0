"""Arguments of another kind are refused in one line that says how to make the right ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mistakes import mistake

import obliv
from obliv import fabric
from obliv.errors import InputError
from obliv.fabric.model import typed

ROUTING = fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
NETWORK = ROUTING.topology
FABRIC, TABLES = NETWORK.fabric, ROUTING.routes.tables

CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "swapped": (lambda: fabric.check(TABLES, FABRIC), "check: fabric is a Fabric, made by obliv.fabric.read_fabric"),
    "a file": (lambda: fabric.check(FABRIC, "a.lfts"), "check: tables is a Tables, made by obliv.fabric.read_tables"),
    "by keyword": (lambda: fabric.check(FABRIC, tables=NETWORK), "check: tables is a Tables"),
    "route": (lambda: fabric.route("a.net"), "route: fabric is a Fabric"),
    "network": (lambda: fabric.network("a.net"), "this is a str"),
    "routing": (lambda: fabric.routing(FABRIC, TABLES), "made by obliv.fabric.network(fabric); this is a Fabric"),
    "failures": (lambda: fabric.failures(FABRIC), "made by obliv.fabric.routing(network, tables)"),
    "shifts": (lambda: fabric.shifts(TABLES), "routing is a FabricRouting"),
    "bisection": (lambda: fabric.bisection(FABRIC), "routing is a FabricRouting"),
    "what_if": (lambda: fabric.what_if(ROUTING), "what_if: base is a Base, made by obliv.fabric.base_of(routing)"),
    "job": (lambda: fabric.job(NETWORK, ["host(0,0)"], "ring"), "job: routing is a FabricRouting"),
    "hosts": (lambda: fabric.job(ROUTING, 3, "ring"), "hosts are a file or a list of names, not a int"),
    "read": (lambda: fabric.read(3), "read: topology is the path of a file; this is a int"),
    "slot": (lambda: fabric.trace(FABRIC, TABLES, 999, 1), "there is no slot 999"),
    "report": (lambda: obliv.view.write_report(3, "x.html"), "not about a int"),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_of_another_kind(name: str) -> None:
    call, meant = CALLS[name]
    assert meant in mistake(call)


def test_what_is_annotated_otherwise_is_not_looked_at(tmp_path: Path) -> None:
    @typed
    def count(path: str | Path, many: int = 2, log: str | Path | None = None) -> int:
        """Return `many`."""
        return many

    assert count(tmp_path) == count("a", log=None) == 2
    assert count("a", many=[3]) == [3]
    assert count.__doc__ == "Return `many`."
    with pytest.raises(InputError, match="count: log is the path of a file; this is a int"):
        count("a", log=3)
    with pytest.raises(TypeError, match=r"count\(\) got an unexpected keyword argument 'paht'"):
        count(paht="a")
