"""Fabrics and tables printed as each program prints them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from obliv.fabric.model import NONE, RATES, Fabric, Nodes, Ports, Tables

NAME = {value: name for name, value in reversed(RATES.items()) if name.startswith("4x")} | {
    RATES["1xSDR"]: "1xSDR",
    RATES["12xQDR"]: "12xQDR",
}
GBPS = {"SDR": "2.5", "DDR": "5.0", "QDR": "10.0", "FDR10": "10.3125", "FDR": "14.0625", "EDR": "25.78125"}
GBPS |= {"HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}
SPD = {"SDR": "2.5", "DDR": "5", "QDR": "10", "FDR10": "FDR10", "FDR": "14", "EDR": "25", "HDR": "50", "NDR": "100"}
SPD |= {"XDR": "200"}


def rate_name(rate: Fraction | None) -> str:
    return "4x???" if rate is None else NAME[rate]


def split(rate: Fraction | None) -> tuple[str, str]:
    width, _, speed = rate_name(rate).partition("x")
    return width, speed


def cabled(fabric: Fabric, node: int) -> list[int]:
    first, end = fabric.first_slot[node : node + 2].tolist()
    return [slot for slot in range(first + 1, end) if fabric.ports.peer[slot] >= 0]


def lid_at(fabric: Fabric, slot: int) -> int:
    node = int(fabric.node_of[slot])
    return int(fabric.ports.lid[fabric.first_slot[node] if fabric.nodes.kind[node] == "switch" else slot])


def guid_at(fabric: Fabric, slot: int) -> int:
    node = int(fabric.node_of[slot])
    return int(fabric.nodes.guid[node] if fabric.nodes.kind[node] == "switch" else fabric.ports.guid[slot])


def ibnetdiscover(fabric: Fabric, *, full: bool = False, tab: str = "\t") -> str:
    out = ["#", "# Topology file: generated on Sun Oct  5 21:59:42 2014", "#"]
    for v, kind in enumerate(fabric.nodes.kind):
        switch, first = kind == "switch", int(fabric.first_slot[v])
        guid = f"0x{int(fabric.nodes.guid[v]):x}"
        word = "Switch" if switch else "Ca"
        own = f"({int(fabric.ports.guid[first]):x})" if switch else ""
        out += ["", "vendid=0x2c9", "devid=0xbd36", f"sysimgguid={guid}"]
        out.append(f"{'switchguid' if switch else 'caguid'}={guid}{own}")
        about = f" base port 0 lid {fabric.ports.lid[first]} lmc {fabric.ports.lmc[first]}" if switch else ""
        ports = int(fabric.first_slot[v + 1]) - first - 1
        out.append(f'{word}{tab}{ports} "{fabric.nodes.ident[v]}"{tab}{tab}# "{fabric.nodes.description[v]}"{about}')
        for slot in cabled(fabric, v):
            peer = int(fabric.ports.peer[slot])
            w = int(fabric.node_of[peer])
            mine = "" if switch else f"({int(fabric.ports.guid[slot]):x})"
            far = "" if fabric.nodes.kind[w] == "switch" else f"({int(fabric.ports.guid[peer]):x})"
            lid = "" if switch else f"lid {fabric.ports.lid[slot]} lmc {fabric.ports.lmc[slot]} "
            rest = f'{lid}"{fabric.nodes.description[w]}" lid {lid_at(fabric, peer)} {rate_name(fabric.rate_at(slot))}'
            more = " s=4 w=2 v=4" if full else ""
            place = f'"{fabric.nodes.ident[w]}"[{fabric.port_of(peer)}]{far}'
            out.append(f"[{fabric.port_of(slot)}]{mine}{tab}{place}{tab}{tab}# {rest}{more}")
    return "\n".join(out) + "\n"


def net(fabric: Fabric) -> str:
    """A .net file as people write them for ibsim: names and cables only."""
    out = []
    for v, kind in enumerate(fabric.nodes.kind):
        ports = int(fabric.first_slot[v + 1] - fabric.first_slot[v]) - 1
        out.append(f'{"Switch" if kind == "switch" else "Hca"} {ports} "{fabric.nodes.ident[v]}"')
        for slot in cabled(fabric, v):
            peer = int(fabric.ports.peer[slot])
            out.append(
                f'[{fabric.port_of(slot)}]\t"{fabric.nodes.ident[fabric.node_of[peer]]}"[{fabric.port_of(peer)}]'
            )
        out.append("")
    return "\n".join(out) + "\n"


def port_list(fabric: Fabric) -> str:
    out = []
    for v in reversed(range(len(fabric.nodes))):
        first, end = fabric.first_slot[v : v + 2].tolist()
        for slot in reversed(range(first + 1, end)):
            ends = []
            for at in (slot, int(fabric.ports.peer[slot])):
                if at >= 0:
                    kind = "SW" if fabric.nodes.kind[fabric.node_of[at]] == "switch" else "CA"
                    place = f"{kind} {lid_at(fabric, at):5} {fabric.port_of(at):2} 0x{guid_at(fabric, at):016x}"
                    ends.append(place)
            width, speed = split(fabric.rate_at(slot))
            if len(ends) == 2:
                far = fabric.nodes.description[fabric.node_of[fabric.ports.peer[slot]]]
                texts = f"'{fabric.nodes.description[v]}' - '{far}'"
                out.append(f"{ends[0]} {width}x {speed} - {ends[1]} ( {texts} )")
            elif fabric.nodes.kind[v] == "switch":
                out.append(f"{ends[0]} 4x ???{'':36}'{fabric.nodes.description[v]}'")
    return "\n".join(out) + "\n"


def link_info(fabric: Fabric, *, long: bool = False) -> str:
    out = []
    for v, kind in enumerate(fabric.nodes.kind):
        text = fabric.nodes.description[v]
        switch = kind == "switch"
        if not long:
            out.append(f"Switch: 0x{int(fabric.nodes.guid[v]):016x} {text}:" if switch else f"CA: {text}:")
        first, end = fabric.first_slot[v : v + 2].tolist()
        for slot in range(first + 1, end):
            peer = int(fabric.ports.peer[slot])
            start = f"0x{guid_at(fabric, slot):016x} " if long or not switch else ""
            label = f'"{text:>30}" ' if long else ""
            start += f"{label}{lid_at(fabric, slot):6} {fabric.port_of(slot):4}[  ] ==("
            if peer < 0:
                if switch:
                    out.append(f'{start} {"":18}Down/ Polling)==>             [  ] "" ( )')
                continue
            width, speed = split(fabric.rate_at(slot))
            far = f"0x{guid_at(fabric, peer):016x} " if long else ""
            name = fabric.nodes.description[fabric.node_of[peer]]
            far += f'{lid_at(fabric, peer):6} {fabric.port_of(peer):4}[  ] "{name}"'
            state = f" {width}X {GBPS.get(speed, '???'):>13} Gbps Active/  LinkUp"
            out.append(f"{start}{state})==>  {far} (Could be 12X )")
    return "\n".join(out) + "\n"


def subnet(fabric: Fabric) -> str:
    out = []
    for slot in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        ends = []
        for at in (slot, int(fabric.ports.peer[slot])):
            v = int(fabric.node_of[at])
            guid, word = (
                int(fabric.nodes.guid[v]),
                "SW" if fabric.nodes.kind[v] == "switch" else "CA" + ("-SM" if v == 0 else ""),
            )
            ports = int(fabric.first_slot[v + 1] - fabric.first_slot[v]) - 1
            ends.append(
                f"{{ {word} Ports:{ports:02X} SystemGUID:{guid:016x} NodeGUID:{guid:016x} "
                f"PortGUID:{guid_at(fabric, at):016x} VenID:0002C9 DevID:BD36 Rev:000000A1 "
                f"{{{fabric.nodes.description[v]}}} LID:{lid_at(fabric, at):04X} PN:{fabric.port_of(at):02X} }}"
            )
        width, speed = split(fabric.rate_at(slot))
        out.append(f"{ends[0]} {ends[1]} PHY={width}x LOG=ACT SPD={SPD.get(speed, '?')} ")
    return "\n".join(out) + "\n"


def net_dump(fabric: Fabric) -> str:
    out = ["# This database file was automatically generated by IBDIAG"]
    for v in fabric.switches.tolist():
        first, end = fabric.first_slot[v : v + 2].tolist()
        out += [
            "",
            f'"{fabric.nodes.description[v]}", Vendor, 0x{int(fabric.nodes.guid[v]):x}, LID {fabric.ports.lid[first]}',
        ]
        out += ["  # : IB# : Sta : PhysSta : LWA : LSA : Neighbor Guid : N# : NLID : Neighbor Description"]
        for slot in range(first + 1, end):
            peer = int(fabric.ports.peer[slot])
            row = f"  {slot - first} : {slot - first} : "
            if peer < 0:
                out.append(row + 'DOWN : POLLING : N/A : N/A : N/A : N/A : N/A : ""')
                continue
            width, speed = split(fabric.rate_at(slot))
            row += f"ACT : LINK UP : {width}x : {SPD.get(speed, '?')} : 0x{guid_at(fabric, peer):x} : "
            row += f"{fabric.port_of(peer)} : {lid_at(fabric, peer)}"
            out.append(f'{row} : "{fabric.nodes.description[fabric.node_of[peer]]}"')
    return "\n".join(out) + "\n"


def db_csv(fabric: Fabric) -> str:
    out = ["START_NODES", "NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID,LocalPortNum"]
    for v, text in enumerate(fabric.nodes.description):
        first, end = fabric.first_slot[v : v + 2].tolist()
        sort = 2 if fabric.nodes.kind[v] == "switch" else 1
        guid = int(fabric.nodes.guid[v])
        out.append(f'"{text}",{end - first - 1},{sort},0x{guid:x},0x{int(fabric.ports.guid[first]):x},0')
    out += ["END_NODES", "", "START_PORTS", "NodeGuid,PortGuid,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv,PortState"]
    speeds = {"SDR": 1, "QDR": 4, "EDR": 512}
    for slot, v in enumerate(fabric.node_of.tolist()):
        width, speed = split(fabric.rate_at(slot))
        cabled_ = fabric.ports.peer[slot] >= 0
        about = f"{fabric.ports.lid[slot]},{fabric.ports.lmc[slot]},{ {'1': 1, '4': 2}[width] },{speeds.get(speed, 0)}"
        guid = int(fabric.ports.guid[slot])
        out.append(f"0x{int(fabric.nodes.guid[v]):x},0x{guid:x},{fabric.port_of(slot)},{about},{4 if cabled_ else 1}")
    out += ["END_PORTS", "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2"]
    for slot, peer in enumerate(fabric.ports.peer.tolist()):
        if slot < peer:
            ends = (f"0x{int(fabric.nodes.guid[fabric.node_of[at]]):x},{fabric.port_of(at)}" for at in (slot, peer))
            out.append(",".join(ends))
    return "\n".join([*out, "END_LINKS"]) + "\n"


def owners(fabric: Fabric) -> dict[int, tuple[int, int]]:
    """Of every LID: the slot, and which of the port's LIDs it is."""
    result = {}
    for slot in np.flatnonzero(fabric.ports.lid).tolist():
        for offset in range(1 << int(fabric.ports.lmc[slot])):
            result[int(fabric.ports.lid[slot]) + offset] = (slot, offset)
    return result


