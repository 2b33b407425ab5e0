"""Untrusted texts in pictures: drawn literally, with one warning about all missing glyphs."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from obliv._util.text import plural, printable

__all__ = ["LITERAL", "one_warning", "set_literal", "shortened", "without_warnings", "wrapped"]

#: Options of a text that may contain untrusted names, which must not be read as formulas or TeX.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}

_MISSING = r"Glyph (\d+) .*missing from|Matplotlib currently does not support"
_NAMED = 5  # letters that a warning lists


def set_literal(texts: Iterable[Any]) -> None:
    """Turn off formulas in existing texts, such as those of a legend."""
    for text in texts:
        text.set(**LITERAL)


def wrapped(text: str, letters: int) -> str:
    """Return a text without control characters, wrapped to lines of at most `letters` characters.

    Examples
    --------
    >>> wrapped("lft:tables on fabric:net", 12).splitlines()
    ['lft:tables', 'on', 'fabric:net']
    """
    return "\n".join(textwrap.wrap(printable(text), max(letters, 1), break_on_hyphens=False)) or printable(text)


def shortened(text: str, letters: int) -> str:
    """Return a text of at most `letters` characters, shortened in the middle, since names differ at their ends.

    Examples
    --------
    >>> shortened("storage-rack-17-node-04", 16)
    'storage-…node-04'
    """
    tail = (letters - 1) // 2
    return text if len(text) <= letters else f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings about missing glyphs while texts are measured; :func:`one_warning` reports them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _MISSING, UserWarning)
        yield


@contextmanager
def one_warning() -> Iterator[None]:
    """Combine all warnings about missing glyphs into one while a picture is written."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", _MISSING, UserWarning)
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        match = re.match(_MISSING, str(warning.message))
        if match is None:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
            )
        elif match[1]:
            missing[chr(int(match[1]))] = None
    if missing:
        _warn(sorted(missing))


def _warn(letters: list[str]) -> None:
    listed = " ".join(f"U+{ord(letter):04X}" for letter in letters[:_NAMED]) + (" ..." if len(letters) > _NAMED else "")
    problem = f"no font of the picture has {plural(len(letters), 'letter')} of its names, drawn as boxes: {listed}"
    # a location in our sources would not help the user
    warnings.warn_explicit(f"{problem}; set font.family in matplotlibrc to fonts that do", UserWarning, "obliv.view", 1)
