"""``python -m obliv``."""

from obliv.cli import run

if __name__ == "__main__":  # workers of MPI import this file
    run()
