"""Old names that say what they are called now, for one release."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NoReturn

from obliv.errors import OblivError

__all__ = ["refuse_calls"]


def refuse_calls(module: str, instead: str) -> None:
    """Let calls of a module, which was a decorator once, raise an error that names its successor."""

    class Renamed(ModuleType):
        def __call__(self, *args: Any, **named: Any) -> NoReturn:
            raise OblivError(f"{module} is a package now: register with {instead}")

    sys.modules[module].__class__ = Renamed
