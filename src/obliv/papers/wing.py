"""What the wing adds to obliv: papers' tables and figures beside the published numbers."""

from __future__ import annotations

from obliv.capabilities import capability

__all__: list[str] = []

capability(
    "reproduce",
    "obliv.papers.results",
    summary="Compute a paper's tables beside the published numbers.",
    verb="obliv.papers.cli:reproduce",
)
