"""Writer of ``.net`` files, which ibsim simulates; ``ibnetdiscover`` writes the same format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from obliv._util.files import write_pieces
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.plain import plain
from obliv.fabric.lids import require_writable_lids
from obliv.fabric.model import RATES, Fabric

__all__ = ["rate_name", "write_net"]

_TYPES = {"switch": "Switch", "ca": "Ca", "router": "Rt"}
_GUIDS = {"switch": "switchguid", "ca": "caguid", "router": "rtguid"}
_SPEED_BITS = {"SDR": 1, "DDR": 2, "QDR": 4}
_WIDTH_BITS = {"1x": 1, "4x": 2, "8x": 4, "12x": 8}
_NAMES = {rate: name for name, rate in sorted(RATES.items(), key=lambda item: item[0].startswith("4x"))}


def rate_name(rate: Fraction | None) -> str:
    """Return a width and speed that carry a rate, with four lanes where that is possible.

    Examples
    --------
    >>> rate_name(Fraction(32)), rate_name(None)
    ('4xQDR', '')
    """
    return _NAMES.get(rate, "") if rate is not None else ""


@typed
def write_net(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as a ``.net`` file: hosts first, then switches, with the LIDs that it has.

    ibsim reads it as it is; OpenSM then runs on the first host of the file. In descriptions, characters that are not
    printable, quotes and what ibsim takes for options become question marks.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    tuple of str
        Parts that the format cannot hold and that were left out.

    Examples
    --------
    >>> import tempfile, obliv
    >>> from obliv.fabric.generate.from_topology import from_topology
    >>> path = Path(tempfile.mkdtemp(), "small.net")
    >>> write_net(from_topology(obliv.topology("fattree:4,2"), lids=False), path)
    ()
    >>> print("".join(path.read_text().splitlines(True)[:6]), end="")
    vendid=0x2c9
    devid=0x673c
    sysimgguid=0x2c90300100000
    caguid=0x2c90300100000
    Ca	1 "H-0002c90300100000"		# "host(0,0)"
    [1](2c90300100001) 	"S-0002c90200001000"[1]		# lid 0 lmc 0 "switch((0),1)" lid 0 4xQDR
    """
    require_writable_lids(fabric, path)
    names = _idents(fabric)
    order = sorted(range(len(fabric.nodes)), key=lambda v: fabric.nodes.kind[v] == "switch")
    writable = [v for v in order if fabric.nodes.kind[v] in _TYPES]
    if not writable:
        raise FileError("cannot be written: the fabric has no node of known type", path)
    write_pieces(path, (_record(fabric, v, names) for v in writable))
    left = len(fabric.nodes) - len(writable)
    return (f"{left} nodes of unknown type and their cables",) if left else ()


def _idents(fabric: Fabric) -> list[str]:
    """Return the identifier of each node: as in its file, where that can be written and is unique."""
    names: list[str] = []
    used = set(fabric.nodes.ident)
    for v, ident in enumerate(fabric.nodes.ident):
        name = ident
        if not ident.isascii() or not ident.isprintable() or set(ident) & set("\"'#@=") or not 0 < len(ident) < 60:
            name = f"{'S' if fabric.nodes.kind[v] == 'switch' else 'H'}-{int(fabric.nodes.guid[v]):016x}"
            if not fabric.nodes.guid[v] or name in used:
                name = next(f"node{n}" for n in range(v, v + len(used) + 1) if f"node{n}" not in used)
            used.add(name)
        names.append(name)
    return names


def _record(fabric: Fabric, node: int, names: list[str]) -> bytes:
    kind, guid = fabric.nodes.kind[node], int(fabric.nodes.guid[node])
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    lines = []
    if guid:
        device = "0xbd36" if kind == "switch" else "0x673c"  # of the QDR generation, which all tools know
        own = f"{_GUIDS[kind]}=0x{guid:x}" + (f"({guid:x})" if kind == "switch" else "")
        lines += ["vendid=0x2c9", f"devid={device}", f"sysimgguid=0x{guid:x}", own]
    text = _described(fabric, node)
    about = f" base port 0 lid {fabric.ports.lid[first]} lmc {fabric.ports.lmc[first]}" if kind == "switch" else ""
    lines.append(f'{_TYPES[kind]}\t{end - first - 1} "{names[node]}"\t\t# "{text}"{about}')
    for slot in range(first + 1, end):
        peer = int(fabric.ports.peer[slot])
        if peer < 0 or fabric.nodes.kind[other := int(fabric.node_of[peer])] not in _TYPES:
            continue
        port_guid = int(fabric.ports.guid[slot])
        own = f"({port_guid:x}) " if kind != "switch" and port_guid else ""
        far_end = f'"{names[other]}"[{fabric.port_of(peer)}]'
        if fabric.nodes.kind[other] != "switch" and fabric.ports.guid[peer]:
            far_end += f"({int(fabric.ports.guid[peer]):x})"
        peer_lid = fabric.ports.lid[fabric.first_slot[other] if fabric.nodes.kind[other] == "switch" else peer]
        near_lid = f"lid {fabric.ports.lid[slot]} lmc {fabric.ports.lmc[slot]} " if kind != "switch" else ""
        lines.append(
            f'[{slot - first}]{own}\t{far_end}\t\t# {near_lid}"{_described(fabric, other)}" lid {peer_lid}'
            + _speed(fabric.rate_at(slot))
        )
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


def _described(fabric: Fabric, node: int) -> str:
    return plain(fabric.nodes.description[node], "=#@")


def _speed(rate: Fraction | None) -> str:
    """Return width and speed, with ibsim's own options where it would take another."""
    name = rate_name(rate)
    if not name:
        return ""
    lanes, _, speed = name.partition("x")
    width = lanes + "x"
    if name == "4xQDR" or speed not in _SPEED_BITS or width not in _WIDTH_BITS:
        return f" {name}"
    return f" {name} s={_SPEED_BITS[speed]} w={_WIDTH_BITS[width]}"
