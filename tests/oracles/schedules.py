"""Packet routing on leveled networks worked out slowly in plain Python from the paper; nothing here comes from obliv.

A case is read from the JSON of a schedule.  A link is a pair (edge, direction), direction 1 up and -1 down; a walk is a
list of (time, edge, direction).  Everything is told by assertions.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np

Link = tuple[int, int]
Walk = list[tuple[int, int, int]]
Edges = list[tuple[int, int]]


def unpack(value: Any) -> Any:
    """Lists, whichever way they are written."""
    if not isinstance(value, dict):
        return value
    data = zlib.decompress(base64.b64decode(value["b64zlib"]))
    return np.frombuffer(data, value["dtype"]).reshape(value["shape"]).tolist()


# What an instance is.


@dataclass
class Case:
    """An instance and the moves on it."""

    level: list[int]
    edges: Edges
    paths: list[list[int]]
    source: list[int]
    destination: list[int]
    rows: list[list[int]]
    algorithm: str
    rules: str

    @property
    def congestion(self) -> int:
        return max((len(users) for users in self.users.values()), default=0)

    @property
    def dilation(self) -> int:
        return max(map(len, self.paths), default=0)

    @property
    def users(self) -> dict[int, list[tuple[int, int]]]:
        """For every edge that is used: the packets, and how many edges each comes before it."""
        users = defaultdict(list)
        for packet, path in enumerate(self.paths):
            for at, edge in enumerate(path):
                users[edge].append((packet, at))
        return dict(users)

    @property
    def lower_bound(self) -> int:
        best = self.dilation
        for users in self.users.values():
            before = min(at for _, at in users)
            after = min(len(self.paths[packet]) - at - 1 for packet, at in users)
            best = max(best, len(users) + before + after)
        return best

    def low(self, packet: int) -> int:
        """The level of a packet's source."""
        return self.level[self.source[packet]]

    def high(self, packet: int) -> int:
        """The level of a packet's destination."""
        return self.level[self.destination[packet]]

    def ends(self, edge: int, direction: int) -> tuple[int, int]:
        """From which node to which."""
        low, high = self.edges[edge]
        return (low, high) if direction > 0 else (high, low)

    def walks(self, most: int = 300_000) -> list[Walk]:
        """The moves of every packet one by one, those to and fro too."""
        walks: list[Walk] = [[] for _ in self.paths]
        assert sum(row[4] if len(row) > 4 else 0 for row in self.rows) <= most
        for time, packet, edge, direction, *more in sorted(self.rows):
            for n in range(1 + (more[0] if more else 0)):
                walks[packet].append((time + n, edge, direction if n % 2 == 0 else -direction))
        return walks


def read(saved: dict[str, Any]) -> Case:
    """The case in the JSON of a schedule, its form checked."""
    instance = saved["instance"]
    case = Case(
        unpack(instance["levels"]),
        [(low, high) for low, high in unpack(instance["edges"])],
        unpack(instance["paths"]),
        unpack(instance["sources"]),
        unpack(instance["destinations"]),
        unpack(saved["moves"]),
        saved["algorithm"],
        saved["rules"],
    )
    for low, high in case.edges:
        assert case.level[high] == case.level[low] + 1
    assert len(case.paths) == len(case.source) == len(case.destination) == saved["packets"]
    for path, source, destination in zip(case.paths, case.source, case.destination):
        assert path
        at = source
        for edge in path:
            assert case.edges[edge][0] == at
            at = case.edges[edge][1]
        assert at == destination
    assert case.congestion == saved["congestion"]
    assert case.dilation == saved["dilation"]
    assert case.lower_bound == saved["lower_bound"]
    return case


# What holds for every schedule.


def reduced(walk: Walk) -> list[Link]:
    """A walk with every move that is taken back struck out."""
    left: list[Link] = []
    for _, edge, direction in walk:
        if left and left[-1] == (edge, -direction):
            left.pop()
        else:
            left.append((edge, direction))
    return left


