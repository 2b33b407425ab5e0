"""TOML files with lines for messages: the parser of the standard library gives none for what is valid TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from obliv._util.files import read_source
from obliv.errors import FileError

__all__ = ["line_of", "read_toml", "strings_of"]

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


def strings_of(text: str) -> Iterator[tuple[str, int]]:
    """Yield the strings of a TOML file as they are written, each with its line.

    Examples
    --------
    >>> list(strings_of('a = ["x"] # "y"' + chr(10) + "b = 'z'"))
    [('x', 1), ('z', 2)]
    """
    for match in _PIECE.finditer(text):
        if not match[0].startswith("#"):
            yield match[0][1:-1], text.count("\n", 0, match.start()) + 1


def read_toml(path: str | Path) -> tuple[dict[str, Any], str, str]:
    """Read a TOML file; return its content, its text and the SHA-256 of its bytes.

    FileError if it cannot be read or is not TOML, with the line.
    """
    text, digest = read_source(path)
    try:
        return tomllib.loads(text), text, digest
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"(.*) \(at line (\d+), column \d+\)", str(error))
        what, line = (match[1], int(match[2])) if match else (str(error), text.rstrip().count("\n") + 1)
    except (RecursionError, ValueError):
        raise FileError("invalid TOML: it is nested too deeply, or a number has too many digits", path) from None
    raise FileError(f"invalid TOML: {what}", path, line)
