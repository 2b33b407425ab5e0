"""The topology file of FT(36,3), 11,664 hosts, read."""

TARGET = "at most 2 s"


def setup(folder):
    from common import obliv

    obliv(folder, "fabric", "generate", "fattree:36,3", "-o", "tree.net")
    return folder / "tree.net"


def run(path):
    from obliv.fabric.files.folder import read_fabric

    return read_fabric(path)
