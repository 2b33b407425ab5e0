"""obliv worst torus:65x65 romm, from the start of the process."""

from common import obliv

TARGET = "at most 4 s"


def setup(folder):
    return folder


def run(made):
    obliv(made, "worst", "torus:65x65", "romm")
