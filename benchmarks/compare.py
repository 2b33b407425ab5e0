"""Compare two commits, case by case, in turn: is the second slower?

    uv run python benchmarks/compare.py OLD [NEW] [--cases NAME,NAME] [--rounds 5]

NEW is what lies in this folder unless given. Both run the cases of this folder with the packages of this environment;
the exit status is 1 if a case of NEW takes more than 1.1 times as long as OLD, by the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from registry import cases
from run import apart

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 1.1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", help="a commit")
    parser.add_argument("new", metavar="NEW", nargs="?", help="a commit (default: the files as they are)")
    parser.add_argument("--cases", default=",".join(cases()), help="names of cases, by commas")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = [checked_out(given.old, Path(folder, "old"))]
        trees.append(checked_out(given.new, Path(folder, "new")) if given.new else ROOT)
        places = [
            {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(Path(folder, f"kernels{i}"))}
            for i, tree in enumerate(trees)
        ]
        slower = 0
        for name in given.cases.split(","):
            ratios = []
            for round_ in range(given.rounds):
                order = (0, 1) if round_ % 2 == 0 else (1, 0)
                took = {side: apart(name, alone=True, **places[side])["seconds"] for side in order}
                ratios.append(took[1] / took[0])
            middle = statistics.median(ratios)
            slower += middle > SLOWER
            print(f"{name:<24} {middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)
    return 1 if slower else 0


def checked_out(commit: str, folder: Path) -> Path:
    """Write the files of a commit into a folder."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "src"], stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
