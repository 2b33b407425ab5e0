"""Oblivious routing in interconnection networks: exact worst-case traffic with proofs.

>>> import obliv
>>> topology = obliv.topology("torus:9x9")
>>> obliv.worst_case(obliv.routing("romm", topology)).channel_load
Fraction(32, 5)
"""

from __future__ import annotations

import sys

from obliv import _builtin as _builtin
from obliv._util.lazy import attach

__version__ = "0.2.0"


class _OldNames:
    """The last finder of modules: it refuses those of the previous release by their new names."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for a module that was renamed; called for missing modules only."""
        if name.startswith("obliv."):
            from obliv._old_names import successor

            if (new := successor(name)) and new != name:
                raise ModuleNotFoundError(f"{name} is called {new} now; what is public is in obliv itself", name=name)


if not any(finder.__name__ == "_OldNames" for finder in sys.meta_path if isinstance(finder, type)):
    sys.meta_path.append(_OldNames)
__getattr__, __dir__ = attach(__name__, __file__)
