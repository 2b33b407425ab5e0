"""obliv worst torus:9x9 romm, from the start of the process."""

import subprocess
import sys

TARGET = "at most 1.5 s"
COMMAND = ["worst", "torus:9x9", "romm"]


def setup(folder):
    return folder


def run(folder):
    subprocess.run([sys.executable, "-m", "obliv", *COMMAND], check=True, stdout=subprocess.DEVNULL, cwd=folder)
