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

Messages are one line of at most 300 letters: what is wrong, where, and how to fix it. Every error can be pickled, so
that work in other processes can raise it.

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
from typing import Any, Self

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


#: Letters of a message: what was typed or read may have any length.
MOST_LETTERS = 300


def in_one_line(message: str) -> str:
    r"""Return a message in one short line: the middle of a long one is left out, its beginning and its end say most.

    Examples
    --------
    >>> in_one_line("radix 1\nin dimension\x1b y")
    'radix 1 in dimension? y'
    >>> len(in_one_line("unknown topology " + "x" * 40_000))
    300
    """
    if len(message) > MOST_LETTERS:
        end = MOST_LETTERS // 3
        first, last = message[: MOST_LETTERS - end - 5], message[-end:]
        first, last = re.sub(r" \S{1,20}$", "", first), re.sub(r"^\S{1,20} ", "", last)  # whole words, if short
        message = f"{first} ... {last}"
    if message.isprintable():
        return message
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in message)


class OblivError(Exception):
    """The root of all errors that obliv raises on purpose; the tree is in :mod:`obliv.errors`."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_one_line(str(message)))


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
    """Input that cannot be used; the message says what is wrong and how to fix it.

    Attributes
    ----------
    template : str or None
        The message with names of parameters in braces, where it has some: see :meth:`naming`.
    values : tuple
        What stands for ``{0}``, ``{1}`` and so on.
    """

    template: str | None = None
    values: tuple[object, ...] = ()

    @classmethod
    def naming(cls, template: str, *values: object) -> Self:
        """Return an error whose message names parameters, which have other names on the command line.

        Parameters
        ----------
        template : str
            The message, with names of parameters in braces, as ``{lam} is 3`` or ``{of}='x': choose links or nodes``.
        *values : object
            What users wrote and other errors: they stand for ``{0}``, ``{1}`` and so on, as they are.

        Examples
        --------
        >>> error = InputError.naming("{of}={0!r}: choose links or nodes, or skip them by {skip}=True", "{x}")
        >>> print(error)
        of='{x}': choose links or nodes, or skip them by skip=True
        >>> error.text({"of": "--of", "skip=True": "--skip"})
        "--of '{x}': choose links or nodes, or skip them by --skip"
        """
        error = cls(_rendered(template, values, {}))
        error.template, error.values = template, values
        return error

    def text(self, names: Mapping[str, str]) -> str:
        """Return the message with other names for the parameters, such as those of the command line."""
        return str(self) if self.template is None else _rendered(self.template, self.values, names)


#: A parameter, also with a value, ``{name}``, ``{name}=`` and ``{name}=True``, or a value, ``{0}`` and ``{0!r}``.
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}(=(?:True\b|'[\w.-]*')?)?|\{(\d)(!r)?\}")


def _rendered(template: str, values: tuple[object, ...], names: Mapping[str, str]) -> str:
    """Return a message with the names of its parameters; one without another name keeps its own."""

    def render(match: re.Match[str]) -> str:
        if match[3]:
            value = values[int(match[3])]
            text = value.text(names) if isinstance(value, InputError) else str(value)
            return repr(text) if match[4] else text
        name, equals = match[1], match[2] or ""
        if equals and name + equals in names:
            return names[name + equals]
        if name not in names:
            return name + equals
        return names[name] + equals.replace("=", " ", 1).replace("'", "")

    return _PLACEHOLDER.sub(render, template)


class OptionError(InputError):
    """An invalid value of an option.

    Parameters
    ----------
    parameter : str
        The Python name of the option.
    template : str
        The message, with Python names of options in braces, such as ``{lam} is 3; it must be even``.
    *values : object
        What stands for ``{0}``, ``{1}`` and so on.

    Examples
    --------
    >>> error = OptionError("lam", "{lam} is {0}; it must be even", 3)
    >>> print(error)
    lam is 3; it must be even
    >>> error.text({"lam": "--lambda"})
    '--lambda is 3; it must be even'
    """

    def __init__(self, parameter: str, template: str, *values: object) -> None:
        super().__init__(_rendered(template, values, {}))
        self.parameter = parameter
        self.template, self.values = template, values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.template, *self.values)


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

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        super().__init__(self._place + message)

    @property
    def _place(self) -> str:
        return "" if self.path is None else f"{self.path}: " if self.line is None else f"{self.path}:{self.line}: "

    @classmethod
    def naming(cls, template: str, *values: object, path: object = None, line: int | None = None) -> Self:
        """Return an error whose message names parameters, as :meth:`InputError.naming` does, with the file."""
        error = cls(_rendered(template, values, {}), path, line)
        error.template, error.values = template, values
        return error

    def text(self, names: Mapping[str, str]) -> str:
        """Return the message with other names for the parameters, such as those of the command line."""
        return str(self) if self.template is None else self._place + _rendered(self.template, self.values, names)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.path, self.line), vars(self)


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
