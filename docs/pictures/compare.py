"""Makes the pictures of ``obliv compare``: ``python docs/pictures/compare.py``."""

from pathlib import Path

import obliv
from obliv import view

HERE = Path(__file__).parent


def main() -> None:
    """Bars, plane and lines of comparisons, and the paths of one pair."""
    mesh = obliv.compare("mesh:5x5", "valiant", "dor", "o1turn", "u2turn", samples=100_000)
    view.save(mesh, HERE / "compare-bars.png", dpi=110)
    torus = obliv.compare("torus:8x8", "dor", "o1turn", "romm", "valiant", "ival", "i2turn", "u2turn")
    view.save(torus, HERE / "compare-plane.png", kind="plane", dpi=110)
    meshes = obliv.compare([f"mesh:{k}x{k}" for k in range(3, 14, 2)], "valiant", "dor", "o1turn", "u2turn")
    view.save(meshes, HERE / "compare-lines.png", dpi=110)
    view.save(view.draw_paths(obliv.routing("xyx", obliv.mesh(5, 5)), 6, 18), HERE / "xyx-paths.png", dpi=110)


if __name__ == "__main__":
    main()
