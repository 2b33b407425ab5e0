"""A question with its verb, result, picture, check and measure is declared once, in a file of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from obliv.capabilities import CAPABILITIES, Parts, load

QUESTION = '''
"""The shortest cycle of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import networkx

from obliv import Result, Topology
from obliv.capabilities import capability
from obliv.checker.report import Report
from obliv.results.base import Bar, Bars, CERTIFICATE
from obliv.results.codec import entry


@dataclass(frozen=True, repr=False)
class Girth(Result):
    """The length of the shortest cycle."""

    kind: ClassVar[str] = "girth"
    length: int = entry(0, label="shortest cycle", column="length")
    certificate: dict[str, Any] | None = entry(None, codec=CERTIFICATE, omit=lambda girth: girth.certificate is None)

    def bars(self) -> Bars:
        return Bars([Bar("shortest cycle", self.length)], "hops", ["Cycles of {topology}"], whole=True)


def girth(topology: Topology, *, longest: int = 100, certificate: bool = False) -> Girth:
    """Return the length of the shortest cycle.

    Parameters
    ----------
    topology : Topology
    longest : int
        Longer cycles are not reported. Nobody needs them.
    certificate : bool
    """
    graph = networkx.Graph(zip(topology.tail.tolist(), topology.head.tolist()))
    cycle = min(networkx.minimum_cycle_basis(graph), key=len)
    proof = {"cycle": [int(node) for node in cycle]} if certificate else None
    length = len(cycle) if len(cycle) <= longest else 0
    return Girth(topology.spec, "any", length=length, certificate=proof, subject=topology)


def check(content: dict[str, Any], topology: Topology) -> Any:
    """Check that there is a cycle of this length."""
    report, cycle = Report(), content["certificate"]["cycle"]
    graph = networkx.Graph(zip(topology.tail.tolist(), topology.head.tolist()))
    joined = set(dict(graph.subgraph(cycle).degree).values()) == {2}  # a shortest cycle has no chord
    report.note("length", joined and len(cycle) == content["length"], f"{len(cycle)} nodes")
    return report.verification(f"there is a cycle of {content['length']}", content["topology"], "any")


capability("girth", summary="Find the shortest cycle.", function=girth, check=check, measure=girth)
'''


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "girth.py").write_text(QUESTION)
    return tmp_path


def obliv(folder: Path, *words: str, status: int = 0) -> str:
    """Return what a command says, with the question imported."""
    command = [sys.executable, "-m", "obliv", *words, "--import", "girth.py"]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_a_question_in_one_file(here: Path) -> None:
    assert "girth       Find the shortest cycle." in obliv(here, "--help")
    told = obliv(here, "girth", "--help")
    assert "Longer cycles are not reported." in told
    assert "Nobody" not in told
    assert "shortest cycle  4" in obliv(here, "girth", "mesh:3x3", "-o", "girth.json", "--plot", "girth.svg")
    assert "Cycles of mesh:3x3" in (here / "girth.svg").read_text()
    assert json.loads((here / "girth.json").read_text())["certificate"]["cycle"]
    assert re.search(r"verdict +proved", obliv(here, "verify", "girth.json"))
    saved = json.loads((here / "girth.json").read_text())
    saved["certificate"]["cycle"] = [0, 1, 2, 3]  # nodes that form none
    (here / "forged.json").write_text(json.dumps(saved))
    assert re.search(r"verdict +not proved", obliv(here, "verify", "forged.json", status=1))
    assert "shortest cycle  0" in obliv(here, "girth", "ring:5", "--longest", "4")


def test_its_measure(here: Path) -> None:
    (here / "cycles.toml").write_text(
        'topologies = ["ring:5", "mesh:3x3"]\nmeasures = ["girth"]\nimports = ["girth.py"]\n'
    )
    obliv(here, "study", "run", "cycles.toml", "--store", "cycles.db", "--jobs", "1")
    shown = obliv(here, "study", "show", "cycles.db", "--format", "csv")
    assert [line.split(",")[-1] for line in shown.splitlines()[1:3]] == ["5", "4"], shown


@pytest.mark.parametrize("part", ["verb", "check", "draw", "measure"])
def test_every_part_is_there(part: str) -> None:
    for name in Parts(part):
        assert load(getattr(CAPABILITIES[name], part)) is not None
