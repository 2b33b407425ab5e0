"""Verbs made from the signature and the docstring of a capability's function."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer

from obliv.capabilities import Capability, load
from obliv.cli.options import Seed, TopologySpec
from obliv.cli.output import Answer, ClaimAnswer, Picture, progress
from obliv.cli.specs import Specs, read_topology, read_traffic, seeded
from obliv.results.base import PICTURES

_GIVEN = ("progress", "certificate", "rng")  # parameters that are no options of their own
_TrafficWord = Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example random-permutation:seed=1.")]


def verb_of(one: Capability) -> Callable[..., None]:
    """Return the verb of a capability.

    Its function takes a topology or a routing, then traffic if it needs some, and keywords. They become options, whose
    help is the first sentence that the docstring says of them; ``rng`` becomes ``--seed``, and ``certificate`` is true
    where the answer is saved.
    """
    function = load(one.function)
    takes = inspect.signature(function).parameters
    keywords = [parameter for parameter in takes.values() if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    options = {parameter.name: parameter for parameter in keywords if parameter.name not in _GIVEN}
    claims, routed = _has(function, "certificate"), "routing" in takes

    def call(**values: Any) -> None:
        picture, answer = values.get("picture", Picture()), values["answer"]
        picture.require()
        outputs = answer.output, picture.plot
        subject: Any = values["specs"].read(*outputs) if routed else read_topology(values["topology"], *outputs)
        given = [subject]
        chosen = {
            name: values[name] or () if _several(parameter) else values[name] for name, parameter in options.items()
        }
        if "traffic" in takes:
            needed = "--samples" if "rng" in takes and not chosen.get("samples") else ""
            specs = [values["words"]]
            if "rng" in takes:
                specs = seeded(specs, values["context"], values["seed"], needed=needed)
            worst = routed and specs == ["worst"]  # of the routing, which the function finds
            given += specs if worst else read_traffic(specs, getattr(subject, "topology", subject), *outputs)
        chosen |= {"rng": values["seed"]} if "rng" in takes else {}
        if "certificate" in takes:
            chosen["certificate"] = answer.certificate or answer.output is not None
        with progress() as step, answer.best_so_far():
            result = function(*given, **chosen, **({"progress": step} if "progress" in takes else {}))
        (answer.show_claim if claims else answer.show)(result)
        picture.save(result.plot)
        if getattr(result, "contradicted", False):
            raise typer.Exit(1)

    kinds: dict[str, Any] = {"specs": Specs} if routed else {"topology": TopologySpec}
    kinds |= {"words": _TrafficWord} if "traffic" in takes else {}
    parameters = [_parameter(name, kind) for name, kind in kinds.items()]
    about, choices = _described(function)
    for name, parameter in options.items():
        kind = _option(parameter, about.get(name, ""), choices.get(name, ()), inspect.unwrap(function).__globals__)
        default = None if _several(parameter) else parameter.default
        parameters.append(parameter.replace(annotation=kind, default=default))
    drawn = one.draw or any(_has(function, picture) for picture in PICTURES)
    more: dict[str, Any] = {"picture": Picture} if drawn else {}
    more |= {"context": typer.Context} if "rng" in takes else {}
    parameters += [_parameter(name, kind) for name, kind in more.items()]
    parameters += [_parameter("seed", Seed, 0)] if "rng" in takes else []
    parameters.append(_parameter("answer", ClaimAnswer if claims else Answer))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__name__ = one.name
    call.__doc__ = _help(one, function, kinds)
    return call


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _help(one: Capability, function: Callable[..., Any], kinds: dict[str, Any]) -> str:
    """Return the help of a verb: the summary, what the docstring says before its sections, and examples."""
    text = inspect.getdoc(function) or ""
    rest = re.split(r"\n\n?\w[\w ]*\n-{3,}\n", text, maxsplit=1)[0].partition("\n\n")[2]
    said = [f"obliv {one.name} {line}" for line in one.example.splitlines()]
    words = ["mesh:4x4", *(["dor"] if "specs" in kinds else []), *(["transpose"] if "words" in kinds else [])]
    examples = said or [" ".join(["obliv", one.name, *words])]
    return "\n\n".join(filter(None, [one.summary, rest, *(f"Example: {line}" for line in examples)]))


def _has(function: Callable[..., Any], name: str) -> bool:
    """Return whether the result of a function has an attribute, such as a certificate."""
    made = function.__annotations__.get("return", "")
    return hasattr(inspect.unwrap(function).__globals__.get(made, made) if isinstance(made, str) else made, name)


def _described(function: Callable[..., Any]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the first sentence of what a docstring says of every parameter, and the words that it may be."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n-+|\Z)", inspect.getdoc(function) or "", re.DOTALL)
    about: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for entry in re.split(r"\n(?=\S)", section[1]) if section else ():
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        plain = re.sub(r"`{1,2}([^`]*)`{1,2}", r"\1", " ".join(text.split()))
        for name in names.split(", "):
            about[name] = re.split(r"(?<=[.;]) ", plain, maxsplit=1)[0].rstrip(";")
            choices[name] = tuple(re.findall(r'"([^"]*)"', kind)) if kind.startswith("{") else ()
    return about, choices


def _several(parameter: inspect.Parameter) -> bool:
    """Return whether an option may be repeated."""
    return isinstance(parameter.default, tuple | list)


def _option(parameter: inspect.Parameter, text: str, choices: Sequence[str], names: dict[str, Any]) -> Any:
    """Return the annotation of an option."""
    hint = parameter.annotation
    if isinstance(hint, str):
        hint = eval(hint, names | {"Sequence": Sequence, "Literal": Literal})
    kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
    if choices:
        hint = Literal[tuple(choices)]
    elif typing.get_origin(hint) in (types.UnionType, typing.Union):
        hint = (kinds[0] if len(kinds) == 1 else str) | None
    elif _several(parameter):
        hint = list[str] | None
    return Annotated[hint, typer.Option(f"--{parameter.name.rstrip('_').replace('_', '-')}", help=text)]
