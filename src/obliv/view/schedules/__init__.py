"""Pictures and animations of schedules."""
