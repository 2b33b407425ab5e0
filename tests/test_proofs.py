"""The checker that Coq has proved right, on closed claims written by hand.

The claims are small enough to follow with pencil and paper; each is refused with one number changed, unless it is still
true then: those changes are listed with the reason.
"""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[1] / "proofs"
SOURCES = sorted(path for path in PROOFS.glob("*") if path.suffix in (".v", ".ml") or path.name == "Makefile")

# Two nodes, a channel each way; the flow of pair (i, j) is the only one there is. Under the permutation 0 -> 1, 1 -> 0
# every channel has load 1; prices 0 prove that no traffic loads it more, since each row and column sums to at most 1.
# Every routing: both channels have weight 1 and all the traffic of their pair, whose distance in these lengths is 1.
TWO = """\
obliv-claim 1
about two nodes
nodes 2
channel 0 1 1
channel 1 0 1
terminal 0 1 1
terminal 1 1 1
row 1 1 1
row 0 1 1
unit 1
flow 0 1 0
flow 1 1 1
most 1 1
price
bound 0
bound 0
attains 1 1 0 1
traffic 0 1 0 1 1 1
least 1 1
adversary 0 1 0 1 0
adversary 1 1 1 1 1
potential 1 1 0
potential 0 1 1
ratio 1 1
lengths 1 0 1 1
distance 0 1 0
lengths 1 1 1 1
distance 1 1 1
ratio-attained 1 1 0 1
traffic 0 1 0
carrier 0 1 1
carried 1 1 1
traffic 0 1 0
carrier 0 1 1
blocked 1 1 1
traffic 0 1 0
lengths 1 0 1 1
distance 0 1 0
cut 1
side 0 1 1
end
"""

# Three nodes in a ring, one direction: channels 0 -> 1 -> 2 -> 0. Pair (i, i+2) uses two channels. Channel 0 is used by
# the pairs (0, 1), (0, 2), (2, 1): a permutation takes at most two of them, 0 -> 2 and 2 -> 1. With v_1 = 1, source 0
# keeps 1 (pair (0, 2)) and source 2 keeps 0: 1 + 1 = 2. The map j -> j - 1 carries these prices: v(j) = price(j - c).
RING = """\
obliv-claim 1
nodes 3
channel 0 1 1
channel 1 2 1
channel 2 0 1
terminal 0 1 1
terminal 1 1 1
terminal 2 1 1
row 1 2 1
row 1 1 1
row 2 1 1
row 0 1 1 2 1 1
row 0 1 1
row 0 2 1
unit 1
flow 0 1 0 2 1 1
flow 0 1 2 1 1 3
flow 1 1 4 2 1 5
most 2 1
price 1 1 1
map 2 0 1
bound 0
bound 0 0
bound 0 0 0
attains 2 1 0 1
traffic 0 1 2 2 1 1
end
"""

# Two edges in a row, 0 - 1 - 2. Packet 0 goes 0 -> 1 -> 2; packet 1 follows one step behind, is pushed back from node 1
# over edge 0 (move 2*0 + 1) in the step in which packet 2 comes over it the other way, and then goes through.
LEVELS = """\
obliv-claim 1
nodes 3
channel 0 1 1
channel 1 2 1
schedule 5
levels 0 1 2
packet 0 2 0 0 2
packet 0 2 1 0 1 0 2
packet 0 2 2 0 2
end
"""

# Two channels 0 -> 1 that share the flow of their pair, one back. Without channel 1, channel 0 carries all; without
# channel 2, nothing goes from 1 to 0, and the shared pair loads two channels by 1/2 each.
PARALLEL = """\
obliv-claim 1
nodes 2
channel 0 1 1
channel 0 1 1
channel 1 0 1
terminal 0 1 1
terminal 1 1 1
row 1 1 1
row 0 1 2
row 1 1 2
row 0 1 1
unit 2
flow 0 1 0
flow 0 1 0
flow 1 1 1
attains 1 2 0 1
traffic 0 1 0
failure
removed 1 1 1
changed 0 0 1 2
changed 1
attains 1 1 0 1
traffic 0 1 0
failure
removed 2 1 1
lost 1 1 3
changed 2
most 1 2
price
bound 0
bound 0
bound 0
end
"""

