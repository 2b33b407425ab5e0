"""What the wing adds to obliv: leveled networks, and schedules of packets on them."""

from __future__ import annotations

from obliv.capabilities import capability
from obliv.specs import MODULES

__all__: list[str] = []

_FAMILIES = (
    "butterfly leveled-mesh array leveled-hypercube random-leveled deep multibutterfly unrolled-fattree "
    "unrolled-debruijn unrolled-shuffle"
)
MODULES["topology"].update(dict.fromkeys(_FAMILIES.split(), "obliv.bufferless.leveled.families"))
MODULES["topology"]["leveled-file"] = "obliv.bufferless.leveled.files"

capability(
    "bufferless",
    "obliv.bufferless.results",
    summary="Schedule packets on a leveled network and check every move.",
    verb="obliv.bufferless.cli:bufferless",
    check="obliv.bufferless.checker.claims:check_saved",
    draw="obliv.bufferless.pictures.draw:plot_schedule",
    measure="obliv.bufferless.api:MEASURE",
)
