"""obliv fabric failures of the 23,328 cables of FT(36,3), 11,664 hosts, as a table, from the start of the process."""

from common import fat_tree, obliv

TARGET = "at most 40 s"


def setup(folder):
    return fat_tree(folder, 36, "dmodk")


def run(made):
    obliv(made, "fabric", "failures", "tree.net", "--lft", "tree.lfts")
