"""Forged claims: none is proved, and none makes the checker crash, hang or take much memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.checker.forging import KINDS, attack, honest_claims


def _attack(kinds: tuple[str, ...], count: int, seed: int, folder: Path, step: int = 1) -> None:
    figures = attack(list(honest_claims(folder, kinds, step)), count, seed, folder)
    assert figures.forged > 0.9 * count
    assert not figures.proved
    assert not figures.crashed
    assert not figures.slow
    assert not figures.large


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_forged_claims(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _attack((kind,), 10, 1, tmp_path, step=7)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_a_hundred_thousand_forged_claims(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    _attack(KINDS, 5000, seed, tmp_path)
