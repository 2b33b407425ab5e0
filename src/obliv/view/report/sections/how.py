"""How each number was obtained: by measure, how many are exact, estimated or bounded, and what proves them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from obliv._util.text import printable
from obliv.checker.claims import is_certified
from obliv.study.measures import MEASURES
from obliv.view.report.contents import Contents, Item
from obliv.view.report.numbers import HOW, how

__all__ = ["how_rows"]

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
    by_measure: dict[str, list[Item]] = {}
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
                "details": _details(done),
            }
        )
    return rows


def _details(items: list[Item]) -> str:
    """Return the seeds and samples of estimates."""
    items = [item for item in items if "e" in map(how, item.row.figures.values())]
    seeds = sorted({item.row.seed for item in items if item.row.seed is not None})
    samples = sorted({count for item in items if (count := getattr(item.result, "samples", None))})
    words = [f"{_some([f'{count:,}' for count in samples])} samples"] * bool(samples)
    words += [f"random seed{'s' * (len(seeds) > 1)} {_some(list(map(str, seeds)))}"] * bool(seeds)
    return ", ".join(words)


def _some(words: list[str]) -> str:
    return ", ".join(words) if len(words) <= 4 else f"{', '.join(words[:3])} ... {words[-1]}"
