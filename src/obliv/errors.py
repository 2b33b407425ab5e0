"""The errors that obliv raises on purpose.

::

    OblivError
    ├── InputError (also a ValueError)      a spec, file or argument that cannot be used
    │   ├── OptionError                     an invalid value of an option
    │   ├── SpecError                       an unknown name or a wrong parameter in a spec
    │   ├── FileError                       a file that cannot be read or written, with path and line
    │   ├── TopologyError                   a network that cannot be built or does not fit the request
    │   ├── RoutingError                    a routing that is inconsistent or does not fit the topology
    │   ├── TrafficError                    an invalid traffic matrix or permutation
    │   └── TooLargeError                   a problem that would not fit in memory
    └── MissingExtraError (also an ImportError)   an optional package that is not installed

    Interrupted (a KeyboardInterrupt)       Ctrl-C in long work, with what was finished

Messages are one line: what is wrong, where, and how to fix it. Every error can be pickled, so that work in other
processes can raise it.

>>> import obliv
>>> try:
...     obliv.topology("tours:9x9")
... except obliv.OblivError as error:
...     print(type(error).__name__, error, sep=": ")
SpecError: unknown topology 'tours': did you mean torus?
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "CheckError",
    "FileError",
    "InputError",
    "Interrupted",
    "MissingExtraError",
    "OblivError",
    "ObliviousError",
    "OptionError",
    "RoutingError",
    "SpecError",
    "TooLargeError",
    "TopologyError",
    "TrafficError",
    "extra",
]


def __dir__() -> list[str]:
    return __all__


_LONG_WORD = re.compile(r"(\S{120})\S{40,}")  # such as a spec that a program made


class OblivError(Exception):
    """The root of all errors that obliv raises on purpose; the tree is in :mod:`obliv.errors`."""

    _clipped: ClassVar[bool] = True

    def __init__(self, message: str = "") -> None:
        super().__init__(_LONG_WORD.sub(r"\1...", message) if self._clipped else message)


#: The former name of :class:`OblivError`, for one release.
ObliviousError = OblivError


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in long work of which a part is finished.

    Attributes
    ----------
    so_far : Any
        The result of the finished part, of the same kind as the whole.
    """

    def __init__(self, message: str, so_far: Any) -> None:
        super().__init__(message)
        self.so_far = so_far

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.so_far)


class InputError(OblivError, ValueError):
    """Input that cannot be used; the message says what is wrong and how to fix it."""


class OptionError(InputError):
    """An invalid value of an option.

    Parameters
    ----------
    parameter : str
        The Python name of the option.
    template : str
        The message, with Python names of options in braces, such as ``{lam} is 3; it must be even``.

    Examples
    --------
    >>> error = OptionError("lam", "{lam} is 3; it must be even")
    >>> print(error)
    lam is 3; it must be even
    >>> error.text({"lam": "--lambda"})
    '--lambda is 3; it must be even'
    """

    def __init__(self, parameter: str, template: str) -> None:
        self.parameter = parameter
        self.template = template
        super().__init__(self.text({}))

    def text(self, names: Mapping[str, str]) -> str:
        """Return the message with other names for the options, such as those of the command line."""
        return _PLACEHOLDER.sub(lambda match: names.get(match[1], match[1]), self.template)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.template)


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class SpecError(InputError):
    """A spec with an unknown name or a wrong parameter."""


class FileError(InputError):
    """A file that cannot be read or written.

    Parameters
    ----------
    message : str
        What is wrong and how to fix it.
    path : path-like, optional
        The file; it stands before the message.
    line : int, optional
        The line, counted from 1.

    Examples
    --------
    >>> print(FileError("radix 1: every radix must be at least 2", "study.toml", 7))
    study.toml:7: radix 1: every radix must be at least 2
    """

    _clipped = False  # the path stands whole

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.path, self.line)


class TopologyError(InputError):
    """A network that cannot be built, or that does not fit the request."""


class RoutingError(InputError):
    """A routing that is inconsistent, or that does not fit the topology."""


class TrafficError(InputError):
    """A traffic matrix or permutation that is invalid, or that does not fit the topology."""


class TooLargeError(InputError):
    """A problem that would not fit in memory, refused before anything is allocated."""


class CheckError(OblivError, AssertionError):
    """A check of :mod:`obliv.testing` that failed; the message says what is wrong and where."""


class MissingExtraError(OblivError, ImportError):
    """An optional package that this call needs is not installed."""


def extra(package: str, name: str) -> MissingExtraError:
    """Return the error that says which extra to install for a package.

    Examples
    --------
    >>> print(extra("pandas", "table"))
    this needs pandas: install it with  uv sync --extra table  in a clone, or with  pip install 'obliv[table]'
    """
    ways = f"uv sync --extra {name}  in a clone, or with  pip install 'obliv[{name}]'"
    return MissingExtraError(f"this needs {package}: install it with  {ways}")
