"""Formats of network files, recognized by their content."""

from __future__ import annotations

import re
from functools import cache

from obliv._util.sndlib import is_native
from obliv._util.text import lines
from obliv.specs import FILE_FORMATS

__all__ = ["UNREAD", "format_of"]

#: Formats that are recognized but not read, with what to do.
UNREAD = {
    "sndlib-xml": "a network of SNDlib in XML, which is not read: get it in the native format",
    "json": "JSON, from which no network is read: load it with NetworkX and use obliv.io.from_networkx",
    "dot": "a Graphviz drawing (DOT), which is not read: convert it to GraphML, for example with NetworkX",
    "html": "a web page: download the file itself",
}

_HEAD = 1 << 16
_GML = re.compile(r"^[ \t]*graph[ \t\r\n]*\[", re.MULTILINE)
_GML_HEAD = re.compile(r"(Creator|Version)\s")
_DOT = re.compile(r"(strict\s+)?(di)?graph\b[^\[\n]*\{")
_ANYNET = re.compile(r"(router|node)[ \t]+\d+([ \t]|\Z)")


def format_of(text: str) -> str:
    r"""Return the format of a text, ``edgelist`` if nothing else fits.

    Examples
    --------
    >>> format_of("router 0 node 0 node 1\n"), format_of("a b 10\n")
    ('anynet', 'edgelist')
    """
    head = text[:_HEAD].lstrip()
    if head.startswith("<"):
        if "graphml" in head.lower():
            return "graphml"
        return "sndlib-xml" if "<network" in head else "html" if "<html" in head.lower() else "graphml"
    if is_native(head):
        return "sndlib"
    if head[:1] in "{[":
        return "json"
    for name, form in FILE_FORMATS.items():
        if _sign(form.sign).search(head):
            return name
    if _DOT.match(head):
        return "dot"
    first = next((line.strip() for line in lines(head) if line.strip() and line.lstrip()[0] != "#"), "")
    if _GML.search(head) or _GML_HEAD.match(first):
        return "gml"
    return "anynet" if _ANYNET.match(first) else "edgelist"


@cache
def _sign(sign: str) -> re.Pattern[str]:
    return re.compile("^" + sign, re.MULTILINE)
