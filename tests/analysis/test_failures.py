"""Failures of links and nodes equal the worst case on the damaged network, named by its spec."""

from __future__ import annotations

import pytest

import obliv
from obliv.errors import InputError, RoutingError


@pytest.mark.sampled(3)
@pytest.mark.parametrize("routing", ["ecmp", "shortest", "updown"])
@pytest.mark.parametrize("of", ["links", "nodes"])
def test_every_failure_equals_the_damaged_network(routing: str, of: str) -> None:
    for spec in ("mesh:2x3", "random-regular:8,3,seed=2", "line:3"):
        base = obliv.topology(spec)
        after = obliv.failures(obliv.routing(routing, base), of=of)
        texts = [str(v) for v in range(base.nodes)]
        if of == "links":
            pairs = zip(base.tail.tolist(), base.head.tolist(), strict=True)
            texts = [f"{a}-{b}" for a, b in pairs if a < b]
        rows = []
        for text in texts:
            left = obliv.topology(f"damaged:({spec}),{text},component=largest")
            found = obliv.routing(routing, left)
            n, k = len(base.terminals), len(left.terminals)
            loop = not obliv.deadlock(found, "none").acyclic
            rows.append((loop, n * (n - 1) - k * (k - 1), obliv.worst_case(found, symmetry="off").channel_load))
        assert [row.rank for row in after.failures] == sorted(rows, reverse=True)
        assert after.count == len(texts)


def test_what_cannot_fail_is_refused() -> None:
    with pytest.raises(InputError, match="links or nodes"):
        obliv.failures("mesh:3x3", "ecmp", of="cables")
    with pytest.raises(InputError, match="no link"):
        obliv.failures("mesh:3x3", "ecmp", fail=["0-8"])
    with pytest.raises(RoutingError, match="no coordinates"):
        obliv.failures("mesh:3x3", "dor")
