"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from fractions import Fraction
from pathlib import Path

from obliv.errors import FileError
from obliv.topology.topology import Topology

__all__ = ["of_terminals", "printable", "save"]


def save(path: str | Path, text: str) -> None:
    """Write a text under a temporary name in the same folder, then rename it to `path`."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file() and not target.is_dir():  # a device or a pipe keeps its place
            target.write_text(text, encoding="utf-8", newline="\n")
            return
        draft = target.with_name(f".obliv-{secrets.token_hex(8)}.tmp")
        try:
            with open(draft, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", path) from None
    except UnicodeEncodeError:
        raise FileError("cannot be written: a label holds half of a surrogate pair, no character", path) from None
    except ValueError:
        raise FileError("cannot be the name of a file", repr(str(path))) from None


def of_terminals(topology: Topology) -> dict[int, dict[str, Fraction]]:
    """The attributes that say of a node which terminal it is (unless every node is one) and what its rates are."""
    found: dict[int, dict[str, Fraction]] = {}
    for k, node in enumerate(topology.terminals.tolist()):
        own = found[node] = {} if topology.all_terminals else {"terminal": Fraction(k)}
        for name, rates in (("injection", topology.injection), ("ejection", topology.ejection)):
            if rates:
                own[name] = rates[k]
    return found


def printable(text: str) -> str:
    """A text for a comment, whatever stands in it."""
    return "".join(c if c.isprintable() else "?" for c in text)
