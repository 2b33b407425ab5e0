"""obliv verify of a claim about torus:33x33 romm, from the start of the process."""

import subprocess
import sys

TARGET = "at most 90 s"


def obliv(*words):
    subprocess.run(
        [sys.executable, "-m", "obliv", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def setup(folder):
    claim = str(folder / "claim.json.gz")
    obliv("worst", "torus:33x33", "romm", "--output", claim)
    return claim


def run(claim):
    obliv("verify", claim)
