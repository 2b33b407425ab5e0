"""Sections of a report: verdict, summary table, plane, bars, papers' tables, origins of numbers, other results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from obliv._util.text import plural, printable
from obliv.questions.worst_case import WorstCase
from obliv.results.base import Result, unit_of
from obliv.results.claims import is_certified
from obliv.results.study import column_names, options_of
from obliv.study.measures import MEASURES
from obliv.view.labels import overlap
from obliv.view.report.contents import HOW, Contents, ReportCell, Row, ends_of, how, text_of, value_of

_SUMMARIZED = 5_000  # cells; beyond, the page has the figures of the table alone
_LINES = 30  # of a summary


def table_data(contents: Contents, most: int | None = None) -> dict[str, Any]:
    """Return columns and details of the table for the script of the page.

    A column of figures has values to sort by, texts, and a letter for how each was obtained. Only the `most` rows with
    the largest worst-case throughput are taken, if that is given.
    """
    names = column_names(tuple(item.row for item in contents.items))
    rows: dict[tuple[str, str], dict[str, tuple[Any, ReportCell]]] = {}
    behind: dict[tuple[str, str], list[ReportCell]] = {}
    columns: dict[str, None] = {}
    for item in contents.items:
        design = item.row.measure == "design"  # a row beside those of routings, with the same columns
        name = names[item.row.measure, options_of(item.row)]
        key = item.row.topology, name if design else item.row.routing or ""
        cells = rows.setdefault(key, {})
        behind.setdefault(key, []).append(item)
        for figure, value in (item.row.figures or {"": None}).items():
            column = figure or "worst" if design else f"{name} {figure}".strip()
            columns[column] = None
            cells[column] = value, item
    if most is not None:
        kept = sorted(rows, key=lambda key: -(_cell(rows[key].get("worst"))[0] or 0.0))[:most]
        rows = {key: rows[key] for key in rows if key in kept}
        behind = {key: behind[key] for key in rows}
    figures = [_column(column, [_cell(cells.get(column)) for cells in rows.values()]) for column in columns]
    brief = len(contents.items) > _SUMMARIZED
    return {
        "topology": [printable(topology) for topology, _ in rows],
        "routing": [printable(routing) for _, routing in rows],
        "columns": figures,
        "details": [_details(items, names, brief) for items in behind.values()],
        "inputs": [printable(source.name) for source in contents.inputs],
    }


def _cell(cell: tuple[Any, ReportCell] | None) -> tuple[float | None, str, str]:
    """Return the value of a cell to sort by, its text, and how it was obtained."""
    if cell is None:
        return None, "", ""
    value, item = cell
    if item.row.status != "done":
        return None, item.row.status, "f" if item.row.status in ("failed", "damaged") else "p"
    return (None, "", "") if value is None else (value_of(value), text_of(value), how(value))


def _column(name: str, cells: Sequence[tuple[float | None, str, str]]) -> dict[str, Any]:
    numbers = any(kind in ("x", "e", "b") for _, _, kind in cells)
    return {
        "name": printable(name),
        "number": numbers,
        "value": [None if value is None else float(f"{value:.12g}") for value, _, _ in cells] if numbers else [],
        "text": [text for _, text, _ in cells],
        "how": "".join(kind or "-" for _, _, kind in cells),
    }


def _details(items: Sequence[ReportCell], names: dict[tuple[str, str], str], brief: bool) -> list[list[Any]]:
    """Return, for each result behind a row, its name, its figures, how it was obtained and the number of its input."""
    details: list[list[Any]] = []
    known: set[int] = set()
    for item in items:
        row, result = item.row, item.result
        name = names[row.measure, options_of(row)]
        if result is not None and not brief:
            if id(result) in known:
                continue
            known.add(id(result))
            lines = [[printable(label), printable(text)] for label, text in result.summary()[:_LINES]]
        else:
            lines = [[printable(figure) or name, text_of(value)] for figure, value in row.figures.items()]
        if row.status != "done" or row.reason:
            lines.append([row.status, printable(row.reason)])
        details.append([printable(name), lines, _how(item), item.input])
    return details


def _how(item: ReportCell) -> str:
    """Return in words how the figures of a cell were obtained."""
    result = item.result
    if item.row.status != "done":
        return ""
    if not isinstance(result, Result) or result.provenance is None:
        return "from a saved table"
    source = result.provenance
    words = [source.exactness]
    if is_certified(result):
        words.append("with a certificate for obliv verify")
    if source.seed is not None:
        words.append(f"random seed {source.seed}")
    return printable(", ".join([*words, f"obliv {source.version}"]))


# The plane of throughput and locality: a point for each routing; those on the frontier lose to no other


_NAMES = 3  # in a label
_WIDTH, _HEIGHT, _LETTER, _LINE = 560.0, 330.0, 6.6, 14.0  # of the chart and of its labels, about, in pixels


def plane_points(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the points of each topology; routings with equal numbers share one.

    A point has its place, its texts, whether it is on the frontier, and where its label goes, if there is room.
    """
    times = all(row.times is not None for row in rows if row.hops is not None)
    points: list[dict[str, Any]] = []
    by_topology: dict[str, dict[tuple[float, float], list[Row]]] = {}
    for row in rows:
        x, y = value_of(row.times if times else row.hops), value_of(row.values.get(row.guaranteed))
        if x is not None and y is not None:
            by_topology.setdefault(row.topology, {}).setdefault((round(x, 9), round(y, 9)), []).append(row)
    for topology, places in by_topology.items():
        front = _frontier(list(places))
        labels = _labels(places, front)
        for at, (place, same) in sorted(enumerate(places.items()), key=lambda entry: entry[1][0] in front):
            first = same[0]
            points.append(
                {
                    "topology": topology,
                    "x": place[0],
                    "y": place[1],
                    "names": ", ".join(row.routing for row in same),
                    "front": place in front,
                    "through": text_of(first.values.get(first.guaranteed)),
                    "hops": text_of(first.hops),
                    "times": text_of(first.times) if times else "",
                    **labels[at],
                }
            )
    return points


