"""``obliv bufferless``: schedules of packets on leveled networks, every move checked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from obliv.cli.options import Format, FormatOption, Seed, TopologySpec
from obliv.cli.output import answer, progress, require_outputs, say
from obliv.errors import InputError, OptionError

__all__ = ["bufferless"]


class Constants(StrEnum):
    """Constants of the paper's algorithms."""

    paper = "paper"
    tuned = "tuned"
    one_frame = "one-frame"


class Timetable(StrEnum):
    """When a sub-phase of the distributed algorithm ends."""

    fixed = "fixed"
    oracle = "oracle"


class Segments(StrEnum):
    """The edges on which packets of one color must not meet."""

    paper = "paper"
    tight = "tight"


class Tie(StrEnum):
    """What happens to two packets of one color that meet."""

    both_fail = "both-fail"
    survives = "survives"


class Priority(StrEnum):
    """Which packet of hot-potato goes first."""

    age = "age"
    closest = "closest"
    farthest = "farthest"
    random = "random"


def bufferless(
    topology: TopologySpec,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="A",
            help="direct, centralized, distributed, hot-potato, fifo, random-delay, random-rank or farthest-to-go.",
        ),
    ] = "direct",
    paths: Annotated[
        str,
        typer.Option("--paths", help="random, permutation, transpose, bit-reverse, hotspot, or a file of paths."),
    ] = "random",
    constants: Annotated[
        Constants | None,
        typer.Option("--constants", help="Constants for centralized and distributed.", show_default="paper"),
    ] = None,
    lam: Annotated[int | None, typer.Option("--lambda", min=2, help="Levels per frame (even).")] = None,
    sets: Annotated[int | None, typer.Option("--sets", min=1, help="Number of packet sets (s).")] = None,
    boats: Annotated[int | None, typer.Option("--boats", min=1, help="Boats for distributed (chi).")] = None,
    segments: Annotated[
        Segments | None,
        typer.Option(
            "--segments",
            help="Edges that packets of one color must not share, for centralized: paper (all in two frames) or tight "
            "(those ahead).",
            show_default="paper with --constants paper, else tight",
        ),
    ] = None,
    tie: Annotated[
        Tie | None,
        typer.Option(
            "--tie",
            help="Packets of one boat that meet, for distributed: both-fail (the paper's rule), or one survives.",
            show_default="both-fail with --constants paper, else survives",
        ),
    ] = None,
    timetable: Annotated[
        Timetable | None,
        typer.Option(
            "--timetable",
            help="For distributed: fixed, or oracle (stop a sub-phase once no packet fails).",
            show_default="fixed",
        ),
    ] = None,
    priority: Annotated[
        Priority | None, typer.Option("--priority", help="Priority rule of hot-potato.", show_default="age")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to save the schedule with all moves in (.json or .json.gz)."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the schedule (.png, .svg, .pdf; animated: .gif, .html)."),
    ] = None,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Schedule packets on a leveled network and check every move.

    The routing time is compared with C + D. For mesh:AxB, line:N and hypercube:K, the leveled form is used.

    Example: obliv bufferless butterfly:6 --algorithm direct

    Example: obliv bufferless random-leveled:L=71,W=4,d=2,seed=1 -a centralized --constants tuned --plot waves.png
    """
    from obliv.bufferless import instances, schedules

    require_outputs(output, plot)
    if plot is not None:
        from obliv.view.schedules.pictures import require_drawing

        require_drawing(plot)
    options: dict[str, Any] = {
        "constants": constants and constants.value,
        "lam": lam,
        "s": sets,
        "chi": boats,
        "segments": segments and segments.value,
        "tie": tie and tie.value,
        "timetable": timetable and timetable.value,
        "priority": priority and priority.value,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    _require_fit(algorithm, chosen)
    with progress() as step:
        step("paths", 0.0)
        classes = instances(topology, paths, rng=seed)
        require_outputs(output, plot, inputs=[source for one in classes for source in one.network.sources])
        try:
            result = schedules(classes, algorithm, topology=topology, rng=seed, progress=step, **chosen)
        except OptionError as error:
            raise InputError(error.text(_OPTIONS)) from None
    if output is not None:
        result.save(output)
        checked = f"; check it with  obliv verify {output}" if result.verified else ", without the moves"
        say(f"saved in {output}{checked}")
    if plot is not None:
        from obliv.view.schedules.pictures import draw

        draw(result, plot)
        say(f"picture saved in {plot}")
    answer(result.bare(), format)


#: The options by the names of Python's arguments.
_OPTIONS = {
    "constants": "--constants",
    "lam": "--lambda",
    "s": "--sets",
    "chi": "--boats",
    "segments": "--segments",
    "tie": "--tie",
    "timetable": "--timetable",
    "priority": "--priority",
}


def _require_fit(algorithm: str, chosen: dict[str, Any]) -> None:
    """Check that the algorithm takes the options, by their names on the command line."""
    from obliv.bufferless import ALGORITHMS

    if algorithm not in ALGORITHMS:
        return
    takes = [option for name, option in _OPTIONS.items() if name in ALGORITHMS[algorithm].options]
    for name in chosen:
        if name not in ALGORITHMS[algorithm].options:
            rest = f"it takes {', '.join(takes)}" if takes else "it takes no options"
            raise InputError(f"{algorithm} does not take {_OPTIONS[name]}; {rest}")
