"""Verbs that check, compute (route) and write the tables of a fabric, generate fabrics, and export them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv._util.text import plural
from obliv.cli.options import FormatOption, Seed, TopologySpec
from obliv.cli.output import Answer, Picture, progress, require_outputs, say
from obliv.errors import InputError
from obliv.fabric.cli.reading import ArInfo, ExtendedLids, Far, Files, Guid2Lid, Offset, TopologyFile
from obliv.fabric.reroute.engines import ENGINES, engine_of

if TYPE_CHECKING:
    from obliv.fabric.files.folder import Folder
    from obliv.fabric.results.route import FabricRoute


@dataclass(frozen=True, kw_only=True)
class LaneFiles:
    """The virtual lanes of a fabric, by files or numbers."""

    sl2vl: Annotated[
        Path | None,
        typer.Option(
            "--sl2vl",
            metavar="FILE",
            help="SL-to-VL tables: opensm-sl2vl.dump, .slvl, output of smpquery sl2vl or saquery SL2VL; or identity.",
        ),
    ] = None
    sl: Annotated[
        str | None,
        typer.Option(
            "--sl",
            metavar="N|FILE",
            help="Service levels: a number, or output of saquery PR, .psl, opensm-path-records.dump (default 0).",
        ),
    ] = None
    oper_vls: Annotated[
        str | None,
        typer.Option("--oper-vls", metavar="N|FILE", help="Lanes that ports operate: a number, or smpquery portinfo."),
    ] = None
    vlarb: Annotated[Path | None, typer.Option("--vlarb", metavar="FILE", help="Output of smpquery vlarb.")] = None

    def completed(self, folder: Folder | None) -> LaneFiles:
        """Return the same with what a folder has of the files that are not named."""
        if folder is None:
            return self
        sl = self.sl if self.sl is not None or folder.sl is None else str(folder.sl)
        return replace(self, sl2vl=self.sl2vl or folder.sl2vl, sl=sl)

    @property
    def given(self) -> bool:
        """Whether anything is known about lanes."""
        return any(value is not None for value in vars(self).values())

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """The files that are read, as outputs must not replace them."""
        return [(str(path), "") for path in vars(self).values() if path is not None and os.path.isfile(path)]


def check(
    files: Files,
    *,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="OpenSM's log, which names the routing engine used.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Routing engine requested from OpenSM.")] = None,
    lanes: LaneFiles,
    far: Far = None,
    ar_info: ArInfo = None,
    limits: Annotated[
        Path | None,
        typer.Option("--limits", metavar="FILE", help="TOML file of limits, as worst_load = 4; exit status 1 beyond."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Planned cabling: a topology file, or CSV (UFM, NetBox, yours)."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    extended_lids: ExtendedLids = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 also for warnings.")] = False,
    answer: Answer,
) -> None:
    """Check a fabric and its forwarding tables.

    The report covers cables, tables, lost packets, credit loops and the engine that OpenSM used. The exit status is 1
    if there is an error, with --strict also if there is a warning.

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump --sl2vl opensm-sl2vl.dump --sl paths.psl

    Example: obliv fabric check ibnetdiscover.txt --lft opensm-lfts.dump --limits fabric.toml --junit report.xml

    Example: obliv fabric check /var/tmp/ibdiagnet2 --plan ufm-ndt.csv
    """
    import obliv.fabric
    from obliv._util.files import together, write_whole

    if engine is not None and log is None:
        raise InputError("--engine is compared with OpenSM's log: add --log FILE")
    if files.tables is None and lanes.given:
        raise InputError("lanes belong to routes: add --lft TABLES")
    if ar_info is not None and far is None:
        raise InputError("--ar-info is about the groups of ports: add --far FILE")
    inputs = [(str(path), "") for path in (far, ar_info, limits, plan) if path is not None]
    require_outputs(answer.output, junit, sarif, inputs=[*files.inputs, *lanes.inputs, *inputs])
    asked = None if limits is None else obliv.fabric.read_limits(limits)
    if plan is not None:
        if asked is not None and asked.plan is not None:
            raise InputError(f"--plan, and the limit plan of {limits}: give one of them")
        asked = replace(asked or obliv.fabric.Limits(name=str(plan)), plan=str(plan))
    if files.folder is not None:
        if far is None:
            far, ar_info = files.folder.far, ar_info or files.folder.info
        lanes = lanes.completed(files.folder) if files.tables is not None else lanes
    with progress() as step:
        fabric, tables = files.files(step)
        fabric = replace(fabric, extended_lids=extended_lids)
        known = obliv.fabric.read_lanes(fabric, **vars(lanes)) if lanes.given else None
        groups = None if far is None else obliv.fabric.read_groups(far, fabric)
        info = None if ar_info is None else obliv.fabric.read_ar_info(ar_info, fabric)
        result = obliv.fabric.check(
            fabric, tables, log, engine=engine, lanes=known, groups=groups, info=info, progress=step
        )
        if asked is not None:
            result = obliv.fabric.within_limits(result, asked, tables, progress=step)
    with answer.anyway(result), together():
        if junit is not None:
            write_whole(junit, obliv.fabric.junit_of(result, strict).encode())
        if sarif is not None:
            write_whole(sarif, obliv.fabric.sarif_of(result).encode())
        answer.save(result)
    answer.print(result)
    if not (result.clean if strict else result.ok):
        raise typer.Exit(1)


# ``obliv fabric route``: new forwarding tables


_RULE, _LONG = 5e-7, 60.0  # seconds that OpenSM 3.3.23 takes for a rule of a policy; for all path records


@dataclass(frozen=True, kw_only=True)
class NewLaneFiles:
    """The files for the service levels and lanes of new tables."""

    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="File for the service levels, for  opensm -Q -Y FILE; with --lanes, this or the next two are needed.",
        ),
    ] = None
    psl: Annotated[
        Path | None,
        typer.Option("--psl", metavar="FILE", help="File for the service levels pair by pair, for  fabric check --sl."),
    ] = None
    sl2vl: Annotated[
        Path | None,
        typer.Option(
            "--sl2vl",
            metavar="FILE",
            help="File for the SL-to-VL tables of engines for grids, for OpenSM's plug-in; auto uses none without it.",
        ),
    ] = None

    def require(self, engine: str, lanes: int | None) -> bool:
        """Return whether the files that lanes of an engine need are named; raise InputError if lanes are asked for."""
        on_grid = engine in ENGINES and engine_of(engine).lane_tables
        named = self.for_plug_in or (self.policy is not None and not on_grid)
        if lanes is not None and lanes > 1 and not named:
            if on_grid:
                raise InputError(f"{engine}: name files for the lanes with  --sl2vl FILE --psl FILE")
            raise InputError(
                f"--lanes {lanes}: name a file for the service levels of pairs with  --policy FILE, or files for "
                "OpenSM's plug-in with  --sl2vl FILE --psl FILE"
            )
        return named

    @property
    def for_plug_in(self) -> bool:
        """Whether the files are named that OpenSM's plug-in reads."""
        return self.sl2vl is not None and self.psl is not None

    def write(self, result: FabricRoute) -> FabricRoute:
        """Write the files that the tables need; return the result with their names."""
        import obliv.fabric
        from obliv.fabric.lanes.pairs import one_level

        if self.policy is not None and result.levels is not None:
            rules = obliv.fabric.write_policy(result.levels, result.fabric, self.policy)
            result = replace(result, policy=str(self.policy), rules=rules)
        if self.sl2vl is not None and result.lane_tables is not None:
            obliv.fabric.write_sl2vl(result.lane_tables, result.fabric, self.sl2vl)
            result = replace(result, sl2vl=str(self.sl2vl))
        if self.psl is not None:
            obliv.fabric.write_psl(result.levels or one_level(0), result.fabric, self.psl)
        return result

    def report(self, result: FabricRoute) -> None:
        """Say which files were not needed, and what a policy costs OpenSM."""
        from obliv._util.text import plural

        if self.policy is not None and result.policy is None:
            say(f"all packets can use one lane: {self.policy} is not needed and was not written")
        if result.rules is not None and (seconds := result.rules * _RULE * len(result.fabric.endpoints) ** 2) > _LONG:
            say(
                f"OpenSM goes through the {plural(result.rules, 'rule')} of {self.policy} for each path record, some "
                f"{seconds:,.0f} s for those of all pairs of hosts; its plug-in obliv looks levels up in the file of "
                "--psl"
            )
        if self.sl2vl is not None and result.sl2vl is None:
            say(f"packets do not change the lane on the way: {self.sl2vl} is not needed and was not written")


