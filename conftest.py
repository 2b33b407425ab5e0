"""For tests and examples alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Figures that stay open are a warning after the twentieth, in whatever test that happens to be."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