def guid2lid(fabric: Fabric) -> str:
    rows = []
    for slot in np.flatnonzero(fabric.ports.lid).tolist():
        first, guid = int(fabric.ports.lid[slot]), int(fabric.ports.guid[slot])
        rows.append(f"0x{guid:016x} 0x{first:04x} 0x{first + (1 << int(fabric.ports.lmc[slot])) - 1:04x}\n")
    return "\n".join(rows)


def tables_text(tables: Tables, fabric: Fabric, spelling: str) -> str:
    """Spelling "a", "a -a" (with what has no route), "a -n" (without names), "b" or "c"."""
    own, top = owners(fabric), tables.out.shape[1] - 1
    out = []
    for node, row in zip(tables.switch.tolist(), tables.out.tolist(), strict=True):
        guid, text = int(fabric.nodes.guid[node]), fabric.nodes.description[node]
        count = 0
        if spelling == "b":
            own_lid = fabric.ports.lid[fabric.first_slot[node]]
            out.append(f"Unicast lids [0-{top}] of switch Lid {own_lid} guid 0x{guid:016x} ('{text}'):")
        elif spelling == "c":
            out += [f"dump_ucast_routes: Switch 0x{guid:016x}", "LID    : Port : Hops : Optimal"]
        else:
            out.append(
                f"Unicast lids [0x0-0x{top:x}] of switch DR path slid 0; dlid 0; 0,1 guid 0x{guid:016x} ({text}):"
            )
            out += ["  Lid  Out   Destination", "       Port     Info "]
        for lid, port in enumerate(row):
            if spelling == "c":
                if lid:
                    hops = f"{port:03d}  : 02   : yes"
                    if port == 0:
                        hops = "000  : HOPS UNKNOWN"
                    out.append(f"0x{lid:04X} : {'UNREACHABLE' if port == NONE else hops}")
                continue
            if port == NONE:
                if spelling == "a -a":
                    out.append(f"0x{lid:04x} 255 : (path #0 - illegal port)")
                    count += 1
                continue
            count += 1
            slot, offset = own.get(lid, (-1, 0))
            named = "(unknown node and type)"
            if slot >= 0:
                v = int(fabric.node_of[slot])
                word = "Switch" if fabric.nodes.kind[v] == "switch" else "Channel Adapter"
                named = f"{word} portguid 0x{int(fabric.ports.guid[slot]):016x}: '{fabric.nodes.description[v]}'"
                if offset and spelling != "b":
                    many = 1 << int(fabric.ports.lmc[slot])
                    named = f"path #{offset + 1} out of {many}: portguid 0x{int(fabric.ports.guid[slot]):016x}"
            rest = {"b": f" # {named}", "a -n": " "}.get(spelling, f" : ({named})")
            out.append(f"0x{lid:04x} {port:03d}{rest}")
        if spelling == "b":
            out.append(f"{top} lids dumped")
        elif spelling != "c":
            out.append(f"{count} {'' if spelling == 'a -a' else 'valid '}lids dumped ")
    return "\n".join(out) + "\n"


