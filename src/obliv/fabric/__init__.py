"""InfiniBand fabrics: read the files of a cluster, check them, find the worst traffic, compute new tables."""

from __future__ import annotations

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
