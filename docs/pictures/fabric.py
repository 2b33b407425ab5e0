"""Makes the pictures of the page on fabrics: ``python docs/pictures/fabric.py``."""

from pathlib import Path

import numpy as np

import obliv
from obliv import view
from obliv.fabric.generate import from_routing, from_topology


def main() -> None:
    """The worst permutation for D-mod-k on FT(8,2), as tables of an InfiniBand fabric."""
    axes = obliv.worst_case(from_routing(obliv.routing("dmodk", obliv.topology("fattree:8,2")))).plot()
    view.save(axes.figure, Path(__file__).with_name("fabric-worst.png"), dpi=100)
    large()


def large() -> None:
    """The worst permutation for D-mod-k on FT(16,3) without five of its cables."""
    fabric = from_topology(obliv.topology("fattree:16,3"))
    peer = fabric.ports.peer.copy()
    for slot in np.random.default_rng(3).choice(fabric.trunks[2], 5, replace=False).tolist():
        peer[[slot, peer[slot]]] = -1
    damaged = fabric.with_ports(peer=peer)
    tables = obliv.fabric.route(damaged, "dmodk").tables
    result = obliv.worst_case(obliv.fabric.routing(obliv.fabric.network(damaged), tables))
    axes = view.plot_worst(result, title=False)
    view.save(axes.figure, Path(__file__).with_name("fabric-large.png"), dpi=100)


if __name__ == "__main__":
    main()
