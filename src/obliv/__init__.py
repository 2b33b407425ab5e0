"""Oblivious routing in interconnection networks: exact worst-case traffic with proofs.

>>> import obliv
>>> topology = obliv.topology("torus:9x9")
>>> obliv.worst_case(obliv.routing("romm", topology)).channel_load
Fraction(32, 5)
"""

from __future__ import annotations

import sys

from obliv import _builtin as _builtin
from obliv._util.lazy import OldNames, attach
from obliv._version import __version__ as __version__

if OldNames not in sys.meta_path:
    sys.meta_path.append(OldNames)
__getattr__, __dir__ = attach(__name__, __file__)
