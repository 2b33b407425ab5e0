"""Traffic from files: permutations and matrices of numbers."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from obliv.errors import FileError, TrafficError, require_memory
from obliv.specs import patterns, require_regular, sha256_of
from obliv.topology.topology import Topology
from obliv.traffic.traffic import Traffic, matrix, permutation

__all__ = ["matrix_file", "permutation_file"]


@patterns("permutation", example="permutation:worst.txt")
def permutation_file(topology: Topology, path: Path) -> Traffic:
    """The permutation in a file: whole numbers, destination of terminal 0, 1, 2 …; # comments.

    A result that `worst --output` or `--format json` wrote is taken as well.
    """
    spec = f"permutation:{path}"
    n = len(topology.terminals)
    text = read_text(path)
    if text.lstrip().startswith("{"):
        image = _from_result(text, path)
    else:
        image = []
        for number, words in rows_of(text):
            for word in words:
                if not word.isdigit() or len(word) > 9:
                    raise FileError(f"{word[:40]!r} is no terminal number", path, number)
                image.append(int(word))
    if len(image) != n:
        raise FileError(f"holds {len(image)} destinations, {topology.spec} has {n} terminals", path)
    try:
        traffic = permutation(np.asarray(image), spec)
    except TrafficError as error:
        raise FileError(str(error).removeprefix(spec + ": "), path) from None
    return replace(traffic, sources=((str(path), sha256_of(path)),))


@patterns("matrix", example="matrix:demand.txt")
def matrix_file(topology: Topology, path: Path) -> Traffic:
    """The traffic matrix in a file: one row a line, numbers like 0.25 or 1/3; # comments."""
    spec = f"matrix:{path}"
    n = len(topology.terminals)
    require_memory(100.0 * n * n, f"a traffic matrix of {n} terminals")
    rows: list[list[Fraction]] = []
    for number, words in rows_of(read_text(path)):
        if len(words) != n:
            raise FileError(f"{len(words)} numbers in this row, {topology.spec} has {n} terminals", path, number)
        rows.append([_rate(word, path, number) for word in words])
        if sum(rows[-1]) > 1:
            raise FileError(
                f"the row adds up to {float(sum(rows[-1])):.6g}, a terminal sends at most 1: "
                "divide the matrix by its largest row sum",
                path,
                number,
            )
    if len(rows) != n:
        raise FileError(f"holds {len(rows)} rows, {topology.spec} has {n} terminals", path)
    return matrix(rows, spec, ((str(path), sha256_of(path)),))


def read_text(path: Path) -> str:
    """The whole of a text file; FileError where it is none."""
    require_regular(path)
    try:
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None
    except UnicodeDecodeError:
        raise FileError("is not a text file", path) from None


def rows_of(text: str) -> list[tuple[int, list[str]]]:
    """The words of each line that holds any, with the line's number; commas separate as blanks do."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words:
            rows.append((number, words))
    return rows


def _rate(word: str, path: Path, number: int) -> Fraction:
    try:
        value = Fraction(word) if len(word) <= 60 and "e" not in word.lower() else None
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or value < 0:
        raise FileError(f"{word[:40]!r} is no rate: write a number from 0 to 1, like 0.25 or 1/4", path, number)
    return value


def _from_result(text: str, path: Path) -> list[int]:
    try:
        image = json.loads(text).get("permutation")
    except (ValueError, RecursionError, AttributeError):
        raise FileError("is no JSON that holds a permutation", path) from None
    if not isinstance(image, list) or not all(isinstance(d, int) for d in image):
        raise FileError('holds no "permutation" list of numbers', path)
    return image
