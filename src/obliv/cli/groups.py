"""Parameters that verbs share, declared once: a dataclass whose fields are arguments and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["flat"]


def flat(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with the fields of its dataclass parameters as parameters, which typer turns into options."""
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        group = groups.get(parameter.name)
        hints |= get_type_hints(group, include_extras=True) if group else {}
        parameters += inspect.signature(group).parameters.values() if group else [parameter]
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in parameters
    ]

    @wraps(verb)
    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        verb(**values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call
