"""What the answer says of tables is what a walk through the written files gives, on uneven trees in any labelling."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fabric.damage import relabelled
from tests.fabric.trees import drawn
from tests.fabric.walks import walked, worst_by_hand

from obliv.cli import main
from obliv.fabric.files.folder import read
from obliv.fabric.files.lft import write_net
from obliv.fabric.model import Fabric, Tables

TREES = [(tree, gone) for tree, gone in drawn(40, 39) if tree.pods * tree.leaves * tree.hosts <= 16 and gone]


def by_walking(fabric: Fabric, tables: Tables | None) -> dict[str, Any]:
    """Uniform load, worst and mean shift, worst load and idle channels, with one LID a host and one speed."""
    assert tables is not None
    ends = fabric.endpoints.tolist()
    n = len(ends)
    ways = {
        (i, j): walked(fabric, tables, s, int(fabric.ports.lid[d]))
        for i, s in enumerate(ends) for j, d in enumerate(ends) if i != j
    }  # fmt: skip
    used = Counter(slot for way in ways.values() for slot in way)
    shifts = [
        max(Counter(slot for i in range(n) for slot in ways[i, (i + by) % n]).values()) for by in range(1, n)
    ]  # fmt: skip
    peers = fabric.ports.peer
    between = [
        slot for slot in np.flatnonzero(peers >= 0).tolist()
        if all(fabric.nodes.kind[fabric.node_of[end]] == "switch" for end in (slot, peers[slot]))
    ]  # fmt: skip
    return {
        "worst": worst_by_hand(fabric, tables, [0]),
        "uniform": Fraction(max(used.values()), n),
        "worst shift": max(shifts),
        "mean shift": Fraction(sum(shifts), n - 1),
        "idle": sum(slot not in used for slot in between),
    }


def as_said(candidate: dict[str, Any]) -> dict[str, Any]:
    return {
        "worst": Fraction(candidate["worst"]["exact"]),
        "uniform": Fraction(candidate["uniform"]["exact"]),
        "worst shift": Fraction(candidate["shifts"]["worst"]["exact"]),
        "mean shift": Fraction(candidate["shifts"]["mean"]["exact"]),
        "idle": candidate["idle_channels"],
    }


@pytest.mark.parametrize("seed", range(min(4, len(TREES))))
def test_figures_are_those_of_the_files(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree, gone = TREES[seed]
    net, old, new = tmp_path / "a.net", tmp_path / "old.lfts", tmp_path / "new.lfts"
    write_net(relabelled(tree.fabric(gone, seed), seed)[0], net)
    words = ["fabric", "route", str(net), "--lmc", "0", "--effort", "0.02", "--format", "json"]
    for options in (["--engine", "updown", "-o", str(old)], ["--lft", str(old), "-o", str(new)]):
        status = main([*words, *options])
        chosen = next(c for c in json.loads(capsys.readouterr().out)["candidates"] if c["chosen"])
        written = old if status or options[-1] == str(old) else new
        figures = by_walking(*read(net, written))
        assert figures == as_said(chosen)
        assert new.exists() == (written == new)
    before = by_walking(*read(net, old))
    assert all(figures[name] <= before[name] for name in before)
