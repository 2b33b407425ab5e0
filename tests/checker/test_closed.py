"""Closed claims: the checker of one file against hand-made claims, forgeries, an oracle and saved claims."""

import ast
import contextlib
import gzip
import re
import subprocess
import sys
import tracemalloc
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import obliv
from obliv.checker import obliv_check
from obliv.cli import main

PROGRAM = Path(obliv_check.__file__)

#: A one-way ring of 3 nodes. Every packet goes the only way there is: 0 -> 1 and 0 -> 2 leave by channel 0, and so does
#: 2 -> 1, on its way. Of any permutation at most two of these three have different sources and destinations, and 0 -> 2
#: with 2 -> 1 is such: the worst case is 2. Ratio: all traffic has one routing, so 1. Any routing is this one: least 2,
#: proved on channel 0 by the adversary {0 -> 2, 2 -> 1} and its images, of which every pair at distance 2 pays for both
#: of its channels.
RING = """obliv-claim 1
about one-way ring of 3 nodes
nodes 3
channel 0 1 1
channel 1 2 1
channel 2 0 1
terminal 0 1 1
terminal 1 1 1
terminal 2 1 1
row 1 2 1
row 2 1 1
row 1 1 1
row 0 1 1 2 1 1
row 0 1 1
row 0 2 1
row 0 1 1 2 1 1
row 1 1 1 2 1 2
row 0 1 2 2 1 1
row 0 1 1 1 1 2
unit 1
flow 0 1 0 2 1 2
flow 0 1 1 1 1 3
flow 1 1 4 2 1 5
most 2 1
price
map 1 2 0
bound 0
bound 0 0
bound 0
attains 2 1 0 1
traffic 0 1 1 2 1 2
end
"""

#: What follows the head of RING in place of its worst case. Rows 8 and 9 are lengths of 1 on channels 0, 1, 2.
STATEMENTS = {
    "ratio": "ratio 1 1\n"
    + "lengths 1 0 1 1\ndistance 0 1 0 2 1 2\n"
    + "lengths 1 1 1 1\ndistance 0 1 1 1 1 3\n"
    + "lengths 1 2 1 1\ndistance 1 1 4 2 1 5\n",
    "ratio-attained": "ratio-attained 1 1 0 1\ntraffic 0 1 2\ncarrier 0 1 4\n",
    "carried": "carried 1 1 1\ntraffic 0 1 2\ncarrier 0 1 4\n",
    "blocked": "blocked 1 1 1\ntraffic 0 1 1\nlengths 1 0 1 1\ndistance 0 1 0\n",
    "least": "least 2 1\nadversary 0 1 0 1 1 2 1 2\nadversary 1 1 0 1 1 1 1 4\nadversary 2 1 1 1 4 2 1 2\n"
    + "potential 2 1 7\npotential 0 1 8\npotential 1 1 9\n",
    "cut": "cut 1\nside 0 1 1\n",
}


def ring(statements: str = "", head: str = RING) -> str:
    """Return the ring with other statements."""
    return head[: head.index("most ")] + statements + "end\n" if statements else head


def answer(text: str | bytes, folder: Path, name: str = "claim.txt", *options: str) -> tuple[int, list[str], str]:
    """Return the exit status of the program in this process, its sentences and its reason."""
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    said: list[str] = []
    try:
        said.extend(obliv_check.check(str(path), int(options[0]) if options else obliv_check.MOST_BYTES))
    except obliv_check.NotProved as error:
        return 1, said, str(error)
    except (obliv_check.Malformed, OSError) as error:
        return 2, said, str(error)
    return 0, said, ""


def proved(said: list[str]) -> list[str]:
    return [sentence.removeprefix("proved: ") for sentence in said if sentence.startswith("proved: ")]


def test_the_program_is_one_small_file_of_python_3_8_that_needs_nothing() -> None:
    source = PROGRAM.read_text(encoding="ascii")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert len(source.splitlines()) <= 600


