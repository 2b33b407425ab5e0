"""Specs and registries: ``name``, ``name:ARG,ARG,key=value`` and mixes of those.

The same text names an object on the command line, in Python, in files and in the
provenance of results.  A registry maps names to factories; what obliv ships is
registered through the same decorators that a user's own code goes through.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, TypeVar

from obliv.errors import SpecError, did_you_mean

__all__ = [
    "Entry",
    "Registry",
    "door",
    "exact",
    "fraction",
    "patterns",
    "rational",
    "routings",
    "share",
    "split_mix",
    "topologies",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")
_RADICES = re.compile(r"\d+(x\d+)+\Z")
# Digits and exponents are limited because a short text such as 1e999999999 stands for a number that fills the memory.
_NUMBER = re.compile(r"[+-]?(\d+(/\d+|\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_DIGITS = 1000
_TERM = re.compile(r"\s*(\d+(?:/\d+|\.\d+)?)\s*\*\s*")
_NEXT_TERM = re.compile(r"\+\s*(?=\d+(?:/\d+|\.\d+)?\s*\*)")
#: What stands before the name of a file, by what the file is of.
_OF_FILES = {"topology": ("file", "fabric"), "routing": ("table", "lft"), "traffic": ("permutation", "matrix")}


def rational(text: str) -> Fraction | None:
    """The rational that a text stands for, such as ``1/3``, ``2``, ``0.25`` or ``1e-3``; None where it is none."""
    word = text.strip()
    if len(word) > _DIGITS or not _NUMBER.fullmatch(word):
        return None
    try:
        return Fraction(word)
    except (ValueError, ZeroDivisionError):
        return None


def fraction(text: str) -> Fraction:
    """A rational as :func:`rational` reads it; SpecError otherwise."""
    number = rational(text)
    if number is None:
        raise SpecError(f"{text.strip()[:40]!r} is no number: write 1/3, 2 or 0.25")
    return number


def exact(value: Any) -> Fraction | None:
    """A number as an exact one, None where it is none.

    A float stands for the simplest rational that it is the nearest float of, so that 0.1 + 0.9 and 1/3 + 2/3 make one.
    """
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = rational(value) if isinstance(value, str) else Fraction(value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return None
    if number is not None and isinstance(value, float):
        simple = number.limit_denominator(10**7)
        number = simple if float(simple) == value else number
    return number


def share(value: Any) -> Fraction | None:
    """A probability as an exact number, None where it is none; for floats see :func:`exact`."""
    number = exact(value)
    return number if number is not None and 0 <= number <= 1 else None


def split_mix(spec: str) -> list[tuple[Fraction, str]] | None:
    """The weights and specs of ``1/3*SPEC+2/3*SPEC``, or None where `spec` is no mix."""
    if not _TERM.match(spec):
        return None
    parts = []
    for piece in _NEXT_TERM.split(spec):
        term = _TERM.match(piece)
        if term is None:
            raise SpecError(f"mix {spec!r}: {piece!r} has no weight: write WEIGHT*SPEC")
        parts.append((fraction(term[1]), piece[term.end() :].strip()))
    if sum(weight for weight, _ in parts) != 1:
        total = sum((weight for weight, _ in parts), Fraction(0))
        hint = "; every part needs its weight: WEIGHT*SPEC" if any("+" in part for _, part in parts) else ""
        raise SpecError(f"mix {spec!r}: the weights add up to {total}, they must add up to 1{hint}")
    return parts


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One registered name: the factory, its aliases and a line of help."""

    name: str
    make: Callable[..., T]
    aliases: tuple[str, ...]
    example: str

    @property
    def summary(self) -> str:
        """The first line of the factory's docstring."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0].strip()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the factory's parameters."""
        return tuple(inspect.signature(self.make).parameters)


