"""Sparse integer weights between rows and columns, each of which may stand for several alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array

__all__ = ["Weights", "from_entries", "members_of"]


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights in compressed rows; rows and columns without any are left out.

    Parameters
    ----------
    ptr : int64 array, shape (rows + 1,)
    col : int32 array, shape (entries,)
    weight : int64 or object array, shape (entries,)
        Positive whole numbers; Python integers where 64 bits do not hold them.
    row_members, column_members : tuple of (ptr, ids)
        The members that each row and column stands for: row r is ``ids[ptr[r]:ptr[r + 1]]``.
    distinct : tuple of (values, numbers), optional
        For Python integers that repeat: ``weight`` is ``values[numbers]``, so that values can be worked on once.
    """

    ptr: Array
    col: Array
    weight: Array
    row_members: tuple[Array, Array]
    column_members: tuple[Array, Array]
    distinct: tuple[Array, Array] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.column_members[0]) - 1

    @property
    def row_of_entry(self) -> Array:
        """The row of every entry."""
        return np.repeat(np.arange(self.rows), np.diff(self.ptr))

    def spread(self) -> tuple[Array, Array, Array]:
        """Return every pair of members with its weight: arrays of row members, column members, weights."""
        (row_ptr, row_ids), (col_ptr, col_ids) = self.row_members, self.column_members
        row, col = self.row_of_entry, self.col.astype(np.int64)
        high, wide = np.diff(row_ptr)[row], np.diff(col_ptr)[col]
        size = high * wide
        entry = np.repeat(np.arange(len(size)), size)
        inside = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size)
        return (
            row_ids[row_ptr[row[entry]] + inside // wide[entry]],
            col_ids[col_ptr[col[entry]] + inside % wide[entry]],
            self.weight[entry],
        )

    def of(self, rows: Array, columns: Array) -> Array:
        """Return the weights of pairs of members, given as arrays of row members and of column members."""
        if not len(self.weight):
            return np.zeros(len(rows), np.int64)
        row, col = _group_of(self.row_members, rows), _group_of(self.column_members, columns)
        keys = self.row_of_entry * self.columns + self.col
        order = np.argsort(keys, kind="stable")
        wanted = row * self.columns + col
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where((row >= 0) & (col >= 0) & (keys[place] == wanted), self.weight[place], 0)


def _group_of(members: tuple[Array, Array], wanted: Array) -> Array:
    """Return the group of each member, -1 where it has none."""
    ptr, ids = members
    group: Array = np.full(int(max(ids.max(initial=-1), wanted.max(initial=-1))) + 1, -1, np.int64)
    group[ids] = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return group[wanted]


def from_entries(row: Array, col: Array, weight: Array, values: Array | None = None) -> Weights:
    """Weights of single rows and columns from their entries, in any order; no pair twice.

    With `values`, `weight` has the number of each entry's value.
    """
    row_ids, row = _numbered(row)
    col_ids, col = _numbered(col)
    order = np.argsort(row * len(col_ids) + col)
    weight = weight[order]
    return Weights(
        ptr=starts(np.bincount(row, minlength=len(row_ids))),
        col=col[order].astype(np.int32),
        weight=weight if values is None else values[weight],
        row_members=(np.arange(len(row_ids) + 1), row_ids),
        column_members=(np.arange(len(col_ids) + 1), col_ids),
        distinct=None if values is None else (values, weight),
    )


def _numbered(ids: Array) -> tuple[Array, Array]:
    """Return the different ids, sorted, and the place of each id among them."""
    if not len(ids) or ids.max() > 4 * len(ids):
        return np.unique(ids, return_inverse=True)
    met = np.zeros(int(ids.max()) + 1, bool)  # many entries: without sorting them
    met[ids] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[ids]


def members_of(class_of: Array, classes: Array) -> tuple[Array, Array]:
    """Return the members of each of some classes, as pointers and numbers."""
    order = np.argsort(class_of, kind="stable")
    ordered = class_of[order]
    first, end = np.searchsorted(ordered, classes), np.searchsorted(ordered, classes, side="right")
    ptr = starts(end - first)
    take = np.repeat(first - ptr[:-1], end - first) + np.arange(ptr[-1])
    return ptr, order[take]
