"""The certificate of a design: lengths that prove the lower bounds, and the worst-case claim of the routing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from obliv._util.codec import pack
from obliv.analysis.worst_case.symmetry import orbits
from obliv.designs.bounds.worst_case import Line
from obliv.designs.programme import Programme
from obliv.results import Provenance, WorstCase

__all__ = ["certificate_of"]


def certificate_of(programme: Programme, worst: WorstCase, load: Line, hops: Line | None) -> dict[str, Any]:
    """Return the certificate: of every line the lengths on some channels, carried to the others by node maps."""
    topology = programme.topology
    classes = orbits(topology, [maps.nodes for maps in programme.symmetry.generators])
    focus = np.unique(classes.focus)
    claim = dict(worst.certificate or {})
    network = claim.pop("network", None)
    number = {channel: k for k, channel in enumerate(focus.tolist())}
    return {
        **({} if network is None else {"network": network}),
        "generators": pack(np.array([list(g) for g in classes.generators]).reshape(-1, topology.nodes)),
        "focus": focus.tolist(),
        "channels": [[number[int(classes.focus[c])], classes.word(c)] for c in range(topology.channels)],
        "load_line": _line(programme, load, focus.tolist()),
        "hops_line": None if hops is None else _line(programme, hops, focus.tolist()),
        "worst": replace(worst, provenance=Provenance(), certificate=claim).to_dict(),
    }


def _line(programme: Programme, line: Line, focus: list[int]) -> dict[str, Any]:
    """Return the lengths of each focus channel as rows (source, destination, length)."""
    lengths = np.append(line.length, 0)
    rows = []
    for channel in focus:
        matrix = lengths[programme.on_channel(channel)]
        source, destination = np.nonzero(matrix)
        rows.append(pack(np.stack([source, destination, matrix[source, destination]], axis=1)))
    return {"price": line.price, "lengths": rows}
