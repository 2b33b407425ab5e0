"""Small fabrics for hypothesis, and printers of every dialect made from the notes on formats alone.

They share nothing with the readers, nor with ``spelled``: what both understood wrongly, these may have right.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from obliv.fabric.model import NONE, Fabric, Tables

End = tuple[int, int]  #: A node's place in the list, and a port.
Key = tuple[str, Any]  #: What a port is known by in every dialect: a switch's GUID, or the port's own.

LANE = {"SDR": "2.5", "DDR": "5", "QDR": "10", "FDR10": "10.3125", "FDR": "14.0625", "EDR": "25.78125"}
LANE |= {"HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}
#: The share of data: 8b/10b, 64b/66b, and for PAM4 the 5120 data bits of the 5440 in a codeword of RS(544,514).
CODES = dict.fromkeys(("SDR", "DDR", "QDR"), Fraction(8, 10)) | dict.fromkeys(("FDR10", "FDR", "EDR"), Fraction(64, 66))
CODES |= dict.fromkeys(("HDR", "NDR", "XDR"), Fraction(5120, 5440))
WIDTHS = ("1x", "2x", "4x", "8x", "12x")
#: What OpenSM calls a speed; of others it says nothing.
SPD = {"SDR": "2.5", "DDR": "5", "QDR": "10", "FDR10": "FDR10", "FDR": "14", "EDR": "25"}

#: Pieces of descriptions: what formats are made of, what looks like a line's end, what is no text.
PIECES: list[bytes] = [
    *(b"node-7 mlx5_0", b"MF0;sw5:SX6036/U1", b"x", b" ", b'"', b"'", b"#", b"[1]", b"[", b"]", b"(", b")", b"{", b"}"),
    *(b"lid 7 ", b"lmc 3 ", b"4xSDR", b' base port 0 lid 9 lmc 1"', b"' - '", b" ==(", b")==>", b"S-00000000000000a1"),
    *(b"portguid 0x5: ", b" guid 0x7 ", b"PN:09", b":", b"\\", b"%s%n", b"<b>&amp;</b>", b"[bold]", b"Switch 4 "),
    *(b"\0", b"\t", b"\x0b", b"\x0c", b"\x1b[31m", b"\x1c", b"\x7f", b"\xff\xfe", b"\xc3\xa9", b"\xc2\x85"),
    *(b"\xe2\x80\xa8", b"\xe2\x80\xae", b"Mellanox Technologies Aggregation Node"),
]


@dataclass
class Node:
    """A node; the LID and port GUID of a switch stand at its port 0."""

    kind: str
    guid: int
    ports: int
    text: bytes
    port_guid: dict[int, int]
    lid: dict[int, int] = field(default_factory=dict)

    @property
    def ident(self) -> str:
        return f"{'S' if self.kind == 'switch' else 'R' if self.kind == 'router' else 'H'}-{self.guid:016x}"


@dataclass
class Net:
    """A fabric in plain Python; a cable stands at both of its ends."""

    nodes: list[Node]
    peer: dict[End, End]
    rate: dict[End, tuple[str, str]]
    lmc: int

    def key(self, end: End) -> Key:
        node = self.nodes[end[0]]
        return (node.kind, node.guid) if node.kind == "switch" else (node.kind, node.port_guid[end[1]])

    def lid_of(self, end: End) -> int:
        node = self.nodes[end[0]]
        return node.lid[0 if node.kind == "switch" else end[1]]

    def owners(self) -> dict[int, Key]:
        """The port that owns each LID."""
        own = {}
        for v, node in enumerate(self.nodes):
            for port, lid in node.lid.items():
                for offset in range(1 if node.kind == "switch" else 1 << self.lmc) if lid else ():
                    own[lid + offset] = self.key((v, port))
        return own

    def port_guid(self, key: Key) -> int:
        """The port GUID that tables say for a port."""
        return next((n.port_guid[0] for n in self.nodes if n.kind == "switch" and (n.kind, n.guid) == key), key[1])

    def text(self, key: Key) -> bytes:
        return next(
            n.text for n in self.nodes if key in ((n.kind, n.guid), *((n.kind, g) for g in n.port_guid.values()))
        )


Entries = dict[int, dict[int, int]]  #: For every switch's GUID the port for each LID.


# Strategies.


@st.composite
def nets(draw: st.DrawFn, *, lids: bool = True, own_guids: bool = False, unknown: bool = False) -> Net:
    """A fabric in which every node is cabled: its shape is drawn, so that it shrinks, and the rest comes from a seed.

    Parameters
    ----------
    lids : bool, optional
        Whether a subnet manager has run.
    own_guids : bool, optional
        Whether switches may have another port GUID than node GUID, which not all dialects can say.
    unknown : bool, optional
        Whether there may be a node of unknown kind, which not all dialects can say.
    """
    switches, cas, cables, seed = draw(st.tuples(*map(st.integers, (1, 0, 1, 0), (4, 6, 12, 2**32 - 1))))
    odd, lmc = draw(st.booleans()), draw(st.integers(0, 2))
    rng = Random(seed)
    kinds = ["switch"] * switches + ["ca"] * cas + ["router"] * (rng.random() < 0.3)
    kinds += ["unknown"] * (unknown and rng.random() < 0.2)
    bits = rng.choice([8, 32, 60])
    nodes = []
    for k, (kind, base) in enumerate(zip(kinds, rng.sample(range(1, 1 << bits), len(kinds)), strict=True)):
        guid, ports = base << 4, rng.choice([2, 3, 5, 18]) if kind == "switch" else rng.choice([1, 1, 2, 3])
        first = rng.randint(0, 1)
        own = {port: guid + first + port - 1 for port in range(1, ports + 1)}
        if kind == "switch":
            own = {0: guid + (first if own_guids else 0)}
        text = b"".join(rng.choices(PIECES, k=rng.randint(0, 4))) if odd else b"node %d" % k
        nodes.append(Node(kind, guid, ports, text, own))
    peer, rate = _cabled(rng, nodes, cables, odd)
    rows = sorted({v for v, _ in peer})
    place = {v: k for k, v in enumerate(rows)}
    net = Net([nodes[v] for v in rows], {}, {}, lmc)
    net.peer = {(place[v], p): (place[w], q) for (v, p), (w, q) in peer.items()}
    net.rate = {(place[v], p): both for (v, p), both in rate.items()}
    number(rng, net, lids)
    return net


def _cabled(
    rng: Random, nodes: list[Node], cables: int, odd: bool
) -> tuple[dict[End, End], dict[End, tuple[str, str]]]:
    free = [(v, port) for v, node in enumerate(nodes) for port in range(1, node.ports + 1)]
    peer: dict[End, End] = {}
    rate: dict[End, tuple[str, str]] = {}
    while free and len(rate) < 2 * cables:
        a = free[0] if not peer else rng.choice(free)  # of the first switch
        b = a if len(free) == 1 or (odd and rng.random() < 0.05) else rng.choice([end for end in free if end != a])
        peer[a], peer[b] = b, a
        free = [end for end in free if end not in (a, b)]
        rate[a] = rate[b] = rng.choice([*WIDTHS, "4x", "4x", "4x", "??"]), rng.choice([*LANE, "???"])
        if odd and rng.random() < 0.1:
            rate[a] = rng.choice(WIDTHS), rng.choice([*LANE])
    return peer, rate


def number(rng: Random, net: Net, lids: bool = True) -> None:
    """Give LIDs in any order and with gaps, aligned as the LMC asks for; ports without cable have none."""
    next_lid = rng.choice([1, 1, 1, 60, 250])
    for v in rng.sample(range(len(net.nodes)), len(net.nodes)):
        node = net.nodes[v]
        node.lid = {}
        for port in [0] if node.kind == "switch" else range(1, node.ports + 1):
            if not lids or (port and (v, port) not in net.peer):
                node.lid[port] = 0
                continue
            many = 1 << (net.lmc if port else 0)
            next_lid += rng.choice([0, 0, 0, 0, 0, 0, 1, 5, 90])
            node.lid[port] = next_lid = -(-next_lid // many) * many
            next_lid += many


def entries(rng: Random, net: Net, *, full: bool = False) -> Entries:
    """Tables of some switches of a fabric, or of all with every LID; an entry may name any port that the switch has."""
    lids = sorted(net.owners())
    out: Entries = {}
    for node in net.nodes:
        if node.kind == "switch" and (full or rng.random() < 0.9):
            holes = 0.0 if full else rng.choice([0.0, 0.2, 0.9])
            out[node.guid] = {lid: rng.randint(0, node.ports) for lid in lids if rng.random() >= holes}
    return out


@st.composite
def routed(draw: st.DrawFn, *, full: bool = False, least: int = 1) -> tuple[Net, Entries]:
    """A fabric and tables of its switches, of which some have entries."""
    net = draw(nets(own_guids=True))
    result = entries(Random(draw(st.integers(0, 2**32 - 1))), net, full=full)
    assume(len(result) >= least and any(result.values()))
    return net, result


@dataclass
class Dress:
    """How the same lines may lie on the disk."""

    end: bytes = b"\n"
    final: bool = True
    mark: bool = False
    packed: bool = False

    def __call__(self, data: bytes) -> bytes:
        data = data.replace(b"\n", self.end)
        if not self.final:
            data = data.rstrip(b"\r\n")
        if self.mark:
            data = b"\xef\xbb\xbf" + data
        return gzip.compress(data, 1) if self.packed else data


dresses = st.builds(Dress, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.booleans(), st.booleans())
ends = st.builds(Dress, st.sampled_from([b"\n", b"\r\n"]))


# Topologies.


def discover(net: Net, *, full: bool = False, group: bool = False) -> bytes:
    """What ibnetdiscover prints, also with -f and -g."""
    result = [b"#", "# Topology file: generated on Fr 5. M\u00e4r 2021".encode(), b"#"]
    result += [b"# Initiated from node %016x port %016x" % (net.nodes[0].guid, net.nodes[0].guid)]
    if group:  # the first switch is a line of a chassis
        result += [b"", b"Chassis 1 (guid 0x%x)" % net.nodes[0].guid, b"", b"# Spine Nodes", b"# Line Nodes"]
    for v, node in enumerate(net.nodes):
        if group and v == 1:
            result += [b"", b"# Chassis Switches", b"# Chassis CAs", b"Non-Chassis Nodes"]
        result += [b"", b"vendid=0x2c9", b"devid=0xc738"]
        if v % 3 != 2:  # left out where it is 0
            result += [b"sysimgguid=0x%x" % node.guid + (b"\t\t# Chassis 1" if group and v == 0 else b"")]
        quoted = b'"%s"' % node.ident.encode()
        if node.kind == "switch":
            result += [
                b"switchguid=0x%x(%x)" % (node.guid, node.port_guid[0]) + (b"\t# Line 3 Chip 1" if group else b"")
            ]
            head = b'Switch\t%d %s\t\t# "%s" %s port 0 lid %d lmc 0'
            sort = b"base" if v % 2 else b"enhanced"
            result += [head % (node.ports, quoted, node.text, sort, node.lid[0])]
        else:
            result += [{"ca": b"ca", "router": b"rt", "unknown": b"???"}[node.kind] + b"guid=0x%x" % node.guid]
            word = {"ca": b"Ca", "router": b"Rt", "unknown": b"???"}[node.kind]
            result += [b'%s\t%d %s\t\t# "%s"' % (word, node.ports, quoted, node.text)]
        for port in range(1, node.ports + 1):
            if (v, port) in net.peer:
                result += [_port_line(net, (v, port), full, group)]
    return b"\n".join(result) + b"\n"


def _port_line(net: Net, end: End, full: bool, group: bool) -> bytes:
    (v, port), (w, q) = end, net.peer[end]
    node, other = net.nodes[v], net.nodes[w]
    width, speed = net.rate[end]
    line = b"[%d]" % port
    if node.kind == "switch":
        line += b"[ext %d]" % (port + 4) if group and v == 0 else b""
    else:
        line += b"(%x) " % node.port_guid[port]
    line += b'\t"%s"[%d]' % (other.ident.encode(), q)
    line += b"[ext %d]" % (q + 4) if group and w == 0 and other.kind == "switch" else b""
    if other.kind != "switch":
        line += (b"(%x) " if node.kind == "switch" else b" (%x) ") % other.port_guid[q]
    line += b"\t\t# " if node.kind == "switch" else b"\t\t# lid %d lmc %d " % (node.lid[port], net.lmc)
    line += b'"%s" lid %d %s' % (other.text, net.lid_of((w, q)), (width + speed).encode())
    return line + (b" s=4 w=2 v=4" if full else b"")


def port_list(net: Net) -> bytes:
    """What ibnetdiscover -p prints: ports from the last to the first, also those without a cable."""
    kinds = {"switch": b"SW", "ca": b"CA", "router": b"RT", "unknown": b"??"}
    result = []
    for v, node in enumerate(net.nodes):
        for port in range(node.ports, 0, -1):
            end = (v, port)
            own = node.port_guid[0 if node.kind == "switch" else port]
            line = b"%2s %5d %2d 0x%016x " % (kinds[node.kind], net.lid_of(end), port, own)
            if end not in net.peer:
                result += [line + (b"4x ???", b"4x SDR")[port % 2] + b" " * 36 + b"'%s'" % node.text]
                continue
            w, q = net.peer[end]
            other = net.nodes[w]
            theirs = other.port_guid[0 if other.kind == "switch" else q]
            line += " ".join(net.rate[end]).encode()
            line += b" - %2s %5d %2d 0x%016x" % (kinds[other.kind], net.lid_of((w, q)), q, theirs)
            result += [line + b" ( '%s' - '%s' )" % (node.text, other.text)]
    return b"\n".join(result) + b"\n"


def link_info(net: Net) -> bytes:
    """What iblinkinfo prints; ports are known by LID and number."""
    gbps = LANE | {"DDR": "5.0", "QDR": "10.0", "FDR10": "10.0"}
    result = []
    for v, node in enumerate(net.nodes):
        if node.kind == "switch":
            result += [b"Switch: 0x%016x %s:" % (node.guid, node.text)]
        else:
            result += [{"ca": b"CA", "router": b"Router"}[node.kind] + b": %s:" % node.text]
        for port in range(1, node.ports + 1):
            end = (v, port)
            line = b"      " if node.kind == "switch" else b"      0x%016x " % node.port_guid[port]
            line += b"%6d %4d[%2s] ==" % (net.lid_of(end), port, b"%d" % (port + 9) if v == 1 else b"")
            if end not in net.peer:
                state = b"Disabled" if port % 2 else b" Polling"
                result += [line + b'(                Down/%s)==>             [  ] "" ( )' % state]
                continue
            width, speed = net.rate[end]
            wide = "undefined (0)" if width == "??" else width.upper()
            fast = "undefined (32)" if speed == "???" else gbps[speed] + " Gbps" + " (FDR10)" * (speed == "FDR10")
            line += b"(%3s %18s %6s/  LinkUp)==>  " % (wide.encode(), fast.encode(), b"Active" if v % 2 else b"Armed")
            w, q = net.peer[end]
            result += [line + b'%6d %4d[  ] "%s" (Could be 12X )' % (net.lid_of((w, q)), q, net.nodes[w].text)]
    return b"\n".join(result) + b"\n"


def subnet(net: Net, *, old: bool = False) -> bytes:
    """What OpenSM writes to opensm-subnet.lst; old ones say no speed."""
    kinds = {"switch": b"SW", "ca": b"CA", "router": b"Rt", "unknown": b"**"}
    result = []
    for end, far in sorted(net.peer.items()):
        line = b""
        for v, port in (end, far):
            node = net.nodes[v]
            own = node.port_guid[0 if node.kind == "switch" else port]
            line += b"{ %s%s Ports:%02X SystemGUID:%016x NodeGUID:%016x PortGUID:%016x VenID:%06X DevID:BD36 " % (
                *(kinds[node.kind], b"-SM" if v == 0 else b"", node.ports, node.guid, node.guid, own, 0x2C9),
            )
            text = node.text.replace(b"}", b"")  # it may end the description, which nothing can tell
            line += b"Rev:000000A1 {%s} LID:%04X PN:%02X } " % (text, net.lid_of((v, port)), port)
        width, speed = net.rate[end]
        line += b"PHY=%s LOG=ACT" % (b"??" if width == "2x" else width.encode())
        result += [line if old else line + b" SPD=" + SPD.get(speed, "??").encode()]
    return b"\n".join(result) + b"\n"


#: LinkSpeedActv and LinkWidthActv in ibdiagnet2.db_csv, by the fields of InfiniBand's PortInfo.
SPEED_BITS = {"SDR": 1, "DDR": 2, "QDR": 4, "FDR": 256, "EDR": 512, "HDR": 1024, "NDR": 2048, "FDR10": 65536}
SPEED_BITS |= {"XDR": 1 << 24}
WIDTH_BITS = {"1x": 1, "4x": 2, "8x": 4, "12x": 8, "2x": 16}


def db_csv(net: Net, *, turned: bool = False) -> bytes:
    """What ibdiagnet writes to ibdiagnet2.db_csv; also with columns and sections in another order."""
    kinds = {"ca": 1, "switch": 2, "router": 3, "unknown": 4}
    nodes, ports, links = [], [], []
    for v, node in enumerate(net.nodes):
        own = node.port_guid[min(node.port_guid)]
        text = b'"' + node.text + b'"'
        nodes += [(text, *(b"%d" % n for n in (node.ports, kinds[node.kind])), b"0x%x" % node.guid, b"0x%x" % own)]
        for port in range(0 if node.kind == "switch" else 1, node.ports + 1):
            guid = node.port_guid[0 if node.kind == "switch" else port]
            width, speed = net.rate.get((v, port), ("", ""))
            lmc = 0 if node.kind == "switch" else net.lmc
            values = (node.lid.get(port, 0), lmc, WIDTH_BITS.get(width, 0), SPEED_BITS.get(speed, 0))
            state = (4 if (v, port) in net.peer else 1) if port else 0
            head = (b"0x%x" % node.guid, b"0x%x" % guid, b"%d" % port)
            ports += [(*head, *(b"%d" % n for n in values), b"%d" % state)]
    for (v, p), (w, q) in net.peer.items():
        if (v, p) <= (w, q):
            ends = (b"0x%x" % net.nodes[v].guid, b"%d" % p, b"0x%x" % net.nodes[w].guid, b"%d" % q)
            links += [ends, (*ends[2:], *ends[:2])] if turned and ends[:2] != ends[2:] else [ends]
    sections = [
        ("NODES", "NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID", nodes),
        ("SWITCHES", "NodeGUID,LinearFDBCap", [(b"0x1", b"49152")]),
        ("PORTS", "NodeGuid,PortGuid,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv,PortState", ports),
        ("LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2", links),
    ]
    result = [b"# This database file was automatically generated by IBDIAG"]
    for name, heading, rows in reversed(sections) if turned else sections:
        names = heading.split(",")
        order = list(reversed(range(len(names)))) if turned else list(range(len(names)))
        result += [b"", b"START_" + name.encode(), ",".join(names[k] for k in order).encode()]
        result += [b",".join(row[k] for k in order) for row in rows] + [b"END_" + name.encode()]
    return b"\n".join(result) + b"\n"


LSA = {**SPD, "HDR": "50", "NDR": "100", "XDR": "200"}


def net_dump(net: Net, *, labels: bool = False) -> bytes:
    """What ibdiagnet writes to ibdiagnet2.net_dump: tables of switches, also with labels ``cage/port`` of ports."""
    titles = ("#", "IB#", "Sta", "PhysSta", "MTU", "LWA", "LSA", "FEC mode", "Retran", "Neighbor Guid", "N#", "NLID")
    result = [b'# Running version   : "IBDIAGNET 2.10.0"', b"#", b"# Switch label port numbering explanation:"]

    def label(node: Node, port: int) -> bytes:
        return b"%d/%d" % ((port + 1) // 2, 2 - port % 2) if labels and node.kind == "switch" else b"%d" % port

    for v, node in enumerate(net.nodes):
        if node.kind != "switch":
            continue
        result += [b"", b'"%s", Mellanox, 0x%x, LID %d' % (node.text, node.guid, node.lid[0])]
        result += [
            "  {:11}: {:4}: {:5}: {:11}: {:4}: {:8}: {:8}: {:20}: {:7}: {:19}: {:11}: {:5}: ".format(*titles).encode()
        ]
        result[-1] += b"Neighbor Description"
        for port in range(1, node.ports + 1):
            if (v, port) not in net.peer:
                rest = b'DOWN : POLLING : N/A : N/A : N/A : N/A : N/A : N/A : N/A : N/A : ""'
                result += [b"  %-11s: %-4d: " % (label(node, port), port) + rest]
                continue
            w, q = net.peer[v, port]
            other, (width, speed) = net.nodes[w], net.rate[v, port]
            guid = other.guid if other.kind == "switch" else other.port_guid[q]
            line = b"  %-11s: %-4d: ACT  : LINK UP : 5 : " % (label(node, port), port)
            line += b"%s : %s : NO-FEC : NO-RTR : " % (width.encode(), LSA.get(speed, "N/A").encode())
            result += [line + b'0x%x : %s : %d : "%s"' % (guid, label(other, q), net.lid_of((w, q)), other.text)]
    return b"\n".join(result) + b"\n"


def plain_net(net: Net, name: Callable[[int], str] = "node {}".format) -> bytes:
    """The short form of ibsim's .net: no comments, and names that are any words."""
    result = []
    for v, node in enumerate(net.nodes):
        word = {"switch": "Switch", "ca": "Hca", "router": "Rt", "unknown": "???"}[node.kind]
        result += [f'{word} {node.ports} "{name(v)}"']
        for port in range(1, node.ports + 1):
            if (v, port) in net.peer:
                w, q = net.peer[v, port]
                result += [f'[{port}]  "{name(w)}"[{q}]']
        result += [""]
    return "\n".join(result).encode()


