"""Pictures and pages of schedules."""
