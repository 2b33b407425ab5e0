"""Shared by the tests of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


@pytest.fixture
def shared() -> Path:
    """The folder of sample data beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("the sample data are not here")
    return SHARED


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file and returns its path."""

    def make(content: str | bytes, name: str = "network.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make
