"""Lower bounds in claims of ratios: for paths that climb and then come down, and for no others."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import networkx as nx
import pytest
from tests.claims import save_claim

import obliv
from obliv.checker.report import Report, check_optimum
from obliv.papers.fat_tree.statements import Detour
from obliv.results.study import NO_BOUND
from obliv.topologies.trees import theorem2


def largest_matching(routing: obliv.Routing) -> int:
    hosts = routing.topology.terminals.tolist()
    pairs = defaultdict(list)
    for s in hosts:
        for d in hosts:
            for path, _ in routing.paths(s, d):
                for c in path:
                    pairs[c].append(((s, 0), (d, 1)))
    best = 0
    for on_channel in pairs.values():
        result = nx.bipartite.hopcroft_karp_matching(nx.Graph(on_channel), [s for s, _ in on_channel])
        best = max(best, len(result) // 2)
    return best


@pytest.mark.nightly
def test_detours_may_beat_the_printed_bound(tmp_path: Path) -> None:
    tree = obliv.eft2(34, 9)
    routing = Detour(tree)
    result = obliv.ratio(routing, certificate=True)
    assert theorem2(34, 9) == 5 > result.ratio == largest_matching(routing) == 4
    assert result.lower_bound is None
    assert "shortest" in result.lower_bound_source
    assert obliv.verify(result, topology=tree, routing=routing).proved
    outcome = result.to_dict() | {"lower_bound": {"exact": "5", "value": 5.0}, "lower_bound_source": "Theorem 2"}
    forged = tmp_path / "forged.json"
    save_claim(outcome, forged)
    assert not obliv.verify(forged, topology=tree, routing=routing).proved


def test_a_bound_may_be_left_out(tmp_path: Path) -> None:
    content = obliv.ratio(obliv.routing("osrm3", obliv.fattree(4, 3)), certificate=True).to_dict()
    assert obliv.verify(obliv.ratio(obliv.routing("osrm3", obliv.fattree(4, 3)), certificate=True)).proved
    del content["lower_bound_source"]
    content |= {"lower_bound": None, "lower_bound_reason": NO_BOUND["tree"]}
    file = tmp_path / "less.json"
    save_claim(content, file)
    assert obliv.verify(file).proved


def test_only_fat_trees_are_known_to_have_a_best_routing() -> None:
    star = obliv.build("star", 4, [(0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2)], terminals=range(3))
    for topology, holds in ((obliv.fattree(4, 2), True), (star, False), (obliv.mesh(2, 2), False)):
        report = Report()
        check_optimum(report, topology)
        assert [(check.check, check.ok) for check in report.checks] == [("optimum", holds)]
