"""Makes the pictures of the page on the fat-tree paper: ``python docs/pictures/fat_tree.py``."""

from pathlib import Path

from obliv.papers.fat_tree.drawing import draw

HERE = Path(__file__).parent


def main() -> None:
    """Clusters, and hot spots, on two and on three levels."""
    draw(HERE / "fat-tree-clusters.png", "figure12", "figure13", dpi=95)
    draw(HERE / "fat-tree-hotspots.png", "figure14", "figure15", dpi=95)


if __name__ == "__main__":
    main()
