"""What obliv can do, one entry a capability: a verb, the results with their check and picture, the measure of studies.

The core's stand in ``obliv._builtin``, those of a wing in its ``wing.py``; another package declares its own in a module
that it names as an entry point of the group ``obliv.capabilities``, and a user in a file for ``--import``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

__all__ = ["CAPABILITIES", "Capability", "Parts", "capability", "load", "named"]


class Capability(NamedTuple):
    """A capability; its parts are texts ``module:name``, imported when they are used, functions, or empty."""

    name: str  #: Of the verb, of the kind of the result and of the measure.
    modules: tuple[str, ...] = ()  #: With the classes of the results of this kind.
    summary: str = ""  #: Of the verb, in a line; empty where there is none.
    verb: Any = ""  #: A command of its own; without one it is made from the signature of `function`.
    function: Any = ""  #: The function of a topology, or of a routing, and options.
    example: str = ""  #: Of the words after the name of a verb that is made from the function; a line for each.
    check: Any = ""  #: The check of saved claims; its parameters say what it needs, see :mod:`obliv.checker.verify`.
    draw: Any = ""  #: A function of the result and ``ax=``.
    measure: Any = ""  #: A :class:`obliv.study.measures.Measure`, or a function as for a verb.
    former: str = ""  #: The name that it had, under which verbs, files and studies still find it.


#: All capabilities by name.
CAPABILITIES: dict[str, Capability] = {}

_NOW: dict[str, str] = {}  # the names of those that had others


def capability(name: str, *modules: str, **parts: Any) -> None:
    """Declare a capability; a second declaration adds modules with results of the same kind.

    Parameters
    ----------
    name : str
        The verb, the ``kind`` of the result, and the measure of studies.
    *modules : str
        The modules with the classes of the results.
    **parts
        Further fields of :class:`Capability`. Without ``function``, it is that of the name in the first module; a verb
        is made from it if there is a ``summary``.

    Examples
    --------
    A module ``obliv.questions.girth`` with a function ``girth(topology)`` and a result of the kind ``girth`` gets a
    verb by

    >>> capability("girth", "obliv.questions.girth", summary="Find the shortest cycle.")  # doctest: +SKIP
    """
    known = CAPABILITIES.get(name)
    if known is not None:
        every = tuple(dict.fromkeys((*known.modules, *modules)))
        CAPABILITIES[name] = known._replace(modules=every, **parts)
        return
    function = f"{modules[0]}:{name.replace('-', '_')}" if modules else ""
    one = CAPABILITIES[name] = Capability(name, modules, **({"function": function} | parts))
    if one.former:
        _NOW[one.former] = name


def load(place: Any) -> Any:
    """Return what a text ``module:name`` names; anything else is returned as it is."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def named(name: str) -> Capability | None:
    """Return a capability by its name or its former one; those of other packages are read where none is known."""
    name = _NOW.get(name, name)
    if name not in CAPABILITIES:
        _of_packages()
    return CAPABILITIES.get(_NOW.get(name, name))


@cache
def _of_packages() -> None:
    """Import the modules in which other packages declare capabilities."""
    from importlib.metadata import entry_points

    for point in entry_points(group="obliv.capabilities"):
        point.load()


class Parts(Mapping[str, Any]):
    """One part of all capabilities that have it, by their names; each is imported when it is used.

    Examples
    --------
    >>> "worst" in Parts("check"), "list" in Parts("check")
    (True, False)
    """

    def __init__(self, part: str) -> None:
        self.part = part

    def __getitem__(self, name: str) -> Any:
        one = named(name)
        if one is None or not getattr(one, self.part):
            raise KeyError(name)
        return load(getattr(one, self.part))

    def __contains__(self, name: object) -> bool:
        one = named(name) if isinstance(name, str) else None
        return one is not None and bool(getattr(one, self.part))

    def __iter__(self) -> Iterator[str]:
        _of_packages()
        return (name for name, one in list(CAPABILITIES.items()) if getattr(one, self.part))

    def __len__(self) -> int:
        return sum(1 for _ in self)
