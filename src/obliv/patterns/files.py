"""Traffic from files: permutations and matrices of numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from obliv._util.files import read_source
from obliv._util.memory import require_memory
from obliv._util.rationals import rational
from obliv._util.text import rows_of
from obliv.errors import FileError, TrafficError
from obliv.patterns.base import Traffic
from obliv.patterns.matrices import matrix, permutation
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology

__all__ = ["matrix_file", "permutation_file"]


@register_pattern("permutation", example="permutation:worst.txt")
def permutation_file(topology: Topology, path: Path) -> Traffic:
    """Permutation in a file: the destinations of terminals 0, 1, 2 … as integers; # starts a comment.

    Results that `worst --output` or `--format json` wrote are read, too.
    """
    spec = f"permutation:{path}"
    n = len(topology.terminals)
    text, digest = read_source(path)
    if text.lstrip().startswith("{"):
        image = _from_result(text, path)
    else:
        image = []
        for number, words in rows_of(text):
            for word in words:
                if not word.isdigit() or len(word) > 9:
                    raise FileError(f"{word[:40]!r} is not a terminal number", path, number)
                image.append(int(word))
    if len(image) != n:
        raise FileError(f"{len(image)} destinations, {topology.spec} has {n} terminals", path)
    try:
        traffic = permutation(np.asarray(image), spec)
    except TrafficError as error:
        raise FileError(str(error).removeprefix(spec + ": "), path) from None
    return replace(traffic, sources=((str(path), digest),))


@register_pattern("matrix", example="matrix:demand.txt")
def matrix_file(topology: Topology, path: Path) -> Traffic:
    """Traffic matrix in a file: one row per line, numbers such as 0.25, 1/3 or 1e-3; # starts a comment."""
    spec = f"matrix:{path}"
    n = len(topology.terminals)
    require_memory(100.0 * n * n, f"a traffic matrix of {n} terminals")
    most = [max(rate, Fraction(1)) for rate in topology.rates()[0]]
    rows: list[list[Fraction]] = []
    text, digest = read_source(path)
    for number, words in rows_of(text):
        if len(words) != n:
            raise FileError(f"{len(words)} numbers in this row, {topology.spec} has {n} terminals", path, number)
        rows.append([_rate(word, path, number) for word in words])
        if len(rows) <= n and sum(rows[-1]) > (rate := most[len(rows) - 1]):
            raise FileError(
                f"the row adds up to {float(sum(rows[-1])):.6g}, its terminal sends at most {rate}: "
                "divide the matrix by its largest row sum",
                path,
                number,
            )
    if len(rows) != n:
        raise FileError(f"{len(rows)} rows, {topology.spec} has {n} terminals", path)
    return matrix(rows, spec, ((str(path), digest),), most)


def _rate(word: str, path: Path, number: int) -> Fraction:
    value = rational(word)
    if value is None or value < 0:
        raise FileError(f"{word[:40]!r} is not a rate: write a number from 0, such as 0.25 or 1/4", path, number)
    return value


def _from_result(text: str, path: Path) -> list[int]:
    try:
        image = json.loads(text).get("permutation")
    except (ValueError, RecursionError, AttributeError):
        raise FileError("not a result with a permutation, nor a list of terminal numbers", path) from None
    if not isinstance(image, list) or not all(isinstance(d, int) for d in image):
        raise FileError('has no "permutation" list of terminal numbers', path)
    return image
