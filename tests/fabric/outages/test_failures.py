"""Every failure equals the one solved from scratch."""

from __future__ import annotations

import pytest
from tests.fabric.outages import brute, fabrics

from obliv.fabric.outages.every import failures
from obliv.fabric.outages.sets import every_failure
from obliv.fabric.routes.routing import FabricRouting


def compare(routing: FabricRouting, of: str, repair: str, offset: str = "0") -> None:
    found = {row.failed: row for row in failures(routing, of=of, repair=repair, offset=offset).failures}
    for failure in every_failure(routing.topology, of):
        row = found.pop(failure.name)
        assert (row.pairs_lost, row.channel_load, row.deadlock) == brute.after(routing, failure, repair, offset), row
    assert not found


@pytest.mark.parametrize("seed", range(10))
def test_failures_equal_those_solved_from_scratch(seed: int) -> None:
    compare(*fabrics.drawn(seed))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 310))
def test_many_failures_equal_those_solved_from_scratch(seed: int) -> None:
    compare(*fabrics.drawn(seed))
