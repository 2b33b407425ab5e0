"""Memory: how much is free, and the refusal of problems that would not fit."""

from __future__ import annotations

from obliv.errors import TooLargeError

__all__ = ["require_memory"]

_SMALL = 2**14  # bytes that are always granted, as asking the system takes longer than small problems


def require_memory(needed: float, what: str) -> None:
    """Raise TooLargeError, with `what` at the start of its message, unless `needed` bytes fit in the free memory."""
    if needed <= _SMALL:
        return
    free = _free_memory()
    if needed > 0.9 * free:
        raise TooLargeError(
            f"{what} would need about {needed / 2**30:.3g} GiB and {free / 2**30:.3g} GiB are free: "
            "choose a smaller network, or a routing with a compact form"
        )


def _free_memory() -> float:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    return 8.0 * 2**30  # if the system does not say
