"""``python -m obliv``."""

from obliv.cli import run

run()