def route(
    files: Files,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the tables, for  opensm -R file -U FILE.")],
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            help=f"auto, {', '.join([*ENGINES][:-1])} or {[*ENGINES][-1]}.",
        ),
    ] = "auto",
    offset: Offset = "0",
    lmc: Annotated[int, typer.Option("--lmc", min=0, max=7, help="Largest LMC allowed.")] = 7,
    lanes: Annotated[
        int | None,
        typer.Option(
            "--lanes",
            min=1,
            max=15,
            help="Virtual lanes that layered and the engines for grids may use (default 1, or those of --oper-vls).",
        ),
    ] = None,
    oper_vls: Annotated[
        str | None,
        typer.Option(
            "--oper-vls", metavar="N|FILE", help="Lanes that ports operate, no more are used: as for fabric check."
        ),
    ] = None,
    lane_files: NewLaneFiles,
    effort: Annotated[
        float, typer.Option("--effort", metavar="X", help="Try X times as many changes of tables.")
    ] = 1.0,
    seed: Seed = 0,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Figure that counts first: worst, uniform, shifts; or balanced, the default with --lft: none of them "
            "larger than in use.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="FIGURE=VALUE",
            help="With balanced, a figure that may grow, and up to what: worst, uniform, shifts, random, idle or lids.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write the new tables even if they are not better than those of --lft.")
    ] = False,
    ignore_credit_loops: Annotated[
        bool,
        typer.Option(
            "--ignore-credit-loops", help="Ignore credit loops of --lft, if virtual lanes break them on your fabric."
        ),
    ] = False,
    net: Annotated[
        Path | None,
        typer.Option("--net", metavar="FILE", help="File for the fabric with the LIDs of the new tables (.net)."),
    ] = None,
    extended_lids: ExtendedLids = False,
    picture: Picture,
    format: FormatOption = "table",
) -> None:
    """Compute new forwarding tables, never worse than --lft.

    Tables are compared by pairs, credit loops, worst case, uniform load, shifts and idle channels, and checked before
    they are written. If no new ones are better than those of --lft, nothing is written and the exit status is 1.

    Example: obliv fabric route ibnetdiscover.txt --lft opensm-lfts.dump -o better.lfts
    """
    import obliv.fabric
    from obliv._util.files import together
    from obliv.fabric.lanes.read import lanes_within
    from obliv.fabric.names import require_writable_lids

    picture.require()
    written = lane_files.policy, lane_files.psl, lane_files.sl2vl
    require_outputs(output, net, picture.plot, *written, inputs=files.inputs)
    named = lane_files.require(engine, lanes)
    with progress() as step:
        fabric, tables = files.read(step)
        fabric = replace(fabric, extended_lids=extended_lids)
        most = lanes_within(fabric, lanes, oper_vls)
        require_writable_lids(fabric, output)
        result = obliv.fabric.route(
            fabric,
            engine,
            tables,
            offset=offset,
            most_lmc=lmc,
            lanes=most if lanes is not None or named else 1,
            lane_tables=lane_files.for_plug_in,
            effort=effort,
            by=by,
            allow=_allowed(allow or []),
            rng=seed,
            force=force,
            ignore_credit_loops=ignore_credit_loops,
            progress=step,
        )
        specs = result.provenance.specs | {"topology": files.spec}
        result = replace(result, topology=files.spec, provenance=replace(result.provenance, specs=specs))
        if not result.kept:
            with together():
                result = lane_files.write(result)
                obliv.fabric.write_tables(result.tables, result.fabric, output, progress=step)
                result = replace(result, output=str(output))
                if net is not None:
                    obliv.fabric.write_net(result.fabric, net)
    Answer(format=format).show(result)
    picture.save(result.plot)
    if result.kept:
        say("no new tables are better than those in use: nothing was written (use --force to write new ones)")
        raise typer.Exit(1)
    if net is not None:
        say(f"fabric with the new LIDs written to {net}")
    elif result.lmc:
        say("to check these tables before you load them, add --net FILE for the fabric with their LIDs")
    lane_files.report(result)
    _say_how_to_check(result, net or (None if result.lmc else files.topology), lane_files.psl)
    _say_how_to_load(result, lane_files.psl)


