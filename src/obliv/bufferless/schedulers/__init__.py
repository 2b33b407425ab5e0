"""Scheduling algorithms without frames."""
