#!/usr/bin/env python3
"""Check a closed claim about routing in a network: python3 obliv_check.py CLAIM.txt (or CLAIM.txt.gz).

A closed claim is a text file. It holds a network, the flows of a routing on its channels, statements about them, and
numbers that prove each statement. This program checks them in whole numbers. It needs Python 3.8 or later and nothing
else. It knows no topology and no routing by name, it searches for nothing, and it does not matter who found the numbers
or how: what they prove, they prove. The format is on the page "Closed claims" of obliv's documentation.

Read it from top to bottom: step functions, the file, the flows, then each statement with the reason why it is proved.
Exit status: 0 everything is proved, 1 a statement is not proved, 2 the file is malformed or cannot be read.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import sys
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

MOST_BYTES = 2**29  # of a file, decompressed; --most-bytes raises it
MOST_DIGITS = 4000  # of a number; recent versions of Python refuse 4,300
MOST_NODES = 10**7
BELIEVED = (
    "nothing but the arithmetic of this program. "
    "That these flows are those of the routing that the file is called after is not proved by it."
)


class Malformed(Exception):  # noqa: N818
    """The file is not a closed claim."""


class NotProved(Exception):  # noqa: N818
    """The numbers of the file do not prove a statement."""


# STEP FUNCTIONS. Everything in a claim is one: a list of runs (first, count, value), which has this value at the places
# first, ..., first + count - 1, and 0 wherever there is no run. It is stored as it is written, number after number.
# A matrix is a step function of step functions: runs of sources, whose value is the number of a row.


def runs(function: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Return the runs (first, count, value) of a step function."""
    return zip(*[iter(function)] * 3)


def dense(function: Sequence[int], size: int) -> list[int]:
    """Return the values of a step function at the places 0, ..., size - 1."""
    values = [0] * size
    for first, count, value in runs(function):
        values[first : first + count] = [value] * count
    return values


def total(function: Sequence[int]) -> int:
    """Return the sum of the values of a step function."""
    return sum(count * value for _, count, value in runs(function))


def add(differences: Any, function: Sequence[int], times: int) -> None:
    """Add a multiple of a step function to a sum, which is kept as the differences from each place to the next."""
    for first, count, value in runs(function):
        amount = times * value
        differences[first] += amount
        differences[first + count] -= amount


