"""The section AR_INFO of ibdiagnet2.db_csv, as text."""

from __future__ import annotations

from obliv.fabric.model import Fabric


def info_text(fabric: Fabric, mask: str = "0xfffd", by_sl: int = 1, on: int = 1, top: int = 1) -> str:
    """The section AR_INFO among others, a row for every switch; invented by the names of the fields."""
    names = "NodeGUID,e,by_sl_en,group_top,enable_by_sl_mask,sub_grps_active"
    guids = fabric.nodes.guid[fabric.switches].tolist()
    rows = "".join(f"0x{guid:016x},{on},{by_sl},{top},{mask},0\n" for guid in guids)
    other = 'START_NODES\nNodeDesc,NodeGUID\n"a, b",0x1\nEND_NODES\n\n\n'
    return f"# by hand\n{other}START_AR_INFO\n{names}\n{rows}END_AR_INFO\n\nSTART_X\nA\n1\nEND_X\n"
