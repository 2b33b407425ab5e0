"""Makes the pictures of the page on the fat-tree paper: ``python docs/pictures/fat_tree.py``."""

from pathlib import Path

from side_by_side import side_by_side

from obliv.papers.fat_tree.curves import draw

HERE = Path(__file__).parent


def main() -> None:
    """Clusters, and hot spots, on two and on three levels."""
    side_by_side(HERE / "fat-tree-clusters.png", draw, "figure12", "figure13")
    side_by_side(HERE / "fat-tree-hotspots.png", draw, "figure14", "figure15")


if __name__ == "__main__":
    main()
