"""``obliv fabric generate``: fabrics made from topologies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliv._util.text import plural
from obliv.cli.fabric.reading import ExtendedLids
from obliv.cli.options import TopologySpec
from obliv.cli.output import progress, require_outputs, say
from obliv.errors import InputError

__all__ = ["generate"]


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
    from obliv.fabric.lids import LAST_EXTENDED_LID, LAST_LID
    from obliv.topologies.checks import at_most

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
