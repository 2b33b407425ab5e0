"""Reader of the section AR_INFO of ``ibdiagnet2.db_csv``: which packets each switch routes adaptively."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from obliv._util.typing import Array
from obliv.errors import FileError
from obliv.fabric.arguments import typed
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.files.forwarding import switch_guids, with_switch
from obliv.fabric.files.lines import shown_line
from obliv.fabric.model import Fabric, Finding
from obliv.fabric.notes import Notes, place_of

__all__ = ["AdaptiveInfo", "read_ar_info"]

_ALL = 0xFFFF  # service levels
_COLUMNS = ("e", "by_sl_en", "enable_by_sl_mask", "group_top")


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveInfo:
    """What switches say of their adaptive routing, in the order of the fabric's switches.

    Parameters
    ----------
    name : str
        The file.
    known : bool array, shape (switches,)
        Whether the file has the switch; others count as adaptive for all packets.
    mask : int64 array, shape (switches,)
        The service levels that are adaptive, as bits; 0 where adaptive routing is off.
    group_top : int64 array, shape (switches,)
        The largest number of a group, -1 where it is not known.
    line : int64 array, shape (switches,)
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
    """

    name: str
    known: Array
    mask: Array
    group_top: Array
    line: Array
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    def excludes(self, sl: int) -> Array:
        """Return which switches send packets of a service level to their static ports."""
        excluded: Array = (self.mask >> sl & 1) == 0
        return excluded

    def __repr__(self) -> str:
        return f"<AdaptiveInfo {self.name}: {int(self.known.sum())} of {len(self.known)} switches>"


@typed
def read_ar_info(path: str | Path, fabric: Fabric) -> AdaptiveInfo:
    """Read what switches say of their adaptive routing.

    Parameters
    ----------
    path : str or Path
        ``ibdiagnet2.db_csv``, or its section AR_INFO; compressed with gzip or not.
    fabric : Fabric

    Raises
    ------
    FileError
        If the file cannot be read, or has no such section with a column NodeGUID.
    """
    row_of = {guid: int(fabric.switch_row[node]) for guid, node in switch_guids(fabric).items()}
    count = len(fabric.switches)
    known, line_of = np.zeros(count, bool), np.zeros(count, np.int64)
    mask, top = np.full(count, _ALL, np.int64), np.full(count, -1, np.int64)
    notes = Notes(str(path))
    names: list[str] | None = None
    inside = found = False
    blocks = Blocks(path)
    for number, line in blocks.lines():
        text = line.strip()
        if text == b"START_AR_INFO":
            inside, found, names = True, True, None
        elif text == b"END_AR_INFO":
            inside = False
        elif inside and text and names is None:
            names = [name.strip().decode("utf-8", "replace") for name in text.split(b",")]
            if "NodeGUID" not in names:
                raise FileError(f"has a section AR_INFO without a column NodeGUID: {shown_line(line)}", path, number)
        elif inside and text and names is not None:
            values = [_number(value) for value in text.split(b",")]
            if len(values) != len(names) or values[names.index("NodeGUID")] is None:
                notes.add("error", "bad-entry", f"{shown_line(line)} is not a row of AR_INFO", number)
                continue
            row = dict(zip(names, values, strict=True))
            guid = row["NodeGUID"] or 0
            at = row_of.get(guid)
            if at is None:
                text_ = f"switch 0x{guid:016x} is not in the topology: ignored"
                notes.add("warning", "unknown-switch", text_, number, place_of(guid, ""))
                continue
            on, by_sl, levels, largest = (row.get(name) for name in _COLUMNS)
            known[at], line_of[at] = True, number
            mask[at] = 0 if on == 0 else (levels & _ALL if by_sl and levels is not None else _ALL)
            top[at] = -1 if largest is None else min(largest, 1 << 32)
    if not found:
        raise FileError(
            "has no section AR_INFO: give the file ibdiagnet2.db_csv of a fabric with adaptive routing", path
        )
    guids = switch_guids(fabric)
    findings = tuple(with_switch(fabric, finding, guids) for finding in notes.findings())
    return AdaptiveInfo(str(path), known, mask, top, line_of, ((str(path), blocks.sha256),), findings)


def _number(value: bytes) -> int | None:
    """Return a number in decimal or hexadecimal digits, None for anything else."""
    text = value.strip().strip(b'"')
    digits, base = (text[2:], 16) if text[:2] in (b"0x", b"0X") else (text, 10)
    if not 0 < len(digits) <= 20 or not digits.isalnum():
        return None
    try:
        number = int(digits, base)
    except ValueError:
        return None
    return number if number < 1 << 64 else None
