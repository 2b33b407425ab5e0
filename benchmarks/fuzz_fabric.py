"""Gives each parser of fabric files damaged ones: ``python benchmarks/fuzz_fabric.py 1000000 [SEED [PARSER...]]``."""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fabric.mutations import LANE_PARSERS, PARSERS, fuzz

from obliv.fabric.files import far, forwarding
from obliv.fabric.files import forwarding as ar_info
from obliv.fabric.kernels.rows import merge, read_rows
from obliv.fabric.lanes import pairs, sl2vl
from obliv.fabric.lanes import read as ports

for module in (ar_info, far, forwarding, pairs, ports, sl2vl):
    for name in ("switch_guids", "port_guids", "columns_of"):  # of a fabric, which a thousand files share here
        if hasattr(module, name):
            setattr(module, name, functools.lru_cache(4)(getattr(module, name)))

_ROUND = 10_000
_FIRST = 500  # files that are not timed, since the first calls import modules and compile kernels


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUND
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for kernel in (read_rows, merge):
        kernel.compiled()  # small files are read by the interpreted kernel otherwise
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for parser in sys.argv[3:] or [*PARSERS, *LANE_PARSERS]:
            fuzz(parser, min(_FIRST, count), seed, Path(folder), small=True)
            start, total, following = time.perf_counter(), Counter[str](), seed
            while (done := total.total()) < count:
                total += fuzz(parser, min(_ROUND, count - done), following, Path(folder), slowest=1.0, small=True)
                following += 1
            outcome = ", ".join(f"{number} {what}" for what, number in sorted(total.items()))
            print(f"{parser:20}{total.total()} files in {time.perf_counter() - start:.0f} s: {outcome}", flush=True)


if __name__ == "__main__":
    main()
