"""What a study file may contain: declared once, for reading it and for the JSON Schema."""

from __future__ import annotations

from typing import Any, NamedTuple

from obliv.study.measures import MEASURES, Option

__all__ = ["FILTER", "KEYS", "Key", "schema"]


class Key(NamedTuple):
    """A key of a study file: the JSON Schema of its value, what it is for, and whether it must be there."""

    schema: dict[str, Any]
    summary: str
    required: bool = False


def _texts(summary: str, required: bool = False) -> Key:
    items = {"type": "string", "minLength": 1}
    return Key({"type": "array", "items": items, "minItems": 1}, summary, required)


_RANGE = {
    "anyOf": [
        {"type": "string", "pattern": r"^-?[0-9]+\.\.-?[0-9]+( step [1-9][0-9]*)?$"},
        {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1},
    ]
}

_WORDS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

#: The keys of a filter: patterns with * and ? of what it selects.
FILTER = {
    "topology": Key(_WORDS, "patterns of topologies"),
    "routing": Key(_WORDS, "patterns of routings"),
    "measure": Key(_WORDS, "names of measures"),
}


def _filters(summary: str) -> Key:
    table = {
        "type": "object",
        "properties": {name: key.schema | {"description": key.summary} for name, key in FILTER.items()},
        "additionalProperties": False,
        "minProperties": 1,
    }
    return Key({"type": "array", "items": table, "minItems": 1}, summary)


def _option_schema(option: Option) -> dict[str, Any]:
    kind: dict[str, Any]
    if option.choices:
        kind = {"enum": list(option.choices)}
    elif option.kind is bool:
        kind = {"type": "boolean"}
    elif option.kind is int:
        kind = {"type": "integer"} | ({} if option.least is None else {"minimum": option.least})
        kind = {"anyOf": [kind, {"type": "string", "pattern": r"^\{\w+\}$"}]}
    else:
        kind = {"type": "string"}
    return {"anyOf": [kind, {"type": "array", "items": kind, "minItems": 1}]}


def _measure_schema(name: str) -> dict[str, Any]:
    measure = MEASURES[name]
    required = [option for option, how in measure.options.items() if how.required]
    return {
        "type": "object",
        "description": measure.summary,
        "properties": {"measure": {"const": name}}
        | {option: _option_schema(how) for option, how in measure.options.items()},
        "required": ["measure", *required],
        "additionalProperties": False,
    }


def _plain() -> dict[str, Any]:
    """Return the schema of a measure by its name alone."""
    names = [name for name, how in MEASURES.items() if not any(option.required for option in how.options.values())]
    return {"enum": names}


#: The keys of a study file.
KEYS = {
    "name": Key({"type": "string", "minLength": 1}, "name of the study (default: that of the file)"),
    "topologies": _texts("specs of topologies; {k} stands for the values of a range", True),
    "routings": _texts("specs of routings, on every topology"),
    "measures": Key(
        {"type": "array", "items": {"anyOf": [_plain(), *map(_measure_schema, MEASURES)]}, "minItems": 1},
        "what is computed: names, or tables with options; an option with a list of values gives a cell for each",
        True,
    ),
    "ranges": Key(
        {"type": "object", "additionalProperties": _RANGE},
        'values of the names in braces: "4..16", "4..16 step 2", or a list',
    ),
    "seeds": Key(
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        "random seeds of measures with chance (default: 0)",
    ),
    "only": _filters("cells to keep"),
    "skip": _filters("cells to leave out"),
    "imports": _texts("Python files to run first, which register your own topologies, routings, patterns"),
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study files.

    Examples
    --------
    >>> schema()["required"]
    ['topologies', 'measures']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A study of obliv: topologies x routings x measures",
        "type": "object",
        "properties": {name: key.schema | {"description": key.summary} for name, key in KEYS.items()},
        "required": [name for name, key in KEYS.items() if key.required],
        "additionalProperties": False,
    }
