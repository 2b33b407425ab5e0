"""Fabrics and tables named on the command line; messages go to standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from obliv._util.progress import Progress
from obliv.cli.options import Format
from obliv.cli.output import answer, kept, progress, require_outputs, say, say_skipped

if TYPE_CHECKING:
    from obliv.fabric.model import Fabric
    from obliv.fabric.routes.routing import FabricRouting
    from obliv.fabric.tables import Tables
    from obliv.results import Result

__all__ = ["Files", "print_analysis"]


@dataclass(frozen=True)
class Files:
    """The input files of a sub-verb."""

    topology: Path
    lft: Path | None = None
    guid2lid: Path | None = None

    @property
    def named(self) -> list[tuple[str, str]]:
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
            words = [str(self.topology)]
            words += ["--lft", str(self.lft)] if self.lft is not None else []
            words += ["--guid2lid", str(self.guid2lid)] if self.guid2lid is not None else []
            say(f"{serious[0].message}{more}: see  obliv fabric check {' '.join(words)}")
        return fabric, tables

    def routing(self, offset: str, skip: bool | None, *, notes: bool = True) -> FabricRouting:
        """Read the files as a routing.

        Parameters
        ----------
        offset : str
        skip : bool or None
            Whether pairs whose packets do not arrive are left out; None: the sub-verb has no such option.
        notes : bool
            Whether the topology's notes go to standard error.
        """
        import obliv.fabric

        fabric, tables = self.read()
        network = obliv.fabric.network(fabric, self.spec)
        for note in network.notes if notes else ():
            say(note)
        if tables is None:
            raise TypeError("a routing needs forwarding tables")
        routing = obliv.fabric.routing(network, tables, offset, missing="skip" if skip else "refuse")
        if skip:
            say_skipped(routing)
        else:
            routing.require_all("" if skip is None else "leave such pairs out with --skip-missing")
        return routing


def print_analysis(
    format: Format,
    analysis: Callable[[FabricRouting, Progress], Result],
    files: Files,
    offset: str,
    skip: bool | None,
    output: Path | None = None,
    *,
    notes: bool = True,
) -> None:
    """Print and save the result of an analysis of the tables; where it is interrupted, the part that is finished."""
    require_outputs(output, inputs=files.named)
    with kept(format, output):
        with progress() as step:
            result = analysis(files.routing(offset, skip, notes=notes), step)
        answer(result, format, output)
