"""obliv fabric failures of every cable of FT(8,3) with tables of osrm3-d, from the start of the process."""

from common import fat_tree, obliv

TARGET = "at most 5 s"


def setup(folder):
    return fat_tree(folder, 8, "osrm3-d")


def run(made):
    obliv(made, "fabric", "failures", "tree.net", "--lft", "tree.lfts")
