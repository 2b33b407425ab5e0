"""Group tables as packets of one service level meet them, and where no group tables are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from obliv.errors import InputError
from obliv.fabric.files.ar_info import AdaptiveInfo
from obliv.fabric.groups import NO_STATE, STATIC, GroupTables
from obliv.fabric.model import Fabric
from obliv.fabric.tables import NONE, Tables

__all__ = ["completed", "for_level"]


def for_level(groups: GroupTables, fabric: Fabric, info: AdaptiveInfo, sl: int) -> GroupTables:
    """Return group tables for packets of a service level: where it is excluded, they use the static ports.

    Parameters
    ----------
    groups : GroupTables
    fabric : Fabric
    info : AdaptiveInfo
    sl : int
        From 0 to 15.

    Raises
    ------
    InputError
        If the service level is out of range.
    """
    if not 0 <= sl <= 15:
        raise InputError(f"service level {sl} is out of range (0 to 15)")
    excluded = info.excludes(sl)[fabric.switch_row[groups.switch]]
    state = groups.state.copy()
    state[excluded] = np.where(state[excluded] == NO_STATE, NO_STATE, STATIC)
    return replace(groups, state=state, sources=(*groups.sources, *info.sources))


def completed(groups: GroupTables, tables: Tables) -> GroupTables:
    """Return group tables with the forwarding tables of the switches that have no groups, as static ports.

    Parameters
    ----------
    groups : GroupTables
        Of a single private LFT.
    tables : Tables
    """
    plain = np.flatnonzero(~np.isin(tables.switch, groups.switch) & tables.used)
    if not len(plain):
        return groups
    wide = max(groups.port.shape[1], tables.out.shape[1])

    def widened(column: np.ndarray, fill: int) -> np.ndarray:
        return np.pad(column, ((0, 0), (0, wide - column.shape[1])), constant_values=fill)

    port = widened(tables.out[plain], NONE)
    state = np.where(port == NONE, NO_STATE, STATIC).astype(np.uint8)
    number = groups.plfts[0] if groups.plfts else 0
    return replace(
        groups,
        switch=np.concatenate([groups.switch, tables.switch[plain]]),
        plft=np.concatenate([groups.plft, np.full(len(plain), number, np.int32)]),
        port=np.concatenate([widened(groups.port, NONE), port]),
        state=np.concatenate([widened(groups.state, NO_STATE), state]),
        group=np.concatenate([widened(groups.group, 0), np.zeros_like(port, np.uint16)]),
        groups=(*groups.groups, *({},) * len(plain)),
        line=np.concatenate([groups.line, tables.line[plain]]),
        sources=(*groups.sources, *tables.sources),
    )
