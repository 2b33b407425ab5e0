"""Run the scripts of pages in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from obliv.view.interactive.fragment import PROOF_FILES, asset

NODE = shutil.which("node")
_LOOP = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean);
for (const line of lines) console.log(JSON.stringify(%s.check(JSON.parse(line))));
"""

needs_node = pytest.mark.skipif(NODE is None, reason="the script is run by node, which is not installed")


def verdicts(payloads: list[Any], *, closed: bool = False) -> list[dict[str, Any]]:
    """What the script of a page says about each payload, or about the text of each closed claim."""
    files, checks = ((*PROOF_FILES, "closed.js"), "OblivClosed") if closed else (PROOF_FILES, "OblivProof")
    program = "\n".join([*map(asset, files), _LOOP % checks])
    text = "\n".join(json.dumps(payload) for payload in payloads)
    done = subprocess.run([str(NODE), "-e", program], input=text, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
