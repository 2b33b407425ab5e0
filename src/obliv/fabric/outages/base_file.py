"""Files of kept states: a header in JSON and arrays as they lie in memory, of which only what is used is read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.arrays import Array, positions
from obliv._util.files import require_file, unlike_keys, write_pieces
from obliv.errors import FileError, InputError
from obliv.fabric.arguments import typed
from obliv.fabric.model import Fabric, Nodes, Ports
from obliv.fabric.outages.base import Base
from obliv.fabric.topology import FabricTopology

__all__ = ["read_base", "require_same_files", "save_base"]

_KIND = b"obliv kept state "
_MAGIC = _KIND + b"1\n"
_KINDS = ("switch", "ca", "router", "unknown")
_ALIGNED = 64
_HEADER = 2**28  # bytes of the longest header that is read

#: Arrays by name: the type, the sizes that give the shape, and the range of the numbers, up to a size or a number.
_ARRAYS: dict[str, tuple[str, str, int, str | int]] = {
    "kind": ("u1", "nodes", 0, len(_KINDS)),
    "first_slot": ("i8", "nodes+1", 0, "slots+1"),
    "peer": ("i8", "slots", -1, "slots"),
    "lids_of": ("i4", "slots", 0, 2**16),
    "lmc": ("i1", "slots", 0, 8),
    "tail": ("i4", "channels", 0, "places"),
    "head": ("i4", "channels", 0, "places"),
    "slot_of": ("i8", "channels", 0, "slots"),
    "node_at": ("i8", "slots", -1, "places"),
    "speed": ("i4", "channels", 0, "speeds"),
    "to": ("i4", "slots", -(2**31), "nodes"),
    "row": ("i4", "nodes", -1, "rows"),
    "out": ("u1", "rows*lids", 0, 256),
    "first_column": ("i8", "ends+1", 0, "columns+1"),
    "lid": ("i8", "columns", 0, 2**31),
    "node": ("i8", "classes", -1, "nodes"),
    "low": ("i8", "classes", 0, 128),
    "class_of": ("i8", "ends", 0, "classes"),
    "start": ("i8", "channels+1", 0, "entries+1"),
    "pair": ("i4", "entries", 0, "classes*ends"),
    "load": ("i8", "channels", 0, 2**62),
    "layer": ("i4", "channels", 0, 2**31),
    "first_after": ("i8", "channels+1", 0, "afters+1"),
    "after": ("i8", "afters", 0, "channels"),
}
_RISING = ("first_slot", "first_column", "start", "first_after")


@typed
def save_base(base: Base, path: str | Path) -> None:
    """Write a state to a file, whole or not at all.

    Parameters
    ----------
    base : Base
    path : str or Path
    """
    if not np.array_equal(base.topology.terminals, np.arange(base.topology.hosts)):
        raise InputError(f"{base.topology.spec}: a state is kept only if all hosts are terminals")
    arrays = _arrays_of(base)
    topology, fabric = base.topology, base.topology.fabric
    speeds = sorted(set(topology.bandwidth)) or [Fraction(1)]
    header = {
        "topology": topology.spec,
        "fabric": fabric.name,
        "routing": base.routing,
        "notes": base.notes,
        "files": [_stamp(name, digest) for name, digest in base.sources],
        "loop": base.loop,
        "certain": base.certain,
        "missing": base.missing,
        "unit": base.unit,
        "speeds": [str(speed) for speed in speeds],
        "ident": fabric.nodes.ident,
        "description": fabric.nodes.description,
        "guid": fabric.nodes.guid.tolist(),
        "port_guid": fabric.ports.guid.tolist(),
        "labels": topology.labels,
        "sizes": _sizes(base, len(speeds)),
    }
    write_pieces(path, _pieces(header, arrays))


@typed
def read_base(path: str | Path) -> Base:
    """Read a state that :func:`save_base` wrote.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    FileError
        If it is no such file, or is damaged.
    """
    length = require_file(path)
    try:
        with open(path, "rb") as stream:
            magic, size = stream.read(len(_MAGIC)), int.from_bytes(stream.read(8), "little")
            if magic != _MAGIC:
                if magic.startswith(_KIND):
                    raise FileError("was kept by another version of obliv: remove it to have it made anew", path)
                raise FileError(
                    "is not a state that obliv kept: name another file, which is made if it is missing", path
                )
            if size > _HEADER:
                raise ValueError("the header is too long")
            header = json.loads(stream.read(size), object_pairs_hook=unlike_keys)
        return _base(header, _mapped(Path(path), length, len(_MAGIC) + 8 + size, header["sizes"]))
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, InputError) as error:
        raise FileError(f"is a damaged kept state: {error}: remove it to have it made anew", path) from None


@typed
def require_same_files(base: Base, path: str | Path, files: Iterable[str | Path], offset: str = "0") -> None:
    """Refuse a state that was made from other files; those of the same size and time are taken for the same.

    Parameters
    ----------
    base : Base
    path : str or Path
        Of the state.
    files : iterable of paths
        Those to compare with.
    offset : str
        The rule for the LID of a destination.

    Raises
    ------
    FileError
        Naming the first file that is another one.
    """
    known = dict(base.sources)
    for file in files:
        require_file(file)
        stamp = os.stat(file)
        if (str(file), stamp.st_size, stamp.st_mtime_ns) in base.stamps:
            continue
        with open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest not in known.values():
            what = "has changed" if str(file) in known else "is not one of them"
            raise FileError(f"was made from other files: {file} {what}: remove it to have it made anew", path)
    given = f",offset={offset}" if offset != "0" else ""
    if given != "".join(part for part in (f",{text}" for text in base.routing.split(",")) if part[:8] == ",offset="):
        message = "was made with another {offset} than {0}: remove it to have it made anew"
        raise FileError.naming(message, offset, path=path)


def _stamp(name: str, digest: str) -> list[Any]:
    """Return what tells whether a file is still the same: its name, digest, size and time."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return [name, digest, -1, -1]
    return [name, digest, status.st_size, status.st_mtime_ns]


