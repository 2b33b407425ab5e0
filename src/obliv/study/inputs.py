"""The files behind the cells of a study: those that specs name, and Python files that register names."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from obliv.errors import FileError
from obliv.specs.grammar import split_mix
from obliv.specs.registry import registry

__all__ = ["Named", "files_of", "sha256_of"]

#: What may begin and end the name of a file in a spec.
_BREAK = re.compile(r"[:,=*+]")


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a file; FileError if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None


class Named(NamedTuple):
    """The files that a spec names, with those of Python that register its names; and of these, those to be run."""

    files: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def files_of(kind: str, spec: str) -> Named:
    """Return the files behind a spec.

    Parameters
    ----------
    kind : {"topology", "routing", "traffic"}
    spec : str

    Raises
    ------
    SpecError
        If the name is unknown.
    """
    files: list[str] = []
    imports: list[str] = []
    for _, part in split_mix(spec, partial=True) or [(Fraction(1), spec)]:
        make = registry(kind).find(part.partition(":")[0].strip()).make
        module = getattr(make, "__module__", "")
        if not module.startswith("obliv.") and (own := _source_of(make)):
            files.append(own)
            imports += [own] * (module not in sys.modules)  # modules are imported by their names
        files += _named_files(part)
    return Named(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(imports)))


def _source_of(make: Any) -> str:
    """Return the Python file where a factory is defined; empty where there is none."""
    functions = [make, *vars(make).values()] if inspect.isclass(make) else [make]
    names = (function.__code__.co_filename for function in functions if hasattr(function, "__code__"))
    return next((name for name in names if os.path.isfile(name)), "")


def _named_files(spec: str) -> Iterable[str]:
    """Yield what stands in a spec between separators and is the name of a file."""
    starts = [0, *(match.end() for match in _BREAK.finditer(spec))]
    for start in starts[1:]:
        ends = [match.start() for match in _BREAK.finditer(spec, start)]
        for end in (*ends, len(spec)):
            name = spec[start:end].strip()
            if name and os.path.isfile(name):
                yield name
