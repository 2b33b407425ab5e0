"""Names that are safe to write into files of this kind."""

from __future__ import annotations

from obliv._util.text import printable

__all__ = ["plain"]

_MOST = 64  # bytes of a node description


def plain(text: str, besides: str = "") -> str:
    r"""Return a name that is safe between quotes in a line of any of these files.

    Examples
    --------
    >>> plain('n1"\n0x0001 002')
    'n1??0x0001 002'
    """
    shortened = printable(text[:_MOST], "\"'" + besides)
    while len(shortened.encode("utf-8", "replace")) > _MOST - 1:
        shortened = shortened[:-1]
    return shortened
