"""Declared records: frozen dataclasses whose fields define their form in JSON, in rows and in text.

A field is written to JSON under its own name by the codec of its type; :func:`entry` declares exceptions, and
:func:`derived` adds a property. The class body gives the order.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, cast

from obliv.results.numbers import Bounds, Estimate, from_number, interval_beside, number, with_interval

#: Why a key may be missing from a saved file.
OTHER_VERSION = "the file may come from another version of obliv"

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Codec:
    """Conversion of values of a type to JSON and back; `decode` raises ValueError on any other value."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    schema: Callable[[], dict[str, Any]] = dict  #: The JSON Schema, by default of anything.


@dataclass(frozen=True)
class Declaration:
    """The form of a field or property of a record in JSON, rows and text; see :func:`entry`."""

    key: str = ""
    label: str = ""
    text: Callable[[Any], str | None] | None = None
    column: str = ""
    reason: str | Callable[[Any], str] = ""
    omit: Callable[[Any], bool] | None = None
    hidden: bool = False
    rank: int = 0
    codec: Codec | None = None


def entry(
    default: Any = dataclasses.MISSING,
    *,
    default_factory: Any = dataclasses.MISSING,
    compare: bool = True,
    **how: Any,
) -> Any:
    """Declare a field of a record."""
    options: dict[str, Any] = {"compare": compare, "metadata": {"entry": Declaration(**how)}}
    if default_factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=default_factory, **options)
    return dataclasses.field(default=default, **options)


def derived(**how: Any) -> Callable[[_Function], _Function]:
    """Declare a property of a record, below ``@property``; `how` as in :func:`entry`. It is written, never read."""

    def declare(function: _Function) -> _Function:
        function.__dict__["entry"] = Declaration(**how)
        return function

    return declare


