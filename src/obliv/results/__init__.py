"""Results: frozen values that print, convert, save and draw themselves."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from obliv._util.codec import digest_of, pack, read_json, unpack, write_json
from obliv.errors import FileError
from obliv.results.average import Average
from obliv.results.base import Result, provenance
from obliv.results.compare import Comparison
from obliv.results.deadlock import Deadlock, VirtualChannels
from obliv.results.fabric import Bisection, FabricWorst, Shifts
from obliv.results.fabric_check import FabricCheck
from obliv.results.fabric_throughput import FabricThroughput
from obliv.results.locality import Locality
from obliv.results.numbers import Estimate
from obliv.results.ratio import Ratio, TrafficRatio
from obliv.results.schedule import Moves, Schedule, Schedules
from obliv.results.throughput import Throughput
from obliv.results.verification import Verification
from obliv.results.worst_case import WorstCase
from obliv.topologies.leveled.instances import Instance

__all__ = [
    "Average",
    "Bisection",
    "Comparison",
    "Deadlock",
    "Estimate",
    "FabricCheck",
    "FabricThroughput",
    "FabricWorst",
    "Instance",
    "Locality",
    "Moves",
    "Ratio",
    "Result",
    "Schedule",
    "Schedules",
    "Shifts",
    "Throughput",
    "TrafficRatio",
    "Verification",
    "VirtualChannels",
    "WorstCase",
    "digest_of",
    "load",
    "pack",
    "provenance",
    "read_json",
    "unpack",
    "write_json",
]


def load(path: str | Path) -> Result:
    """A result that was saved.

    Parameters
    ----------
    path : path-like
        What ``save`` or ``--output`` wrote.

    Returns
    -------
    Result
        Of the kind that the file names. Nothing is verified; see :func:`obliv.verify`.

    Raises
    ------
    FileError
        If the file holds no result.
    """
    known = (
        WorstCase,
        Throughput,
        Average,
        Comparison,
        Locality,
        Deadlock,
        VirtualChannels,
        Verification,
        Ratio,
        TrafficRatio,
        Schedule,
        FabricCheck,
        Shifts,
        Bisection,
    )
    kinds: dict[str, Any] = {each.kind: each for each in known}
    made = read_json(path)
    if made.get("kind") not in kinds:
        raise FileError(f"holds no result that obliv can load (kind {made.get('kind')!r})", path)
    kind = kinds[made["kind"]]
    if kind in (WorstCase, Throughput) and "notes" in made:
        kind = FabricWorst if kind is WorstCase else FabricThroughput
    try:
        result: Result = kind.from_dict(made)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, zlib.error) as error:
        raise FileError(f"is no whole result: {type(error).__name__} {error}", path) from None
    return result
