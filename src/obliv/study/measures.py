"""Measures of a study, what a study file may contain, and its cells: one measure of one routing on one topology.

A measure is a function; its first parameter says what it is about, its keywords are its options. Reading a study file,
the published schema and the calls follow from the signatures.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import obliv
from obliv._util.progress import Progress
from obliv.capabilities import Parts

if TYPE_CHECKING:
    from obliv.results.base import Result
    from obliv.routings.base import Routing
    from obliv.topologies.base import Topology


class Least(NamedTuple):
    """The smallest value of an option, as an annotation."""

    value: int


class Option(NamedTuple):
    """An option of a measure: its type, what it may be, and its default."""

    kind: type[Any]
    choices: tuple[str, ...] = ()
    least: int | None = None
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


#: What a measure shows in the table of a study: the value, or several by name.
Headline = Callable[[Any, Mapping[str, Any]], dict[str, Any]]


def _require_nothing(subject: Any, options: Mapping[str, Any]) -> None:
    """Accept every topology and routing."""


def _rows(result: Any) -> Iterable[Mapping[str, Any]]:
    rows: Iterable[Mapping[str, Any]] = result.rows()
    return rows


@dataclass(frozen=True)
class Measure:
    """A function that computes a result, what the table shows of it, and the version of its method.

    `require` raises an error where the measure cannot be computed; `claims` says whether results can be verified.
    Raise `version` when answers change: stored cells are then computed again.
    """

    compute: Callable[..., Any]
    headline: Headline
    require: Callable[[Any, Mapping[str, Any]], None] = _require_nothing
    rows: Callable[[Any], Iterable[Mapping[str, Any]]] = _rows
    claims: bool = False
    version: int = 1

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @property
    def of_routing(self) -> bool:
        """Whether it is about a routing, not about a topology alone."""
        return next(iter(inspect.signature(self.compute).parameters)) == "routing"

    @property
    def random(self) -> bool:
        """Whether chance has a part, so that it has a seed."""
        return "seed" in inspect.signature(self.compute).parameters

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options by name, the seed apart."""
        parameters = inspect.signature(self.compute).parameters.values()
        return {
            parameter.name: _option(_hint(self.compute, parameter.annotation), parameter.default)
            for parameter in parameters
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name != "seed"
        }


def _hint(function: Any, annotation: Any) -> Any:
    """Return an annotation of a function, which may be a text."""
    names = getattr(function, "names", function.__globals__)
    return eval(annotation, names) if isinstance(annotation, str) else annotation


def _option(hint: Any, default: Any) -> Option:
    least = None
    if default is None:  # TYPE | None
        hint = next(kind for kind in typing.get_args(hint) if kind is not type(None))
    if typing.get_origin(hint) is Annotated:
        hint, least = hint.__origin__, next(note.value for note in hint.__metadata__ if isinstance(note, Least))
    if typing.get_origin(hint) is Literal:
        return Option(str, typing.get_args(hint), None, default)
    return Option(hint, (), least, default)


def worst(routing: Routing, progress: Progress, *, symmetry: Literal["auto", "search", "off"] = "auto") -> Result:
    """Compute the exact worst case, with its certificate."""
    return obliv.worst_case(routing, symmetry=symmetry, certificate=True, progress=progress)


def average(
    routing: Routing,
    progress: Progress,
    *,
    samples: Annotated[int, Least(2)] = 100_000,
    ensemble: str = "permutations",
    seed: int = 0,
) -> Result:
    """Estimate the average throughput over random traffic, with its standard error."""
    return obliv.average_case(routing, samples, seed, ensemble=ensemble, jobs=1, progress=progress)


def throughput(routing: Routing, progress: Progress, *, traffic: str) -> Result:
    """Compute the exact throughput of a traffic pattern."""
    return obliv.throughput(routing, traffic, progress=progress)


def ratio(routing: Routing, progress: Progress, *, traffic: str | None = None) -> Result:
    """Compute the oblivious performance ratio, or the ratio under one traffic, with its certificate."""
    from obliv.questions.ratio import has_base_load

    if traffic is None:
        return obliv.ratio(routing, certificate=True, progress=progress)
    proof = not has_base_load(routing.topology)
    return obliv.traffic_ratio(routing, traffic, certificate=proof, progress=progress)


def deadlock(routing: Routing, progress: Progress, *, vc: str = "none") -> Result:
    """Find out whether packets can deadlock under a virtual-channel scheme, or the scheme with the fewest channels."""
    if vc == "fewest":
        return obliv.fewest_virtual_channels(routing, progress=progress)
    return obliv.deadlock(routing, vc, progress=progress)