class Record:
    """A frozen dataclass whose entries give its JSON and its rows."""

    _entries: ClassVar[dict[str, Declaration]] = {}  # of fields and properties, in the order of the class body

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own: dict[str, Declaration] = {}
        annotations = inspect.get_annotations(cls)
        for name, value in _body(cls, annotations):
            if name in annotations:
                if "ClassVar" in str(annotations[name]):
                    continue
                metadata = value.metadata if isinstance(value, dataclasses.Field) else {}
                own[name] = metadata.get("entry", Declaration())
            elif isinstance(value, property) and hasattr(value.fget, "entry"):
                own[name] = value.fget.entry  # type: ignore[union-attr]
        cls._entries = {name: how for name, how in cls._entries.items() if name not in own} | own
        setattr(cls, "__hash__", _hash)  # noqa: B010  # that of dataclass would hash dictionaries

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        codecs = _codecs(type(self))
        data: dict[str, Any] = {}
        for name, how in sorted(self._entries.items(), key=lambda item: item[1].rank):
            if how.hidden or (how.omit is not None and how.omit(self)):
                continue
            key, value = how.key or name, getattr(self, name)
            data[key] = codecs[name].encode(value)
            data |= interval_beside(key, value)
            if value is None and how.reason:
                data[f"{key}_reason"] = how.reason if isinstance(how.reason, str) else how.reason(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the record that :meth:`to_dict` wrote."""
        return cls(**cls._fields_from(data))

    @classmethod
    def _fields_from(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise ValueError(f"{_short(data)} is not an object")
        codecs = _codecs(cls)
        values = {}
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            how = cls._entries.get(field.name, Declaration(hidden=True))
            key = how.key or field.name
            if how.hidden or (key not in data and how.omit is not None):
                continue
            if key not in data:
                raise ValueError(f"the key {key!r} is missing; {OTHER_VERSION}")
            try:
                values[field.name] = with_interval(codecs[field.name].decode(data[key]), key, data)
            except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
                raise ValueError(f"{key}: {error}") from None
        return values

    _whole: ClassVar[bool] = False  # whether keys of properties are always there

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the record; it may have other keys, as those that later versions add."""
        if cls.to_dict is not Record.to_dict and not cls._whole:  # it writes its JSON itself
            return {"title": cls.__name__, "type": "object"}
        codecs, fields = _codecs(cls), {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        shown = {name: how for name, how in cls._entries.items() if not how.hidden}
        properties = {how.key or name: codecs[name].schema() for name, how in shown.items()}
        always = {name: how for name, how in shown.items() if how.omit is None and (cls._whole or name in fields)}
        required = [how.key or name for name, how in always.items()]
        return {"title": cls.__name__, "type": "object", "properties": properties, "required": required}

    def cells(self) -> dict[str, Any]:
        """Return the entries that stand in rows, by column; those of a record in it take their own columns."""
        cells: dict[str, Any] = {}
        for name, how in self._entries.items():
            if not how.column:
                continue
            value, nested = getattr(self, name), _record_in(type(self), name)
            if nested is None:
                cells[how.column] = value
            else:
                cells |= dict.fromkeys(nested.header()) if value is None else value.cells()
        return cells

    @classmethod
    def declared(cls) -> dict[str, Declaration]:
        """Return how each field and property is shown, by name."""
        return dict(cls._entries)

    @classmethod
    def header(cls) -> tuple[str, ...]:
        """Return the names of the columns of :meth:`cells`."""
        names: list[str] = []
        for name, how in cls._entries.items():
            if how.column:
                nested = _record_in(cls, name)
                names += [how.column] if nested is None else nested.header()
        return tuple(names)


def _hash(record: Any) -> int:
    compared = (getattr(record, field.name) for field in dataclasses.fields(record) if field.compare)
    return hash((type(record), *(value for value in compared if isinstance(value, Hashable))))


def codec_of(hint: Any) -> Codec:
    """Return the codec of a type: numbers, text, records, and tuples and dictionaries of them."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return Codec(lambda value: value, lambda value: value)
    if origin in (typing.Union, types.UnionType):
        kinds = tuple(kind for kind in arguments if kind is not type(None))
        if len(kinds) > 1 and not set(kinds) <= _NUMBERS.keys():
            raise TypeError(f"no codec for the union {hint}: declare one with entry(codec=...)")
        codec = _number_codec(kinds) if kinds[0] in _NUMBERS else codec_of(kinds[0])
        return _optional(codec) if len(kinds) < len(arguments) else codec
    if hint in _NUMBERS:
        return _number_codec((hint,))
    if origin is tuple:
        return _tuple_codec(arguments)
    if origin is dict:
        item = codec_of(arguments[1])
        return Codec(
            lambda value: {key: item.encode(entry) for key, entry in value.items()},
            lambda data: {key: item.decode(entry) for key, entry in _expect(data, dict).items()},
            lambda: {"type": "object", "additionalProperties": item.schema()},
        )
    if isinstance(hint, type) and issubclass(hint, Record):
        return Codec(lambda value: value.to_dict(), hint.from_dict, hint.json_schema)
    if hint in _PLAIN:
        return Codec(lambda value: value, lambda data: _expect(data, hint), lambda: {"type": _PLAIN[hint]})
    if hint is float:
        return Codec(
            lambda value: value,
            lambda data: float(_expect(data, int if type(data) is int else float)),
            lambda: {"type": "number"},
        )
    raise TypeError(f"no codec for {hint}: declare one with entry(codec=...)")


def pack(values: Any) -> Any:
    """Return whole numbers as a list, or compressed where there are many."""
    from obliv._util.files import pack

    return pack(values)


def unpack(data: Any) -> Any:
    """Return the whole numbers that :func:`pack` was given."""
    from obliv._util.files import unpack

    return unpack(data)


#: Whole numbers in JSON.
PACKED = Codec(pack, lambda data: _flat(unpack(data)))


def _whole(value: int | None) -> int | str | None:
    from obliv._util.files import whole

    return None if value is None else whole(value)


def _whole_or_none(data: Any) -> int | None:
    if isinstance(data, str):
        data = unpack(data)
    return None if data is None else _expect(data, int)


#: A whole number or null; text beyond 64 bits.
WHOLE_OR_NULL = Codec(
    _whole,
    _whole_or_none,
    lambda: {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?\d{19,}$"}, {"type": "null"}]},
)

#: Text that is null where it is "".
TEXT_OR_NULL = Codec(lambda text: text or None, lambda data: "" if data is None else _expect(data, str))

_PLAIN = {str: "string", int: "integer", bool: "boolean"}
_NUMBERS = {Fraction: "an exact number", Estimate: "an estimate", Bounds: "a pair of bounds"}
_REFERENCES = {Fraction: "exact", Estimate: "estimate", Bounds: "bounds"}


def _number_codec(kinds: tuple[Any, ...]) -> Codec:
    def decode(data: Any) -> Any:
        value = from_number(_expect(data, dict))
        if not isinstance(value, kinds):
            raise ValueError(f"{_short(data)} is not {' or '.join(_NUMBERS[kind] for kind in kinds)}")
        return value

    forms = [{"$ref": f"#/$defs/{_REFERENCES[kind]}"} for kind in kinds]
    return Codec(number, decode, lambda: dict(forms[0]) if len(forms) == 1 else {"anyOf": list(forms)})


def _tuple_codec(items: tuple[Any, ...]) -> Codec:
    if len(items) == 2 and items[1] is Ellipsis:
        item = codec_of(items[0])
        return Codec(
            lambda value: [item.encode(part) for part in value],
            lambda data: tuple(item.decode(part) for part in _expect(data, list)),
            lambda: {"type": "array", "items": item.schema()},
        )
    size = {"minItems": len(items), "maxItems": len(items)}
    codecs = [codec_of(item) for item in items]
    return Codec(
        lambda value: [codec.encode(part) for codec, part in zip(codecs, value, strict=True)],
        lambda data: tuple(codec.decode(part) for codec, part in zip(codecs, _expect(data, list), strict=True)),
        lambda: {"type": "array", "prefixItems": [codec.schema() for codec in codecs], **size},
    )


def _optional(codec: Codec) -> Codec:
    def schema() -> dict[str, Any]:
        form = codec.schema()
        return {"anyOf": [*form.get("anyOf", [form]), {"type": "null"}]}

    return Codec(
        lambda value: None if value is None else codec.encode(value),
        lambda data: None if data is None else codec.decode(data),
        schema,
    )


def _flat(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
        raise ValueError(f"{_short(values)} where a list of whole numbers is expected")
    return tuple(values)


def _expect(data: Any, kind: type) -> Any:
    if type(data) is not kind:
        raise ValueError(f"{_short(data)} where {_TYPES[kind]} is expected")
    return data


_TYPES: dict[type, str] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    float: "a number",
    dict: "an object",
    list: "a list",
}


def _short(data: Any) -> str:
    text = "null" if data is None else repr(data)
    return text if len(text) <= 40 else text[:37] + "..."


def _make_codecs(cls: type[Record]) -> dict[str, Codec]:
    hints = typing.get_type_hints(cls)
    codecs: dict[str, Codec] = {}
    for name, how in cls._entries.items():
        if how.codec is not None:
            optional = type(None) in typing.get_args(hints.get(name))
            own = how.codec
            codecs[name] = dataclasses.replace(_optional(own), schema=own.schema) if optional else own
        elif not how.hidden:
            codecs[name] = codec_of(hints[name] if name in hints else _return_type(cls, name))
    return codecs


def _return_type(cls: type, name: str) -> Any:
    return typing.get_type_hints(getattr(cls, name).fget).get("return", Any)


def _find_record(cls: type[Record], name: str) -> type[Record] | None:
    """Return the type of record that an entry holds; None for any other entry."""
    hint = typing.get_type_hints(cls).get(name)
    kinds = [hint, *typing.get_args(hint)] if typing.get_origin(hint) is not tuple else []
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Record)), None)


# mypy does not take classes for hashable
_codecs: Callable[[type[Record]], dict[str, Codec]] = cast(Any, cache(_make_codecs))
_record_in: Callable[[type[Record], str], type[Record] | None] = cast(Any, cache(_find_record))


def _body(cls: type, annotations: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield annotated names and properties in the order of the class body; those without a default come first."""
    yield from ((name, None) for name in annotations if name not in cls.__dict__)
    yield from cls.__dict__.items()
