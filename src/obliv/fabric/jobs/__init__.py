"""Jobs on a fabric: where their ranks run, what they send phase by phase, and better orders of ranks."""
