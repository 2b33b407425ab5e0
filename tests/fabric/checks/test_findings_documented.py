"""Every kind of finding stands in the table of the documentation, and nothing else does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import obliv.fabric

SOURCE = Path(obliv.fabric.__file__).parent
DOCS = Path(__file__).parents[3] / "docs/reference/findings.md"


def texts(tree: ast.AST) -> Iterator[str]:
    """All texts that stand in the code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_table_of_findings() -> None:
    words = {text for path in SOURCE.rglob("*.py") for text in texts(ast.parse(path.read_text()))}
    words |= {"lid-mismatch"}  # made of two parts
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| (?:error|warning|note)", DOCS.read_text(), re.MULTILINE)
    messages = {kind for row in rows for kind in re.findall(r"`([a-z-]+)`", row)}
    assert not messages - words, "kinds that the code does not know"
    calls = re.compile(r'"(?:error|warning|note)",\s*"([a-z]+(?:-[a-z]+)*)"')
    emitted = {
        kind
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "results"
        for kind in calls.findall(path.read_text())
    }
    assert len(emitted) > 40
    assert not emitted - messages, "kinds that the table lacks"
