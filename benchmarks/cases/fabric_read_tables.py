"""The tables of FT(24,3) with 3,456 hosts, 720 switches, 205 MB of text, read."""

TARGET = "200 MB a second"


def setup(folder):
    from common import fat_tree

    from obliv.fabric.files.folder import read_fabric

    return read_fabric(fat_tree(folder, 24, "dmodk") / "tree.net"), folder / "tree.lfts"


def run(made):
    from obliv.fabric.files.folder import read_tables

    return read_tables(made[1], made[0])