def _sizes(base: Base, speeds: int) -> dict[str, int]:
    topology, fabric = base.topology, base.topology.fabric
    return {
        "nodes": len(fabric.nodes),
        "slots": len(fabric.ports.peer),
        "places": topology.nodes,
        "channels": topology.channels,
        "speeds": speeds,
        "rows": len(base.out),
        "lids": base.out.shape[1],
        "ends": base.ends,
        "columns": len(base.lid),
        "classes": len(base.node),
        "entries": len(base.pair),
        "afters": len(base.after),
    }


def _arrays_of(base: Base) -> dict[str, Array]:
    topology, fabric = base.topology, base.topology.fabric
    place = {speed: k for k, speed in enumerate(sorted(set(topology.bandwidth)))}
    speed = [place[value] for value in topology.bandwidth] or [0] * topology.channels
    given = {
        "kind": np.array([_KINDS.index(kind) for kind in fabric.nodes.kind]),
        "first_slot": fabric.first_slot,
        "peer": fabric.ports.peer,
        "lids_of": fabric.ports.lid,
        "lmc": fabric.ports.lmc,
        "tail": topology.tail,
        "head": topology.head,
        "slot_of": topology.slot_of,
        "node_at": topology.node_at,
        "speed": np.array(speed),
    }
    given |= {name: getattr(base, name) for name in _ARRAYS if name not in given}
    return {name: np.ascontiguousarray(given[name], "<" + _ARRAYS[name][0]) for name in _ARRAYS}


def _pieces(header: dict[str, Any], arrays: dict[str, Array]) -> Iterator[bytes]:
    text = json.dumps(header, ensure_ascii=True).encode("ascii")
    text += b" " * (-(len(_MAGIC) + 8 + len(text)) % _ALIGNED)
    yield _MAGIC + len(text).to_bytes(8, "little") + text
    for array in arrays.values():
        yield array.tobytes()
        yield b"\0" * (-array.nbytes % _ALIGNED)


