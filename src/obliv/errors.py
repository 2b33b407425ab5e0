"""The exception tree.

::

    ObliviousError
    ├── InputError (also a ValueError)      a spec, file or argument that cannot be used
    │   ├── SpecError                       an unknown name or a wrong parameter
    │   ├── FileError                       a file, with the line where it is known
    │   ├── TopologyError                   a network that cannot be built or is not fit
    │   ├── RoutingError                    a routing that the topology cannot carry
    │   ├── TrafficError                    a matrix or permutation that is none
    │   └── TooLargeError                   would not fit in memory
    └── MissingExtraError (also an ImportError)   an optional package is not installed
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "FileError",
    "InputError",
    "Interrupted",
    "MissingExtraError",
    "ObliviousError",
    "RoutingError",
    "SpecError",
    "TooLargeError",
    "TopologyError",
    "TrafficError",
    "did_you_mean",
    "extra",
    "require_memory",
]


class ObliviousError(Exception):
    """The root of all errors that obliv raises on purpose."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in long work of which something is finished.

    Attributes
    ----------
    so_far : Any
        What is finished, of the same kind as the whole.
    """

    def __init__(self, message: str, so_far: Any) -> None:
        super().__init__(message)
        self.so_far = so_far


class InputError(ObliviousError, ValueError):
    """Input that cannot be used; the message says what is wrong and how to mend it."""


class SpecError(InputError):
    """A spec with an unknown name or wrong parameters."""


class FileError(InputError):
    """A file that cannot be read, with file and line."""

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)


class TopologyError(InputError):
    """A network that cannot be built, or that does not fit the request."""


class RoutingError(InputError):
    """A routing that is inconsistent or that the topology cannot carry."""


class TrafficError(InputError):
    """A traffic matrix or permutation that does not fit the topology or the rules."""


class TooLargeError(InputError):
    """A problem that would not fit in memory, refused before anything is allocated."""


class MissingExtraError(ObliviousError, ImportError):
    """An optional package that this call needs is not installed."""


def extra(package: str, name: str) -> MissingExtraError:
    """The error that says which extra to install for `package`."""
    return MissingExtraError(f"this needs {package}: install it with  pip install 'obliv[{name}]'")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for a misspelt word: the nearest known ones, or all if few."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=3, cutoff=0.55)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(words)}" if words else "none is known"


def require_memory(needed: float, what: str) -> None:
    """Refuse a problem that would not fit in the memory that is free now.

    Parameters
    ----------
    needed : float
        Bytes that would be allocated.
    what : str
        What they are for, in the message.

    Raises
    ------
    TooLargeError
        If `needed` exceeds nine tenths of the free memory.
    """
    free = _free_memory()
    if needed > 0.9 * free:
        raise TooLargeError(
            f"{what} would need about {needed / 2**30:.3g} GiB and {free / 2**30:.3g} GiB are free: "
            "choose a smaller network, or a routing with a compact form"
        )


def _free_memory() -> float:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    return 8.0 * 2**30  # where the system does not say
