"""What the ranks of a job send, phase by phase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from obliv._util.text import did_you_mean, shown
from obliv._util.typing import Array
from obliv.errors import InputError
from obliv.fabric.jobs import collectives, stencils
from obliv.fabric.jobs.collectives import Phase
from obliv.fabric.jobs.phase_files import read_phases

__all__ = ["PATTERNS", "Pattern", "pattern_of"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The phases of a job.

    Parameters
    ----------
    spec : str
    ranks : int
    phases : sequence of Phase
    sources : tuple of (path, SHA-256)
    """

    spec: str
    ranks: int
    phases: Sequence[Phase]
    sources: tuple[tuple[str, str], ...] = ()


#: The patterns without parameters, by name: functions of the number of ranks.
PATTERNS: dict[str, Callable[[int], list[Phase]]] = {
    "ring": collectives.ring,
    "recursive-doubling": collectives.recursive_doubling,
    "recursive-halving": collectives.recursive_halving,
    "rabenseifner": collectives.rabenseifner,
    "alltoall": collectives.all_to_all,
    "bruck": collectives.bruck,
    "binomial": collectives.binomial,
}
_OTHERS = ("hierarchical", "stencil2d", "stencil3d", "file")


def pattern_of(spec: str, host_of: Array) -> Pattern:
    """Return the phases of a pattern for ranks on hosts.

    Parameters
    ----------
    spec : str
        A name of :data:`PATTERNS`; ``hierarchical``; ``stencil2d`` or ``stencil3d``, also ``stencil2d:8x16`` and
        ``stencil2d:8x16,periodic``; or ``file:PATH``.
    host_of : int array, shape (ranks,)
        The host of every rank, which ``hierarchical`` needs.

    Raises
    ------
    InputError
        If the pattern is unknown or does not fit the number of ranks.

    Examples
    --------
    >>> import numpy as np
    >>> pattern = pattern_of("recursive-doubling", np.arange(8))
    >>> [(phase.name, phase.messages()[1].tolist()) for phase in pattern.phases][1]
    ('exchange 2', [2, 3, 0, 1, 6, 7, 4, 5])
    """
    name, _, options = spec.partition(":")
    ranks = len(host_of)
    if name == "file":
        if not options:
            raise InputError(f"{shown(spec)}: name the file of the phases, as in file:phases.txt")
        phases, digest = read_phases(Path(options), ranks)
        return Pattern(spec, ranks, phases, ((options, digest),))
    if name in ("stencil2d", "stencil3d"):
        return Pattern(spec, ranks, stencils.stencil(spec, ranks))
    if name not in PATTERNS and name != "hierarchical":
        raise InputError(f"unknown job pattern {shown(name)}: {did_you_mean(name, [*PATTERNS, *_OTHERS])}")
    if options:
        raise InputError(f"the job pattern {name} has no parameters: leave out {shown(':' + options)}")
    phases = collectives.hierarchical(host_of) if name == "hierarchical" else PATTERNS[name](ranks)
    return Pattern(spec, ranks, phases)
