"""Where the ranks of a job run: hosts, and the adapters that ranks use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from obliv._util.arrays import Array
from obliv._util.text import plural, printable, several, shown
from obliv.errors import FileError, InputError
from obliv.fabric.jobs.host_files import MOST_RANKS, HostNames, Seat, per_host_of, read_seats, reads_as_name
from obliv.fabric.model import typed
from obliv.fabric.topology import FabricTopology

__all__ = ["RAILS", "Placement", "placement", "read_hosts"]

RAILS = ("rank", "all", "first")  #: Rules for the rails that a rank uses.


@dataclass(frozen=True, eq=False)
class Placement:
    """The ranks of a job on the hosts of a fabric.

    Parameters
    ----------
    topology : FabricTopology
    name : str
        The file, or "given".
    hosts : tuple of str
        The hosts as they were named.
    host_of : int64 array, shape (ranks,)
        The host of every rank.
    local : int64 array, shape (ranks,)
        The place of every rank among those of its host, in their order.
    rails : int64 array, shape (ranks, rails)
        The terminals that every rank uses; a message is split equally between them, and goes from each rail of its
        source to the rail of its destination in the same place.
    slots : tuple of str
        Where a rank file binds every rank, "" where it says nothing.
    sources : tuple of (path, SHA-256)
    """

    topology: FabricTopology
    name: str
    hosts: tuple[str, ...]
    host_of: Array
    local: Array
    rails: Array
    slots: tuple[str, ...]
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.host_of)

    def host(self, rank: int) -> str:
        """Return the name of a rank's host."""
        return self.hosts[int(self.host_of[rank])]

    def ordered(self, slot_of: Array) -> Placement:
        """Return the placement where rank r runs where rank ``slot_of[r]`` runs in this one."""
        return replace(
            self,
            host_of=self.host_of[slot_of],
            local=self.local[slot_of],
            rails=self.rails[slot_of],
            slots=tuple(self.slots[slot] for slot in slot_of.tolist()),
        )

    def rank_file(self) -> str:
        """Return the placement as a rank file of Open MPI."""
        rows = zip(self.host_of.tolist(), self.slots, self.local.tolist(), strict=True)
        return "".join(
            f"rank {rank}={self.hosts[host]} slot={slot or local}\n" for rank, (host, slot, local) in enumerate(rows)
        )


@typed
def read_hosts(
    topology: FabricTopology, path: str | Path, *, per_host: int | str = 1, rails: str = "rank"
) -> Placement:
    """Read where the ranks of a job run.

    Parameters
    ----------
    topology : FabricTopology
    path : path-like
        Host lists of Slurm, hosts one a line, MPI's host files, node files of PBS or Torque, LSF's hosts with numbers,
        a rank file, or GUIDs; by content. A host that is named several times has as many ranks, in this order.
    per_host : int or str
        Ranks of hosts for which the file gives no number: one number, or Slurm's tasks per node, ``4(x3),2``. Not for
        files that name a host several times.
    rails : {"rank", "all", "first"}
        The adapters that ranks use on hosts with several: the i-th rank of a host the i-th one, and again from the
        first; all, every message in equal parts; or the first alone.

    Returns
    -------
    Placement

    Raises
    ------
    FileError
        If the file is malformed, a host is unknown or has two names, or a rank is missing.
    """
    names = HostNames(topology)
    seats, by_rank, digest = read_seats(path, names.knows, max(names.hosts, len(topology.terminals)))
    return _placed(names, seats, by_rank, per_host, rails, path, ((str(path), digest),))


@typed
def placement(
    topology: FabricTopology, hosts: Sequence[str], *, per_host: int | str = 1, rails: str = "rank"
) -> Placement:
    """Return the placement of a job on hosts by name, see :func:`read_hosts`.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> from obliv.fabric.topology import network
    >>> fabric = network(from_topology(obliv.topology("fattree:4,2")))
    >>> print(placement(fabric, ["host(3,0)", "host(0,1)"]).rank_file(), end="")
    rank 0=host(3,0) slot=0
    rank 1=host(0,1) slot=0
    """
    if not isinstance(hosts, str | Iterable):
        raise InputError(f"hosts are a file or a list of names, not a {type(hosts).__name__}")
    seats = [Seat(host, None, "", line) for line, host in enumerate(several(hosts), 1)]
    return _placed(HostNames(topology), seats, False, per_host, rails, "", ())


