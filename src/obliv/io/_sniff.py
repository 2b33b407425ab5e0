"""Texts recognised by their content."""

from __future__ import annotations

import re

from obliv._util.text import lines

__all__ = ["looks_like"]

_HEAD = 1 << 16
_GML = re.compile(r"^[ \t]*graph[ \t\r\n]*\[", re.MULTILINE)
_GML_HEAD = re.compile(r"(Creator|Version)\s")
_DOT = re.compile(r"(strict\s+)?(di)?graph\b[^\[\n]*\{")
_FABRIC = re.compile(
    r'^(?:(?:vendid|devid|sysimgguid|switchguid|caguid)=|(?:Switch|Ca|Hca|Rt)[ \t]+\d+[ \t]+")', re.MULTILINE
)
_SNDLIB = re.compile(r"^(?:NODES|LINKS)[ \t]*\(", re.MULTILINE)
_ANYNET = re.compile(r"(router|node)[ \t]+\d+([ \t]|\Z)")


def looks_like(text: str) -> str:
    """The format of a text: ``graphml``, ``gml``, ``anynet``, another kind by name, or ``edgelist`` if nothing fits."""
    head = text[:_HEAD].lstrip()
    if head.startswith("<"):
        if "graphml" in head.lower():
            return "graphml"
        return "sndlib" if "<network" in head else "html" if "<html" in head.lower() else "graphml"
    if head.startswith("?SNDlib") or _SNDLIB.search(head):
        return "sndlib"
    if head[:1] in "{[":
        return "json"
    if _FABRIC.search(head):
        return "ibnetdiscover"
    if _DOT.match(head):
        return "dot"
    first = next((line.strip() for line in lines(head) if line.strip() and line.lstrip()[0] != "#"), "")
    if _GML.search(head) or _GML_HEAD.match(first):
        return "gml"
    return "anynet" if _ANYNET.match(first) else "edgelist"