def _frontier(places: Sequence[tuple[float, float]]) -> set[tuple[float, float]]:
    """Return the places with no other one that has fewer or as many hops and more throughput, or conversely."""
    front, best = set(), float("-inf")
    for x, y in sorted(places, key=lambda place: (place[0], -place[1])):
        if y > best:
            front.add((x, y))
            best = y
    return front


def _labels(places: dict[tuple[float, float], list[Row]], front: set[tuple[float, float]]) -> list[dict[str, Any]]:
    """Return text, side and offset of the label of each place.

    No label covers a point, another label or the line of the frontier. The frontier comes first; a label for which
    there is no room is left to the tooltip.
    """
    xs, ys = zip(*places, strict=True)
    wide, high = (max(xs) - min(xs)) or 1.0, max(ys) or 1.0
    spots = [((x - min(xs)) / wide * _WIDTH, _HEIGHT * (1.0 - y / high)) for x, y in places]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    corners = sorted(spot for spot, place in zip(spots, places, strict=True) if place in front)
    for (x, y), (far, up) in pairwise(corners):  # the line leads from a point to below the next one, then up
        taken += [(x, y - 1, far, y + 1), (far - 1, up, far + 1, y)]
    made: list[dict[str, Any]] = [{} for _ in places]
    for k in sorted(range(len(spots)), key=lambda k: (list(places)[k] not in front, k)):
        names = [row.routing for row in list(places.values())[k]]
        text = ", ".join(names[:_NAMES]) + (f" +{len(names) - _NAMES}" if len(names) > _NAMES else "")
        width, (x, y) = _LETTER * len(text), spots[k]
        sides = {
            ("left", 9, 4): (x + 8, y - 8, x + 10 + width, y + 7),
            ("left", 3, -10): (x + 2, y - 8 - _LINE, x + 4 + width, y - 7),
            ("center", 0, -10): (x - width / 2, y - 8 - _LINE, x + width / 2, y - 7),
            ("center", 0, 18): (x - width / 2, y + 7, x + width / 2, y + 8 + _LINE),
            ("right", -9, 4): (x - 10 - width, y - 8, x - 8, y + 7),
        }
        made[k] = {"label": "", "align": "left", "dx": 9, "dy": 4}
        for (align, dx, dy), box in sides.items():
            inside = box[0] > -40 and box[2] < _WIDTH + 60 and box[1] > -20
            if inside and not any(overlap(box, other) for other in taken if other != taken[k]):
                taken.append(box)
                made[k] = {"label": text, "align": align, "dx": dx, "dy": dy}
                break
    return made


# The verdict on top of a report: what fails first, and what the best routing guarantees


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
        where, some = _some_of(topologies, _MOST), _some_of(routings, 4)
        yield "weak", f"{where}: {some} can deadlock without more virtual channels."