def hops(routing: Routing, progress: Progress) -> Result:
    """Compute the mean hops and the distribution of path lengths."""
    return obliv.locality(routing, progress=progress)


def design(
    topology: Topology,
    progress: Progress,
    *,
    objective: Literal["worst", "ratio"] = "worst",
    max_hops: str | None = None,
    max_turns: Annotated[int, Least(0)] | None = None,
    paths: Annotated[int, Least(1)] | None = None,
    minimal: bool = False,
) -> Result:
    """Design the best routing with a certified gap: least worst case, or least oblivious performance ratio."""
    return obliv.design(
        topology,
        objective=objective,
        max_hops=max_hops,
        max_turns=max_turns,
        paths=paths,
        minimal=minimal,
        progress=progress,
    )


def bounds(topology: Topology, progress: Progress) -> Result:
    """Bound the least loads that any routing can attain."""
    return obliv.bounds(topology, progress=progress)


def simulate(
    routing: Routing,
    progress: Progress,
    *,
    traffic: str = "uniform",
    router: Literal["ideal", "lean"] = "ideal",
    seeds: Annotated[int, Least(2)] = 3,
) -> Result:
    """Find the highest stable rate in BookSim2, whose program the environment variable BOOKSIM names."""
    return obliv.simulate(routing, traffic, router=router, seeds=seeds, progress=progress)


