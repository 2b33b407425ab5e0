"""The algorithms with a rule as printed in the paper, or with another reading of it: kernels with other parts.

The only modules of the papers, with their kernels, that use more of obliv than a user does: they replace its rules.
"""

from __future__ import annotations

import types
from typing import Any

from obliv.bufferless.frames import Kernels, Stepped
from obliv.bufferless.kernels.halves import forward
from obliv.bufferless.kernels.rounds import prepare
from obliv.bufferless.kernels.steps import simulate_phases
from obliv.kernels import Kernel, kernel
from obliv.papers.bufferless._kernels import at_target, board_early, last_target, never_late

__all__ = ["CENTRALIZED", "DISTRIBUTED", "altered"]


def altered(original: Kernel, label: str, **parts: Any) -> Kernel:
    """Return a kernel with other kernels or constants in place of those it uses, directly or through kernels it calls.

    Parameters
    ----------
    original : Kernel
    label : str
        The end of the new kernel's name, which keeps its machine code apart.
    **parts
        The replacements, by the names that the kernels use.

    Examples
    --------
    >>> from obliv.bufferless.kernels import steps
    >>> closer = altered(steps.simulate_phases, "boats_two_apart", BOAT_SPACING=2)
    >>> closer.python.__name__
    'simulate_phases_boats_two_apart'
    """
    function = original.python
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if name in parts:
            scope[name] = parts[name]
        elif isinstance(scope.get(name), Kernel):
            scope[name] = altered(scope[name], label, **parts)
    copy = types.FunctionType(function.__code__, scope, f"{function.__name__}_{label}", function.__defaults__)
    copy.__module__ = function.__module__
    copy.__qualname__ = copy.__name__
    return kernel(copy)


#: Kernels that run a session of the centralized algorithm with a rule as printed.
CENTRALIZED = {"last target": altered(simulate_phases, "last_target", target=last_target)}


class Early(Stepped):
    """Packets from even inner levels enter at move 1, their boats a move earlier."""

    kernels = Kernels(prepare=altered(prepare, "early", enters_late=never_late, board_at=board_early))


class AtTarget(Stepped):
    """A packet succeeds when it reaches its target, without having crossed the edge to oscillate on."""

    kernels = Kernels(forward=altered(forward, "at_target", settle=at_target))


#: Networks that run the distributed algorithm with another reading of a rule.
DISTRIBUTED: dict[str, type[Stepped]] = {"at target": AtTarget, "early": Early}
