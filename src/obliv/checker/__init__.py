"""Checks of saved claims, by code that shares nothing with what made them: ``obliv.verify(path)``."""
