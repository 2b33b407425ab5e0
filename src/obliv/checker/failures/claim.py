"""Claims about failures: every part is checked for its form before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from obliv._util.codec import digest_of, unpack_array
from obliv._util.typing import Array
from obliv.checker.claims import MalformedError, read_result
from obliv.topologies.base import Topology

if TYPE_CHECKING:
    from obliv.results import Failures

__all__ = ["Failed", "FailuresClaim", "figures_of", "read_failures", "statement_of"]

_KEYS = {"failed", "witness", "witnesses", "prices", "corrections", "sources", "digest"}
_LARGEST = 2**27  # numbers in an array
_Lists = dict[tuple[int, int], Array]


@dataclass(frozen=True, eq=False)
class Failed:
    """What fails together: the channels of cables, in order, each before its opposite; and nodes."""

    channels: Array
    nodes: Array

    def gone(self, hops: Any) -> Array:
        """Return which channels cannot be taken."""
        topology = hops.topology
        gone: Array = np.zeros(topology.channels, np.bool_)
        if len(self.nodes):
            gone[np.isin(topology.tail, self.nodes) | np.isin(topology.head, self.nodes)] = True
        gone[self.channels] = True
        return np.asarray(gone)


@dataclass(frozen=True, eq=False)
class FailuresClaim:
    """What failures are claimed to do, and the proof; row -1 stands for the network before any failure.

    Parameters
    ----------
    figures : Failures
    failed : list of Failed
        Of every row.
    witness : int array, shape (rows + 1,)
        The number of the witness of each row's load, that of row -1 first; -1 for none.
    channel : int array, shape (witnesses,)
    permutation : int array, shape (witnesses, terminals)
        Traffic that puts the load on the channel.
    prices : dict
        By row and channel: the terminals with a price of 1.
    tables : int array, shape (rows, switches, terminals), or None
        The channels by which switches forward packets after each failure, -1 for none; None where a rule gives them.
    """

    figures: Failures
    failed: list[Failed]
    witness: Array
    channel: Array
    permutation: Array
    prices: _Lists
    sources: dict[str, str]
    digest_holds: bool
    tables: Array | None = None


def read_failures(content: dict[str, Any], topology: Topology) -> FailuresClaim:
    """Read the content of a claim about failures.

    Raises
    ------
    MalformedError
        Naming the part that is missing or malformed.
    """
    certificate = content.get("certificate")
    if not isinstance(certificate, dict):
        raise MalformedError("it contains no certificate: save the result with one (certificate=True in Python)")
    if certificate.keys() - {"tables"} != _KEYS or not isinstance(certificate["sources"], dict):
        raise MalformedError("a certificate of failures has the parts " + ", ".join(sorted(_KEYS)))
    figures = figures_of(content)
    rows, terminals = len(figures.failures), len(topology.terminals)
    channels = _numbers(certificate, "failed", "channels", topology.channels)
    nodes = _numbers(certificate, "failed", "nodes", topology.nodes)
    of_channels = _parts(certificate, "failed", "first_channel", rows, len(channels))
    of_nodes = _parts(certificate, "failed", "first_node", rows, len(nodes))
    channel = _numbers(certificate, "witnesses", "channel", topology.channels)
    permutation = _numbers(certificate, "witnesses", "permutation", terminals)
    if permutation.size != len(channel) * terminals:
        raise MalformedError("witnesses: each needs one destination for every terminal")
    witness = _unpacked(certificate["witness"], "witness")
    if witness.shape != (rows + 1,) or not _within(witness, -1, len(channel)):
        raise MalformedError("witness: each row needs the number of a witness, or -1")
    return FailuresClaim(
        figures=figures,
        failed=[
            Failed(channels[of_channels[k] : of_channels[k + 1]], nodes[of_nodes[k] : of_nodes[k + 1]])
            for k in range(rows)
        ],
        witness=witness,
        channel=channel,
        permutation=permutation.reshape(len(channel), terminals),
        prices=_lists(certificate, "prices", topology, 0) | _lists(certificate, "corrections", topology, rows),
        sources=certificate["sources"],
        digest_holds=certificate["digest"] == digest_of(content),
        tables=_tables(certificate, topology, rows) if "tables" in certificate else None,
    )


def _tables(certificate: dict[str, Any], topology: Topology, rows: int) -> Array:
    """Return the channels by which switches forward packets for terminals in each row, each one that leaves it."""
    switches = np.flatnonzero(topology.number_of < 0)
    table = _unpacked(certificate["tables"], "tables")
    if table.shape != (rows, len(switches), len(topology.terminals)) or not _within(table, -1, topology.channels):
        raise MalformedError("tables: each row needs a channel, or -1, of every switch for every terminal")
    if ((table >= 0) & (topology.tail[table] != switches[None, :, None])).any():
        raise MalformedError("tables: a channel does not leave its switch")
    return table.astype(np.int32)


def figures_of(content: dict[str, Any]) -> Failures:
    """Return the figures of a claim.

    Raises
    ------
    MalformedError
        If one is missing or malformed, or differs from its exact number.
    """
    figures: Failures = read_result(content)
    right = figures.to_dict()
    for key in ("before", "rows"):
        if content[key] != right[key]:
            raise MalformedError(f"{key}: a figure differs from its exact number")
    return figures


def statement_of(figures: Failures) -> str:
    """Return what a claim about failures says."""
    count = "what is given" if figures.of == "given" else f"one of {len(figures.failures)} {figures.of}"
    load = f"no failure of {count} lets admissible traffic load a channel by more than {figures.worst_load}"
    routes = "" if figures.repair == figures.routing else f", routes being {figures.repair[:80]} after it"
    return f"{load}{routes}; their ranking is right"


def _lists(certificate: dict[str, Any], part: str, topology: Topology, rows: int) -> _Lists:
    """Return lists of terminals by row and channel; by row -1 and channel where there are no rows."""
    channel = _numbers(certificate, part, "channel", topology.channels)
    terminal = _numbers(certificate, part, "terminal", len(topology.terminals))
    first = _parts(certificate, part, "first", len(channel), len(terminal))
    row = _numbers(certificate, part, "row", rows) if rows else np.full(len(channel), -1)
    if len(row) != len(channel):
        raise MalformedError(f"{part}: row and channel differ in length")
    keys = zip(row.tolist(), channel.tolist(), strict=True)
    return {key: terminal[first[k] : first[k + 1]] for k, key in enumerate(keys)}


def _parts(certificate: dict[str, Any], part: str, key: str, count: int, size: int) -> Array:
    """Return where each of some parts begins, and where the last one ends."""
    first = _numbers(certificate, part, key, size + 1)
    if len(first) != count + 1 or first[0] != 0 or first[-1] != size or (np.diff(first) < 0).any():
        raise MalformedError(f"{part}: {key} does not divide the list into {count} parts")
    return first


def _numbers(certificate: dict[str, Any], part: str, key: str, below: int) -> Array:
    """Return an array of whole numbers from 0 to less than a limit."""
    parts = certificate[part]
    if not isinstance(parts, dict) or key not in parts:
        raise MalformedError(f"{part}: {key} is missing")
    values = _unpacked(parts[key], f"{part}: {key}")
    flat: Array = values.ravel()
    if not _within(flat, 0, below):
        raise MalformedError(f"{part}: a number of {key} is out of range")
    return flat


def _unpacked(value: Any, name: str) -> Array:
    try:
        return np.asarray(unpack_array(value, _LARGEST))
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"{name} cannot be unpacked: {error}") from None


def _within(values: Array, low: int, below: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < below)
