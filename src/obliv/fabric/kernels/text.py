"""Kernels: words and numbers in untrusted lines of text.

Every index stays in bounds by one argument: the caller checks that the last byte that it gives is a line end, and a
byte after position q is looked at only once the byte at q is known not to be a line end.  So no function here takes a
position behind a line end, and none returns one.
"""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["after_line", "decimal", "hexadecimal", "lid_at", "line_end", "skip_blanks", "skip_word"]

_TAB, _NEWLINE, _RETURN, _BLANK, _ZERO, _NINE = 9, 10, 13, 32, 48, 57
_UPPER_X, _LOWER_X = 88, 120
_LID_DIGITS = 8


@kernel
def skip_blanks(data: Array, q: int, other: int) -> int:
    """Return the first position from `q` on that is neither a blank, nor a tab, nor the byte `other`."""
    while data[q] == _BLANK or data[q] == _TAB or data[q] == other:
        q += 1
    return q


@kernel
def skip_word(data: Array, q: int, word: Array) -> int:
    """Return the position behind a word at `q`, -1 where there is another; the word contains no line end."""
    k = 0
    while k < len(word) and data[q + k] == word[k]:
        k += 1
    return q + k if k == len(word) else -1


@kernel
def decimal(data: Array, q: int, most: int) -> tuple[int, int]:
    """Return the decimal number at `q` and the position behind it; -1 where there is none of at most so many digits."""
    number, digits = 0, 0
    while _ZERO <= data[q] <= _NINE and digits <= most:
        number = int(10 * number + np.int64(data[q]) - _ZERO)
        digits += 1
        q += 1
    return (number if 0 < digits <= most else -1), q


@kernel
def hexadecimal(data: Array, q: int, value: Array) -> tuple[int, int, int, int]:
    """Return the number ``0x...`` at `q` of at most 16 digits: its upper and lower 32 bits, digits, and the end.

    Without a number there are 0 digits; `value` is that of each byte as a digit, -1 for other bytes.
    """
    high, low, digits = 0, 0, 0
    if data[q] == _ZERO and (data[q + 1] == _LOWER_X or data[q + 1] == _UPPER_X):
        q += 2
        while value[data[q]] >= 0 and digits <= 16:
            high = (high % 268435456) * 16 + low // 268435456
            low = (low % 268435456) * 16 + value[data[q]]
            digits += 1
            q += 1
    return high, low, (digits if digits <= 16 else 0), q


@kernel
def lid_at(data: Array, q: int, value: Array) -> tuple[int, int]:
    """Return the hexadecimal number at `q`, behind its ``0x``, and the position behind at most 8 digits; -1 for none.

    `value` is that of each byte as a digit, -1 for other bytes.
    """
    lid, digits = 0, 0
    while value[data[q]] >= 0 and digits < _LID_DIGITS:
        lid = 16 * lid + value[data[q]]
        digits += 1
        q += 1
    return (lid if digits > 0 else -1), q


@kernel
def line_end(data: Array, q: int) -> bool:
    """Return whether a line ends at `q`, with or without a carriage return."""
    return bool(data[q] == _NEWLINE or (data[q] == _RETURN and data[q + 1] == _NEWLINE))


@kernel
def after_line(data: Array, q: int) -> int:
    """Return the position behind the end of the line."""
    while data[q] != _NEWLINE:
        q += 1
    return q + 1
