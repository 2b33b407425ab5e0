"""Analyses: functions from pair loads to results."""