def _allowed(texts: list[str]) -> dict[str, str]:
    """Return the figures that may grow, and up to what."""
    for text in texts:
        if not all(text.partition("=")):
            raise InputError(f"--allow {text[:60]!r}: write FIGURE=VALUE, as uniform=2")
    named = [(name.strip(), value.strip()) for name, _, value in (text.partition("=") for text in texts)]
    if len(dict(named)) < len(named):
        raise InputError("--allow: a figure is named twice")
    return dict(named)


def _say_how_to_check(result: FabricRoute, topology: Path | None, psl: Path | None) -> None:
    """Say how to check the lanes of new tables; no topology has their LIDs if it is None."""
    if psl is None and result.levels is not None:
        say("to check the lanes of these tables, add --psl FILE for their service levels, which  check --sl  reads")
    elif psl is not None and topology is not None and (result.levels is not None or result.sl2vl is not None):
        lanes = result.sl2vl or "identity"
        say(f"check it with  obliv fabric check {topology} --lft {result.output} --sl {psl} --sl2vl {lanes}")


def _say_how_to_load(result: FabricRoute, psl: Path | None) -> None:
    """Say how OpenSM loads new tables: with a policy, or by the plug-in with the service levels of a file."""
    from obliv.fabric.names import beyond_infiniband

    written = f"written to {result.output}"
    if beyond_infiniband(result.fabric)[0]:
        say(f"{written}; its LIDs have more than 16 bits: OpenSM cannot load it")
    elif result.sl2vl is not None or (result.levels is not None and result.policy is None):
        lanes = "" if result.sl2vl is None else f",sl2vl={result.sl2vl}"
        with_lmc = f"  and  opensm -l {result.lmc}" if result.lmc else ""
        options = f"lfts={result.output}{lanes},psl={psl}"
        say(f"{written}; load it with OpenSM's plug-in obliv:  event_plugin_options {options}{with_lmc}")
    else:
        lmc = f" -l {result.lmc}" if result.lmc else ""
        policy = "" if result.policy is None else f" -Q -Y {result.policy}"
        say(f"{written}; load it with  opensm -R file -U {result.output}{lmc}{policy}")


