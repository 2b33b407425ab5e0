"""Reading a study file (TOML, checked strictly, expanded to cells), and the files behind its cells."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from obliv._util.text import did_you_mean, shown
from obliv._util.toml import line_of, read_toml
from obliv.errors import FileError, SpecError
from obliv.specs.registry import registry, run_files, split_mix
from obliv.study.measures import FILTER, MEASURES, Cell, Option, keys

# The files behind the cells of a study: those that specs name, and Python files that register names


#: What may begin and end the name of a file in a spec.
_BREAK = re.compile(r"[:,=*+]")


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a file; FileError if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None


class Named(NamedTuple):
    """The files that a spec names, with those of Python that register its names; and of these, those to be run."""

    files: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def files_of(kind: str, spec: str) -> Named:
    """Return the files behind a spec."""
    files: list[str] = []
    imports: list[str] = []
    for _, part in split_mix(spec, partial=True) or [(Fraction(1), spec)]:
        make = registry(kind).find(part.partition(":")[0].strip()).make
        module = getattr(make, "__module__", "")
        if not module.startswith("obliv.") and (own := _source_of(make)):
            files.append(own)
            imports += [own] * (module not in sys.modules)  # modules are imported by their names
        files += _named_files(part)
    return Named(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(imports)))


def _source_of(make: Any) -> str:
    """Return the Python file where a factory is defined; empty where there is none."""
    functions = [make, *vars(make).values()] if inspect.isclass(make) else [make]
    names = (function.__code__.co_filename for function in functions if hasattr(function, "__code__"))
    return next((name for name in names if os.path.isfile(name)), "")


def _named_files(spec: str) -> Iterable[str]:
    """Yield what stands in a spec between separators and is the name of a file."""
    starts = [0, *(match.end() for match in _BREAK.finditer(spec))]
    for start in starts[1:]:
        ends = [match.start() for match in _BREAK.finditer(spec, start)]
        for end in (*ends, len(spec)):
            name = spec[start:end].strip()
            if name and os.path.isfile(name):
                yield name


_NAME = re.compile(r"\{(\w+)\}")
_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})(?: step ([1-9]\d{0,17}))?")
_MOST = 1_000_000  # cells


@dataclass(frozen=True)
class Plan:
    """The cells of a study, in order, with its name.

    Parameters
    ----------
    name : str
    cells : tuple of Cell
    path : str
        The file that it was read from, for messages; empty if it was made in Python.
    text : str
        The content of that file.
    imports : tuple of str
        Python files that every process runs first.
    """

    name: str
    cells: tuple[Cell, ...]
    path: str = ""
    text: str = ""
    imports: tuple[str, ...] = ()


def read(path: str | Path) -> Plan:
    """Read a study file.

    Parameters
    ----------
    path : path-like
        TOML; ``obliv.study.schema()`` describes it.

    Returns
    -------
    Plan
        All cells: topologies x routings x measures, without those that filters leave out.

    Raises
    ------
    FileError
        With the line: unknown keys and names, values of another type, empty axes, filters that select nothing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = 'topologies = ["mesh:{k}x{k}"]' + chr(10) + 'routings = ["dor"]' + chr(10) + 'measures = ["worst"]'
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "small.study.toml"
    ...     _ = file.write_text(text + chr(10) + '[ranges]' + chr(10) + 'k = "3..5"')
    ...     plan = read(file)
    >>> plan.name, [str(cell) for cell in plan.cells]
    ('small', ['worst: dor on mesh:3x3', 'worst: dor on mesh:4x4', 'worst: dor on mesh:5x5'])
    """
    content, text, _ = read_toml(path)
    file = _File(Path(path), text)
    _check(file, content)
    _run_imports(file, content.get("imports", ()))
    name = content.get("name") or re.sub(r"(\.study)?\.toml$", "", Path(path).name)
    inputs = _Inputs(file)
    cells = tuple(_filtered(file, content, _cells(file, content, inputs)))
    imports = dict.fromkeys([*content.get("imports", ()), *inputs.imports])
    return Plan(name, cells, str(path), text, tuple(imports))


def _run_imports(file: _File, names: Iterable[str]) -> None:
    try:
        run_files(names)
    except FileError as error:
        if error.line is None and not os.path.isfile(str(error.path)):
            file.refuse(str(error), "imports", str(error.path))
        raise


@dataclass(frozen=True)
class _File:
    """A study file, for messages."""

    path: Path
    text: str

    def refuse(self, message: str, *words: str) -> NoReturn:
        """Raise an error at the line of the last of `words`."""
        raise FileError(message, self.path, line_of(self.text, *words))


def _check(file: _File, content: Mapping[str, Any]) -> None:
    """Check keys and types, measures and options apart."""
    _require_known(file, content, keys(), "key")
    for name, key in keys().items():
        if name not in content and key.required:
            raise FileError(f"{name} is missing: write for example {_EXAMPLES[name]}", file.path)
        if name in content:
            _check_value(file, name, content[name], key.schema)
    for name, values in content.get("ranges", {}).items():
        _values(file, name, values)
    for kind in ("only", "skip"):
        for table in content.get(kind, ()):
            if not table:
                file.refuse(f"an empty filter selects nothing: write for example {_EXAMPLES[kind]}", kind)
            _require_known(file, table, FILTER, "key of a filter", kind)
            for key, words in table.items():
                if not words or not all(isinstance(word, str) for word in _several(words)):
                    file.refuse(f"{key} of a filter must be a pattern or a list of patterns", kind, key)


_EXAMPLES = {
    "topologies": 'topologies = ["mesh:8x8"]',
    "routings": 'routings = ["dor", "o1turn"]',
    "measures": 'measures = ["worst", "hops"]',
    "seeds": "seeds = [0, 1]",
    "ranges": '[ranges] k = "4..16"',
    "imports": 'imports = ["own.py"]',
    "name": 'name = "meshes"',
    "only": '[[only]] topology = "mesh:*"',
    "skip": '[[skip]] routing = "romm*"',
}

_TYPES: dict[str, type[Any]] = {"string": str, "integer": int, "object": dict, "array": list}
_NAMES = {"string": "text", "integer": "whole numbers", "object": "tables"}


def _check_value(file: _File, name: str, value: Any, schema: Mapping[str, Any]) -> None:
    if not isinstance(value, _TYPES[schema["type"]]):
        what = {"array": "a list", "object": "a table", "string": "text"}[schema["type"]]
        file.refuse(f"{name} must be {what}: write for example {_EXAMPLES[name]}", name)
    if schema["type"] in ("array", "string") and not value:
        file.refuse(f"{name} is empty: write for example {_EXAMPLES[name]}", name)
    kind = schema["items"].get("type", "") if schema["type"] == "array" else ""
    for item in value if kind else ():
        if not isinstance(item, _TYPES[kind]) or isinstance(item, bool) or not str(item).strip():
            file.refuse(f"{name} must be a list of {_NAMES[kind]}: write for example {_EXAMPLES[name]}", name)
        if name == "seeds" and not 0 <= item < 2**63:
            file.refuse(f"seed {shown(str(item))}: a random seed must be 0 or more, and below 2^63 in a study", name)


def _require_known(file: _File, table: Mapping[str, Any], known: Iterable[str], what: str, *place: str) -> None:
    for key in table:
        if key not in known:
            file.refuse(f"unknown {what} {key!r}: {did_you_mean(key, known)}", *place, key)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _values(file: _File, name: str, values: Any) -> list[str]:
    """Return the values of a range as text."""
    if isinstance(values, str) and (match := _RANGE.fullmatch(values.strip())):
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if last < first:
            file.refuse(f"the range {name} is empty: {values} ends before it begins", "ranges", name)
        if (last - first) // step >= _MOST:
            file.refuse(f"the range {name} has more than {_MOST:,} values", "ranges", name)
        return [str(value) for value in range(first, last + 1, step)]
    if not isinstance(values, list) or any(isinstance(v, bool) or not isinstance(v, int | str) for v in values):
        hint = 'write "4..16", "4..16 step 2" or a list such as [4, 8, 16]'
        file.refuse(f"invalid range {name} = {shown(str(values))}: {hint}", "ranges", name)
    if not all(str(value).strip() for value in values):
        file.refuse(f"the range {name} has an empty value: leave it out", "ranges", name)
    if not values:
        file.refuse(f"the range {name} is empty: write for example [4, 8, 16]", "ranges", name)
    return [str(value) for value in values]


def _cells(file: _File, content: Mapping[str, Any], inputs: _Inputs) -> Iterator[Cell]:
    """Yield the cells in order, those of a topology alone again for each routing."""
    ranges = {name: _values(file, name, values) for name, values in content.get("ranges", {}).items()}
    measures = [part for value in content["measures"] for part in _expanded(_measure(file, value))]
    routings, seeds = content.get("routings", []), content.get("seeds", [0])
    of_routings = [name for name, _ in measures if MEASURES[name].of_routing]
    if not routings and of_routings:
        example = _EXAMPLES["routings"]
        file.refuse(f"{of_routings[0]} needs routings: write for example {example}", "measures", of_routings[0])
    if routings and not of_routings:
        file.refuse("no measure is about routings: leave them out, or add for example worst", "routings")
    if "seeds" in content and not any(MEASURES[name].random for name, _ in measures):
        file.refuse("no measure is random: leave the seeds out", "seeds")
    _require_count(file, ranges, content["topologies"], routings, measures, len(seeds))
    used: set[str] = set()
    for topology, routing, fixed in _places(file, ranges, used, content["topologies"], routings or [""]):
        for name, options in measures:
            given = routing if MEASURES[name].of_routing else ""
            texts = [value for value in options.values() if isinstance(value, str)]
            for values in _assignments(file, ranges, used, *texts, fixed=fixed):
                for seed in seeds if MEASURES[name].random else [None]:
                    chosen = _converted(file, name, options, values)
                    specs = _filled(topology, values), _filled(given, values) or None
                    named = {"topology": (specs[0], topology), "routing": (specs[1] or "", given)}
                    if isinstance(options.get("traffic"), str) and options["traffic"] != "worst":  # of the routing
                        named["traffic"] = chosen["traffic"], options["traffic"]
                    yield Cell(*specs, name, chosen, seed, inputs.of(named))
    for name in ranges:
        if name not in used:
            file.refuse(f"the range {name} is not used: write {{{name}}} in a spec", "ranges", name)


def _require_count(
    file: _File,
    ranges: Mapping[str, list[str]],
    topologies: list[str],
    routings: list[str],
    measures: list[tuple[str, dict[str, Any]]],
    seeds: int,
) -> None:
    """Refuse a study of far too many cells before any of them is made."""
    count = 0
    for name, options in measures:
        texts = [value for value in options.values() if isinstance(value, str)]
        for topology, routing in product(topologies, routings if MEASURES[name].of_routing else [""]):
            names = {found for text in (topology, routing, *texts) for found in _NAME.findall(text)}
            count += prod(len(ranges.get(found, "-")) for found in names) * (seeds if MEASURES[name].random else 1)
    if count > _MOST:
        raise FileError(f"{count:,} cells, more than {_MOST:,}: use smaller ranges", file.path)


def _places(
    file: _File, ranges: Mapping[str, list[str]], used: set[str], topologies: list[str], routings: list[str]
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield each topology with each routing, and the values of the names in them."""
    for topology in topologies:
        for network in _assignments(file, ranges, used, topology):
            for routing in routings:
                for values in _assignments(file, ranges, used, routing, fixed=network):
                    yield topology, routing, values