@dataclass(frozen=True)
class Dialect:
    """A printer, and what can be read from what it prints."""

    print: Callable[[Net], bytes]
    lmc: bool = False
    widths: tuple[str, ...] = WIDTHS
    speeds: tuple[str, ...] = tuple(LANE)
    unknown: bool = True


DIALECTS = {
    "plain": Dialect(discover, lmc=True),
    "-f": Dialect(lambda net: discover(net, full=True), lmc=True),
    "-g": Dialect(lambda net: discover(net, group=True), lmc=True),
    "-f -g": Dialect(lambda net: discover(net, full=True, group=True), lmc=True),
    "-p": Dialect(port_list),
    "iblinkinfo": Dialect(link_info, unknown=False),
    "subnet": Dialect(subnet, widths=("1x", "4x", "8x", "12x"), speeds=tuple(SPD)),
    "db_csv": Dialect(db_csv, lmc=True),
    "db_csv turned": Dialect(lambda net: db_csv(net, turned=True), lmc=True),
    "old subnet": Dialect(lambda net: subnet(net, old=True), speeds=()),
}

#: The name of a dialect and a fabric that it can tell.
said = st.sampled_from(sorted(DIALECTS)).flatmap(
    lambda name: st.tuples(st.just(name), nets(unknown=DIALECTS[name].unknown))
)


