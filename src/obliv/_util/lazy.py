"""Packages that import what they export on first use (listed in ``__init__.pyi``), old names and old definitions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

#: What rooms ask of those above them, by name: a module and a function; the top of the package fills it in.
ABOVE: dict[str, tuple[str, str]] = {}


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package from the ``.pyi`` stub beside its ``__file__``.

    The package exports the lines ``from MODULE import THING as NAME`` of the stub, and ``OTHER = NAME``; a name's
    module is imported when the name is first used. ``__all__`` is one of the names.
    """

    @cache
    def homes() -> dict[str, tuple[str, str]]:
        import ast
        from pathlib import Path

        stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
        imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
        places = {name.asname: (str(node.module), name.name) for node in imports for name in node.names if name.asname}
        aliases = [node for node in stub.body if isinstance(node, ast.Assign)]
        return places | {ast.unparse(node.targets[0]): places[ast.unparse(node.value)] for node in aliases}

    def get(name: str) -> Any:
        if name == "__all__":
            return listed()
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, original = homes()[name]
        if home == package:
            value = importlib.import_module(f"{package}.{original}")
        else:
            value = getattr(importlib.import_module(home), original)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        version = ["__version__"] if hasattr(sys.modules[package], "__version__") else []
        return sorted([*homes(), *version])

    return get, listed


def picture_of(shown: object) -> str:
    """Return the HTML that a notebook shows below a table; its module is imported when a notebook asks for it."""
    return str(from_above("picture")(shown)) if "picture" in ABOVE else ""


def from_above(name: str) -> Callable[..., Any]:
    """Return a function of :data:`ABOVE`; its module is imported now, so that those that do not need it never do."""
    module, function = ABOVE[name]
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


# Definitions that changed after obliv 0.2.0: its claims are checked by those that it had


#: The versions that had them. Files of today's code say 0.2.0 until the next release, so today's are tried first.
VERSIONS = ("0.1.0", "0.1.1", "0.2.0")

_ASKED: ContextVar[dict[str, None] | None] = ContextVar("asked", default=None)


def as_before(definition: str) -> bool:
    """Return whether a definition, in words, is to be used in place of today's.

    Examples
    --------
    >>> as_before("a mile has 8 furlongs")
    False
    >>> with earlier_definitions() as asked:
    ...     as_before("a mile has 8 furlongs"), list(asked)
    (True, ['a mile has 8 furlongs'])
    """
    asked = _ASKED.get()
    if asked is None:
        return False
    asked[definition] = None
    return True


@contextmanager
def earlier_definitions() -> Iterator[dict[str, None]]:
    """Use the definitions of obliv 0.2.0 inside a ``with`` statement, and collect those that are asked for."""
    asked: dict[str, None] = {}
    before = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(before)
