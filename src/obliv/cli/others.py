"""Verbs that go beyond one question: list, reproduce, bufferless and explore."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from obliv.cli.app import shown
from obliv.cli.options import FormatOption, Seed, TopologySpec
from obliv.cli.output import Answer, Looks, progress, require_outputs, say, write
from obliv.cli.specs import named_traffic
from obliv.errors import FileError, InputError, extra

if TYPE_CHECKING:
    from obliv.explore.workers import Question


def list_(
    what: Annotated[
        Literal["topologies", "routings", "traffic", "patterns"],
        typer.Argument(metavar="topologies|routings|traffic", help="What to list; patterns is the same as traffic."),
    ],
    answer: Answer,
) -> None:
    """List the topologies, routings or traffic patterns.

    Example: obliv list routings
    """
    from obliv.results.base import Listing, Name
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    require_outputs(answer.output)
    what = "traffic" if what == "patterns" else what
    registry = {"topologies": TOPOLOGIES, "routings": ROUTINGS, "traffic": PATTERNS}[what]
    names = tuple(Name(entry.name, entry.example, tuple(entry.aliases), entry.summary) for entry in registry)
    answer.show(Listing(what=what, names=names))


# What is installed, for reports of bugs: ``obliv --version --verbose``


def installed() -> str:
    """Return Python, platform, cores and the versions of all packages that obliv can use, a line each."""
    import platform

    from obliv._util.executors import cores

    lines = [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("platform", platform.platform()),
        ("cores", str(cores())),
        ("encoding", f"{sys.stdout.encoding}, file names {sys.getfilesystemencoding()}"),
    ]
    lines += [(name, _version_of(name) or "not installed") for name in _packages()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in lines)


def _packages() -> list[str]:
    """Return the names of the required packages, then of those of extras, each once."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("obliv") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        required = []
    names = dict.fromkeys(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in required)
    return [name for name in names if name != "obliv"]


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


# ``obliv reproduce``: the papers' tables and figures beside the published numbers


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="[PAPER]", help="For example towles (default: list the papers).")
    ] = "",
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="One table or figure of the paper.")] = "",
    *,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Folder to draw the figures of the paper into (PNG).")
    ] = None,
    layout: Annotated[
        str,
        typer.Option("--layout", metavar="L", help="Text by rows (rows), or in the paper's own columns (paper)."),
    ] = "rows",
    looks: Looks,
    answer: Answer,
) -> None:
    """Compute a paper's tables beside the published numbers.

    Verdicts: match, rounding, reading (another reading of the paper fits), erratum (the published value is wrong, with
    a proof), open (no reading fits, or the result is only a bound), beyond (a number that the paper does not state),
    differs (exit status 1). The column "differs if" says which numbers would make a row differ.

    Example: obliv reproduce towles
    """
    from obliv import papers
    from obliv.results.reproduction import PaperName, Papers

    require_outputs(answer.output)
    if layout != "rows" and answer.format != "table":
        raise InputError(f"--layout arranges text: leave it out with --format {answer.format}")
    if plot is None:
        looks.require(None)
    if plot is not None and not paper:
        raise InputError("--plot draws the figures of one paper: name it, as in  obliv reproduce towles --plot DIR")
    if not paper:
        names = tuple(PaperName(name, about) for name, about in papers.known().items())
        answer.show(Papers(papers=names))
        return
    if plot is not None:
        with progress() as step, looks.drawn():
            files = papers.draw(paper, plot, table, step)
        say(f"drawn in {plot}: {', '.join(file.name for file in files)}")
        if table and table not in papers.tables(paper):
            return  # a figure without numbers to compare
    with answer.best_so_far():
        with progress() as step:
            result = papers.reproduce(paper, table, step, layout)
        answer.show(result)
    if not result.ok:
        raise typer.Exit(1)


# ``obliv bufferless``: schedules of packets on leveled networks, every move checked


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
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the schedule (.png, .svg, .pdf; animated: .gif, .html)."),
    ] = None,
    looks: Looks,
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

    require_outputs(output, plot)
    moving = False
    if plot is not None:
        from obliv.bufferless.pictures.pictures import MOVING, require_drawing, require_small

        moving = require_drawing(plot) in MOVING
        if moving and looks.width is not None:
            raise InputError(f"--width is for PNG pictures: an animation ({', '.join(MOVING)}) has its own size")
    else:
        looks.require(None)
    chosen = options.chosen(algorithm)
    with progress() as step:
        step("paths", 0.0)
        classes = instances(topology, paths, rng=seed)
        require_outputs(output, plot, inputs=[source for one in classes for source in one.network.sources])
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
    if plot is not None:
        from obliv.bufferless.pictures.pictures import draw

        with looks.drawn():
            draw(result, plot)
        say(f"picture saved in {plot}")


# ``obliv explore``: one network live in the browser


def explore(
    context: typer.Context,
    topology: Annotated[str, typer.Argument(metavar="[TOPOLOGY]", help="The network to begin with.")] = "mesh:8x8",
    routing: Annotated[str, typer.Argument(metavar="[ROUTING]", help="The routing to begin with.")] = "ecmp",
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[TRAFFIC]...", help="Traffic to begin with.", show_default=False)
    ] = None,
    *,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="TRAFFIC", help="Another way to give TRAFFIC; may be repeated."),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--files", metavar="PATH", help="File, or folder of files, that specs in the page may read; repeatable."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of 127.0.0.1 (0 = any that is free).")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Show one network live in the browser while you change it.

    What can be changed is the topology, the routing, the traffic, and which links and nodes have failed.

    The address is printed on standard output; Ctrl-C ends the server.

    Example: obliv explore torus:5x5 romm --traffic tornado
    """
    try:
        from obliv.explore import server
    except ImportError as error:
        raise extra(error.name or "starlette", "explore") from None
    from obliv.explore.server import new_token
    from obliv.explore.workers import Question, Setup, Workers

    start = Question(topology, routing, tuple(named_traffic(words, traffic) or ["uniform"]))
    named = _files_of(start)
    for path in files or ():
        if not os.path.exists(path):
            raise FileError("file not found: --files names files and folders that exist", path)
    workers = Workers(Setup(_imports(context), (*map(str, files or ()), *named)))
    listener = server.listen(port)
    token, number = new_token(), listener.getsockname()[1]
    app, site = server.page_app(token, number, start, workers), f"http://127.0.0.1:{number}/"

    def ready() -> None:
        write(f"{site}{token}/")
        say("the page is served on this machine only, until Ctrl-C")
        if browser:
            import webbrowser

            # in a thread, since a browser of the terminal runs until it is left
            threading.Thread(target=webbrowser.open, args=(site + app.once(),), daemon=True).start()

    shown(inf)  # by the page
    server.serve(listener, app, workers, ready)


def _files_of(start: Question) -> list[str]:
    """Return the files that the specs of the command line read; raise what is wrong with these specs."""
    import obliv

    network = obliv.topology(start.topology)
    sources = [*network.sources, *obliv.routing(start.routing, network).sources]
    sources += [source for spec in start.traffic for source in obliv.traffic(spec, network).sources]
    return [path for path, _ in sources]


def _imports(context: typer.Context) -> tuple[tuple[str, str], ...]:
    """Return the files of ``--import`` with their digests."""
    from obliv.study.reading import sha256_of

    files: Sequence[str] = context.meta.get("obliv.imports", ())
    return tuple((str(Path(name).resolve()), sha256_of(name)) for name in files)
