"""The definitions under the theorems of `proofs/Theorems.v` are those of obliv: the same loads of pairs on channels.

Coq computes them from the compiled proofs, which `.ci/run` builds; without these the tests are skipped.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import obliv

PROOFS = Path(__file__).parents[1] / "proofs"
BUILT = Path(os.environ.get("OBLIV_CHECK", PROOFS / "obliv-check")).parent


def printed(imports: str, term: str, work: Path) -> list[tuple[int, ...]]:
    """The rows of whole numbers that Coq prints for a list of tuples."""
    if not shutil.which("coqc") or not (BUILT / "FatTree.vo").exists():
        pytest.skip("the proofs are not built")
    file = work / "shown.v"
    file.write_text(
        f"Require Import QArith List Arith.\nFrom Obliv Require Import Network {imports}.\nImport ListNotations.\n"
        f"Eval vm_compute in ({term}).\n"
    )
    command = ["coqc", "-q", "-Q", str(BUILT), "Obliv", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    words = re.sub(r"%\w+", "", done.stdout)
    return [tuple(int(number) for number in row.split(",")) for row in re.findall(r"\(([\d,\s]+)\)", words)]


def test_u2turn(tmp_path: Path) -> None:
    rows = printed(
        "Mesh U2turn",
        "flat_map (fun c => flat_map (fun i => map (fun j => let q := Qred (u2turn 3 i j c) in (tail (mesh 3) c, "
        "head (mesh 3) c, i, j, Z.to_nat (Qnum q), Pos.to_nat (Qden q))) (seq 0 9)) (seq 0 9)) (seq 0 24)",
        tmp_path,
    )
    proved = {row[:4]: Fraction(*row[4:]) for row in rows}
    mesh = obliv.topology("mesh:3x3")
    loads = obliv.routing("u2turn", mesh).pair_loads()
    number = {node: y * 3 + x for node in range(9) for x, y in [mesh.coordinates(node)]}  # Mesh.v: row by row
    assert len(proved) == 24 * 81
    for channel in range(24):
        weights = loads.on_channel(channel)
        ends = (number[int(mesh.tail[channel])], number[int(mesh.head[channel])])
        for i in range(9):
            for j in range(9):
                assert proved[*ends, number[i], number[j]] == Fraction(int(weights[i][j]), loads.denominator)


def test_osrm2(tmp_path: Path) -> None:
    # FT(8,2), sources of the first leaf (Coq counts slowly). Channels and switches have other numbers in obliv, so the
    # sets of pairs that share a channel are compared.
    rows = printed(
        "FatTree",
        "flat_map (fun i => flat_map (fun j => flat_map (fun c => if Qeq_bool (single_path 4 2 (osrm2 2) i j c) 0 "
        "then [] else [(c, i, j)]) (seq 0 128)) (seq 0 32)) (seq 0 4)",
        tmp_path,
    )
    shared: dict[int, set[tuple[int, int]]] = {}
    for channel, i, j in rows:
        shared.setdefault(channel, set()).add((i, j))
    loads = obliv.routing("osrm2", obliv.topology("fattree:8,2")).pair_loads()
    used = []
    for channel in range(128):
        weights = loads.on_channel(channel)
        assert {int(w) for row in weights for w in row} <= {0, loads.denominator}
        used.append(frozenset((i, j) for i in range(4) for j in range(32) if weights[i][j]))
    assert Counter(map(frozenset, shared.values())) == Counter(pairs for pairs in used if pairs)
