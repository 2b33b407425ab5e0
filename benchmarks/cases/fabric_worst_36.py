"""obliv fabric worst of FT(36,3), 11,664 hosts: the exact worst case, from the start of the process."""

from common import fat_tree, obliv

TARGET = "at most 60 s"


def setup(folder):
    return fat_tree(folder, 36, "dmodk")


def run(made):
    obliv(made, "fabric", "worst", "tree.net", "--lft", "tree.lfts")
