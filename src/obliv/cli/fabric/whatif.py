"""``obliv fabric whatif``: what a change of a few cables or table entries does, from a kept state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from obliv.cli.fabric.reading import TablesFiles
from obliv.cli.output import Answer, Looks, progress, require_outputs, say

__all__ = ["whatif"]


def whatif(
    files: TablesFiles,
    base: Annotated[
        Path, typer.Option("--base", metavar="STATE", help="File with the state before; made if it does not exist.")
    ],
    *,
    fail: Annotated[
        list[str] | None,
        typer.Option("--fail", metavar="NAME/PORT", help="Fail this cable, or the switch NAME; repeat."),
    ] = None,
    entries: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SWITCH/LID=PORT", help="New port of this table entry, none for no port; repeat."
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="NAME/PORT,NAME/PORT", help="New cable between free ports of switches; repeat."),
    ] = None,
    net: Annotated[
        Path | None,
        typer.Option("--net", metavar="FILE", help="Write the changed fabric, .net, for new tables by fabric route."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the worst cases before and after (.png, .svg, .pdf)."),
    ] = None,
    looks: Looks,
    answer: Answer,
) -> None:
    """Find the worst case after a change, from a kept state.

    The first call solves the tables and keeps the state in a file; later ones read that file and solve what changes.

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --base tonight.state --fail leaf3/17

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --base tonight.state --set leaf3/12=20

    Example: obliv fabric whatif ibnetdiscover.txt --lft opensm-lfts.dump --base tonight.state --add leaf3/20,spine1/7
    """
    import obliv.fabric
    from obliv._util.files import together

    looks.require(plot)
    require_outputs(answer.output, plot, net, inputs=[*files.inputs, (str(base), "")])
    if os.path.exists(base):
        state = obliv.fabric.read_base(base)
        obliv.fabric.require_same_files(state, base, [path for path, _ in files.inputs], files.offset)
    else:
        require_outputs(base, inputs=files.inputs)
        with progress() as step:
            step("tables before a change", 0.0)
            state = obliv.fabric.base_of(files.routing(True, step, notes=False))
        obliv.fabric.save_base(state, base)
        say(f"state kept in {base}")
    result = obliv.fabric.what_if(state, fail=fail or (), entries=entries or (), add=add or ())
    with answer.anyway(result), together():
        if net is not None:
            fabric, _ = files.read()
            dropped = obliv.fabric.write_net(obliv.fabric.changed(fabric, fail=fail or (), add=add or ()), net)
            say(f"the changed fabric is in {net}: new tables by  obliv fabric route {net} -o NEW.lfts")
            for what in dropped:
                say(f"{net}: left out: {what}")
        answer.save(result)
    answer.print(result)
    looks.save(result.plot, plot)