def audit(saved: dict[str, Any]) -> Case:
    """Every rule of the model, from the raw moves alone."""
    case = read(saved)
    walks = case.walks()
    taken = [(time, edge, direction) for walk in walks for time, edge, direction in walk]
    assert len(set(taken)) == len(taken), "a directed link carries two packets in one step"
    assert all(time >= 1 for time, _, _ in taken)
    for packet, walk in enumerate(walks):
        times = [time for time, _, _ in walk]
        if case.rules == "bufferless":
            assert times == list(range(times[0], times[0] + len(times))), "a packet rests"
        else:
            assert times == sorted(set(times))
        at = case.source[packet]
        for _, edge, direction in walk:
            tail, head = case.ends(edge, direction)
            assert tail == at, "a move does not begin where the last one ended"
            at = head
        assert at == case.destination[packet]
        forward = [(edge, 1) for edge in case.paths[packet]]
        assert reduced(walk) == forward, "links of deflections are not gone back, or the path is not gone"
        if case.algorithm != "distributed":  # absorbed at once; wanderers may pass their destination
            left: list[Link] = []
            for n, (_, edge, direction) in enumerate(walk):
                if left and left[-1] == (edge, -direction):
                    left.pop()
                else:
                    left.append((edge, direction))
                assert left != forward or n == len(walk) - 1, "a packet is not absorbed at the end of its path"
        if case.algorithm in ("centralized", "direct") or case.rules == "buffered":
            assert {edge for _, edge, _ in walk} == set(case.paths[packet])
        if case.algorithm == "direct" or case.rules == "buffered":
            assert [(edge, direction) for _, edge, direction in walk] == forward
    delivery = [walk[-1][0] for walk in walks]
    assert max(delivery, default=0) == saved["makespan"]
    assert saved["makespan"] >= saved["lower_bound"]
    assert (case.rules == "buffered") == (case.algorithm in ("fifo", "random-delay", "random-rank", "farthest-to-go"))
    return case


# What holds for one algorithm.


def audit_direct(case: Case) -> None:
    """First fit, farthest destination first: every lower offset is taken by a packet that came before.

    Packets of the same destination level and length may have come in any order.
    """
    walks = case.walks()
    offset = [walk[0][0] - 1 - case.low(packet) for packet, walk in enumerate(walks)]
    edges = [set(path) for path in case.paths]
    for p, path in enumerate(case.paths):
        before = [
            q
            for q in range(len(case.paths))
            if q != p and edges[p] & edges[q] and (case.high(q), len(case.paths[q])) >= (case.high(p), len(path))
        ]
        assert set(range(-case.low(p), offset[p])) <= {offset[q] for q in before}, "a lower offset is free"


def audit_queue(case: Case) -> None:
    """Every edge forwards the best of those waiting for it, and never idles while one waits."""
    walks = case.walks()
    late = case.congestion - 1 if case.algorithm == "random-delay" else 0
    last = max((walk[-1][0] for walk in walks), default=0)
    beats: nx.DiGraph = nx.DiGraph()
    for time in range(1, last + 1):
        waiting: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # (packet, arrival, edges to go)
        crossing: dict[int, int] = {}
        for packet, walk in enumerate(walks):
            done = sum(1 for t, _, _ in walk if t < time)
            if done == len(walk):
                continue
            edge = case.paths[packet][done]
            waiting[edge].append((packet, walk[done - 1][0] if done else 0, len(walk) - done))
            if walk[done][0] == time:
                crossing[edge] = packet
        for edge, packets in waiting.items():
            surely = [entry for entry in packets if entry[1] or time > late]
            if edge not in crossing:
                assert not surely, "an edge idles while a packet waits for it"
                continue
            winner = next(entry for entry in packets if entry[0] == crossing[edge])
            for packet, arrival, to_go in packets:
                if packet == winner[0]:
                    continue
                if case.algorithm == "fifo" or (case.algorithm == "random-delay" and arrival and winner[1]):
                    assert winner[1] <= arrival, "a packet that arrived later goes first"
                if case.algorithm == "farthest-to-go":
                    assert winner[2] >= to_go, "a packet with less to go goes first"
                if case.algorithm == "random-rank":
                    beats.add_edge(winner[0], packet)
    assert nx.is_directed_acyclic_graph(beats), "the ranks are not the same everywhere"