def test_the_program_runs_without_obliv(tmp_path: Path) -> None:
    (tmp_path / "obliv_check.py").write_bytes(PROGRAM.read_bytes())
    for text, status, word in (
        (RING, 0, "proved: "),
        (RING.replace("most 2", "most 1"), 1, "not proved: "),
        ("x", 2, "malformed: "),
    ):
        (tmp_path / "claim.txt").write_text(text)
        command = [sys.executable, "-I", "-S", "obliv_check.py", "claim.txt"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert word in (done.stdout if status == 0 else done.stderr)
        assert len(done.stderr.splitlines()) == (status > 0)


def test_a_ring_by_hand(tmp_path: Path) -> None:
    status, said, _ = answer(RING, tmp_path)
    assert status == 0
    assert said[0].startswith(f"{tmp_path}/claim.txt: {len(RING):,} bytes, SHA-256 ")
    assert said[1] == 'about: "one-way ring of 3 nodes" (not checked)'
    assert said[2] == "3 nodes, 3 channels, 3 terminals; the flows of 9 pairs are unit flows"
    assert proved(said) == [
        "no admissible traffic loads a channel beyond 2 times its bandwidth",
        "an admissible traffic loads channel 0 (0 -> 1) by exactly 2 times its bandwidth",
    ]
    assert said[-1].startswith("believed: nothing but the arithmetic of this program.")


@pytest.mark.parametrize("kind", STATEMENTS)
def test_every_statement_by_hand(kind: str, tmp_path: Path) -> None:
    status, said, reason = answer(ring(STATEMENTS[kind]), tmp_path)
    assert (status, reason) == (0, "")
    assert len(proved(said)) == 1


#: A two-way ring of 2 nodes whose two channels there are parallel: one fails, and the other takes over.
PAIR = """obliv-claim 1
nodes 2
channel 0 1 1
channel 0 1 1
channel 1 0 1
terminal 0 1 1
terminal 1 1 1
row 1 1 1
row 0 1 1
row 1 1 2
row 0 1 2
row 0 0
unit 2
flow 0 1 0
flow 0 1 0
flow 1 1 3
failure
removed 0 1 1
changed 0
changed 1 0 1 2
most 1 1
price
bound 0
bound 0
bound 0
attains 1 1 1 1
traffic 0 1 0
failure
removed 2 1 1
lost 1 1 1
changed 2
most 1 2
price
bound 0
bound 0
bound 0
end
""".replace("row 0 0\n", "")


#: The bound of all routings, said of those that keep to channels given for each pair: here all three.
WITHIN = ring(STATEMENTS["least"]).replace("unit 1\n", "row 0 3 1\nunit 1\n")
WITHIN = WITHIN.replace("potential", "allowed 0 3 10\n" * 3 + "potential", 1)


def test_routings_that_keep_to_channels_by_hand(tmp_path: Path) -> None:
    status, said, _ = answer(WITHIN, tmp_path)
    assert (status, len(proved(said))) == (0, 1)
    assert "every routing that keeps to the channels allowed, as this one does, is loaded by" in proved(said)[0]
    head = re.sub("unit.*(?=least)", "", WITHIN, flags=re.DOTALL)  # without flows
    assert "every routing that keeps to the channels allowed is loaded by" in answer(head, tmp_path)[1][-2]


def test_failures_by_hand(tmp_path: Path) -> None:
    status, said, reason = answer(PAIR, tmp_path)
    assert (status, reason) == (0, "")
    assert proved(said) == [
        "without 0 (1 channels): no admissible traffic loads a channel beyond 1 times its bandwidth; "
        "an admissible traffic loads channel 1 (0 -> 1) by exactly 1 times its bandwidth",
        "without 2 (1 channels): no admissible traffic loads a channel beyond 1/2 times its bandwidth",
    ]


#: Forgeries: the claim, what is replaced by what, and the exit status. Together they hit every refusal.
FORGERIES = [
    (RING, "flow 0 1 0 2 1 2", "flow 0 1 0", 1),  # a flow that ends nowhere
    (RING, "row 1 2 1\n", "row 1 2 2\n", 1),
    (RING, "most 2 1", "most 19 10", 1),
    (RING, "attains 2 1 0 1", "attains 1 1 0 1", 1),
    (RING, "attains 2 1 0 1", "attains 3 1 0 1", 1),
    (RING, "traffic 0 1 1 2 1 2", "traffic 0 1 0 2 1 2", 1),  # 0 sends to two, 1 receives from two
    (RING, "traffic 0 1 1 2 1 2", "traffic 0 1 2 2 1 2", 1),  # terminal 1 receives from two
    (RING, "unit 1\n", "unit 2\n", 1),
    (RING.replace("most 2", "lost 0 1 1\nmost 2"), "", "", 1),  # 0 -> 2 is lost, but flows
    (RING.replace("most 2", "lost 0 1 1\nmost 2"), "flow 1 1 4 2 1 5", "flow 0 1 1 1 1 4 2 1 5", 1),  # in a circle
    (
        ring("attains 1 1 0 1\ntraffic 0 1 2\n")
        .replace("attains", "lost 2 1 2\nattains")
        .replace("flow 0 1 0 2 1 2", "flow 0 1 0")
        .replace("flow 1 1 4 2 1 5", "flow 1 1 4 2 1 4"),
        "traffic 0 1 2",
        "traffic 2 1 2",
        1,
    ),  # a lost pair sends
    (ring(STATEMENTS["ratio"]), "ratio 1 1", "ratio 9 10", 1),
    (ring(STATEMENTS["ratio"]), "lengths 1 0 1 1\ndistance 0 1 0 2 1 2", "lengths 1\ndistance 0 1 0 2 1 2", 1),
    (ring(STATEMENTS["ratio"]), "distance 0 1 0 2 1 2", "distance 0 1 0", 1),
    (ring(STATEMENTS["ratio-attained"]), "attained 1 1", "attained 2 1", 1),
    (ring(STATEMENTS["ratio-attained"]), "traffic 0 1 2", "traffic 0 1 3", 1),  # 0 sends to itself
    (ring(STATEMENTS["carried"]), "carrier 0 1 4", "carrier 0 1 5", 1),
    (ring(STATEMENTS["carried"]), "carried 1 1", "carried 1 2", 1),
    (ring(STATEMENTS["blocked"]), "blocked 1 1", "blocked 2 1", 1),
    (ring(STATEMENTS["blocked"]), "lengths 1 0 1 1", "lengths 1", 1),
    (ring(STATEMENTS["least"]), "least 2 1", "least 21 10", 1),
    (ring(STATEMENTS["least"]), "adversary 0 1 0 1 1 2 1 2", "adversary 0 1 0 1 1 2 1 1", 1),
    (ring(STATEMENTS["least"]), "adversary 0 1", "adversary 0 2", 1),
    (ring(STATEMENTS["least"]), "potential 2 1 7", "potential 2 1 8", 1),
    (WITHIN, "allowed 0 3 10", "allowed 0 3 4", 1),  # from 0 to 2, the flow uses channel 1
    (ring(STATEMENTS["cut"]), "cut 1", "cut 2", 1),
    (ring(STATEMENTS["cut"]), "side 0 1 1", "side 0 3 1", 1),
    (PAIR, "changed 0\n", "", 1),  # a removed channel still carries
    (PAIR, "changed 1 0 1 2\n", "", 1),
    (PAIR, "most 1 1\n", "most 1 2\n", 1),
    (RING, "obliv-claim 1", "obliv-claim 2", 2),
    (RING, "about one-way", "about one\x01way", 2),
    (RING, "about one-way", f"about {'long' * 260}", 2),
    (RING, "nodes 3", "nodes 10000001", 2),
    (RING, "nodes 3", "nodes", 2),
    (RING, "nodes 3", "nodes 2", 2),
    (RING, "nodes 3", "nodes 03", 2),
    (RING, "nodes 3", "nodes  3", 2),
    (RING, "nodes 3", "nodes 3 ", 2),
    (RING, "nodes 3", "nodes -3", 2),
    (RING, "nodes 3", "nodes 3.0", 2),
    (RING, "nodes 3", "nodes \u0663", 2),
    (RING, "nodes 3", "Nodes 3", 2),
    (RING, "nodes 3\n", "", 2),
    (RING, "nodes 3", "nodes ", 2),
    (RING, "channel 0 1 1", "channel 0 1 0", 2),
    (RING, "unit 1\n", "unit 0\n", 2),
    (RING, "row 1 2 1\n", f"row 1 2 {'9' * 4001}\n", 2),
    (RING, "row 1 2 1\n", "row 1 2\n", 2),
    (RING, "row 1 2 1\n", "row 1 0 1\n", 2),
    (RING, "row 1 2 1\n", "row 1 3 1\n", 2),  # beyond the 3 terminals of its use
    (RING, "row 0 1 1 2 1 1\n", "row 0 1 1 0 1 1\n", 2),
    (RING, "flow 0 1 0 2 1 2", "flow 0 1 99 2 1 2", 2),
    (RING, "flow 0 1 0 2 1 2", f"flow 0 1 {2**63 - 1} 2 1 2", 2),
    (RING, "flow 0 1 0 2 1 2", "flow 0 1 0 3 1 2", 2),
    (RING, "flow 0 1 0 2 1 2\n", "", 2),
    (RING, "most 2 1", "most 2 0", 2),
    (RING, "most 2 1", "most 2", 2),
    (RING, "most 2 1", "least-of-all 2 1", 2),
    (RING, "map 1 2 0", "map 1 2", 2),
    (RING, "map 1 2 0", "map 1 2 3", 2),
    (RING, "bound 0 0", "bound 0 1", 2),
    (RING, "bound 0 0", "bound 1", 2),
    (RING, "bound 0 0", "bound", 2),
    (RING, "bound 0 0\n", "", 2),
    (RING, "attains 2 1 0 1", "attains 2 1 3 1", 2),
    (RING, "attains 2 1 0 1", "attains 2 1 0 0", 2),
    (RING, "end\n", "", 2),
    (RING, "end\n", "end\n\n", 2),
    (RING, "end\n", "end 1\n", 2),
    (ring("cut 1\nside 0 1 1\n"), "cut 1\nside 0 1 1\n", "", 2),  # no statement
    (re.sub("unit.*(?=most)", "", RING, flags=re.DOTALL), "", "", 2),  # no flows
    (ring(STATEMENTS["least"]), "adversary 1 1", "adversary 0 1", 2),
    (ring(STATEMENTS["least"]), "adversary 1 1", "adversary 3 1", 2),
    (ring(STATEMENTS["least"]), "adversary 1 1", "adversary 1 0", 2),
    (PAIR, "changed 1 0 1 2", "changed 0 0 1 2", 2),
    (PAIR, "removed 0 1 1", "removed 0 4 1", 2),
    (PAIR[: PAIR.index("most 1 1")] + "end\n", "", "", 2),  # a failure without a statement
]


def test_every_refusal_is_hit_by_a_forgery(tmp_path: Path) -> None:
    """Each forgery is refused with its status, and the lines that refuse are all those of the program."""
    hit = set()
    for number, (text, old, new, wanted) in enumerate(FORGERIES):
        assert old in text, number
        path = tmp_path / "claim.txt"
        path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8", newline="\n")
        with pytest.raises((obliv_check.NotProved, obliv_check.Malformed)) as caught:
            list(obliv_check.check(str(path)))
        assert (1 if caught.type is obliv_check.NotProved else 2) == wanted, (number, str(caught.value))
        assert re.search(r"\bline \d+\b|^the flows: ", str(caught.value)), str(caught.value)
        error: BaseException | None = caught.value
        while error is not None:
            trace = error.__traceback__
            while trace is not None:
                hit.add(trace.tb_lineno)
                trace = trace.tb_next
            error = error.__context__
    with pytest.raises(obliv_check.Malformed, match="more than 100 bytes"):
        list(obliv_check.check(str(path), 100))
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(RING.encode())[:-12])
    with pytest.raises(obliv_check.Malformed, match="compressed data"):
        list(obliv_check.check(str(tmp_path / "cut.txt.gz")))
    tree = ast.parse(PROGRAM.read_text(encoding="ascii"))
    raises = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    untried = [node.lineno for node in raises if not hit & set(range(node.lineno, (node.end_lineno or 0) + 1))]
    source = PROGRAM.read_text(encoding="ascii").splitlines()
    late = ("bytes; --most-bytes", "compressed data")  # tried above
    assert [source[k - 1] for k in untried if not any(word in source[k - 1] for word in late)] == []


