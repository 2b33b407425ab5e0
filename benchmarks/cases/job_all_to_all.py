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
    import obliv

    fabric, _ = obliv.fabric.read(folder / "tree.net", folder / "tree.lfts")
    names = [fabric.nodes.description[fabric.node_of[slot]] for slot in fabric.endpoints]
    (folder / "hosts").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return folder


def run(folder):
    words = ["fabric", "job", "tree.net", "--lft", "tree.lfts", "--hosts", "hosts", "--pattern", "alltoall"]
    subprocess.run([sys.executable, "-m", "obliv", *words], check=True, capture_output=True, cwd=folder)
