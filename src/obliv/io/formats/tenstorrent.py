"""Mesh graph descriptors of Tenstorrent: one mesh of chips, whose dimensions are lines or rings."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from obliv._util.text import did_you_mean, plural, shown
from obliv.errors import FileError
from obliv.io.formats.links import read_file
from obliv.topologies.axes import axis
from obliv.topologies.base import Topology, require_network
from obliv.topologies.families.grids import product

_TOKEN = re.compile(r"""(?P<space>\s+|\#[^\n]*)|"[^"\n]*"|'[^'\n]*'|[\w.+-]+|[{}\[\]:,;]|(?P<odd>.)""")
_DEPTH = 20

#: Values by field, each with its line: texts, or fields of a message.
_Fields = dict[str, list[tuple[int, Any]]]
_Tokens = deque[tuple[int, str]]


def read_tenstorrent(path: Path) -> Topology:
    """Return the mesh of chips that a mesh graph descriptor (protobuf text) has at its top; x is the last dimension."""
    text, digest = read_file(path)
    tokens = _tokens(text, path)
    fields = _fields(tokens, path, 0)
    if tokens:
        raise FileError("a } without a { before it", path, tokens[0][0])
    line, top = _only(fields, "top_level_instance", path)
    if "graph" in top:
        raise FileError(
            "a graph of several meshes, whose connections do not list their cables, is not read: write the links as "
            "lines  u v bandwidth",
            path,
            top["graph"][0][0],
        )
    line, wanted = _only(_only(top, "mesh", path)[1], "mesh_descriptor", path)
    known = {_only(mesh, "name", path)[1]: mesh for _, mesh in fields.get("mesh_descriptors", ()) if type(mesh) is dict}
    if wanted not in known:
        raise FileError(f"there is no mesh descriptor {shown(wanted)}: {did_you_mean(wanted, known)}", path, line)
    mesh = known[wanted]
    if "express_connections" in mesh:
        where = mesh["express_connections"][0][0]
        raise FileError("express connections are not read: write the links as lines  u v bandwidth", path, where)
    line, shape = _only(mesh, "device_topology", path)
    radices = [_radix(at, word, path) for at, word in shape.get("dims", ())]
    types = [_kind(at, word, path) for at, word in shape.get("dim_types", shape.get("types", ()))]
    if prod(radices) < 2 or len(types) > len(radices):
        count = f"{plural(len(radices), 'dimension')} with {plural(len(types), 'type')}"
        raise FileError(
            f"{count}, {prod(radices)} chips: at least two chips are needed, and a type a dimension", path, line
        )
    kinds = types + ["line"] * (len(radices) - len(types))
    axes = [(kind, radix) for kind, radix in zip(kinds, radices, strict=True) if radix > 1][::-1]
    spec = f"file:{path}"
    require_network(prod(radices), 2 * len(axes) * prod(radices), spec)
    network = product(spec, [axis(kind, radix) for kind, radix in axes], None)
    shown_axes = " x ".join(f"{kind} of {radix}" for kind, radix in axes)
    note = f"mesh {wanted} taken as {shown_axes}, x first; chip k is node k, and all links between two chips are one"
    return replace(network, sources=((str(path), digest),), notes=(note,))


def _radix(line: int, word: object, path: Path) -> int:
    if not isinstance(word, str) or not re.fullmatch("[1-9][0-9]{0,5}", word):
        raise FileError(f"{shown(str(word))} in dims: each is the number of chips along a dimension", path, line)
    return int(word)


def _kind(line: int, word: object, path: Path) -> str:
    if word not in ("LINE", "RING"):
        raise FileError(f"{shown(str(word))} is no type of a dimension: use LINE or RING", path, line)
    return str(word).lower()


def _only(fields: _Fields, name: str, path: Path) -> tuple[int, Any]:
    """Return the line and the value of a field that stands once; a text for names, fields for all others."""
    values = fields.get(name, [])
    if len(values) != 1:
        raise FileError(
            f"{name} stands {len(values)} times where it must stand once", path, values[1][0] if values else None
        )
    if isinstance(values[0][1], str) != (name in ("name", "mesh_descriptor")):
        raise FileError(
            f"{name} is no {'name' if name in ('name', 'mesh_descriptor') else 'message in braces'}", path, values[0][0]
        )
    return values[0]


def _tokens(text: str, path: Path) -> _Tokens:
    tokens: _Tokens = deque()
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "odd":
            raise FileError(f"{shown(match[0])} is not expected in a descriptor", path, line)
        if match.lastgroup != "space":
            tokens.append((line, match[0]))
        line += match[0].count("\n")
    return tokens


def _fields(tokens: _Tokens, path: Path, depth: int) -> _Fields:
    """Take fields up to the brace that closes them, or to the end of the file."""
    fields: _Fields = {}
    while tokens and tokens[0][1] != "}":
        line, name = tokens.popleft()
        if not name.isidentifier():
            raise FileError(f"the name of a field is expected, not {shown(name)}", path, line)
        if tokens and tokens[0][1] == ":":
            tokens.popleft()
        fields.setdefault(name, []).extend(_values(tokens, path, line, depth))
        while tokens and tokens[0][1] in (",", ";"):
            tokens.popleft()
    return fields


def _values(tokens: _Tokens, path: Path, before: int, depth: int) -> list[tuple[int, Any]]:
    """Take a text, a message in braces or a list in brackets."""
    line, word = tokens.popleft() if tokens else (before, "")
    if depth > _DEPTH:
        raise FileError(f"more than {_DEPTH} braces and brackets inside one another", path, line)
    values: list[tuple[int, Any]] = []
    if word == "{":
        values.append((line, _fields(tokens, path, depth + 1)))
    elif word == "[":
        while tokens and tokens[0][1] != "]":
            values += _values(tokens, path, line, depth + 1)
            if tokens and tokens[0][1] == ",":
                tokens.popleft()
    elif word and word not in "}]:,;":
        return [(line, word.strip("\"'"))]
    if not word or not tokens:
        raise FileError("the file ends in the middle, a { or [ is still open: get it again", path, line)
    if word not in "{[":
        raise FileError(f"a value is expected, not {shown(word)}", path, line)
    tokens.popleft()
    return values