MOST = "most 3 1\nprice\nbound 0\nbound 0\nbound 0\n"  # of three sources, so whatever the flows are

#: Forgeries that one line of the program refuses, by its words: without it they would be proved.
ALONE = [
    (RING, "traffic 0 1 1 2 1 2", "traffic 0 1 0", "sends more than it may"),  # 0 sends to two
    (ring(MOST), "flow 0 1 0 2 1 2", "flow 0 1 0", "unit flow at node 0"),
    (
        ring("lost 0 1 1\n" + MOST).replace("flow 0 1 1 1 1 3", "flow 1 1 3").replace("flow 0 1 0", "flow 0 1 2"),
        "flow 0 1 2 2 1 2\nflow 1 1 3\nflow 1 1 4",  # 0 -> 2 is lost, and goes in a circle
        "flow 0 1 0 2 1 2\nflow 0 1 1 1 1 3\nflow 0 1 1 1 1 4",
        "a lost pair has a flow over channel 0",
    ),
    (
        ring("lost 2 1 2\nattains 1 1 0 1\ntraffic 0 1 1\n")
        .replace("flow 0 1 0 2 1 2", "flow 0 1 0")
        .replace("flow 1 1 4 2 1 5", "flow 1 1 4 2 1 4"),
        "traffic 0 1 1",
        "traffic 0 1 1 2 1 2",  # the packet of a lost pair loads nothing
        "a lost pair sends",
    ),
    (ring(STATEMENTS["ratio-attained"]), "traffic 0 1 2", "traffic 0 1 5", "terminal 0 sends to itself"),  # and to 1
    (ring(STATEMENTS["least"]), "potential 2 1 7", "potential 1 2 7", "from terminal 0 to 1, the potential rises too"),
    (
        PAIR[: PAIR.index("attains")] + "attains 1 1 1 1\ntraffic 0 1 0\nend\n",
        "changed 0\nchanged 1 0 1 2\nmost 1 1\nprice\nbound 0\nbound 0\nbound 0\nattains 1 1",
        "most 1 1\nprice\nbound 0\nbound 0\nbound 0\nattains 1 2",  # as before the failure
        "a flow uses a channel that is removed",
    ),
    (RING, "nodes 3", "n\u00f6des 3", "a line is a word of small letters"),
    (RING, "price\n", "price \n", "a line is a word of small letters, then numbers with one blank before each"),
    (RING, "flow 1 1 4 2 1 5", "lost 1 1 4 2 1 5", "expected a line  flow,  found  lost"),
]