class _Inputs:
    """The files behind specs, each read once; unknown names are refused at the line of their spec."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._digests: dict[str, str] = {}
        self._named: dict[tuple[str, str], Named] = {}

    @property
    def imports(self) -> list[str]:
        """The Python files of users that register names in the specs."""
        return [path for named in self._named.values() for path in named.imports]

    def of(self, specs: Mapping[str, tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return the files of specs, each given by kind with the text in the file that it comes from."""
        files: dict[str, None] = {}
        for kind, (spec, text) in specs.items():
            if not spec:
                continue
            if (kind, spec) not in self._named:
                try:
                    self._named[kind, spec] = files_of(kind, spec)
                except SpecError as error:
                    self._file.refuse(str(error), text)
            files |= dict.fromkeys(self._named[kind, spec].files)
        for path in files.keys() - self._digests.keys():
            self._digests[path] = sha256_of(path)
        return tuple((path, self._digests[path]) for path in files)


def _assignments(
    file: _File,
    ranges: Mapping[str, list[str]],
    used: set[str],
    *texts: str,
    fixed: Mapping[str, str] | None = None,
) -> Iterator[dict[str, str]]:
    """Yield the values of the names in braces in some texts, besides those that are fixed."""
    fixed = fixed or {}
    names = dict.fromkeys(name for text in texts for name in _NAME.findall(text))
    for name in names:
        if name not in ranges:
            text = next(text for text in texts if f"{{{name}}}" in text)
            hint = did_you_mean(name, ranges) if ranges else f'add  [ranges] {name} = "4..16"'
            file.refuse(f"{text} has no range {name}: {hint}", text)
    used.update(names)
    free = [name for name in names if name not in fixed]
    for values in product(*(ranges[name] for name in free)):
        yield {**fixed, **dict(zip(free, values, strict=True))}


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda match: values[match[1]], text).strip()