def pieces(functions: Sequence[Sequence[int]], size: int) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (first, end, values of all, always one list) for the stretches on which several functions are constant."""
    many = len(functions)
    values, passed, start = [0] * many, [0] * many, 0  # what each has, how many of its ends of runs are passed
    ends = [p * many + k for k, f in enumerate(functions) for a, n, _ in runs(f) for p in (a, a + n)]
    for place, k in (divmod(end, many) for end in sorted(ends)):
        if place > start:
            yield start, place, values
            start = place
        run, inside = divmod(passed[k], 2)
        values[k] = 0 if inside else functions[k][3 * run + 2]
        passed[k] += 1
    if start < size:
        yield start, size, values


# THE FILE. A line is a word, then natural numbers. What lines and statements consist of is said once, here: the numbers
# at the beginning of a line, in capitals; then the size of the step function behind them, or the two sizes of a matrix.

LINES = {
    "nodes": "V",
    "channel": "TAIL HEAD BANDWIDTH",
    "terminal": "NODE INJECTION EJECTION",
    "row": "anything",
    "unit": "D",
    "flow lost traffic": "terminals terminals",
    "price": "terminals",
    "lengths": "M channels",
    "carrier allowed": "terminals channels",
    "distance potential": "terminals nodes",
    "adversary": "CHANNEL WEIGHT terminals terminals",
    "side": "nodes",
    "removed": "channels",
    "changed": "CHANNEL terminals terminals",
}
FORMS = {
    word: ([name for name in form.split() if name.isupper()], [name for name in form.split() if name.islower()])
    for words, form in LINES.items()
    for word in words.split()
}
#: The numbers in the line of a statement, and the lines that follow, each with how many times it comes.
STATEMENTS = {
    "most": ("P Q", "price *", "map *", "bound channels"),
    "attains": ("P Q CHANNEL T", "traffic 1"),
    "least": ("P Q", "adversary *", "allowed ?terminals", "potential terminals"),
    "ratio": ("P Q", "lengths,distance channels"),
    "ratio-attained": ("P Q CHANNEL T", "traffic 1", "carrier 1"),
    "carried": ("P Q T", "traffic 1", "carrier 1"),
    "blocked": ("P Q T", "traffic 1", "lengths 1", "distance 1"),
    "cut": ("B", "side 1"),
    "failure": ("", "removed 1", "lost ?1", "changed *"),
}
ABOUT_FLOWS = ("most", "attains", "ratio", "ratio-attained", "failure")
POSITIVE = ("BANDWIDTH", "D", "Q", "T", "M", "WEIGHT")
BELOW = {"TAIL": "nodes", "HEAD": "nodes", "NODE": "nodes", "CHANNEL": "channels", "TERMINAL": "terminals"}
BELOW.update({"PRICE": "price", "MAP": "map"})  # of the lines bound: how many prices and maps come before them
NOTHING: Sequence[int] = array("q")
WORD = re.compile(rb"[a-z-]{1,20}")
LEADING_ZERO = re.compile(rb" 0[0-9]")


class Reader:
    """The lines of a file, one at a time: `word` and `text` are the next line, `line` the number of the one before."""

    def __init__(self, stream: Any, most_bytes: int) -> None:
        self.line, self.bytes, self.word, self.text = -1, 0, "", b""
        self.digest = hashlib.sha256()
        self._stream, self._most = stream, most_bytes
        self.sizes = {"anything": 10**MOST_DIGITS, "nodes": 0, "channels": 0, "terminals": 0}
        self.rows: list[Sequence[int]] = [NOTHING]  # row n of the file is number n + 1; number 0 is 0 everywhere
        self.advance()

    def malformed(self, reason: str, ahead: int = 0) -> Malformed:
        """Return the error of the line just read, or of the next one."""
        return Malformed(f"line {self.line + ahead}: {reason}")

    def advance(self) -> None:
        """Read the next line."""
        self.line += 1
        text = self._stream.readline(self._most - self.bytes + 1)
        self.bytes += len(text)
        self.digest.update(text)
        if self.bytes > self._most:
            raise self.malformed(f"the file has more than {self._most:,} bytes; --most-bytes N raises the limit", 1)
        if not text.endswith(b"\n") and text != b"end":
            raise self.malformed("the file is cut off: it does not end with the line  end", 1)
        word, blank, self.text = text.rstrip(b"\n").partition(b" ")
        if not WORD.fullmatch(word) or (blank and not self.text):
            raise self.malformed("a line is a word of small letters, then numbers with one blank before each", 1)
        self.word = word.decode("ascii")

    def numbers(self) -> Any:
        """Return the numbers of the next line, and go on."""
        text, parts = b" " + self.text, self.text.split()
        alien = text.translate(None, b"0123456789 ") or b"  " in text or (parts and text.endswith(b" "))
        if alien or LEADING_ZERO.search(text) or (len(text) > MOST_DIGITS and max(map(len, parts)) > MOST_DIGITS):
            raise self.malformed(f"a number has up to {MOST_DIGITS:,} digits, no leading 0, and one blank before it", 1)
        self.advance()
        try:
            return array("q", map(int, parts))
        except OverflowError:  # a number needs more than 64 bits: a list holds it
            return list(map(int, parts))

    def fields(self, values: Sequence[int], names: Sequence[str]) -> dict[str, int]:
        """Return numbers by their names; they must be in their ranges."""
        if len(values) != len(names):
            raise self.malformed(f"{len(values)} numbers where there should be {len(names)}: {' '.join(names[:9])}")
        for name, value in zip(names, values):
            if name in POSITIVE and value < 1:
                raise self.malformed(f"{name} must be at least 1")
            if name in BELOW and value >= self.sizes[BELOW[name]]:
                raise self.malformed(f"{name} is out of range: there are {self.sizes[BELOW[name]]} {BELOW[name]}")
        return dict(zip(names, values))

    def read(self, word: str) -> Any:
        """Return what the next line has: fields, a step function, or both; of two words with a comma, the next two."""
        if "," in word:
            return tuple(map(self.read, word.split(",")))
        if self.word != word:
            raise self.malformed(f"expected a line  {word},  found  {self.word}", 1)
        values = self.numbers()
        if word in ("map", "bound"):
            to = ["TERMINAL"] * self.sizes["terminals"] if word == "map" else ["PRICE", *["MAP"] * (len(values) - 1)]
            self.fields(values, to)
            return values
        names, places = FORMS[word]
        fields = self.fields(values[: len(names)] if places else values, names) if names else {}
        if not places:
            return tuple(fields.values())
        sizes = [self.sizes[name] for name in places]
        function: Any = (values[len(names) :] if names else values) or NOTHING
        end = 0
        for first, count, _ in runs(function):
            if first < end or not count:
                raise self.malformed("runs ascend and do not overlap, and a count is at least 1")
            end = first + count
        if len(function) % 3 or end > sizes[0]:
            raise self.malformed(f"runs are three numbers each, first, count, value, within the {sizes[0]} places")
        for k in range(2, len(function), 3) if len(sizes) == 2 else ():
            row = self.rows[function[k] + 1] if function[k] + 1 < len(self.rows) else (sizes[1], 1, 0)
            if len(row) and row[-3] + row[-2] > sizes[1]:
                raise self.malformed(f"a row does not exist, or is longer than the {sizes[1]} places of its use")
            function[k] += 1
        return (*fields.values(), function) if fields else function

    def several(self, word: str, times: str) -> list[Any]:
        """Return lines of a word: as many as there are (*), or a number of them, perhaps none at all (?)."""
        if times == "*":
            return list(iter(lambda: self.read(word) if self.word == word else None, None))
        count = int(times.lstrip("?")) if times.lstrip("?").isdigit() else self.sizes[times.lstrip("?")]
        return [] if times[0] == "?" and self.word != word else [self.read(word) for _ in range(count)]


class Network:
    """What a claim is about: a network and, if there are `flows`, a routing on it; read from the head of the file."""

    def __init__(self, reader: Reader) -> None:
        self.about, self.rows = "", reader.rows
        if reader.word != "obliv-claim" or reader.text != b"1":
            raise reader.malformed("not a closed claim: its first line is  obliv-claim 1", 1)
        reader.advance()
        if reader.word == "about":
            if re.search(rb"[^ -~]", reader.text) or len(reader.text) > 1000:
                raise reader.malformed("about has up to 1,000 printable ASCII characters", 1)
            self.about = reader.text.decode("ascii")
            reader.advance()
        self.nodes = reader.sizes["nodes"] = reader.read("nodes")[0]
        if self.nodes > MOST_NODES:
            raise reader.malformed(f"there may be up to {MOST_NODES:,} nodes")
        channels, terminals = reader.several("channel", "*"), reader.several("terminal", "*")
        self.tail, self.head, self.bandwidth = ([line[k] for line in channels] for k in range(3))
        self.place, self.injection, self.ejection = ([line[k] for line in terminals] for k in range(3))
        self.channels = reader.sizes["channels"] = len(channels)
        self.terminals = reader.sizes["terminals"] = len(terminals)
        self.rows += iter(lambda: reader.read("row") if reader.word == "row" else None, None)
        self.unit: int = reader.read("unit")[0] if reader.word == "unit" else 0
        self.flows: list[Sequence[int]] = reader.several("flow", "channels") if self.unit else []  # by channel
        self.lost: Sequence[int] = (reader.several("lost", "?1") or [NOTHING])[0]  # pairs that have no flow
        self.at: dict[int, list[int]] = defaultdict(list)  # what there is at each node, what leaves and what enters it
        self.out, self.into = copy(self.at), copy(self.at)
        for found, nodes in ((self.at, self.place), (self.out, self.tail), (self.into, self.head)):
            for number, node in enumerate(nodes):
                found[node].append(number)
        self.known_rises: dict[int, list[tuple[int, int]]] = {}


def read_statement(reader: Reader, network: Network) -> SimpleNamespace:
    """Return a statement: its word, its line, its numbers, and lists of the lines that follow it."""
    word = reader.word
    if word not in STATEMENTS or (word in ABOUT_FLOWS and not network.unit):
        raise reader.malformed(f"{word} is not a statement, or it is about flows and there are none", 1)
    names, *parts = STATEMENTS[word]
    claim = SimpleNamespace(word=word, line=reader.line + 1, **reader.fields(reader.numbers(), names.split()))
    claim.times = f"{Fraction(claim.P, claim.Q)} times its bandwidth" if "P" in names else ""
    for words, times in map(str.split, parts):
        lines = reader.several(words, times)
        reader.sizes[words] = len(lines)
        setattr(claim, words.partition(",")[0], lines[0] if times == "1" else lines)
        channels = [line[0] for line in lines if words in ("adversary", "changed")]
        if channels != sorted(set(channels)):
            raise reader.malformed("channels must ascend")
    if word == "failure":
        inside = iter(lambda: read_statement(reader, network) if reader.word in ("most", "attains") else None, None)
        claim.statements = list(inside)
        if not claim.statements:
            raise reader.malformed("a failure is followed by statements  most  or  attains", 1)
    return claim


# THE FLOWS, and traffic. In units of 1 / D, the matrix w of a channel says what each pair sends over it.


def require_unit_flows(network: Network, nodes: Iterable[int]) -> None:
    """Check that the flows are unit flows at some nodes, and that no lost pair uses a channel.

    There is a flow for every pair (i, j) of terminals. At each node, what leaves less what enters is D, the unit, if i
    is there, -D if j is, and 0 elsewhere; a lost pair has no flow at all. All destinations j are compared at once, for
    each stretch of sources i that have the same rows on all channels of the node.
    """
    n, rows = network.terminals, network.rows
    balance, zero = [0] * (n + 1), [0] * (n + 1)  # the balance of one node and source is all 0 again for the next one
    for node in nodes:
        out, into, at = network.out.get(node, []), network.into.get(node, []), network.at.get(node, [])
        sends = [number for i in at for number in (i, 1, 1)]
        functions = [*(network.flows[c] for c in out + into), network.lost, sends]
        for first, _, (*numbers, lost, here) in pieces(functions, n):
            for number, sign in zip(numbers, [1] * len(out) + [-1] * len(into)):
                add(balance, rows[number], sign)
            cut = dense(rows[lost], n) if lost else ()
            if here:
                add(balance, (0, n, network.unit), -1)
                for j in range(n) if cut else ():
                    add(balance, (j, 1, network.unit), 1 if cut[j] else 0)
            for j in at:
                add(balance, (j, 1, network.unit), 0 if cut and cut[j] else 1)
            if balance != zero:
                j = next(place for place, value in enumerate(balance) if value)
                raise NotProved(f"the flows: from terminal {first} to terminal {j}, no unit flow at node {node}")
    for c, flow in enumerate(network.flows) if len(network.lost) else ():
        if meet(network, flow, network.lost):
            raise NotProved(f"the flows: a lost pair has a flow over channel {c}")


def meet(network: Network, one: Sequence[int], other: Sequence[int]) -> int:
    """Return the sum of the products of two matrices, pair by pair."""
    n, rows, met = network.terminals, network.rows, 0
    for first, end, (a, b) in pieces((one, other), n):
        if a and b:
            met += (end - first) * sum((till - at) * x * y for at, till, (x, y) in pieces((rows[a], rows[b]), n))
    return met


def require_admissible(network: Network, traffic: Sequence[int], scale: int) -> None:
    """Check that in traffic / scale no terminal sends or receives more than its rates, and no lost pair anything."""
    received: dict[int, int] = defaultdict(int)
    for first, count, number in runs(traffic):
        row = network.rows[number]
        if total(row) > scale * min(network.injection[first : first + count]):
            raise NotProved(f"one of the terminals {first} to {first + count - 1} sends more than it may")
        add(received, row, count)
    for j, amount in enumerate(accumulate(received[j] for j in range(network.terminals))):
        if amount > scale * network.ejection[j]:
            raise NotProved(f"terminal {j} receives more than it may")
    if meet(network, traffic, network.lost):
        raise NotProved("a lost pair sends")


# THE STATEMENTS, each with the reason why its numbers prove it.


def prove_most(network: Network, claim: SimpleNamespace) -> str:
    """Prove that no admissible traffic loads a channel beyond P/Q of its bandwidth.

    For each channel, terminal j has a price v(j) >= 0. What terminal i sends over the channel exceeds the price by at
    most u(i) = max(0, max_j (w(i, j) - v(j))). So traffic x puts at most sum_ij x(i, j) (u(i) + v(j)) on the channel,
    which is at most sum_i u(i) injection(i) + sum_j v(j) ejection(j). Any prices will do; maps save writing them again.
    """
    sent, bound, price, paid = [0, *accumulate(network.injection)], None, [0], 0
    for c, flow in enumerate(network.flows):
        if claim.bound[c] != bound:
            bound = claim.bound[c]
            price = dense(claim.price[bound[0]], network.terminals)
            for step in bound[1:]:
                price = [price[j] for j in claim.map[step]]
            paid = sum(v * rate for v, rate in zip(price, network.ejection))
        most, beyond = paid, {}
        for first, count, number in runs(flow):
            if number not in beyond:
                row = runs(network.rows[number])
                over = [x - (price[j] if width == 1 else min(price[j : j + width])) for j, width, x in row]
                beyond[number] = max([0, *over])
            most += (sent[first + count] - sent[first]) * beyond[number]
        if claim.Q * most > claim.P * network.bandwidth[c] * network.unit:
            raise NotProved(f"the prices of channel {c} do not prove it")
    return f"no admissible traffic loads a channel beyond {claim.times}"


def prove_attains(network: Network, claim: SimpleNamespace) -> str:
    """Prove that a traffic that is admissible, or that some routing can carry, loads a channel by exactly P/Q."""
    c, kind = claim.CHANNEL, "an admissible traffic"
    if claim.word == "attains":
        require_admissible(network, claim.traffic, claim.T)
    else:
        for i, row in enumerate(dense(claim.traffic, network.terminals)):
            if any(first <= i < first + count and value for first, count, value in runs(network.rows[row])):
                raise NotProved(f"terminal {i} sends to itself, which does not count")
        prove_carried(network, SimpleNamespace(**{**vars(claim), "P": 1, "Q": 1}))
        kind = "a traffic that some routing carries with no channel beyond its bandwidth"
    load = meet(network, network.flows[c], claim.traffic)
    if claim.Q * load != claim.P * network.bandwidth[c] * network.unit * claim.T:
        raise NotProved(f"the traffic loads channel {c} by another amount")
    return f"{kind} loads channel {c} ({network.tail[c]} -> {network.head[c]}) by exactly {claim.times}"


prove_ratio_attained = prove_attains


def rises(network: Network, number: int) -> list[tuple[int, int]]:
    """Return each channel along which a potential rises, and by how much. Short lists are kept for the next time.

    Potentials bound distances. If channels have lengths, and no channel raises a potential by more than its length,
    then every path is at least as long as the potential rises from its first node to its last: a unit of flow pays it.
    """
    if number in network.known_rises:
        return network.known_rises[number]
    row, height = network.rows[number], dense(network.rows[number], network.nodes)
    above = ((node, value) for first, count, value in runs(row) for node in range(first, first + count) if value)
    rise = ((c, value - height[network.tail[c]]) for node, value in above for c in network.into.get(node, ()))
    found = [(c, amount) for c, amount in rise if amount > 0]
    if len(found) <= len(row):
        network.known_rises[number] = found
    return found


def spent(network: Network, lengths: Sequence[int], matrix: Sequence[int]) -> int:
    """Return the most that flows within the bandwidths pay; check that potentials rise no more than lengths allow."""
    for number in set(matrix[2::3]):
        for c, rise in rises(network, number):
            if rise > lengths[c]:
                raise NotProved(f"the potential in row {number - 1} rises along channel {c} by more than its length")
    return sum(length * bandwidth for length, bandwidth in zip(lengths, network.bandwidth))


def prove_least(network: Network, claim: SimpleNamespace) -> str:
    """Prove that every routing is loaded by some admissible traffic on some channel by at least P/Q of its bandwidth.

    Channel c has an adversary: a weight L(c) and a matrix m(c) such that the traffic m(c) / L(c) is admissible. Pair
    (i, j) pays the length m(c)(i, j) on channel c, so at least its distance, however it is routed. Added up over all
    pairs, sum_c L(c) load_c(m(c) / L(c)) >= sum_ij distance(i, j). So some channel has a load over its bandwidth of at
    least the sum of the distances over sum_c L(c) bandwidth(c). With lines `allowed`, only the channels allowed to a
    pair count, and the statement is about routings that keep to them; the flows of the file must do so too.
    """
    n, distance = network.terminals, 0
    for _, weight, matrix in claim.adversary:
        require_admissible(network, matrix, weight)
    channels = [c for c, _, _ in claim.adversary]
    flows = network.flows if claim.allowed else []
    for start, stop, numbers in pieces([network.lost, *(matrix for _, _, matrix in claim.adversary), *flows], n):
        for i in range(start, stop):
            functions = [*(network.rows[number] for number in numbers), claim.potential[i]]
            for first, end, values in pieces([*functions, claim.allowed[i] if claim.allowed else NOTHING], n):
                cut, *lengths, potential, usable = values
                free = dense(network.rows[usable], network.channels) if claim.allowed else [1] * network.channels
                for c, flow in enumerate(lengths[len(channels) :]):
                    if flow and not free[c]:
                        raise NotProved(f"the flow from terminal {i} to {first} uses channel {c}, which is not allowed")
                if cut or not potential:
                    continue
                length = dict(zip(channels, lengths))
                for c, rise in rises(network, potential):
                    if rise > length.get(c, 0) and free[c]:
                        raise NotProved(f"from terminal {i} to {first}, the potential rises too much along channel {c}")
                height = dense(network.rows[potential], network.nodes)
                own = height[network.place[i]]
                distance += sum(max(0, height[node] - own) for node in network.place[first:end])
    weights = sum(weight * network.bandwidth[c] for c, weight, _ in claim.adversary)
    if not weights or claim.Q * distance < claim.P * weights:
        raise NotProved("the distances do not prove it")
    which = f" that keeps to the channels allowed{', as this one does,' if flows else ''}" if claim.allowed else ""
    return f"every routing{which} is loaded by some admissible traffic on some channel by {claim.times} or more"


def prove_ratio(network: Network, claim: SimpleNamespace) -> str:
    """Prove that this routing loads no channel beyond P/Q of its bandwidth under traffic that some routing can carry.

    To carry is to load no channel beyond its bandwidth. For channel c, all channels e have lengths l(e) / M. Traffic
    that can be carried pays at most sum_e l(e) / M bandwidth(e), and each unit at least the distance of its pair. If no
    pair loads c by more than its distance, that sum bounds the load of c. What a terminal sends to itself is left out.
    """
    n, unit = network.terminals, network.unit
    for c, ((scale, function), distance) in enumerate(claim.lengths):
        lengths = dense(function, network.channels)
        if claim.Q * spent(network, lengths, distance) > claim.P * network.bandwidth[c] * scale:
            raise NotProved(f"the lengths of channel {c} do not prove it")
        for first, end, (flow, number) in pieces((network.flows[c], distance), n):
            height = dense(network.rows[number], network.nodes) if flow else []
            load = enumerate(dense(network.rows[flow], n) if flow else ())
            left = sorted((unit * height[network.place[j]] - scale * w, j) for j, w in load if w)[:2]
            for i in range(first, end):
                for rest, j in left:  # the two that leave least: one of them is not i
                    if j != i and rest < unit * height[network.place[i]]:
                        raise NotProved(f"from terminal {i} to {j}, more than the distance is carried over channel {c}")
    all_traffic = "whatever traffic some routing, adaptive or not, carries with no channel beyond its bandwidth"
    return f"{all_traffic}, this routing loads no channel beyond {claim.times} under it"


def prove_carried(network: Network, claim: SimpleNamespace) -> str:
    """Prove that some routing carries a traffic with no channel beyond P/Q: flows of sources bring what these send."""
    load: dict[int, int] = defaultdict(int)
    for first, end, (number, flow) in pieces((claim.traffic, claim.carrier), network.terminals):
        balance: dict[int, int] = defaultdict(int)  # of each node: what leaves less what enters, and what is to arrive
        for start, count, value in runs(network.rows[flow]):
            for c in range(start, start + count):
                balance[network.tail[c]] += value
                balance[network.head[c]] -= value
        for start, count, value in runs(network.rows[number]):
            for node in network.place[start : start + count]:
                balance[node] += value
        sent, left = total(network.rows[number]), {node: value for node, value in balance.items() if value}
        for i in range(first, end):
            if left != ({network.place[i]: sent} if sent else {}):
                raise NotProved(f"the carrier of terminal {i} does not bring what it sends")
        add(load, network.rows[flow], end - first)
    for c, amount in enumerate(accumulate(load[c] for c in range(network.channels))):
        if claim.Q * amount > claim.P * network.bandwidth[c] * claim.T:
            raise NotProved(f"the carrier loads channel {c} by more")
    return f"some routing carries the traffic given with no channel beyond {claim.times}"


def prove_blocked(network: Network, claim: SimpleNamespace) -> str:
    """Prove that every routing loads some channel by at least P/Q of its bandwidth: each unit pays its distance."""
    lengths, paid = dense(claim.lengths[1], network.channels), 0
    most = spent(network, lengths, claim.distance)
    for first, end, (number, potential) in pieces((claim.traffic, claim.distance), network.terminals):
        height = dense(network.rows[potential], network.nodes)
        for start, count, value in runs(network.rows[number]):
            far = [height[node] for node in network.place[start : start + count]]
            paid += sum(value * max(0, to - height[node]) for node in network.place[first:end] for to in far)
    if not most or claim.Q * paid < claim.P * claim.T * most:
        raise NotProved("the distances do not prove it")
    return f"every routing, adaptive or not, loads some channel by {claim.times} or more under the traffic"


def prove_cut(network: Network, claim: SimpleNamespace) -> str:
    """Prove that channels of bandwidth B lead from one half of the terminals to the other."""
    side = dense(claim.side, network.nodes)
    ends = [(bool(side[a]), bool(side[b]), speed) for a, b, speed in zip(network.tail, network.head, network.bandwidth)]
    there, back = (sum(speed for a, b, speed in ends if a == way != b) for way in (True, False))
    inside = sum(1 for node in network.place if side[node])
    if abs(2 * inside - network.terminals) > 1 or there != claim.B:
        raise NotProved(f"{inside} of {network.terminals} terminals are on one side, or the bandwidth is another")
    return f"a cut that halves the terminals has bandwidth {there} one way and {back} back, in the file's unit"


def prove_failure(network: Network, claim: SimpleNamespace) -> str:
    """Prove statements about what is left without some channels: other flows, some pairs lost."""
    left, changed = copy(network), dict(claim.changed)
    left.flows = [changed.get(c, flow) for c, flow in enumerate(network.flows)]
    left.lost = claim.lost[0] if claim.lost else network.lost
    removed = [c for c, value in enumerate(dense(claim.removed, network.channels)) if value]
    if any(total(network.rows[number]) for c in removed for number in left.flows[c][2::3]):
        raise NotProved("a flow uses a channel that is removed")
    near = {end for c in changed for end in (network.tail[c], network.head[c])}
    require_unit_flows(left, {*network.at, *network.out, *network.into} if claim.lost else near)
    which = f"{', '.join(map(str, removed[:4]))}{', ...' if removed[4:] else ''} ({len(removed)} channels)"
    return f"without {which}: {'; '.join(prove(left, statement) for statement in claim.statements)}"


# ALL OF IT. The whole file is read before a statement is proved, so that a malformed one is always called that.


def prove(network: Network, claim: SimpleNamespace) -> str:
    """Return the sentence that a statement proves; raise NotProved if its numbers do not prove it."""
    try:
        return str(globals()[f"prove_{claim.word.replace('-', '_')}"](network, claim))
    except NotProved as error:
        raise NotProved(f"line {claim.line}: {claim.word}: {error}") from None


def check(path: str, most_bytes: int = MOST_BYTES) -> Iterator[str]:
    """Yield what a closed claim proves, sentence by sentence; raise Malformed or NotProved at the first fault."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
        try:
            reader = Reader(stream, most_bytes)
            network = Network(reader)
            statements = list(iter(lambda: read_statement(reader, network) if reader.word != "end" else None, None))
            if reader.text or stream.read(1) or not statements:
                raise reader.malformed("the line  end  is the last, alone, with a statement before it", 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Malformed(f"the compressed data is cut off or damaged: {error}") from None
    yield f"{path}: {reader.bytes:,} bytes, SHA-256 {reader.digest.hexdigest()}"
    if network.about:
        yield f'about: "{network.about}" (not checked)'
    pairs = ""
    if network.unit:
        require_unit_flows(network, {*network.at, *network.out, *network.into})
        lost = sum(n * m for _, n, row in runs(network.lost) for _, m, value in runs(network.rows[row]) if value)
        pairs = f"; the flows of {network.terminals**2 - lost:,} pairs are unit flows"
    yield f"{network.nodes:,} nodes, {network.channels:,} channels, {network.terminals:,} terminals{pairs}"
    for statement in statements:
        yield f"proved: {prove(network, statement)}"
    yield f"believed: {BELIEVED}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the claim that the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description="Check a closed claim about routing in a network.")
    parser.add_argument("claim", help="a text file; decompressed if its name ends in .gz")
    parser.add_argument("--most-bytes", type=int, default=MOST_BYTES, help="limit of its size (default %(default)s)")
    given = parser.parse_args(arguments)
    try:
        for sentence in check(given.claim, given.most_bytes):
            print(sentence, flush=True)
    except (NotProved, Malformed, OSError, MemoryError) as error:
        what, status = ("not proved", 1) if isinstance(error, NotProved) else ("malformed", 2)
        print(f"{what}: {given.claim}: {str(error) or 'it does not fit in memory'}", file=sys.stderr)
        return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
