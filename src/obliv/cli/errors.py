"""Errors as one line on standard error, each with its exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from obliv.errors import in_one_line

__all__ = ["Stopped", "complain", "hint_at", "option_names", "refuse", "refuse_usage", "report_unexpected"]


class Stopped(BaseException):
    """Raised for Ctrl-C after the finished part was printed; typer would handle a KeyboardInterrupt itself."""


def complain(message: str) -> None:
    """Print a line on standard error, if that is open."""
    if sys.stderr is not None:
        print(message, file=sys.stderr)


def refuse(message: str) -> int:
    """Print an error in one short line, without control characters, and return the exit status 2."""
    complain("obliv: " + in_one_line(" ".join(message.split())))
    return 2


def refuse_usage(error: Any) -> int:
    """Print an error in the command line, with the help of the verb that it is about, and return the exit status 2."""
    return refuse(f"{error.format_message().rstrip('.')} (see {error.ctx.command_path} --help)")


def option_names(verb: Any) -> dict[str, str]:
    """Return the options of a verb by the names that messages give their parameters."""
    names: dict[str, str] = {}
    for parameter in verb.params:
        option = max(parameter.opts, key=len, default="")
        if option.startswith("--"):
            for name in (parameter.name.rstrip("_"), option[2:].replace("-", "_")):
                names |= {name: option, f"{name}=True": option} if parameter.is_flag else {name: option}
    others = {name: option for name, option in _OTHERWISE.items() if option.split()[0] in names.values()}
    return others | names


#: Options whose parameters have other names in Python.
_OTHERWISE = {
    "fewest_virtual_channels": "--fewest",
    "missing='skip'": "--skip-missing",
    "paths=True": "--to booksim-paths",
    "rng": "--seed",
    "tables": "--lft",
}


def hint_at(options: Collection[str], words: Sequence[str], extra: Sequence[str]) -> str:
    """Return what words of a command line may be meant for, as the end of a refusal.

    Parameters
    ----------
    options : collection of str
        The options that could follow.
    words : sequence of str
        The words that are neither options nor their values.
    extra : sequence of str
        The last ones of them, which are too many.
    """
    from obliv.bufferless.algorithms import ALGORITHMS
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    files = [word for word in words if os.path.isfile(word)]
    if "--lft" in options and len(files) > 1:
        return f": forwarding tables follow --lft, as in --lft {files[1]}"
    for name, argument in pairwise(words):
        if name in TOPOLOGIES and argument.startswith(tuple("(0123456789")):
            return f": a network is one word, {name}:{argument}"
    if extra and extra[0].partition(":")[0] in PATTERNS:
        return f": what a traffic pattern does to a routing is  obliv throughput {' '.join([*words[:2], extra[0]])}"
    if extra and sum(word.partition(":")[0] in ROUTINGS for word in words[1:]) > 1:
        return ": use obliv compare for several routings"
    algorithms = [word for word in extra if word in ALGORITHMS]
    return f": write -a {algorithms[0]}" if "--algorithm" in options and algorithms else ""


def report_unexpected(error: Exception) -> int:
    """Report an unexpected exception in one line with its place, in a user's file or in obliv."""
    steps = [*traceback.extract_tb(error.__traceback__), *getattr(error, "steps", ())]
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for step in reversed(steps):
        if step.filename not in modules and step.filename.endswith(".py") and os.path.isfile(step.filename):
            return refuse(f"{step.filename}:{step.lineno}: {type(error).__name__}: {error}")
    if os.environ.get("OBLIV_TRACEBACK"):
        traceback.print_exception(error)
    place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
    return refuse(
        f"internal error: {type(error).__name__} at {place}: {error}; "
        "please report it with the command and its input (OBLIV_TRACEBACK=1 prints the traceback)"
    )