# Tables.


def ibroute(net: Net, tables: Entries, *, everything: bool = False, names: bool = True, by_lid: bool = False) -> bytes:
    """What dump_lfts, dump_fts and ibroute print, also with -a and -n."""
    own, result = net.owners(), []
    top = top_of(net)
    for node in (n for n in net.nodes if n.guid in tables and n.kind == "switch"):
        how = b"Lid %d" % node.lid[0] if by_lid else b"DR path slid 0; dlid 0; 0,1,3"
        result += [b"Unicast lids [0x0-0x%x] of switch %s guid 0x%016x (%s):" % (top, how, node.guid, node.text)]
        result += [b"  Lid  Out   Destination", b"       Port     Info "]
        for lid in range(top + 1) if everything else sorted(tables[node.guid]):
            port = tables[node.guid].get(lid, NONE)
            what = _ibroute_entry(net, own, lid, port) if names else b""
            result += [b"0x%04x %03u " % (lid, port) + what]
        many = top + 1 if everything else len(tables[node.guid])
        result += [b"%d %slids dumped " % (many, b"" if everything else b"valid ")]
    return b"\n".join(result) + b"\n"


def _ibroute_entry(net: Net, own: dict[int, Key], lid: int, port: int) -> bytes:
    if port == NONE:
        return b": (path #0 - illegal port)" if lid % 2 else b": (illegal port)"
    key = own[lid]
    if own.get(lid - 1) == key and lid % (1 << net.lmc):
        path = (lid % (1 << net.lmc) + 1, 1 << net.lmc, net.port_guid(key))
        return b": (path #%d out of %d: portguid 0x%016x)" % path
    what = b"Switch" if key[0] == "switch" else b"Channel Adapter"
    return b": (%s portguid 0x%016x: '%s')" % (what, net.port_guid(key), net.text(key))


