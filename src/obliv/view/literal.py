"""Texts from outside, drawn as they are: a $ in a name begins no formula, and a letter without a glyph no storm."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from obliv._util.text import plural, printable

__all__ = ["LITERAL", "broken", "hushed", "literally", "shortened", "told_once"]

#: For every text that holds what somebody else wrote: neither matplotlib's formulas nor TeX read it.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}

_MISSING = r"Glyph (\d+) .*missing from|Matplotlib currently does not support"
_NAMED = 5  # letters that a warning lists


def literally(texts: Iterable[Any]) -> None:
    """Draw texts that stand already, such as those of a legend, letter by letter."""
    for each in texts:
        each.set(**LITERAL)


def broken(text: str, letters: int) -> str:
    """A text without control characters in lines of so many letters, broken at spaces where there are such.

    Examples
    --------
    >>> broken("lft:tables on fabric:net", 12).splitlines()
    ['lft:tables', 'on', 'fabric:net']
    """
    return "\n".join(textwrap.wrap(printable(text), max(letters, 1), break_on_hyphens=False)) or printable(text)


def shortened(text: str, letters: int) -> str:
    """A text of so many letters at most; what is left out is in its middle, since names differ at their ends.

    Examples
    --------
    >>> shortened("storage-rack-17-node-04", 16)
    'storage-…node-04'
    """
    tail = (letters - 1) // 2
    return text if len(text) <= letters else f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"


@contextmanager
def hushed() -> Iterator[None]:
    """While texts are measured: what letters lack is said when the picture is written."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MISSING, UserWarning)
        yield


@contextmanager
def told_once() -> Iterator[None]:
    """While a picture is written: one line about all letters that no font has, not one for each and for each time."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", _MISSING, UserWarning)
        yield
    missing: dict[str, None] = {}
    for each in caught:
        found = re.match(_MISSING, str(each.message))
        if found is None:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)
        elif found[1]:
            missing[chr(int(found[1]))] = None
    if missing:
        _tell(sorted(missing))


def _tell(letters: list[str]) -> None:
    listed = " ".join(f"U+{ord(each):04X}" for each in letters[:_NAMED]) + (" ..." if len(letters) > _NAMED else "")
    says = f"no font of the picture has {plural(len(letters), 'letter')} of its names, drawn as boxes: {listed}"
    # a place in our sources would tell nobody anything
    warnings.warn_explicit(f"{says}; set font.family in matplotlibrc to fonts that do", UserWarning, "obliv.view", 1)
