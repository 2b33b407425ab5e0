"""Which routing engine OpenSM used, from its log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from obliv.fabric._notes import Notes
from obliv.files import lines, read_bytes

__all__ = ["engine_of"]

_DONE = re.compile(r"osm_ucast_mgr_process: (\S{1,40}) tables configured on all switches")
_FAILED = re.compile(r"ucast_mgr_route: (\S{1,40}): cannot build (?:lid matrices|fwd tables)")
_UNKNOWN = re.compile(r"setup_routing_engines: Failed to setup routing engine '([^']{1,40})'")
_REASON = re.compile(r"-> (.{0,40}(?:ERR [0-9A-F]{4}|do_ucast_file_load|not supported).*)")
_NONE = "No routing engine able to successfully configure"


def engine_of(path: str | Path, notes: Notes, requested: str | None = None) -> dict[str, Any]:
    """The engine that routed last, and those that failed before it.

    OpenSM routes with minhop where the engine that was asked for fails, and says so in the log only.

    Parameters
    ----------
    path : path-like
    notes : Notes
        About the log.
    requested : str, optional
        The engine that was asked for; else the first that failed counts as that.

    Returns
    -------
    dict
        ``used`` and ``requested``, None where not known, and ``failed``.
    """
    used, failed, reason, at, last = None, [], "", 0, 0
    for number, line in enumerate(lines(read_bytes(path).decode("utf-8", "replace")), 1):
        if found := _UNKNOWN.search(line):
            if found[1] != "no_fallback":  # which older ones take for an engine, but honour
                failed.append(found[1])
                reason, at = "OpenSM has no engine of that name", number
        elif found := _FAILED.search(line):
            if last:  # a new sweep
                failed, last = [], 0
            failed.append(found[1])
            at = number
        elif found := _DONE.search(line):
            if last:
                failed = []
            used, last = found[1], number
        elif _NONE in line:
            used, last = None, number
        elif found := _REASON.search(line):
            reason = found[1].strip()
    failed = list(dict.fromkeys(failed))
    asked = requested or (failed[0] if failed else used)
    because = f" ({_plain(reason)})" if reason and failed else ""
    if not last:
        text = "no line of the log says which engine routed: give the log of a whole run, not of an excerpt"
        notes.add("warning", "engine", text)
    elif used is None:
        text = f"{_plain(asked or 'the engine')} failed{because} and no other was tried: there are no new tables"
        notes.add("error", "engine", text, at or last)
    elif asked is not None and asked != used:
        text = f"{_plain(asked)} was asked for and failed{because}: OpenSM fell back to {_plain(used)}"
        notes.add("error", "engine", text, at or last)
    return {"used": used, "requested": asked, "failed": failed}


def _plain(text: str) -> str:
    """Text from a file, on one line and not too long."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return shown if len(shown) <= 120 else shown[:117] + "..."
