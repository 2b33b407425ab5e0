"""Fabrics and tables named on the command line; messages go to standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv._util.progress import Progress
from obliv.cli.output import Answer, progress, require_outputs, say
from obliv.cli.specs import say_skipped

if TYPE_CHECKING:
    from obliv.fabric.model import Fabric
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.fabric.tables import Tables
    from obliv.results import Result

__all__ = ["Files", "Guid2Lid", "Offset", "SkipMissing", "TablesFiles", "TopologyFile"]

_LFT = typer.Option(
    "--lft", metavar="FILE", help="Forwarding tables: output of dump_lfts or ibroute, opensm-lfts.dump, opensm.fdbs."
)
TopologyFile = Annotated[
    Path,
    typer.Argument(metavar="TOPOLOGY", help="Output of ibnetdiscover or iblinkinfo, opensm-subnet.lst, ibsim's .net."),
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
        return [(str(path), "") for path in (self.topology, self.lft, self.guid2lid) if path is not None]

    @property
    def spec(self) -> str:
        """The spec of the fabric."""
        return f"fabric:{self.topology}" + (f",guid2lid={self.guid2lid}" if self.guid2lid is not None else "")

    def read(self) -> tuple[Fabric, Tables | None]:
        """Read fabric and tables; the first warning or error about the files goes to standard error."""
        import obliv.fabric

        fabric, tables = obliv.fabric.read(self.topology, self.lft, guid2lid=self.guid2lid)
        findings = fabric.findings + (tables.findings if tables is not None else ())
        serious = [finding for finding in findings if finding.severity != "note"]
        if serious:
            count = sum(finding.count for finding in serious) - 1
            more = f" (and {count:,} more)" if count else ""
            lft = f" --lft {self.lft}" if self.lft is not None else ""
            guid2lid = f" --guid2lid {self.guid2lid}" if self.guid2lid is not None else ""
            say(f"{serious[0].message}{more}: see  obliv fabric check {self.topology}{lft}{guid2lid}")
        return fabric, tables


@dataclass(frozen=True, kw_only=True)
class TablesFiles(Files):
    """The input files of an analysis, which needs forwarding tables."""

    lft: Annotated[Path, _LFT] = field()
    offset: Offset = "0"

    def routing(self, skip: bool | None, *, notes: bool = True) -> FabricRouting:
        """Read the files as a routing.

        Parameters
        ----------
        skip : bool or None
            Whether pairs whose packets do not arrive are left out; None: the sub-verb has no such option.
        notes : bool
            Whether the topology's notes go to standard error.
        """
        import obliv.fabric

        fabric, tables = self.read()
        if tables is None:
            raise TypeError("a routing needs forwarding tables")
        network = obliv.fabric.network(fabric, self.spec)
        for note in network.notes if notes else ():
            say(note)
        routing = obliv.fabric.routing(network, tables, self.offset, missing="skip" if skip else "refuse")
        if skip:
            say_skipped(routing)
        else:
            routing.require_all("" if skip is None else "leave such pairs out with --skip-missing")
        return routing

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
                result = analysis(self.routing(skip, notes=notes), step)
            answer.show(result)
