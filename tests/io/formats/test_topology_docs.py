"""The examples of the page on topology files are what it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from obliv.io.formats.topology_file import file

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/formats" / "topology-files.md"
EXAMPLES = {"xml": (2, 2), "gml": (2, 2), "edgelist": (2, 2), "anynet": (6, 10)}


@pytest.mark.parametrize("language", EXAMPLES)
def test_examples(language: str, write: Callable[..., Path]) -> None:
    matches = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(matches) == 1
    topology = file(write(matches[0]))
    assert (topology.nodes, topology.channels) == EXAMPLES[language]
