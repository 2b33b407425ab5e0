"""Pictures and tables of results.  Drawing needs matplotlib, which is loaded when something is drawn."""

from __future__ import annotations

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
