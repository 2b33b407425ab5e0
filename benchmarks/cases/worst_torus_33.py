"""obliv worst torus:33x33 romm, from the start of the process."""

from common import obliv

TARGET = "at most 1.8 s"


def setup(folder):
    return folder


def run(made):
    obliv(made, "worst", "torus:33x33", "romm")
