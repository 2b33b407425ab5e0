"""InfiniBand fabrics: read what a cluster says of itself, check it, find its worst traffic, route it anew."""

from __future__ import annotations

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