def random_fabric(
    rng: np.random.Generator, *, lmc: int = 0, lids: bool = True, texts: list[str] | None = None, small: bool = False
) -> Fabric:
    """Switches and adapters cabled at random: parallel and self-cables, empty ports, any rates."""
    switches, hosts = int(rng.integers(1, 3 if small else 5)), int(rng.integers(1, 4 if small else 7))
    most = 6 if small else 12
    sizes = [int(rng.integers(4, most)) for _ in range(switches)] + [int(rng.integers(1, 3)) for _ in range(hosts)]
    order = rng.permutation(switches + hosts)
    kind = tuple("switch" if v < switches else "ca" for v in order)
    first = np.concatenate([[0], np.cumsum([sizes[v] + 1 for v in order])]).astype(np.int64)
    nodes, slots = len(kind), int(first[-1])
    node_of = np.repeat(np.arange(nodes), np.diff(first))
    peer = np.full(slots, -1, np.int64)
    free = [slot for slot in range(slots) if slot not in set(first.tolist())]
    rng.shuffle(free)
    hosted = [slot for slot in free if kind[node_of[slot]] == "ca"]
    others = [slot for slot in free if kind[node_of[slot]] == "switch"]
    pairs = list(zip(hosted, others, strict=False))
    rest = others[len(pairs) :]
    pairs += [(a, b) for a, b in zip(rest[::2], rest[1::2], strict=False) if rng.random() < 0.7]
    rates = (RATES["4xQDR"], RATES["4xEDR"], RATES["1xSDR"])
    rate = np.full(slots, -1, np.int32)
    for a, b in pairs:
        peer[a], peer[b] = b, a
        rate[a] = rate[b] = rng.integers(-1, 3)
    used = sorted(set(rate[rate >= 0].tolist()))
    guid = np.array([0xF452140300000000 + 16 * int(v) for v in order], np.uint64)
    port_guid, lid, masks = np.zeros(slots, np.uint64), np.zeros(slots, np.int32), np.zeros(slots, np.int8)
    following = 1
    for v in range(nodes):
        own = [int(first[v])] if kind[v] == "switch" else cabled_slots(first, peer, v)
        for slot in own:
            bits = 0 if kind[v] == "switch" else lmc
            port_guid[slot] = int(guid[v]) + slot - int(first[v])
            if lids:
                following = -(-following >> bits) << bits
                lid[slot], masks[slot] = following, bits
                following += 1 << bits
    words = texts or ["n114 mlx4_0", "MF0;sw5:SX6036/U1", "switch(0,1)", "", "it's {odd} [1]"]
    return Fabric(
        name="random",
        nodes=Nodes(
            kind=kind,
            ident=tuple(f"{'S' if kind[v] == 'switch' else 'H'}-{int(guid[v]):016x}" for v in range(nodes)),
            guid=guid,
            description=tuple(str(words[int(rng.integers(len(words)))]) for _ in range(nodes)),
            line=np.zeros(nodes, np.int32),
        ),
        ports=Ports(
            peer=peer,
            guid=port_guid,
            lid=lid,
            lmc=masks,
            rate=np.array([used.index(r) if r >= 0 else -1 for r in rate.tolist()], np.int32),
            line=np.zeros(slots, np.int32),
        ),
        first_slot=first,
        rates=tuple(rates[r] for r in used),
    )


