"""obliv --help, from the start of the process."""

from common import obliv

TARGET = "at most 0.4 s"


def setup(folder):
    return folder


def run(made):
    obliv(made, "--help")
