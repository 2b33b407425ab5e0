"""Arguments and options that several sub-verbs of ``obliv fabric`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Guid2Lid", "Offset", "OptionalTables", "SkipMissing", "TablesFile", "TopologyFile"]

_TABLES = typer.Option(
    "--lft", metavar="FILE", help="Forwarding tables: output of dump_lfts or ibroute, opensm-lfts.dump, opensm.fdbs."
)

TopologyFile = Annotated[
    Path,
    typer.Argument(metavar="TOPOLOGY", help="Output of ibnetdiscover or iblinkinfo, opensm-subnet.lst, ibsim's .net."),
]
TablesFile = Annotated[Path, _TABLES]
OptionalTables = Annotated[Path | None, _TABLES]
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
