"""Loading of saved results; the class is found by its registered kind."""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from obliv._util.codec import digest_of, read_json
from obliv.errors import FileError, InputError
from obliv.results.base import Result
from obliv.results.codec import OTHER_VERSION
from obliv.specs import RESULTS

__all__ = ["all_results", "class_of", "from_content", "load"]


def load(path: str | os.PathLike[str]) -> Result:
    """Read a result that was saved.

    Parameters
    ----------
    path : path-like
        What ``save`` or ``--output`` wrote.

    Returns
    -------
    Result
        Of the kind that the file names. Nothing is verified, whatever the file says; see :func:`obliv.verify`. Nothing
        that it names is built: time and memory grow with its size only.

    Raises
    ------
    FileError
        If the file does not hold a whole result.

    Examples
    --------
    >>> import obliv
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result = obliv.worst_case(obliv.DOR(obliv.ring(5)))
    ...     result.save(f"{folder}/worst.json")
    ...     obliv.load(f"{folder}/worst.json") == result
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"load needs the path of a file, not {type(path).__name__}")
    if not str(path):
        raise InputError("load needs the path of a file, not an empty text")
    path = path if isinstance(path, str) else Path(path)
    data = read_json(path)
    try:
        return from_content(data)
    except ValueError as error:
        raise FileError(str(error), path) from None


def from_content(data: Mapping[str, Any]) -> Result:
    """Return the result that ``to_dict`` wrote; ValueError if it is not a whole result."""
    cls = class_of(data)
    try:
        result: Result = cls.from_dict(data)
        result.figures()  # what is computed from the others must be defined, too,
        for name in type(result).declared():
            getattr(result, name)  # also where the figures do not show it
        certificate = data.get("certificate")
        if isinstance(certificate, dict) and certificate.get("digest") != digest_of(dict(data)):
            object.__setattr__(result, "sealed", False)
        return result
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, zlib.error) as error:
        what = f"the key {error} is missing; {OTHER_VERSION}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"contains an incomplete or invalid result: {what}") from None


def class_of(data: Mapping[str, Any]) -> type[Any]:
    """Return the class of the result that ``to_dict`` wrote; ValueError if there is none of its kind."""
    kind = data.get("kind")
    modules = RESULTS.get(kind, ()) if isinstance(kind, str) else ()
    for module in modules:
        importlib.import_module(module)
    classes = [cls for cls in _loaded() if cls.kind == kind and all(key in data for key in cls.marks)]
    if not kind or not classes:
        raise ValueError(f"does not contain a result that obliv can load (kind {kind!r})")
    return max(classes, key=lambda cls: len(cls.marks))


def all_results() -> Iterator[type[Result]]:
    """Yield all classes of results, those that users defined among them."""
    for module in chain.from_iterable(RESULTS.values()):
        importlib.import_module(module)
    return _loaded()


def _loaded() -> Iterator[type[Result]]:
    pending = [Result]
    while pending:
        pending += (cls := pending.pop()).__subclasses__()
        yield cls
