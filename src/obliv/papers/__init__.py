"""The tables and figures of papers: printed entries, as data, beside the calls that reproduce them.

A paper is a package with a ``PAPER``.

>>> from obliv import papers
>>> for row in papers.reproduce("towles", "figure9").entries:
...     print(row.entry, "|", row.computed, "|", row.verdict)
nodes that are a destination | 81 | match
load on the hottest channel | 32/5 | match
fraction of capacity | 25/144 | rounding
"""

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
