"""A schedule checked without obliv
=================================

The rules of docs/reference/formats/schedules.md, by themselves::

    python check_schedule.py schedule.json.gz

Oscillations are expanded step by step: for schedules of up to some million steps.
"""

import base64
import gzip
import json
import struct
import sys
import zlib
from itertools import pairwise
from pathlib import Path


def numbers(value):
    if not isinstance(value, dict):
        return value
    data = zlib.decompress(base64.b64decode(value["b64zlib"]))
    flat, width = struct.unpack(f"<{len(data) // 8}q", data), value["shape"][-1]
    return list(flat) if len(value["shape"]) == 1 else [flat[k : k + width] for k in range(0, len(flat), width)]


def check(made):
    instance = made["instance"]
    level, edges, source, end = (numbers(instance[key]) for key in ("levels", "edges", "sources", "destinations"))
    paths = numbers(instance["paths"])
    if "path_starts" in instance:
        paths = [paths[first:after] for first, after in pairwise(numbers(instance["path_starts"]))]
    assert all(level[high] == level[low] + 1 for low, high in edges), "an edge skips a level"
    users = [0] * len(edges)
    for path in paths:
        for e in path:
            users[e] += 1
    assert len(paths) == len(source) == len(end) == made["packets"]
    assert max(users) == made["congestion"]
    assert max(map(len, paths)) == made["dilation"]

    buffers, wanders = made["rules"] == "buffered", made["algorithm"] == "distributed"
    assert buffers or made["rules"] == "bufferless"
    steps, taken = [[] for _ in paths], set()
    for time, packet, e, way, *more in numbers(made["moves"]):
        for n in range(1 + sum(more)):  # to and fro
            steps[packet].append((time + n, e, way if n % 2 == 0 else -way))
    last = 0
    for packet, (path, walk) in enumerate(zip(paths, steps)):
        node, done, back, clock = source[packet], 0, [], 0
        for time, e, way in sorted(walk):
            assert wanders or done < len(path) or back, f"packet {packet} moves on after it has arrived"
            assert way in (1, -1), f"packet {packet}: a direction is wrong"
            assert time > clock, f"packet {packet}: a time is wrong"
            assert buffers or clock in (0, time - 1), f"packet {packet} rests at step {time}"
            assert (e, way, time) not in taken, f"two packets take edge {e} at step {time}"
            taken.add((e, way, time))
            tail, head = edges[e][::way]
            assert node == tail, f"packet {packet} is not where its move at step {time} begins"
            if back and back[-1] == (e, -way):
                back.pop()
            elif not back and way == 1 and done < len(path) and path[done] == e:
                done += 1
            else:
                assert not buffers, f"packet {packet} leaves its path"
                back.append((e, way))
            node, clock = head, time
        assert (done, back, node) == (len(path), [], end[packet]), f"packet {packet} does not arrive"
        last = max(last, clock)
    assert last == made["makespan"], "the last step is another"
    return len(paths), last


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_bytes()
    made = json.loads(gzip.decompress(text) if sys.argv[1].endswith(".gz") else text)
    found = [check(each) for each in made.get("classes", [made])]
    assert sum(packets for packets, _ in found) == made["packets"]
    assert sum(last for _, last in found) == made["makespan"]
    print(f"holds: {made['packets']} packets, {made['makespan']} steps, {made['rules']}")
