"""Files of fabrics, damaged at random: for tests and for a longer run by hand (benchmarks/fuzz_fabric.py)."""

from __future__ import annotations

import contextlib
import gzip
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.fabric import spelled
from tests.fabric.adaptive.by_choices import random_groups
from tests.fabric.adaptive.spelled_info import info_text
from tests.fabric.lanes import spelled_lanes

from obliv.errors import OblivError
from obliv.fabric.adaptive.loads import packed, traced
from obliv.fabric.files.far import read_groups, write_groups
from obliv.fabric.files.folder import read, read_fabric, read_tables
from obliv.fabric.files.forwarding import read_ar_info
from obliv.fabric.files.opensm_subnet import read_guid2lid
from obliv.fabric.lanes.pairs import read_levels
from obliv.fabric.lanes.read import read_arbitration, read_oper_vls
from obliv.fabric.lanes.sl2vl import read_sl2vl
from obliv.fabric.model import Fabric
from obliv.fabric.names import GroupTables
from obliv.fabric.results.check import Finding

TOPOLOGIES: dict[str, Callable[[Fabric], str]] = {
    "ibnetdiscover": spelled.ibnetdiscover,
    "full": lambda fabric: spelled.ibnetdiscover(fabric, full=True),
    "net": spelled.net,
    "ports": spelled.port_list,
    "links": spelled.link_info,
    "long links": lambda fabric: spelled.link_info(fabric, long=True),
    "subnet": spelled.subnet,
    "net_dump": spelled.net_dump,
    "db_csv": spelled.db_csv,
}
SPELLINGS = ("a", "a -a", "a -n", "b", "c")
#: What each parser reads, by the names of the printers.
PARSERS = {
    "ibnetdiscover": ("ibnetdiscover", "full", "net"),
    "ibnetdiscover -p": ("ports",),
    "iblinkinfo": ("links", "long links"),
    "opensm-subnet.lst": ("subnet",),
    "ibdiagnet2.net_dump": ("net_dump",),
    "ibdiagnet2.db_csv": ("db_csv",),
    "ibroute": ("a", "a -a", "a -n"),
    "opensm-lfts.dump": ("b",),
    "opensm.fdbs": ("c",),
    "guid2lid": ("guid2lid",),
    "ibdiagnet2.far": ("far",),
}
#: The same for the parsers of lanes.
LANE_PARSERS = {
    "opensm-sl2vl.dump": ("opensm",),
    "slvl": ("slvl",),
    "smpquery sl2vl": ("smpquery",),
    "saquery SL2VL": ("saquery tables",),
    "opensm-path-records": ("path records",),
    "psl": ("psl",),
    "saquery PR": ("saquery levels",),
    "LID LID SL": ("plain",),
    "smpquery portinfo": ("portinfo",),
    "smpquery vlarb": ("vlarb",),
    "AR_INFO": ("ar info",),
}
#: The readers of lanes, by parser.
LANES: dict[str, Callable[[Path, Fabric], Any]] = dict.fromkeys(
    ("opensm-sl2vl.dump", "slvl", "smpquery sl2vl", "saquery SL2VL"), read_sl2vl
)
LANES |= dict.fromkeys(("opensm-path-records", "psl", "saquery PR", "LID LID SL"), read_levels)
LANES |= {"smpquery portinfo": read_oper_vls, "smpquery vlarb": read_arbitration, "AR_INFO": read_ar_info}
_A_FABRIC = 50  # damaged files that are made of one
_A_SMALL_FABRIC = 1000
WORDS = [
    b'"',
    b"#",
    b"[",
    b"]",
    b"(",
    b")",
    b"0x",
    b"lid ",
    b"lmc ",
    b"portguid 0x",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"{",
    b"}",
]
WORDS += [
    b"99999999999999999999",
    b"255",
    b"65535",
    b" ",
    b"\t",
    b"Unicast lids [",
    b"lids dumped",
    b"dump_ucast_routes: Switch 0x",
]
WORDS += [
    b"vendid=",
    b"Switch 999999999 ",
    b"-1",
    b"UNREACHABLE",
    b"==(",
    b"==>",
    b"' - '",
    b" : ",
    b"ibwarn: [",
    b"do ",
    b"ports: in ",
    b"VL:",
    b"slid.",
    b"PathRecord dump:",
    b" 16 ",
    b",",
    b"\x1b[2J",
]
WORDS += [b"START_LINKS\n", b"END_PORTS\n", b",0xf452140300000000,", b" : N/A : ", b'", Mellanox, 0x1, LID ']
WORDS += [b"START_AR_INFO\n", b"END_AR_INFO\n", b"NodeGUID,", b"by_sl_en,"]
WORDS += [b"Groups Definition:\n", b"PLFT_NUM: 1, top: 0x", b"LFT Definition:\n", b"5,6,", b" Free 1\n", b"Switch 0x"]


def lane_files(rng: np.random.Generator, fabric: Fabric) -> dict[str, bytes]:
    """Files about the lanes of a fabric."""
    rows = spelled_lanes.all_rows(fabric, rng, lanes=16, holes=0.3)
    pairs = spelled_lanes.pair_levels(fabric, rng, sls=16)
    texts = {name: printed(fabric, rows) for name, printed in spelled_lanes.TABLES.items()}
    texts |= {name: printed(fabric, pairs) for name, printed in spelled_lanes.LEVELS.items() if name != "saquery"}
    texts["saquery tables"] = texts.pop("saquery")
    texts["saquery levels"] = spelled_lanes.saquery_pr(fabric, pairs)
    texts["portinfo"] = spelled_lanes.port_infos(fabric, rng)
    texts["vlarb"] = spelled_lanes.arbitrations(fabric, rng)
    texts["ar info"] = info_text(fabric, f"{rng.integers(1 << 16):#x}", *rng.integers(0, 2, 2).tolist())
    return {name: text.encode() for name, text in texts.items()}


def damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A file with one to five changes."""
    below, chance = rng._randbelow, rng.random  # type: ignore[attr-defined]  # drawing is half of the work otherwise
    for _ in range(1 + below(5)):
        a, b = sorted((below(len(data) + 1), below(len(data) + 1)))
        if chance() < 0.7:
            b = min(b, a + below(30))
        word = WORDS[below(len(WORDS))]
        what = below(9)
        if what == 0:
            data = data[:a] + data[b:]
        elif what == 1:
            data = data[:a] + word + data[b:]
        elif what == 2:
            data = data[:a] + word + data[a:]
        elif what == 3:
            data = data[:b] + data[a:b] + data[b:]
        elif what == 4:
            data = data[:a]
        elif what == 5:
            data = data[:a] + rng.randbytes(b - a) + data[b:]
        elif what == 6:
            data = data[:a] + word * (1 + below(199)) + data[b:]
        elif what == 7:
            data = data[:a] + other[a:b] + data[b:]
        else:
            lines = data.split(b"\n")
            k, m = below(len(lines)), below(len(lines))
            lines[k], lines[m] = lines[m], lines[k]
            data = b"\n".join(lines)
    return data or b"\n"


def part(rng: random.Random, data: bytes) -> bytes:
    """Some successive lines of a file, half of the time those at its beginning."""
    lines = data.splitlines(keepends=True)
    at = rng.choice((0, rng.randrange(len(lines) or 1)))
    return b"".join(lines[at : at + rng.randint(1, 20)])


def used_groups(fabric: Fabric, groups: GroupTables) -> GroupTables:
    """Group tables that were read, after a look at where each private table leads."""
    for plft in groups.plfts:
        traced(packed(fabric, groups.of_plft(plft)))
    return groups


def findings_of(parser: str, kind: str, path: Path, fabric: Fabric, given: Path) -> tuple[Finding, ...]:
    """The findings of one parser in a file of some kind."""
    if parser == "guid2lid":
        read_guid2lid(path)
        return ()
    if kind == "far":
        return used_groups(fabric, read_groups(path, fabric)).findings
    if parser in LANES:
        findings: tuple[Finding, ...] = LANES[parser](path, fabric).findings
        return findings
    if parser == "both":
        scanned, result = read(path, lft=given)
        return scanned.findings + (result.findings if result else ())
    return (read_fabric(path) if kind in TOPOLOGIES else read_tables(path, fabric)).findings


def fuzz(
    parser: str, count: int, seed: int, folder: Path, *, slowest: float = math.inf, small: bool = False
) -> Counter[str]:
    """Give one parser `count` damaged files: how many were read, refused, or had findings.

    Parameters
    ----------
    parser : str
        One of `PARSERS` or `LANE_PARSERS`, or ``both``: a damaged topology of any dialect with sound tables.
    slowest : float
        Most seconds that a file may take.
    small : bool
        Whether fabrics are small, and most files a few lines of one, so that a file takes a fraction of a millisecond.
    """
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    outcome: Counter[str] = Counter()
    path, given = folder / "damaged", folder / "tables"
    kinds = {**PARSERS, **LANE_PARSERS}.get(parser, tuple(TOPOLOGIES))
    while True:
        fabric = spelled.random_fabric(rng, lmc=int(rng.integers(3)), small=small)
        everything = files_of(rng, fabric, given, lanes=parser in LANES)
        others = list(everything.values())
        if parser == "both":
            given.write_bytes(everything[SPELLINGS[draw.randrange(len(SPELLINGS))]])
        for _ in range(_A_SMALL_FABRIC if small else _A_FABRIC):
            if outcome.total() >= count:
                return outcome
            kind = draw.choice(kinds)
            data = everything[kind]
            if small and draw.random() < 0.7:
                data = part(draw, data)
            data = damaged(draw, data, draw.choice(others))
            with open(path, "wb") as stream:
                stream.write(gzip.compress(data, 1) if draw.random() < 0.02 else data)
            start = time.process_time()
            try:
                findings = findings_of(parser, kind, path, fabric, given)
            except OblivError as error:
                assert str(error).isprintable(), (parser, seed, str(error))
                outcome["refused"] += 1
            else:
                assert all(each.message.isprintable() for each in findings), (parser, seed, findings)
                outcome["noticed" if findings else "read"] += 1
            seconds = time.process_time() - start
            if seconds >= slowest:  # once more, since a first call may have compiled a kernel
                start = time.process_time()
                with contextlib.suppress(OblivError):
                    findings_of(parser, kind, path, fabric, given)
                seconds = time.process_time() - start
            assert seconds < slowest, (parser, seed, kind, seconds)


def files_of(rng: np.random.Generator, fabric: Fabric, given: Path, *, lanes: bool) -> dict[str, bytes]:
    """What all printers print of a fabric; `given` is a file to write."""
    tables = spelled.random_tables(rng, fabric)
    everything = {name: print_it(fabric).encode() for name, print_it in TOPOLOGIES.items()}
    everything |= {name: spelled.tables_text(tables, fabric, name).encode() for name in SPELLINGS}
    everything["guid2lid"] = spelled.guid2lid(fabric).encode()
    write_groups(random_groups(fabric, int(rng.integers(1 << 30)), damage=2), fabric, given)
    everything["far"] = given.read_bytes()
    return everything | lane_files(rng, fabric) if lanes else everything
