"""The result of checking a fabric: what it is, what is wrong with it, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from obliv._util.text import plural
from obliv.results.base import Result

__all__ = ["FabricCheck"]

_Key = TypeVar("_Key")

_SHOWN = 4  # findings of a kind on a page


@dataclass(frozen=True, repr=False)
class FabricCheck(Result):
    """What a fabric and its forwarding tables are, and what is wrong with them.

    Parameters
    ----------
    endpoints, switches, channels : int
        Channels are cables in one direction.
    findings : tuple of dict
        ``severity`` ("error", "warning" or "note"), ``kind``, ``file``, ``line``, ``message``; errors first. Of very
        many of a severity and kind the last stands for those that are not kept, ``count`` of them.
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
        ``acyclic``, ``dependencies`` and ``cycle``: the ports where its channels begin, None where there is no cycle.
    """

    kind: ClassVar[str] = "fabric-check"
    columns: ClassVar[tuple[str, ...]] = ("severity", "kind", "file", "line", "message")

    endpoints: int = 0
    switches: int = 0
    channels: int = 0
    findings: tuple[dict[str, Any], ...] = ()
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

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind, also where not all are kept."""
        total = _total((finding["kind"], finding) for finding in self.findings)
        return {kind: total[kind] for kind in sorted(total)}

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
            lines.append(("engine", used if asked in (None, used) else f"{used}, {asked} was asked for"))
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
        number = _total((finding["severity"], finding) for finding in self.findings)
        words = [word for word in ("error", "warning", "note") if number[word]]
        return ", ".join(plural(number[word], word) for word in words) or "nothing is wrong"

    def _page(self) -> list[tuple[str, str]]:
        """The findings, of each severity and kind the first few."""
        lines: list[tuple[str, str]] = []
        total = _total(((finding["severity"], finding["kind"]), finding) for finding in self.findings)
        shown: Counter[tuple[str, str]] = Counter()
        last: dict[tuple[str, str], int] = {}
        for finding in self.findings:
            key = finding["severity"], finding["kind"]
            shown[key] += 1
            if shown[key] <= _SHOWN:
                place = f"{finding['file']}:{finding['line']}: " if finding["file"] and finding["line"] else ""
                place = place or (f"{finding['file']}: " if finding["file"] else "")
                lines.append((finding["severity"], f"{place}{finding['message']}"))
                last[key] = len(lines)
        for key, at in sorted(last.items(), key=lambda item: -item[1]):
            if total[key] > _SHOWN:
                lines.insert(at, ("", f"and {total[key] - _SHOWN:,} more of this kind ({key[1]})"))
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
            "finding_counts": self.counts,
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
            shape=made["shape"] or "",
            engine=None if made["engine"] is None else dict(made["engine"]),
            credit=None if made["deadlock"] is None else dict(made["deadlock"]),
            **{name: made[name] for name in numbers},
        )


def _total(keyed: Iterable[tuple[_Key, dict[str, Any]]]) -> Counter[_Key]:
    """How many findings there are under each key; one may stand for several."""
    total: Counter[_Key] = Counter()
    for key, finding in keyed:
        total[key] += finding.get("count", 1)
    return total
