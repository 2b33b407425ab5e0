"""Types that many rooms use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "BoolArray", "FloatArray", "IntArray", "NodeArray"]

#: An array whose dtype depends on the data, such as int64 or Python integers beyond 64 bits.
Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
#: Numbers of nodes, terminals or channels.
NodeArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
