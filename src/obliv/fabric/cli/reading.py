"""Fabrics and tables named on the command line; messages go to standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv._util.progress import Progress
from obliv.cli.output import Answer, progress, require_outputs, say
from obliv.cli.specs import say_skipped
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.fabric.files.folder import Folder
    from obliv.fabric.model import Fabric, Tables
    from obliv.fabric.results.check import Finding
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.results.base import Result

__all__ = [
    "ArInfo",
    "ExtendedLids",
    "Far",
    "Files",
    "GroupFiles",
    "Guid2Lid",
    "Offset",
    "SkipMissing",
    "TablesFiles",
    "TopologyFile",
]

_LFT = typer.Option(
    "--lft", metavar="FILE", help="Forwarding tables: output of dump_lfts or ibroute, opensm-lfts.dump, opensm.fdbs."
)
Far = Annotated[
    Path | None, typer.Option("--far", metavar="FILE", help="Groups of ports of adaptive routing: ibdiagnet2.far.")
]
ArInfo = Annotated[
    Path | None,
    typer.Option("--ar-info", metavar="FILE", help="Service levels that are adaptive: ibdiagnet2.db_csv."),
]
TopologyFile = Annotated[
    Path,
    typer.Argument(
        metavar="TOPOLOGY",
        help="Output of ibnetdiscover, iblinkinfo or ibdiagnet, opensm-subnet.lst, ibsim's .net; or their folder.",
    ),
]
Guid2Lid = Annotated[Path | None, typer.Option("--guid2lid", metavar="FILE", help="OpenSM's guid2lid file.")]
Offset = Annotated[
    str,
    typer.Option(
        "--offset",
        metavar="RULE",
        help="Rule for the destination LID used by a source if LMC > 0: a number, group, index, 0-0-1-1 or spread.",
    ),
]
ExtendedLids = Annotated[
    bool, typer.Option("--extended-lids", help="LIDs may have 24 bits, as on Omni-Path, beyond InfiniBand's 49151.")
]
SkipMissing = Annotated[bool, typer.Option("--skip-missing", help="Leave out pairs whose packets do not arrive.")]


@dataclass(frozen=True, kw_only=True)
class Files:
    """The input files of a sub-verb."""

    topology: TopologyFile
    lft: Annotated[Path | None, _LFT] = None
    guid2lid: Guid2Lid = None

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """The files that are read, as outputs must not replace them."""
        found = () if self.folder is None else self.folder.files
        return [(str(path), "") for path in (self.topology, self.lft, self.guid2lid, *found) if path is not None]

    @cached_property
    def folder(self) -> Folder | None:
        """The files of the folder that is given instead of a topology, if it is one."""
        from obliv.fabric.files.folder import folder_of

        return folder_of(self.topology)

    @property
    def tables(self) -> Path | None:
        """The file of forwarding tables, named or found in the folder."""
        return self.lft or (None if self.folder is None else self.folder.lft)

    @property
    def spec(self) -> str:
        """The spec of the fabric."""
        return f"fabric:{self.topology}" + (f",guid2lid={self.guid2lid}" if self.guid2lid is not None else "")

    def read(self, step: Progress | None = None) -> tuple[Fabric, Tables | None]:
        """Read fabric and tables; the first warning or error about the files goes to standard error."""
        fabric, tables = self.files(step)
        self._say(fabric.findings + (tables.findings if tables is not None else ()))
        return fabric, tables

    def files(self, step: Progress | None = None) -> tuple[Fabric, Tables | None]:
        """Read fabric and tables; what was found in a folder goes to standard error."""
        import obliv.fabric

        found = self.folder
        if found is None:
            return obliv.fabric.read(self.topology, self.lft, guid2lid=self.guid2lid, progress=step)
        say(found.text)
        guid2lid = self.guid2lid or found.guid2lid
        return obliv.fabric.read(found.topology, self.tables, guid2lid=guid2lid, progress=step)

    def _say(self, findings: Sequence[Finding]) -> None:
        """Print the first of some findings that is not a note."""
        serious = [finding for finding in findings if finding.severity != "note"]
        if serious:
            count = sum(finding.count for finding in serious) - 1
            more = f" (and {count:,} more)" if count else ""
            named = {"--lft": self.lft, "--far": getattr(self, "far", None), "--guid2lid": self.guid2lid}
            given = "".join(f" {option} {path}" for option, path in named.items() if path is not None)
            first = serious[0]
            place = f"{first.file}:{first.line}: " if first.line else f"{first.file}: " if first.file else ""
            say(f"{place}{first.message}{more}: see  obliv fabric check {self.topology}{given}")


@dataclass(frozen=True, kw_only=True)
class TablesFiles(Files):
    """The input files of an analysis, which needs forwarding tables: of a file, or in the folder of the topology."""

    lft: Annotated[Path | None, _LFT] = field()
    offset: Offset = "0"

    def routing(
        self, skip: bool | None, step: Progress | None = None, *, notes: bool = True, whole: bool = True
    ) -> FabricRouting:
        """Read the files as a routing.

        Parameters
        ----------
        skip : bool or None
            Whether pairs whose packets do not arrive are left out; None: the sub-verb has no such option.
        step : callable, optional
            Called with what is being done and the share that is done.
        notes : bool
            Whether the topology's notes go to standard error.
        whole : bool
            Whether tables that lose packets are refused here unless `skip`; else the analysis decides.
        """
        import obliv.fabric

        fabric, tables = self.read(step)
        if tables is None:
            raise InputError(f"{self.topology}: has no forwarding tables: add --lft FILE")
        if self.folder is not None and self.folder.far is not None:
            say(f"the answer is for the static tables; {self.folder.far.name} is not used")
        network = obliv.fabric.network(fabric, self.spec)
        for note in network.notes if notes else ():
            say(note)
        routing = obliv.fabric.routing(network, tables, self.offset, missing="skip" if skip else "refuse")
        return _complete(routing, skip) if whole or skip else routing

    def show(
        self,
        answer: Answer,
        analysis: Callable[[FabricRouting, Progress], Result],
        skip: bool | None,
        *,
        notes: bool = True,
    ) -> None:
        """Print and save the result of an analysis, or the finished part if Ctrl-C interrupts it."""
        require_outputs(answer.output, inputs=self.inputs)
        with answer.best_so_far():
            with progress() as step:
                result = analysis(self.routing(skip, step, notes=notes), step)
            answer.show(result)


@dataclass(frozen=True, kw_only=True)
class GroupFiles(Files):
    """The input files of an analysis of forwarding tables, or of adaptive routing."""

    far: Far = None
    adaptive: Annotated[
        str,
        typer.Option("--adaptive", help="Use of the groups: static (ports), even or best (split), worst (any choice)."),
    ] = ""
    ar_info: ArInfo = None
    sl: Annotated[
        int | None, typer.Option("--sl", metavar="N", help="With --ar-info: the service level of packets.")
    ] = None
    plft: Annotated[
        int | None, typer.Option("--plft", metavar="N", help="Private LFT of packets, where there are several.")
    ] = None
    offset: Offset = "0"

    @property
    def groups(self) -> Path | None:
        """The file of groups of ports: one that is named, or that of the folder if it has no tables or use is asked."""
        folder = self.folder
        if self.far is not None or folder is None or (self.tables is not None and not self.adaptive):
            return self.far
        return folder.far

    @property
    def inputs(self) -> list[tuple[str, str]]:
        return [*super().inputs, *((str(path), "") for path in (self.far, self.ar_info) if path is not None)]

    def routing(self, skip: bool, step: Progress | None = None, *, notes: bool = True) -> FabricRouting:
        """Read the files as a routing, see :meth:`TablesFiles.routing`."""
        import obliv.fabric
        from obliv.fabric.adaptive.routing import groups_spec
        from obliv.fabric.routes.routing import spec_options

        far = self.groups
        if far is None:
            if self.adaptive or self.ar_info is not None or self.sl is not None or self.plft is not None:
                raise InputError("--adaptive, --ar-info, --sl and --plft need the groups of ports: add --far FILE")
            if self.tables is None:
                raise InputError("add --lft FILE, or for adaptive routing --far FILE (see obliv fabric worst --help)")
            files = TablesFiles(topology=self.topology, lft=self.lft, guid2lid=self.guid2lid, offset=self.offset)
            return files.routing(skip, step, notes=notes)
        fabric, tables = self.read(step)
        if (self.ar_info is None) != (self.sl is None):
            raise InputError("--ar-info and --sl must be given together: which service levels are adaptive, and yours")
        groups = obliv.fabric.read_adaptive(fabric, far, tables=tables, info=self.ar_info, sl=self.sl, plft=self.plft)
        self._say(groups.findings)
        network = obliv.fabric.network(fabric, self.spec)
        for note in network.notes if notes else ():
            say(note)
        missing = "skip" if skip else "refuse"
        mode = "even" if self.adaptive in ("", "best") else self.adaptive
        options = spec_options(self.offset, missing)
        spec = groups_spec(far, mode, lft=self.tables, info=self.ar_info, sl=self.sl, plft=self.plft, options=options)
        routing = obliv.fabric.adaptive_routing(network, groups, mode, self.offset, missing=missing, spec=spec)
        return _complete(routing, skip)


def _complete(routing: FabricRouting, skip: bool | None) -> FabricRouting:
    """Return a routing that serves all pairs, or say which are left out."""
    if skip:
        say_skipped(routing)
    else:
        routing.require_all("" if skip is None else "leave such pairs out with --skip-missing")
    return routing
