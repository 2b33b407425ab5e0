"""The algorithms of packet routing by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliv._util.text import did_you_mean
from obliv.bufferless.moves import Run
from obliv.errors import InputError, OptionError

__all__ = ["ALGORITHMS", "Algorithm", "find", "require_options"]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of packet routing.

    Parameters
    ----------
    function : str
        Where its function is, as ``module:name``; imported on first use.
    summary : str
        A line of help.
    options : tuple of str
        The options that a user may set.
    fixed : mapping
        Arguments that make this algorithm of a more general function.
    """

    function: str
    summary: str
    options: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Callable[..., Run]:
        """Import and return the function, which takes an instance, a random generator and the options."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Run] = getattr(importlib.import_module(module), name)
        return function

    def run(self, instance: Any, rng: np.random.Generator, options: Mapping[str, Any]) -> Run:
        """Run the algorithm on an instance."""
        return self.load()(instance, rng, **self.fixed, **options)


def _queues(summary: str, priority: str) -> Algorithm:
    return Algorithm("obliv.bufferless.schedulers.queues:queues", summary, fixed={"priority": priority})


ALGORITHMS = {
    "centralized": Algorithm(
        "obliv.bufferless.frames.centralized:centralized",
        "waves of frames, planned with global knowledge of the paths (Busch et al., section 3)",
        ("constants", "lam", "s", "segments"),
    ),
    "distributed": Algorithm(
        "obliv.bufferless.frames.distributed:distributed",
        "the same, colors found by trial; nodes know only C, D, N (Busch et al., section 4)",
        ("constants", "lam", "s", "chi", "timetable", "tie"),
    ),
    "direct": Algorithm(
        "obliv.bufferless.schedulers.direct:direct",
        "depart at a fixed time, then never stop; first fit",
        ("order",),
    ),
    "hot-potato": Algorithm(
        "obliv.bufferless.schedulers.hot_potato:hot_potato",
        "greedy; packets that lose a link are deflected and go back",
        ("priority",),
    ),
    "fifo": _queues("store and forward, first come first served", "fifo"),
    "random-delay": _queues("store and forward, start delays below C (Leighton, Maggs and Rao)", "random-delay"),
    "random-rank": _queues("store and forward, random ranks", "random-rank"),
    "farthest-to-go": _queues("store and forward, farthest to go first", "farthest-to-go"),
    "queues": Algorithm(
        "obliv.bufferless.schedulers.queues:queues", "store and forward with a custom priority", ("priority",)
    ),
}

#: The largest constants for which times fit in 64 bits.
_LIMITS = {"lam": 10**6, "s": 2**30, "chi": 10**6}


def find(name: str) -> Algorithm:
    """Return the algorithm of a name.

    Raises
    ------
    InputError
        If no algorithm has this name; the message suggests one.
    """
    if name not in ALGORITHMS:
        raise InputError(f"unknown algorithm {name!r}: {did_you_mean(str(name), ALGORITHMS)}")
    return ALGORITHMS[name]


def require_options(name: str, options: Mapping[str, Any]) -> None:
    """Check that an algorithm takes the given options, and that its constants are integers in range.

    Raises
    ------
    OptionError
        Naming the option.
    """
    known = find(name).options
    for option in options:
        if option == "seed":
            raise OptionError(option, "seed is called rng now: give a random generator or a seed as rng=")
        if option not in known:
            takes = f"it takes {', '.join(map('{{{}}}'.format, known))}" if known else "it takes no options"
            raise OptionError(option, f"{{0}} does not take {{{option}}}; {takes}", name)
    for option, limit in _LIMITS.items():
        value = options.get(option)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            least = "an even integer" if option == "lam" else "an integer of at least 1"
            raise OptionError(option, f"{{{option}}} is {{0}}; it must be {least}", repr(value))
        if value > limit:
            raise OptionError(option, f"{{{option}}} is {value}; it must be at most {limit}")
