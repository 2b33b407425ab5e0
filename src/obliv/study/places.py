"""Lines of a TOML file, for messages: the parser of the standard library gives none."""

from __future__ import annotations

import re

__all__ = ["line_of"]

#: A string, or a comment up to the end of its line.
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')


def line_of(text: str, *words: str) -> int | None:
    """Return the line of the last of several keys or strings, each searched for behind the one before.

    None if the last one is not found; comments are not searched.

    Examples
    --------
    >>> text = 'routings = ["dor"] # "romm"' + chr(10) + "[ranges]" + chr(10) + "k = [1]"
    >>> line_of(text, "routings"), line_of(text, "ranges", "k"), line_of(text, "romm")
    (1, 3, None)
    """
    bare = _PIECE.sub(lambda match: " " * len(match[0]) if match[0].startswith("#") else match[0], text)
    at = 0
    for word in words:
        match = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(bare, at)
        if match is None:
            return None
        at = match.end()
    return bare.count("\n", 0, at) + 1 if words else None
