"""Time the cases of the registry, each in a process of its own, kernels compiled before.

    uv run python benchmarks/run.py [NAME ...] [--markdown FILE]
    uv run python benchmarks/run.py --list

A time is the least of several runs. Other libraries run in turn with obliv, in the same process, and are given as
ratios: how many times as long they take. With a markdown file, its table of these names is replaced, or made.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from registry import Case, cases

_RUNS = 5
_ENOUGH = 6.0  # seconds after which a case is not run again


def main() -> int:
    known = cases()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases (default: all)")
    parser.add_argument("--list", action="store_true", help="print all cases with their targets")
    parser.add_argument("--one", action="store_true", help="run one case in this process and print JSON")
    parser.add_argument("--alone", action="store_true", help="do not run other libraries")
    parser.add_argument(
        "--markdown", type=Path, help="write the table into this file, behind its line <!-- figures -->"
    )
    given = parser.parse_args()
    if wrong := [name for name in given.names if name not in known]:
        parser.error(f"{wrong[0]} is not a case: see --list")
    chosen = [known[name] for name in given.names or known]
    if given.list:
        for case in chosen:
            print(f"{case.name:<24} {case.title}: {case.target}")
        return 0
    if given.one:
        print(json.dumps(measured(chosen[0], given.alone)))
        return 0
    lines, failed = [], 0
    for case in chosen:
        try:
            figures = apart(case.name, alone=given.alone)
        except subprocess.CalledProcessError:  # which has said why
            print(f"{case.name} failed", file=sys.stderr)
            failed = 1
            continue
        lines.append(row(case, figures))
        print(lines[-1], flush=True)
    if given.markdown:
        write_table(given.markdown, lines)
    return failed


def apart(name: str, alone: bool = False, **environment: str) -> dict[str, Any]:
    """Return the figures of a case, from a process of its own."""
    words = [sys.executable, __file__, "--one", name, *(["--alone"] if alone else [])]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # without bytecode every start would compile the sources of numba
    done = subprocess.run(words, env={**inherited, **environment}, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(case: Case, alone: bool) -> dict[str, Any]:
    """Return the least seconds of a case and of other libraries, and the memory at the peak of the case's own."""
    with tempfile.TemporaryDirectory() as folder:
        made = case.setup(Path(folder))
        case.run(made)  # compiles
        own, spent = [], 0.0
        while len(own) < _RUNS and spent < _ENOUGH:
            own.append(seconds(case.run, made))
            spent += own[-1]
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        others = {}
        for name, call in {} if alone else case.others.items():
            try:
                call(made)
            except ImportError as missing:
                print(f"{name} is left out: {missing}", file=sys.stderr)
                continue
            theirs, mine = [], list(own)
            for _ in range(3):
                theirs.append(seconds(call, made))
                mine.append(seconds(case.run, made))
                if sum(theirs) > _ENOUGH:
                    break
            others[name] = min(theirs) / case.share / min(mine)
            own = mine
    return {"seconds": min(own), "peak": peak * 1024, "others": others}


def seconds(call: Callable[[Any], object], made: Any) -> float:
    began = time.perf_counter()
    call(made)
    return time.perf_counter() - began


def row(case: Case, figures: dict[str, Any]) -> str:
    took = figures["seconds"]
    time_ = f"{took:.2f} s" if took >= 1 else f"{took * 1e3:.3g} ms"
    others = ", ".join(f"{name} {round_(ratio)}" for name, ratio in figures["others"].items()) or "–"
    return f"| {case.title} | {time_} | {figures['peak'] / 2**30:.2f} GB | {others} | {case.target} |"


def round_(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.2g}×"


def write_table(path: Path, lines: list[str]) -> None:
    """Replace what stands behind the mark in a page by the table, up to the next heading."""
    mark = "<!-- figures -->"
    before, found, after = path.read_text(encoding="utf-8").partition(mark)
    if not found:
        raise SystemExit(f"{path} has no line {mark}")
    heading = after.find("\n## ")
    rest = after[heading:] if heading >= 0 else "\n"
    head = ["| | time | memory | others take | target |", "|---|---|---|---|---|"]
    path.write_text("\n".join([before + mark, "", *head, *lines, ""]) + rest, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
