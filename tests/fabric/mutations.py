"""Files of fabrics, damaged at random: for tests and for a longer run by hand (benchmarks/fuzz_fabric.py)."""

from __future__ import annotations

import gzip
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import spelled

from obliv.errors import ObliviousError
from obliv.fabric.fabric import Fabric
from obliv.fabric.read import read, read_fabric, read_tables
from obliv.fabric.subnet import read_guid2lid

TOPOLOGIES: dict[str, Callable[[Fabric], str]] = {
    "ibnetdiscover": spelled.ibnetdiscover,
    "full": lambda fabric: spelled.ibnetdiscover(fabric, full=True),
    "ports": spelled.port_list,
    "links": spelled.link_info,
    "long links": lambda fabric: spelled.link_info(fabric, long=True),
    "subnet": spelled.subnet,
}
SPELLINGS = ("a", "a -a", "a -n", "b", "c")
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
    b"\x1b[2J",
]


def damaged(rng: np.random.Generator, data: bytes, other: bytes) -> bytes:
    """A file with one to five changes."""
    for _ in range(int(rng.integers(1, 6))):
        a, b = sorted(int(x) for x in rng.integers(0, len(data) + 1, 2))
        if rng.random() < 0.7:
            b = min(b, a + int(rng.integers(0, 30)))
        word = WORDS[int(rng.integers(len(WORDS)))]
        what = int(rng.integers(9))
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
            data = data[:a] + bytes(rng.integers(0, 256, b - a, np.uint8)) + data[b:]
        elif what == 6:
            data = data[:a] + word * int(rng.integers(1, 200)) + data[b:]
        elif what == 7:
            data = data[:a] + other[a:b] + data[b:]
        else:
            lines = data.split(b"\n")
            k, m = rng.integers(0, len(lines), 2)
            lines[k], lines[m] = lines[m], lines[k]
            data = b"\n".join(lines)
    return data or b"\n"


def fuzz(count: int, seed: int, folder: Path, *, slowest: float = 1.0) -> Counter[str]:
    """Read `count` damaged files; how many were read, refused, or had findings, by kind of file."""
    rng = np.random.default_rng(seed)
    outcome: Counter[str] = Counter()
    path, other, given = folder / "damaged", folder / "sound", folder / "guid2lid"
    while True:
        fabric = spelled.random_fabric(rng, lmc=int(rng.integers(3)))
        tables = spelled.random_tables(rng, fabric)
        topologies = {name: print_it(fabric).encode() for name, print_it in TOPOLOGIES.items()}
        forwarding = {name: spelled.tables_text(tables, fabric, name).encode() for name in SPELLINGS}
        lids = spelled.guid2lid(fabric).encode()
        other.write_bytes(topologies["ibnetdiscover"])
        everything = [*topologies.values(), *forwarding.values(), lids]
        for _ in range(25):
            if sum(outcome.values()) >= count:
                return outcome
            kind = str(rng.choice(["topology", "tables", "both", "guid2lid"], p=[0.45, 0.4, 0.1, 0.05]))
            name = str(rng.choice(list(topologies if kind in ("topology", "both") else forwarding)))
            sound = lids if kind == "guid2lid" else (topologies | forwarding)[name]
            data = damaged(rng, sound, everything[int(rng.integers(len(everything)))])
            path.write_bytes(gzip.compress(data, 1) if rng.random() < 0.02 else data)
            start = time.process_time()
            try:
                if kind == "topology":
                    findings = read_fabric(path).findings
                elif kind == "tables":
                    findings = read_tables(path, fabric).findings
                elif kind == "both":
                    given.write_bytes(forwarding[str(rng.choice(SPELLINGS))])
                    scanned, found = read(path, lft=given)
                    findings = scanned.findings + (found.findings if found else ())
                else:
                    read_guid2lid(path)
                    findings = ()
            except ObliviousError as error:
                assert str(error).isprintable(), (seed, str(error))
                outcome["refused " + kind] += 1
            else:
                assert all(each.message.isprintable() for each in findings), (seed, findings)
                outcome[("noticed " if findings else "read ") + kind] += 1
            seconds = time.process_time() - start
            assert seconds < slowest, (seed, kind, name, seconds)
