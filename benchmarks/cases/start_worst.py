"""obliv worst torus:9x9 romm, from the start of the process."""

from common import obliv

TARGET = "at most 1.5 s"


def setup(folder):
    return folder


def run(made):
    obliv(made, "worst", "torus:9x9", "romm")