def audit_hot_potato(case: Case, priority: str, deflections: int) -> None:
    """Who is deflected lost its link to a better one; who waits outside finds its first link taken."""
    walks = case.walks()
    index = [0] * len(walks)
    stack: list[list[Link]] = [[] for _ in walks]
    pushed = 0
    starts = [walk[0][0] for walk in walks]
    for time in range(1, max((walk[-1][0] for walk in walks), default=0) + 1):
        moving = [p for p, walk in enumerate(walks) if walk[0][0] <= time <= walk[-1][0]]
        wants = {p: (stack[p][-1][0], -stack[p][-1][1]) if stack[p] else (case.paths[p][index[p]], 1) for p in moving}
        takes = {p: walks[p][time - starts[p]][1:] for p in moving}
        winner = {takes[p]: p for p in moving if takes[p] == wants[p]}
        key = {
            p: {
                "age": starts[p],
                "closest": len(case.paths[p]) - index[p] + len(stack[p]),
                "farthest": -(len(case.paths[p]) - index[p] + len(stack[p])),
                "random": 0,
            }[priority]
            for p in moving
        }
        for p in moving:
            if takes[p] == wants[p]:
                if stack[p]:
                    stack[p].pop()
                else:
                    index[p] += 1
                continue
            assert starts[p] < time, "a packet is deflected as it enters"
            best = winner.get(wants[p])
            assert best is not None, "deflected from a link that nobody takes who wants it"
            assert starts[best] < time, "deflected for a packet that has only just entered"
            assert key[best] <= key[p], "deflected for a packet of lower priority"
            stack[p].append(takes[p])
            pushed += 1
        used = set(takes.values())
        for p, start in enumerate(starts):
            assert start <= time or (case.paths[p][0], 1) in used, "a packet waits though its first link is free"
    assert pushed == deflections


# The centralized algorithm, phase by phase.


@dataclass
class Stay:
    """A packet in one phase: where it is at home, and its colour."""

    packet: int
    frame: int  # within its group
    bottom: int  # first level of that frame
    home: int  # a level
    fresh: bool
    colour: int
    target: int | None


def log_dn(case: Case) -> int:
    """The paper's log(DN), rounded up."""
    return math.ceil(math.log2(max(2, case.dilation * len(case.paths))))


def group_of(case: Case, packet: int, lam: int, gamma: int) -> tuple[int, int]:
    """Session, and first frame of the group."""
    low, high = case.low(packet) // lam, case.high(packet) // lam
    if low // gamma == high // gamma:
        return 1, low // gamma * gamma
    half = gamma // 2
    assert low >= half
    assert (low - half) // gamma == (high - half) // gamma
    return 2, (low - half) // gamma * gamma + half


