"""``obliv bufferless``: schedules of packets on leveled networks, every move checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from obliv.cli.options import FormatOption, Seed, TopologySpec
from obliv.cli.output import Answer, Picture, progress, require_outputs, say
from obliv.errors import InputError


@dataclass(frozen=True)
class AlgorithmOptions:
    """The options of the algorithms; an algorithm takes some of them."""

    constants: Annotated[
        Literal["paper", "tuned", "one-frame"] | None,
        typer.Option("--constants", help="Constants for centralized and distributed.", show_default="paper"),
    ] = None
    lam: Annotated[int | None, typer.Option("--lambda", min=2, help="Levels per frame (even).")] = None
    s: Annotated[int | None, typer.Option("--sets", min=1, help="Number of packet sets (s).")] = None
    chi: Annotated[int | None, typer.Option("--boats", min=1, help="Boats for distributed (chi).")] = None
    segments: Annotated[
        Literal["paper", "tight"] | None,
        typer.Option(
            "--segments",
            help="Edges that packets of one color must not share, for centralized: paper (all in two frames) or tight "
            "(those ahead).",
            show_default="paper with --constants paper, else tight",
        ),
    ] = None
    tie: Annotated[
        Literal["both-fail", "survives"] | None,
        typer.Option(
            "--tie",
            help="Packets of one boat that meet, for distributed: both-fail (the paper's rule), or one survives.",
            show_default="both-fail with --constants paper, else survives",
        ),
    ] = None
    timetable: Annotated[
        Literal["fixed", "oracle"] | None,
        typer.Option(
            "--timetable",
            help="For distributed: fixed, or oracle (stop a sub-phase once no packet fails).",
            show_default="fixed",
        ),
    ] = None
    priority: Annotated[
        Literal["age", "closest", "farthest", "random"] | None,
        typer.Option("--priority", help="Priority rule of hot-potato.", show_default="age"),
    ] = None

    def chosen(self, algorithm: str) -> dict[str, Any]:
        """Return the options that are given, and refuse those that the algorithm does not take."""
        from obliv.bufferless.api import ALGORITHMS

        chosen = {name: value for name, value in vars(self).items() if value is not None}
        if algorithm in ALGORITHMS:
            known = ALGORITHMS[algorithm].options
            takes = [option for name, option in _NAMES.items() if name in known]
            for name in chosen:
                if name not in known:
                    rest = f"it takes {', '.join(takes)}" if takes else "it takes no options"
                    raise InputError(f"{algorithm} does not take {_NAMES[name]}; {rest}")
        return chosen


#: The names of the options on the command line.
_NAMES = {field.name: f"--{field.name}" for field in fields(AlgorithmOptions)} | {
    "lam": "--lambda",
    "s": "--sets",
    "chi": "--boats",
}


def bufferless(
    topology: TopologySpec,
    *,
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
    options: AlgorithmOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to save the schedule with all moves in (.json or .json.gz)."
        ),
    ] = None,
    picture: Picture,
    seed: Seed = 0,
    format: FormatOption = "table",
) -> None:
    """Schedule packets on a leveled network and check every move.

    The routing time is compared with C + D. For mesh:AxB, line:N and hypercube:K, the leveled form is used.

    Example: obliv bufferless butterfly:6 --algorithm direct

    Example: obliv bufferless random-leveled:L=71,W=4,d=2,seed=1 -a centralized --constants tuned --plot waves.png
    """
    from obliv.bufferless.api import schedules
    from obliv.bufferless.problems import instances

    require_outputs(output, picture.plot)
    moving = False
    if picture.plot is not None:
        from obliv.bufferless.pictures.draw import MOVING, require_drawing, require_small

        moving = require_drawing(picture.plot) in MOVING
    chosen = options.chosen(algorithm)
    with progress() as step:
        step("paths", 0.0)
        classes = instances(topology, paths, rng=seed)
        require_outputs(output, picture.plot, inputs=[source for one in classes for source in one.network.sources])
        if moving and classes:
            require_small([one.network for one in classes], sum(one.packets for one in classes))
        result = schedules(classes, algorithm, topology=topology, rng=seed, progress=step, **chosen)
    answer, bare = Answer(format=format), result.bare()
    if output is not None:
        with answer.anyway(bare):
            result.save(output)
        say(
            f"saved in {output}"
            + (f"; check it with  obliv verify {output}" if result.verified else ", without the moves")
        )
    answer.show(bare)
    if picture.plot is not None:
        result.draw(picture.plot)
        say(f"picture saved in {picture.plot}")
