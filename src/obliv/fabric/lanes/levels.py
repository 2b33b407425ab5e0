"""Service levels of pairs: one for all, by destination, or by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.lanes.tables import SLS
from obliv.fabric.model import Finding

__all__ = ["Levels", "one_level", "sls_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Levels:
    """The service levels (SLs) that packets of each pair may have.

    Parameters
    ----------
    name : str
        The file, or ``SL n``.
    masks : uint16 array, shape (1 or endpoints, 1 or LIDs of endpoints)
        Bit s is set where packets of the pair may have SL s; 0 where none is known.
    engine : str
        The routing engine that the file names.
    sources : tuple of (path, SHA-256)
    findings : tuple of Finding
    given : bool
        Whether the user chose the SLs; else all packets are assumed to have SL 0.
    """

    name: str
    masks: Array
    engine: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    given: bool = True

    def __repr__(self) -> str:
        return f"<Levels {self.name}>"


def one_level(sl: int, *, given: bool = True) -> Levels:
    """Return one service level for all pairs.

    Examples
    --------
    >>> one_level(3)
    <Levels SL 3>
    """
    if not 0 <= sl < SLS:
        raise InputError(f"SL {sl} is out of range (0 to {SLS - 1})")
    return Levels(f"SL {sl}", np.array([[1 << sl]], np.uint16), given=given)


def sls_of(mask: int) -> list[int]:
    """Return the service levels of a mask.

    Examples
    --------
    >>> sls_of(0b101)
    [0, 2]
    """
    return [sl for sl in range(SLS) if mask >> sl & 1]
