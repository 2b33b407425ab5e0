"""Results: frozen values that print, convert, save and draw themselves."""

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
