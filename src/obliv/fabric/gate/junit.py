"""A check of a fabric as JUnit XML, which build servers show."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from obliv import __version__
from obliv._util.rationals import boolean
from obliv._util.text import printable
from obliv.fabric.results.check import FabricCheck, Finding


def junit_of(check: FabricCheck, strict: bool = False) -> str:
    """Return a check as JUnit XML: a test case for each limit and each kind of finding.

    Parameters
    ----------
    check : FabricCheck
    strict : bool
        Whether warnings are failures, too.
    """
    strict = boolean(strict, "strict")
    failing = ["error", *(["warning"] if strict else [])]
    by_kind: dict[str, list[Finding]] = {}
    for finding in check.findings:
        if finding.kind not in ("limit", "plan"):
            by_kind.setdefault(finding.kind, []).append(finding)
    suite = ET.Element("testsuite", name="obliv fabric check")
    cases = failures = 0
    for limit in check.limits:
        case = ET.SubElement(suite, "testcase", classname="obliv.fabric.limits", name=_clean(limit.name))
        cases += 1
        if not limit.kept:
            failures += 1
            told = [
                one for one in check.findings if one.kind == ("plan" if limit.name in ("plan", "cables") else "limit")
            ]
            text = f"{limit.name} = {limit.limit}, found {limit.found}"
            _fail(case, text, [one for one in told if one.kind == "plan" or one.message.startswith(f"{limit.name} = ")])
    for kind, findings in by_kind.items():
        case = ET.SubElement(suite, "testcase", classname="obliv.fabric.check", name=_clean(kind))
        cases += 1
        wrong = [finding for finding in findings if finding.severity in failing]
        if wrong:
            failures += 1
            _fail(case, wrong[0].text, wrong)
        else:
            ET.SubElement(case, "system-out").text = _clean("\n".join(finding.text for finding in findings))
    if not cases:
        ET.SubElement(suite, "testcase", classname="obliv.fabric.check", name="no problems found")
        cases = 1
    suite.set("tests", str(cases))
    suite.set("failures", str(failures))
    suite.set("errors", "0")
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _fail(case: ET.Element, message: str, findings: Iterable[Finding]) -> None:
    failure = ET.SubElement(case, "failure", message=_clean(message))
    failure.text = _clean("\n".join(finding.text for finding in findings))


def _clean(text: str) -> str:
    """Return text without the characters that XML cannot contain."""
    return "\n".join(printable(line) for line in text.split("\n"))


# A check of a fabric as SARIF 2.1.0, which code hosts show beside files


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
