"""The specs ``fabric:PATH`` and ``lft:PATH``, read from files of InfiniBand tools, and the measure of studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

from obliv._util.progress import Progress
from obliv.errors import RoutingError
from obliv.fabric.adaptive.routing import adaptive_routing, groups_spec, read_adaptive
from obliv.fabric.files.folder import folder_of, read_fabric, with_tables
from obliv.fabric.results.worst import FabricWorst
from obliv.fabric.routes.routing import FabricRouting, routing, spec_options
from obliv.fabric.topology import FabricTopology, network
from obliv.routings.base import Routing
from obliv.specs.registry import register_routing, register_topology
from obliv.study.measures import Least, Measure, throughput_of
from obliv.topologies.base import Topology

__all__ = ["fabric", "far", "lft"]


@register_topology("fabric", example="fabric:ibnetdiscover.txt")
def fabric(path: Path, guid2lid: str = "") -> FabricTopology:
    """InfiniBand fabric from a file of ibnetdiscover, ibdiagnet or OpenSM; adapters' cabled ports are terminals.

    Parameters
    ----------
    path : Path
        A file, or the folder of such files.
    guid2lid : str
        OpenSM's file of that name, for fabrics that were written without LIDs.
    """
    more = f",guid2lid={guid2lid}" if guid2lid else ""
    folder = folder_of(path)
    if folder is None:
        return network(read_fabric(path, guid2lid=guid2lid or None), f"fabric:{path}{more}")
    fabric = read_fabric(folder.topology, guid2lid=guid2lid or folder.guid2lid)
    made = network(fabric, f"fabric:{path}{more}")
    return replace(made, notes=(folder.text, *made.notes))


@register_routing("lft", example="lft:opensm-lfts.dump")
def lft(
    topology: Topology, path: Path, offset: str = "0", missing: str = "refuse", sl2vl: str = "", sl: str = ""
) -> FabricRouting:
    """InfiniBand forwarding tables, as written by ibroute, dump_lfts or OpenSM.

    Parameters
    ----------
    topology : FabricTopology
        ``fabric:PATH``.
    path : Path
    offset : str
        Which LID of a destination a source uses where there are several: a number, ``group``, ``index``, a list by
        place at the leaf switch (``0-0-1-1``) or ``spread``.
    missing : str
        ``skip`` leaves out pairs whose packets do not arrive.
    sl2vl : str
        SL-to-VL tables, for ``obliv deadlock``: a file, or ``identity``.
    sl : str
        Service levels: a number, or a file.
    """
    if not isinstance(topology, FabricTopology):
        raise RoutingError(f"forwarding tables need an InfiniBand fabric, not {topology.spec}: write fabric:PATH")
    fabric, tables = with_tables(topology.fabric, path)
    if fabric is not topology.fabric:  # LIDs or LMCs were learned from the tables
        topology = network(fabric, topology.spec)
    more = spec_options(offset, missing) + (f",sl2vl={sl2vl}" if sl2vl else "") + (f",sl={sl}" if sl else "")
    made = routing(topology, tables, offset, missing=missing, spec=f"lft:{path}{more}")
    if sl2vl or sl:
        from obliv.fabric.lanes.graph import LanesOf  # imported late: other specs do not need it
        from obliv.fabric.lanes.read import read_lanes

        lanes = read_lanes(fabric, sl2vl or None, sl or None)
        made.lanes = LanesOf(lanes)
        made.sources += lanes.sources
    return made


@register_routing("far", example="far:ibdiagnet2.far")
def far(
    topology: Topology,
    path: Path,
    adaptive: str = "even",
    lft: str = "",
    info: str = "",
    sl: int = -1,
    plft: int = -1,
    offset: str = "0",
    missing: str = "refuse",
) -> FabricRouting:
    """Adaptive routing by the groups of ports that ibdiagnet writes.

    Parameters
    ----------
    topology : FabricTopology
        ``fabric:PATH``, with LIDs.
    path : Path
    adaptive : str
        ``static`` ports; ``even`` splits over the groups; or ``worst``: switches choose as they like.
    lft : str
        Forwarding tables of switches without groups.
    info : str
        ``ibdiagnet2.db_csv``, which says for which service levels switches are adaptive.
    sl : int
        With `info`: the service level of packets.
    plft : int
        The private LFT of packets, where there are several.
    offset : str
        As for ``lft``.
    missing : str
        ``skip`` leaves out pairs whose packets do not arrive by all choices.
    """
    if not isinstance(topology, FabricTopology):
        raise RoutingError(f"group tables need an InfiniBand fabric, not {topology.spec}: write fabric:PATH")
    tables = None
    if lft:
        fabric, tables = with_tables(topology.fabric, lft)
        if fabric is not topology.fabric:  # LIDs or LMCs were learned from the tables
            topology = network(fabric, topology.spec)
    level, private = (None if number < 0 else number for number in (sl, plft))
    groups = read_adaptive(topology.fabric, path, tables=tables, info=info or None, sl=level, plft=private)
    options = spec_options(offset, missing)
    spec = groups_spec(path, adaptive, lft=lft, info=info, sl=level, plft=private, options=options)
    return adaptive_routing(topology, groups, adaptive, offset, missing=missing, spec=spec)


def _measured(routing: Routing, progress: Progress, *, hottest: Annotated[int, Least(0)] = 10) -> FabricWorst:
    """Compute the exact worst case of an InfiniBand fabric, with names and the most loaded cables."""
    from obliv.fabric.analyses.worst import worst

    return worst(cast(FabricRouting, routing), hottest=hottest, certificate=True, progress=progress)


def _require_tables(routing: Any, options: Mapping[str, Any]) -> None:
    if not hasattr(routing, "fabric_loads"):
        raise RoutingError(f"the measure fabric needs forwarding tables (lft:FILE), not {routing.spec}")


MEASURE = Measure(_measured, throughput_of, _require_tables, claims=True)
