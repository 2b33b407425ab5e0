"""Arguments of the functions for fabrics: one of another kind is refused, with how to make the right one."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from obliv._util.rationals import boolean
from obliv.errors import InputError

__all__ = ["typed"]

P = ParamSpec("P")
R = TypeVar("R")

#: How arguments of each kind are made. Kinds are names, as this module is below all that define them.
_MADE_BY = {
    "Fabric": "obliv.fabric.read_fabric(FILE)",
    "Tables": "obliv.fabric.read_tables(fabric, FILE)",
    "FabricTopology": "obliv.fabric.network(fabric)",
    "FabricRouting": "obliv.fabric.routing(network, tables)",
    "Base": "obliv.fabric.base_of(routing)",
    "GroupTables": "obliv.fabric.read_adaptive(fabric, FILE)",
    "Limits": "obliv.fabric.read_limits(FILE)",
}
_PATH = "str | Path"


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function check those of its arguments that are annotated as parts of a fabric, as paths, or as ``bool``."""
    signature = inspect.signature(function)
    kinds = {name: str(each.annotation).removesuffix(" | None") for name, each in signature.parameters.items()}
    kinds = {name: kind for name, kind in kinds.items() if kind in _MADE_BY or kind in (_PATH, "bool")}
    kinds = dict(sorted(kinds.items(), key=lambda item: item[1] != "bool"))  # as elsewhere they are looked at first

    @wraps(function)
    def checked(*args: P.args, **more: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **more).arguments
        except TypeError:
            return function(*args, **more)  # which names itself
        for name, kind in kinds.items():
            if name in given and given[name] is not signature.parameters[name].default:
                _require(f"{function.__name__}: {name}", given[name], kind)
        return function(*args, **more)

    return checked


def _require(what: str, value: object, kind: str) -> None:
    if kind == "bool":
        boolean(value, what)
    elif kind == _PATH:
        if not isinstance(value, str | os.PathLike):
            raise InputError(f"{what} is the path of a file; this is a {type(value).__name__}")
    elif kind not in (base.__name__ for base in type(value).__mro__):
        raise InputError(f"{what} is a {kind}, made by {_MADE_BY[kind]}; this is a {type(value).__name__}")