def cabled_slots(first: np.ndarray, peer: np.ndarray, node: int) -> list[int]:
    return [slot for slot in range(int(first[node]) + 1, int(first[node + 1])) if peer[slot] >= 0]


def random_tables(rng: np.random.Generator, fabric: Fabric) -> Tables:
    """A random port for every LID that there is, at every switch, and some holes."""
    own = owners(fabric)
    switches = fabric.switches
    out = np.full((len(switches), max(own) + 1), NONE, np.uint8)
    for k, node in enumerate(switches.tolist()):
        ports = int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1
        for lid in own:
            if rng.random() < 0.9:
                out[k, lid] = rng.integers(0, ports + 1)
        out[k, int(fabric.ports.lid[fabric.first_slot[node]])] = 0
    return Tables("random", switches.astype(np.int32), out, np.zeros(len(switches), np.int32), "opensm")


def meaning(fabric: Fabric) -> set[tuple[object, ...]]:
    """What a fabric says of its cables, whatever the order of its nodes."""
    names: set[tuple[object, ...]] = set()
    for slot in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        ends = []
        for at in (slot, int(fabric.ports.peer[slot])):
            kind = fabric.nodes.kind[int(fabric.node_of[at])]
            ends.append((kind, guid_at(fabric, at), fabric.port_of(at), lid_at(fabric, at)))
        names.add((*ends, fabric.rate_at(slot)))
    return names
