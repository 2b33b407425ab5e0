"""The grammar of specs: ``name:ARG,ARG,key=value``, and mixes ``1/3*SPEC+2/3*SPEC``."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from obliv._util.text import did_you_mean
from obliv.errors import SpecError

__all__ = ["bind", "split_arguments", "split_mix"]

_RADICES = re.compile(r"\d+(x\d+)+\Z", re.IGNORECASE)
_TERM = re.compile(r"\s*(\d+(?:/\d+|\.\d+)?)\s*\*\s*")
_LONGEST = 2**18  # letters; lists of what is damaged may be long
_COMMA = re.compile(r",(?![^()]*\))")
_NEXT_TERM = re.compile(r"\+\s*(?=\d+(?:/\d+|\.\d+)?\s*\*)")


def split_mix(spec: str, *, partial: bool = False) -> list[tuple[Fraction, str]] | None:
    """Return the weights and specs of ``1/3*SPEC+2/3*SPEC``, or None if `spec` is not a mix.

    The weights must add up to 1; with `partial` they may add up to less.
    """
    if len(spec) > _LONGEST:
        raise SpecError(f"the spec {spec[:40]!r}... has {len(spec):,} letters, {_LONGEST:,} are allowed")
    if not _TERM.match(spec):
        return None
    from obliv._util.rationals import fraction

    parts = []
    for piece in _NEXT_TERM.split(spec):
        term = _TERM.match(piece)
        if term is None:
            raise SpecError(f"mix {spec!r}: {piece!r} has no weight: write WEIGHT*SPEC")
        parts.append((fraction(term[1]), piece[term.end() :].strip()))
    total = sum((weight for weight, _ in parts), Fraction(0))
    if total != 1 and not (partial and 0 < total < 1):
        hint = "; every part needs its weight: WEIGHT*SPEC" if any("+" in part for _, part in parts) else ""
        raise SpecError(
            f"mix {spec!r}: the weights add up to {total}, they must add up to {'at most ' * partial}1{hint}"
        )
    return parts


def split_arguments(text: str) -> list[str]:
    """Return the pieces between commas; those in parentheses, as in names of nodes, separate nothing.

    Examples
    --------
    >>> split_arguments("(0,0),(7,7),share=1/2")
    ['(0,0)', '(7,7)', 'share=1/2']
    """
    return _COMMA.split(text)


def bind(text: str, parameters: Sequence[inspect.Parameter]) -> tuple[list[Any], dict[str, Any]]:
    """Return positional and keyword arguments from ``ARG,ARG,key=value``, converted to the types of parameters.

    ``AxB`` are two arguments where a function takes any number of them. Annotations must be types, not text. SpecError
    if an argument is unknown, missing, repeated, superfluous, or not of its parameter's type.
    """
    slots = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    positional, named = _convert(text, parameters, slots) if text.strip() else ([], {})
    for slot in slots[: len(positional)]:
        if slot.name in named:
            raise SpecError(f"{slot.name} is given twice")
    required = slots[len(positional) :] + [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    for parameter in required:
        if parameter.default is inspect.Parameter.empty and parameter.name not in named:
            raise SpecError(f"{parameter.name} is missing")
    return positional, named


def _convert(
    text: str, parameters: Sequence[inspect.Parameter], slots: Sequence[inspect.Parameter]
) -> tuple[list[Any], dict[str, Any]]:
    by_name = {p.name: p for p in parameters if p.kind is not inspect.Parameter.VAR_POSITIONAL}
    many = next((p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    takes_path = bool(slots) and slots[0].annotation is Path
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for piece in split_arguments(text):
        key, equals, value = piece.partition("=")
        key = key.strip().replace("-", "_")
        if key not in by_name and not takes_path:  # a file's name keeps its case
            alike = [name for name in by_name if name.lower() == key.lower()]
            key = alike[0] if len(alike) == 1 else key
        if equals and key in by_name:
            if key in named:
                raise SpecError(f"{key} is given twice")
            named[key] = _value(value.strip(), by_name[key])
        elif takes_path:  # a path may hold commas and equals signs
            positional = [Path(f"{positional[0]},{piece}" if positional else piece.strip())]
        elif equals and ":" not in key:  # a colon belongs to a spec within the spec
            raise SpecError(f"unknown parameter {key!r}: {did_you_mean(key, by_name)}")
        elif many is not None and len(positional) >= len(slots):
            for word in piece.strip().lower().split("x") if _RADICES.match(piece.strip()) else [piece.strip()]:
                positional.append(_value(word, many))
        elif len(positional) < len(slots):
            positional.append(_value(piece.strip(), slots[len(positional)]))
        else:
            raise SpecError(f"{piece.strip()!r} is one argument too many")
    return positional, named


def _value(text: str, parameter: inspect.Parameter) -> Any:
    options = typing.get_args(parameter.annotation) or (parameter.annotation,)
    if Fraction in options and str in options:  # a number in any notation: the function checks it
        return text
    if int in options and str in options:  # a number or a name
        return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else text
    if int in options:
        if not re.fullmatch(r"[+-]?\d+", text):
            several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            what = "whole numbers joined by x" if several else "a whole number"
            raise SpecError(f"{parameter.name} must be {what}, not {text!r}")
        if len(text) > 18:
            raise SpecError(f"{parameter.name} = {text[:12]}... is too large")
        return int(text)
    if bool in options:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise SpecError(f"{parameter.name} must be yes or no, not {text!r}")
        return text.lower() in ("true", "yes", "1")
    if Fraction in options or float in options:
        from obliv._util.rationals import fraction

        return fraction(text) if Fraction in options else float(fraction(text))
    if Path in options:
        return Path(text)
    return text