def audit_centralized(case: Case, plan: dict[str, Any], deflections: int) -> None:
    """The moves are those that sets and colours of the plan come to, each step and each rule on its own."""
    lam, s = plan["lam"], plan["s"]
    sets, starts, colours, homes = (unpack(plan[name]) for name in ("set", "phase_start", "colour", "home"))
    gamma = 2 * math.ceil(case.dilation / lam)
    assert lam % 2 == 0
    assert plan["gamma"] == gamma
    assert all(1 <= i <= s for i in sets)
    phases: dict[tuple[int, int], list[Stay]] = defaultdict(list)
    stopping = colour_most = 0
    due = {}
    for p in range(len(case.paths)):
        session, group = group_of(case, p, lam, gamma)
        assert session == unpack(plan["session"])[p]
        home, frame, mine = case.low(p), case.low(p) // lam - group, range(starts[p], starts[p + 1])
        for n, at in enumerate(mine):
            bottom = (group + frame) * lam
            k = colours[at]
            assert k >= 1
            assert bottom <= home < bottom + lam
            assert homes[at] == home
            assert n == 0 or (home - bottom) % 2 == 0, "home on an even inner level"
            stops = case.high(p) >= bottom + lam and frame < gamma - 1
            target = bottom + 2 * lam - 2 * k if stops else None
            colour_most = max(colour_most, k)
            if target is not None:
                assert 2 * k <= lam, "a target within the frame itself"
                stopping = max(stopping, k)
            phases[session, 2 * sets[p] - 1 + frame].append(Stay(p, frame, bottom, home, n == 0, k, target))
            if target is None or case.high(p) <= target + 1:
                due[p] = (session, 2 * sets[p] - 1 + frame, 4 * k - 4 + case.high(p) - bottom)
                assert n == len(mine) - 1
                break
            home, frame = target, frame + 1
        assert p in due, "a packet has too few phases"
    tau = max(2 * (lam + stopping - 1) if stopping else 0, 4 * colour_most - 4 + lam)
    shortest = max(tau, 2 * (lam + stopping - 1))
    assert plan["tau"] in (tau, shortest, max(shortest, 2 * (lam + _degree(case, sets, lam, gamma))))
    tau = plan["tau"]
    assert tau % 2 == 0
    begin = plan["session_start"]
    assert begin[0] == 0
    first = max((phase for session, phase in phases if session == 1), default=0)
    if any(session == 2 for session, _ in phases):
        assert first * tau <= begin[1] <= (2 * s + gamma - 1) * tau
        assert begin[1] % tau == 0
    for members in phases.values():
        _audit_colours(case, members, sets, lam, gamma)
    saved: list[tuple[int, int, int, int]] = []
    pushed = 0
    for (session, phase), members in phases.items():
        moves, count = _phase(case, members, tau, lam, gamma)
        saved += [(begin[session - 1] + (phase - 1) * tau + x, p, e, d) for x, p, e, d in moves]
        pushed += count
    walks = case.walks()
    assert sorted(saved) == sorted((t, p, e, d) for p, walk in enumerate(walks) for t, e, d in walk)
    for p, (session, phase, rest) in due.items():
        assert walks[p][-1][0] == begin[session - 1] + (phase - 1) * tau + rest
    assert pushed == deflections


