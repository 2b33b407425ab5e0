"""Kernels: rows of numbers in untrusted text, read by tables that describe tokens; service levels of pairs as masks.

Every index stays in bounds by one argument: the byte before `stop` is a line end, no word and no class of bytes that
are skipped contains one, and a byte after position q is looked at only once the byte at q is known not to be a line
end.  Only the last token of a line leads behind its end.
"""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.arrays import Array
from obliv.kernels import kernel

#: The tokens of a line: a word, one that may be there or that must not; one of several words; a number; a set of
#: numbers with commas between; all up to a word, which may be missing; the end of the line, or all that is left of it.
WORD, MAYBE, UNLESS, AMONG, NUMBER, SET, FIND, END, REST = range(9)

#: Lines that are no row: one of its fields, the beginning of a row, and any other line.
PART, BEGIN, OTHER = -1, -2, -3

_NEWLINE, _RETURN, _COMMA, _ZERO, _LOWER_X = 10, 13, 44, 48, 120
_HALF = 1 << 59  # a number from which on sixteen hexadecimal digits are stored as a negative one of 64 bits


class LineTables(NamedTuple):
    """The kinds of lines of a file, as arrays."""

    # tokens: int64, shape (tokens, 9); the class of the byte before it, and of the bytes that are skipped then; what it
    # is, the column of its value, the number of its word or the most decimal digits, how many words there are or the
    # fewest hexadecimal digits behind 0x, the most of these, the smallest value and the largest one
    tokens: Array
    first: Array  # int64, shape (lines + 1,); where the tokens of each kind of line begin
    # kind, needs, gives: int64, shape (lines,); the kind of rows, or `PART`, `BEGIN` or `OTHER`; the fields that other
    # lines must have given before, and those that this one gives, as bits
    kind: Array
    needs: Array
    gives: Array
    # words, bounds: uint8 and int64; all words, and where each begins
    words: Array
    bounds: Array
    classes: Array  # bool, shape (classes, 256); whether each byte is in each class
    digit: Array  # int64, shape (256,); the value of each byte as a hexadecimal digit, -1 for other bytes


class RowsRead(NamedTuple):
    """What one call read: where it stopped, its lines, its rows, and the kind of all of these rows."""

    at: int
    lines: int
    rows: int
    kind: int


@kernel
def word_end(data: Array, q: int, words: Array, start: int, stop: int) -> int:
    """Return the position behind a word at `q`, -1 where there is another."""
    k = start
    while k < stop and data[q] == words[k]:
        k += 1
        q += 1
    return q if k == stop else -1