def _measure(file: _File, given: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a measure and its options, whose lists are to be expanded."""
    table = {"measure": given} if isinstance(given, str) else given
    if not isinstance(table, dict):
        file.refuse(f"measures must be names or tables: write for example {_EXAMPLES['measures']}", "measures")
    name = table.get("measure")
    if not isinstance(name, str):
        file.refuse('a measure has no name: write for example { measure = "average", samples = 1000 }', "measures")
    if name not in MEASURES:
        file.refuse(f"unknown measure {shown(name)}: {did_you_mean(name, MEASURES)}", "measures", name)
    known = MEASURES[name].options
    for option, value in table.items():
        if option == "measure":
            continue
        if option not in known:
            takes = did_you_mean(option, known) if known else "it takes no options"
            file.refuse(f"{name} has no option {option!r}: {takes}", "measures", option)
        if value == []:
            file.refuse(f"the option {option} of {name} is empty: give one value or more", "measures", option)
        for one in _several(value):
            _require_option(file, name, option, known[option], one)
    for option, how in known.items():
        if how.required and option not in table:
            file.refuse(
                f'{name} needs {option}: write for example {{ measure = "{name}", {option} = "transpose" }}',
                "measures",
                name,
            )
    return name, {option: value for option, value in table.items() if option != "measure"}


def _require_option(file: _File, name: str, option: str, how: Option, value: Any) -> None:
    """Refuse a value that an option cannot have; names in braces are replaced later."""
    if isinstance(value, str) and _NAME.search(value):
        return
    if how.choices and value not in how.choices:
        hint = did_you_mean(str(value), how.choices)
        file.refuse(f"{option} of {name} is {shown(str(value))}: {hint}", "measures", option)
    if not isinstance(value, how.kind) or (isinstance(value, bool) and how.kind is not bool) or value == "":
        kind = {int: "a whole number", bool: "true or false", str: "text"}[how.kind]
        file.refuse(f"{option} of {name} is {shown(str(value))}: it must be {kind}", "measures", option)
    if how.least is not None and value < how.least:
        file.refuse(f"{option} of {name} is {value}: it must be at least {how.least}", "measures", option)


def _expanded(measure: tuple[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a measure with each combination of its options' values."""
    name, options = measure
    for values in product(*map(_several, options.values())):
        yield name, dict(zip(options, values, strict=True))


def _converted(file: _File, name: str, options: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return options with the values of ranges, without those that are the default."""
    converted: dict[str, Any] = {}
    for option, value in options.items():
        how = MEASURES[name].options[option]
        if isinstance(value, str) and _NAME.search(value):
            value = _filled(value, values)
            if how.kind is int and re.fullmatch(r"-?\d{1,18}", value):
                value = int(value)
            _require_option(file, name, option, how, value)
        if value != how.default:
            converted[option] = value
    return converted


def _filtered(file: _File, content: Mapping[str, Any], cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that filters keep, each once; refuse filters without effect, and a study without cells."""
    kept = []
    seen: set[str] = set()
    for cell in cells:
        if cell.key not in seen:
            seen.add(cell.key)
            kept.append(cell)
        if len(kept) > _MOST:
            raise FileError(f"more than {_MOST:,} cells: use smaller ranges", file.path)
    for kind in ("only", "skip"):
        filters = content.get(kind, ())
        for table in filters:
            if not any(_selects(table, cell) for cell in kept):
                what = ", ".join(f"{key} = {words}" for key, words in table.items())
                word = next(iter(_several(next(iter(table.values())))))
                file.refuse(f"the filter {kind} selects no cell ({what}): leave it out or correct it", kind, word)
        if filters:
            kept = [cell for cell in kept if any(_selects(table, cell) for table in filters) == (kind == "only")]
    if not kept:
        raise FileError("the filters leave no cell", file.path)
    return kept


def _selects(table: Mapping[str, Any], cell: Cell) -> bool:
    return all(
        any(fnmatchcase(getattr(cell, key) or "", pattern) for pattern in _several(words))
        for key, words in table.items()
    )
