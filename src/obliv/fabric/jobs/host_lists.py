"""Host lists as Slurm, Flux and pdsh write them: ``node[001-064,070],login1``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod

from obliv._util.text import plural, shown
from obliv.errors import InputError

__all__ = ["MOST_RANKS", "expanded", "items_of"]

MOST_RANKS = 1 << 20  #: Ranks that a job can have.

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?\Z", re.ASCII)
_PAIRS = {"[": "]", "(": ")"}


def expanded(text: str, most: int, seen: set[str] | None = None) -> list[str]:
    """Return the hosts that a host list names, in its order, repeated ones too.

    Several brackets in a name multiply, the last varies fastest. The digits of a range's first number give the width
    of its numbers. A number without a range keeps its own digits, as in Slurm and pdsh.

    Parameters
    ----------
    text : str
    most : int
        The largest number of different hosts that brackets may name; more are refused before they are expanded.
    seen : set of str, optional
        Hosts that were named before; those of this list are added.

    Raises
    ------
    InputError
        If the list is malformed or too long.

    Examples
    --------
    >>> expanded("n[008-010,7]-ib[0-1],login", 20)[-4:]
    ['n010-ib1', 'n7-ib0', 'n7-ib1', 'login']
    """
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
    """Return the parts of a list between commas and blanks that stand outside of brackets and parentheses.

    Examples
    --------
    >>> items_of("a[1,3], b host(0,1)")
    ['a[1,3]', 'b', 'host(0,1)']
    """
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
