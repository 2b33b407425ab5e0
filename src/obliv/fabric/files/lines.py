"""Lines that identify the dialect of a file, and lines that do not belong in it."""

from __future__ import annotations

import re

from obliv._util.text import shown
from obliv.fabric.files.blocks import LONGEST
from obliv.fabric.notes import Notes
from obliv.specs import FILE_FORMATS

__all__ = [
    "DB_CSV",
    "DISCOVER",
    "DUMPED",
    "LINKINFO",
    "MULTICAST",
    "NET_DUMP",
    "PORTLIST",
    "SUBNET",
    "TABLES",
    "noted_line",
    "shown_line",
]

DISCOVER = re.compile(b"[ \t]*" + FILE_FORMATS["ibnetdiscover"].sign.encode())  #: ibnetdiscover
PORTLIST = re.compile(FILE_FORMATS["ibnetdiscover-p"].sign.encode())  #: ibnetdiscover -p
LINKINFO = re.compile(
    rb"(?:Switch: 0x[0-9a-fA-F]+ |(?:CA|Switch|Router|RT): .*:\s*\Z)"
    rb'|\s*(?:0x[0-9a-fA-F]+\s+(?:".{0,200}?"\s+)?)?\d+\s+\d+\[[^\]]*\]\s+==\(',
    re.DOTALL,
)  #: iblinkinfo
SUBNET = re.compile(FILE_FORMATS["opensm-subnet"].sign.encode())  #: opensm-subnet.lst
NET_DUMP = re.compile(
    FILE_FORMATS["ibdiagnet-net-dump"].sign.encode() + rb"|\s*(?:Ty *: *)?# *: *#?IB#? *:"
)  #: ibdiagnet2.net_dump: the heading of a switch or of columns
DB_CSV = re.compile(rb"\s*START_([A-Z][A-Z0-9_]{1,60})\s*\Z")  #: a section of ibdiagnet2.db_csv
TABLES = re.compile(
    rb"\s*(?:Unicast lids \[(?:0x)?[0-9a-fA-F]{1,8}-((?:0x)?[0-9a-fA-F]{1,8})\] of switch .*?"
    rb"\bguid 0x([0-9a-fA-F]{1,16})\b"
    rb"|(?:osm_ucast_mgr_)?dump_ucast_routes:? Switch 0x([0-9a-fA-F]{1,16})\b)"
)  #: the table of a switch: largest LID and GUID, or in the third spelling the GUID
MULTICAST = re.compile(rb"\s*(?:Multicast mlids \[|(?:osm_\w+_)?dump_mcast_routes)")  #: a multicast table
DUMPED = re.compile(
    rb'\s*(Switch|Channel Adapter|Router) 0[xX]([0-9a-fA-F]{1,16}), base LID (\d{1,9}), "'
)  #: a heading of OpenSM's dumps of lanes and paths: the kind, the GUID and the LID
_CHASSIS = re.compile(rb"[ \t]*(?:Non-)?Chassis\b")
_GREETING = re.compile(rb"ibwarn: \[\d+\] sim_connect: attached")
_ORDER = re.compile(rb"[ \t]*(do|include)[ \t]")
_TROUBLE = re.compile(
    rb"\S+\.c:\d+[;:]|ib(?:warn|panic|error)|.*(?:bad status|timed out|[Ff]ailed|umad|mad_rpc|[Ee]rror)", re.DOTALL
)


def noted_line(line: bytes, number: int, notes: Notes) -> None:
    """Note a line that does not belong in the file."""
    if _CHASSIS.match(line) or _GREETING.match(line):
        return
    if len(line) > LONGEST:
        notes.add("warning", "bad-line", f"a line of more than {LONGEST} bytes: ignored", number)
    elif order := _ORDER.match(line):
        message = f"'{order[1].decode()}' is a command of ibsim and is not supported: write its content into the file"
        notes.add("warning", "not-followed", message, number)
    elif _TROUBLE.match(line):
        message = f"the scan reported a problem, so parts may be missing; run it again: {shown_line(line)}"
        notes.add("warning", "diagnostic", message, number)
    else:
        notes.add("warning", "bad-line", f"unexpected line: {shown_line(line)}", number)


def shown_line(line: bytes) -> str:
    """Return a line as it is shown in a message."""
    return shown(line.strip().decode("utf-8", "replace"))
