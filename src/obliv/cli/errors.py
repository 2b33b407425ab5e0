"""Errors as one line on standard error, each with its exit status."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from obliv._util.text import printable

__all__ = ["Stopped", "complain", "refuse", "refuse_usage", "report_unexpected"]


class Stopped(BaseException):
    """Raised for Ctrl-C after the finished part was printed; typer would handle a KeyboardInterrupt itself."""


def complain(message: str) -> None:
    """Print a line on standard error, if that is open."""
    if sys.stderr is not None:
        print(message, file=sys.stderr)


def refuse(message: str) -> int:
    """Print an error in one line, with control characters escaped, and return the exit status 2."""
    complain("obliv: " + printable(" ".join(message.split())))
    return 2


def refuse_usage(error: Any, words: Sequence[str]) -> int:
    """Print an error in the command line, with the help of the verb that it is about, and return the exit status 2."""
    message, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    command = context.command_path if context is not None else " ".join(["obliv", *_verb(words)])
    if context is not None and any("--lft" in parameter.opts for parameter in context.command.params):
        message += _tables_hint(words)
    unknown = re.match("No such command '(.*?)'", message)
    if unknown and unknown[1] == "version" and context is not None and context.parent is None:
        message = "No such command 'version': write obliv --version"
    elif unknown and context is not None and (":" in unknown[1] or "." in unknown[1] or Path(unknown[1]).exists()):
        message += f": write {', '.join(context.command.list_commands(context))} before it"
    elif unknown and context is not None and context.parent is not None and "Did you mean" not in message:
        message += f": choose {', '.join(context.command.list_commands(context))}"
    if message.startswith("Got unexpected extra argument"):
        message += _spec_hint(words) or _routing_hint(words) or _algorithm_hint(words)
    if (option := re.match("No such option: --(\\w+)", message)) and context is not None:
        message = _format_hint(option[1], context.command) or message
    message = re.sub("not a valid int(eger)?( range)?$", "not a whole number", message)
    message = re.sub("not a valid float( range)?$", "not a number", message)
    return refuse(f"{message} (see {command} --help)")


def _verb(words: Sequence[str]) -> list[str]:
    from obliv.cli.app import VERBS

    return [word for word in words[:1] if word in VERBS]


def _routing_hint(words: Sequence[str]) -> str:
    """Return where several routings are compared, if a verb of one routing is given more."""
    from obliv.specs.registry import ROUTINGS

    routings = [word for word in words[2:] if word.partition(":")[0] in ROUTINGS]
    return ": use obliv compare for several routings" if len(routings) > 1 else ""


def _algorithm_hint(words: Sequence[str]) -> str:
    """Return the option of the algorithm, if `bufferless` is given one without it."""
    from obliv.bufferless.algorithms import ALGORITHMS

    named = [word for word in words[2:] if word in ALGORITHMS] if words[0] == "bufferless" else []
    return f": write -a {named[0]}" if named else ""


def _format_hint(name: str, command: Any) -> str:
    """Return the refusal of an option that is named like a format of the answer."""
    formats = [getattr(parameter.type, "choices", ()) for parameter in command.params if "--format" in parameter.opts]
    return f"No such option: --{name}: write --format {name}" if any(name in known for known in formats) else ""


def _spec_hint(words: Sequence[str]) -> str:
    """Return a hint at the colon if a name is followed by what looks like its argument, as in ``mesh 4x4``."""
    from obliv.specs.registry import TOPOLOGIES

    for name, argument in pairwise(words):
        if name in TOPOLOGIES and re.match(r"[\d(]", argument):
            return f": a network is one word, {name}:{argument}"
    return ""


def _tables_hint(words: Sequence[str]) -> str:
    """Return a hint at ``--lft`` if a second file is given to a verb of fabrics without it."""
    if any(word.split("=")[0] == "--lft" for word in words):
        return ""
    files = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and not before.startswith("-") and Path(word).is_file()
    ]
    return f": forwarding tables follow --lft, as in --lft {files[1]}" if len(files) > 1 else ""


def report_unexpected(error: Exception) -> int:
    """Report an unexpected exception in one line with its place, in a user's file or in obliv."""
    steps = traceback.extract_tb(error.__traceback__)
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for step in reversed(steps):
        if step.filename not in modules and step.filename.endswith(".py") and Path(step.filename).is_file():
            return refuse(f"{step.filename}:{step.lineno}: {type(error).__name__}: {error}")
    if os.environ.get("OBLIV_TRACEBACK"):
        traceback.print_exception(error)
    place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
    return refuse(
        f"internal error: {type(error).__name__} at {place}: {error}; "
        "please report it with the command and its input (OBLIV_TRACEBACK=1 prints the traceback)"
    )
