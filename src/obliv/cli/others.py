"""Verbs that go beyond one question: list; and what is installed."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Literal

import typer

from obliv.cli.output import Answer, require_outputs


def list_(
    what: Annotated[
        Literal["topologies", "routings", "traffic", "patterns"],
        typer.Argument(metavar="topologies|routings|traffic", help="What to list; patterns is the same as traffic."),
    ],
    answer: Answer,
) -> None:
    """List the topologies, routings or traffic patterns.

    Example: obliv list routings
    """
    from obliv.results.base import Listing, Name
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    require_outputs(answer.output)
    what = "traffic" if what == "patterns" else what
    registry = {"topologies": TOPOLOGIES, "routings": ROUTINGS, "traffic": PATTERNS}[what]
    names = tuple(Name(entry.name, entry.example, tuple(entry.aliases), entry.summary) for entry in registry)
    answer.show(Listing(what=what, names=names))


# What is installed, for reports of bugs: ``obliv --version --verbose``


def installed() -> str:
    """Return Python, platform, cores and the versions of all packages that obliv can use, a line each."""
    import platform

    from obliv._util.executors import cores

    lines = [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("platform", platform.platform()),
        ("cores", str(cores())),
        ("encoding", f"{sys.stdout.encoding}, file names {sys.getfilesystemencoding()}"),
    ]
    lines += [(name, _version_of(name) or "not installed") for name in _packages()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in lines)


def _packages() -> list[str]:
    """Return the names of the required packages, then of those of extras, each once."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("obliv") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        required = []
    names = dict.fromkeys(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in required)
    return [name for name in names if name != "obliv"]


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""
