"""Names that harm no file which is written, whatever they are."""

from __future__ import annotations

from obliv._util.text import printable

__all__ = ["plain"]

_MOST = 64  # bytes of a node description


def plain(text: str, besides: str = "") -> str:
    r"""A name that may stand between quotes in a line of any of these files, whatever it was.

    Examples
    --------
    >>> plain('n1"\n0x0001 002')
    'n1??0x0001 002'
    """
    kept = printable(text[:_MOST], "\"'" + besides)
    while len(kept.encode("utf-8", "replace")) > _MOST - 1:
        kept = kept[:-1]
    return kept
