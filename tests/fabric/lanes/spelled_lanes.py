"""SL-to-VL tables and service levels printed as each program prints them, and what they mean pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from tests.fabric.spelled import cabled, guid_at, lid_at

from obliv.fabric.model import Fabric, Tables
from obliv.fabric.routes.trace import Ending, trace

#: The VLs of the 16 SLs for switch, port in, port out; and for adapter ports (node, 0, 0).
Rows = dict[tuple[int, int, int], list[int]]
#: The SLs of a source and a LID.
Pairs = dict[tuple[int, int], set[int]]


def all_rows(
    fabric: Fabric, rng: np.random.Generator, *, distinct: int = 3, lanes: int = 4, holes: float = 0.0
) -> Rows:
    """Rows drawn from a few; some are missing, and some VLs are 15 where there are holes."""
    kinds = rng.integers(0, lanes, (distinct, 16))
    kinds[rng.random(kinds.shape) < holes / 4] = 15
    rows: Rows = {}
    for node in fabric.switches.tolist():
        ports = int(fabric.first_slot[node + 1] - fabric.first_slot[node])
        for entry in range(ports):
            for exit in range(1, ports):
                if rng.random() >= holes / 4:
                    rows[node, entry, exit] = kinds[rng.integers(distinct)].tolist()
    for slot in fabric.endpoints.tolist():
        rows[int(fabric.node_of[slot]), 0, 0] = [*range(15), 0]
    return rows


def pair_levels(fabric: Fabric, rng: np.random.Generator, *, several: bool = True, sls: int = 4) -> Pairs:
    """SLs of all pairs of an endpoint and a LID of another."""
    pairs: Pairs = {}
    for source in fabric.endpoints.tolist():
        for goal in fabric.endpoints.tolist():
            for offset in range(1 << int(fabric.ports.lmc[goal])):
                if source != goal:
                    many = int(rng.integers(1, 3)) if several else 1
                    lid = int(fabric.ports.lid[goal]) + offset
                    pairs[source, lid] = set(rng.integers(0, sls, many).tolist())
    return pairs


def by_node(rows: Rows) -> Iterator[tuple[int, list[tuple[int, int, list[int]]]]]:
    nodes: dict[int, list[tuple[int, int, list[int]]]] = {}
    for (node, entry, exit), lanes in rows.items():
        nodes.setdefault(node, []).append((entry, exit, lanes))
    yield from nodes.items()


def own_slot(fabric: Fabric, node: int) -> int:
    """The slot with the LID of a switch or of an adapter's only port."""
    first = int(fabric.first_slot[node])
    return first if fabric.nodes.kind[node] == "switch" else first + 1


def opensm(fabric: Fabric, rows: Rows) -> str:
    out = []
    for node, table in by_node(rows):
        kind = "Switch" if fabric.nodes.kind[node] == "switch" else "Channel Adapter"
        slot = own_slot(fabric, node)
        name = fabric.nodes.description[node]
        out.append(f'{kind} 0x{guid_at(fabric, slot):016x}, base LID {fabric.ports.lid[slot]}, "{name}"')
        out.append("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15")
        for entry, exit, lanes in table:
            out.append(f"{entry:<4}{exit:<4}: " + "".join(f"{vl:<3}" for vl in lanes))
        out += ["#" + "-" * 56, ""]
    return "\n".join(out) + "\n"


def slvl(fabric: Fabric, rows: Rows) -> str:
    out = []
    for (node, entry, exit), vl in rows.items():
        if fabric.nodes.kind[node] == "switch":
            octets = " ".join(f"0x{vl[k]:x}{vl[k + 1]:x}" for k in range(0, 16, 2))
            out.append(f"0x{int(fabric.nodes.guid[node]):016x} {entry} {exit} {octets}")
    return "\n".join(out) + "\n"


def smpquery(fabric: Fabric, rows: Rows) -> str:
    out = []
    for node, table in by_node(rows):
        for exit in sorted({exit for _, exit, _ in table}):
            out.append(f"# SL2VL table: Lid {fabric.ports.lid[own_slot(fabric, node)]}")
            out.append("#                 SL: | 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|")
            for entry, port, lanes in table:
                if port == exit:
                    out.append(f"ports: in {entry:2d}, out {port:2d}: |" + "".join(f"{vl:2d}|" for vl in lanes))
    return "\n".join(out) + "\n"


def saquery(fabric: Fabric, rows: Rows) -> str:
    out = []
    for (node, entry, exit), lanes in rows.items():
        out.append("SL2VLTableRecord dump:")
        out.append(f"\t\tLID........................{fabric.ports.lid[own_slot(fabric, node)]}")
        out.append(f"\t\tInPort.....................{entry}")
        out.append(f"\t\tOutPort....................{exit}")
        out.append("\t\tSL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|")
        out.append("\t\tVL:" + "".join(f"{vl:2d}|" for vl in lanes))
    return "\n".join(out) + "\n"


