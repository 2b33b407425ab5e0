"""What is installed, for reports of bugs: ``obliv --version --verbose``."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version

__all__ = ["installed"]


def installed() -> str:
    """Return Python, platform, cores and the versions of all packages that obliv can use, a line each."""
    lines = [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("platform", platform.platform()),
        ("cores", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())),
        ("encoding", f"{sys.stdout.encoding}, file names {sys.getfilesystemencoding()}"),
    ]
    lines += [(name, _version_of(name) or "not installed") for name in _packages()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in lines)


def _packages() -> list[str]:
    """Return the names of the required packages, then of those of extras, each once."""
    names: dict[str, None] = {}
    try:
        required = requires("obliv") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        required = []
    for requirement in required:
        name = requirement.replace("[", " ").split(";")[0].strip()
        for end in " <>=!~(":
            name = name.split(end)[0]
        if name != "obliv":
            names[name] = None
    return list(names)


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
