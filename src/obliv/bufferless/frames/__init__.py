"""The centralized and the distributed frame algorithm, in parts: constants, plans, rides, and runs step by step."""

from __future__ import annotations

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
