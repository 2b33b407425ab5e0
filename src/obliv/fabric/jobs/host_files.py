"""Files that say on which hosts the ranks of a job run: host lists, MPI host files, rank files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from obliv._util.files import read_source
from obliv._util.text import lines, plural, shown
from obliv.errors import FileError, InputError
from obliv.fabric.jobs.host_lists import MOST_RANKS, expanded

__all__ = ["Seat", "per_host_of", "read_seats", "reads_as_name"]

_RANK = re.compile(r"rank\s+(\S+?)\s*=\s*(.*?)(?:\s+slots?\s*=\s*(\S+))?\s*\Z", re.IGNORECASE)
_KEYS = re.compile(r"(\S+)((?:\s+[\w-]+\s*=\s*[^\s=]+)+)\Z")
_KEY = re.compile(r"([\w-]+)\s*=\s*([^\s=]+)")
_COUNTED = re.compile(r"([^\s,:\[\]]+):(\d{1,9})\Z", re.ASCII)
#: A variable that holds a list of hosts, as the shell, env or qstat -f print it.
_SET = re.compile(r"(?:export\s+)?(?:[A-Z][A-Z0-9_]*|exec_v?host2?)\s*=\s*(?P<quote>[\"']?)(.+)(?P=quote)\Z")
#: PBS's exec_host: a host, and the slots that each have a rank, as 0, 0-3, 0,2 or as many as behind a star.
_EXEC = re.compile(r"([^\s/+]+)/(?:\d+\*(\d{1,7})|(\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*))", re.ASCII)
_FABRIC = re.compile(  # records of ibnetdiscover, headings of forwarding tables
    r"(?:vendid|devid|sysimgguid|switchguid|caguid)=|(?:Switch|Ca|Rt)\s+\d+\s+\"|Unicast lids \[|dump_ucast_routes:"
)


class Seat(NamedTuple):
    """The place of a rank, or of several: a host as the file names it."""

    host: str
    ranks: int | None  # None: the file does not say
    slot: str  # of a rank file, "" for none
    line: int


def read_seats(path: str | Path, known: Callable[[str], bool], hosts: int) -> tuple[list[Seat], bool, str]:
    """Read the hosts of a job.

    Parameters
    ----------
    path : path-like
        Host lists of Slurm, one or more hosts a line, MPI's host files (``node1 slots=4`` or ``node1:4``), node files
        of PBS and Torque (a host once for each rank), PBS's exec_host (``n0/0+n0/1``, a rank for each slot), LSF's
        ``node1 8 node2 8``, or a rank file (``rank 0=node1 slot=0``), by content. ``NAME=`` or ``export NAME=`` before
        a list is skipped. A ``#`` after a blank begins a comment.
    known : callable
        Whether a text is the name of a host as it stands.
    hosts : int
        The number of hosts of the fabric.

    Returns
    -------
    seats : list of Seat
        In the order of ranks; of a rank file one for each rank.
    by_rank : bool
        Whether the file is a rank file.
    digest : str
        SHA-256.

    Raises
    ------
    FileError
        With the line.
    """
    if any(mark in str(path) for mark in "[,") and not os.path.exists(path):
        raise FileError("file not found; write the list of hosts into a file, and name this", path)
    text, digest = read_source(path)
    content = list(_content(text, known))
    if foreign := next((number for number, words in content[:20] if _FABRIC.match(words)), 0):
        raise FileError(
            "is a file of the fabric: name a file with the hosts of the job, such as node[001-064]", path, foreign
        )
    if not content:
        raise FileError("names no hosts: write one a line, or a list such as node[001-064]", path)
    if _RANK.match(content[0][1]):
        return _by_rank(content, path), True, digest
    seats: list[Seat] = []
    seen: set[str] = set()
    for line, words in content:
        try:
            seats += _on_line(words, known, lambda text: expanded(text, hosts, seen), line)
        except InputError as error:
            raise FileError(str(error), path, line) from None
        if len(seats) > MOST_RANKS:
            raise FileError(f"names more than {MOST_RANKS:,} ranks, as many as a job can have", path, line)
    return seats, False, digest


def per_host_of(text: str, hosts: int) -> list[int]:
    """Return the ranks of every host: one number for all, or Slurm's tasks per node.

    Examples
    --------
    >>> per_host_of("4(x2),1", 3), per_host_of("2", 3)
    ([4, 4, 1], [2, 2, 2])
    """
    counts: list[int] = []
    for word in text.split(","):
        match = re.match(r"\s*(\d+)(?:\(x(\d{1,6})\))?\s*\Z", word, re.ASCII)
        if match is not None and len(match[1]) > 6:
            raise InputError.naming("{per_host}={0}: a host may have at most 999,999 ranks", shown(text))
        if match is None or not int(match[1]):
            raise InputError.naming(
                "{per_host}={0}: write a number from 1, or a list as of Slurm, 4(x3),2", shown(text)
            )
        counts += [int(match[1])] * min(int(match[2] or 1), hosts + 1)
    if "," not in text and "(" not in text:
        counts *= hosts
    if len(counts) != hosts:
        raise InputError.naming(
            "{per_host}={0} is for {1}, the job has {2}", shown(text), plural(len(counts), "host"), f"{hosts:,}"
        )
    return counts


def reads_as_name(name: str, known: Callable[[str], bool]) -> bool:
    """Return whether a line of a file with this name alone is read as this host."""
    plain = list(_content(name, known)) == [(1, name)] and not _FABRIC.match(name) and not _RANK.match(name)
    return plain and _on_line(name, known, lambda text: expanded(text, 1), 1) == [Seat(name, None, "", 1)]


def _content(text: str, known: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers, without comments."""
    for number, line in enumerate(lines(text), 1):
        words = line.strip()
        if not known(words):
            words = re.split(r"(?:^|\s)#", words, maxsplit=1)[0].strip()
        if words:
            yield number, words