def _mapped(path: Path, length: int, at: int, sizes: dict[str, int]) -> dict[str, Array]:
    """Return the arrays of a file, each checked for its range."""
    if not all(type(size) is int and 0 <= size < 2**40 for size in sizes.values()):
        raise ValueError("the sizes are not whole numbers")
    arrays = {}
    for name, (kind, shape, low, below) in _ARRAYS.items():
        count = _value(shape, sizes)
        dtype = np.dtype("<" + kind)
        if at + count * dtype.itemsize > length:
            raise ValueError("it is cut short")
        array: Array = np.memmap(path, dtype, "r", at, (count,)) if count else np.zeros(0, dtype)
        array = np.asarray(array)
        top = below if isinstance(below, int) else _value(below, sizes)
        if count and (int(array.min()) < low or int(array.max()) >= top):
            raise ValueError(f"a number of {name} is out of range")
        if name in _RISING and (array[0] != 0 or (np.diff(array) < 0).any()):
            raise ValueError(f"the numbers of {name} do not rise")
        arrays[name] = array
        at += count * dtype.itemsize
        at += -at % _ALIGNED
    for name, size in zip(_RISING, ("slots", "columns", "entries", "afters"), strict=True):
        if arrays[name][-1] != sizes[size]:
            raise ValueError(f"{name} does not end at the number of {size}")
    return arrays


def _value(text: str, sizes: dict[str, int]) -> int:
    """Return the value of ``a``, ``a+1`` or ``a*b``."""
    name, plus, more = text.partition("+")
    first, times, second = name.partition("*")
    return sizes[first] * (sizes[second] if times else 1) + (int(more) if plus else 0)


def _base(header: dict[str, Any], arrays: dict[str, Array]) -> Base:
    """Return the state in a file; ValueError if the parts do not fit together."""
    sizes = header["sizes"]
    files = [(str(name), str(digest), int(size), int(stamp)) for name, digest, size, stamp in header["files"]]
    names = {key: tuple(map(str, header[key])) for key in ("ident", "description", "labels")}
    if len(names["ident"]) != sizes["nodes"] or len(names["description"]) != sizes["nodes"]:
        raise ValueError("names of nodes are missing")
    slots, nothing = sizes["slots"], np.zeros(sizes["nodes"], np.int32)
    guids = {"guid": sizes["nodes"], "port_guid": slots}  # states of version 0.2 have none
    guid = {key: np.array(header.get(key, [0] * count), np.uint64) for key, count in guids.items()}
    if any(guid[key].shape != (count,) for key, count in guids.items()):
        raise ValueError("GUIDs are missing")
    kinds = tuple(_KINDS[k] for k in arrays["kind"].tolist())
    ports = Ports(
        peer=arrays["peer"],
        guid=guid["port_guid"],
        lid=arrays["lids_of"],
        lmc=arrays["lmc"],
        rate=np.full(slots, -1, np.int32),
        line=np.zeros(slots, np.int32),
    )
    nodes = Nodes(kinds, names["ident"], guid["guid"], names["description"], nothing)
    sources = tuple((name, digest) for name, digest, _, _ in files)
    fabric = Fabric(str(header["fabric"]), nodes, ports, arrays["first_slot"], (), sources)
    speeds = tuple(Fraction(str(speed)) for speed in header["speeds"])
    topology = FabricTopology(
        spec=str(header["topology"]),
        nodes=sizes["places"],
        tail=arrays["tail"],
        head=arrays["head"],
        terminals=np.arange(sizes["ends"], dtype=np.int32),
        bandwidth=tuple(speeds[k] for k in arrays["speed"].tolist()) if set(speeds) != {1} else (),
        labels=names["labels"],
        sources=sources,
        fabric=fabric,
        slot_of=arrays["slot_of"],
        channel_of=positions(arrays["slot_of"], slots),
        node_at=arrays["node_at"],
    )
    own = {name: arrays[name] for name in _ARRAYS if name in Base.__dataclass_fields__}
    own["out"] = arrays["out"].reshape(sizes["rows"], sizes["lids"])
    return Base(
        topology=topology,
        routing=str(header["routing"]),
        notes=tuple(map(str, header["notes"])),
        sources=sources,
        stamps=frozenset((name, size, stamp) for name, _, size, stamp in files),
        loop=bool(header["loop"]),
        certain=bool(header["certain"]),
        missing=int(header["missing"]),
        unit=int(header["unit"]),
        **own,
    )
