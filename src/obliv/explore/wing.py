"""What the wing adds to obliv: one network live in the browser."""

from __future__ import annotations

from obliv.capabilities import capability

capability(
    "explore", summary="Show one network live in the browser while you change it.", verb="obliv.explore.cli:explore"
)
