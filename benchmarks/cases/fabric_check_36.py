"""obliv fabric check of FT(36,3), 11,664 hosts: read and followed, from the start of the process."""

from common import fat_tree, obliv

TARGET = "at most 20 s"


def setup(folder):
    return fat_tree(folder, 36, "dmodk")


def run(made):
    obliv(made, "fabric", "check", "tree.net", "--lft", "tree.lfts")
