"""The verdict on top of a report: what fails first, and what the best routing guarantees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from obliv._util.text import plural, printable
from obliv.checker.claims import is_certified
from obliv.results import WorstCase
from obliv.results.base import unit_of
from obliv.view.report.contents import Contents, Item
from obliv.view.report.numbers import text_of, value_of

__all__ = ["verdict"]

_MOST = 3  # topologies that are named
_GUARANTEES = ("worst", "fabric", "design")


def verdict(contents: Contents) -> list[tuple[str, str]]:
    """Return sentences, what is bad first, each with its mark: ``bad``, ``weak`` or ``good``."""
    return [(mark, printable(text)) for mark, text in (*_missing(contents), *_deadlocks(contents), *_loads(contents))]


def _missing(contents: Contents) -> Iterator[tuple[str, str]]:
    status = Counter(item.row.status for item in contents.items)
    for name, what in (("damaged", "damaged"), ("failed", "failed"), ("pending", "not finished")):
        if status[name]:
            yield "bad", f"{plural(status[name], 'result')} {'is' if status[name] == 1 else 'are'} {what}."
    differs = sum(row.verdict == "differs" for paper in contents.reproductions for row in paper.entries)
    if differs:
        yield "bad", f"{plural(differs, 'published number')} could not be reproduced."
    for result, _ in contents.others:
        errors = [finding for finding in getattr(result, "findings", ()) if finding.severity == "error"]
        if errors:
            more = f", and {plural(len(errors) - 1, 'more error')}" if errors[1:] else ""
            yield "bad", f"{result.topology}: {errors[0].message}{more}."


def _deadlocks(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield which routings can deadlock on one virtual channel, a sentence for topologies with the same ones."""
    found: dict[str, list[str]] = {}
    for item in contents.items:
        if item.row.measure == "deadlock" and item.row.figures.get("") == "possible":
            found.setdefault(item.row.topology, []).append(item.row.routing or "")
    alike: dict[tuple[str, ...], list[str]] = {}
    for topology, names in found.items():
        alike.setdefault(tuple(dict.fromkeys(names)), []).append(topology)
    for number, (routings, topologies) in enumerate(alike.items()):
        if number == _MOST:
            rest = sum(map(len, list(alike.values())[_MOST:]))
            yield "weak", f"Routings can deadlock on {plural(rest, 'more topology', 'more topologies')}: see the table."
            return
        where, some = _some(topologies, _MOST), _some(routings, 4)
        yield "weak", f"{where}: {some} can deadlock without more virtual channels."


def _loads(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield for each topology what fails first, and what guarantees the most."""
    guarantees: dict[str, list[tuple[float, bool, bool, Item]]] = {}
    for item in contents.items:
        value = value_of(item.row.figures.get(""))
        if item.row.status == "done" and item.row.measure in _GUARANTEES and value is not None:
            proved, routing = is_certified(item.result), item.row.routing is not None
            guarantees.setdefault(item.row.topology, []).append((value, proved, routing, item))
    for number, (topology, found) in enumerate(guarantees.items()):
        if number == _MOST:
            yield "weak", f"{plural(len(guarantees) - _MOST, 'more topology', 'more topologies')} in the table."
            return
        least = min(found, key=lambda one: (one[0], not one[1], not one[2]))[-1]  # of equal ones a proved one
        best = max(found, key=lambda one: one[:3])[-1]
        fails = "fails first, at" if found[1:] else "fails at"
        first = f"{topology}: {_name(least)} {fails} {_guarantee(least)} under its worst traffic{_place(least)}."
        if len(found) == 1:
            yield "good", first
        else:
            yield "weak", first
            yield "good", f"{topology}: {_name(best)} guarantees the most, {_guarantee(best)}{_proof(best)}."


def _some(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")


def _name(item: Item) -> str:
    return item.row.routing or "the best routing (design)"


def _guarantee(item: Item) -> str:
    value, unit = text_of(item.row.figures[""]), unit_of(getattr(item.result, "rated", False))
    return f"{value} {unit.replace('packets', 'packet', 1) if value == '1' else unit}"


def _place(item: Item) -> str:
    """Return which channel is full first, where the result says it."""
    result = item.result
    if not isinstance(result, WorstCase) or result.channel is None:
        return _proof(item)
    return f", when the channel {' → '.join(result.ends)} is full{_proof(item)}"


def _proof(item: Item) -> str:
    return " (with a certificate)" if is_certified(item.result) else ""
