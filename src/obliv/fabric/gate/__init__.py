"""Limits that a fabric has to keep, and its planned cabling."""
