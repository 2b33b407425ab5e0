"""``obliv plot``: pictures of a topology, of channel loads, of a worst permutation, of saved results."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from obliv._util.text import did_you_mean
from obliv.cli.app import group
from obliv.cli.options import TopologySpec, TrafficOption
from obliv.cli.output import Looks, progress, require_outputs
from obliv.cli.specs import Specs, one_traffic, read_traffic
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results import Result

__all__ = ["app"]

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


def topology_(topology: TopologySpec, output: Output, looks: Looks) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    looks.require(output)
    require_outputs(output)
    network = obliv.topology(topology)
    looks.save(lambda: view.plot_topology(network), output)


def loads(
    specs: Specs,
    words: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    output: Output,
    looks: Looks,
    traffic: TrafficOption = None,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    from obliv import view

    looks.require(output)
    spec = one_traffic(words, traffic)
    routing = specs.read(output)
    looks.save(lambda: view.plot_loads(routing, read_traffic([spec], routing.topology, output)[0]), output)


def worst(
    specs: Specs,
    output: Output,
    looks: Looks,
    kind: Annotated[Literal["network", "matrix"], typer.Option("--kind", help="network, or matrix.")] = "network",
) -> None:
    """Draw the worst traffic and its channel loads.

    Example: obliv plot worst torus:9x9 romm -o worst.png
    """
    from obliv import view
    from obliv.analysis.worst_case.exact import worst_case

    looks.require(output)
    routing = specs.read(output)
    with progress() as step:
        result = worst_case(routing, progress=step)
    looks.save(lambda: view.plot_worst(result, kind), output)


def result(
    saved: Annotated[Path, typer.Argument(metavar="RESULT", help="Result that --output saved (.json or .json.gz).")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Picture to write (.png, .svg or .pdf).")],
    *,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help='Title (default: what it is about; "" = none).')
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="SPEC=NAME", help="Name to write for a routing or topology; may be repeated."),
    ] = None,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="KIND", help="One of several pictures, such as matrix or bars.")
    ] = None,
    looks: Looks,
) -> None:
    """Draw a saved result.

    Example: obliv plot result compare.json bars.pdf --title "Mesh 8x8" --label romm="ROMM, 2 VCs"
    """
    import inspect

    import obliv
    from obliv.view.dispatch import drawing_of

    looks.require(file)
    require_outputs(file, inputs=[(str(saved), "")])
    answer = obliv.load(saved)
    drawing = drawing_of(answer)
    options: dict[str, Any] = {} if title is None else {"title": title or False}
    if picture is not None:
        if "kind" not in inspect.signature(drawing).parameters:
            raise InputError(f"there is one picture of a result of the kind {answer.kind}: leave out --picture")
        options["kind"] = picture
    names = names_of(label or (), specs_in(answer))
    looks.save(lambda: answer.plot(names=names, **options), file)


def specs_in(answer: Result) -> set[str]:
    """Return the specs that a picture of a result may show."""
    records = [answer, *(row for value in vars(answer).values() if isinstance(value, tuple) for row in value)]
    specs = {getattr(record, name, None) for record in records for name in ("routing", "topology", "engine")}
    return {spec for spec in specs if isinstance(spec, str)}


def names_of(labels: Sequence[str], specs: Collection[str]) -> dict[str, str]:
    """Return the names in ``SPEC=NAME``; specs may have ``=`` in them.

    Examples
    --------
    >>> names_of(["hash:seed=1=ECMP", "romm=ROMM, 2 VCs"], {"hash:seed=1", "romm"})
    {'hash:seed=1': 'ECMP', 'romm': 'ROMM, 2 VCs'}
    """
    names = {}
    for text in labels:
        spec = max((spec for spec in specs if text.startswith(f"{spec}=")), key=len, default=text.partition("=")[0])
        if not (name := text[len(spec) + 1 :]):
            raise InputError(f"--label {text!r:.60}: write SPEC=NAME, such as romm=ROMM")
        if spec not in specs:
            raise InputError(f"--label: {spec!r:.60} is not in this result: {did_you_mean(spec, specs)}")
        names[spec] = name
    return names


app = group(
    "Draw a topology, channel loads, worst traffic or a saved result.\n\n"
    "Example: obliv plot worst torus:9x9 romm -o w.png",
    topology_,
    loads,
    worst,
    result,
)
