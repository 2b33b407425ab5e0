"""Limits that a fabric has to keep, cabling plans, and reports for other programs."""