class Registry(Generic[T]):
    """Names and what they make; a decorator that registers.

    Parameters
    ----------
    kind : str
        What is registered, for messages ("topology").
    group : str
        Entry-point group through which other packages register.
    builtin : tuple of str
        Modules of obliv that register on import; loaded on first use.
    """

    def __init__(self, kind: str, group: str, builtin: tuple[str, ...]) -> None:
        self.kind = kind
        self.group = group
        self._modules = builtin
        self._entries: dict[str, Entry[T]] = {}
        self._names: dict[str, str] = {}
        self._loaded = False

    def __call__(self, name: str, *, aliases: tuple[str, ...] = (), example: str = "") -> Callable[[F], F]:
        """Register a factory under `name` (decorator)."""

        def register(make: F) -> F:
            if not make.__module__.startswith("obliv."):
                self._load()  # so that a name of ours is not taken without a word
            for word in (name, *aliases):
                if not _NAME.match(word):
                    raise SpecError(f"{word!r} cannot name a {self.kind}: use letters, digits, - and _")
            entry = Entry(name, make, aliases, example or name)
            known = [self._entries[self._names[word]] for word in (name, *aliases) if word in self._names]
            if any(_place(other.make) != _place(make) for other in known):
                raise SpecError(f"{name!r} or an alias of it names a {self.kind} already; choose another name")
            self._entries[name] = entry
            for word in (name, *aliases):
                self._names[word] = name
            return make

        return register

    def __iter__(self) -> Iterator[Entry[T]]:
        self._load()
        return iter([self._entries[name] for name in sorted(self._entries)])

    def __contains__(self, name: str) -> bool:
        self._load()
        return name in self._names

    def find(self, name: str) -> Entry[T]:
        """The entry of a name or alias; SpecError with a hint where there is none."""
        if name not in self._names:
            self._load()
        if name not in self._names:
            other = next((each.kind for each in (topologies, routings, patterns) if name in each), None)
            hint = f"{name} is a {other}, put it there" if other else did_you_mean(name.lower(), self._names)
            if os.path.isfile(name) and self.kind in _OF_FILES:
                hint = "for a file write " + " or ".join(f"{each}:{name}" for each in _OF_FILES[self.kind])
            raise SpecError(f"unknown {self.kind} {name!r}: {hint}")
        return self._entries[self._names[name]]

    def parse(self, spec: str, *given: Any) -> tuple[Entry[T], list[Any], dict[str, Any]]:
        """Split a spec and convert its arguments to what the factory's signature says.

        Parameters
        ----------
        spec : str
            ``name:ARG,ARG,key=value``.
        *given
            Leading arguments of the factory that do not stand in the spec.

        Returns
        -------
        tuple
            The entry, positional arguments (`given` first) and keyword arguments.
        """
        name, colon, text = spec.strip().partition(":")
        entry = self.find(name.strip())
        if colon and not text.strip():
            raise SpecError(f"{self.kind} {spec!r}: nothing follows the colon; for example {entry.example}")
        signature = _signature(entry.make)
        parameters = list(signature.parameters.values())[len(given) :]
        try:
            positional, named = _convert(text, parameters)
            signature.bind(*given, *positional, **named)
        except (TypeError, SpecError) as error:
            reason = _readable(error)
            raise SpecError(f"{self.kind} {spec!r}: {reason}; for example {entry.example}") from None
        return entry, [*given, *positional], named

    def make(self, spec: str, *given: Any) -> T:
        """Make the object that a spec names."""
        entry, positional, named = self.parse(spec, *given)
        return entry.make(*positional, **named)

    def _load(self) -> None:
        if self._loaded:
            return
        for module in self._modules:
            importlib.import_module(module)
        from importlib.metadata import entry_points

        for point in entry_points(group=self.group):
            if point.name not in self._names:
                self(point.name)(point.load())
        self._loaded = True


