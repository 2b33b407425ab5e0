"""The result of checking a fabric: what it is, what is wrong with it, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from obliv.results.result import Result

__all__ = ["FabricCheck"]

_SHOWN = 4  # findings of a kind on a page


@dataclass(frozen=True, repr=False)
class FabricCheck(Result):
    """What a fabric and its forwarding tables are, and what is wrong with them.

    Parameters
    ----------
    endpoints, switches, channels : int
        Channels are cables in one direction.
    findings : tuple of dict
        ``severity`` ("error", "warning" or "note"), ``kind``, ``file``, ``line``, ``message``; errors first.
    counts : dict
        How many findings there are of each kind, also where not all are kept.
    shape : str
        The fat tree that the fabric is, or nearly is; empty where it is none.
    pairs : int
        Ordered pairs of endpoints.
    unrouted, loops, dead_ends, wrong_ends : int or None
        Pairs that the tables do not serve, and those that go round, stop at a switch, or come to another host; None
        where no tables were given.
    engine : dict or None
        ``used``, ``requested`` and ``failed``, where a log was given.
    credit : dict or None
        ``acyclic``, ``dependencies`` and ``cycle``, the ports where its channels begin.
    """

    kind: ClassVar[str] = "fabric-check"

    endpoints: int = 0
    switches: int = 0
    channels: int = 0
    findings: tuple[dict[str, Any], ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    shape: str = ""
    pairs: int = 0
    unrouted: int | None = None
    loops: int | None = None
    dead_ends: int | None = None
    wrong_ends: int | None = None
    engine: dict[str, Any] | None = None
    credit: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; warnings and notes may be there."""
        return not any(finding["severity"] == "error" for finding in self.findings)

    def of(self, kind: str) -> tuple[dict[str, Any], ...]:
        """The findings of a kind."""
        return tuple(finding for finding in self.findings if finding["kind"] == kind)

    def summary(self) -> list[tuple[str, str]]:
        lines = [
            ("endpoints", f"{self.endpoints:,}"),
            ("switches", f"{self.switches:,}"),
            ("cables", f"{self.channels // 2:,}"),
            ("shape", self.shape or "no fat tree"),
        ]
        if self.engine is not None:
            used, asked = self.engine["used"] or "none", self.engine["requested"]
            lines.append(("engine", _plain(used if asked in (None, used) else f"{used}, {asked} was asked for")))
        if self.unrouted is not None:
            lost = f"{self.unrouted:,} of {self.pairs:,} pairs are not served"
            lines.append(("routes", lost if self.unrouted else f"all {self.pairs:,} pairs are served"))
            for name in ("loops", "dead_ends", "wrong_ends"):
                if count := getattr(self, name):
                    lines.append((name.replace("_", " "), f"{count:,} pairs"))
        if self.credit is not None:
            cycle = self.credit["cycle"]
            text = f"cyclic: {len(cycle)} channels can wait for each other in a circle" if cycle else "acyclic"
            lines.append(("deadlock", f"{text} ({self.credit['dependencies']:,} dependencies, one virtual lane)"))
        lines.append(("verdict", self._verdict()))
        return lines + self._page()

    def _verdict(self) -> str:
        number = {"error": 0, "warning": 0, "note": 0}
        severity = {finding["kind"]: finding["severity"] for finding in reversed(self.findings)}
        for kind, count in self.counts.items():
            number[severity.get(kind, "note")] += count
        parts = [f"{count:,} {word}{'s' if count > 1 else ''}" for word, count in number.items() if count]
        return ", ".join(parts) or "nothing is wrong"

    def _page(self) -> list[tuple[str, str]]:
        """The findings, of each kind the first few."""
        lines: list[tuple[str, str]] = []
        shown: dict[tuple[str, str], int] = {}
        last: dict[tuple[str, str], int] = {}
        for finding in self.findings:
            key = finding["severity"], finding["kind"]
            shown[key] = shown.get(key, 0) + 1
            if shown[key] <= _SHOWN:
                place = f"{finding['file']}:{finding['line']}: " if finding["file"] and finding["line"] else ""
                place = place or (f"{finding['file']}: " if finding["file"] else "")
                lines.append((finding["severity"], _plain(f"{place}{finding['message']}")))
                last[key] = len(lines)
        for key, at in sorted(last.items(), key=lambda item: -item[1]):
            several = [k for k in last if k[1] == key[1]]
            total = self.counts.get(key[1], shown[key]) if len(several) == 1 else shown[key]
            if total > _SHOWN:
                lines.insert(at, ("", f"and {total - _SHOWN:,} more of this kind ({key[1]})"))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from (dict(finding) for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "ok": self.ok,
            "endpoints": self.endpoints,
            "switches": self.switches,
            "channels": self.channels,
            "shape": self.shape or None,
            "findings": [dict(finding) for finding in self.findings],
            "finding_counts": dict(self.counts),
            "pairs": self.pairs,
            "unrouted": self.unrouted,
            "loops": self.loops,
            "dead_ends": self.dead_ends,
            "wrong_ends": self.wrong_ends,
            "engine": None if self.engine is None else dict(self.engine),
            "deadlock": None if self.credit is None else dict(self.credit),
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> FabricCheck:
        """The inverse of :meth:`to_dict`."""
        numbers = ("endpoints", "switches", "channels", "pairs", "unrouted", "loops", "dead_ends", "wrong_ends")
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            findings=tuple(dict(finding) for finding in made["findings"]),
            counts=dict(made["finding_counts"]),
            shape=made["shape"] or "",
            engine=None if made["engine"] is None else dict(made["engine"]),
            credit=None if made["deadlock"] is None else dict(made["deadlock"]),
            **{name: made[name] for name in numbers},
        )


def _plain(text: str) -> str:
    """Text on one line, whatever a file put into it."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
