"""Files that say on which hosts the ranks of a job run: MPI host files, rank files, host lists; hosts by name."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

from obliv._util.files import read_source
from obliv._util.text import lines, plural, printable, shown
from obliv.errors import FileError, InputError
from obliv.fabric.names import guid_of, nearest
from obliv.fabric.topology import FabricTopology

# Host lists as Slurm, Flux and pdsh write them: ``node[001-064,070],login1``


MOST_RANKS = 1 << 20  #: Ranks that a job can have.

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?\Z", re.ASCII)
_PAIRS = {"[": "]", "(": ")"}


def expanded(text: str, most: int, seen: set[str] | None = None) -> list[str]:
    """Return the hosts that a host list names, in its order, repeated ones too."""
    # Several brackets in a name multiply, the last varies fastest. The digits of a range's first number give the width
    # of its numbers. A number without a range keeps its own digits, as in Slurm and pdsh.
    hosts: list[str] = []
    seen = set() if seen is None else seen
    for item in items_of(text):
        parts = _BRACKETS.split(item)
        for letter in "[]":
            if any(letter in part for part in parts[::2]):
                raise InputError(f"{shown(item)} has a {shown(letter)} without its partner, or brackets in brackets")
        ranges = [_ranges(part, item) for part in parts[1::2]]
        count = prod(sum(last - first + 1 for first, last, _ in some) for some in ranges)
        left = max(0, most - len(seen))
        names = [] if count > most else [_name(parts, numbers) for numbers in product(*map(_numbers, ranges))]
        if count > most or (ranges and len({*names} - seen) > left):
            raise InputError(f"{shown(item)} names {_hosts(count)}, and only {left:,} of the fabric are left")
        seen.update(names)
        hosts += names
        if len(hosts) > MOST_RANKS:
            raise InputError(f"the list names more than {MOST_RANKS:,} ranks, as many as a job can have")
    return hosts


def _name(parts: list[str], numbers: tuple[str, ...]) -> str:
    """Return a name with numbers in the place of its brackets."""
    return "".join(word + number for word, number in zip(parts[::2], [*numbers, ""], strict=True))


def _hosts(count: int) -> str:
    """Return a number of hosts in words, however large."""
    return plural(count, "host") if count < 10**15 else "more than 10^15 hosts"


def items_of(text: str) -> list[str]:
    """Return the parts of a list between commas and blanks that stand outside of brackets and parentheses."""
    items, item, awaited = [], "", ""
    for letter in text:
        if letter == awaited:
            awaited = ""
        elif not awaited and letter in _PAIRS:
            awaited = _PAIRS[letter]
        elif not awaited and (letter == "," or letter.isspace()):
            items.append(item)
            item = ""
            continue
        item += letter
    if awaited == "]":
        raise InputError(f"{shown(item)} has a '[' without a ']'")
    return [item for item in [*items, item] if item]


def _ranges(text: str, item: str) -> list[tuple[int, int, int]]:
    """Return first number, last number and width of each range in brackets."""
    ranges = []
    for word in text.split(","):
        match = _RANGE.match(word.strip())
        if match is None:
            raise InputError(f"{shown(word)} in {shown(item)} is not a range: write numbers such as 3 or 001-064")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"the range {word.strip()} in {shown(item)} falls: write {match[2]}-{match[1]}")
        ranges.append((first, last, len(match[1])))
    return ranges


def _numbers(ranges: list[tuple[int, int, int]]) -> Iterator[str]:
    for first, last, width in ranges:
        for number in range(first, last + 1):
            yield f"{number:0{width}d}"


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
    """Read the hosts of a job."""
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
    """Return the ranks of every host: one number for all, or Slurm's tasks per node."""
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


# Hosts by name: which terminals of a fabric a name or GUID means


class HostNames:
    """The hosts of a fabric and their rails: the terminals of one host, one or several.

    A name is that of a terminal, the description of an adapter (``node001 HCA-1``), its first word (``node001``: all
    adapters whose descriptions begin so), that word without or with a domain, or the GUID of an adapter or port.
    """

    def __init__(self, topology: FabricTopology) -> None:
        fabric = topology.fabric
        self.topology = topology
        self._label: dict[str, int] = {}
        self._guid: dict[int, set[int]] = defaultdict(set)
        self._description: dict[str, set[int]] = defaultdict(set)
        self._first_word: dict[str, set[int]] = defaultdict(set)
        self._short: dict[str, set[str]] = defaultdict(set)
        self._terminals: dict[int, list[int]] = defaultdict(list)
        for terminal, slot in enumerate(topology.ends.tolist()):
            node = int(fabric.node_of[slot])
            self._terminals[node].append(terminal)
            self._label[topology.name_of(int(topology.terminals[terminal]))] = terminal
            self._guid[int(fabric.ports.guid[slot])].add(terminal)
            self._guid[int(fabric.nodes.guid[node])].add(terminal)
            text = fabric.nodes.description[node].strip()
            self._description[text].add(node)
            for word in text.split()[:1]:
                self._first_word[word].add(node)
                self._short[word.partition(".")[0]].add(word)
        self._guid.pop(0, None)

    def knows(self, name: str) -> bool:
        """Return whether a name is one of the fabric's as it stands, with blanks and brackets if there are any."""
        return name in self._label or name in self._description

    @property
    def hosts(self) -> int:
        """Number of hosts: adapters that share the first word of their descriptions count once."""
        return len(self._first_word)

    def find(self, name: str) -> tuple[int, ...]:
        """Return the terminals of a host, by the descriptions of its adapters and their ports; () if it is unknown."""
        if name in self._label:
            return (self._label[name],)
        nodes = self._description.get(name, set())
        if not nodes:
            if (guid := guid_of(name)) in self._guid:
                return tuple(sorted(self._guid[guid]))
            nodes = self._first_word.get(name, set())
        if not nodes:
            words = self._short.get(name.partition(".")[0], set())
            words = {word for word in words if "." not in word or "." not in name}
            nodes = set().union(*(self._first_word[word] for word in words))
        text = {node: self.topology.fabric.nodes.description[node].strip() for node in nodes}
        if len(set(text.values())) < len(nodes):
            raise InputError(
                f"the host {shown(name)} is ambiguous: {plural(len(nodes), 'adapter')} of the fabric have this name; "
                "write GUIDs"
            )
        return tuple(terminal for node in sorted(nodes, key=text.__getitem__) for terminal in self._terminals[node])

    def nearest(self, name: str, accepted: Callable[[str], bool]) -> str:
        """Return what may be meant by an unknown name, in words: names under which a host is found and `accepted`."""

        def known(word: str) -> bool:
            try:
                return word.isprintable() and len(word) <= 80 and accepted(word) and bool(self.find(word))
            except InputError:
                return False

        names: Iterable[str] = self._first_word or self._label
        near = [word for word in nearest(name, names) if known(word)][:3]
        if near:
            return f"did you mean {' or '.join(near)}?"
        example = printable(next(iter(names)))[:40]
        return f"the fabric has {plural(self.hosts, 'host')}, such as {example}"
