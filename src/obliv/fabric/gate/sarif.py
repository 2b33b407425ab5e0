"""A check of a fabric as SARIF 2.1.0, which code hosts show beside files."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from obliv import __version__
from obliv.results.fabric.check import FabricCheck, Finding

__all__ = ["sarif_of"]


def sarif_of(check: FabricCheck) -> str:
    """Return the findings of a check as SARIF, each with its file, line, switch and port."""
    kinds = sorted({finding.kind for finding in check.findings})
    driver = {
        "name": "obliv",
        "version": __version__,
        "rules": [{"id": kind, "shortDescription": {"text": kind.replace("-", " ")}} for kind in kinds],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(finding, kinds.index(finding.kind)) for finding in check.findings],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.message or finding.kind},
    }
    if finding.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
        if finding.line:
            place["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": place}]
    named = {key: value for key in ("guid", "switch", "port", "peer") if (value := getattr(finding, key)) is not None}
    if finding.count > 1:
        named["count"] = finding.count
    if named:
        result["properties"] = named
    return result


def _uri(path: str) -> str:
    """Return a path as a URI reference: relative ones stay relative."""
    return Path(path).as_uri() if PurePath(path).is_absolute() else quote(PurePath(path).as_posix())
