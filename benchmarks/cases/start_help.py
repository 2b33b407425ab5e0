"""obliv --help, from the start of the process."""

import subprocess
import sys

TARGET = "at most 0.4 s"
COMMAND = ["--help"]


def setup(folder):
    return folder


def run(folder):
    subprocess.run([sys.executable, "-m", "obliv", *COMMAND], check=True, stdout=subprocess.DEVNULL, cwd=folder)
