"""What is written is read, damage is told, and every dialect says the same: by printers that know only the formats."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fabric.files import reading_strategies as rs

from obliv.errors import OblivError
from obliv.fabric.files.folder import read, read_fabric, read_tables
from obliv.fabric.files.opensm_subnet import read_guid2lid
from obliv.fabric.kernels.rows import read_rows
from obliv.fabric.model import Fabric, Tables
from obliv.fabric.results.check import Finding

PLACE = st.integers(0, 2**31 - 1)  #: Of so many as there are, or a seed.
NIGHTLY: dict[str, Callable[..., None]] = {}

ONE = rs.Node("switch", 0xA1, 2, b"one", {0: 0xA1}, {0: 1})
HOST = rs.Node("ca", 0xB0, 1, b"host", {1: 0xB1}, {1: 2})
ENDS = ((0, 1), (1, 1))


def pair(text: bytes = b"host", speed: str = "QDR") -> rs.Net:
    """A host at a switch."""
    nodes = [replace(ONE), replace(HOST, text=text)]
    return rs.Net(nodes, {ENDS[0]: ENDS[1], ENDS[1]: ENDS[0]}, dict.fromkeys(ENDS, ("4x", speed)), 0)


def law(*drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test of drawn examples, and the same with many more for the night."""

    def wrap(test: Callable[..., None]) -> Callable[..., None]:
        NIGHTLY[test.__name__] = settings(max_examples=3000)(given(*drawn)(test))
        return settings(max_examples=30)(given(*drawn)(test))

    return wrap


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for files; the compiler has been loaded before times are taken."""
    place = tmp_path_factory.mktemp("laws")
    _ = read_rows.compiled()
    fabric = read_fabric(put(place, rs.discover(pair())))
    for spell in rs.SPELLINGS.values():
        _ = read_tables(put(place, spell(pair(), {0xA1: {1: 0}})), fabric)
    return place


@contextmanager
def kernel(compiled: bool) -> Iterator[None]:
    """Tables are read by machine code, or by Python, which sees it if a step leaves an array."""
    remaining, read_rows.hot = read_rows.hot, compiled
    try:
        yield
    finally:
        read_rows.hot = remaining


def put(folder: Path, data: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def sound(findings: tuple[Finding, ...]) -> None:
    """Nothing that was noticed is an error, and all of it can be printed."""
    told(findings)
    assert [each for each in findings if each.severity == "error"] == []


def told(findings: tuple[Finding, ...]) -> None:
    for each in findings:
        assert each.severity in ("error", "warning", "note")
        assert each.message.isprintable()
        assert each.kind
        assert each.line >= 0


def errors(findings: tuple[Finding, ...]) -> bool:
    return any(each.severity == "error" for each in findings)


def noticed(findings: tuple[Finding, ...], want: dict[Any, Any], got: dict[Any, Any], name: str = "") -> bool:
    """Whether cables are as they were, or an error says otherwise.

    Any finding will do for a cable from a node to itself, lost with its node, and for iblinkinfo: some list only
    switches, so that what is lost may never have been there.
    """
    moved = [(end, cables[end]) for cables in (want, got) for end in cables if want.get(end) != got.get(end)]
    mild = name == "iblinkinfo" or all(near[0] == far[0] for near, far in moved)
    return not moved or errors(findings) or (mild and bool(findings))


# What is written is read.


@law(rs.said, rs.dresses)
def test_a_topology_is_read_as_it_was_written(folder: Path, told_by: tuple[str, rs.Net], dress: rs.Dress) -> None:
    name, net = told_by
    dialect = rs.DIALECTS[name]
    fabric = read_fabric(put(folder, dress(dialect.print(net))))
    assert rs.found(fabric) == rs.written(net, dialect)
    sound(fabric.findings)
    plugs = sum(1 for a, b in net.peer.items() if a == b)
    assert sum(1 for each in fabric.findings if each.kind == "loopback") == plugs


@law(rs.nets(), st.booleans(), rs.dresses)
def test_tables_of_ports_by_ibdiagnet(folder: Path, net: rs.Net, labels: bool, dress: rs.Dress) -> None:
    """The file has tables of switches only: others are known as neighbors, cables between them are not."""
    fabric = read_fabric(put(folder, dress(rs.net_dump(net, labels=labels))))
    sound(fabric.findings)
    switch = [node.kind == "switch" for node in net.nodes]
    net.peer = {a: b for a, b in net.peer.items() if switch[a[0]] or switch[b[0]]}
    for (v, p), (w, q) in net.peer.items():
        net.rate[v, p] = net.rate[v, p] if switch[v] else net.rate[w, q]  # as its switch reports it
    for node in net.nodes:
        node.kind = "switch" if node.kind == "switch" else "ca"
    assert rs.found(fabric) == rs.written(net, rs.Dialect(rs.net_dump))
    named = {fabric.port_of(slot): label for slot, label in fabric.labels.items()}
    assert named == ({port: f"{(port + 1) // 2}/{2 - port % 2}" for port in named})
    assert bool(named) == labels


@law(rs.nets(own_guids=True, unknown=True), st.booleans(), st.booleans(), rs.ends)
def test_records_are_read_in_full(folder: Path, net: rs.Net, full: bool, group: bool, dress: rs.Dress) -> None:
    """In the order of the file, with their lines, names and the GUIDs of their ports."""
    data = dress(rs.discover(net, full=full, group=group))
    fabric = read_fabric(put(folder, data))
    sound(fabric.findings)
    assert fabric.nodes.kind == tuple(node.kind for node in net.nodes)
    assert fabric.nodes.ident == tuple(node.ident for node in net.nodes)
    assert fabric.nodes.guid.tolist() == [node.guid for node in net.nodes]
    lines = data.split(b"\n")
    for v, node in enumerate(net.nodes):
        first = int(fabric.first_slot[v])
        assert int(fabric.first_slot[v + 1]) - first == node.ports + 1
        assert node.ident.encode() in lines[int(fabric.nodes.line[v]) - 1]
        for port in range(1, node.ports + 1):
            if (v, port) in net.peer:
                assert lines[int(fabric.ports.line[first + port]) - 1].startswith(b"[%d]" % port)
                assert node.kind == "switch" or int(fabric.ports.guid[first + port]) == node.port_guid[port]
        if node.kind == "switch":
            assert int(fabric.ports.guid[first]) == node.port_guid[0]
        assert fabric.nodes.description[v] == node.text.decode(errors="replace")
    hosts = [
        int(fabric.first_slot[v]) + port
        for (v, port), (w, q) in sorted(net.peer.items())
        if net.nodes[v].kind == "ca" and not net.nodes[v].text.startswith(b"Mellanox Technologies Aggregation Node")
        if (v, port) != (w, q) and net.nodes[w].kind in ("ca", "switch")  # beyond a router is another subnet
    ]
    assert fabric.endpoints.tolist() == hosts


@law(rs.nets(lids=False), st.lists(st.text("abc S-H12#;:()[]'{}", max_size=8), max_size=9), rs.dresses)
def test_the_short_form_of_ibsim(folder: Path, net: rs.Net, words: list[str], dress: rs.Dress) -> None:
    """Names are any words."""
    names = [f"{words[v] if v < len(words) else ''}{v}" for v in range(len(net.nodes))]
    fabric = read_fabric(put(folder, dress(rs.plain_net(net, names.__getitem__))))
    sound(fabric.findings)
    assert fabric.nodes.ident == tuple(names)
    assert fabric.nodes.kind == tuple(node.kind for node in net.nodes)
    assert cables(fabric) == {(names[v], p): (names[w], q) for (v, p), (w, q) in net.peer.items() if (v, p) != (w, q)}
    assert not fabric.ports.lid.any()


def cables(fabric: Fabric) -> dict[tuple[str, int], tuple[str, int]]:
    """The cables by what the file calls the nodes."""
    end = [(fabric.nodes.ident[int(v)], fabric.port_of(slot)) for slot, v in enumerate(fabric.node_of.tolist())]
    return {end[slot]: end[far] for slot, far in enumerate(fabric.ports.peer.tolist()) if far >= 0}


@law(rs.nets())
def test_the_dialects_agree(folder: Path, net: rs.Net) -> None:
    """Whatever wrote it, a fabric has the same cables, LIDs and, where they are told, rates."""
    first = rs.found(read_fabric(put(folder, rs.discover(net))))
    for print_it in (rs.port_list, rs.link_info, rs.subnet, rs.db_csv):
        other = rs.found(read_fabric(put(folder, print_it(net))))
        assert other["cables"] == first["cables"]
        assert other["lids"] == first["lids"]
        assert all(rate is None or rate == first["rates"][end] for end, rate in other["rates"].items())
        if print_it is not rs.subnet:
            assert other["rates"] == first["rates"]


# Tables.


@law(rs.routed(), st.sampled_from(sorted(rs.SPELLINGS)), rs.dresses, st.booleans())
def test_tables_are_read_as_they_were_written(
    folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, dress: rs.Dress, compiled: bool
) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    data = rs.SPELLINGS[spelling](net, result)
    with kernel(compiled):
        tables = read_tables(put(folder, dress(data)), fabric)
    assert rs.routes(tables, fabric) == result
    sound(tables.findings)
    assert tables.spelling == {"a": "ibroute", "b": "opensm", "c": "fdbs"}[spelling.removeprefix("older ")[0]]
    assert tables.top == (0 if tables.spelling == "fdbs" else rs.top_of(net))
    lines = data.split(b"\n")
    for v, line in zip(tables.switch.tolist(), tables.line.tolist(), strict=True):
        assert b"0x%016x" % net.nodes[v].guid in lines[line - 1]


def test_the_highest_lid(folder: Path) -> None:
    net = pair()
    net.lmc, net.nodes[0].lid, net.nodes[1].lid = 2, {0: 0xBFFB}, {1: 0xBFFC}
    result = {0xA1: {0xBFFB: 0, **dict.fromkeys(range(0xBFFC, 0xC000), 1)}}
    for name, dialect in rs.DIALECTS.items():
        fabric = read_fabric(put(folder, dialect.print(net)))
        assert rs.found(fabric) == rs.written(net, dialect), name
    fabric = read_fabric(put(folder, rs.discover(net)))
    for spell in (rs.ibroute, rs.opensm, rs.fdbs):
        tables = read_tables(put(folder, spell(net, result)), fabric)
        assert rs.routes(tables, fabric) == result
        sound((*fabric.findings, *tables.findings))


@pytest.mark.nightly
@law(rs.routed(), st.sampled_from(rs.NAMED), PLACE)
def test_entries_follow_the_ports_they_name(
    folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, seed: int
) -> None:
    """As in OpenSM's own loader, with LIDs of another moment but the same LMC."""
    net, result = both
    path = put(folder, rs.SPELLINGS[spelling](net, result), "tables")
    old = {who: lid for lid, who in sorted(net.owners().items(), reverse=True)}
    rs.number(Random(seed), net)
    new = {who: lid for lid, who in sorted(net.owners().items(), reverse=True)}
    fabric = read_fabric(put(folder, rs.discover(net)))
    tables = read_tables(path, fabric)
    told(tables.findings)
    moved = {old[who] + k: new[who] + k for who in old for k in range(1 if who[0] == "switch" else 1 << net.lmc)}
    assert rs.routes(tables, fabric) == {
        guid: {moved[lid]: port for lid, port in row.items()} for guid, row in result.items()
    }