topologies: Registry[Any] = Registry(
    "topology",
    "obliv.topologies",
    (
        "obliv.fabric.network",
        "obliv.topology.cartesian",
        "obliv.topology.circulant",
        "obliv.topology.concentrated",
        "obliv.topology.dragonfly",
        "obliv.topology.irregular",
        "obliv.topology.leveled_families",
        "obliv.topology.leveled_random",
        "obliv.topology.leveled_unrolled",
        "obliv.topology.slimfly",
        "obliv.topology.tree",
        "obliv.topology.words",
        "obliv.io.files",
        "obliv.io.leveled",
    ),
)
routings: Registry[Any] = Registry(
    "routing",
    "obliv.routings",
    (
        "obliv.fabric.routing",
        "obliv.routing.cartesian",
        "obliv.routing.two_turn",
        "obliv.routing.graph",
        "obliv.routing.table",
        "obliv.routing.tree",
        "obliv.routing.tree_paths",
        "obliv.routing.tree_table",
        "obliv.routing.updown",
    ),
)
patterns: Registry[Any] = Registry(
    "traffic",
    "obliv.patterns",
    ("obliv.traffic.patterns", "obliv.traffic.files", "obliv.traffic.jobs"),
)


def _place(make: Callable[..., Any]) -> tuple[str, str]:
    """Where a factory is defined; the same one may be registered again when its file is run again."""
    return make.__module__, make.__qualname__


def _signature(make: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(make)
    function = make.__init__ if inspect.isclass(make) else make
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    return signature.replace(
        parameters=[p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
    )


def _convert(text: str, parameters: list[inspect.Parameter]) -> tuple[list[Any], dict[str, Any]]:
    if not text.strip():
        return [], {}
    by_name = {p.name: p for p in parameters if p.kind is not inspect.Parameter.VAR_POSITIONAL}
    many = next((p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    slots = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    takes_path = bool(slots) and slots[0].annotation is Path
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for piece in text.split(","):
        key, equals, value = piece.partition("=")
        key = key.strip().replace("-", "_")
        if equals and key in by_name:
            if key in named:
                raise SpecError(f"{key} is given twice")
            named[key] = _value(value.strip(), by_name[key])
        elif takes_path:  # a path may hold commas and equals signs
            positional = [Path(f"{positional[0]},{piece}" if positional else piece.strip())]
        elif equals:
            raise SpecError(f"unknown parameter {key!r}: {did_you_mean(key, by_name)}")
        elif many is not None and len(positional) >= len(slots):
            for word in piece.strip().split("x") if _RADICES.match(piece.strip()) else [piece.strip()]:
                positional.append(_value(word, many))
        elif len(positional) < len(slots):
            positional.append(_value(piece.strip(), slots[len(positional)]))
        else:
            raise SpecError(f"{piece.strip()!r} is one argument too many")
    return positional, named


def _value(text: str, parameter: inspect.Parameter) -> Any:
    wanted = parameter.annotation
    options = typing.get_args(wanted) or (wanted,)
    if type(None) in options:
        options = tuple(o for o in options if o is not type(None))
    if int in options:
        if not re.fullmatch(r"[+-]?\d+", text):
            raise SpecError(f"{parameter.name} must be a whole number, not {text!r}")
        if len(text) > 18:
            raise SpecError(f"{parameter.name} = {text[:12]}... is too large")
        return int(text)
    if bool in options:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise SpecError(f"{parameter.name} must be yes or no, not {text!r}")
        return text.lower() in ("true", "yes", "1")
    if Fraction in options:
        return fraction(text)
    if float in options:
        return float(fraction(text))
    if Path in options:
        return Path(text)
    return text


def _readable(error: Exception) -> str:
    """Python's words for a wrong call, in a user's words."""
    text = str(error)
    missing = re.search(r"missing a required argument: '(\w+)'", text)
    if missing:
        return f"{missing[1]} is missing"
    if "too many positional" in text:
        return "too many arguments"
    twice = re.search(r"multiple values for argument '(\w+)'", text)
    return f"{twice[1]} is given twice" if twice else text


def door(module: str, function: Callable[..., Any]) -> None:
    """Let a room be called: ``obliv.topology("torus:9x9")`` beside ``obliv.topology.cartesian``.

    A package and a function of one name would hide each other, whichever was imported last.
    """

    class Door(types.ModuleType):
        __call__ = staticmethod(function)

    sys.modules[module].__class__ = Door
