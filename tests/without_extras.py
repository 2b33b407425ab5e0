"""A script of :mod:`tests.test_without_extras`: imports all modules and runs verbs as if no extra were installed.

It reads a JSON list of command lines on standard input, and writes a JSON list of status and messages of each.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from typing import Any


def required() -> set[str]:
    """Return the distributions that a plain install has: obliv, what it requires, what these require."""
    names, todo = set[str](), ["obliv"]
    while todo:
        name = _canonical(todo.pop())
        if name not in names:
            names.add(name)
            with contextlib.suppress(PackageNotFoundError):  # of other systems and versions of Python
                todo += [
                    re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in requires(name) or () if "extra ==" not in line
                ]
    return names


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Plain:
    """A finder of modules that finds those of a plain install only."""

    def __init__(self, finder: Any, missing: set[str]) -> None:
        self.finder, self.missing = finder, missing

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return what the finder finds, but None for a package of an extra."""
        return None if name.partition(".")[0] in self.missing else self.finder.find_spec(name, path, target)


def hide_extras() -> None:
    """Hide from Python all packages that a plain install does not have."""
    plain = required()
    owners = packages_distributions()
    missing = {package for package, names in owners.items() if not plain & {*map(_canonical, names)}}
    sys.meta_path[:] = [Plain(finder, missing) for finder in sys.meta_path]


def modules() -> Iterator[str]:
    """Yield the name of every module of obliv."""
    import obliv

    for module in pkgutil.walk_packages(obliv.__path__, "obliv."):
        if not module.name.endswith("__main__"):
            yield module.name


def imported(name: str) -> str:
    """Import a module, and return why that fails, or nothing."""
    try:
        importlib.import_module(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def ran(words: list[str]) -> tuple[int, str]:
    """Run a command line, and return its status and what it says on standard error."""
    from obliv.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
        status = main(words)
    return status, messages.getvalue()


if __name__ == "__main__":
    hide_extras()
    commands = json.load(sys.stdin)
    verbs = [ran(words) for words in commands]
    problems = {name: problem for name in modules() if (problem := imported(name))}
    json.dump({"modules": problems, "verbs": verbs}, sys.stdout)
