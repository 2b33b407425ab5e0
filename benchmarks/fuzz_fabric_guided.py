"""Reads files that a coverage-guided fuzzer makes up, seeded with sound ones (needs the package atheris).

    uv run --with atheris python benchmarks/fuzz_fabric_guided.py -runs=100000

Whatever they hold, reading ends with what was found or with one line of :class:`obliv.OblivError`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

with atheris.instrument_imports(include=["obliv.fabric"]):
    from obliv.fabric.files.folder import read_fabric, read_tables
    from obliv.fabric.files.opensm_subnet import read_guid2lid

from tests.fabric import mutations, spelled

from obliv.errors import OblivError

FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
RNG = np.random.default_rng(0)
FABRIC = spelled.random_fabric(RNG, lmc=1)


def sound() -> list[bytes]:
    """Files of every kind, with the byte in front that says which."""
    tables = spelled.random_tables(RNG, FABRIC)
    kinds = [b"t" + print_it(FABRIC).encode() for print_it in mutations.TOPOLOGIES.values()]
    kinds += [b"f" + spelled.tables_text(tables, FABRIC, name).encode() for name in mutations.SPELLINGS]
    return [*kinds, b"g" + spelled.guid2lid(FABRIC).encode()]


def one(data: bytes) -> None:
    """Read one file."""
    path = FOLDER / "input"
    path.write_bytes(data[1:] or b"\n")
    try:
        if data[:1] == b"t":
            findings = read_fabric(path).findings
        elif data[:1] == b"f":
            findings = read_tables(path, FABRIC).findings
        else:
            read_guid2lid(path)
            findings = ()
    except OblivError as error:
        assert str(error).isprintable(), str(error)
    else:
        assert all(each.message.isprintable() for each in findings), findings


def main() -> None:
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, data in enumerate(sound()):
        (corpus / str(number)).write_bytes(data)
    atheris.Setup([*sys.argv, str(corpus), "-max_len=8192", "-timeout=10", f"-artifact_prefix={FOLDER}/"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