@pytest.mark.parametrize(("text", "old", "new", "why"), ALONE, ids=[why for *_, why in ALONE])
def test_each_part_is_refused_by_its_own_check(text: str, old: str, new: str, why: str, tmp_path: Path) -> None:
    assert answer(text, tmp_path)[0] == 0
    assert old in text
    assert why in answer(text.replace(old, new, 1), tmp_path)[2]


def test_files_cut_anywhere_are_malformed(tmp_path: Path) -> None:
    for end in range(len(RING) - 1):
        assert answer(RING[:end], tmp_path)[0] == 2
    assert answer(RING[:-1], tmp_path)[0] == 0  # the newline of the last line may be missing
    packed = gzip.compress(RING.encode())
    for end in range(len(packed)):
        assert answer(packed[:end], tmp_path, "claim.txt.gz")[0] == 2
    assert answer(packed, tmp_path, "claim.txt.gz")[0] == 0
    assert answer(RING, tmp_path, "claim.txt.gz")[0] == 2
    assert answer(packed, tmp_path)[0] == 2


def test_a_small_file_that_holds_a_large_one_is_refused_before_it_is_read(tmp_path: Path) -> None:
    bomb = gzip.compress(b"obliv-claim 1\nnodes 3\n" + b"row 0 1 1\n" * 2_000_000)
    tracemalloc.start()
    status, _, reason = answer(bomb, tmp_path, "bomb.txt.gz", "100000")
    assert status == 2
    assert "more than 100,000 bytes" in reason
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    "line", ["row 0 1 1\n" * 60_000, f"row {' '.join(f'{k} 1 300' for k in range(10**5))}\n", "flow 0 1 0\n" * 60_000]
)
def test_memory_is_a_multiple_of_the_size(line: str, tmp_path: Path) -> None:
    """Memory stays below 25 times the decompressed size, as the page says."""
    channels = "channel 0 1 1\n" * line.count("flow")
    text = f"obliv-claim 1\nnodes 2\n{channels}terminal 0 1 1\nterminal 1 1 1\n"
    text += f"row 1 1 1\nunit 1\n{line}" if channels else line
    text += "cut 1\nside 0 1 1\nend\n"
    path = tmp_path / "claim.txt"
    path.write_text(text)
    tracemalloc.start()
    with contextlib.suppress(obliv_check.NotProved, obliv_check.Malformed):
        list(obliv_check.check(str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25 * len(text) + 10**6


# One number changed: refused, or weaker but true, by a linear program


def worst_of(text: str) -> tuple[list[Fraction], dict[str, Fraction]]:
    """Return the worst case of every channel of a small claim by linear programs, and what the statements say."""
    rows, flows, speeds, injection, ejection, said = [], [], [], [], [], {}
    unit = 1
    for line in text.splitlines():
        word, *rest = line.split()
        if word in ("obliv-claim", "about", "end"):
            continue
        numbers = list(map(int, rest))
        triples = list(zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=False))
        if word == "channel":
            speeds.append(numbers[2])
        elif word == "terminal":
            injection.append(numbers[1])
            ejection.append(numbers[2])
        elif word == "row":
            rows.append(triples)
        elif word == "unit":
            unit = numbers[0]
        elif word == "flow":
            n = len(injection)
            w = np.zeros((n, n))
            for first, count, row in triples:
                for start, width, value in rows[row]:
                    w[first : first + count, start : start + width] = value
            flows.append(w)
        elif word in ("most", "attains"):
            said[word] = Fraction(numbers[0], numbers[1])
    n = len(injection)
    limits = np.zeros((2 * n, n, n))
    for k in range(n):
        limits[k, k, :] = limits[n + k, :, k] = 1
    worst = []
    for w, speed in zip(flows, speeds, strict=True):
        best = linprog(-w.ravel(), A_ub=limits.reshape(2 * n, -1), b_ub=[*injection, *ejection])
        worst.append(Fraction(-best.fun).limit_denominator(10**6) / (unit * speed))
    return worst, said


def test_one_number_changed_is_refused_or_weaker_but_true(tmp_path: Path) -> None:
    passed = 0
    for match in re.finditer(r"(?<= )\d+", RING):
        for change in (-1, 1, 7):
            number = int(match[0]) + change
            if number < 0 or RING[: match.start()].endswith("of "):
                continue
            text = RING[: match.start()] + str(number) + RING[match.end() :]
            status, said, _ = answer(text, tmp_path)
            if status == 0:
                passed += 1
                worst, claims = worst_of(text)
                assert max(worst) <= claims["most"], text
                assert claims["attains"] <= max(worst), text
                assert said[2].endswith("the flows of 9 pairs are unit flows")
    assert 10 < passed < 150  # such as rates of terminals that matter nowhere, or bounds that need not be sharp


# Claims of obliv, closed


def _closed(result: obliv.Result, folder: Path, name: str = "closed.txt") -> list[str]:
    """Return what is proved of a result, closed, by the program itself and by `verify`."""
    checked = obliv.verify(result, close=folder / name)
    assert checked.proved, checked
    assert checked.believed
    written = next(step for step in checked.checks if step.check == "closed")
    said = list(obliv_check.check(str(folder / name)))
    assert said[0] in written.detail
    again = obliv.verify(folder / name)
    assert again.proved
    assert again.believed == obliv_check.BELIEVED
    assert [step.detail for step in again.checks if step.check == "statement"] == proved(said)
    return proved(said)


def _times(value: object) -> str:
    return f"{value} times its bandwidth"


@pytest.mark.parametrize(
    ("topology", "routing"),
    [
        ("mesh:3x3", "dor"),
        ("torus:4x3", "romm"),
        ("torus:3x3", "valiant"),
        ("hypercube:3", "ecmp"),
        ("mesh:2x3", "electrical"),
        ("graph:petersen", "ecmp"),
        ("fattree:4,2", "dmodk"),
        ("dragonfly:p=1,a=2,h=1", "shortest"),
        ("mesh:3x2", "dor"),
    ],
)
def test_worst_cases(topology: str, routing: str, tmp_path: Path) -> None:
    network = obliv.topology(topology)
    if topology == "mesh:3x2":
        network = network.with_rates(injection=[Fraction(1, 3 + k) for k in range(6)], ejection=[1] * 5 + [2])
    result = obliv.worst_case(obliv.routing(routing, network), certificate=True)
    most, attained = _closed(result, tmp_path)
    assert most == f"no admissible traffic loads a channel beyond {_times(result.channel_load)}"
    assert attained.endswith(f"by exactly {_times(result.channel_load)}")


class OneWay(obliv.Routing):
    """Packets to the right on a line; those to the left are not served."""

    partial = True

    def paths(self, source: int, destination: int) -> list[tuple[tuple[int, ...], int]]:
        line = self.topology
        steps = range(source, destination)
        return [(tuple(line.channel(node, node + 1) for node in steps), 1)] if source <= destination else []


def test_pairs_that_are_not_served_are_listed_as_lost(tmp_path: Path) -> None:
    most, _attained = _closed(obliv.worst_case(OneWay(obliv.line(4), "one-way"), certificate=True), tmp_path)
    assert most == "no admissible traffic loads a channel beyond 2 times its bandwidth"  # over the middle
    assert "the flows of 10 pairs are unit flows" in answer((tmp_path / "closed.txt").read_text(), tmp_path)[1][2]


@pytest.mark.parametrize("options", [{}, {"minimal": True}, {"within": "ecmp"}, {"paths": 2}])
def test_designs(options: dict[str, object], tmp_path: Path) -> None:
    result = obliv.design(obliv.topology("mesh:3x2"), **options)
    most, _attained, least = _closed(result, tmp_path)
    load = result.channel_load
    lower, upper = (load, load) if isinstance(load, Fraction) else (load.lower, load.upper)
    assert Fraction(most.split()[-4]) <= upper
    assert Fraction(least.split("by ")[-1].split()[0]) >= Fraction(lower).limit_denominator(10**12) - Fraction(1, 10**9)
    assert ("keeps to the channels allowed" in least) == bool({"minimal", "within"} & options.keys())


@pytest.mark.parametrize(
    ("topology", "routing"),
    [
        ("ring:3", "shortest"),
        ("mesh:3x2", "dor"),
        ("fattree:4,2", "dmodk"),
        ("fattree:4,3", "smodk"),
        ("graph:petersen", "ecmp"),
    ],
)
def test_ratios(topology: str, routing: str, tmp_path: Path) -> None:
    result = obliv.ratio(obliv.routing(routing, obliv.topology(topology)), certificate=True)
    most, attained = _closed(result, tmp_path)
    assert f"this routing loads no channel beyond {result.upper} times its bandwidth" in most
    assert Fraction(attained.split("exactly ")[1].split()[0]) >= Fraction(result.lower)


@pytest.mark.parametrize("topology", ["mesh:3x2", "graph:petersen", "mesh:4x4", "ring:5"])
def test_bounds(topology: str, tmp_path: Path) -> None:
    said = _closed(obliv.bounds(topology), tmp_path)
    for words in (
        "some routing carries",
        "every routing, adaptive or not",
        "no admissible traffic",
        "a cut that halves",
    ):
        assert any(sentence.startswith(words) for sentence in said), words


@pytest.mark.parametrize("of", ["links", "nodes"])
def test_failures(of: str, tmp_path: Path) -> None:
    routing = obliv.routing("shortest", obliv.topology("mesh:3x2"))
    result = obliv.failures(routing, of=of, certificate=True)
    _most, _attained, *rows = _closed(result, tmp_path)
    loads = [Fraction(row.split("beyond ")[1].split()[0]) for row in rows]
    assert loads == [row.channel_load for row in result.failures]


def test_kinds_without_closed_claims_say_which_have_them(tmp_path: Path) -> None:
    result = obliv.deadlock(obliv.routing("dor", obliv.topology("mesh:3x3")), certificate=True)
    with pytest.raises(obliv.InputError, match="no closed claims of the kind 'deadlock', only of worst, "):
        obliv.verify(result, close=tmp_path / "closed.txt")
    design = obliv.design(obliv.topology("mesh:3x2"), max_hops=2)
    with pytest.raises(obliv.InputError, match="no closed claims of designs with a limit"):
        obliv.verify(design, close=tmp_path / "closed.txt")
    design = obliv.design("ring:4", objective="ratio")
    with pytest.raises(obliv.InputError, match="no closed claims of designs of the least ratio"):
        obliv.verify(design, close=tmp_path / "closed.txt")
    assert not (tmp_path / "closed.txt").exists()


def test_a_file_stays_where_no_closed_claim_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str, most_bytes: int) -> list[str]:
        raise obliv_check.NotProved("line 7: most: for this test")

    monkeypatch.setattr(obliv_check, "check", refused)
    kept = tmp_path / "claim.txt"
    kept.write_text("of before")
    with pytest.raises(obliv.InputError, match="no closed claim is written"):
        obliv.verify(obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)), certificate=True), close=kept)
    assert kept.read_text() == "of before"
    assert list(tmp_path.iterdir()) == [kept]


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)

    def answers(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        out, err = capsys.readouterr()
        return status, out, err

    assert answers("worst", "mesh:3x3", "dor", "--output", "claim.json")[0] == 0
    status, out, _ = answers("verify", "claim.json", "--close", "claim.txt")
    assert (status, "the same claim, proved by obliv_check.py too" in out) == (0, True)
    assert "believed" in out
    assert "obliv's definition of dor" in out
    status, _, err = answers("design", "ring:5", "--output", "design.txt", "--closed")
    assert (status, "obliv_check.py design.txt" in err, "design:design.txt" in err) == (0, True, False)  # not a routing
    status, _, err = answers("worst", "mesh:3x3", "dor", "--output", "direct.txt.gz", "--closed")
    assert (status, "python3 obliv_check.py direct.txt.gz" in err) == (0, True)
    assert gzip.decompress(Path("direct.txt.gz").read_bytes()) == Path("claim.txt").read_bytes()
    assert answers("verify", "claim.txt")[0] == 0
    Path("forged.txt").write_text(Path("claim.txt").read_text().replace("most 2 1", "most 1 1"))
    assert answers("verify", "forged.txt")[0] == 1
    Path("cut.txt").write_text(Path("claim.txt").read_text()[:-3])
    status, _, err = answers("verify", "cut.txt")
    assert (status, "cut.txt" in err, len(err.splitlines())) == (2, True, 1)
    for words in (
        ["worst", "mesh:3x3", "dor", "--closed"],
        ["verify", "claim.txt", "--close", "x"],
        ["verify", "claim.json", "--close", "x", "--quick"],
    ):
        status, _, err = answers(*words)
        assert (status, len(err.splitlines())) == (2, 1), words


def test_permutations_agree_with_the_linear_program() -> None:
    """The oracle of this file, on the ring: the worst permutation of unit rates is the worst traffic."""
    worst, said = worst_of(RING)
    crossing = [{(0, 1), (0, 2), (2, 1)}, {(1, 2), (1, 0), (0, 2)}, {(2, 0), (2, 1), (1, 0)}]
    best = [max(len(pairs & set(enumerate(image))) for image in permutations(range(3))) for pairs in crossing]
    assert worst == best == [said["most"]] * 3