def _degree(case: Case, sets: list[int], lam: int, gamma: int) -> int:
    """The largest degree of the paper's dependency graphs, pair by pair."""
    met: dict[tuple[int, int], set[int]] = defaultdict(set)
    for p, q in combinations(range(len(case.paths)), 2):
        if sets[p] != sets[q] or group_of(case, p, lam, gamma) != group_of(case, q, lam, gamma):
            continue
        for edge in set(case.paths[p]) & set(case.paths[q]):
            level = case.low(p) + case.paths[p].index(edge)
            for j in {level // lam, (level + 1) // lam - 1}:  # F_j and F_{j+1} hold both of its ends
                if j >= 0:
                    met[j, p].add(q)
                    met[j, q].add(p)
    return max(map(len, met.values()), default=0)


def _audit_colours(case: Case, members: list[Stay], sets: list[int], lam: int, gamma: int) -> None:
    """Packets of one set, frame and colour ride together and share no edge of their segments."""
    users: dict[tuple[int, int, int, int], int] = {}
    for stay in members:
        last = stay.bottom + (2 * lam if stay.frame < gamma - 1 else lam) - 1
        low = case.low(stay.packet)
        for edge in case.paths[stay.packet][stay.home - low : max(0, min(case.high(stay.packet), last) - low)]:
            key = (sets[stay.packet], stay.bottom, stay.colour, edge)
            assert key not in users, "two packets of one colour share an edge"
            users[key] = stay.packet


def _phase(
    case: Case, members: list[Stay], tau: int, lam: int, gamma: int
) -> tuple[list[tuple[int, int, int, int]], int]:
    """All moves of a phase, every rule asserted; and how often somebody is deflected."""
    at = {stay.packet: stay.home for stay in members if not stay.fresh}  # who is in the network, and on which level
    riding: set[int] = set()
    arrived: set[int] = set()
    moves, deflections = [], 0
    for x in range(1, tau + 1):
        takes: dict[Link, int] = {}
        nearly: list[Stay] = []

        def take(stay: Stay, direction: int, takes: dict[Link, int] = takes) -> None:
            level = at[stay.packet] - (direction < 0)
            edge = case.paths[stay.packet][level - case.low(stay.packet)]
            assert (edge, direction) not in takes, "a directed link is used twice"
            takes[edge, direction] = stay.packet

        for stay in members:
            p, k = stay.packet, stay.colour
            if x == stay.home - stay.bottom + 4 * k - 3:  # the boat is at its home
                assert p not in riding
                assert at.setdefault(p, stay.home) == stay.home, "not at home when the boat comes"
                riding.add(p)
            if p in riding:
                assert at[p] == stay.bottom + x - (4 * k - 3)
                take(stay, 1)
            elif p in arrived and p in at:
                assert at[p] - (stay.target or 0) == (x + 1) % 2
                take(stay, 1 if x % 2 else -1)
            elif p in at:
                nearly.append(stay)
        for stay in nearly:
            away = at[stay.packet] - stay.home
            assert away == 0 if x % 2 else abs(away) == 1, "an oscillator is not where it should be"
            if away:
                take(stay, -away)
                continue
            edge = case.paths[stay.packet][stay.home - case.low(stay.packet)]
            if (edge, 1) in takes:
                assert stay.home > case.low(stay.packet), "no edge to be deflected over"
                deflections += 1
                take(stay, -1)
            else:
                take(stay, 1)
        for (edge, direction), p in takes.items():
            at[p] += direction
            moves.append((x, p, edge, direction))
        for stay in members:
            p = stay.packet
            if p not in at:
                continue
            lowest = stay.bottom - (stay.home == stay.bottom and p not in riding)
            assert lowest <= at[p] <= stay.bottom + (2 * lam if stay.frame < gamma - 1 else lam), "out of its frames"
            if at[p] == case.high(p):
                del at[p]
                riding.discard(p)
            elif p in riding and at[p] == stay.target:
                riding.discard(p)
                arrived.add(p)
                assert x <= tau - 1
    assert not riding
    for stay in members:
        assert stay.packet not in at or (stay.packet in arrived and at[stay.packet] == stay.target)
    return moves, deflections


def audit_distributed(case: Case, plan: dict[str, Any]) -> None:
    """Rounds are undone step by step, packets are delivered by their boats, and homes are targets."""
    lam, chi, s, xi, tau = (plan[name] for name in ("lam", "chi", "s", "xi", "tau"))
    assert len(set(case.source)) == len(case.source)
    assert lam % 2 == 0
    assert lam >= 6 * chi
    assert tau == 2 * (lam + chi - 1)
    gamma = 2 * math.ceil(case.dilation / lam)
    sets = unpack(plan["set"])
    assert all(1 <= i <= s for i in sets)
    starts, colours, homes = (unpack(plan[name]) for name in ("phase_start", "colour", "home"))
    parts, rounds, begins = (unpack(plan[name]) for name in ("sub_part", "sub_rounds", "sub_begin"))
    phase_of = unpack(plan["sub_phase"])
    order = sorted(range(len(begins)), key=begins.__getitem__)
    for one, two in pairwise(order):
        length = 2 * tau * xi if plan["timetable"] == "fixed" else (2 * rounds[one] - 1) * tau
        assert begins[two] >= begins[one] + length
        assert begins[two] % 2 == 0
        if plan["timetable"] == "fixed":
            assert (begins[two] - begins[one]) % length == 0
    walks = case.walks()
    for p, walk in enumerate(walks):
        links = {time: (edge, direction) for time, edge, direction in walk}
        born, dies = walk[0][0], walk[-1][0]
        _, group = group_of(case, p, lam, gamma)
        frame = case.low(p) // lam - group
        parts_of = [0 if n else 1 + (case.low(p) - (group + frame) * lam) % 2 for n in range(starts[p + 1] - starts[p])]
        home = case.low(p)
        for n, part in enumerate(parts_of):
            k, bottom = colours[starts[p] + n], (group + frame + n) * lam
            assert homes[starts[p] + n] == home
            assert bottom <= home < bottom + lam
            home = bottom + 2 * lam - 2 * k - 2 * chi * part
        # it comes in at the beginning of a sub-phase of its kind, or one step later if it is on an even inner level
        entry = [q for q in range(len(begins)) if begins[q] + max(1, parts_of[0]) == born]
        assert len(entry) == 1
        assert parts[entry[0]] == parts_of[0]
        phases = 2 * sets[p] - 1 + frame
        if plan["timetable"] == "fixed":
            assert phase_of[entry[0]] in (phases, phases + 2 * s + gamma - 1, phases + 2 * s + gamma - 2)
        # rounds before the last are undone, move by move
        for q in order:
            count = xi if plan["timetable"] == "fixed" else rounds[q]
            for r in range(count - 1):
                middle = begins[q] + 2 * tau * r + tau
                for x in range(tau):
                    there, back = middle - x, middle + x + 1
                    if born <= there - 1 and back <= dies:
                        edge, direction = links[there]
                        assert links[back] == (edge, -direction), "a move is not undone"
        # delivered on its boat
        q = max((q for q in order if begins[q] < dies), key=begins.__getitem__)
        k, bottom = colours[starts[p + 1] - 1], (group + frame + len(parts_of) - 1) * lam
        on_boat = dies - begins[q] - (4 * k - 4 + case.high(p) - bottom)
        if len(case.paths[p]) == 1 and dies == born:
            continue
        assert on_boat % (2 * tau) == 0, "not delivered by its boat"
        assert 0 <= on_boat // (2 * tau) < rounds[q]
        assert parts[q] == parts_of[-1]


def audit_all(saved: dict[str, Any]) -> Case:
    """Everything that can be said of a schedule."""
    case = audit(saved)
    if case.algorithm == "direct":
        assert saved["deflections"] == 0
        if saved["constants"]["order"] == "farthest":
            audit_direct(case)
    elif case.algorithm == "hot-potato":
        audit_hot_potato(case, saved["constants"]["priority"], saved["deflections"])
    elif case.algorithm == "centralized":
        audit_centralized(case, saved["plan"], saved["deflections"])
    elif case.algorithm == "distributed":
        audit_distributed(case, saved["plan"])
    else:
        assert saved["deflections"] == 0
        audit_queue(case)
    return case


# The families, from their formulas.


def family(name: str, *numbers: int, seed: int = 0) -> tuple[list[int], Edges]:
    """Levels of nodes, and edges in the order of their numbers."""
    if name == "leveled-mesh":
        n, m = numbers
        down = [(x * m + y, (x + 1) * m + y) for x in range(n - 1) for y in range(m)]
        right = [(x * m + y, x * m + y + 1) for x in range(n) for y in range(m - 1)]
        return [x + y for x in range(n) for y in range(m)], down + right
    if name == "array":
        return list(range(numbers[0])), [(i, i + 1) for i in range(numbers[0] - 1)]
    if name == "leveled-hypercube":
        cube = range(2 ** numbers[0])
        edges = [(v, v | 1 << b) for b in range(numbers[0]) for v in cube if not v >> b & 1]
        return [v.bit_count() for v in cube], edges
    if name in ("random-leveled", "deep"):
        depth, width, degree = numbers
        rng = np.random.default_rng(seed)
        edges = []
        for level in range(depth):
            to = [rng.permutation(width).tolist() for _ in range(degree)]
            edges += [(level * width + r, (level + 1) * width + to[b][r]) for r in range(width) for b in range(degree)]
        return [level for level in range(depth + 1) for _ in range(width)], edges
    k = numbers[0]
    rows = 2**k
    if name == "butterfly":
        steps = [[(r, r ^ b << level) for r in range(rows) for b in range(2)] for level in range(k)]
    elif name == "unrolled-debruijn":
        steps = [[(r, 2 * r % rows + b) for r in range(rows) for b in range(2)] for _ in range(k)]
    elif name == "unrolled-shuffle":
        exchange = [(r, r ^ b) for r in range(rows) for b in range(2)]
        rotate = [(r, (r << 1 | r >> (k - 1)) & (rows - 1)) for r in range(rows)]
        steps = [exchange, rotate] * k
    else:
        raise AssertionError(name)
    edges = [(level * rows + r, (level + 1) * rows + to) for level, step in enumerate(steps) for r, to in step]
    return [level for level in range(len(steps) + 1) for _ in range(rows)], edges
