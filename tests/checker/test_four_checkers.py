"""The four checkers of closed claims agree: ``obliv_check.py``, ``verify``, the script of pages, the proved one.

By day of the claims and forgeries written by hand; at night of 10,000 generated claims and 100,000 forgeries of them.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from tests.checker.test_closed import FORGERIES, PAIR, RING, STATEMENTS, WITHIN, answer, ring
from tests.strategies import make_case
from tests.test_proofs import ALLOWED, PARALLEL, TWO, checker
from tests.view.interactive.node import needs_node, verdicts

import obliv
from obliv.checker.closed import check_closed

__all__ = ["checker"]  # a fixture

pytestmark = needs_node
_LOOP = 'for k in $(seq 0 $2); do "$1" $k >/dev/null 2>&1; echo $?; done'


def statuses(claims: list[bytes], checker: Path, folder: Path) -> Iterator[tuple[int, int, int, int]]:
    """Yield what each checker says of each claim: 0 proved, 1 not proved, 2 malformed."""
    for number, claim in enumerate(claims):
        (folder / str(number)).write_bytes(claim)
    loop = ["sh", "-c", _LOOP, "sh", str(checker), str(len(claims) - 1)]
    said = subprocess.run(
        loop, cwd=folder, capture_output=True, text=True, check=True, env={"OBLIV_CHECK_STACK": "raised"}
    )
    of_pages = verdicts([claim.decode("latin-1") for claim in claims], closed=True)
    for number, (claim, page, status) in enumerate(zip(claims, of_pages, said.stdout.split(), strict=True)):
        try:
            verified = 0 if check_closed(folder / str(number)).proved else 1
        except obliv.FileError:
            verified = 2
        by_script = 2 if page["malformed"] else 1 if page["refused"] else 0
        yield answer(claim, folder)[0], verified, by_script, int(status)


def test_claims_by_hand_and_their_forgeries(checker: Path, tmp_path: Path) -> None:
    good = [RING, PAIR, WITHIN, TWO, PARALLEL, ALLOWED, *map(ring, STATEMENTS.values())]
    bad = [text.replace(old, new, 1) if old else text for text, old, new, _ in FORGERIES]
    found = list(statuses([text.encode() for text in (*good, *bad)], checker, tmp_path))
    assert found[: len(good)] == [(0,) * 4] * len(good)
    wanted = [status for _, _, _, status in FORGERIES]
    assert {k: said for k, said in enumerate(found[len(good) :]) if said != (wanted[k],) * 4} == {}


# Generated claims, of all kinds


def _worst(rng: random.Random) -> obliv.Result:
    kind, unequal, subset = rng.choice(["paths", "walks", "hops"]), rng.random() < 0.5, rng.random() < 0.5
    case = make_case(rng, rng.randint(2, 5), rng.randint(0, 6), kind=kind, unequal=unequal, subset=subset)
    return obliv.worst_case(case.routing, certificate=True)


def _network(rng: random.Random, largest: int = 4) -> obliv.Topology:
    links = {tuple(sorted(rng.sample(range(n), 2))) for n in [rng.randint(2, largest)] for _ in range(8)}
    nodes = {node: place for place, node in enumerate(sorted({node for link in links for node in link}))}
    pairs = [(nodes[a], nodes[b]) for a, b in links]
    joined = {node: node for node in nodes.values()}
    for a, b in (*pairs, *((k - 1, k) for k in range(1, len(nodes)))):
        if joined[a] != joined[b]:
            pairs += [] if (a, b) in pairs else [(a, b)]
            joined = {node: joined[a] if one == joined[b] else one for node, one in joined.items()}
    both = [channel for a, b in dict.fromkeys(pairs) for channel in ((a, b), (b, a))]
    network = obliv.build("generated", len(nodes), sorted(both))
    if rng.random() < 0.3:
        rates = [[Fraction(rng.randint(1, 4), rng.randint(1, 3)) for _ in nodes] for _ in range(2)]
        network = network.with_rates(injection=rates[0], ejection=rates[1])
    return network


def _ratio(rng: random.Random) -> obliv.Result:
    return obliv.ratio(obliv.routing(rng.choice(["shortest", "ecmp"]), _network(rng)), certificate=True)


def _design(rng: random.Random) -> obliv.Result:
    options = rng.choice([{}, {"minimal": True}, {"within": "ecmp"}, {"within": "shortest"}, {"paths": 2}])
    return obliv.design(_network(rng), **options)


def _bounds(rng: random.Random) -> obliv.Result:
    return obliv.bounds(_network(rng))


def _failures(rng: random.Random) -> obliv.Result:
    of = rng.choice(["links", "nodes"])
    return obliv.failures(obliv.routing("shortest", _network(rng)), of=of, certificate=True)


ABOUT = (*STATEMENTS, "most", "attains", "failure")
_KINDS: tuple[Callable[[random.Random], obliv.Result], ...] = (_worst, _worst, _ratio, _design, _bounds, _failures)


def forged(rng: random.Random, text: str) -> bytes:
    """Return a claim with one or two changes: mostly a number that is another one, now and then the form."""
    for _ in range(rng.choice([1, 1, 2])):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        if rng.random() < 0.5:  # rows and flows are most of the lines: as often one of the statements
            words = [line.split(" ")[0] for line in lines]
            k = rng.randrange(next((m for m, word in enumerate(words) if word in ABOUT), 0), len(lines))
        word, *numbers = lines[k].split(" ")
        what = rng.random()
        if what < 0.75 and numbers and word not in ("about", "obliv-claim"):
            m = rng.randrange(len(numbers))
            old = int(numbers[m]) if numbers[m].isdigit() else 0
            new = rng.choice([old + 1, old + 1, old - 1, old - 1, 2 * old, 0, rng.randint(0, 9), 10**20])
            numbers[m] = str(max(0, new))
            lines[k] = " ".join([word, *numbers])
        elif what < 0.8 and numbers:
            del numbers[rng.randrange(len(numbers)) :]
            lines[k] = " ".join([word, *numbers])
        elif what < 0.85:
            lines[k] = " ".join([word, *numbers, str(rng.randint(0, 3))])
        elif what < 0.88:
            del lines[k]
        elif what < 0.91:
            lines.insert(rng.randrange(len(lines)), lines[k])
        elif what < 0.94:
            m = rng.randrange(len(lines))
            lines[k], lines[m] = lines[m], lines[k]
        elif what < 0.96:
            lines[k] = " ".join([rng.choice(lines).split(" ")[0], *numbers])
        elif what < 0.98:
            place = rng.randrange(len(text) + 1)
            lines = [text[:place], text[place + rng.randint(0, 2) :]]
            lines = [rng.choice(["", " ", "-", "0", "1", "\r", "x", "\x00", "\xe9"]).join(lines)]
        else:
            lines = [text[: rng.randrange(len(text) + 1)]]
        text = "\n".join(lines)
    return text.encode("latin-1")


def compared(seed: int, claims: int, forgeries: int, checker: Path, folder: Path) -> Counter[tuple[int, int, int, int]]:
    """Return how often the checkers say what of generated claims and of forgeries of each of them."""
    rng, seen = random.Random(seed), Counter[tuple[int, int, int, int]]()
    for start in range(0, claims, 50):
        texts = []
        for k in range(start, min(start + 50, claims)):
            path = folder / "closed.txt"
            assert obliv.verify(_KINDS[k % len(_KINDS)](rng), close=path).proved
            texts.append(path.read_text())
        files = [text.encode() for text in texts]
        files += [forged(rng, text) for text in texts for _ in range(forgeries)]
        for number, (file, said) in enumerate(zip(files, statuses(files, checker, folder), strict=True)):
            assert len(set(said)) == 1, (said, file.decode("latin-1"))
            assert said[0] == 0 or number >= len(texts), file.decode()
            seen[said] += 1
    return seen


def test_some_generated_claims_and_forgeries(checker: Path, tmp_path: Path) -> None:
    seen = compared(1, 12, 10, checker, tmp_path)
    assert all(seen[(status,) * 4] > 5 for status in range(3))


@pytest.mark.nightly
def test_ten_thousand_claims_and_a_hundred_thousand_forgeries(checker: Path, tmp_path: Path) -> None:
    assert compared(42, 10_000, 10, checker, tmp_path).total() == 110_000
