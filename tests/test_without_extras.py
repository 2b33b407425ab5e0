"""A plain install: every module can be imported, and every verb runs or names the extra that it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from obliv.cli.app import VERBS

SCRIPT = Path(__file__).with_name("without_extras.py")

#: The modules of a server, which nothing imports but the verb, and the package that they lack.
SERVER = {"obliv.explore.server": "uvicorn"}

STUDY = """
name = "plain"
topologies = ["mesh:3x3"]
routings = ["dor"]
measures = ["worst"]
"""

#: Command lines that a plain install answers, and those that need an extra, with its name.
COMMANDS = {
    "worst mesh:3x3 dor -o worst.json": "",
    "worst mesh:3x3 dor --symmetry search": "symmetry",
    "worst graph:petersen shortest": "networkx",
    "verify worst.json": "",
    "throughput mesh:3x3 dor uniform": "",
    "average mesh:3x3 dor --samples 20": "",
    "average mesh:3x3 dor --samples 20 --plot average.png": "plot",
    "compare mesh:3x3 dor valiant --deadlock --traffic transpose": "",
    "compare random-regular:n=8,d=3,seed=1 shortest": "",  # without the fraction of capacity
    "compare mesh:3x3 dor 2turn": "design",
    "compare mesh:3x3 dor o1turn --plot compare.svg": "plot",
    "design mesh:3x3": "design",
    "bounds mesh:3x3": "design",
    "ratio fattree:4,2 dmodk": "",
    "ratio mesh:3x3 dor": "design",
    "deadlock torus:4x4 dor --vc dateline": "",
    "failures mesh:3x3 ecmp": "",
    "failures mesh:3x3 ecmp --plot failures.pdf": "plot",
    "collisions mesh:3x3 uniform --flows 4": "",
    "simulate mesh:3x3 dor uniform --plot latency.png": "plot",
    "bufferless butterfly:3": "",
    "bufferless butterfly:3 --plot schedule.png": "plot",
    "bufferless butterfly:3 --plot schedule.gif": "plot",
    "bufferless butterfly:3 --plot schedule.html": "plot",
    "list routings": "",
    "export mesh:3x3 --to graphml -o mesh.graphml": "",
    "export mesh:3x3 dor --to table -o table.txt": "",
    "plot topology mesh:3x3 -o topology.png": "plot",
    "plot loads mesh:3x3 dor transpose -o loads.png": "plot",
    "plot worst mesh:3x3 dor -o worst.png": "plot",
    "plot result worst.json worst.png": "plot",
    "fabric generate fattree:4,2 -o fabric.net --routing dmodk --tables fabric.lft": "",
    "fabric check fabric.net --lft fabric.lft": "",
    "fabric worst fabric.net --lft fabric.lft": "",
    "fabric worst fabric.net --lft fabric.lft --plot fabric.png": "plot",
    "fabric ratio fabric.net --lft fabric.lft": "",
    "fabric throughput fabric.net uniform --lft fabric.lft": "",
    "fabric average fabric.net --lft fabric.lft --samples 20": "",
    "fabric shifts fabric.net --lft fabric.lft": "",
    "fabric bisection fabric.net --lft fabric.lft": "",
    "fabric route fabric.net -o new.lft": "",
    "fabric export fabric.net --to graphml -o fabric.graphml": "",
    "fabric failures fabric.net --lft fabric.lft": "",
    "fabric whatif fabric.net --lft fabric.lft": "",
    "fabric job fabric.net --lft fabric.lft --worst-hosts 4 --pattern alltoall": "",
    "study schema": "",
    "study run study.toml --store store.db": "",
    "study run study.toml --store store.db --dask local": "dask",
    "study run study.toml --store store.db --mpi": "mpi",
    "study show store.db": "",
    "study verify store.db": "",
    "study diff store.db store.db": "",
    "study export store.db -o store.csv": "",
    "study export store.db -o store.parquet": "parquet",
    "report worst.json -o report.html": "report",
    "explore mesh:3x3 dor --no-browser": "explore",
    "reproduce towles figure9": "",
    "reproduce towles figure9 --plot figures": "plot",
}


def test_every_verb_runs_or_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    lines = [line.split() for line in COMMANDS]
    answer = subprocess.run(
        [sys.executable, str(SCRIPT)], input=json.dumps(lines), capture_output=True, text=True, cwd=tmp_path, check=True
    )
    seen = json.loads(answer.stdout)
    assert {name: problem.split("'")[1] for name, problem in seen["modules"].items()} == SERVER
    for (line, extra), (status, messages) in zip(COMMANDS.items(), seen["verbs"], strict=True):
        last = (messages.splitlines() or [""])[-1]
        expected = (2, True) if extra else (0, False)
        assert (status, last.endswith(f"pip install 'obliv[{extra}]'")) == expected, f"{line}: {status} {messages}"


def test_every_verb_is_tried() -> None:
    tried = {tuple(line.split()[:2]) for line in COMMANDS}
    assert {first for first, _ in tried} == set(VERBS)
    for group in ("plot", "fabric", "study"):
        names = _names_of(group)
        assert {second for first, second in tried if first == group} == names


def _names_of(group: str) -> set[str]:
    """Return the verbs of a group."""
    from obliv.cli.app import _verb

    return set(_verb(group).commands)
