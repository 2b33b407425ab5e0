from __future__ import annotations

from collections.abc import Iterator

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    yield
    from matplotlib import pyplot

    pyplot.close("all")
