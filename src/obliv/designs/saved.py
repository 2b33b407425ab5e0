"""Designed routings in files: ``design:PATH`` reads the paths of a saved design."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.codec import pack, read_json_source, unpack_array
from obliv.errors import FileError, RoutingError
from obliv.results import provenance
from obliv.routings.listed import Listed, PathList
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["described", "packed", "saved_design", "unpacked"]


@register_routing("design", example="design:best.json.gz")
def saved_design(topology: Topology, path: Path) -> Listed:
    """Paths that ``obliv design --output`` saved.

    Parameters
    ----------
    topology : Topology
        The network that it was designed for; its paths are checked against it.
    path : Path

    Raises
    ------
    FileError
        If the file holds no design, or one for another network.
    """
    content, digest = read_json_source(path)
    if content.get("kind") != "design":
        raise FileError("contains no design: save a result of design in it", path)
    try:
        listed = unpacked(content.get("paths"))
        routing = Listed(topology, f"design:{path}", listed)
    except RoutingError as error:
        raise FileError(
            f"is a design for {content.get('topology')!r:.80}, which does not fit {topology.spec}: {error}; nodes and "
            "channels must be numbered alike, as in a file from  obliv export",
            path,
        ) from None
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise FileError(f"its paths cannot be read: {error}", path) from None
    routing.sources = ((str(path), digest),)
    return routing


def described(
    topology: Topology, routing: Listed, constraints: tuple[str, ...], seconds: float, *, exact: bool
) -> dict[str, Any]:
    """Return what the results of all designs say of a routing: its network, its paths and its provenance."""
    names = {"topology": topology.spec, "routing": "design"}
    per_pair = np.diff(routing.listed.pair)
    others = len(per_pair) - len(per_pair) // len(topology.terminals)
    return {
        **names,
        "provenance": provenance(names, seconds, "exact" if exact else "bounded", sources=topology.sources),
        "subject": routing,
        "constraints": constraints,
        "capacity": topology.capacity,
        "paths_per_pair": Fraction(int(per_pair.sum()), others),
        "most_paths": int(per_pair.max()),
        "paths": packed(routing.listed),
    }


def packed(listed: PathList) -> dict[str, Any]:
    """Return paths as JSON: of every pair the number of paths, of every path the hops, channels and amount."""
    return {
        "per_pair": pack(np.diff(listed.pair)),
        "hops": pack(np.diff(listed.start)),
        "channels": pack(listed.channel),
        "amounts": pack(listed.amount),
        "whole": listed.whole,
    }


def unpacked(content: Any) -> PathList:
    """Return the paths that :func:`packed` wrote; ValueError, KeyError or TypeError for anything else."""
    if not isinstance(content, dict):
        raise ValueError("no paths")
    per_pair, hops, channel, amount = (
        unpack_array(content[key]) for key in ("per_pair", "hops", "channels", "amounts")
    )
    whole = content["whole"]
    if type(whole) is not int:
        raise ValueError("whole is not a whole number")
    if any(part.ndim != 1 for part in (per_pair, hops, channel, amount)):
        raise ValueError("a table where a list is expected")
    if (per_pair < 0).any() or (hops < 0).any() or max(per_pair.sum(), hops.sum()) > 2**40:
        raise ValueError("a count is out of range")
    return PathList.of(per_pair, hops, channel, amount, whole)