@pytest.mark.nightly
@law(rs.routed(), st.sampled_from(sorted(rs.SPELLINGS)), PLACE)
def test_the_order_of_tables_and_entries_means_nothing(
    folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, seed: int
) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    rng, blocks = Random(seed), []
    for block in shuffled(rng, cut_in_tables(rs.SPELLINGS[spelling](net, result))):
        lines = block.splitlines(keepends=True)
        at = [k for k, line in enumerate(lines) if line.startswith(b"0x")]
        body = shuffled(rng, [lines[k] for k in at])
        body = [*body, *body[:1]]  # one stands twice, and says the same
        blocks += [*lines[: at[0]], *body, *lines[at[-1] + 1 :]] if at else lines
    tables = read_tables(put(folder, b"".join(blocks)), fabric)
    assert rs.routes(tables, fabric) == result
    told(tables.findings)


def shuffled(rng: Random, items: list[bytes]) -> list[bytes]:
    return rng.sample(items, len(items))


def cut_in_tables(data: bytes) -> list[bytes]:
    return [b for b in re.split(rb"(?m)^(?=Unicast|dump_ucast|osm_ucast)", data) if b]


# LIDs from elsewhere.


@law(rs.nets(), st.sampled_from(["plain", "-p", "iblinkinfo", "subnet"]), rs.dresses)
def test_guid2lid(folder: Path, net: rs.Net, name: str, dress: rs.Dress) -> None:
    """It gives LIDs to a scan before the subnet manager, and the LMC to dialects that do not tell it."""
    data, messages = rs.guid2lid(net)
    path = put(folder, dress(data), "guid2lid")
    assert read_guid2lid(path) == messages
    bare = rs.Net(net.nodes, net.peer, net.rate, 0) if name == "plain" else net
    remaining = [node.lid for node in net.nodes]
    if name == "plain":
        for node in net.nodes:
            node.lid = dict.fromkeys(node.lid, 0)
    text = rs.DIALECTS[name].print(bare)
    for node, lid in zip(net.nodes, remaining, strict=True):
        node.lid = lid
    got = rs.found(read_fabric(put(folder, text), guid2lid=path))
    want = rs.written(net, rs.DIALECTS["plain"])
    assert (got["cables"], got["lids"], got["lmc"]) == (want["cables"], want["lids"], want["lmc"])


