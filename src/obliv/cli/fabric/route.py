"""``obliv fabric route``: new forwarding tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import ExtendedLids, Files, Offset
from obliv.cli.options import FormatOption, Seed
from obliv.cli.output import Answer, progress, require_outputs, say
from obliv.errors import InputError

__all__ = ["route"]

_RULE, _LONG = 5e-7, 60.0  # seconds that OpenSM 3.3.23 takes for a rule of a policy; for all path records


def route(
    files: Files,
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
            help="Virtual lanes that layered and the engines for tori may use (default 1, or those of --oper-vls).",
        ),
    ] = None,
    oper_vls: Annotated[
        str | None,
        typer.Option(
            "--oper-vls", metavar="N|FILE", help="Lanes that ports operate, no more are used: as for fabric check."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="File for the service levels, for  opensm -Q -Y FILE; needed with --lanes.",
        ),
    ] = None,
    psl: Annotated[
        Path | None,
        typer.Option("--psl", metavar="FILE", help="File for the service levels pair by pair, for  fabric check --sl."),
    ] = None,
    sl2vl: Annotated[
        Path | None,
        typer.Option(
            "--sl2vl",
            metavar="FILE",
            help="File for the SL-to-VL tables of dor-dateline, minimal and two-turn, for OpenSM's plug-in.",
        ),
    ] = None,
    effort: Annotated[
        float, typer.Option("--effort", metavar="X", help="Try X times as many changes of tables.")
    ] = 1.0,
    seed: Seed = 0,
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
    format: FormatOption = "table",
) -> None:
    """Compute new forwarding tables, never worse than --lft.

    The tables are checked before they are written. If no new ones are better than those of --lft, nothing is written
    and the exit status is 1. Tables with credit loops are never better than tables without.

    Example: obliv fabric route ibnetdiscover.txt --lft opensm-lfts.dump -o better.lfts
    """
    import obliv.fabric
    from obliv._util.files import together
    from obliv._util.text import plural
    from obliv.fabric.lanes.levels import one_level
    from obliv.fabric.lanes.read import lanes_within
    from obliv.fabric.lids import beyond_infiniband, require_writable_lids
    from obliv.fabric.reroute.engines import GRID_ENGINES

    require_outputs(output, net, policy, psl, sl2vl, inputs=files.inputs)
    on_grid = engine in GRID_ENGINES
    named = sl2vl is not None and psl is not None if on_grid else policy is not None
    if lanes is not None and lanes > 1 and not named:
        if on_grid:
            raise InputError(f"{engine}: name files for the lanes with  --sl2vl FILE --psl FILE")
        raise InputError(f"--lanes {lanes}: name a file for the service levels of pairs with  --policy FILE")
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
            effort=effort,
            rng=seed,
            force=force,
            ignore_credit_loops=ignore_credit_loops,
            progress=step,
        )
        specs = result.provenance.specs | {"topology": files.spec}
        result = replace(result, topology=files.spec, provenance=replace(result.provenance, specs=specs))
        if not result.kept:
            with together():
                if policy is not None and result.levels is not None:
                    rules = obliv.fabric.write_policy(result.levels, result.fabric, policy)
                    result = replace(result, policy=str(policy), rules=rules)
                if sl2vl is not None and result.lane_tables is not None:
                    obliv.fabric.write_sl2vl(result.lane_tables, result.fabric, sl2vl)
                    result = replace(result, sl2vl=str(sl2vl))
                if psl is not None:
                    obliv.fabric.write_psl(result.levels or one_level(0), result.fabric, psl)
                obliv.fabric.write_tables(result.tables, result.fabric, output, progress=step)
                result = replace(result, output=str(output))
                if net is not None:
                    obliv.fabric.write_net(result.fabric, net)
    Answer(format=format).show(result)
    if result.kept:
        say("no new tables are better than those in use: nothing was written (use --force to write new ones)")
        raise typer.Exit(1)
    more = f" -l {result.lmc}" if result.lmc else ""
    if net is not None:
        say(f"fabric with the new LIDs written to {net}")
    elif result.lmc:
        say("to check these tables before you load them, add --net FILE for the fabric with their LIDs")
    if policy is not None and result.policy is None:
        say(f"all packets can use one lane: {policy} is not needed and was not written")
    if result.rules is not None and (seconds := result.rules * _RULE * len(result.fabric.endpoints) ** 2) > _LONG:
        say(
            f"OpenSM goes through the {plural(result.rules, 'rule')} of {policy} for each path record, some "
            f"{seconds:,.0f} s for those of all pairs of hosts; its plug-in obliv looks levels up in the file of --psl"
        )
    if sl2vl is not None and result.sl2vl is None:
        say(f"packets do not change the lane on the way: {sl2vl} is not needed and was not written")
    has_lids = net is not None or not result.lmc  # otherwise the hint at --net says enough
    if psl is not None and has_lids and (result.levels is not None or result.sl2vl is not None):
        lanes_of = "identity" if result.sl2vl is None else result.sl2vl
        say(f"check it with  obliv fabric check {net or files.topology} --lft {output} --sl {psl} --sl2vl {lanes_of}")
    elif psl is None and result.levels is not None:
        say("to check the lanes of these tables, add --psl FILE for their service levels, which  check --sl  reads")
    if beyond_infiniband(result.fabric)[0]:
        say(f"written to {output}; its LIDs have more than 16 bits: OpenSM cannot load it")
        return
    if result.sl2vl is not None or (result.levels is not None and result.policy is None):
        tables_of = "" if result.sl2vl is None else f",sl2vl={sl2vl}"
        with_lmc = f"  and  opensm -l {result.lmc}" if result.lmc else ""
        files_of = f"lfts={output}{tables_of},psl={psl}"
        say(f"written to {output}; load it with OpenSM's plug-in obliv:  event_plugin_options {files_of}{with_lmc}")
        return
    if result.policy is not None:
        more += f" -Q -Y {policy}"
    say(f"written to {output}; load it with  opensm -R file -U {output}{more}")
