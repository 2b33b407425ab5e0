"""obliv verify of a claim about torus:33x33 romm, from the start of the process."""

from common import obliv

TARGET = "at most 90 s"


def setup(folder):
    obliv(folder, "worst", "torus:33x33", "romm", "--output", "claim.json.gz")
    return folder


def run(made):
    obliv(made, "verify", "claim.json.gz")
