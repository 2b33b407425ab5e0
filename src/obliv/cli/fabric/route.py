"""``obliv fabric route``: new forwarding tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.fabric.reading import ExtendedLids, Files, Offset
from obliv.cli.options import FormatOption, Seed
from obliv.cli.output import Answer, Looks, progress, require_outputs, say
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.results.fabric.route import FabricRoute

__all__ = ["route"]

_RULE, _LONG = 5e-7, 60.0  # seconds that OpenSM 3.3.23 takes for a rule of a policy; for all path records


@dataclass(frozen=True, kw_only=True)
class LaneFiles:
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
        from obliv.fabric.reroute.engines import GRID_ENGINES

        on_grid = engine in GRID_ENGINES
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
        from obliv.fabric.lanes.levels import one_level

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
            help="auto, osrm3-d, osrm3, osrm2, osrm2-c, dmodk, updown, layered, dor-dateline, minimal or two-turn.",
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
    lane_files: LaneFiles,
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
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the worst loads of all engines (.png, .svg, .pdf)."),
    ] = None,
    looks: Looks,
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
    from obliv.fabric.lids import require_writable_lids

    looks.require(plot)
    require_outputs(output, net, plot, lane_files.policy, lane_files.psl, lane_files.sl2vl, inputs=files.inputs)
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
    looks.save(result.plot, plot)
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
    from obliv.fabric.lids import beyond_infiniband

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
