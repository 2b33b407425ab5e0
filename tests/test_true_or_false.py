"""Every public parameter that is true or false refuses a text, as "no" would count as true."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest

import obliv
import obliv.bufferless
import obliv.fabric
import obliv.io
import obliv.study
import obliv.view

PLACES = (obliv, obliv.fabric, obliv.bufferless, obliv.study, obliv.io, obliv.view)


def parameters() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the parameters of public functions, and of public classes with an ``__init__`` of their own."""
    for place in PLACES:
        for name in place.__all__:
            called = getattr(place, name)
            if (
                not callable(called)
                or is_dataclass(called)
                or (isinstance(called, type) and "__init__" not in vars(called))
            ):
                continue
            for parameter in inspect.signature(called).parameters.values():
                if "bool" in str(parameter.annotation):
                    yield f"{place.__name__}.{name}: {parameter.name}", called, parameter.name


FOUND = {what: (called, name) for what, called, name in parameters()}


def test_parameters_are_found() -> None:
    assert {"obliv.ratio: certificate", "obliv.design: exact", "obliv.fabric.worst: certificate"} <= FOUND.keys()
    assert len(FOUND) > 25


@pytest.mark.parametrize("what", FOUND)
def test_a_text_is_neither_true_nor_false(what: str) -> None:
    """It is looked at first, whatever the other arguments are."""
    called, name = FOUND[what]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        None
        for parameter in inspect.signature(called).parameters.values()
        if parameter.kind in kinds and parameter.default is inspect.Parameter.empty
    ]
    with pytest.raises(obliv.InputError, match=rf"^(\w+: )?{name}[ =]'no'"):
        called(*needed, **{name: "no"})
