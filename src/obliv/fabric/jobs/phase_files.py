"""Phases from a file: lines of source rank, destination rank and size, under headings."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from pathlib import Path

import numpy as np

from obliv._util.arrays import INT64_SAFE
from obliv._util.files import read_source
from obliv._util.rationals import rational
from obliv._util.text import lines, printable, shown
from obliv.errors import FileError
from obliv.fabric.jobs.collectives import Phase

__all__ = ["read_phases"]

_LONGEST = 40  # characters of a name


def read_phases(path: Path, ranks: int) -> tuple[list[Phase], str]:
    """Read the phases of a job: ``phase NAME [times=N]``, then lines ``SOURCE DESTINATION [SIZE]``; # for comments.

    Ranks count from 0; sizes are rationals above 0, by default 1. Lines before the first heading are a phase too.

    Returns
    -------
    phases : list of Phase
    digest : str
        SHA-256 of the file.

    Raises
    ------
    FileError
        With the line.
    """
    text, digest = read_source(path)
    parts: list[tuple[str, int, dict[tuple[int, int], Fraction]]] = []
    for number, line in enumerate(lines(text), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if words[0].lower() == "phase":
            parts.append((*_heading(words[1:], len(parts) + 1, path, number), {}))
            continue
        if not parts:
            parts.append(("phase 1", 1, {}))
        source, target, size = _message(words, ranks, path, number)
        flows = parts[-1][2]
        flows[source, target] = flows.get((source, target), Fraction(0)) + size
    if not any(flows for _, _, flows in parts):
        raise FileError("holds no messages: write lines of source rank, destination rank and size", path)
    return [_phase(name, times, flows, path) for name, times, flows in parts], digest


def _heading(words: list[str], number: int, path: Path, line: int) -> tuple[str, int]:
    """Return the name of a phase and how often it comes."""
    times = 1
    if words and words[-1].lower().startswith("times="):
        count = words.pop()[6:]
        if not (count.isascii() and count.isdecimal() and 0 < len(count) < 10 and int(count)):
            raise FileError(f"times={count[:40]}: write a whole number from 1", path, line)
        times = int(count)
    return printable(" ".join(words))[:_LONGEST] or f"phase {number}", times


def _message(words: list[str], ranks: int, path: Path, line: int) -> tuple[int, int, Fraction]:
    """Return source, destination and size of a message."""
    if len(words) not in (2, 3):
        raise FileError(
            "a line has source rank, destination rank and perhaps a size; phases begin with  phase NAME", path, line
        )
    for word in words[:2]:
        if not (word.isascii() and word.isdecimal() and len(word) < 10 and int(word) < ranks):
            raise FileError(f"{shown(word)} is not a rank of the job: its ranks are 0 to {ranks - 1}", path, line)
    if words[0] == words[1]:
        raise FileError(f"rank {words[0]} sends to itself: leave the line out", path, line)
    size = rational(words[2]) if len(words) == 3 else Fraction(1)
    if size is None or size <= 0:
        raise FileError(f"{shown(words[2])} is not a size: write a number above 0, such as 1 or 1/4", path, line)
    return int(words[0]), int(words[1]), size


def _phase(name: str, times: int, flows: dict[tuple[int, int], Fraction], path: Path) -> Phase:
    largest = max(flows.values(), default=Fraction(1))
    unit = lcm(*(size.denominator for size in flows.values()))
    if sum(flows.values()) * unit >= INT64_SAFE:
        raise FileError(f"{name}: sizes too fine for 64 bits: round them", path)
    pairs = np.array(list(flows), np.int64).reshape(-1, 2)
    amount = np.array([int(size * unit) for size in flows.values()], np.int64)
    messages = pairs[:, 0], pairs[:, 1], amount
    return Phase(name, lambda: messages, int(largest * unit), largest, times)
