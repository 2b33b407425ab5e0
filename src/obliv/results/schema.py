"""JSON Schemas of all results, made from their declared fields."""

from __future__ import annotations

import types
import typing
from fractions import Fraction
from typing import Any

from obliv.results.base import Result
from obliv.results.codec import WHOLE_OR_NULL, Codec, Record
from obliv.results.numbers import Bounds, Estimate

__all__ = ["schema_of", "schemas"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
}
_OF_CODECS: dict[Codec, dict[str, Any]] = {
    WHOLE_OR_NULL: {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?\d{19,}$"}, {"type": "null"}]}
}
_VALUE = {"type": "number"}
_NAMES: dict[Any, str] = {Fraction: "exact", Estimate: "estimate", Bounds: "bounds"}
_NUMBERS = {
    "exact": {
        "type": "object",
        "properties": {"exact": {"type": "string", "pattern": r"^-?\d+(/\d+)?$"}, "value": _VALUE},
        "required": ["exact", "value"],
    },
    "estimate": {
        "type": "object",
        "properties": {"value": _VALUE, "stderr": _VALUE, "samples": {"type": "integer"}},
        "required": ["value", "stderr", "samples"],
    },
    "bounds": {
        "type": "object",
        "properties": {"lower": _VALUE, "upper": _VALUE},
        "required": ["lower", "upper"],
    },
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of every kind of result by its name.

    Returns
    -------
    dict
        By kind: a schema of draft 2020-12. Where several results share a kind, one of them applies.

    Examples
    --------
    >>> schemas()["locality"]["properties"]["routing"]
    {'type': 'string'}
    """
    from obliv.results.loading import all_results

    found: dict[str, list[dict[str, Any]]] = {}
    for cls in sorted(all_results(), key=lambda cls: cls.__name__):
        if cls.kind and cls.__module__.startswith("obliv."):
            found.setdefault(cls.kind, []).append(schema_of(cls))
    return {
        kind: {"$schema": _DRAFT, **(forms[0] if len(forms) == 1 else {"anyOf": forms}), "$defs": _NUMBERS}
        for kind, forms in found.items()
    }


def schema_of(cls: type[Record]) -> dict[str, Any]:
    """Return the JSON Schema of a declared record, from the types of its fields.

    Keys that may be omitted are not required; other keys may be there, as those that later versions add. A field with a
    codec of its own may hold anything, and a record that writes its JSON itself may have any keys.
    """
    if cls.to_dict not in (Record.to_dict, Result.to_dict) and not issubclass(cls, Result):
        return {"title": cls.__name__, "type": "object"}
    hints = typing.get_type_hints(cls)
    properties: dict[str, Any] = {}
    required = []
    if issubclass(cls, Result):
        properties["kind"] = {"const": cls.kind}
        required.append("kind")
    for name, how in cls.declared().items():
        if how.hidden:
            continue
        key = how.key or name
        hint = hints[name] if name in hints else typing.get_type_hints(getattr(cls, name).fget).get("return", Any)
        properties[key] = _schema(hint) if how.codec is None else _OF_CODECS.get(how.codec, {})
        if how.omit is None and (name in hints or issubclass(cls, Result)):  # rows may leave out what is derived
            required.append(key)
    return {"title": cls.__name__, "type": "object", "properties": properties, "required": required}


def _schema(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        forms = [{"type": "null"} if kind is type(None) else _schema(kind) for kind in arguments]
        return {"anyOf": forms}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": _schema(arguments[0])}
        size = len(arguments)
        return {
            "type": "array",
            "prefixItems": [_schema(part) for part in arguments],
            "minItems": size,
            "maxItems": size,
        }
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, Record):
        return schema_of(hint)
    if hint in _NAMES:
        return {"$ref": f"#/$defs/{_NAMES[hint]}"}
    return dict(_PLAIN.get(hint, {}))
