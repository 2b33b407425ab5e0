"""obliv fabric failures of every cable of FT(8,3) with tables of osrm3-d, from the start of the process."""

import subprocess
import sys

TARGET = "at most 5 s"
TREE = "fattree:8,3"
COMMAND = ["fabric", "failures", "tree.net", "--lft", "tree.lfts"]


def setup(folder):
    for words in (
        ["generate", TREE, "-o", "tree.net"],
        ["route", "tree.net", "--engine", "osrm3-d", "-o", "tree.lfts"],
    ):
        subprocess.run([sys.executable, "-m", "obliv", "fabric", *words], check=True, capture_output=True, cwd=folder)
    return folder


def run(folder):
    subprocess.run([sys.executable, "-m", "obliv", *COMMAND], check=True, capture_output=True, cwd=folder)