def opensm(net: Net, tables: Entries) -> bytes:
    """What OpenSM writes to opensm-lfts.dump."""
    own, result = net.owners(), []
    top = top_of(net)
    for node in (n for n in net.nodes if n.guid in tables and n.kind == "switch"):
        head = b"Unicast lids [0-%d] of switch Lid %d guid 0x%016x ('%s'):"
        result += [head % (top, node.lid[0], node.guid, node.text)]
        for lid, port in sorted(tables[node.guid].items()):
            key = own[lid]
            what = b"Switch" if key[0] == "switch" else b"Channel Adapter"
            entry = (lid, port, what, net.port_guid(key), net.text(key))
            result += [b"0x%04x %03u # %s portguid 0x%016x: '%s'" % entry]
        result += [b"%d lids dumped" % top]
    return b"\n".join(result) + b"\n"


def fdbs(net: Net, tables: Entries, *, older: bool = False) -> bytes:
    """What OpenSM writes to opensm.fdbs: no names, and a line for every LID."""
    result = []
    for node in (n for n in net.nodes if n.guid in tables and n.kind == "switch"):
        result += [b"osm_ucast_mgr_" * older + b"dump_ucast_routes: Switch 0x%016x" % node.guid]
        result += [b"LID    : Port : Hops : Optimal"]
        for lid in range(1, top_of(net) + 1):
            port = tables[node.guid].get(lid, NONE)
            tail = (b": 02   : yes", b": 04   : No 2 hop path possible via port 4!", b": HOPS UNKNOWN")[lid % 3]
            result += [b"0x%04X : " % lid + (b"UNREACHABLE" if port == NONE else b"%03u  %s" % (port, tail))]
    return b"\n".join(result) + b"\n"


