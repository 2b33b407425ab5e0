"""Makes the picture of the page on the bufferless paper: ``python docs/pictures/bufferless_paper.py``."""

from pathlib import Path

from side_by_side import side_by_side

from obliv.papers.bufferless.statements import draw

HERE = Path(__file__).parent


def main() -> None:
    """Routing times of both theorems."""
    side_by_side(HERE / "bufferless-theorems.png", draw, "theorem3.1", "theorem4.1")


if __name__ == "__main__":
    main()
