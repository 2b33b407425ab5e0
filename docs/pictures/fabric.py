"""Makes the picture of the page on fabrics: ``python docs/pictures/fabric.py``."""

from pathlib import Path

import obliv
from obliv import view
from obliv.fabric.generate.from_topology import from_routing


def main() -> None:
    """The worst permutation for D-mod-k on FT(8,2), as tables of an InfiniBand fabric."""
    axes = obliv.worst_case(from_routing(obliv.routing("dmodk", obliv.topology("fattree:8,2")))).plot()
    view.save(axes.figure, Path(__file__).with_name("fabric-worst.png"), dpi=75)


if __name__ == "__main__":
    main()