@law(rs.routed(full=True), st.sampled_from(rs.NAMED), st.sampled_from(["-p", "subnet", "plain"]))
def test_lids_and_lmc_are_learned_from_tables(
    folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, name: str
) -> None:
    """From tables that name ports: the LMC where the dialect is silent, the LIDs where there are none yet."""
    net, result = both
    for node in net.nodes:
        node.port_guid = {port: node.guid if port == 0 else own for port, own in node.port_guid.items()}
    lft = put(folder, rs.SPELLINGS[spelling](net, result), "tables")
    want = rs.written(net, rs.DIALECTS["plain"])
    if name == "plain":
        net.lmc = 0
        for node in net.nodes:
            node.lid = dict.fromkeys(node.lid, 0)
    fabric, tables = read(put(folder, rs.DIALECTS[name].print(net)), lft)
    assert tables is not None
    got = rs.found(fabric)
    assert (got["cables"], got["lids"], got["lmc"]) == (want["cables"], want["lids"], want["lmc"])
    assert rs.routes(tables, fabric) == result


# Damage.

NUMBERS = [b"0", b"-1", b"1", b"7", b"48", b"255", b"256", b"49151", b"65535", b"65536", b"4294967296", b"9" * 30]
NUMBERS += [b"0x", b"1e9", b"0x1ffff", b"0x" + b"f" * 16, b"0x1" + b"0" * 16, b"\xd9\xa3", b"1_0", b"", b"00", b"+3"]
KINDS = ["drop", "repeat", "swap", "cut", "number", "insert", "many", "join", "mix", "turn"]
BYTES = st.one_of(st.sampled_from(rs.PIECES), st.binary(max_size=5), st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n"]))
DAMAGE = st.lists(st.tuples(st.sampled_from(KINDS), PLACE, PLACE, BYTES), min_size=1, max_size=3)


def damaged(data: bytes, what: str, a: int, b: int, word: bytes, other: bytes) -> bytes:
    """A file after one accident."""
    lines = data.splitlines(keepends=True) or [b""]
    i, j, at = a % len(lines), b % len(lines), a % (len(data) + 1)
    if what == "drop":
        return b"".join(lines[:i] + lines[i + 1 :])
    if what == "repeat":
        return b"".join(lines[: i + 1] + lines[i:])
    if what == "swap":
        lines[i], lines[j] = lines[j], lines[i]
        return b"".join(lines)
    if what == "cut":
        return data[:at]
    if what == "number":
        spans = [m.span() for m in re.finditer(rb"0x[0-9a-fA-F]*|\d+", data)] or [(0, 0)]
        start, end = spans[a % len(spans)]
        own = data[slice(*spans[b % len(spans)])]
        return data[:start] + [*NUMBERS, own][b % (len(NUMBERS) + 1)] + data[end:]
    if what == "insert":
        return data[:at] + word + data[at:]
    if what == "many":
        return data[:at] + (word or b"x") * (1 + b % 3000) + data[at:]
    if what == "join":
        return data + other if b % 2 else other + data
    if what == "mix":
        return b"".join(lines[:i] + other.splitlines(keepends=True)[b % 7 :])
    return b"".join(lines[i:] + lines[:i])


def ends_well(act: Callable[[], tuple[Finding, ...]]) -> None:
    """Something is read, or refused in one line."""
    try:
        told(act())
    except OblivError as error:
        assert str(error).isprintable()


@law(rs.nets(), st.sampled_from(sorted(rs.DIALECTS)), st.sampled_from(sorted(rs.DIALECTS)), DAMAGE, st.booleans())
def test_a_damaged_topology(
    folder: Path, net: rs.Net, name: str, other: str, damage: list[tuple[str, int, int, bytes]], packed: bool
) -> None:
    data = rs.DIALECTS[name].print(net)
    for accident in damage:
        data = damaged(data, *accident, rs.DIALECTS[other].print(net))
    if packed:  # the archive may be damaged as well
        data = gzip.compress(data, 1)
        data = damaged(data, *damage[0], b"") if damage[0][1] % 3 == 0 else data
    path = put(folder, data)
    ends_well(lambda: read_fabric(path).findings)


@pytest.mark.nightly
@law(rs.routed(), st.sampled_from(sorted(rs.SPELLINGS)), st.sampled_from(sorted(rs.SPELLINGS)), DAMAGE, st.booleans())
def test_damaged_tables(
    folder: Path,
    both: tuple[rs.Net, rs.Entries],
    spelling: str,
    other: str,
    damage: list[tuple[str, int, int, bytes]],
    compiled: bool,
) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    data = rs.SPELLINGS[spelling](net, result)
    for accident in damage:
        data = damaged(data, *accident, rs.SPELLINGS[other](net, result))
    path = put(folder, data)
    with kernel(compiled):
        ends_well(lambda: in_range(read_tables(path, fabric), fabric).findings)


def in_range(tables: Tables, fabric: Fabric) -> Tables:
    """Rows are of switches, one each."""
    assert len(set(tables.switch.tolist())) == len(tables.switch) == len(tables.out)
    assert set(tables.switch.tolist()) <= set(fabric.switches.tolist())
    return tables


@pytest.mark.nightly
@law(rs.routed(), st.sampled_from(sorted(rs.SPELLINGS)), st.sampled_from(sorted(rs.DIALECTS)), DAMAGE, DAMAGE)
def test_all_files_damaged(
    folder: Path,
    both: tuple[rs.Net, rs.Entries],
    spelling: str,
    name: str,
    damage: list[tuple[str, int, int, bytes]],
    more: list[tuple[str, int, int, bytes]],
) -> None:
    """Also where one file says something of the other."""
    net, result = both
    texts = [rs.DIALECTS[name].print(net), rs.SPELLINGS[spelling](net, result), rs.guid2lid(net)[0]]
    for k, accident in enumerate([*damage, *more]):
        texts[k % 3] = damaged(texts[k % 3], *accident, texts[(k + 1) % 3])
    topology, lft, lids = (put(folder, text, str(k)) for k, text in enumerate(texts))

    def act() -> tuple[Finding, ...]:
        fabric, tables = read(topology, lft, guid2lid=lids if len(damage) % 2 else None)
        assert tables is not None
        return (*fabric.findings, *tables.findings)

    ends_well(act)
    ends_well(lambda: (read_guid2lid(lids), ())[1])


@law(rs.said, st.sampled_from(["drop", "repeat", "next"]), PLACE)
def test_no_cable_changes_in_silence(folder: Path, told_by: tuple[str, rs.Net], what: str, a: int) -> None:
    """Every cable stands twice: a line that is lost, repeated or in its neighbour's place is noticed or harmless."""
    name, net = told_by
    data = rs.DIALECTS[name].print(net)
    lines = data.splitlines(keepends=True)
    k = a % len(lines)
    if what == "next":
        lines[k : k + 2] = lines[k : k + 2][::-1]
        data = b"".join(lines)
    else:
        data = damaged(data, what, a, 0, b"", b"")
    try:
        fabric = read_fabric(put(folder, data))
    except OblivError:
        return
    told(fabric.findings)
    want = rs.written(net, rs.DIALECTS[name])["cables"]
    got = rs.found(fabric)["cables"]
    assert noticed(fabric.findings, want, got, name)


@law(rs.nets(), st.booleans(), PLACE, PLACE)
def test_no_number_moves_a_cable_in_silence(folder: Path, net: rs.Net, full: bool, a: int, b: int) -> None:
    text = rs.discover(net, full=full)
    want = cables(read_fabric(put(folder, text)))
    try:
        fabric = read_fabric(put(folder, damaged(text, "number", a, b, b"", b"")))
    except OblivError:
        return
    told(fabric.findings)
    assert noticed(fabric.findings, want, cables(fabric))


@pytest.mark.nightly
@law(rs.said, PLACE)
def test_a_lost_port_line_harms_no_other_cable(folder: Path, told_by: tuple[str, rs.Net], a: int) -> None:
    name, net = told_by
    text = rs.DIALECTS[name].print(net)
    fabric = read_fabric(put(folder, text))
    want = rs.written(net, rs.DIALECTS[name])["cables"]
    slots = [slot for slot, far in enumerate(fabric.ports.peer.tolist()) if far >= 0]
    if not slots:
        return
    slot = slots[a % len(slots)]
    lines = text.splitlines(keepends=True)
    del lines[int(fabric.ports.line[slot]) - 1]
    try:
        cut = read_fabric(put(folder, b"".join(lines)))
    except OblivError:
        assert len(slots) == 2
        return
    got = rs.found(cut)["cables"]
    lost = {end for end in want if want[end] != got.get(end)}
    assert noticed(cut.findings, want, got, name)
    assert cut.findings or (name == "db_csv turned" and not lost)  # the other row of the cable is still there
    assert len(lost) <= 2
    assert len({frozenset((end, want[end])) for end in lost}) <= 1


@law(rs.said, PLACE)
def test_a_cut_topology_is_noticed(folder: Path, told_by: tuple[str, rs.Net], a: int) -> None:
    """As soon as one end of a lost cable is still there to tell."""
    name, net = told_by
    text = rs.DIALECTS[name].print(net)
    sound_one = read_fabric(put(folder, text))
    at = a % len(text)
    left = text[:at].count(b"\n")  # lines that are complete
    try:
        fabric = read_fabric(put(folder, text[:at]))
    except OblivError:
        return
    told(fabric.findings)
    if errors(fabric.findings) or (name == "iblinkinfo" and fabric.findings):
        return
    want, got = rs.found(sound_one)["cables"], rs.found(fabric)["cables"]
    assert got.items() <= want.items()
    remaining = {
        end
        for slot, (end, _) in zip(
            [s for s, far in enumerate(sound_one.ports.peer.tolist()) if far >= 0], want.items(), strict=True
        )
        if int(sound_one.ports.line[slot]) <= left
    }
    assert remaining <= set(got)


@law(rs.routed(full=True, least=2), st.sampled_from(sorted(rs.SPELLINGS)), PLACE)
def test_a_lost_table_harms_no_other(folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, a: int) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    blocks = cut_in_tables(rs.SPELLINGS[spelling](net, result))
    lost = a % len(blocks)
    tables = read_tables(put(folder, b"".join(blocks[:lost] + blocks[lost + 1 :])), fabric)
    guids = [node.guid for node in net.nodes if node.guid in result]
    assert rs.routes(tables, fabric) == {guid: result[guid] for guid in guids if guid != guids[lost]}


@pytest.mark.nightly
@law(rs.routed(), st.sampled_from(sorted(rs.SPELLINGS)), PLACE)
def test_a_lost_entry_harms_no_other(folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, a: int) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    lines = rs.SPELLINGS[spelling](net, result).splitlines(keepends=True)
    places = [k for k, line in enumerate(lines) if re.match(rb"0x[0-9a-fA-F]+ (: )?(?!255)\d", line)]
    k = places[a % len(places)]
    lid = int(lines[k].split()[0], 16)
    head = next(line for line in reversed(lines[:k]) if b"witch" in line and not line.startswith(b"0x"))
    guid = int(re.findall(rb"(?:guid|Switch) 0x(\w{16})", head)[0], 16)
    del lines[k]
    tables = read_tables(put(folder, b"".join(lines)), fabric)
    told(tables.findings)
    left = {who: {at: port for at, port in row.items() if (who, at) != (guid, lid)} for who, row in result.items()}
    assert rs.routes(tables, fabric) == left


@law(rs.routed(), st.sampled_from(["a", "a by LID", "a -a", "a -n", "b"]), PLACE, PLACE)
def test_a_cut_table_is_an_error(folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, a: int, b: int) -> None:
    """Its last line is missing; what stands before the cut is read."""
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    blocks = cut_in_tables(rs.SPELLINGS[spelling](net, result))
    k = a % len(blocks)
    body = blocks[k]
    at = 1 + b % (body.rindex(b"dumped") + 5)
    try:
        tables = read_tables(put(folder, b"".join(blocks[:k]) + body[:at]), fabric)
    except OblivError:
        assert k == 0
        return
    told(tables.findings)
    assert errors(tables.findings)
    got = rs.routes(tables, fabric)
    guids = [node.guid for node in net.nodes if node.guid in result]
    for guid in guids[:k]:
        assert got[guid] == result[guid]
    broken = re.match(rb"0x\w*", body[:at].split(b"\n")[-1])  # the entry in which the file ends
    row = {
        lid: port for lid, port in got.get(guids[k], {}).items() if not broken or lid != int(broken[0] + b"0", 16) >> 4
    }
    assert row.items() <= result[guids[k]].items()
    complete = {int(lid, 16) for lid in re.findall(rb"(?m)^(0x\w+) .*\n", body[:at])}
    assert {lid for lid in result[guids[k]] if lid in complete} <= set(got.get(guids[k], {}))
    assert not set(got) - set(guids[: k + 1])


@law(rs.routed(full=True, least=2), st.sampled_from(["a", "a by LID", "a -n", "b"]), PLACE)
def test_a_table_without_its_head_is_no_other_switchs(
    folder: Path, both: tuple[rs.Net, rs.Entries], spelling: str, a: int
) -> None:
    net, result = both
    fabric = read_fabric(put(folder, rs.discover(net)))
    blocks = cut_in_tables(rs.SPELLINGS[spelling](net, result))
    k = a % len(blocks)
    blocks[k] = blocks[k].split(b"\n", 1)[1]
    tables = read_tables(put(folder, b"".join(blocks)), fabric)
    guids = [node.guid for node in net.nodes if node.guid in result]
    assert rs.routes(tables, fabric) == {guid: result[guid] for guid in guids if guid != guids[k]}
    told(tables.findings)
    assert tables.findings != ()


@law(rs.nets(), rs.nets(), st.sampled_from(sorted(rs.DIALECTS)))
def test_two_scans_in_one_file_are_noticed(folder: Path, net: rs.Net, other: rs.Net, name: str) -> None:
    text = rs.DIALECTS[name].print(net) + rs.DIALECTS[name].print(other)
    try:
        fabric = read_fabric(put(folder, text))
    except OblivError:
        return
    told(fabric.findings)
    got = rs.found(fabric)["cables"]
    want = [rs.written(each, rs.DIALECTS[name])["cables"] for each in (net, other)]
    assert errors(fabric.findings) or got == want[0] | want[1]


# What went wrong once, by its smallest cases.


def test_a_name_decides_nothing(folder: Path) -> None:
    net = pair(b"[1] ==(")
    assert rs.found(read_fabric(put(folder, rs.subnet(net)))) == rs.written(net, rs.DIALECTS["subnet"])


@pytest.mark.parametrize("full", [False, True])
def test_an_unknown_speed_is_no_cut(folder: Path, full: bool) -> None:
    net = pair(speed="???")
    sound(read_fabric(put(folder, rs.discover(net, full=full)[:-1])).findings)


def test_a_lost_heading_makes_no_switch(folder: Path) -> None:
    fabric = read_fabric(put(folder, rs.link_info(pair()).replace(b"CA: host:\n", b"")))
    assert fabric.nodes.kind.count("switch") == 1 or fabric.findings


@pytest.mark.nightly
@pytest.mark.parametrize("name", NIGHTLY)
def test_many_more(name: str, folder: Path) -> None:
    NIGHTLY[name](folder)
