"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from obliv.errors import FileError, TopologyError
from obliv.topology.topology import Topology

__all__ = ["printable", "require_plain", "save"]


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


def require_plain(topology: Topology, what: str, *, every_node: bool = False) -> None:
    """Refuse to drop in silence what a format cannot hold: rates, and with `every_node` the choice of terminals."""
    if not topology.unit_rates:
        raise TopologyError(
            f"{what} has no place for the terminals' rates: write topology.with_rates() to leave them out"
        )
    if every_node and not topology.all_terminals:
        raise TopologyError(
            f"{what} cannot say which nodes are terminals: write GraphML, "
            "or topology.with_terminals(range(topology.nodes)) to leave them out"
        )


def printable(text: str) -> str:
    """A text for a comment, whatever stands in it."""
    return "".join(c if c.isprintable() else "?" for c in text)
