"""Worst cases split over channels: two processes against one, on an idle machine.

uv run python benchmarks/workers.py
"""

from __future__ import annotations

import os
import time

import obliv
from obliv._util.executors import Processes

CASES = [("mesh:41x41", "romm", True), ("mesh:49x49", "romm", False)]


def measured(network: str, routing: str, certificate: bool, jobs: int) -> tuple[float, float, obliv.WorstCase]:
    """Real time, processor time of all processes, and the result."""
    subject = obliv.routing(routing, obliv.topology(network))
    began, before = time.perf_counter(), os.times()
    pool = Processes(jobs) if jobs > 1 else None
    result = obliv.worst_case(subject, certificate=certificate, executor=pool)
    seconds = time.perf_counter() - began
    if pool is not None:
        pool.shutdown()  # waits for the workers, so that their time is known
    after = os.times()
    return seconds, sum(after[:4]) - sum(before[:4]), result


if __name__ == "__main__":
    measured("mesh:9x9", "romm", True, 1)  # compiles
    for case in CASES:
        one, two = measured(*case, jobs=1), measured(*case, jobs=2)
        assert one[2] == two[2]
        for key in set(one[2].certificate or ()) - {"digest"}:  # which covers the real time
            assert (one[2].certificate or {})[key] == (two[2].certificate or {})[key]
        gain, busy = one[0] / two[0], one[1] / two[1]
        print(f"{' '.join(map(str, case))}: one process {one[0]:.1f} s, two {two[0]:.1f} s: {gain:.2f} times;")
        print(f"  processor time {one[1]:.1f} s and {two[1]:.1f} s: at most {2 * busy:.2f} times")
