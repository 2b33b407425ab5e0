"""Instances: their paths against the definitions, published sizes, files good and bad."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bufferless.instances import layered, line, walks

import obliv
from obliv.bufferless.kernels import direct as _path_kernels
from obliv.bufferless.leveled import instances as _instance_kernels
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.paths.grids import between
from obliv.bufferless.problems import instance, instances, load_instance, oriented
from obliv.errors import FileError, InputError

TABLES = [  # of the published tables: packets, congestion, dilation, lower bound
    ("butterfly:4", "random", {}, 16, 2, 4, 5),
    ("butterfly:6", "random", {}, 64, 3, 6, 8),
    ("butterfly:8", "random", {}, 256, 4, 8, 11),
    ("butterfly:10", "random", {}, 1024, 7, 10, 16),
    ("butterfly:10", "bit-reverse", {}, 1024, 16, 10, 25),
    ("butterfly:10", "hotspot", {}, 1024, 49, 10, 58),
    ("leveled-mesh:8x8", "random", {}, 54, 7, 11, 11),
    ("leveled-mesh:12x12", "random", {}, 139, 10, 17, 17),
    ("leveled-mesh:16x16", "random", {}, 242, 16, 27, 27),
    ("array:64", "random", {}, 63, 28, 58, 58),
    ("array:512", "random", {"rate": 0.5, "maxlen": 32}, 245, 17, 32, 32),
    ("random-leveled:L=200,W=32", "random", {"packets": 1000, "minlen": 50}, 1000, 20, 200, 200),
    ("random-leveled:L=500,W=16", "random", {"packets": 500, "minlen": 200}, 500, 23, 486, 486),
    ("deep:L=100,W=32,S=8", "random", {}, 256, 14, 100, 106),
    ("deep:L=200,W=64,S=32", "random", {}, 2048, 32, 200, 206),
    ("deep:L=800,W=32,S=16", "random", {}, 512, 24, 800, 808),
    ("deep:L=4000,W=4,S=4", "random", {}, 16, 9, 4000, 4005),
    ("multibutterfly:8", "random", {}, 256, 3, 8, 10),
    ("unrolled-fattree:2,5", "random", {}, 32, 5, 10, 14),
    ("unrolled-fattree:2,7", "random", {}, 128, 6, 14, 19),
    ("leveled-hypercube:10", "random", {}, 991, 18, 8, 18),
    ("unrolled-debruijn:8", "random", {}, 256, 4, 8, 11),
    ("unrolled-shuffle:5", "random", {}, 32, 3, 10, 12),
    ("unrolled-shuffle:7", "random", {}, 128, 5, 14, 18),
]
ROWS = [
    "butterfly:4",
    "unrolled-debruijn:4",
    "unrolled-shuffle:4",
    "unrolled-fattree:2,4",
    "multibutterfly:4,d=3,seed=5",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "paths", "options", "packets", "c", "d", "bound"), TABLES)
def test_instances_of_the_tables(spec: str, paths: str, options: Any, packets: int, c: int, d: int, bound: int) -> None:
    drawn = instance(spec, paths, 0, **options)
    drawn.require_paths()
    assert (drawn.packets, drawn.congestion, drawn.dilation, drawn.lower_bound) == (packets, c, d, bound)
    assert drawn.one_source
    again = instance(spec, paths, np.random.default_rng(0), **options)
    assert np.array_equal(drawn.edge, again.edge)
    other = instance(spec, paths, 1, **options)
    assert paths == "bit-reverse" or not np.array_equal(drawn.edge, other.edge)


@pytest.mark.nightly
@pytest.mark.parametrize(("side", "packets", "d", "bound"), [(128, 16359, 229, 284), (256, 65499, 476, 593)])
def test_saturated_meshes(side: int, packets: int, d: int, bound: int) -> None:
    drawn = instance(f"leveled-mesh:{side}x{side}", route="xy")
    assert (drawn.packets, drawn.congestion, drawn.dilation, drawn.lower_bound) == (packets, bound, d, bound)


@pytest.mark.nightly
def test_a_million_packets() -> None:
    drawn = instance("butterfly:20")
    drawn.require_paths()
    assert (drawn.packets, drawn.dilation, drawn.lower_bound) == (2**20, 20, 19 + drawn.congestion)
    mesh = instance("leveled-mesh:512x512", route="xy")
    assert (mesh.congestion, mesh.dilation) == (1338, 964)


# what is drawn


def ends(drawn: Instance) -> list[tuple[int, int]]:
    return list(zip(drawn.source.tolist(), drawn.destination.tolist(), strict=True))


@pytest.mark.parametrize("spec", ROWS)
@pytest.mark.parametrize("kind", ["random", "permutation", "transpose", "bit-reverse", "hotspot"])
def test_rows_send_to_rows(spec: str, kind: str) -> None:
    drawn = instance(spec, kind, 3)
    drawn.require_paths()
    last = drawn.network.nodes - 16
    assert drawn.source.tolist() == list(range(16))
    rows = (drawn.destination - last).tolist()
    words = [f"{r:04b}" for r in range(16)]
    if kind == "permutation":
        assert sorted(rows) == list(range(16))
    elif kind == "transpose":
        assert [words[r] for r in rows] == [word[2:] + word[:2] for word in words]
    elif kind == "bit-reverse":
        assert [words[r] for r in rows] == [word[::-1] for word in words]
    else:
        rng = np.random.default_rng(3)
        hot = rng.random(16) < 0.1 if kind == "hotspot" else np.zeros(16, bool)
        assert rows == np.where(hot, 0, rng.integers(0, 16, 16)).tolist()


def test_hotspots_can_be_hotter() -> None:
    rows = Counter(instance("butterfly:8", "hotspot", 0, share=0.9).destination.tolist())
    assert rows[8 * 256] > 200


@pytest.mark.parametrize("orientation", ["++", "+-", "-+", "--"])
@pytest.mark.parametrize("kind", ["random", "permutation", "transpose", "bit-reverse", "hotspot"])
@pytest.mark.parametrize("route", ["random", "xy"])
def test_meshes_send_where_a_monotone_path_leads(orientation: str, kind: str, route: str) -> None:
    spec = f"leveled-mesh:4x4,orientation={orientation}"
    if kind == "transpose" and orientation in ("++", "--"):
        with pytest.raises(InputError, match="12 of 16 pairs"):
            instance(spec, kind)
        return
    drawn = instance(spec, kind, 2, route=route)
    drawn.require_paths()
    wrong, there = lost(drawn.notes)
    assert drawn.packets + wrong + there == 16
    if kind == "transpose":
        assert ends(drawn) == [
            (4 * x + y, 4 * y + x) for x in range(4) for y in range(4) if (x < y) == (orientation == "+-") and x != y
        ]
    if kind == "bit-reverse":
        assert all(f"{a:04b}" == f"{b:04b}"[::-1] for a, b in ends(drawn))
    if route == "xy":
        vertical = drawn.edge < 12
        for a, b in zip(drawn.start[:-1], drawn.start[1:], strict=True):
            assert (np.diff(vertical[a:b].astype(int)) <= 0).all()


def lost(notes: tuple[str, ...]) -> tuple[int, int]:
    wrong = sum(int(note.split()[0]) for note in notes if "no monotone path" in note)
    return wrong, sum(int(note.split()[0]) for note in notes if "already at" in note)


def test_orders_of_steps_are_alike_likely() -> None:
    network = obliv.topology("leveled-mesh:3x3")
    many = between(network, np.zeros(6000, int), np.full(6000, 8), np.random.default_rng(0), "random")
    count = Counter(map(tuple, many.edge.reshape(-1, 4).tolist()))
    assert len(count) == 6
    assert max(abs(n - 1000) for n in count.values()) < 150


def test_arrays_of_both_orientations() -> None:
    there, back = (
        instance("array:40", "random", 5, rate=0.7, maxlen=6),
        instance("array:40,orientation=-", "random", 5, rate=0.7, maxlen=6),
    )
    assert ends(back) == [(39 - a, 39 - b) for a, b in ends(there)]
    assert there.dilation <= 6
    back.require_paths()
    some = instance("array:16", "bit-reverse")
    assert ends(some) == [(v, r) for v in range(16) if (r := int(f"{v:04b}"[::-1], 2)) > v]


def test_hypercubes_only_set_bits() -> None:
    for kind in ("random", "permutation", "hotspot"):
        drawn = instance("leveled-hypercube:7", kind, 4)
        drawn.require_paths()
        assert all(a & ~b == 0 and a != b for a, b in ends(drawn))
    assert sum(b == 127 for _, b in ends(instance("leveled-hypercube:7", "hotspot", share=1.0))) == 127


def test_walks_stay_within_their_lengths() -> None:
    drawn = instance("random-leveled:L=30,W=6,d=2,seed=7", rng=1, packets=90, minlen=4, maxlen=9)
    drawn.require_paths()
    room = 30 - drawn.level
    assert ((drawn.length >= np.minimum(4, room)) & (drawn.length <= np.minimum(9, room))).all()
    assert drawn.packets == 90
    deep = instance("deep:L=30,W=6,S=4,seed=7", rng=1)
    assert (deep.level + deep.length == 30).all()
    assert np.array_equal(np.bincount(deep.level), [6] * 4)


def test_walks_in_graphs_end_where_no_edge_leads_on(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("a b\nb c\nb d\nc e\nx d\n")
    drawn = instance(f"leveled-file:{path}", rng=3, minlen=3)
    drawn.require_paths()
    assert drawn.packets == 4  # from a, b, c and x
    assert set(drawn.destination.tolist()) <= {drawn.network.node("d"), drawn.network.node("e")}


# figures


def brute(drawn: Instance) -> tuple[int, int, bool]:
    users: dict[int, list[tuple[int, int]]] = {}
    for p in range(drawn.packets):
        path = drawn.edge[drawn.start[p] : drawn.start[p + 1]].tolist()
        for k, e in enumerate(path):
            users.setdefault(e, []).append((k, len(path) - 1 - k))
    over = [len(part) + min(a for a, _ in part) + min(b for _, b in part) for part in users.values()]
    sources = [int(drawn.network.low[e]) for e in drawn.edge[drawn.start[:-1]]]
    return max(map(len, users.values())), max([*over, int(drawn.length.max())]), len(set(sources)) == len(sources)


def test_figures_against_brute_force() -> None:
    rng = np.random.default_rng(11)
    for case in range(150):
        if case % 3:
            network = layered(int(rng.integers(1, 9)), int(rng.integers(1, 6)), int(rng.integers(1, 4)), rng)
            drawn = walks(network, int(rng.integers(1, 25)), 1, 8, rng, distinct=bool(case % 2))
        else:
            drawn = line(int(rng.integers(3, 25)), 0.8, 9, rng)
        if drawn.packets:
            assert (drawn.congestion, drawn.lower_bound, drawn.one_source) == brute(drawn)


@pytest.mark.nightly
@pytest.mark.parametrize("spec", [*ROWS, "leveled-hypercube:4", "leveled-mesh:5x3", "leveled-mesh:3x4,orientation=-+"])
def test_compiled_kernels_agree(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = instance(spec, rng=8)
    figures = plain.congestion, plain.lower_bound, plain.one_source
    monkeypatch.setattr("obliv.kernels.COMPILE_ABOVE", -1)
    compiled = instance(spec, rng=8)
    compiled.require_paths()
    assert np.array_equal(plain.edge, compiled.edge)
    assert (compiled.congestion, compiled.lower_bound, compiled.one_source) == figures
    for module in (_path_kernels, _instance_kernels):  # others are to run interpreted again
        for name in module.__all__:
            monkeypatch.setattr(getattr(module, name), "hot", False)


# what is refused


@pytest.mark.parametrize(
    ("network", "paths", "options", "word"),
    [
        ("mesh:4x4", "random", {}, "leveled-mesh:4x4"),
        ("line:4", "random", {}, "array:4"),
        ("torus:4x4", "random", {}, "no levels"),
        ("array:9", "transpose", {}, "use random, permutation"),
        ("leveled-hypercube:4", "bit-reverse", {}, "use random, permutation, hotspot"),
        ("deep:L=9,W=5,S=2", "transpose", {}, "not a square"),
        ("butterfly:3", "transpose", {}, "not a square"),
        ("array:9", "bit-reverse", {}, "not a power of two"),
        ("unrolled-fattree:3,2", "bit-reverse", {}, "not a power of two"),
        ("leveled-mesh:4x3", "transpose", {}, "as many rows"),
        ("butterfly:3", "randon", {}, "did you mean random"),
        ("butterfly:3", "random", {"rate": 0.5}, "no option 'rate'"),
        ("array:9", "random", {"maxlne": 3}, "did you mean maxlen"),
        ("array:9", "random", {"maxlen": 0}, "at least 1"),
        ("array:9", "random", {"rate": 2}, "between 0 and 1"),
        ("array:9", "random", {"rate": 0}, "no packet"),
        ("array:9", "random", {"rate": "x"}, "must be a number"),
        ("leveled-mesh:4x4", "random", {"route": "yx"}, "random, or xy"),
        ("random-leveled:L=9,W=4", "random", {"packets": 37}, "from 1 to 36"),
        ("random-leveled:L=9,W=4", "random", {"minlen": 5, "maxlen": 4}, "minlen <= maxlen"),
        ("butterfly:3", [[0], [99]], {}, "edges 0 to 47"),
        ("butterfly:3", [[0, 3]], {}, "broken"),
        ("butterfly:3", [[0.5]], {}, "lists of edge numbers"),
        ("butterfly:3", 7, {}, "lists of edge numbers"),
        ("butterfly:3", [[0]], {"share": 1}, "no option"),
    ],
)
def test_bad_requests(network: str, paths: Any, options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        instance(network, paths, 0, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_bad_seeds(seed: Any) -> None:
    with pytest.raises(InputError, match="seed"):
        instance("butterfly:3", "random", seed)


def test_given_paths() -> None:
    drawn = instance("array:5", [[0, 1], [], [2]])
    assert drawn.length.tolist() == [2, 1]
    assert "1 empty" in drawn.notes[0]
    assert drawn.paths == "given"


# general traffic


@pytest.mark.parametrize("kind", ["random", "permutation", "transpose", "bit-reverse", "hotspot"])
@pytest.mark.parametrize("route", ["random", "xy"])
def test_every_packet_of_a_mesh_is_in_one_class(kind: str, route: str) -> None:
    mesh = obliv.topology("mesh:8x4" if kind != "transpose" else "mesh:4x4")
    links = set(zip(mesh.tail.tolist(), mesh.head.tolist(), strict=True))
    classes = oriented(mesh, kind, 5, route=route)
    sources = Counter[int]()
    for part in classes:
        part.require_paths()
        ends = part.network.ends_of(part.edge)
        assert set(zip(*(side.tolist() for side in ends), strict=True)) <= links
        sources.update(part.source.tolist())
        if route == "xy":  # x is the second coordinate of the leveled mesh
            across = np.abs(ends[0] - ends[1]) == 1
            for a, b in zip(part.start[:-1], part.start[1:], strict=True):
                assert (np.diff(across[a:b].astype(int)) <= 0).all()
    assert len({part.network.spec for part in classes}) == len(classes) == {"transpose": 2}.get(kind, 4)
    assert max(sources.values()) == 1
    staying = {"transpose": 4, "bit-reverse": 8}.get(kind)
    if staying is not None:
        assert mesh.nodes - sum(sources.values()) == staying
        assert classes[0].notes[0].startswith(f"{staying} of {mesh.nodes} packets")


def test_lines_and_hypercubes() -> None:
    assert sum(part.packets for part in oriented("line:30", "random", 1)) == 30
    assert [part.network.spec for part in oriented("hypercube:5")] == ["leveled-hypercube:5"]
    assert [part.packets for part in instances("butterfly:5", "permutation")] == [32]
    assert [part.packets for part in instances("mesh:4x3", rng=3, route="xy")] == [
        part.packets for part in oriented("mesh:4x3", "random", 3, route="xy")
    ]
    for spec, paths, options, word in (
        ("file", "random", {}, "unknown topology|nothing|missing"),
        ("slimfly:3", "random", {}, "no levels"),
        ("torus:4x4", "random", {}, "no leveled form"),
        ("mesh:4x4", [[0]], {}, "leveled-mesh"),
        ("mesh:4x4", "radnom", {}, "did you mean random"),
        ("mesh:4x4", "random", {"rout": "xy"}, "did you mean route"),
    ):
        with pytest.raises(InputError, match=word):
            instances(spec, paths, **options)
    for bad in ("torus:4x4", "ring:5", "torus:3x3x3", "butterfly:3"):
        with pytest.raises(InputError, match=r"orientations|no leveled form"):
            oriented(bad)
    with pytest.raises(InputError, match="transpose is not available"):
        oriented("line:9", "transpose")


# files


def test_paths_from_a_file(tmp_path: Path) -> None:
    net = tmp_path / "net.txt"
    net.write_text("a b\nb c\nb c\nx b\n")
    spec = f"leveled-file:{net}"
    path = tmp_path / "paths.txt"
    path.write_text("# packets\n0 1\na -> b → c\nx->b\n\nx b c\n2\na\n")
    drawn = instance(spec, path)
    assert [drawn.edge[a:b].tolist() for a, b in zip(drawn.start, drawn.start[1:], strict=False)] == [
        [0, 1],
        [0, 1],
        [3],
        [3, 1],
        [2],
    ]
    assert drawn.notes[0].startswith("1 of 6 packets are at their destination")
    assert instance("array:4", write(tmp_path, "0 -> 1 -> 2\n1 2\n")).edge.tolist() == [0, 1, 1, 2]


def write(folder: Path, text: str) -> Path:
    path = folder / "given.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("0\n8\n", r":2: there is no edge 8"),
        ("0 -> 1\n2 -> 1\n", r":2: no edge leads from '2' \(level 2\) to '1' \(level 1\); one leads back"),
        ("0 -> 2\n", r":1: no edge leads from"),
        ("0\n\n1 3\n", r":3: the path breaks: edge 1 ends at node 2 and edge 3 begins at node 3"),
        ("0 -> q\n", r":1: .*no node 'q'"),
        ("²\n", r":1: .*no node '²'"),
        ("0 -> -> 1\n", r":1: .*no node ''"),
        ("-1\n", r":1: .*no node '-1'"),
        ("99999999999999999999\n", r":1: there is no edge"),
        ("# nothing\n", "no path"),
        ("0 -> 0\n", "no edge leads"),
    ],
)
def test_bad_files_of_paths(text: str, word: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=word) as error:
        instance("array:9", write(tmp_path, text))
    assert "\n" not in str(error.value)
    assert "given.txt" in str(error.value)


@pytest.mark.parametrize(
    "spec", ["butterfly:3", "leveled-mesh:4x4,orientation=+-", "multibutterfly:3", "deep:L=9,W=3,S=2"]
)
@pytest.mark.parametrize("name", ["saved.json", "saved.json.gz"])
def test_saved_instances_come_back(spec: str, name: str, tmp_path: Path) -> None:
    drawn = instance(spec, rng=4)
    drawn.save(tmp_path / name)
    again = load_instance(tmp_path / name)
    assert again.network.family == spec.partition(":")[0]
    assert again.network.spec == drawn.network.spec
    assert np.array_equal(again.start, drawn.start)
    assert np.array_equal(again.edge, drawn.edge)
    assert (again.paths, again.seed, again.notes) == (drawn.paths, drawn.seed, drawn.notes)
    assert np.array_equal(instance(spec, tmp_path / name).edge, drawn.edge)
    assert obliv.topology(f"leveled-file:{tmp_path / name}").edges == drawn.network.edges
    with pytest.raises(FileError, match="are not those of"):
        instance("butterfly:4", tmp_path / name)


def test_networks_that_cannot_be_made_again_are_kept(tmp_path: Path) -> None:
    net = tmp_path / "net.txt"
    net.write_text("a b\nb c\nb c\nx b\n")
    drawn = instance(f"leveled-file:{net}")
    drawn.save(tmp_path / "saved.json")
    net.unlink()
    again = load_instance(tmp_path / "saved.json")
    assert again.network.labels == drawn.network.labels
    assert np.array_equal(again.network.high, drawn.network.high)
    changed = instance("array:4", [[0, 1]]).to_dict() | {"topology": "array:5"}
    assert Instance.from_dict(changed).network.spec == "array:5 as saved"


def test_large_instances_are_packed(tmp_path: Path) -> None:
    drawn = instance("leveled-mesh:70x70", route="xy")
    assert len(drawn.edge) > 100_000
    saved = json.loads(json.dumps(drawn.to_dict()))
    again = Instance.from_dict(saved)
    assert np.array_equal(again.edge, drawn.edge)
    saved["path_starts"], saved["paths"] = saved["paths"], saved["path_starts"]
    with pytest.raises(InputError):
        Instance.from_dict(saved)


ODD: list[Any] = [None, -1, 2**31, 2**70, 1.5, "x", [], {}, [[]], [None], {"shape": [3]}, True, [[0, 0]], [0, 1, 2]]
ODD.append({"b64zlib": "x", "dtype": "int64", "shape": [2**40]})
ODD.append({"b64zlib": "eJw=", "dtype": "int64", "shape": [1]})


def mutated(value: Any, rng: random.Random) -> Any:
    if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return rng.choice(ODD)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = rng.choice(list(keys))
    copy = value.copy()
    if rng.random() < 0.15:
        del copy[key]
    else:
        copy[key] = mutated(value[key], rng)
    return copy


@pytest.mark.parametrize("cases", [400, pytest.param(6000, marks=pytest.mark.nightly)])
def test_hostile_files_are_refused_in_one_line(cases: int, tmp_path: Path) -> None:
    rng = random.Random(3)
    plain = instance("leveled-mesh:3x4", rng=1)
    packed = instance("butterfly:6", rng=1)
    refused = 0
    for case in range(cases):
        drawn = mutated((plain if case % 2 else packed).to_dict(), rng)
        try:
            again = Instance.from_dict(drawn)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 500
        else:
            again.require_paths()
            _ = again.lower_bound, again.one_source, again.to_dict()
    assert refused > 0.6 * cases
    path = tmp_path / "bad.json"
    for text in ("{}", "[]", '{"instance": 3}', '{"levels": [0', "\x00", '{"instance": {"levels": [0,1]}}'):
        path.write_text(text)
        with pytest.raises(FileError, match=r"bad\.json"):
            load_instance(path)
    with pytest.raises(FileError, match="file not found"):
        load_instance(tmp_path / "nowhere.json")
