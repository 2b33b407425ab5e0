"""The exact worst case on every Topology Zoo file at hand, proved; the odd ones are refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.optimize import linear_sum_assignment

import obliv

ZOO = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "topozoo"
FILES = sorted(ZOO.glob("*.graphml"))

pytestmark = pytest.mark.skipif(not FILES, reason="the Topology Zoo files are not here")


@pytest.mark.parametrize("routing", ["ecmp", "shortest"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_worst_case(path: Path, routing: str) -> None:
    try:
        topology = obliv.topology(f"file:{path}")
    except obliv.FileError as error:
        assert path.stem in ("Eunetworks", "Padi")  # the two that fall apart, by their data sheet
        assert "component=largest" in str(error)
        topology = obliv.topology(f"file:{path},component=largest")
    result = obliv.worst_case(obliv.routing(routing, topology), certificate=True)
    assert obliv.verify(result).proved
    loads = obliv.routing(routing, topology).pair_loads()
    best = 0
    for channel in range(topology.channels):
        table = loads.on_channel(channel).toarray()
        rows, columns = linear_sum_assignment(table, maximize=True)
        best = max(best, int(table[rows, columns].sum()))
    assert result.channel_load * loads.denominator == best


def test_bandwidths_from_the_file() -> None:
    path = ZOO / "Geant2001.graphml"
    topology = obliv.topology(f"file:{path},bandwidth=LinkSpeedRaw")
    assert not topology.unit_bandwidth
    result = obliv.worst_case(obliv.routing("ecmp", topology), certificate=True)
    assert obliv.verify(result).proved
    plain = obliv.worst_case(obliv.routing("ecmp", obliv.topology(f"file:{path}")))
    assert result.channel_load * max(topology.bandwidth) >= plain.channel_load
