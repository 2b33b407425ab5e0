"""Checks of what switches say of their adaptive routing: levels that are excluded, and groups beyond the last."""

from __future__ import annotations

import numpy as np

from obliv._util.text import plural
from obliv.fabric.files.ar_info import AdaptiveInfo
from obliv.fabric.groups import NO_STATE, STATIC, GroupTables
from obliv.fabric.messages import at_node, called
from obliv.fabric.model import Fabric
from obliv.fabric.notes import Notes

__all__ = ["check_info"]

_ALL = 0xFFFF


def check_info(fabric: Fabric, groups: GroupTables, info: AdaptiveInfo, notes: Notes) -> None:
    """Note service levels whose packets use static ports, switches that disagree, and groups beyond the last."""
    rows = np.unique(fabric.switch_row[groups.switch])
    unknown = rows[~info.known[rows]]
    if len(unknown):
        node = int(fabric.switches[unknown[0]])
        text = (
            f"{plural(len(unknown), 'switch', 'switches')} with groups are missing here, first {called(fabric, node)}"
        )
        notes.add("warning", "no-ar-info", text + ": they count as adaptive for all packets", 0, at_node(fabric, node))
    known = rows[info.known[rows]]
    off = known[info.mask[known] == 0]
    if len(off):
        node = int(fabric.switches[off[0]])
        text = f"adaptive routing is off at {plural(len(off), 'switch', 'switches')}, first {called(fabric, node)}: "
        notes.add(
            "warning",
            "adaptive-off",
            text + "all packets use static ports there",
            info.line[off[0]],
            at_node(fabric, node),
        )
    on = known[info.mask[known] != 0]
    masks, first, counts = np.unique(info.mask[on], return_index=True, return_counts=True)
    if len(masks) > 1:
        parts = [
            f"{_levels(int(mask))} at {count}" for mask, count in zip(masks.tolist(), counts.tolist(), strict=True)
        ]
        node = int(fabric.switches[on[first[int(counts.argmin())]]])
        text = f"switches are adaptive for different service levels: {'; '.join(parts[:4])}"
        notes.add("warning", "sl-mask", text, info.line[on[first[0]]], at_node(fabric, node))
    elif len(masks) and masks[0] != _ALL:
        excluded = _levels(~int(masks[0]) & _ALL)
        text = f"packets of {excluded} use the static ports: worst cases of groups do not hold for them"
        notes.add("note", "excluded-levels", text, info.line[on[0]])
    for row, node in enumerate(groups.switch.tolist()):
        top = int(info.group_top[fabric.switch_row[node]])
        used = (groups.state[row] != NO_STATE) & (groups.state[row] != STATIC)
        largest = int(groups.group[row][used].max(initial=0))
        if 0 <= top < largest:
            text = (
                f"{called(fabric, node)} uses group {largest}, beyond its last, {top}: the files are of different times"
            )
            notes.add("error", "group-top", text, info.line[fabric.switch_row[node]], at_node(fabric, node))


def _levels(mask: int) -> str:
    """Return service levels as text: ``SL 0, 2-15``."""
    runs: list[list[int]] = []
    for sl in range(16):
        if mask >> sl & 1:
            if runs and runs[-1][1] == sl - 1:
                runs[-1][1] = sl
            else:
                runs.append([sl, sl])
    return "SL " + (", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none")
