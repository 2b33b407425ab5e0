"""Registries: names and the factories behind them; the grammar of specs; Python files of users that register names.

Built-ins are registered with the same decorators as a user's own code; looking up a name imports its module only.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import runpy
import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from obliv._util.text import did_you_mean, several
from obliv.errors import FileError, InputError, OblivError, SpecError
from obliv.specs import MODULES

# The grammar of specs: ``name:ARG,ARG,key=value``, and mixes ``1/3*SPEC+2/3*SPEC``


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


T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")
#: Functions and classes that users' files defined, and the file of each: one that was not registered can be explained.
DEFINED: dict[str, str] = {}

_PLACES = {
    "topology": "a topology, which comes first",
    "routing": "a routing, which follows the topology",
    "traffic": "a traffic pattern, which follows the routing or {traffic} (A,B for several)",
}
_PATH = re.compile(r"[/\\]|\.[A-Za-z]\w*\Z")  # what looks like the name of a file


@dataclass(frozen=True)
class Registration(Generic[T]):
    """A registered name with its factory, aliases and example."""

    name: str
    make: Callable[..., T]
    aliases: tuple[str, ...]
    example: str

    @property
    def summary(self) -> str:
        """The first line of the factory's own docstring."""
        return inspect.cleandoc(self.make.__doc__ or "").partition("\n")[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the factory's parameters."""
        return tuple(inspect.signature(self.make).parameters)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The factory's signature with its annotations as types."""
        signature = inspect.signature(self.make)
        try:
            hints = typing.get_type_hints(self.make.__init__ if inspect.isclass(self.make) else self.make)
        except Exception:  # a user's annotations may name anything
            hints = {}
        return signature.replace(
            parameters=[p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
        )

    @property
    def reads_file(self) -> bool:
        """Whether the spec names a file."""
        return any(p.annotation is Path for p in self.signature.parameters.values())


class Registry(Generic[T]):
    """Names, and the factories behind them.

    Parameters
    ----------
    kind : str
        What is registered, for messages ("topology").
    group : str
        Entry-point group through which other packages register.
    modules : mapping of str to str
        The module that registers each built-in name, imported when the name is first used.
    """

    def __init__(self, kind: str, group: str, modules: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self._modules = modules
        self._entries: dict[str, Registration[T]] = {}
        self._names: dict[str, str] = {}
        self._complete = False

    def __repr__(self) -> str:
        return f"<Registry of {self.kind}: {', '.join(sorted({*self._names, *self._modules}))}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a registry as a reference to the one of its kind."""
        return registry, (self.kind,)

    def register(self, name: str, *, aliases: tuple[str, ...] = (), example: str = "") -> Callable[[F], F]:
        """Return a decorator that registers a factory under a name."""

        def register(make: F) -> F:
            others = several(aliases)
            words = (name, *others)
            for word in words:
                if not _NAME.match(word):
                    raise SpecError(f"{word!r} is not a valid {self.kind} name: use letters, digits, - and _")
            known = [self._entries[self._names[word]] for word in words if word in self._names]
            taken = any(_place(entry.make) != _place(make) for entry in known)
            if taken or any(self._modules.get(word, make.__module__) != make.__module__ for word in words):
                raise SpecError(f"the {self.kind} name {name!r}, or an alias of it, is taken; choose another name")
            self._entries[name] = Registration(
                name, make, others, example or _example(name, make, self.kind != "topology")
            )
            self._names.update(dict.fromkeys(words, name))
            return make

        return register

    def __iter__(self) -> Iterator[Registration[T]]:
        self._load_all()
        return iter([self._entries[name] for name in sorted(self._entries)])

    @property
    def registered(self) -> tuple[Registration[T], ...]:
        """What is registered so far; built-in names are once they are used."""
        return tuple(self._entries.values())

    def __contains__(self, name: str) -> bool:
        return self._spelled(name) in {**self._names, **self._modules, **self._points()}

    def _spelled(self, name: str) -> str:
        """Return a name as it is registered, whatever its case; the same where there is none, or several fit."""
        if name in self._names or name in self._modules:
            return name
        known = {*self._names, *self._modules, *self._points()}
        alike = [other for other in known if other.lower() == name.lower()]
        return alike[0] if name not in known and len(alike) == 1 else name

    def find(self, name: str) -> Registration[T]:
        """Return the entry of a name or alias."""
        name = self._spelled(name)
        if name not in self._names and name in self._modules:
            importlib.import_module(self._modules[name])
        if name not in self._names and name in self._points():
            self.register(name)(self._points()[name].load())
        if name not in self._names:
            hint = self._hint(name)
            raise SpecError.naming(f"unknown {self.kind} {{0!r}}: {{1}}", name, hint)
        return self._entries[self._names[name]]

    def name_of(self, make: Any) -> str:
        """Return the name under which a factory is registered, or an empty string."""
        return next((entry.name for entry in self._entries.values() if entry.make is make), "")

    def parse(self, spec: str, *given: Any) -> tuple[Registration[T], list[Any], dict[str, Any]]:
        """Split a spec and convert its arguments to the types in the factory's signature."""
        name, colon, text = spec.strip().partition(":")
        entry = self.find(name.strip())
        parameters = list(entry.signature.parameters.values())
        if len(parameters) < len(given):
            raise SpecError(f"{self.kind} {entry.name!r}: its first parameter must be the topology, but it has none")
        if colon and not text.strip():
            raise SpecError(f"{self.kind} {spec!r}: nothing follows the colon; write for example {entry.example}")
        try:
            positional, named = bind(text, parameters[len(given) :])
        except SpecError as error:
            raise SpecError(f"{self.kind} {spec!r}: {error}; write for example {entry.example}") from None
        return entry, [*given, *positional], named

    def make(self, spec: str, *given: Any) -> T:
        """Make the object that a spec names."""
        entry, positional, named = self.parse(spec, *given)
        return entry.make(*positional, **named)

    def _hint(self, name: str) -> str | InputError:
        if name in DEFINED:
            known = [entry.name for entry in self._entries.values() if getattr(entry.make, "__name__", "") == name]
            if known:
                return f"{DEFINED[name]} registers it as {known[0]}"
            register = {"traffic": "register_pattern"}.get(self.kind, f"register_{self.kind}")
            return f'{DEFINED[name]} defines it, but does not register it: write @obliv.{register}("{name}") above it'
        if os.path.isfile(name):
            readers = sorted((entry.name for entry in self if entry.reads_file), key=len)
            if readers:
                return "for a file write " + " or ".join(f"{reader}:{name}" for reader in readers)
        if "," in name and all(part.strip() in self for part in name.split(",")):
            return f"write the names apart, {name.replace(',', ' ')}"
        if "+" in name and self is not TOPOLOGIES:
            return "a mix is written with a weight and * for each part, for example 1/2*A+1/2*B"
        if self is TOPOLOGIES and re.fullmatch(r"\d+(x\d+)+", name):
            return f"write for example mesh:{name} or torus:{name}"
        joined = re.fullmatch(r"(.*?[^\d:])(\d+(x\d+)*)", name)
        if self is TOPOLOGIES and joined and joined[1] in self:
            return f"write {joined[1]}:{joined[2]}"
        readers = [entry.name for entry in self if entry.reads_file]
        if readers and any(name in table and table.find(name).reads_file for table in (TOPOLOGIES, ROUTINGS, PATTERNS)):
            return "for a file write " + " or ".join(f"{reader}:FILE" for reader in readers)
        other = next((registry.kind for registry in (TOPOLOGIES, ROUTINGS, PATTERNS) if name in registry), None)
        if other:
            return InputError.naming(
                f"{name} is {_PLACES[other]}" + "; the topology comes first" * (self is TOPOLOGIES)
            )
        for entry in self:  # a name that is the argument of another entry, such as graph:petersen
            parameters = list(entry.signature.parameters.values())
            if len(parameters) == 1 and parameters[0].annotation is str:
                with suppress(OblivError):
                    entry.make(name)
                    return f"write {entry.name}:{name}"
        hint = did_you_mean(name.lower(), {*self._names, *self._modules, *self._points()})
        hint = did_you_mean(name.lower(), self._entries) if hint.startswith("known") else hint  # no aliases in the list
        if not hint.startswith("known"):
            return hint
        if _PATH.search(name):
            return "there is no file of this name either"
        return InputError.naming("{0}; your own: {import} the file that registers it", hint)

    def _points(self) -> dict[str, Any]:
        """Return the entry points of other packages by name."""
        return {point.name: point for point in _entry_points(self.group, tuple(sys.path))}

    def _load_all(self) -> None:
        if not self._complete:
            for name in (*self._modules, *self._points()):
                self.find(name)
            self._complete = True


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the entry points of a group; each package on the path is read once."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _place(make: Callable[..., Any]) -> tuple[str, str]:
    """Return where a factory is defined; the same one may be registered again when its file is run again."""
    return make.__module__, make.__qualname__


def _example(name: str, make: Callable[..., Any], given: int) -> str:
    """Return a name with the arguments that a factory needs besides those `given`."""
    try:
        parameters = [*inspect.signature(make).parameters.values()][given:]
    except (TypeError, ValueError):  # some types in C have none
        return name
    needed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    return f"{name}:{','.join(needed).upper()}" if needed else name


TOPOLOGIES: Registry[Any] = Registry("topology", "obliv.topologies", MODULES["topology"])
ROUTINGS: Registry[Any] = Registry("routing", "obliv.routings", MODULES["routing"])
PATTERNS: Registry[Any] = Registry("traffic", "obliv.patterns", MODULES["traffic"])


def registry(kind: str) -> Registry[Any]:
    """Return the registry of a kind: ``topology``, ``routing`` or ``traffic``."""
    return {table.kind: table for table in (TOPOLOGIES, ROUTINGS, PATTERNS)}[kind]


def register_topology(name: str, *, aliases: tuple[str, ...] = (), example: str = "") -> Callable[[F], F]:
    """Register a function that returns a topology under a name (decorator).

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``. Specs are ``name:ARG,key=value``: the function's parameters, converted to
        the types that its annotations say.
    aliases : tuple of str, optional
        Other names for it.
    example : str, optional
        A spec that works, for error messages.

    Returns
    -------
    callable
        The decorator; it returns the function as it is.

    Raises
    ------
    SpecError
        If the name is invalid or taken.

    Examples
    --------
    >>> import obliv
    >>> @obliv.register_topology("two-way-ring", example="two-way-ring:4")
    ... def two_way_ring(nodes: int):
    ...     '''Ring with a channel each way between neighbors.'''
    ...     links = [(v, (v + step) % nodes) for v in range(nodes) for step in (1, -1)]
    ...     return obliv.build(f"two-way-ring:{nodes}", nodes, links)
    >>> obliv.topology("two-way-ring:4")
    <Topology two-way-ring:4: 4 nodes, 8 channels, 4 terminals>
    """
    return TOPOLOGIES.register(name, aliases=aliases, example=example)


def register_routing(name: str, *, aliases: tuple[str, ...] = (), example: str = "") -> Callable[[F], F]:
    """Register a class or function that makes a routing on a topology under a name (decorator).

    Parameters
    ----------
    name, aliases, example
        See :func:`register_topology`. The first parameter is the topology and is not part of the spec.

    Returns
    -------
    callable
        The decorator. What is registered returns a :class:`Routing`, or any object with ``paths(source,
        destination)`` or ``next_hops(node, destination)``.

    Raises
    ------
    SpecError
        If the name is invalid or taken.

    Examples
    --------
    >>> import obliv
    >>> @obliv.register_routing("clockwise")
    ... class Clockwise(obliv.HopRouting):
    ...     '''Always one way round a ring.'''
    ...     def next_hops(self, node, destination):
    ...         return [(int(self.topology.first_channel[node]), 1)]
    >>> obliv.worst_case(obliv.routing("clockwise", "ring:6")).throughput
    Fraction(1, 5)
    """
    return ROUTINGS.register(name, aliases=aliases, example=example)


def register_pattern(name: str, *, aliases: tuple[str, ...] = (), example: str = "") -> Callable[[F], F]:
    """Register a function that returns traffic for a topology under a name (decorator).

    Parameters
    ----------
    name, aliases, example
        See :func:`register_topology`. The first parameter is the topology and is not part of the spec.

    Returns
    -------
    callable
        The decorator; it returns the function as it is.

    Raises
    ------
    SpecError
        If the name is invalid or taken.

    Examples
    --------
    >>> import obliv
    >>> @obliv.register_pattern("halves")
    ... def halves(topology):
    ...     '''Terminals of the two halves exchange packets.'''
    ...     n = len(topology.terminals)
    ...     return obliv.permutation([(i + n // 2) % n for i in range(n)])
    >>> obliv.traffic("halves", "ring:6")
    <Traffic halves: 6 terminals, 6 flows>
    """
    return PATTERNS.register(name, aliases=aliases, example=example)


# Python files of users, run before a verb or a study, which may register names


def run_files(files: Iterable[str]) -> None:
    """Run Python files, which may register topologies, routings and traffic patterns."""
    for name in files:
        if not os.path.isfile(name):
            hint = f"; did you mean {name}.py?" if os.path.isfile(f"{name}.py") else ""
            raise FileError(f"file to import not found{hint}", name)
        module = Path(name).stem
        try:
            found = runpy.run_path(name, run_name=module)
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = trace.tb_lineno if trace is not None and trace.tb_frame.f_code.co_filename == name else None
            kind = "" if isinstance(error, OblivError) else f"{type(error).__name__}: "  # ours are sentences
            raise FileError(f"{kind}{error}", name, line) from None
        held = sys.modules.setdefault(module, ModuleType(module))  # where annotations of its classes are looked up
        if getattr(held, "__file__", None) is None:
            held.__dict__.update(found)
        DEFINED.update({key: name for key, value in found.items() if getattr(value, "__module__", None) == module})