SPELLINGS: dict[str, Callable[[Net, Entries], bytes]] = {
    "a": ibroute,
    "a by LID": lambda net, tables: ibroute(net, tables, by_lid=True),
    "a -a": lambda net, tables: ibroute(net, tables, everything=True),
    "a -n": lambda net, tables: ibroute(net, tables, names=False),
    "b": opensm,
    "c": fdbs,
    "older c": lambda net, tables: fdbs(net, tables, older=True),
}
NAMED = ("a", "a by LID", "a -a", "b")  #: Those that say whose a LID is.


def top_of(net: Net) -> int:
    """The largest LID; a multiple of 64 would be taken for one that dump_lfts drops."""
    top = max(net.owners(), default=0)
    return top + (top % 64 == 0)


def guid2lid(net: Net) -> tuple[bytes, dict[int, tuple[int, int, int]]]:
    """OpenSM's file of LIDs, and what it says: an empty line follows each."""
    result: list[bytes] = []
    said = {}
    for v, node in enumerate(net.nodes):
        for port, lid in node.lid.items():
            if lid:
                guid = node.port_guid[0] if node.kind == "switch" else net.key((v, port))[1]
                last = lid + (1 << (net.lmc if port else 0)) - 1
                said[guid] = (lid, last, len(result) + 1)
                result += [b"0x%016x 0x%04x 0x%04x" % (guid, lid, last), b""]
    return b"\n".join(result) + b"\n", said


