"""Makes the pictures of the documentation: ``python docs/pictures/make.py``."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import obliv
from obliv import view


def romm_torus() -> None:
    """The worst permutation of ROMM on the 9-ary 2-cube, on the network and as a matrix."""
    result = obliv.worst_case(obliv.routing("romm", obliv.torus(9, 9)))
    figure = Figure(figsize=(40 / 3, 20 / 3), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    network, matrix = figure.subplots(1, 2, width_ratios=(1.08, 1.0))
    result.plot(network, title=False)
    result.plot(matrix, kind="matrix", title=False)
    figure.suptitle(
        f"The worst permutation for ROMM on a 9 × 9 torus: channel load {result.channel_load}, "
        f"throughput {result.fraction_of_capacity} of capacity",
        fontsize=14,
    )
    view.save(figure, Path(__file__).with_name("romm-torus.png"), dpi=120)


if __name__ == "__main__":
    romm_torus()