def throughput_of(result: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the throughput of a result."""
    return {"": result.throughput}


def _deadlock(result: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    if hasattr(result, "fewest"):
        return {"": None if result.fewest is None else f"{result.fewest} by {result.best}"}
    return {"": "free" if result.acyclic else "possible"}


def _design(result: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("objective") == "ratio":
        return {"ratio": result.ratio, "hops": result.hops}
    return {"": result.throughput, "hops": result.hops}


def _require_traffic(routing: Any, options: Mapping[str, Any]) -> None:
    if "traffic" in options:
        obliv.traffic(options["traffic"], routing.topology)


def _require_simulated(routing: Any, options: Mapping[str, Any]) -> None:
    if options.get("traffic") != "worst":
        _require_traffic(routing, options)


def _require_ensemble(routing: Any, options: Mapping[str, Any]) -> None:
    from obliv.questions.average import require_ensemble

    require_ensemble(options.get("ensemble", "permutations"))


def _require_options(topology: Any, options: Mapping[str, Any]) -> None:
    from obliv.designs.optimize import require_options

    limits = {name: value for name, value in options.items() if name not in ("objective", "minimal")}
    require_options(options.get("objective", "worst"), limits)


def _require_scheme(routing: Any, options: Mapping[str, Any]) -> None:
    from obliv.questions.deadlocks.deadlock import require_scheme

    if options.get("vc", "none") not in ("fewest", "lanes"):
        require_scheme(routing, options.get("vc", "none"))


WORST = Measure(worst, throughput_of, claims=True)
AVERAGE = Measure(average, throughput_of, _require_ensemble)
THROUGHPUT = Measure(throughput, lambda result, _: {"": result.patterns[0].throughput}, _require_traffic)
RATIO = Measure(ratio, lambda result, _: {"": result.ratio}, _require_traffic, claims=True)
DEADLOCK = Measure(deadlock, _deadlock, _require_scheme)
HOPS = Measure(
    hops,
    lambda result, _: {"": result.hops},
    rows=lambda result: [{"hops": result.hops, "minimal_hops": result.minimal_hops}],
)
DESIGN = Measure(design, _design, _require_options, claims=True)
SIMULATE = Measure(simulate, lambda result, _: {"": result.measured, "predicted": result.predicted}, _require_simulated)
_BOUNDS = ("capacity", "oblivious", "adaptive", "bisection")
BOUNDS = Measure(bounds, lambda result, _: {name: getattr(result, name) for name in _BOUNDS}, claims=True)


def _first(result: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first figure of a result."""
    return {"": next(value for name, value in result.cells().items() if name not in ("topology", "routing"))}


def _of_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a measure for one of a topology or a routing, options, ``rng`` and ``progress``."""
    takes = inspect.signature(function).parameters
    subject, keyword = next(iter(takes.values())), inspect.Parameter.KEYWORD_ONLY
    plain = ("progress", "certificate", "rng")

    def compute(it: Any, progress: Progress, *, seed: int | None = None, **options: Any) -> Any:
        given = {"progress": progress, "certificate": True, "rng": seed}
        return function(it, **options, **{name: given[name] for name in plain if name in takes})

    options = [parameter for parameter in takes.values() if parameter.kind is keyword and parameter.name not in plain]
    step = inspect.Parameter("progress", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    seeds = [inspect.Parameter("seed", keyword, default=0)] if "rng" in takes else []
    compute.__signature__ = inspect.Signature([subject, step, *options, *seeds])  # type: ignore[attr-defined]
    compute.__doc__ = function.__doc__
    compute.__dict__["names"] = function.__globals__
    return compute


class _Measures(Parts):
    """All measures by name; a plain function is one that shows the first figure of its result."""

    def __getitem__(self, name: str) -> Measure:
        found = super().__getitem__(name)
        return found if isinstance(found, Measure) else Measure(_of_function(found), _first)


MEASURES: Mapping[str, Measure] = _Measures("measure")


# What a study file may contain: declared once, for reading it and for the JSON Schema


class FileKey(NamedTuple):
    """A key of a study file: the JSON Schema of its value, what it is for, and whether it must be there."""

    schema: dict[str, Any]
    summary: str
    required: bool = False


def _texts(summary: str, required: bool = False) -> FileKey:
    items = {"type": "string", "minLength": 1}
    return FileKey({"type": "array", "items": items, "minItems": 1}, summary, required)


_RANGE = {
    "anyOf": [
        {"type": "string", "pattern": r"^-?[0-9]+\.\.-?[0-9]+( step [1-9][0-9]*)?$"},
        {"type": "array", "items": {"type": ["integer", "string"]}, "minItems": 1},
    ]
}

_WORDS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

#: The keys of a filter: patterns with * and ? of what it selects.
FILTER = {
    "topology": FileKey(_WORDS, "patterns of topologies"),
    "routing": FileKey(_WORDS, "patterns of routings"),
    "measure": FileKey(_WORDS, "names of measures"),
}


def _filters(summary: str) -> FileKey:
    table = {
        "type": "object",
        "properties": {name: key.schema | {"description": key.summary} for name, key in FILTER.items()},
        "additionalProperties": False,
        "minProperties": 1,
    }
    return FileKey({"type": "array", "items": table, "minItems": 1}, summary)


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


@cache
def keys() -> dict[str, FileKey]:
    """Return the keys of a study file."""
    return {
        "name": FileKey({"type": "string", "minLength": 1}, "name of the study (default: that of the file)"),
        "topologies": _texts("specs of topologies; {k} stands for the values of a range", True),
        "routings": _texts("specs of routings, on every topology"),
        "measures": FileKey(
            {"type": "array", "items": {"anyOf": [_plain(), *map(_measure_schema, MEASURES)]}, "minItems": 1},
            "what is computed: names, or tables with options; an option with a list of values gives a cell for each",
            True,
        ),
        "ranges": FileKey(
            {"type": "object", "additionalProperties": _RANGE},
            'values of the names in braces: "4..16", "4..16 step 2", or a list',
        ),
        "seeds": FileKey(
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
        "properties": {name: key.schema | {"description": key.summary} for name, key in keys().items()},
        "required": [name for name, key in keys().items() if key.required],
        "additionalProperties": False,
    }


# A cell of a study: one measure of one routing on one topology, with the key under which its result is stored


@dataclass(frozen=True)
class Cell:
    """One measure of one routing on one topology.

    Parameters
    ----------
    topology : str
        Spec of the topology.
    routing : str, optional
        Spec of the routing; None for a measure of the topology alone.
    measure : str
    options : dict
        Those that the file sets.
    seed : int, optional
        None for a measure without chance.
    files : tuple of (path, SHA-256)
        The files that the specs name, and the Python files that register them.

    Examples
    --------
    >>> cell = Cell("mesh:4x4", "dor", "worst")
    >>> cell.key == Cell("mesh:4x4", "dor", "worst").key, cell.key == Cell("mesh:4x4", "dor", "hops").key
    (True, False)
    """

    topology: str
    routing: str | None
    measure: str
    options: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    files: tuple[tuple[str, str], ...] = ()

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def method(self) -> Measure:
        """The measure behind the name."""
        return MEASURES[self.measure]

    @cached_property
    def identity(self) -> str:
        """What is computed, as canonical JSON, whatever is in the files."""
        return json.dumps(
            [self.topology, self.routing, self.measure, self.options, self.seed], sort_keys=True, ensure_ascii=True
        )

    @cached_property
    def key(self) -> str:
        """SHA-256 of what determines the result: the specs, the options, the files, the version of the method."""
        files = sorted(self.files)
        text = json.dumps([self.identity, self.method.version, files], ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __str__(self) -> str:
        where = f"{self.routing} on {self.topology}" if self.routing is not None else self.topology
        options: Mapping[str, Any] = self.options | ({} if self.seed in (None, 0) else {"seed": self.seed})
        more = "".join(f" {name}={value}" for name, value in options.items())
        return f"{self.measure}{more}: {where}"
