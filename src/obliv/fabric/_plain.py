"""What the writers of fabrics share: harmless names, texts written piece by piece."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from obliv.errors import FileError
from obliv.files import require_place

__all__ = ["plain", "write_pieces"]

_MOST = 64  # bytes of a node description


def plain(text: str, besides: str = "") -> str:
    r"""A name that may stand between quotes in a line of any of these files, whatever it was.

    Examples
    --------
    >>> plain('n1"\n0x0001 002')
    'n1??0x0001 002'
    """
    kept = "".join(c if c.isprintable() and c not in "\"'" and c not in besides else "?" for c in text[:_MOST])
    while len(kept.encode("utf-8", "replace")) > _MOST - 1:
        kept = kept[:-1]
    return kept


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a file too large to be held, whole or not at all; as :func:`obliv.files.write_whole` does."""
    require_place(path)
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            with open(target, "wb") as stream:
                stream.writelines(pieces)
            return
        draft = target.with_name(f".obliv-{secrets.token_hex(8)}.tmp")
        try:
            with open(draft, "xb") as stream:
                stream.writelines(pieces)
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", path) from None
    except ValueError:
        raise FileError("cannot be the name of a file", repr(str(path))) from None
