"""Reads damaged fabric files, as many as asked: ``python benchmarks/fuzz_fabric.py 1000000 [SEED]``."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "fabric"))

from mutations import fuzz

_ROUND = 10_000


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUND
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total: Counter[str] = Counter()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        while (done := sum(total.values())) < count:
            total += fuzz(min(_ROUND, count - done), seed, Path(folder))
            seed += 1
            print(f"{sum(total.values())} files in {time.perf_counter() - start:.0f} s, next seed {seed}", flush=True)
    for outcome, number in sorted(total.items()):
        print(f"{outcome:20}{number:>9}")


if __name__ == "__main__":
    main()
