"""The scripts and the style sheet of interactive networks, as text to be embedded in a page."""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["PROOF_FILES", "SCRIPT_FILES", "asset", "script", "style"]

PROOF_FILES = ("proof.js",)
SCRIPT_FILES = (*PROOF_FILES, "drawing.js", "details.js", "network.js")  #: In the order in which they need each other.


@cache
def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return resources.files("obliv.view.interactive").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """Return all scripts; they define ``OblivNetwork`` and ``OblivProof`` and contact nobody."""
    return "\n".join(map(asset, SCRIPT_FILES))


def style() -> str:
    """Return the style sheet; its rules apply inside elements of the class ``obliv-network`` only."""
    return asset("network.css")
