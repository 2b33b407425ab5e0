"""``python -O`` gives the same answers. By day ruff's S101 guards this: it allows no ``assert`` in src."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

SCRIPT = """
import dataclasses, json, sys
from fractions import Fraction
import numpy as np
import obliv

def show(name, call):
    try:
        answer = call()
    except obliv.OblivError as error:
        print(name, type(error).__name__, error)
        return
    data = answer.to_dict()
    data.pop("provenance", None)
    (data.get("certificate") or {}).pop("digest", None)
    print(name, json.dumps(data, sort_keys=True))

torus = obliv.torus(4, 4)
worst = obliv.worst_case(obliv.ROMM(torus), certificate=True)
forged = dataclasses.replace(worst, channel_load=worst.channel_load - Fraction(1, 100))
stepped = obliv.bufferless.schedule(obliv.bufferless.instance("butterfly:4", "bit-reverse"), "hot-potato", rng=1)
moves = stepped.moves
skipped = dataclasses.replace(stepped, moves=dataclasses.replace(moves, time=moves.time + (np.arange(len(moves)) > 20)))
show("worst", lambda: worst)
show("verify", lambda: obliv.verify(worst))
show("forged", lambda: obliv.verify(forged))
show("schedule", lambda: obliv.verify(stepped))
show("late", lambda: obliv.verify(skipped))
show("deadlock", lambda: obliv.deadlock(obliv.routing("valiant", torus)))
show("ratio", lambda: obliv.ratio(obliv.routing("osrm2", obliv.fattree(8, 2)), certificate=True))
show("radix", lambda: obliv.topology("torus:1x4"))
show("weights", lambda: obliv.routing("1/2*dor+1/3*romm", torus))
show("permutation", lambda: obliv.permutation([0, 0, 1]))
show("terminals", lambda: obliv.throughput(obliv.DOR(torus), obliv.permutation([1, 0])))
show("node", lambda: obliv.build("x", 2, [(0, 5)]))
"""


@pytest.mark.nightly
def test_answers_and_refusals_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-O", "script.py"]
    without = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    with redirect_stdout(io.StringIO()) as with_asserts:
        exec(SCRIPT, {"__name__": "script"})
    assert with_asserts.getvalue() == without.stdout
    answers = dict(line.split(" ", 1) for line in without.stdout.splitlines())
    assert '"proved": true' in answers["verify"]
    assert '"proved": true' in answers["schedule"]
    assert '"proved": false' in answers["forged"]
    assert '"proved": false' in answers["late"]
    assert [answers[name].split()[0] for name in ("radix", "weights", "permutation", "terminals", "node")] == [
        "TopologyError",
        "SpecError",
        "TrafficError",
        "TrafficError",
        "TopologyError",
    ]
