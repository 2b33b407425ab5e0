"""The check of schedules of packets."""
