"""Which routing engine OpenSM used, from its log."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from obliv.errors import FileError
from obliv.fabric.files.blocks import Blocks
from obliv.fabric.notes import Notes
from obliv.fabric.topology import safe
from obliv.results.fabric.check import EngineRun

__all__ = ["engine_of"]

_DONE = re.compile(rb"osm_ucast_mgr_process: (\S{1,40}) tables configured on all switches")
_FAILED = re.compile(rb"ucast_mgr_route: (\S{1,40}): cannot build (?:lid matrices|fwd tables)")
_UNKNOWN = re.compile(rb"setup_routing_engines: Failed to setup routing engine '([^']{1,40})'")
_REASON = re.compile(rb"-> (.{0,40}(?:ERR [0-9A-F]{4}|do_ucast_file_load|not supported).*)")
_LONGEST = 200  # characters of a name or reason that are shown
_ENGINES = ("dfsssp", "dnup", "dor", "file", "ftree", "lash", "minhop", "nue", "sssp", "torus-2QoS", "updn")
_NONE = b"No routing engine able to successfully configure"


def engine_of(path: str | Path, notes: Notes, requested: str | None = None) -> EngineRun:
    """Return the engine that routed last, and those that failed before it.

    OpenSM routes with minhop if the requested engine fails, and reports that only in the log.

    Parameters
    ----------
    path : path-like
    notes : Notes
        About the log.
    requested : str, optional
        The engine that was asked for; else the first that failed counts as that.
    """
    failed: dict[str, None] = {}  # in the order of the log
    used, reason, at, last, blank = None, "", 0, 0, True
    for number, line in Blocks(path).lines():
        blank = blank and not line.strip()
        if match := _UNKNOWN.search(line):
            if match[1] != b"no_fallback":  # older versions take it for an engine, but obey it
                failed[_text(match)] = None
                reason, at = "OpenSM has no engine of that name", number
        elif match := _FAILED.search(line):
            if last:  # a new sweep
                failed, last = {}, 0
            failed[_text(match)] = None
            at = number
        elif match := _DONE.search(line):
            if last:
                failed = {}
            used, last = _text(match), number
        elif _NONE in line:
            used, last = None, number
        elif match := _REASON.search(line):
            reason = _text(match).strip()
    if blank:
        raise FileError("the file is empty", path)
    asked = requested or next(iter(failed), used)
    because = f" ({safe(reason, _LONGEST)})" if reason and failed else ""
    wanted, by = safe(asked or "the engine", _LONGEST), safe(used or "", _LONGEST)
    near = get_close_matches(asked, [*_ENGINES, by], 1, 0.8) if asked and asked not in _ENGINES else []
    hint = f"did you mean {near[0]}?" if near else ""
    if not last:
        text = "no engine that was used is named: give OpenSM's log of a whole run, not an excerpt or another file"
        notes.add("warning", "engine", text)
    elif used is None:
        text = f"{wanted} failed{because} and no other was tried: there are no new tables"
        notes.add("error", "engine", text, at or last)
    elif asked is not None and asked != used and asked not in failed:
        text = f"the last sweep in the log used {by}; {wanted} was not tried: {hint or 'start OpenSM with it'}"
        notes.add("error", "engine", text, last)
    elif asked is not None and asked != used:
        text = f"{wanted} was requested but failed{because}: OpenSM fell back to {by}{hint and '; ' + hint}"
        notes.add("error", "engine", text, at or last)
    return EngineRun(used, asked, tuple(failed))


def _text(match: re.Match[bytes]) -> str:
    return match[1].decode("utf-8", "replace")
