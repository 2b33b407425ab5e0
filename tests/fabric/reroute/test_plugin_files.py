"""The readers of the plug-in in ``contrib/opensm`` against damaged files, under the sanitizers of the compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.reroute.route import route

SOURCE = Path(__file__).parents[3] / "contrib" / "opensm"

#: Reads names of three files a line; answers with what was read of them, or with the reason why not.
HARNESS = r"""
#include <stdio.h>
#include <string.h>
#include "files.h"

int main(void)
{
	char lfts[512], sl2vl[512], psl[512], why[WHY];

	while (scanf("%511s %511s %511s", lfts, sl2vl, psl) == 3) {
		char *path[FILES] = { lfts, sl2vl, psl };
		struct plan *plan = plan_read(path, why);
		unsigned known = 0, lid, k;

		for (k = 0; plan && k < plan->sources; k++)
			for (lid = 0; lid < LIDS; lid++)
				known += level_in(plan, plan->source[k].guid, lid) >= 0;
		for (k = 0; plan && k < plan->rows; k++)
			if (!row_in(plan, plan->row[k].guid, plan->row[k].in, plan->row[k].out))
				return 1;
		for (k = 0; plan && k < plan->tables; k++)
			if (table_in(plan, plan->table[k]->guid) != plan->table[k])
				return 1;
		if (plan)
			printf("ok %u %u %u\n", plan->tables, plan->rows, known);
		else
			printf("refused %s\n", why);
		plan_free(plan);
	}
	return 0;
}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The readers with the harness, which end at the first access outside of an object."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("reader")
    (folder / "harness.c").write_text(HARNESS)
    options = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}"]
    options += ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
    built = subprocess.run(
        [compiler, *options, "-o", folder / "reader", folder / "harness.c", SOURCE / "files.c"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "sanitize" in built.stderr or "asan" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    return folder / "reader"


def damaged(text: bytes, rng: np.random.Generator) -> bytes:
    """Cut, with lines exchanged or twice, or with other bytes."""
    data = bytearray(text)
    for _ in range(int(rng.integers(1, 4))):
        at, kind = int(rng.integers(len(data))), int(rng.integers(5))
        if kind == 0:
            del data[at : at + int(rng.integers(1, 200))]
        elif kind == 1:
            data[at : at + 1] = bytes(rng.integers(0, 256, int(rng.integers(1, 4)), np.uint8))
        elif kind == 2:
            data[at:at] = rng.choice([b"9" * 30, b"0x", b"-1 ", b"\n", b"x" * 5000, b" 65535 ", b"\0"])
        elif kind == 3:
            lines = bytes(data).splitlines(True)
            data = bytearray(b"".join(lines[int(k)] for k in rng.permutation(len(lines))))
        else:
            data = data[:at] or bytearray(b"\n")
    return bytes(data)


@pytest.mark.parametrize("count", [60, pytest.param(5_000, marks=pytest.mark.nightly)])
def test_damaged_files_are_read_or_refused(count: int, reader: Path, tmp_path: Path) -> None:
    result = route(from_topology(obliv.topology("torus:4x4")), "dor-dateline", lanes=2)
    whole = {kind: tmp_path / kind for kind in ("lfts", "sl2vl", "psl")}
    obliv.fabric.write_tables(result.tables, result.fabric, whole["lfts"])
    obliv.fabric.write_sl2vl(result.lane_tables, result.fabric, whole["sl2vl"])
    obliv.fabric.write_psl(result.levels, result.fabric, whole["psl"])
    rng = np.random.default_rng(0)
    given = [" ".join(str(path) for path in whole.values())]
    for k in range(count):
        kind = ("lfts", "sl2vl", "psl")[k % 3]
        (tmp_path / f"{k}").write_bytes(damaged(whole[kind].read_bytes(), rng))
        given.append(" ".join(str(tmp_path / f"{k}" if name == kind else path) for name, path in whole.items()))
    given.append(f"{whole['lfts']} {whole['psl']} {whole['sl2vl']}")
    given.append(f"{tmp_path / 'absent'} {whole['sl2vl']} {whole['psl']}")
    done = subprocess.run([reader], input="\n".join(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert answers[0] == "ok 16 496 240"  # 16 switches with 5 cables and the port of the switch, 16 adapters
    assert answers[-2].startswith("refused")
    assert answers[-1].endswith("absent: cannot be opened: No such file or directory")
    assert len(answers) == len(given)
    assert all(answer.startswith(("ok ", "refused ")) for answer in answers)
    assert sum(answer.startswith("refused") for answer in answers) > count // 4
