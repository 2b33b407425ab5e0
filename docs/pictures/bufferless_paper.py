"""Makes the picture of the page on the bufferless paper: ``python docs/pictures/bufferless_paper.py``."""

from pathlib import Path

from obliv.papers.bufferless.drawing import draw

HERE = Path(__file__).parent


def main() -> None:
    """Routing times of both theorems."""
    draw(HERE / "bufferless-theorems.png", "theorem3.1", "theorem4.1", dpi=95)


if __name__ == "__main__":
    main()
