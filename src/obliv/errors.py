"""The exception tree.

::

    OblivError
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

from typing import Any

__all__ = [
    "FileError",
    "InputError",
    "Interrupted",
    "MissingExtraError",
    "OblivError",
    "ObliviousError",
    "RoutingError",
    "SpecError",
    "TooLargeError",
    "TopologyError",
    "TrafficError",
    "extra",
]


class OblivError(Exception):
    """The root of all errors that obliv raises on purpose."""


#: The former name of :class:`OblivError`, for one release.
ObliviousError = OblivError


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


class InputError(OblivError, ValueError):
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


class MissingExtraError(OblivError, ImportError):
    """An optional package that this call needs is not installed."""


def extra(package: str, name: str) -> MissingExtraError:
    """The error that says which extra to install for `package`."""
    return MissingExtraError(f"this needs {package}: install it with  pip install 'obliv[{name}]'")
