"""The plane of throughput and locality: a point for each routing; those on the frontier lose to no other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from obliv.view.report.numbers import text_of, value_of
from obliv.view.report.quantities import Row

__all__ = ["plane_points"]

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
            if inside and not any(_overlap(box, other) for other in taken if other != taken[k]):
                taken.append(box)
                made[k] = {"label": text, "align": align, "dx": dx, "dy": dy}
                break
    return made


def _overlap(one: Sequence[float], two: Sequence[float]) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
