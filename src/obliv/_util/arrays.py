"""Integer arrays that never wrap (Python integers where 64 bits are too few), their types, and cells of text files."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVarTuple

import numpy as np
import numpy.typing as npt

from obliv._util.rationals import rational
from obliv._util.text import lines

# Types that many rooms use


#: An array whose dtype depends on the data, such as int64 or Python integers beyond 64 bits.
Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
#: Numbers of nodes, terminals or channels.
NodeArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


Arguments = TypeVarTuple("Arguments")

#: Sums and products below this bound are safe in int64, with room for one more addition.
INT64_SAFE = 2**62


def whole(values: list[int]) -> Array:
    """Return whole numbers as int64, or as Python integers where 64 bits do not hold them."""
    small = all(-(INT64_SAFE) < value < INT64_SAFE for value in values)
    return np.array(values, np.int64 if small else object)


def addable(numbers: Array, times: int = 1) -> Array:
    """Return non-negative numbers in a type in which `times` their sum never wraps."""
    if numbers.dtype == object or int(numbers.max(initial=0)) * len(numbers) * times < INT64_SAFE:
        return numbers
    return numbers.astype(object)


def grouped(key: Array, size: int) -> tuple[Array, Array]:
    """Return items by their key, in order: those with key k are ``items[first[k] : first[k + 1]]``."""
    first = starts(np.bincount(key, minlength=size))
    return first, np.argsort(key.astype(np.min_scalar_type(size)), kind="stable")  # 16 bits are sorted by radix


def starts(counts: Any) -> Array:
    """Return where each of the parts of some lengths starts that follow each other, and where the last one ends."""
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def starts_of_runs(numbers: Array) -> list[int]:
    """Return where equal successive numbers start, and where the last ones end; there is at least one.

    Examples
    --------
    >>> starts_of_runs(np.array([7, 7, 5]))
    [0, 2, 3]
    """
    return [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]


def positions(items: Array, size: int) -> Array:
    """Return the place in `items` of every number below `size`, -1 for numbers that are not in it."""
    place = np.full(size, -1, np.int64)
    place[items] = np.arange(len(items))
    return place


def least_alike(count: int, images: list[Array]) -> Array:
    """Return the least element of the orbit of every element under maps of 0 … count − 1 onto themselves."""
    label = np.arange(count, dtype=images[0].dtype if images else np.int64)  # the least one that is known so far
    changed = True
    while changed:
        changed = False
        for image in images:
            there = label[image]
            apart = np.flatnonzero(label != there)
            if len(apart):
                here, there = label[apart], there[apart]
                np.minimum.at(label, np.maximum(here, there), np.minimum(here, there))
                while not np.array_equal(following := label[label], label):
                    label = following
                changed = True
    return label


def reversed_bits(number: Array, bits: int) -> Array:
    """Return numbers with their `bits` bits in reverse order."""
    mirrored = np.zeros_like(number)
    for bit in range(bits):
        mirrored |= (number >> bit & 1) << (bits - 1 - bit)
    return mirrored


def product_sum(one: Array, two: Array) -> int:
    """Return Σ one·two as a Python integer that never wraps."""
    if one.dtype != object and two.dtype != object and len(one):
        bound = int(one.max()) * int(two.max()) * len(one)
        if bound < INT64_SAFE:
            return int(one @ two)
    return sum(int(a) * int(b) for a, b in zip(one, two, strict=True) if a)


def cached_arrays(size: int) -> Callable[[Callable[[*Arguments], Array]], Callable[[*Arguments], Array]]:
    """Return a decorator that keeps the arrays last returned by a function, up to `size` bytes together."""

    def decorate(function: Callable[[*Arguments], Array]) -> Callable[[*Arguments], Array]:
        recent: OrderedDict[Hashable, Array] = OrderedDict()
        lock, used = Lock(), 0

        @wraps(function)
        def cached(*arguments: *Arguments) -> Array:
            nonlocal used
            with lock:
                if arguments in recent:
                    recent.move_to_end(arguments)
                    return recent[arguments]
            array = function(*arguments)
            with lock:
                if arguments not in recent:
                    recent[arguments] = array
                    used += array.nbytes
                while used > size and len(recent) > 1:
                    used -= recent.popitem(last=False)[1].nbytes
            return array

        return cached

    return decorate


# The cells of files of numbers and names: words between blanks and commas


#: A name in quotes, a name in parentheses such as (3,2) or ((1,0),2), a comma, a comment, or any other word.
_CELL = re.compile(r'"([^"]*)"|(\((?:[^()]|\([^()]*\))*\)|,|#|[^\s,#]+)')


def cells_of(text: str) -> list[tuple[int, list[str]]]:
    """Return number and cells of each line that has any; a cell between two commas may be empty.

    Examples
    --------
    >>> cells_of('0, 1 # one' + chr(10) + '(3,2) "a b",,1/2')
    [(1, ['0', '1']), (2, ['(3,2)', 'a b', '', '1/2'])]
    """
    rows = []
    for number, line in enumerate(lines(text), 1):
        cells: list[str] = []
        open_cell = commas = False
        for match in _CELL.finditer(line):
            word = match[2]
            if word == "#":
                break
            if word == ",":
                if open_cell or not cells:
                    cells.append("")
                open_cell = commas = True
            else:
                cells.append(match[1] if word is None else word)
                open_cell = False
        if open_cell and commas:
            cells.append("")
        if cells:
            rows.append((number, cells))
    return rows


def is_number(cell: str) -> bool:
    """Return whether a cell is a number."""
    return rational(cell) is not None
