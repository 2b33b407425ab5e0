"""The 1,023 phases of an all-to-all of 1,024 ranks on FT(16,3), from the start of the process."""

import subprocess
import sys

TARGET = "at most 10 s"


def setup(folder):
    for words in (
        ["generate", "fattree:16,3", "-o", "tree.net"],
        ["route", "tree.net", "--engine", "dmodk", "-o", "tree.lfts"],
    ):
        subprocess.run([sys.executable, "-m", "obliv", "fabric", *words], check=True, capture_output=True, cwd=folder)
    return folder


def run(folder):
    words = ["fabric", "job", "tree.net", "--lft", "tree.lfts", "--pattern", "alltoall"]
    subprocess.run([sys.executable, "-m", "obliv", *words], check=True, capture_output=True, cwd=folder)
