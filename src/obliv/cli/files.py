"""Verbs that read saved results or write files: verify, report, plot and export."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from obliv._util.files import write_whole
from obliv._util.rationals import exact
from obliv._util.text import did_you_mean
from obliv.cli.app import group
from obliv.cli.options import FilesOption, TopologySpec
from obliv.cli.output import Answer, Looks, progress, require_outputs, require_picture, say
from obliv.cli.specs import Specs, one_traffic, read_topology, read_traffic
from obliv.cli.study import StudyName
from obliv.errors import FileError, InputError, OblivError

if TYPE_CHECKING:
    from obliv.patterns.base import Traffic
    from obliv.results.base import Result
    from obliv.routings.base import Routing
    from obliv.topologies.base import Topology


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File written by --output.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Check the named channel only, which proves nothing.")] = False,
    budget: Annotated[
        float,
        typer.Option(
            "--budget",
            min=0,
            help="Time limit in seconds, exceeded by a second at most after the start of a process; "
            "what is not checked in time is not proved.",
        ),
    ] = 300.0,
    files: FilesOption = None,
    channel: Annotated[
        str | None,
        typer.Option(
            "--channel", metavar="N", help='Show the proof of this channel, 3 or "(0,0) -> (1,0)", as a table instead.'
        ),
    ] = None,
    close: Annotated[
        Path | None,
        typer.Option(
            "--close", metavar="OUT", help="Write the claim as a closed one, which obliv_check.py checks by itself."
        ),
    ] = None,
    answer: Answer,
) -> None:
    """Check a saved claim with independent code.

    The exit status is 1 if the claim is not proved; --quick can refute a claim, but does not prove it.
    With --channel it is 1 if the bound of this channel exceeds the claim.

    Example: obliv verify claim.json

    Example: obliv verify claim.json --channel "(0,0) -> (1,0)"

    Example: obliv verify claim.json --close claim.txt
    """
    import obliv

    require_outputs(answer.output, close, inputs=((str(file), ""),))
    if close is not None and quick:
        raise InputError("--close writes a claim that is proved; leave out --quick")
    if channel is not None:
        if quick or close is not None:
            raise InputError("--channel shows the proof of one channel; leave out --quick and --close")
        with progress() as step:
            proof = obliv.explain(file, channel, budget=budget, files=files or (), progress=step)
        answer.show(proof)
        if not proof.holds:
            raise typer.Exit(1)
        return
    with progress() as step:
        result = obliv.verify(file, quick=quick, budget=budget, files=files or (), close=close, progress=step)
    answer.show(result)
    if not result.proved:
        raise typer.Exit(1)


def report(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="STORE|RESULT...", help="Stores of studies, and results saved as JSON.")
    ],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write (.html).")],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Heading of the page.", show_default="what it is about")
    ] = "",
    study: StudyName = "",
    budget: Annotated[
        float,
        typer.Option("--budget", min=0, help="Time limit in seconds for building and drawing networks."),
    ] = 120.0,
    files: FilesOption = None,
    networks: Annotated[
        int, typer.Option("--networks", metavar="N", min=0, help="Most networks to draw and prove in the page.")
    ] = 6,
    brief: Annotated[
        bool,
        typer.Option("--brief", help="One page to hand on: verdict, charts and table, without networks and notes."),
    ] = False,
    closed: Annotated[
        bool, typer.Option("--closed", help="Beside the page, a folder with closed claims and obliv_check.py.")
    ] = False,
) -> None:
    """Write studies and saved results as one web page.

    Example: obliv report meshes.db -o meshes.html

    Example: obliv report worst.json average.json -o report.html

    Example: obliv report compare.json design.json --brief -o summary.html

    Example: obliv report worst.json design.json --closed -o report.html
    """
    from obliv import view
    from obliv.view.report.page import require_report

    require_outputs(output, inputs=[(str(path), "") for path in inputs])
    require_report(output)
    with progress() as step:
        about: dict[str, Any] = {"title": title, "study": study, "networks": networks, "brief": brief, "budget": budget}
        view.write_report(inputs, output, **about, files=files or (), progress=step)
    say(f"report saved in {output}")
    if closed:
        _close_beside(output, inputs, files or ())


def _close_beside(page: Path, inputs: Sequence[Path], files: Sequence[Path]) -> None:
    """Write the closed claims of saved results into a folder beside a page, with the program that checks them."""
    import obliv
    from obliv.view.interactive.fragment import checker_page

    folder = page.with_name(f"{page.stem}-claims")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder of the closed claims cannot be made: {error.strerror}", folder) from None
    write_whole(folder / "check.html", checker_page().encode())
    write_whole(folder / "obliv_check.py", resources.files("obliv.checker").joinpath("obliv_check.py").read_bytes())
    stems = [path.name.removesuffix(".gz").removesuffix(".json") for path in inputs]
    for number, (path, stem) in enumerate(zip(inputs, stems, strict=True)):
        place = folder / f"{stem}{f'-{number + 1}' if stems.count(stem) > 1 else ''}.txt.gz"
        try:
            with progress() as step:
                proved = obliv.verify(path, files=files, close=place, progress=step).proved
        except OblivError as error:
            say(f"no closed claim of {path}: {error}")
            continue
        say(f"closed claim saved in {place}" if proved else f"no closed claim of {path}, as it is not proved")
    say(f"check them with  python3 {folder / 'obliv_check.py'} CLAIM  or in the page {folder / 'check.html'}")


# ``obliv plot``: pictures of a topology, of channel loads, of a worst permutation, of saved results


Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png, .svg or .pdf).")]


def topology_(topology: TopologySpec, output: Output, looks: Looks) -> None:
    """Draw a network.

    Example: obliv plot topology torus:4x4 -o torus.svg
    """
    import obliv
    from obliv import view

    require_picture(output)
    require_outputs(output)
    network = obliv.topology(topology)
    looks.save(lambda: view.plot_topology(network), output)


def loads(
    specs: Specs,
    words: Annotated[str, typer.Argument(metavar="TRAFFIC", help="For example tornado.")],
    output: Output,
    looks: Looks,
) -> None:
    """Draw the load of every channel under a traffic pattern.

    Example: obliv plot loads mesh:8x8 dor transpose -o loads.png
    """
    from obliv import view

    require_picture(output)
    routing = specs.read(output)
    looks.save(lambda: view.plot_loads(routing, read_traffic([words], routing.topology, output)[0]), output)


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
    from obliv.questions.worst_case import worst_case

    require_picture(output)
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
    from obliv.view.axes import drawing_of

    require_outputs(file, inputs=[(str(saved), "")])
    answer = obliv.load(saved)
    drawing = drawing_of(answer)
    answer.require_picture(file)
    options: dict[str, Any] = {} if title is None else {"title": title or False}
    if picture is not None:
        if "kind" not in inspect.signature(drawing).parameters:
            raise InputError(f"there is one picture of a result of the kind {answer.kind}: leave out --picture")
        options["kind"] = picture
    names = names_of(label or (), specs_in(answer))
    with looks.drawn():
        answer.draw(file, names=names, **options)
    say(f"picture saved in {file}")


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


# ``obliv export``: a network, a routing and traffic for a simulator, the paths of a routing, or a network


_Target = Literal[
    "booksim", "booksim-paths", "sst", "caminos", "noxim", "htsim", "ns3",
    "table", "csv", "dot", "graphml", "gml", "edgelist", "anynet",
]  # fmt: skip
_NETWORKS = ("dot", "graphml", "gml", "edgelist", "anynet")
_SIMULATORS = ("booksim", "booksim-paths", "sst", "caminos", "noxim", "htsim", "ns3")
#: How to run what is written for a simulator.
_RUN = {
    "sst": "run it with  sst {name}",
    "caminos": "run it in that folder with  caminos {name}",
    "noxim": "run it in that folder with  noxim -config {name} -power power.yaml  and power.yaml of noxim's folder bin",
    "htsim": "run it in that folder with  htsim_ndp -topo {name} -tm {second} -nodes {nodes} -strat perm",
    "ns3": 'run it with  ./ns3 run "obliv-ns3 --network={name}"  in ns-3, with obliv-ns3.cc in its folder scratch',
}


def export(
    topology: TopologySpec,
    routing: Annotated[
        str | None,
        typer.Argument(metavar="[ROUTING]", help="Needed but for files of networks.", show_default=False),
    ] = None,
    words: Annotated[
        str | None,
        typer.Argument(metavar="[TRAFFIC]", help="Another way to give --traffic.", show_default=False),
    ] = None,
    *,
    to: Annotated[
        _Target,
        typer.Option(
            "--to",
            help="Simulators: booksim (BookSim2), booksim-paths (BookSim2 with a routing function that follows listed "
            "paths), sst (SST Merlin), caminos, noxim, htsim, ns3. Paths: table (for table:FILE), csv. Networks: dot "
            "(Graphviz), graphml, gml, edgelist, anynet.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Configuration or table to write.")],
    traffic: Annotated[
        str | None,
        typer.Option(
            "--traffic",
            help="With simulators and dot: traffic pattern, or worst, that of the worst case (default uniform).",
        ),
    ] = None,
    router: Annotated[
        Literal["ideal", "lean"] | None,
        typer.Option(
            "--router",
            help="With booksim and booksim-paths: ideal (8 virtual channels, large buffers, speedup 2: shows the "
            "limits of the network) or lean (the fewest virtual channels, BookSim2's defaults).",
            show_default="ideal",
        ),
    ] = None,
    vc: Annotated[
        str | None,
        typer.Option(
            "--vc",
            metavar="SCHEME",
            help="With booksim-paths: virtual channels by this scheme of deadlock, none for all on every hop (default: "
            "the one with the fewest that avoids deadlock).",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="R", help="With booksim, sst, caminos, noxim: packets per node and cycle, as 0.1 or 1/3."
        ),
    ] = None,
) -> None:
    """Write files for simulators, paths as tables, or networks.

    A network that the simulator lacks is written beside the configuration. What it cannot simulate is refused.
    Tables are read as  table:FILE  by all verbs; CSV has a row for every path. A drawing for Graphviz shows the loads
    of channels if there is a routing.

    Example: obliv export torus:8x8 dor --to booksim --traffic transpose -o torus.cfg

    Example: obliv export mesh:7x6 xy --to booksim-paths --traffic worst -o mesh.cfg

    Example: obliv export mesh:5x5 design:best.json.gz --to table -o routes.txt

    Example: obliv export fattree:4,2 --to dot -o tree.dot
    """
    if words is not None:
        traffic = one_traffic(words, None if traffic is None else [traffic])
    _require_fitting(to, routing, traffic, vc, rate, router)
    if routing is None:
        _write_network(topology, to, output)
        return
    specs = Specs(topology, routing)
    if to in _SIMULATORS:
        _write_simulation(specs, to, output, traffic or "uniform", _number(rate), vc, router or "ideal")
    elif to == "dot":
        _write_loads(specs, output, traffic or "uniform")
    else:
        from obliv.io.simulators.routes import write_csv_paths, write_path_table

        read = specs.read(output)
        write = write_path_table if to == "table" else write_csv_paths
        with progress() as step:
            write(read, output, progress=step)
        say(f"written to {output}" + (f"; use the routing as  table:{output}" if to == "table" else ""))


def _number(rate: str | None) -> float:
    """Return the rate of the command line, by default 0.1."""
    number = exact("0.1" if rate is None else rate)
    if number is None:
        raise InputError(f"--rate {rate}: write a number above 0, up to 1, as 0.1 or 1/3")
    return float(number)


def _require_fitting(
    to: str, routing: str | None, traffic: str | None, vc: str | None, rate: str | None, router: str | None
) -> None:
    """Refuse options and arguments that a format does not use."""
    if routing is None and to not in _NETWORKS:
        raise InputError(f"--to {to} needs a ROUTING behind the topology")
    if routing is not None and to in _NETWORKS[1:]:
        raise InputError(f"--to {to} writes a network only: leave out the routing {routing}")
    if traffic is not None and (routing is None or to in ("table", "csv")):
        raise InputError(f"--traffic belongs to simulators and to dot with a routing; --to {to} writes no traffic here")
    if vc is not None and to != "booksim-paths":
        raise InputError(f"--vc belongs to --to booksim-paths; --to {to} has virtual channels of its own")
    if router is not None and to not in ("booksim", "booksim-paths"):
        raise InputError(f"--router belongs to --to booksim and booksim-paths; --to {to} has routers of its own")
    if rate is not None and to not in ("booksim", "booksim-paths", "sst", "caminos", "noxim"):
        more = "; give the program of ns-3 its own --rate" if to == "ns3" else ""
        raise InputError(f"--rate belongs to --to booksim, sst, caminos and noxim{more}")


def _write_simulation(
    specs: Specs, to: str, output: Path, traffic: str, rate: float, vc: str | None, router: Literal["ideal", "lean"]
) -> None:
    from obliv.io import write_caminos, write_htsim, write_noxim, write_ns3, write_sst

    others = {
        "sst": [output.with_suffix(".graphml"), output.with_suffix(".routes.json")],
        "caminos": [output.with_suffix(".adj"), output.with_suffix(".map")],
        "noxim": [output.with_suffix(".routes"), output.with_suffix(".traffic")],
        "htsim": [output.with_suffix(".cm")],
        "ns3": [output.with_name("obliv-ns3.cc")],
    }
    booksim = [output.with_suffix(ending) for ending in (".anynet", ".anynet.paths", ".traffic")]
    outputs = (output, *others.get(to, booksim))
    read = specs.read(*outputs)
    pattern = _pattern(traffic, read, *outputs)
    if to == "sst":
        files = write_sst(read, output, pattern, rate=rate)
    elif to == "caminos":
        files = write_caminos(read, output, pattern, rate=rate)
    elif to == "noxim":
        files = write_noxim(read, output, pattern, rate=rate)
    elif to == "htsim":
        files = write_htsim(read, output, pattern)
    elif to == "ns3":
        files = write_ns3(read, output, pattern)
    else:
        from obliv.cli.booksim import write_simulation

        write_simulation(read, output, pattern, rate, vc, router, listed=to == "booksim-paths")
        return
    names = {"name": quote(output.name), "second": quote(files[-1].name), "nodes": len(read.topology.terminals)}
    say(f"written to {' and '.join(map(str, files))}; {_RUN[to].format(**names)}")
    if to == "noxim":
        from obliv.questions.deadlocks.deadlock import deadlock

        with progress() as step:
            acyclic = deadlock(read, progress=step).acyclic
        if not acyclic:
            verb = " ".join(("obliv deadlock", quote(read.topology.spec), quote(read.spec)))
            say(f"packets can deadlock: in noxim each keeps one virtual channel on its path;  {verb}  shows a cycle")


def _pattern(spec: str, routing: Routing, *outputs: Path) -> Traffic:
    """Return the traffic of a spec, or with ``worst`` that of the worst case of the routing."""
    if spec != "worst":
        return read_traffic([spec], routing.topology, *outputs)[0]
    from obliv.questions.worst_case import worst_traffic

    with progress() as step:
        return worst_traffic(routing, step)


def _write_loads(specs: Specs, output: Path, traffic: str) -> None:
    from obliv.io.formats.dot import write_dot

    read = specs.read(output)
    loads = read.pair_loads().under(_pattern(traffic, read, output))
    write_dot(read.topology, output, loads)
    say(f"written to {output}; draw it with  dot -Tsvg -O {output}")


def _write_network(spec: str, to: str, output: Path) -> None:
    from obliv.io import write_anynet, write_dot, write_edgelist, write_gml, write_graphml

    topology = read_topology(spec, output)
    writers: dict[str, Callable[[Topology, Path], None]] = {
        "dot": write_dot,
        "graphml": write_graphml,
        "gml": write_gml,
        "edgelist": write_edgelist,
        "anynet": write_anynet,
    }
    writers[to](topology, output)
    say(
        f"written to {output}; "
        + (f"draw it with  dot -Tsvg -O {output}" if to == "dot" else f"use it as  file:{output}")
    )
