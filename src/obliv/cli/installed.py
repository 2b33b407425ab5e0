"""What is installed, for reports of bugs: ``obliv --version --verbose``."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from obliv._util.executors import cores

__all__ = ["installed"]


def installed() -> str:
    """Return Python, platform, cores and the versions of all packages that obliv can use, a line each."""
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
    try:
        required = requires("obliv") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        required = []
    names = dict.fromkeys(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in required)
    return [name for name in names if name != "obliv"]


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
