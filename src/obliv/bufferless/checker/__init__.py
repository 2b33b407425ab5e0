"""The check of schedules, move by move."""