# Meanings.


def gbps(width: str, speed: str) -> Fraction | None:
    """The data rate, from the notes: lanes times signalling times what of it is data."""
    if width not in WIDTHS or speed not in LANE:
        return None
    return int(width[:-1]) * Fraction(LANE[speed]) * CODES[speed]


def written(net: Net, dialect: Dialect) -> dict[str, Any]:
    """What a reader has to find in a file: cables, rates, LIDs and LMCs, all by ports that are known by GUIDs."""
    cables = {a: b for a, b in net.peer.items() if a != b}  # a port cabled to itself is no cable, and warned of
    end = {where: (net.key(where), where[1]) for where in cables}
    messages = {
        where: both if both[0] in dialect.widths and both[1] in dialect.speeds else ("??", "???")
        for where, both in net.rate.items()
        if where in cables
    }
    lids = {net.key(where): net.lid_of(where) for where in cables}
    return {
        "cables": {end[a]: end[b] for a, b in cables.items()},
        "rates": {end[where]: gbps(*both) for where, both in messages.items()},
        "lids": lids,
        "lmc": {key: net.lmc if dialect.lmc and key[0] != "switch" else 0 for key in lids},
    }


def found(fabric: Fabric) -> dict[str, Any]:
    """The same of what a reader has found."""

    def key(slot: int) -> Key:
        v = int(fabric.node_of[slot])
        kind = fabric.nodes.kind[v]
        return kind, int(fabric.nodes.guid[v] if kind == "switch" else fabric.ports.guid[slot])

    cabled = [slot for slot, other in enumerate(fabric.ports.peer.tolist()) if other >= 0]
    end = {slot: (key(slot), fabric.port_of(slot)) for slot in cabled}
    place = {key(s): int(fabric.first_slot[fabric.node_of[s]]) if key(s)[0] == "switch" else s for s in cabled}
    return {
        "cables": {end[slot]: end[int(fabric.ports.peer[slot])] for slot in cabled},
        "rates": {end[slot]: fabric.rate_at(slot) for slot in cabled},
        "lids": {who: int(fabric.ports.lid[slot]) for who, slot in place.items()},
        "lmc": {who: int(fabric.ports.lmc[slot]) for who, slot in place.items()},
    }


def routes(tables: Tables, fabric: Fabric) -> Entries:
    """The entries that a reader has found, by the switches' GUIDs."""
    return {
        int(fabric.nodes.guid[v]): {lid: port for lid, port in enumerate(row) if port != NONE}
        for v, row in zip(tables.switch.tolist(), tables.out.tolist(), strict=True)
    }