# ``obliv fabric generate``: fabrics made from topologies


def generate(
    topology: TopologySpec,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the fabric (.net), which ibsim reads.")],
    rate: Annotated[str, typer.Option("--rate", help="Width and speed of every cable.")] = "4xQDR",
    routing: Annotated[str, typer.Option("--routing", help="Routing whose tables are written to --tables.")] = "",
    tables: Annotated[Path | None, typer.Option("--tables", help="File for the tables of --routing.")] = None,
    adaptive: Annotated[
        str, typer.Option("--adaptive", help="Rule of groups for adaptive routing, written to --far: updn or minimal.")
    ] = "",
    far: Annotated[Path | None, typer.Option("--far", help="File for the groups of --adaptive.")] = None,
    extended_lids: ExtendedLids = False,
) -> None:
    """Generate a fabric from a topology.

    Use it to try out subnet managers without hardware.

    Example: obliv fabric generate fattree:8,3 -o fabric.net
    """
    import obliv
    import obliv.fabric
    from obliv._util.files import together
    from obliv.fabric.names import LAST_EXTENDED_LID, LAST_LID
    from obliv.topologies.base import at_most

    require_outputs(output, tables, far)
    if bool(routing) != bool(tables):
        raise InputError("--routing and --tables must be given together: the routing, and the file for its tables")
    if bool(adaptive) != bool(far):
        raise InputError("--adaptive and --far must be given together: the rule of the groups, and the file for them")
    if extended_lids and adaptive:
        raise InputError("--extended-lids: groups of adaptive routing are read and written by LIDs of InfiniBand only")
    last, whose = (LAST_EXTENDED_LID, "24 bits give") if extended_lids else (LAST_LID, "InfiniBand has")
    otherwise = "" if extended_lids else ", or add --extended-lids for LIDs of 24 bits as on Omni-Path"
    enough = f"but each needs a LID, and {whose} {last:,} unicast LIDs: choose a smaller network{otherwise}"
    with at_most(last, enough):
        network = obliv.topology(topology)
    fabric = obliv.fabric.from_topology(network, rate=rate, extended_lids=extended_lids)
    forwarding = obliv.fabric.tables_of(obliv.routing(routing, network), fabric) if routing else None
    groups = obliv.fabric.groups_of(fabric, adaptive) if adaptive else None
    with together(), progress() as step:
        notes = obliv.fabric.write_net(fabric, output)
        if forwarding is not None and tables is not None:
            obliv.fabric.write_tables(forwarding, fabric, tables, progress=step)
        if groups is not None and far is not None:
            obliv.fabric.write_groups(groups, fabric, far)
    for note in notes:
        say(note)
    if tables is not None:
        say(f"tables written to {tables}")
    if far is not None:
        say(f"groups written to {far}")
    switches, hosts = plural(len(fabric.switches), "switch", "switches"), plural(len(fabric.endpoints), "host")
    say(f"{switches} and {hosts} written to {output}")


# ``obliv fabric export``: fabrics in the formats of other programs


def export(
    topology: TopologyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write (.graphml, .anynet or .net).")],
    to: Annotated[str, typer.Option("--to", help="graphml, anynet or net (default: from the file name).")] = "",
    guid2lid: Guid2Lid = None,
    extended_lids: ExtendedLids = False,
) -> None:
    """Write a fabric for another program.

    Formats: GraphML, BookSim's anynet, ibsim's .net.

    Example: obliv fabric export ibnetdiscover.txt -o fabric.graphml
    """
    import obliv.fabric

    files = Files(topology=topology, guid2lid=guid2lid)
    require_outputs(output, inputs=files.inputs)
    fabric, _ = files.read()
    for note in obliv.fabric.export(replace(fabric, extended_lids=extended_lids), output, to):
        say(note)
    say(f"written to {output}")