def _placed(
    names: HostNames,
    seats: list[Seat],
    by_rank: bool,
    per_host: int | str,
    rails: str,
    path: str | Path,
    sources: tuple[tuple[str, str], ...],
) -> Placement:
    """Return the placement for the hosts of a file."""
    if rails not in RAILS:
        raise InputError.naming("{rails}={0!r}: choose rank, all or first", rails[:40])
    used = _terminals(names, seats, by_rank, path)
    silent = [seat.ranks is None for seat in seats]
    if any(silent) and len(set(used)) < len(used):  # node files of PBS name a host once for each rank
        _require_one_each(per_host, seats, used, path)
        per_host = 1
    counts = iter(per_host_of(str(per_host), sum(silent)) if any(silent) else ())
    many = [next(counts) if seat.ranks is None else seat.ranks for seat in seats]
    if not sum(many):
        raise InputError("the job has no ranks: name its hosts")
    if sum(many) > MOST_RANKS:
        raise InputError(f"{printable(str(path))}: {sum(many):,} ranks; a job can have {MOST_RANKS:,} at most")
    number: dict[tuple[int, ...], int] = {}
    for terminals in used:
        number.setdefault(terminals, len(number))
    placed: Counter[int] = Counter()
    host_of: list[int] = []
    local: list[int] = []
    for terminals, count in zip(used, many, strict=True):
        host = number[terminals]
        host_of += [host] * count
        local += range(placed[host], placed[host] + count)
        placed[host] += count
    every = list(number)
    first: dict[int, str] = {}
    for terminals, seat in zip(used, seats, strict=True):
        first.setdefault(number[terminals], seat.host)
    widest = {len(every[host]) for host in host_of}
    if rails == "all" and len(widest) > 1:
        few = first[min(range(len(every)), key=lambda host: len(every[host]))]
        adapters = f"{min(widest)} to {max(widest)} adapters ({printable(few)} has {min(widest)})"
        raise InputError.naming("{rails}='all': hosts have {0}: use {rails}='rank'", adapters)
    return Placement(
        topology=names.topology,
        name=str(path) or "given",
        hosts=tuple(first[host] for host in range(len(every))),
        host_of=np.array(host_of, np.int64),
        local=np.array(local, np.int64),
        rails=np.array([_used(every[host], k, rails) for host, k in zip(host_of, local, strict=True)], np.int64),
        slots=tuple(seat.slot for seat, count in zip(seats, many, strict=True) for _ in range(count)),
        sources=sources,
    )


def _used(terminals: tuple[int, ...], local: int, rails: str) -> tuple[int, ...]:
    """Return the terminals that the rank in a place of its host uses."""
    if rails == "all":
        return terminals
    return (terminals[local % len(terminals) if rails == "rank" else 0],)


def _terminals(names: HostNames, seats: list[Seat], by_rank: bool, path: str | Path) -> list[tuple[int, ...]]:
    """Return the terminals of the host of every seat."""
    used: list[tuple[int, ...]] = []
    known: dict[str, tuple[int, ...]] = {}
    owner: dict[int, Seat] = {}
    unknown: dict[str, int] = {}
    for seat in seats:
        if seat.host not in known:
            try:
                known[seat.host] = names.find(seat.host)
            except InputError as error:
                raise _at(str(error), path, seat.line) from None
        if not known[seat.host]:
            unknown.setdefault(seat.host, seat.line)
        used.append(known[seat.host])
        if by_rank:
            continue
        for terminal in known[seat.host]:
            first = owner.setdefault(terminal, seat)
            if first.host != seat.host:
                where = f"in line {first.line} too" if path and first.line != seat.line else "twice"
                raise _at(
                    f"the host {printable(seat.host[:40])} is named {where}, as {printable(first.host[:40])}; for "
                    "several ranks a host repeat one name",
                    path,
                    seat.line,
                )
    if unknown:
        host, line = next(iter(unknown.items()))
        others = len(unknown) - 1
        more = f"; {plural(others, 'other host')} {'is' if others == 1 else 'are'} unknown too" if others else ""
        meant = names.nearest(host, partial(reads_as_name, known=names.knows) if path else bool)
        raise _at(f"unknown host {shown(host)}: {meant}{more}", path, line)
    return used


def _require_one_each(per_host: int | str, seats: list[Seat], used: list[tuple[int, ...]], path: str | Path) -> None:
    """Refuse a number of ranks for hosts that are repeated, since a file of such hosts has a line for each rank."""
    if str(per_host).strip() != "1":
        first: dict[tuple[int, ...], Seat] = {}
        twice = next(seat for seat, host in zip(seats, used, strict=True) if first.setdefault(host, seat) is not seat)
        name = printable(twice.host[:40])
        text = f"the host {name} is named several times, once for each rank: give no number of ranks per host"
        raise _at(text, path, twice.line)


def _at(message: str, path: str | Path, line: int) -> InputError:
    return FileError(message, path, line) if path else InputError(message)
