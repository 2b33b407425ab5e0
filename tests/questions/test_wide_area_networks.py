"""The exact worst case on networks like those of the Internet Topology Zoo, proved and solved by SciPy as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.optimize import linear_sum_assignment
from tests.io.wide_area import NETWORKS

import obliv


@pytest.mark.sampled(8)
@pytest.mark.parametrize("routing", ["ecmp", "shortest"])
@pytest.mark.parametrize("name", NETWORKS)
def test_worst_case(name: str, routing: str, tmp_path: Path) -> None:
    path = tmp_path / "network.graphml"
    path.write_text(NETWORKS[name].text())
    if NETWORKS[name].components > 1:
        with pytest.raises(obliv.FileError, match="component=largest"):
            obliv.topology(f"file:{path}")
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


def test_bandwidths_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "network.graphml"
    path.write_text(NETWORKS["fast"].text())
    topology = obliv.topology(f"file:{path},bandwidth=LinkSpeedRaw")
    assert not topology.unit_bandwidth
    result = obliv.worst_case(obliv.routing("ecmp", topology), certificate=True)
    assert obliv.verify(result).proved
    plain = obliv.worst_case(obliv.routing("ecmp", obliv.topology(f"file:{path}")))
    assert result.channel_load * max(topology.bandwidth) >= plain.channel_load
