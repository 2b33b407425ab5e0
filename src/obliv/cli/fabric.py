"""``obliv fabric``: real InfiniBand fabrics, from what ibnetdiscover printed and a dump of the forwarding tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from obliv._util.text import plural
from obliv.cli.common import (
    Format,
    FormatOption,
    Seed,
    TopologySpec,
    answer,
    csv_text,
    json_text,
    kept,
    page,
    progress,
    require_outputs,
    say,
    tell,
)
from obliv.errors import InputError

__all__ = ["app"]

app = typer.Typer(
    name="fabric",
    no_args_is_help=True,
    help="InfiniBand fabrics: check the tables that a cluster runs, find their worst traffic, write better ones.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TopologyFile = Annotated[
    Path, typer.Argument(metavar="TOPOLOGY", help="What ibnetdiscover printed, opensm-subnet.lst, or a .net of ibsim.")
]
TablesFile = Annotated[
    Path, typer.Option("--lft", metavar="FILE", help="The tables: dump_lfts or ibroute, opensm-lfts.dump or .fdbs.")
]
MaybeTables = Annotated[
    Path | None,
    typer.Option("--lft", metavar="FILE", help="The tables: dump_lfts or ibroute, opensm-lfts.dump or .fdbs."),
]
Lids = Annotated[Path | None, typer.Option("--guid2lid", metavar="FILE", help="OpenSM's file of LIDs.")]
Offset = Annotated[
    str,
    typer.Option(
        "--offset",
        metavar="RULE",
        help="Which LID of a destination a source uses where LMC > 0: a number, group, index, 0-0-1-1 or spread.",
    ),
]
Skip = Annotated[bool, typer.Option("--skip-missing", help="Leave out pairs whose packets do not arrive.")]


def _fabric() -> Any:
    """The room, loaded when a verb runs; its functions go by names that its modules have, too."""
    import importlib

    return importlib.import_module("obliv.fabric")


def _spec(topology: Path, guid2lid: Path | None) -> str:
    """The spec that makes the fabric of the command line again."""
    return f"fabric:{topology}" + (f",guid2lid={guid2lid}" if guid2lid is not None else "")


def _read(topology: Path, lft: Path | None, guid2lid: Path | None) -> tuple[Any, Any]:
    """A fabric and its tables, if any; the first thing that is odd about the files is said."""
    made, tables = _fabric().read(topology, lft, guid2lid=guid2lid)
    found = made.findings + (tables.findings if tables is not None else ())
    odd = [each for each in found if each.severity != "note"]
    if odd:
        count = sum(each.count for each in odd) - 1
        more = f" (and {count:,} more)" if count else ""
        files = (str(topology), *(("--lft", str(lft)) if lft is not None else ()))
        files += ("--guid2lid", str(guid2lid)) if guid2lid is not None else ()
        say(f"{odd[0].message}{more}: see  obliv fabric check {' '.join(files)}")
    return made, tables


def _routing(
    topology: Path, lft: Path, guid2lid: Path | None, offset: str, skip: bool | None, *, notes: bool = True
) -> Any:
    """The tables as a routing, and what is odd about the files is said; `skip` None: the verb cannot."""
    fabric = _fabric()

    made, tables = _read(topology, lft, guid2lid)
    network = fabric.network(made, _spec(topology, guid2lid))
    for note in network.notes if notes else ():
        say(note)
    way = fabric.routing(network, tables, offset, missing="skip" if skip else "refuse")
    if skip and way.skipped:
        are = "is" if way.skipped == 1 else "are"
        say(f"{plural(way.skipped, 'pair')} whose packets do not arrive {are} left out")
    if not skip:
        way.require_all("" if skip is None else "leave such pairs out with --skip-missing")
    return way


def _analysed(
    format: Format, analysis: Callable[[Any, Callable[[str, float], None]], Any], *given: Any, notes: bool = True
) -> None:
    """Print what an analysis, which takes a routing and a progress, says of the tables that are `given`."""
    with kept(format):
        with progress() as step:
            result = analysis(_routing(*given, notes=notes), step)
        answer(result, format)


@app.command()
def check(
    topology: TopologyFile,
    lft: MaybeTables = None,
    guid2lid: Lids = None,
    log: Annotated[Path | None, typer.Option("--log", help="OpenSM's log: tells which engine made the tables.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="The engine that was asked for.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """What a fabric and its tables are and what is wrong with them; exit status 1 where something is.

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump
    """
    fabric = _fabric()
    if engine is not None and log is None:
        raise InputError("--engine is compared with what the log says: give OpenSM's log with --log, too")
    with progress() as step:
        made, tables = fabric.read(topology, lft, guid2lid=guid2lid)
        result = fabric.check(made, tables, log, engine=engine, progress=step)
    answer(result, format)
    if not result.ok:
        raise typer.Exit(1)


@app.command()
def worst(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    skip: Skip = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="How many cables to rank.")] = 10,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the result with its certificate (.json or .json.gz).")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """The exact worst permutation of the hosts for the tables as they are, and the cables that carry it.

    Example: obliv fabric worst ibnetdiscover.txt --lft opensm-lfts.dump
    """
    fabric = _fabric()

    require_outputs(output, inputs=_named(topology, lft, guid2lid))
    with progress() as step:
        way = _routing(topology, lft, guid2lid, offset, skip, notes=format is Format.csv)
        result = fabric.worst(way, hottest=hottest, certificate=output is not None, progress=step)
    if output is not None:
        result.save(output)
        say(f"kept in {output}; check it with  obliv verify {output}")
    if format is Format.csv:
        tell(csv_text(list(result.cable_rows()), result.cable_columns), end="")
    else:
        answer(result, format, hide=("certificate",))


@app.command()
def ratio(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    format: FormatOption = Format.table,
) -> None:
    """How much more the tables load a cable than the best routing of the same traffic, on whole fat trees.

    Example: obliv fabric ratio ibnetdiscover.txt --lft opensm-lfts.dump
    """
    from obliv.fabric.analyses.ratio import ratio as analysed

    _analysed(format, lambda way, step: analysed(way, progress=step), topology, lft, guid2lid, offset, None)


@app.command()
def throughput(
    topology: TopologyFile,
    traffic: Annotated[
        list[str],
        typer.Argument(metavar="TRAFFIC...", help="For example uniform ring:seed=1 shift:3 permutation:FILE."),
    ],
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    skip: Skip = False,
    hottest: Annotated[int, typer.Option("--hottest", min=0, help="How many cables to name for each.")] = 3,
    format: FormatOption = Format.table,
) -> None:
    """The ideal throughput of patterns and jobs, exact, and their hottest cables; hosts in the order of the file.

    Example: obliv fabric throughput ibnetdiscover.txt uniform torus3d:seed=1 --lft opensm-lfts.dump
    """

    def analysed(way: Any, step: Callable[[str, float], None]) -> Any:
        found = _fabric().throughput(way, *traffic, hottest=hottest)
        for note in found.notes if format is Format.csv else ():  # the other forms hold them
            say(note)
        return found

    _analysed(format, analysed, topology, lft, guid2lid, offset, skip, notes=False)


@app.command()
def average(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    skip: Skip = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="How many random permutations.")] = 1000,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """The average over random permutations, with its standard error.

    Example: obliv fabric average ibnetdiscover.txt --lft opensm-lfts.dump
    """

    def analysed(way: Any, step: Callable[[str, float], None]) -> Any:
        return _fabric().average(way, samples, seed, progress=lambda share: step("permutations", share))

    _analysed(format, analysed, topology, lft, guid2lid, offset, skip)


@app.command()
def bisection(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    skip: Skip = False,
    samples: Annotated[int, typer.Option("--samples", min=2, help="How many random bisections.")] = 1000,
    seed: Seed = 0,
    format: FormatOption = Format.table,
) -> None:
    """Effective bisection bandwidth: random halves of the hosts, one sending to the other in pairs (Hoefler et al.).

    Example: obliv fabric bisection ibnetdiscover.txt --lft opensm-lfts.dump
    """

    def analysed(way: Any, step: Callable[[str, float], None]) -> Any:
        return _fabric().bisection(way, samples, seed, progress=lambda share: step("bisections", share))

    _analysed(format, analysed, topology, lft, guid2lid, offset, skip)


@app.command()
def shifts(
    topology: TopologyFile,
    lft: TablesFile,
    guid2lid: Lids = None,
    offset: Offset = "0",
    skip: Skip = False,
    format: FormatOption = Format.table,
) -> None:
    """The largest load of every shift of the hosts: the worst and the mean, exact.

    Example: obliv fabric shifts ibnetdiscover.txt --lft opensm-lfts.dump
    """

    def analysed(way: Any, step: Callable[[str, float], None]) -> Any:
        return _fabric().shifts(way, progress=lambda share: step("shifts", share))

    _analysed(format, analysed, topology, lft, guid2lid, offset, skip)


@app.command()
def route(
    topology: TopologyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The tables, for  opensm -R file -U FILE.")],
    engine: Annotated[
        str, typer.Option("--engine", help="auto, osrm3-d, osrm3, osrm2, osrm2-c, dmodk or updown.")
    ] = "auto",
    lft: MaybeTables = None,
    guid2lid: Lids = None,
    offset: Offset = "0",
    lmc: Annotated[int, typer.Option("--lmc", min=0, max=7, help="The largest LMC that is allowed.")] = 7,
    force: Annotated[
        bool, typer.Option("--force", help="Write the new tables even if those of --lft are better.")
    ] = False,
    net: Annotated[
        Path | None,
        typer.Option("--net", metavar="FILE", help="Write the fabric too, with the LIDs of the new tables (.net)."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """New tables for a fabric, checked before they are written; with --lft never worse than those.

    Exit status 1 where those of --lft are better than all that were tried; nothing is written then.

    Example: obliv fabric route ibnetdiscover.txt --lft opensm-lfts.dump -o better.lfts
    """
    fabric = _fabric()

    require_outputs(output, net, inputs=_named(topology, lft, guid2lid))
    began = time.perf_counter()
    with progress() as step:
        made, tables = _read(topology, lft, guid2lid)
        result = fabric.route(made, engine, tables, offset=offset, most_lmc=lmc, force=force, progress=step)
    if not result.kept:
        fabric.write_tables(result.tables, result.fabric, output)
        if net is not None:
            fabric.write_net(result.fabric, net)
    if format is Format.table:
        tell(page(result.page()))
    elif format is Format.csv:
        tell(csv_text(result.rows()), end="")
    else:
        from obliv.results import provenance

        specs = {"topology": _spec(topology, guid2lid), "routing": None if lft is None else f"lft:{lft}"}
        sources = (*made.sources, *(() if tables is None else tables.sources))
        about: dict[str, Any] = {"output": None if result.kept else str(output)}
        about["provenance"] = provenance(specs, time.perf_counter() - began, sources=sources)
        tell(json_text({"kind": "fabric-route"} | specs | result.to_dict() | about))
    if result.kept:
        say("the tables in use are better than all that were tried: nothing was written (--force writes new ones)")
        raise typer.Exit(1)
    more = f" -l {result.lmc}" if result.lmc else ""
    if net is not None:
        say(f"the fabric with their LIDs written to {net}")
    say(f"written to {output}; load it with  opensm -R file -U {output}{more}")


@app.command()
def export(
    topology: TopologyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Ends in .graphml, .anynet or .net.")],
    to: Annotated[str, typer.Option("--to", help="graphml, anynet or net, where the name does not tell.")] = "",
    guid2lid: Lids = None,
) -> None:
    """Write a fabric for other programs: GraphML, BookSim's anynet, ibsim's .net.

    Example: obliv fabric export ibnetdiscover.txt -o fabric.graphml
    """
    fabric = _fabric()

    require_outputs(output, inputs=_named(topology, guid2lid))
    made, _ = _read(topology, None, guid2lid)
    for note in fabric.export(made, output, to):
        say(note)
    say(f"written to {output}")


@app.command()
def generate(
    topology: TopologySpec,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .net file, which ibsim reads.")],
    rate: Annotated[str, typer.Option("--rate", help="Width and speed of every cable.")] = "4xQDR",
    routing: Annotated[str, typer.Option("--routing", help="Write the tables of a routing as well.")] = "",
    tables: Annotated[Path | None, typer.Option("--tables", help="Where to write them.")] = None,
) -> None:
    """A fabric as a file, made of any topology, for trying out subnet managers without hardware.

    Example: obliv fabric generate fattree:8,3 -o fabric.net
    """
    from obliv.specs.registry import ROUTINGS, TOPOLOGIES

    fabric = _fabric()
    require_outputs(output, tables)
    if bool(routing) != bool(tables):
        raise InputError(
            "--routing and --tables go together: say which routing, and where its tables are to be written"
        )
    network = TOPOLOGIES.make(topology)
    made = fabric.from_topology(network, rate=rate)
    forwarding = fabric.tables_of(ROUTINGS.make(routing, network), made) if tables is not None else None
    for note in fabric.write_net(made, output):
        say(note)
    if tables is not None:
        fabric.write_tables(forwarding, made, tables)
        say(f"tables written to {tables}")
    switches, hosts = plural(len(made.switches), "switch", "switches"), plural(len(made.endpoints), "host")
    say(f"{switches} and {hosts} written to {output}")


def _named(*paths: Path | None) -> list[tuple[str, str]]:
    return [(str(path), "") for path in paths if path is not None]
