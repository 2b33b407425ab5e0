"""``obliv export``: a network, a routing and traffic for a simulator, the paths of a routing, or a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from obliv._util.rationals import exact
from obliv.cli.options import TopologySpec
from obliv.cli.output import progress, say
from obliv.cli.specs import Specs, one_traffic, read_topology, read_traffic
from obliv.errors import InputError

if TYPE_CHECKING:
    from obliv.topologies.base import Topology

__all__ = ["export"]

_NETWORKS = ("dot", "graphml", "gml", "edgelist", "anynet")
_SIMULATORS = ("booksim", "booksim-paths", "sst", "caminos", "ns3")
#: How to run what is written for a simulator.
_RUN = {
    "sst": "run it with  sst {name}",
    "caminos": "run it in that folder with  caminos {name}",
    "ns3": 'run it with  ./ns3 run "obliv-ns3 --network={name}"  in ns-3, with obliv-ns3.cc in its folder scratch',
}


def export(
    topology: TopologySpec,
    routing: Annotated[
        str | None,
        typer.Argument(metavar="[ROUTING]", help="Needed but for files of networks.", show_default=False),
    ] = None,
    words: Annotated[
        str | None,
        typer.Argument(metavar="[TRAFFIC]", help="Another way to give --traffic.", show_default=False),
    ] = None,
    *,
    to: Annotated[
        Literal[
            "booksim",
            "booksim-paths",
            "sst",
            "caminos",
            "ns3",
            "table",
            "csv",
            "dot",
            "graphml",
            "gml",
            "edgelist",
            "anynet",
        ],
        typer.Option(
            "--to",
            help="Simulators: booksim (BookSim2), booksim-paths (BookSim2 with a routing function that follows listed "
            "paths), sst (SST Merlin), caminos, ns3. Paths: table (for table:FILE), csv. Networks: dot (Graphviz), "
            "graphml, gml, edgelist, anynet.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Configuration or table to write.")],
    traffic: Annotated[
        str | None,
        typer.Option("--traffic", help="With simulators and dot: traffic pattern (default uniform)."),
    ] = None,
    vc: Annotated[
        str | None,
        typer.Option(
            "--vc",
            metavar="SCHEME",
            help="With booksim-paths: virtual channels by this scheme of deadlock, none for all on every hop (default: "
            "the one with the fewest that avoids deadlock).",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="R", help="With booksim, sst and caminos: packets per node and cycle, as 0.1 or 1/3."
        ),
    ] = None,
) -> None:
    """Write files for simulators, paths as tables, or networks.

    A network that the simulator lacks is written beside the configuration. What it cannot simulate is refused.
    Tables are read as  table:FILE  by all verbs; CSV has a row for every path. A drawing for Graphviz shows the loads
    of channels if there is a routing.

    Example: obliv export torus:8x8 dor --to booksim --traffic transpose -o torus.cfg

    Example: obliv export mesh:7x6 xy --to booksim-paths -o mesh.cfg

    Example: obliv export mesh:5x5 design:best.json.gz --to table -o routes.txt

    Example: obliv export fattree:4,2 --to dot -o tree.dot
    """
    if words is not None:
        traffic = one_traffic(words, None if traffic is None else [traffic])
    _require_fitting(to, routing, traffic, vc, rate)
    if routing is None:
        _write_network(topology, to, output)
        return
    specs = Specs(topology, routing)
    if to in _SIMULATORS:
        _write_simulation(specs, to, output, traffic or "uniform", _number(rate), vc)
    elif to == "dot":
        _write_loads(specs, output, traffic or "uniform")
    else:
        from obliv.io.simulators.routes import write_csv_paths, write_path_table

        read = specs.read(output)
        write = write_path_table if to == "table" else write_csv_paths
        with progress() as step:
            write(read, output, progress=step)
        say(f"written to {output}" + (f"; use the routing as  table:{output}" if to == "table" else ""))


def _number(rate: str | None) -> float:
    """Return the rate of the command line, by default 0.1."""
    number = exact("0.1" if rate is None else rate)
    if number is None:
        raise InputError(f"--rate {rate}: write a number above 0, up to 1, as 0.1 or 1/3")
    return float(number)


def _require_fitting(to: str, routing: str | None, traffic: str | None, vc: str | None, rate: str | None) -> None:
    """Refuse options and arguments that a format does not use."""
    if routing is None and to not in _NETWORKS:
        raise InputError(f"--to {to} needs a ROUTING behind the topology")
    if routing is not None and to in _NETWORKS[1:]:
        raise InputError(f"--to {to} writes a network only: leave out the routing {routing}")
    if traffic is not None and (routing is None or to in ("table", "csv")):
        raise InputError(f"--traffic belongs to simulators and to dot with a routing; --to {to} writes no traffic here")
    if vc is not None and to != "booksim-paths":
        raise InputError(f"--vc belongs to --to booksim-paths; --to {to} has virtual channels of its own")
    if traffic is not None and to == "sst" and traffic != "uniform":
        raise InputError("--to sst writes uniform traffic only: set the job's pattern in the script")
    if rate is not None and to not in ("booksim", "booksim-paths", "sst", "caminos"):
        more = "; give the program of ns-3 its own --rate" if to == "ns3" else ""
        raise InputError(f"--rate belongs to --to booksim, sst and caminos{more}")


def _write_simulation(specs: Specs, to: str, output: Path, traffic: str, rate: float, vc: str | None) -> None:
    from obliv.cli.booksim import write_simulation
    from obliv.io import write_caminos, write_ns3, write_sst

    others = {
        "sst": [output.with_suffix(".graphml"), output.with_suffix(".routes.json")],
        "caminos": [output.with_suffix(".adj"), output.with_suffix(".map")],
        "ns3": [output.with_name("obliv-ns3.cc")],
    }
    outputs = (output, *others.get(to, [output.with_suffix(".anynet")]))
    read = specs.read(*outputs)
    pattern = read_traffic([traffic], read.topology, *outputs)[0]
    if to == "sst":
        files = write_sst(read, output, rate=rate)
    elif to == "caminos":
        files = write_caminos(read, output, pattern, rate=rate)
    elif to == "ns3":
        files = write_ns3(read, output, pattern)
    else:
        write_simulation(read, output, pattern, rate, vc, listed=to == "booksim-paths")
        return
    say(f"written to {' and '.join(map(str, files))}; {_RUN[to].format(name=quote(output.name))}")


def _write_loads(specs: Specs, output: Path, traffic: str) -> None:
    from obliv.io.formats.dot import write_dot

    read = specs.read(output)
    loads = read.pair_loads().under(read_traffic([traffic], read.topology, output)[0])
    write_dot(read.topology, output, loads)
    say(f"written to {output}; draw it with  dot -Tsvg -O {output}")


def _write_network(spec: str, to: str, output: Path) -> None:
    from obliv.io import write_anynet, write_dot, write_edgelist, write_gml, write_graphml

    topology = read_topology(spec, output)
    writers: dict[str, Callable[[Topology, Path], None]] = {
        "dot": write_dot,
        "graphml": write_graphml,
        "gml": write_gml,
        "edgelist": write_edgelist,
        "anynet": write_anynet,
    }
    writers[to](topology, output)
    say(
        f"written to {output}; "
        + (f"draw it with  dot -Tsvg -O {output}" if to == "dot" else f"use it as  file:{output}")
    )