# The same network. If the pair (0, 1) may use channel 0 only, every routing loads it by 1 (without that line, the
# distance is 0: channel 1 has no length), and so does this one, which keeps to it.
ALLOWED = """\
obliv-claim 1
nodes 2
channel 0 1 1
channel 0 1 1
channel 1 0 1
terminal 0 1 1
terminal 1 1 1
row 1 1 1
row 0 1 1
row 2 1 1
row 1 1 2
row 0 2 1
unit 1
flow 0 1 0
flow
flow 1 1 1
most 1 1
price
bound 0
bound 0
bound 0
least 1 1
adversary 0 1 0 1 0
allowed 1 1 1
allowed 0 1 2
potential 1 1 0
potential
end
"""


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the checker: that of OBLIV_CHECK, one built already, or one built now from a copy of the sources."""
    if given := os.environ.get("OBLIV_CHECK"):
        return Path(given)
    built = PROOFS / "obliv-check"
    if built.exists() and all(built.stat().st_mtime > source.stat().st_mtime for source in SOURCES):
        return built
    if not all(shutil.which(program) for program in ("coqc", "ocamlfind", "make")):
        pytest.skip("coqc, ocamlfind or make is not there")
    if subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, check=False).returncode:
        pytest.skip("zarith for OCaml is not there")
    copy = tmp_path_factory.mktemp("proofs")
    for source in SOURCES:
        shutil.copy(source, copy)
    subprocess.run(["make", "--silent", "obliv-check"], cwd=copy, check=True, timeout=600)
    return copy / "obliv-check"


def run(checker: Path, path: Path) -> tuple[int, str, str]:
    done = subprocess.run([checker, path], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "claim", "statements"),
    [("two", TWO, 8), ("ring", RING, 2), ("levels", LEVELS, 1), ("parallel", PARALLEL, 3), ("allowed", ALLOWED, 2)],
)
def test_claims_by_hand_are_proved(checker: Path, tmp_path: Path, name: str, claim: str, statements: int) -> None:
    path = tmp_path / f"{name}.txt.gz"
    path.write_bytes(gzip.compress(claim.encode()))
    status, said, error = run(checker, path)
    assert (status, error) == (0, "")
    assert f"{len(claim.encode()):,} bytes, SHA-256 {hashlib.sha256(claim.encode()).hexdigest()}" in said
    assert len(re.findall("^proved: ", said, re.MULTILINE)) == statements


def forgeries(claim: str) -> list[tuple[str, str, str]]:
    """Return each claim with one number of a statement or of the flows one larger or one smaller."""
    lines, found = claim.splitlines(), []
    for k, line in enumerate(lines):
        word, *numbers = line.split(" ")
        if word in ("obliv-claim", "about"):
            continue
        for m, number in enumerate(numbers):
            for other in {int(number) + 1, max(0, int(number) - 1)} - {int(number)}:
                changed = " ".join([word, *numbers[:m], str(other), *numbers[m + 1 :]])
                found.append((line, changed, "\n".join([*lines[:k], changed, *lines[k + 1 :], ""])))
    return found


# What is true all the same with one number changed, and why.
STILL_TRUE = {
    # a node more, without channels
    ("nodes 2", "nodes 3"),
    ("nodes 3", "nodes 4"),
    # a terminal may receive more, where the other one sends no more; or less, where the witness has nothing for it
    ("terminal 0 1 1", "terminal 0 1 2"),
    ("terminal 1 1 1", "terminal 1 1 2"),
    ("terminal 0 1 1", "terminal 0 1 0"),
    ("terminal 1 1 1", "terminal 1 0 1"),
    # channels that no bound is tight on, or whose bandwidth does not matter to a schedule
    ("channel 1 2 1", "channel 1 2 2"),
    ("channel 2 0 1", "channel 2 0 2"),
    ("channel 0 1 1", "channel 0 1 2"),
    # weaker statements
    ("most 1 1", "most 2 1"),
    ("most 2 1", "most 3 1"),
    ("least 1 1", "least 0 1"),
    ("least 1 1", "least 1 2"),
    ("ratio 1 1", "ratio 2 1"),
    ("carried 1 1 1", "carried 2 1 1"),
    ("carried 1 1 1", "carried 1 1 2"),  # half the traffic, half the carrier
    ("blocked 1 1 1", "blocked 0 1 1"),
    ("blocked 1 1 1", "blocked 1 2 1"),
    ("schedule 5", "schedule 6"),
    # the other channel is loaded as much
    ("attains 1 1 0 1", "attains 1 1 1 1"),
    # what a terminal sends to itself; a potential for one that sends nothing; the scale of lengths where it cancels
    ("traffic 0 1 0", "traffic 0 2 0"),
    ("distance 0 1 0", "distance 0 2 0"),
    ("lengths 1 0 1 1", "lengths 2 0 1 1"),
    # the other side, and any value > 0
    ("side 0 1 1", "side 1 1 1"),
    ("side 0 1 1", "side 0 1 2"),
    # other prices of the same sum; a map need not be a permutation
    ("price 1 1 1", "price 1 2 1"),
    ("price 1 1 1", "price 1 1 0"),
    ("map 2 0 1", "map 2 0 0"),
    ("map 2 0 1", "map 2 0 2"),
}


@pytest.mark.parametrize("claim", [TWO, RING, LEVELS], ids=["two", "ring", "levels"])
def test_a_claim_with_one_number_changed_is_refused(checker: Path, tmp_path: Path, claim: str) -> None:
    path, accepted = tmp_path / "claim.txt", set()
    for line, changed, forged in forgeries(claim):
        path.write_text(forged)
        status, _, error = run(checker, path)
        if status == 0:
            accepted.add((line, changed))
        else:
            assert status in (1, 2)
            assert re.fullmatch(rf"(not proved|malformed): {path}: line \d+: .*\n", error)
    assert accepted <= STILL_TRUE


@pytest.mark.parametrize(
    ("line", "instead", "statement"),
    [
        ("allowed 1 1 1\nallowed 0 1 2\n", "", "least"),  # channel 1 has no length
        ("allowed 1 1 1\n", "allowed 1 1 4\n", "least"),  # channel 1 may be used
        ("least 1 1\n", "least 2 1\n", "least"),
        ("potential 1 1 0\n", "potential 1 1 3\n", "least"),  # rises by 2
        ("flow 0 1 0\nflow\n", "flow\nflow 0 1 0\n", "least"),  # over a channel that is not allowed
        ("changed 1\n", "", "failure"),  # the removed channel is used
        ("changed 0 0 1 2\n", "changed 0 0 1 0\n", "failure"),  # half of the pair gets lost
        ("lost 1 1 3\n", "", "failure"),  # a pair without a flow
        ("removed 2 1 1\n", "removed 0 1 1\n", "failure"),
        ("most 1 2\n", "most 1 3\n", "most"),
        ("0 1\ntraffic 0 1 0\n", "0 1\ntraffic 0 1 3\n", "attains"),  # to itself
    ],
)
def test_lower_bounds_and_failures_are_refused(
    checker: Path, tmp_path: Path, line: str, instead: str, statement: str
) -> None:
    path = tmp_path / "claim.txt"
    (claim,) = (claim for claim in (ALLOWED, PARALLEL) if claim.count(line) and f"\n{statement}" in claim)
    path.write_text(claim.replace(line, instead, 1))
    status, _, error = run(checker, path)
    assert status == 1
    assert f": {statement}: its numbers do not prove it" in error


def test_malformed_files_are_told_from_unproved_ones(checker: Path, tmp_path: Path) -> None:
    path = tmp_path / "claim.txt"
    for content, reason in [
        ("", "line 1: the first line has to be 'obliv-claim 1'"),
        (TWO[:-20], "line 39: the file ends within a line"),
        (TWO.replace("\nend\n", "\n"), "the file ends before the line 'end'"),
        (TWO + "end\n", "something follows 'end'"),
        (TWO.replace("nodes 2", "nodes 02"), "line 3: a number begins with 0"),
        (TWO.replace("nodes 2", "nodes -2"), "line 3: "),
        (TWO.replace("nodes 2", "nodes " + "9" * 5000), "line 3: a number has more than 4,000 digits"),
        (TWO.replace("nodes 2", "nodes " + "9" * 3000), "line 3: there may be up to 10,000,000 nodes"),
        (TWO.replace("unit 1", "unit 0"), "the unit has to be at least 1"),
        (TWO.replace("row 1 1 1", "row 1 1 1 1 1 1"), "line 8: runs do not ascend"),
        (TWO.replace("flow 0 1 0", "flow 0 1 7"), "there is no row 7"),
        (TWO.replace("bound 0\nbound 0\n", "bound 0\n"), "1 lines 'bound' are there, 2 are needed"),
        (TWO.replace("two nodes", "zwei Knöten"), "byte 195 is not allowed here"),
        (TWO.replace("most 1 1", "moist 1 1"), "'moist' is not a statement"),
    ]:
        path.write_text(content, encoding="utf-8")
        status, said, error = run(checker, path)
        assert (status, said, error[:11]) == (2, "", "malformed: ")
        assert reason in error
    path.write_text(TWO.replace("most 1 1", "most 1 2"))
    status, _, error = run(checker, path)
    assert (status, error) == (1, f"not proved: {path}: line 13: most: its numbers do not prove it\n")
