"""obliv fabric check of FT(36,3), 11,664 hosts: read and followed, from the start of the process."""

import subprocess
import sys

TARGET = "at most 20 s"
TREE = "fattree:36,3"
COMMAND = ["fabric", "check", "tree.net", "--lft", "tree.lfts"]


def setup(folder):
    for words in (["generate", TREE, "-o", "tree.net"], ["route", "tree.net", "--engine", "dmodk", "-o", "tree.lfts"]):
        subprocess.run([sys.executable, "-m", "obliv", "fabric", *words], check=True, capture_output=True, cwd=folder)
    return folder


def run(folder):
    subprocess.run([sys.executable, "-m", "obliv", *COMMAND], check=True, capture_output=True, cwd=folder)
