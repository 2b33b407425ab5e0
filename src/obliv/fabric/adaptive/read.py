"""Groups of adaptive routing from files, as the packets of one service level meet them."""

from __future__ import annotations

from pathlib import Path

from obliv._util.text import plural
from obliv.errors import InputError
from obliv.fabric.adaptive.service_levels import completed, for_level
from obliv.fabric.arguments import typed
from obliv.fabric.files.ar_info import read_ar_info
from obliv.fabric.files.far import read_groups
from obliv.fabric.groups import GroupTables
from obliv.fabric.model import Fabric
from obliv.fabric.tables import Tables

__all__ = ["groups_spec", "read_adaptive"]


@typed
def read_adaptive(
    fabric: Fabric,
    far: str | Path,
    *,
    tables: Tables | None = None,
    info: str | Path | None = None,
    sl: int | None = None,
    plft: int | None = None,
) -> GroupTables:
    """Read groups of adaptive routing.

    Parameters
    ----------
    fabric : Fabric
        With LIDs.
    far : str or Path
        ``ibdiagnet2.far``.
    tables : Tables, optional
        Forwarding tables, which count for switches without groups.
    info : str or Path, optional
        ``ibdiagnet2.db_csv``, which says for which service levels each switch is adaptive.
    sl : int, optional
        The service level of packets; needed with `info`.
    plft : int, optional
        The private LFT of packets, where there are several.

    Returns
    -------
    GroupTables
        Of one private LFT. Its `findings` list defects and remarks.

    Raises
    ------
    FileError
        If a file cannot be read or contains nothing of the kind.
    InputError
        If the private LFT or the service level is missing or invalid.
    """
    groups = read_groups(far, fabric)
    if (info is None) != (sl is None):
        raise InputError(
            "a service level and ibdiagnet2.db_csv, which says where it is adaptive, must be given together"
        )
    if plft is None and len(groups.plfts) > 1:
        listed = ", ".join(map(str, groups.plfts))
        raise InputError(f"{groups.name} has {plural(len(groups.plfts), 'private LFT')} ({listed}): choose one by plft")
    if plft is not None and plft not in groups.plfts:
        listed = ", ".join(map(str, groups.plfts))
        raise InputError(f"{groups.name} has no private LFT {plft}: choose one of {listed}")
    groups = groups.of_plft(groups.plfts[0] if plft is None else plft)
    if info is not None and sl is not None:
        groups = for_level(groups, fabric, read_ar_info(info, fabric), sl)
    return groups if tables is None else completed(groups, tables)


def groups_spec(
    far: str | Path,
    mode: str,
    *,
    lft: str | Path | None,
    info: str | Path | None,
    sl: int | None,
    plft: int | None,
    options: str,
) -> str:
    """Return the spec of a routing by groups; `options` are those for all tables."""
    given = {"lft": lft, "info": info, "sl": sl, "plft": plft}
    files = "".join(f",{name}={value}" for name, value in given.items() if value not in (None, ""))
    return f"far:{far},adaptive={mode}{files}{options}"