def _loads(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield for each topology what fails first, and what guarantees the most."""
    guarantees: dict[str, list[tuple[float, bool, bool, ReportCell]]] = {}
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


def _some_of(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")


def _name(item: ReportCell) -> str:
    return item.row.routing or "the best routing (design)"


def _guarantee(item: ReportCell) -> str:
    value, unit = text_of(item.row.figures[""]), unit_of(getattr(item.result, "rated", False))
    return f"{value} {unit.replace('packets', 'packet', 1) if value == '1' else unit}"


def _place(item: ReportCell) -> str:
    """Return which channel is full first, where the result says it."""
    result = item.result
    if not isinstance(result, WorstCase) or result.channel is None:
        return _proof(item)
    return f", when the channel {' → '.join(result.ends)} is full{_proof(item)}"


def _proof(item: ReportCell) -> str:
    return " (with a certificate)" if is_certified(item.result) else ""


# How each number was obtained: by measure, how many are exact, estimated or bounded, and what proves them


#: Where an exact or bounded answer of a measure comes from, and what a certificate of it proves.
_METHODS = {
    "worst": "Maximum-weight matchings on every class of channels, in rational arithmetic. A certificate has prices "
    "that bound every channel, and the permutation that attains the worst load.",
    "average": "Mean largest channel load of random permutations; throughput is its reciprocal. The error is the "
    "standard error of the sample.",
    "throughput": "Channel loads of the pattern, in rational arithmetic.",
    "ratio": "Largest load over the least possible one, over all traffic; a certificate has dual prices of both.",
    "deadlock": "Search for a cycle in the graph of channel dependencies.",
    "hops": "Mean number of channels of all paths, in rational arithmetic.",
    "design": "Linear program; the routing is made rational and its worst case solved exactly. A certificate bounds "
    "what any routing can attain.",
    "bounds": "Dual solutions of linear programs, rounded to rationals that are feasible.",
    "bufferless": "Schedule whose moves are all checked; the bounds are congestion and dilation.",
    "fabric": "Worst case of the forwarding tables as read from the files, as for a routing.",
}


def how_rows(contents: Contents) -> list[dict[str, Any]]:
    """Return a row for each measure, in the order of the inputs."""
    by_measure: dict[str, list[ReportCell]] = {}
    for item in contents.items:
        by_measure.setdefault(item.row.measure, []).append(item)
    rows = []
    for measure, items in by_measure.items():
        done = [item for item in items if item.row.status == "done"]
        letters = Counter(letter for item in done for letter in set(map(how, item.row.figures.values())) - {""})
        proofs = sum(is_certified(item.result) for item in done)
        rows.append(
            {
                "measure": printable(measure),
                "method": _METHODS.get(measure) or (MEASURES[measure].summary if measure in MEASURES else ""),
                "counts": [(letter, f"{letters[letter]:,} {word}") for letter, word in HOW.items() if letters[letter]],
                "verdicts": sum(not any(map(how, item.row.figures.values())) for item in done),
                "proofs": proofs,
                "without": [
                    f"{count:,} {status}"
                    for status in ("failed", "damaged")
                    if (count := sum(item.row.status == status for item in items))
                ],
                "details": _how_details(done),
            }
        )
    return rows


def _how_details(items: list[ReportCell]) -> str:
    """Return the seeds and samples of estimates."""
    items = [item for item in items if "e" in map(how, item.row.figures.values())]
    seeds = sorted({item.row.seed for item in items if item.row.seed is not None})
    samples = sorted({count for item in items if (count := getattr(item.result, "samples", None))})
    words = [f"{_some([f'{count:,}' for count in samples])} samples"] * bool(samples)
    words += [f"random seed{'s' * (len(seeds) > 1)} {_some(list(map(str, seeds)))}"] * bool(seeds)
    return ", ".join(words)


def _some(words: list[str]) -> str:
    return ", ".join(words) if len(words) <= 4 else f"{', '.join(words[:3])} ... {words[-1]}"


# The papers' tables: published beside computed, with the verdict on each entry


#: What each verdict means.
VERDICTS = {
    "match": "as printed",
    "rounding": "agrees as rounded, truncated or within the error of an estimate",
    "reading": "another reading of the paper gives the print, see other readings",
    "erratum": "the print contradicts itself or a proof",
    "open": "no reading that was tried gives the print, or the number cannot decide it",
    "beyond": "a number that the paper does not print",
    "differs": "disagrees without an explanation",
}


def reproduction_tables(reproductions: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the tables of the papers for the template: rows, counts of verdicts, and notes shared by rows."""
    tables = []
    for result in reproductions:
        for (paper, table), group in groupby(result.entries, lambda row: (row.paper, row.table)):
            rows = list(group)
            notes = {note: k + 1 for k, note in enumerate(dict.fromkeys(row.note for row in rows if row.note))}
            counts = Counter(row.verdict for row in rows)
            tables.append(
                {
                    "name": printable(f"{paper} {table}"),
                    "title": printable(result.titles.get(table, "")),
                    "counts": ", ".join(f"{counts[name]:,} {name}" for name in VERDICTS if counts[name]),
                    "entries": plural(len(rows), "entry", "entries"),
                    "open": any(row.verdict == "differs" for row in rows),
                    "readings": any(row.other_readings for row in rows),
                    "rows": [
                        {
                            "entry": printable(row.entry),
                            "published": printable(row.published) or "not printed",
                            "computed": text_of(row.computed)
                            + (f" of {printable(row.counted)}" if row.counted else ""),
                            "how": how(row.computed),
                            "verdict": printable(row.verdict),
                            "readings": [printable(str(reading)) for reading in row.other_readings],
                            "differs": printable(row.differs_if),
                            "note": notes.get(row.note),
                        }
                        for row in rows
                    ],
                    "notes": [printable(note) for note in notes],
                }
            )
    return tables


# Bars: the worst case, the average and patterns of each routing, best worst case first


_BARS = ("worst", "average", "fabric")  # measures with a bar; patterns have a dot
_MOST_SERIES = 8
_MOST_ROWS = 40  # of a topology


def bar_series(rows: Sequence[Row]) -> list[str]:
    """Return the columns that get a bar: the worst case and the average first."""
    columns = dict.fromkeys(column for row in rows for column in row.values)
    return sorted(columns, key=lambda name: {"worst": 0, "average": 1}.get(name.split(" ")[0], 2))[:_MOST_SERIES]


def _rank(name: str) -> int:
    measure = name.split(" ")[0]
    return _BARS.index(measure) if measure in _BARS else len(_BARS)


def bars(rows: Sequence[Row], series: Sequence[str]) -> list[dict[str, Any]]:
    """Return the bars of the best rows of each topology, with the ends of estimates and bounds."""
    by_topology: dict[str, list[Row]] = {}
    for row in rows:
        by_topology.setdefault(row.topology, []).append(row)
    found: list[dict[str, Any]] = []
    for topology, own in by_topology.items():
        own = sorted(own, key=lambda row: -(value_of(row.values.get(series[0])) or 0.0))[:_MOST_ROWS]
        for place, row in enumerate(own):
            for what in series:
                value = row.values.get(what)
                number = value_of(value)
                if number is None:
                    continue
                bar: dict[str, Any] = {"topology": topology, "routing": row.routing, "place": place, "what": what}
                bar |= {"value": number, "text": text_of(value).partition(" = ")[0], "how": HOW[how(value)]}
                bar["full"] = text_of(value)
                bar["bar"] = what.split(" ")[0] in _BARS
                bar["slot"] = what if bar["bar"] else series[0]
                bar["low"], bar["high"] = ends_of(value) or (number, number)
                found.append(bar)
    return found


def left_out(rows: Sequence[Row], series: Sequence[str]) -> str:
    """Return what has no bar, in a sentence; empty if all have."""
    most = max(Counter(row.topology for row in rows).values())
    columns = len({column for row in rows for column in row.values}) - len(series)
    parts = [f"the best {_MOST_ROWS} of up to {most:,} routings"] * (most > _MOST_ROWS)
    parts += [f"the first {len(series)} of {len(series) + columns} columns"] * (columns > 0)
    return f"Shown are {' and '.join(parts)}; the table has all." if parts else ""


# Results that have no place in the table, each with its figures


_OTHER_LINES = 60


def other_results(contents: Contents) -> list[dict[str, Any]]:
    """Return title, figures and provenance of each result."""
    found = []
    for result, source in contents.others:
        lines = result.figures() or [("", line.strip()) for line in repr(result).split("\n")[1:]]
        made = result.provenance
        found.append(
            {
                "title": printable(result.title),
                "lines": [(printable(label), printable(text)) for label, text in lines[:_OTHER_LINES]],
                "how": printable(f"{made.exactness}, obliv {made.version}" if made is not None else "a list"),
                "input": printable(contents.inputs[source].name),
            }
        )
    return found
