"""The module that registers each built-in name, by kind; the package fills it in when it is imported.

A registry imports only the module of the name that a spec asks for. What these modules are is not known here, since
they lie above this room: see ``obliv._builtin``.
"""

from __future__ import annotations

__all__ = ["MODULES"]

MODULES: dict[str, dict[str, str]] = {"topology": {}, "routing": {}, "traffic": {}}
