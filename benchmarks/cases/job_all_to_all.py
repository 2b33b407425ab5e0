"""The 1,023 phases of an all-to-all of 1,024 ranks on FT(16,3), from the start of the process."""

from common import fat_tree, obliv

TARGET = "at most 10 s"


def setup(folder):
    from obliv.fabric import read

    fabric, _ = read(fat_tree(folder, 16, "dmodk") / "tree.net", folder / "tree.lfts")
    names = [fabric.nodes.description[fabric.node_of[slot]] for slot in fabric.endpoints]
    (folder / "hosts").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return folder


def run(made):
    obliv(made, "fabric", "job", "tree.net", "--lft", "tree.lfts", "--hosts", "hosts", "--pattern", "alltoall")
