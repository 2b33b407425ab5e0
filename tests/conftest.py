"""Shared by all tests: how generated tests run (HYPOTHESIS_PROFILE=night draws afresh and ten times as many)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "day",
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("night", settings.get_profile("day"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "day"))
