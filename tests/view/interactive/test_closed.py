"""Closed claims, read by the script of pages: derived by hand, and forged."""

from __future__ import annotations

import pytest
from tests.view.interactive.node import needs_node, verdicts

pytestmark = needs_node

# Two nodes, a channel each way. Each pair uses the one channel there is, so the worst traffic is the exchange, load 1.
RING = """obliv-claim 1
about a ring of two
nodes 2
channel 0 1 1
channel 1 0 1
terminal 0 1 1
terminal 1 1 1
row 1 1 1
row 0 1 1
unit 1
flow 0 1 0
flow 1 1 1
most 1 1
price
bound 0
bound 0
attains 1 1 0 1
traffic 0 1 0 1 1 1
end
"""


def test_a_ring_of_two_is_proved() -> None:
    (found,) = verdicts([RING], closed=True)
    assert found == {
        "proved": [
            "no admissible traffic loads a channel beyond 1/1 of its bandwidth",
            "an admissible traffic loads channel 0 by exactly 1/1 of its bandwidth",
        ],
        "refused": None,
        "malformed": None,
    }


FORGED = [
    ("most 1 1", "most 1 2", "may carry more"),
    ("attains 1 1", "attains 1 2", "by another amount"),
    ("flow 0 1 0\n", "flow\n", "has no flow"),
    ("flow 0 1 0\n", "flow 0 1 1\n", "not a flow"),
    ("unit 1", "unit 2", "not a flow"),
    ("traffic 0 1 0", "traffic 0 1 1", "terminal takes more"),
    ("terminal 0 1 1", "terminal 0 0 1", "terminal sends more"),
    ("flow 1 1 1\n", "flow 1 1 1\nlost 0 1 0\n", "lost has a flow"),
    ("traffic 0 1 0", "traffic 0 1 7", "out of range"),
    ("bound 0\nbound 0", "bound 0", "expected bound"),
    ("channel 0 1 1", "channel 0 2 1", "out of range"),
    ("channel 0 1 1", "channel 0 1 -1", "natural"),
    ("unit 1", "unit 0", "is 0"),
    ("end\n", "", "not a statement"),
    ("end\n", "end\nmore\n", "follows the end"),
    ("about a", "about \u0430", "ASCII"),
    ("most 1 1", "most 1 0", "is 0"),
    ("row 1 1 1", "row 1 99999999999 1", "beyond the domain"),
]


@pytest.mark.parametrize(("old", "new", "reason"), FORGED)
def test_what_is_forged_is_refused(old: str, new: str, reason: str) -> None:
    (found,) = verdicts([RING.replace(old, new, 1)], closed=True)
    assert reason in (found["refused"] or found["malformed"])
