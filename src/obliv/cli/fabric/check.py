"""``obliv fabric check``: errors in cables, forwarding tables and routes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.fabric.reading import ArInfo, ExtendedLids, Far, Files
from obliv.cli.output import Answer, progress, require_outputs
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.fabric.files.folder import Folder

__all__ = ["check"]


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
