"""The example package of a plug-in: its checks pass, and its names work once it is installed."""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import obliv

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "examples" / "plugin"
_NO_NETWORK = re.compile(r"failed to fetch|dns error|error sending request|network|offline|timed out", re.IGNORECASE)


def test_its_own_tests_pass_without_installing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PLUGIN / "src")
    try:
        tests = runpy.run_path(str(PLUGIN / "tests" / "test_skip_rings.py"))
        checks = [test for name, test in tests.items() if name.startswith("test_")]
        assert len(checks) == 3
        for check in checks:
            check()
        groups = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
        assert sorted(groups) == ["obliv.patterns", "obliv.routings", "obliv.topologies"]
        for names in groups.values():
            for place in names.values():
                module, _, attribute = place.partition(":")
                assert callable(getattr(importlib.import_module(module), attribute))
        with pytest.raises(obliv.TopologyError, match="skip 9"):
            importlib.import_module("obliv_skip_rings").skip_ring(8, 9)
    finally:
        sys.modules.pop("obliv_skip_rings", None)


@pytest.mark.nightly
def test_its_names_work_once_it_is_installed(tmp_path: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=bare, check=False)

    environment = tmp_path / "env"
    assert run(uv, "venv", "--python", sys.executable, str(environment)).returncode == 0
    python = str(environment / "bin" / "python")
    installed = run(uv, "pip", "install", "--python", python, str(ROOT), str(PLUGIN))
    if installed.returncode and _NO_NETWORK.search(installed.stderr):
        pytest.skip("packages cannot be fetched: no network")
    assert installed.returncode == 0, installed.stderr

    worst = run(python, "-m", "obliv", "worst", "skip-ring:9,3", "express")
    assert "channel load" in worst.stdout, worst.stderr
    throughput = run(python, "-m", "obliv", "throughput", "skip-ring:9,3", "express", "opposite")
    assert "mean hops 2" in throughput.stdout, throughput.stderr
    assert "skip-ring" in run(python, "-m", "obliv", "list", "topologies").stdout
    by_names = "import obliv; obliv.testing.check_routing('express', 'skip-ring:8,3')"
    assert run(python, "-c", by_names).returncode == 0
