"""Writer of QoS policies: the service levels of pairs, for ``opensm -Q -Y FILE``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from obliv._util.files import write_pieces
from obliv._util.text import plural
from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.lanes.levels import Levels
from obliv.fabric.model import Fabric

__all__ = ["policy_rules", "write_policy"]

_EACH_LINE = 6  # GUIDs

#: Sources, destinations (places among the endpoints; None: all) and the service level of their packets.
Rule = tuple[tuple[int, ...] | None, tuple[int, ...], int]


def policy_rules(levels: Levels, fabric: Fabric) -> list[Rule]:
    """Return rules that give pairs of endpoints their service levels; pairs without a rule have service level 0.

    Destinations with equal service levels from all sources share their rules, or sources with equal ones to all
    destinations, whichever takes fewer rules. No two rules fit one pair.

    Raises
    ------
    FileError
        If a pair has no service level, or several, or other ones by other LIDs of its destination.
    """
    masks = _by_endpoint(levels, fabric)
    sl = np.log2(masks).astype(np.int64)
    if len(sl) == 1:
        return [(None, _places(sl[0] == s), s) for s in np.unique(sl).tolist() if s]
    by_destination: list[Rule] = [(sources, destinations, s) for destinations, sources, s in _grouped(sl.T)]
    by_source: list[Rule] = [*_grouped(sl)]
    return min(by_destination, by_source, key=len)


def _by_endpoint(levels: Levels, fabric: Fabric) -> Array:
    """Return the masks of pairs of endpoints, each of a single service level, shape (1 or endpoints, endpoints)."""
    many = 1 << fabric.ports.lmc[fabric.endpoints].astype(np.int64)
    first = np.cumsum(many) - many
    masks = levels.masks
    if masks.shape[1] == 1:
        masks = np.repeat(masks, int(many.sum()), axis=1)
    one = masks[:, first]
    if (np.repeat(one, many, axis=1) != masks).any():
        raise FileError("a QoS policy cannot tell the LIDs of a port apart: use an LMC of 0", levels.name)
    single = (one > 0) & (one & (one - 1) == 0)
    needed = ~np.eye(len(one), dtype=bool) if len(one) > 1 else np.True_
    if (needed & ~single).any():
        raise FileError("every pair needs one service level", levels.name)
    return np.where(single, one, 1)


def _grouped(sl: Array) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Return groups of rows with equal service levels: the rows, columns with one service level, and that level."""
    kinds, kind = np.unique(sl, axis=0, return_inverse=True)
    rules = []
    for k, levels in enumerate(kinds):
        rows = _places(kind.ravel() == k)
        rules += [(rows, _places(levels == s), s) for s in np.unique(levels).tolist() if s]
    return rules


def _places(which: Array) -> tuple[int, ...]:
    return tuple(np.flatnonzero(which).tolist())


@typed
def write_policy(levels: Levels, fabric: Fabric, path: str | Path) -> int:
    """Write the service levels of pairs as a QoS policy, which ``opensm -Q -Y FILE`` loads.

    Parameters
    ----------
    levels : Levels
        With one service level for each pair.
    fabric : Fabric
        With the GUIDs of its ports.
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    int
        The number of rules. OpenSM goes through them for each path record.

    Raises
    ------
    FileError
        If an endpoint has no GUID, or a policy cannot express the service levels.
    """
    guid = fabric.ports.guid[fabric.endpoints]
    if not guid.all():
        count = plural(int((guid == 0).sum()), "port")
        raise FileError(f"cannot be written: {count} of hosts without a GUID, by which OpenSM knows them", path)
    rules = policy_rules(levels, fabric)
    write_pieces(path, _lines(rules, guid))
    return len(rules)


def _lines(rules: list[Rule], guid: Array) -> Iterator[bytes]:
    groups: dict[tuple[int, ...], str] = {}
    for sources, destinations, _ in rules:
        for group in (sources, destinations):
            if group is not None:
                groups.setdefault(group, f"group{len(groups) + 1}")
    rank = np.empty(len(guid), np.int64)
    rank[np.argsort(guid, kind="stable")] = np.arange(len(guid))
    yield b"port-groups\n"
    for group, name in groups.items():
        yield f"    port-group\n        name: {name}\n{_guids(group, guid, rank)}    end-port-group\n".encode()
    yield b"end-port-groups\nqos-levels\n"
    for name, sl in [("DEFAULT", 0), *((f"lane{sl}", sl) for sl in sorted({sl for *_, sl in rules}))]:
        yield f"    qos-level\n        name: {name}\n        sl: {sl}\n    end-qos-level\n".encode()
    yield b"end-qos-levels\nqos-match-rules\n"
    for sources, destinations, sl in rules:
        yield b"    qos-match-rule\n"
        if sources is not None:
            yield f"        source: {groups[sources]}\n".encode()
        yield f"        destination: {groups[destinations]}\n        qos-level-name: lane{sl}\n".encode()
        yield b"    end-qos-match-rule\n"
    yield b"end-qos-match-rules\n"


def _guids(group: tuple[int, ...], guid: Array, rank: Array) -> str:
    """Return the lines of a group; GUIDs with no other endpoint's between them are joined to a range."""
    members = sorted(group, key=lambda place: int(rank[place]))
    ranges: list[list[int]] = []
    for place in members:
        if ranges and rank[place] == rank[ranges[-1][1]] + 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    texts = [
        f"0x{int(guid[first]):016x}" + (f"-0x{int(guid[last]):016x}" if last != first else "") for first, last in ranges
    ]
    lines = (", ".join(texts[at : at + _EACH_LINE]) for at in range(0, len(texts), _EACH_LINE))
    return "".join(f"        port-guid: {line}\n" for line in lines)