def _on_line(words: str, known: Callable[[str], bool], expand: Callable[[str], list[str]], line: int) -> list[Seat]:
    """Return the hosts of a line of a host file or host list."""
    if known(words):
        return [Seat(words, None, "", line)]
    if (given := _SET.match(words)) is not None:
        words = given[2].strip()
    if slots := _of_exec(words):
        return [Seat(host, ranks, "", line) for host, ranks in slots]
    if _RANK.match(words):
        raise InputError("a line of a rank file among hosts: begin the file with  rank 0=...")
    match = _KEYS.match(words)
    if match is not None and not known(match[1]):
        host = match[1].rpartition("@")[2]
    elif match is not None:
        host = match[1]
    if match is not None:
        keys = {key.lower(): value for key, value in _KEY.findall(match[2])}
        return [Seat(name, _slots(keys.get("slots", "1")), "", line) for name in expand(host)]
    counted = _COUNTED.match(words)
    if counted is not None:
        return [Seat(counted[1].rpartition("@")[2], _slots(counted[2]), "", line)]
    if numbered := _numbered(words.split(), known):
        return [Seat(name, _slots(count), "", line) for host, count in numbered for name in expand(host)]
    return [Seat(name, None, "", line) for name in expand(words)]


def _of_exec(words: str) -> list[tuple[str, int]]:
    """Return hosts with their numbers of ranks from words as in PBS's exec_host, ``n0/0+n0/1+n1/0*4``; else nothing."""
    seats = []
    for item in words.split("+"):
        match = _EXEC.fullmatch(item.strip())
        if match is None:
            return []
        ranges = [part.partition("-") for part in match[3].split(",")] if match[3] else []
        many = [int(last or first) - int(first) + 1 for first, _, last in ranges] or [int(match[2])]
        if min(many) < 1 or sum(many) > MOST_RANKS:
            raise InputError(f"{shown(item)}: write a host with 1 to {MOST_RANKS:,} slots, as node1/0-3")
        seats.append((match[1], sum(many)))
    return seats


def _numbered(words: list[str], known: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return hosts with their numbers of slots from words as LSF writes them, ``h1 8 h2 8``; else nothing."""
    numbers = [word.isascii() and word.isdecimal() and not known(word) for word in words]
    hosts = words[::2]
    if not any(numbers) or numbers[0] or any(host.startswith(",") or host.endswith(",") for host in hosts):
        return []
    if numbers != [False, True] * (len(words) // 2):
        raise InputError("hosts and numbers do not alternate: a number after a host is its slots, as in  h1 8 h2 8")
    return list(zip(hosts, words[1::2], strict=True))


def _slots(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text[:10]) <= MOST_RANKS:
        raise InputError(f"slots={text[:40]}: write a number from 1 to {MOST_RANKS:,}")
    return int(text)


def _by_rank(content: list[tuple[int, str]], path: str | Path) -> list[Seat]:
    """Return the seats of a rank file, by rank."""
    seats: dict[int, Seat] = {}
    for line, words in content:
        match = _RANK.match(words)
        if match is None or not match[2]:
            raise FileError(f"{shown(words)} is not a line of a rank file: write  rank 0=HOST slot=0", path, line)
        number, host = match[1], match[2].strip()
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise FileError(f"{shown(number)} is not a rank: write a whole number from 0", path, line)
        if host.startswith("+"):
            raise FileError(f"{shown(host)} is a place in an allocation: write the name of the host", path, line)
        if int(number) in seats:
            raise FileError(f"rank {number} stands in line {seats[int(number)].line} too", path, line)
        seats[int(number)] = Seat(host, 1, match[3] or "", line)
    for rank, number in enumerate(sorted(seats)):
        if rank != number:
            raise FileError(
                f"rank {rank} is missing: the file has {plural(len(seats), 'rank')} up to {max(seats)}, and all from 0 "
                "on must have a line",
                path,
                seats[number].line,
            )
    return [seats[rank] for rank in range(len(seats))]
