"""Loading of saved results; the class is found by its registered kind."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from obliv import results
from obliv._util.codec import digest_of, read_json
from obliv.errors import FileError, InputError
from obliv.results.base import Result
from obliv.results.codec import OTHER_VERSION

__all__ = ["all_results", "from_content", "load"]


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
    kind = data.get("kind")
    classes = [cls for cls in all_results() if cls.kind == kind and all(key in data for key in cls.marks)]
    if not kind or not classes:
        raise ValueError(f"does not contain a result that obliv can load (kind {kind!r})")
    try:
        result = max(classes, key=lambda cls: len(cls.marks)).from_dict(data)
        result.figures()  # what is computed from the others must be defined, too,
        for name in type(result).declared():
            getattr(result, name)  # also where the figures do not show it
        certificate = data.get("certificate")
        if isinstance(certificate, dict) and certificate.get("digest") != digest_of(dict(data)):
            object.__setattr__(result, "sealed", False)
        return result
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        what = f"the key {error} is missing; {OTHER_VERSION}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"contains an incomplete or invalid result: {what}") from None


@cache
def _import_all() -> None:
    for module in pkgutil.walk_packages(results.__path__, f"{results.__name__}."):
        importlib.import_module(module.name)


def all_results() -> Iterator[type[Result]]:
    """Yield all classes of results, those that users defined among them."""
    _import_all()
    pending = [Result]
    while pending:
        pending += (cls := pending.pop()).__subclasses__()
        yield cls