@kernel
def read_rows(data: Array, start: int, stop: int, lines: LineTables, partial: Array, rows: Array) -> RowsRead:
    """Read lines, up to the first one that is of no kind, or whose row is of another kind than those before."""
    # Nothing is read unless the byte before `stop` is a line end.  `partial`, kept between calls, has the fields of the
    # row that lines before have given, and which of them these are.  Written are the fields of each of the `rows`, and
    # its line, from 1 in one call; reading also stops where they are full.
    tokens, first, kinds, needs, gives, words, bounds, classes, digit = lines
    columns = len(partial) - 1
    p, number, count, before = start, 0, 0, -1
    sound = 0 <= start < stop <= len(data) and data[stop - 1] == _NEWLINE
    while sound and p < stop and count < rows.shape[1]:
        q, f = -1, -1
        while q < 0 and f + 2 < len(first):
            f += 1
            if needs[f] & ~partial[columns] != 0:
                continue
            q = p
            for t in range(first[f], first[f + 1]):
                token, a = tokens[t, 2], tokens[t, 4]
                if not classes[tokens[t, 0], data[q]]:
                    q = -1
                    break
                while classes[tokens[t, 1], data[q]]:
                    q += 1
                if token == NUMBER:
                    value, digits, least, most, base = 0, 0, 1, a, 10
                    if data[q] == _ZERO and tokens[t, 6] > 0 and data[q + 1] | 32 == _LOWER_X:
                        q, least, most, base = q + 2, tokens[t, 5], tokens[t, 6], 16
                    while 0 <= digit[data[q]] < base and digits < most:
                        if value >= _HALF:
                            value -= 2 * _HALF
                        value = base * value + digit[data[q]]
                        digits += 1
                        q += 1
                    if digits < least or 0 <= digit[data[q]] < base or not tokens[t, 7] <= value <= tokens[t, 8]:
                        q = -1
                        break
                    rows[tokens[t, 3], count] = value
                elif token == FIND:
                    begin, end = bounds[a], bounds[a + 1]
                    initial = words[begin]
                    while data[q] != _NEWLINE:
                        if data[q] == initial and word_end(data, q, words, begin, end) >= 0:
                            break
                        q += 1
                    rows[tokens[t, 3], count] = data[q] != _NEWLINE
                    if data[q] == _NEWLINE:  # the line is valid without the word and all that follows it
                        q += 1
                        break
                    q += tokens[t, 5]
                elif token == REST:
                    while data[q] != _NEWLINE:
                        q += 1
                    q += 1
                elif token == END:
                    if data[q] == _RETURN:
                        q += 1
                    q = q + 1 if data[q] == _NEWLINE else -1
                elif token == WORD:
                    q = word_end(data, q, words, bounds[a], bounds[a + 1])
                elif token == MAYBE:
                    q = max(q, word_end(data, q, words, bounds[a], bounds[a + 1]))
                elif token == UNLESS:
                    if word_end(data, q, words, bounds[a], bounds[a + 1]) >= 0:
                        q = -1
                elif token == AMONG:
                    after = -1
                    for k in range(tokens[t, 5]):
                        if after < 0:
                            after = word_end(data, q, words, bounds[a + k], bounds[a + k + 1])
                            rows[tokens[t, 3], count] = tokens[t, 7] + k
                    q = after
                else:  # SET
                    mask = 0
                    while q >= 0:
                        value, digits = 0, 0
                        while 0 <= digit[data[q]] < 10 and digits <= a:
                            value = 10 * value + digit[data[q]]
                            digits += 1
                            q += 1
                        if digits == 0 or digits > a or value > tokens[t, 8]:
                            q = -1
                        else:
                            mask |= 1 << value
                            if data[q] != _COMMA:
                                break
                            q += 1
                    rows[tokens[t, 3], count] = mask
                if q < 0:
                    break
        if q < 0 or (before >= 0 and kinds[f] >= 0 and kinds[f] != before):
            break
        number += 1
        p = q
        if kinds[f] >= 0:
            before = kinds[f]
            for k in range(columns):
                if needs[f] >> k & 1:
                    rows[k, count] = partial[k]
            rows[columns, count] = number
            count += 1
        for k in range(columns):
            if gives[f] >> k & 1:
                partial[k] = rows[k, count]
        partial[columns] = (0 if kinds[f] >= 0 or kinds[f] == BEGIN else partial[columns]) | gives[f]
    return RowsRead(p, number, count, before)


# Kernel: service levels of pairs, stored as masks


class Merged(NamedTuple):
    """What rows did not go in: for LIDs without an endpoint, with the first of them; and those that added an SL."""

    unknown: int
    first_unknown: int
    several: int
    first_several: int


@kernel
def merge(source: Array, lid: Array, mask: Array, column: Array, levels: Array) -> Merged:
    """Add the SLs of rows to those of their pairs, and count rows that do not fit; a row of source -1 is left out."""
    # A LID's column is -1 where it belongs to no endpoint, -2 where it belongs to another port.
    unknown, first_unknown, several, first_several = 0, -1, 0, -1
    for k in range(len(source)):
        c = column[lid[k]] if 0 <= lid[k] < len(column) else -1
        if c == -1:
            unknown += 1
            if first_unknown < 0:
                first_unknown = k
        if c < 0 or source[k] < 0:
            continue
        before = int(levels[source[k], c])
        after = before | int(mask[k])
        if before != 0 and after != before:
            several += 1
            if first_several < 0:
                first_several = k
        levels[source[k], c] = after
    return Merged(unknown, first_unknown, several, first_several)