TABLES = {"opensm": opensm, "slvl": slvl, "smpquery": smpquery, "saquery": saquery}


def path_records(fabric: Fabric, pairs: Pairs, *, new: bool = False, short: bool = False) -> str:
    """Only one SL of each pair is printed, as in the other spellings of programs."""
    out = ["version: 1.0.0", "routing_engine: lash", ""] if new else []
    for source in fabric.endpoints.tolist():
        name = fabric.nodes.description[fabric.node_of[source]]
        port = fabric.port_of(source)
        guid, lid = guid_at(fabric, source), fabric.ports.lid[source]
        out.append(f'Channel Adapter 0x{guid:016x}, base LID {lid}, "{name}", port {port}')
        out.append("# LID  : SL : MTU : RATE")
        for (s, goal), sls in pairs.items():
            if s == source:
                out.append(f"0x{goal:04X} : {min(sls):<2}" + ("" if short else " : 4   : 7  "))
        out += ["0xBFFF : UNREACHABLE", ""]
    return "\n".join(out) + "\n"


def psl(fabric: Fabric, pairs: Pairs) -> str:
    return "".join(
        f"0x{int(fabric.nodes.guid[fabric.node_of[s]]):016x} {lid} {min(sls)}\n" for (s, lid), sls in pairs.items()
    )


def saquery_pr(fabric: Fabric, pairs: Pairs) -> str:
    out = []
    for (source, lid), sls in pairs.items():
        out += [
            "PathRecord dump:",
            "\t\tservice_id..............0x0000000000000000",
            "\t\tdgid....................fe80::1",
        ]
        out += [f"\t\tdlid....................{lid}", f"\t\tslid....................{fabric.ports.lid[source]}"]
        out += [
            "\t\thop_flow_raw............0x0",
            f"\t\tsl......................0x{min(sls):X}",
            "\t\tmtu.....................0x84",
        ]
    return "\n".join(out) + "\n"


def plain(fabric: Fabric, pairs: Pairs) -> str:
    lines = [f"{fabric.ports.lid[s]} {lid} {','.join(map(str, sorted(sls)))}\n" for (s, lid), sls in pairs.items()]
    return "# source, destination, SLs\n" + "".join(lines)


LEVELS = {"path records": path_records, "psl": psl, "saquery": saquery_pr, "plain": plain}


def port_infos(fabric: Fabric, rng: np.random.Generator) -> str:
    out = []
    for node in fabric.switches.tolist():
        for slot in cabled(fabric, node):
            out.append(f"# Port info: Lid {lid_at(fabric, slot)} port {fabric.port_of(slot)}")
            out.append("VLCap:...........................VL0-7")
            lanes = ("VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14")[rng.integers(5)]
            out += [f"OperVLs:.........................{lanes}", "GuidCap:.........................0"]
    return "\n".join(out) + "\n"


def arbitrations(fabric: Fabric, rng: np.random.Generator) -> str:
    out = []
    for node in fabric.switches.tolist():
        for slot in cabled(fabric, node):
            port = fabric.port_of(slot)
            out.append(f"# VLArbitration tables: Lid {lid_at(fabric, slot)} port {port} LowCap 8 HighCap 8")
            for name in ("Low", "High"):
                out.append(f"# {name} priority VL Arbitration Table:")
                out.append("VL    : |" + "".join(f"0x{vl:<2x}|" for vl in range(8)))
                out.append("WEIGHT: |" + "".join(f"0x{int(rng.integers(3)):<2x}|" for _ in range(8)))
    return "\n".join(out) + "\n"


def hops(fabric: Fabric, tables: Tables, rows: Rows, source: int, lid: int, sl: int) -> list[tuple[int, int]]:
    """The slot and the VL of each hop after the first, up to VL 15, which discards the packet, or -1, a missing row."""
    way = trace(fabric, tables, source, lid)
    if way.ending in (Ending.LOOP, Ending.NO_LID):
        return []
    taken = []
    for before, slot in pairwise(way.slots):
        into = int(fabric.ports.peer[before])
        key = int(fabric.node_of[into]), fabric.port_of(into), fabric.port_of(slot)
        lane = rows[key][sl] if key in rows else -1
        taken.append((slot, lane))
        if lane in (-1, 15):
            break
    return taken


def dependencies(
    fabric: Fabric, tables: Tables, rows: Rows, pairs: Pairs
) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Every (channel, lane) between switches with what some packet takes right after it."""
    switches = set(fabric.switches.tolist())
    found = set()
    for (source, lid), sls in pairs.items():
        for sl in sls:
            ways = hops(fabric, tables, rows, source, lid, sl)
            inner = [
                (slot, lane)
                for slot, lane in ways
                if 0 <= lane < 15
                and fabric.ports.peer[slot] >= 0
                and int(fabric.node_of[fabric.ports.peer[slot]]) in switches
            ]
            found |= set(pairwise(inner))
    return found
