"""Which method of a class chooses the paths, and what a class above says about other paths, which is then void.

Routings say the same in several ways: as paths, random paths, next hops, path numbers, programs, closed forms of their
loads, symmetries. A class that chooses paths by a method of its own must not inherit what its parents say about theirs.
"""

from __future__ import annotations

from inspect import getattr_static
from typing import Any

__all__ = ["voided"]

#: Methods that choose paths, the weightiest first: of two in one class the first one counts, the other says the same.
_CHOOSE = ("paths", "next_hops", "chances", "hops_to", "ways", "sample")
#: What a method that chooses paths is made from where its class does not replace that too.
_MADE_FROM = {"chances": ("next_hops",), "hops_to": ("next_hops", "chances")}
#: What holds of a class whatever its paths.
_KEPT = {"sources", "notes", "partial", "spread", "_general", "_repr_html_"}
_OPERATORS = {"__mul__", "__rmul__", "__add__"}


def voided(cls: type) -> dict[str, Any]:
    """Return what a class must not inherit, each name with what stands for it: what is made from the class's own paths.

    The class is asked for the first method in its order of resolution that chooses paths. Descriptions of a later class
    that chooses paths too are void; a class that does not choose any, such as a base for others, speaks of all paths.
    """
    order = cls.__mro__
    places = {name: place for name in _CHOOSE if (place := _place(order, name)) is not None}
    if not places:
        return {}
    chosen = min(places, key=lambda name: (places[name], _CHOOSE.index(name)))
    base = _general(order, chosen)
    names = {name for kind in base.__mro__[:-1] for name in vars(kind)} - _KEPT - {chosen, *_MADE_FROM.get(chosen, ())}
    return {
        name: getattr_static(base, name)
        for name in names
        if (not name.startswith("__") or name in _OPERATORS)
        and (place := _place(order, name)) is not None
        and place > places[chosen]
        and order[place] not in base.__mro__
        and any(_own(order[place], base, choose) for choose in _CHOOSE)
    }


def _place(order: tuple[type, ...], name: str) -> int | None:
    return next((place for place, kind in enumerate(order) if name in vars(kind)), None)


def _general(order: tuple[type, ...], name: str) -> type:
    """Return the class that makes everything else from a method, Routing where none does."""
    general = [kind for kind in order if "_general" in vars(kind)]
    return next((kind for kind in reversed(general) if name in vars(kind)), general[-1])


def _own(kind: type, base: type, name: str) -> bool:
    """Return whether a class chooses its paths by a method other than that of a general class."""
    return getattr_static(kind, name, None) is not getattr_static(base, name, None)
