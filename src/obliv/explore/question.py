"""What a page asks: a network, a routing, traffic and failures, from JSON that may hold anything."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from obliv._util.files import RepeatedKeyError, unlike_keys
from obliv._util.text import did_you_mean
from obliv.errors import InputError

#: What can be computed, in the order in which it is: the quickest and most wanted first.
PARTS = ("network", "worst", "hops", "traffic", "deadlock", "average", "proof", "claim", "names")

_LONGEST = 2_000  # letters of a spec
_MOST = 200  # patterns, or failures
_MOST_SAMPLES = 10_000_000


@dataclass(frozen=True)
class Question:
    """What a page asks: specs, what failed, options of the parts, the parts that it wants, and which page it is."""

    topology: str = "mesh:8x8"
    routing: str = "ecmp"
    traffic: tuple[str, ...] = ("uniform",)
    failed: tuple[str, ...] = ()
    largest: bool = False
    scheme: str = "none"
    samples: int = 10_000
    seed: int = 0
    want: tuple[str, ...] = PARTS[:7]
    page: str = ""

    @property
    def spec(self) -> str:
        """The spec of the network after the failures."""
        if not self.failed:
            return self.topology
        inner = f"({self.topology})" if "," in self.topology else self.topology
        return f"damaged:{inner},{','.join(self.failed)}" + ",component=largest" * self.largest


def question_of(body: bytes) -> Question:
    """Return the question in the JSON text of a page.

    Examples
    --------
    >>> question_of(b'{"topology": "mesh:4x4", "failed": ["0-1"]}').spec
    'damaged:mesh:4x4,0-1'
    """
    try:
        data = json.loads(body, object_pairs_hook=unlike_keys)
    except RepeatedKeyError as error:
        raise InputError(f"the question is not valid JSON: {error}") from None
    except (ValueError, RecursionError):
        raise InputError("the question is not JSON") from None
    if not isinstance(data, Mapping):
        raise InputError("the question is not a JSON object")
    known = {field.name: field for field in fields(Question)}
    values = {}
    for name, value in data.items():
        if name not in known:
            raise InputError(f"unknown key {name[:40]!r}: {did_you_mean(name[:40], known)}")
        values[name] = _checked(name, value, known[name].default)
    question = Question(**values)
    if unknown := [part for part in question.want if part not in PARTS]:
        raise InputError(f"unknown part {unknown[0][:40]!r}: {did_you_mean(unknown[0][:40], PARTS)}")
    return question


def _checked(name: str, value: Any, like: Any) -> Any:
    """Return a value of the type of the default `like`."""
    if isinstance(like, tuple):
        if not isinstance(value, list) or len(value) > _MOST:
            raise InputError(f"{name} is not a list of up to {_MOST} texts")
        return tuple(_checked(name, entry, "") for entry in value)
    if type(value) is not type(like):
        raise InputError(f"{name} is {str(value)[:40]!r}: a value like {like!r} is needed")
    if isinstance(value, str):
        if len(value) > _LONGEST:
            raise InputError(f"{name} has {len(value):,} letters; up to {_LONGEST:,} are allowed")
        return value.strip()
    if type(value) is int and not 0 <= value <= _MOST_SAMPLES:
        raise InputError(f"{name} is {value}; it must be 0 to {_MOST_SAMPLES:,}")
    return value


def commands(question: Question, imports: Sequence[str] = ()) -> dict[str, str]:
    """Return the command that reproduces each part, and the one that opens this page again."""
    network, routing = shlex.quote(question.spec), shlex.quote(question.routing)
    patterns = " ".join(map(shlex.quote, question.traffic))
    scheme = "" if question.scheme == "none" else f" --vc {shlex.quote(question.scheme)}"
    seed = f" --seed {question.seed}" if question.seed else ""
    lines = {
        "worst": f"obliv worst {network} {routing}",
        "hops": f"obliv compare {network} {routing}",
        "deadlock": f"obliv deadlock {network} {routing}{scheme}",
        "explore": f"obliv explore {network} {routing}"
        + "".join(f" --traffic {shlex.quote(pattern)}" for pattern in question.traffic),
    }
    if patterns:
        lines["traffic"] = f"obliv throughput {network} {routing} {patterns}"
    if question.samples:
        lines["average"] = f"obliv average {network} {routing} --samples {question.samples}{seed}"
    files = "".join(f" --import {shlex.quote(path)}" for path in imports)
    return {part: line + files for part, line in lines.items()}
