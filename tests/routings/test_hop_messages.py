"""Messages about the next hops of a user's own routing name nodes, and are one line."""

from __future__ import annotations

import pytest

import obliv


@pytest.mark.parametrize(
    ("hops", "message"),
    [
        (lambda c: [(c, 0.5)], "the next hops of 1 towards 0 add up to 1/2, not 1"),
        (lambda c: [(c, 2)], "a next hop of 1 has probability 2, not a number from 0 to 1"),
        (lambda c: [(c, "much")], "a next hop of 1 has probability much"),
        (lambda c: [c + 3], "is not a channel that leaves it"),
        (lambda c: ["x"], "next hop 'x' of 1 is not a channel"),
        (lambda c: 7, "the next hops of 1 must be a list, not 7"),
        (lambda c: [], "has no next hop towards"),
    ],
)
def test_messages_name_nodes(hops: object, message: str) -> None:
    class Mine(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> object:  # type: ignore[override]
            return hops(int(self.topology.first_channel[node]))  # type: ignore[operator]

    with pytest.raises(obliv.OblivError) as caught:
        obliv.worst_case(Mine(obliv.ring(4), "mine"))
    assert message in str(caught.value)
    assert "partial" not in str(caught.value)
    assert "\n" not in str(caught.value)
