"""Results by the contract: frozen, short, JSON with the promised keys, the same again from a file."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from tests import strategies
from tests.strategies import Case

import obliv
from obliv.results.markup import schemas
from obliv.results.numbers import percent

ALWAYS = {"kind", "topology", "routing", "provenance"}
WORST = {"channel_load", "throughput", "fraction_of_capacity", "capacity", "channel", "permutation", "focus_channels"}
PROVENANCE = {"version", "specs", "seed", "wall_seconds", "exactness"}


def worst(topology: str = "torus:4x4", routing: str = "romm", **options: Any) -> Any:
    return obliv.worst_case(obliv.routing(routing, obliv.topology(topology)), **options)


def rated(**options: Any) -> Any:
    ring = obliv.ring(5).with_rates([2, 1, 1, 1, Fraction(1, 3)], [1, 1, 2, 1, 1])
    return obliv.worst_case(obliv.routing("dor", ring), **options)


class Silent(obliv.Routing):
    """A routing that delivers no packet."""

    partial = True

    def paths(self, source: int, destination: int) -> tuple[()]:
        return ()


def nothing() -> Any:
    """A worst case of zero."""
    return obliv.worst_case(Silent(obliv.ring(3)))


def throughputs() -> Any:
    mesh = obliv.mesh(3, 3)
    return obliv.throughput(
        obliv.routing("dor", mesh), "uniform", "nearest-neighbor", obliv.permutation(list(range(9))), "tornado"
    )


MAKERS = {
    "worst": worst,
    "no capacity": lambda: worst("random-regular:n=10,d=3,seed=1", "ecmp"),
    "certificate": lambda: worst(certificate=True),
    "rates": rated,
    "rates and certificate": lambda: rated(certificate=True),
    "throughput": throughputs,
    "estimate": lambda: worst("torus:3x3", "valiant", samples=50, rng=np.random.default_rng(1)),
    "no load": nothing,
    "mix": lambda: worst("torus:3x3", "1/3*dor+2/3*valiant"),
}


@pytest.fixture(params=MAKERS, scope="module")
def result(request: pytest.FixtureRequest) -> Any:
    return MAKERS[request.param]()


def numbers_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every dict that stands for a number."""
    if isinstance(value, dict):
        if {"exact", "stderr", "lower"} & set(value):
            yield value
        else:
            for inner in value.values():
                yield from numbers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)


def only_json(value: Any) -> bool:
    """The JSON types themselves, no subclasses and no numpy."""
    if type(value) is dict:
        return all(type(key) is str and only_json(inner) for key, inner in value.items())
    if type(value) is list:
        return all(map(only_json, value))
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


def test_frozen(result: Any) -> None:
    for name in ("topology", "channel_load", "patterns", "kind"):
        if hasattr(result, name):
            with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
                setattr(result, name, 1)
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        del result.topology
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        result.something_new = 1


def test_repr_is_short(result: Any) -> None:
    """A few lines with the figures and no arrays."""
    text = repr(result)
    assert 1 < len(text.splitlines()) <= 15
    assert all(len(line) <= 120 for line in text.splitlines())
    for word in ("array", "b64", "Fraction(", "[0,", "(0, 1, 2", "object at", "dtype"):
        assert word not in text
    assert result.topology in text
    assert result.routing in text


def test_repr_of_a_large_result_stays_short() -> None:
    text = repr(worst("torus:15x15", "valiant", certificate=True))
    assert len(text) < 800
    assert len(text.splitlines()) <= 15


def test_to_dict_is_json(result: Any) -> None:
    content = result.to_dict()
    assert set(content) >= ALWAYS
    assert only_json(content)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert set(content["provenance"]) >= PROVENANCE
    assert content["provenance"]["version"] == obliv.__version__
    assert content["provenance"]["specs"]["topology"] == content["topology"]
    assert content["provenance"]["specs"]["routing"] == content["routing"]
    assert content["provenance"]["wall_seconds"] >= 0
    assert isinstance(content["provenance"]["exactness"], str)


def test_numbers_are_one_of_three(result: Any) -> None:
    """{"exact", "value"}, {"value", "stderr", "samples"} or {"lower", "upper"}: never anything between."""
    rows = list(numbers_in(result.to_dict()))
    assert rows
    for number in rows:
        assert set(number) in ({"exact", "value"}, {"value", "stderr", "samples"}, {"lower", "upper"})
        if "exact" in number:
            assert number["value"] == float(Fraction(number["exact"]))
            assert str(Fraction(number["exact"])) == number["exact"], "in lowest terms"


def test_null_stands_beside_a_reason(result: Any) -> None:
    content = result.to_dict()
    for holder in (content, *content.get("patterns", [])):
        for name in ("throughput", "fraction_of_capacity", "capacity", "channel_load", "permutation"):
            if name in holder and holder[name] is None:
                assert isinstance(holder[f"{name}_reason"], str), name
                assert holder[f"{name}_reason"]


def test_keys_of_worst() -> None:
    content = worst().to_dict()
    assert set(content) >= ALWAYS | WORST
    assert "certificate" not in content
    assert content["kind"] == "worst"
    assert (content["topology"], content["routing"]) == ("torus:4x4", "romm")
    assert content["channel_load"] == {"exact": "3/2", "value": 1.5}
    assert content["throughput"] == {"exact": "2/3", "value": 2 / 3}
    assert content["fraction_of_capacity"]["exact"] == "1/3"
    assert Fraction(content["capacity"]["exact"]) == 2, "the throughput of uniform traffic: 8/k"
    assert set(content["channel"]) == {"id", "tail", "head"}
    assert sorted(content["permutation"]) == list(range(16))
    assert content["focus_channels"] >= 1
    assert set(worst(certificate=True).to_dict()) >= ALWAYS | WORST | {"certificate"}


def test_keys_of_worst_with_rates() -> None:
    """The witness is a traffic matrix: rows [source, destination, amount]."""
    content = rated().to_dict()
    assert content["permutation"] is None
    assert content["traffic"]
    assert all(len(row) == 3 for row in content["traffic"])


def test_keys_of_throughput() -> None:
    content = throughputs().to_dict()
    assert content["kind"] == "throughput"
    for pattern in content["patterns"]:
        assert set(pattern) >= {"traffic", "channel_load", "throughput", "fraction_of_capacity"}
    first, second = content["patterns"][:2]
    assert first["traffic"] == "uniform"
    assert first["fraction_of_capacity"] == {"exact": "1", "value": 1.0}
    assert second["admissible"] is False


def test_estimates_never_look_exact() -> None:
    estimated = MAKERS["estimate"]()
    content = estimated.to_dict()
    assert set(content["channel_load"]) == {"value", "stderr", "samples"}
    assert content["channel_load"]["samples"] == 50
    assert "exact" not in content["throughput"]
    assert "exact" not in content["fraction_of_capacity"]
    assert content["provenance"]["exactness"] != worst().to_dict()["provenance"]["exactness"]
    assert isinstance(estimated.channel_load, obliv.Estimate)
    # a maximum over noise that was evaluated afresh lies near the true 2/3
    assert abs(float(estimated.channel_load) - 2 / 3) < 6 * estimated.channel_load.stderr + 1e-12


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["dor", "romm", "valiant", "ecmp"])
def test_estimates_are_unbiased(name: str) -> None:
    """Loads from sampled paths on a channel agree with the exact ones within their standard error."""
    torus = obliv.torus(3, 4)
    routing = obliv.routing(name, torus)
    exact = routing.pair_loads()
    sampled = routing.pair_loads(samples=12, rng=np.random.default_rng(2))
    assert sampled.samples == 12
    assert exact.samples is None
    uniform = obliv.traffic("uniform", torus)
    # 12 sources × 12 destinations × 12 paths
    mine, true = sampled.under(uniform), exact.under(uniform)
    assert float(sum(mine)) == pytest.approx(float(sum(true)), rel=0.05)
    for channel in range(torus.channels):
        # a pair crosses a channel at most twice (once a phase): the variance of one path is at most twice its load
        loads = sum(map(sum, strategies.table(exact, channel)))
        deviation = math.sqrt(2 * loads / 12) / 12
        assert abs(mine[channel] - true[channel]) <= 6 * deviation
        if not loads:
            assert not mine[channel]
    # the ±x channels of ring 3 are certain under minimal routings: no ties
    if name in ("dor", "romm"):
        assert sampled.hops() == exact.hops()
    again = routing.pair_loads(samples=12, rng=np.random.default_rng(2))
    assert again.under(uniform) == mine, "the same seed gives the same numbers"


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_save_and_load(result: Any, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"result.{suffix}"
    result.save(path)
    raw = path.read_bytes()
    assert (raw[:2] == b"\x1f\x8b") is suffix.endswith("gz")
    read = json.loads(gzip.decompress(raw) if suffix.endswith("gz") else raw)
    assert set(read) >= ALWAYS
    loaded = obliv.load(path)
    assert type(loaded) is type(result)
    assert loaded == result
    # names of the nodes are the topology's, which is not saved
    figures = [[line for line in repr(x).splitlines() if "worst channel" not in line] for x in (loaded, result)]
    assert figures[0] == figures[1]
    assert loaded.to_dict() == result.to_dict()
    for name in ("channel_load", "throughput", "fraction_of_capacity", "capacity", "channel", "permutation", "traffic"):
        if hasattr(result, name):
            mine, theirs = getattr(result, name), getattr(loaded, name)
            assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
            assert type(mine) is type(theirs)
    loaded.save(tmp_path / f"again.{suffix}")
    assert obliv.load(tmp_path / f"again.{suffix}") == result


def test_save_takes_text_paths(tmp_path: Path) -> None:
    path = str(tmp_path / "result.json")
    worst().save(path)
    assert obliv.load(path) == obliv.load(Path(path))


@pytest.mark.parametrize(
    "change",
    [
        lambda r: {"channel_load": Fraction(7, 2)},
        lambda r: {"topology": "torus:5x5"},
        lambda r: {"routing": "dor"},
        lambda r: {"focus_channels": r.focus_channels + 1},
    ],
)
def test_equality_tells_results_apart(change: Any) -> None:
    one = worst()
    assert one == dataclasses.replace(one)
    assert one != dataclasses.replace(one, **change(one))
    assert one != worst("torus:5x5")


@given(strategies.cases(largest=5))
@strategies.examples(30)
def test_round_trips_of_generated_results(case: Case) -> None:
    result = obliv.worst_case(case.routing, certificate=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.json", "a.json.gz"):
            result.save(Path(folder) / name)
            assert obliv.load(Path(folder) / name) == result


def test_big_numbers_survive(tmp_path: Path) -> None:
    """Integers beyond 64 bits stand as text and come back whole."""
    links = [(0, 1), (0, 1), (1, 0)]
    topology = obliv.build("double", 2, links, bandwidth=[1, 1000, 1000])
    p = Fraction(2**100 - 1, 2**100)
    paths = {(0, 0): [((), 1)], (1, 1): [((), 1)], (1, 0): [((2,), 1)], (0, 1): [((0,), p), ((1,), 1 - p)]}
    result = obliv.worst_case(strategies.Paths(topology, paths), certificate=True)
    assert result.channel_load == p
    result.save(tmp_path / "big.json")
    loaded = obliv.load(tmp_path / "big.json")
    assert loaded == result
    assert loaded.channel_load == p

    def integers(value: Any) -> Iterator[int]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from integers(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from integers(inner)
        elif type(value) is int:
            yield value

    assert all(abs(x) < 2**63 for x in integers(json.loads((tmp_path / "big.json").read_text())))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"{}",
        b'{"kind": "worst"}',
        b'{"kind": "nothing"}',
        b"\x1f\x8b junk",
        b"\xff\xfe",
    ],
)
def test_files_that_hold_no_result(content: bytes, tmp_path: Path) -> None:
    for name in ("x.json", "x.json.gz"):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(obliv.FileError) as caught:
            obliv.load(path)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)


def loaded_or_refused(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    try:
        obliv.load(path)
    except obliv.FileError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("key", sorted(ALWAYS | WORST))
def test_files_without_a_key(key: str, tmp_path: Path) -> None:
    content = worst().to_dict()
    del content[key]
    loaded_or_refused(content, tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("channel_load", 3),
        ("channel_load", {"exact": "x", "value": 1}),
        ("channel_load", {"exact": "1/0", "value": 1}),
        ("channel_load", []),
        ("permutation", "abc"),
        ("channel", 7),
        ("capacity", "2"),
        ("provenance", []),
    ],
)
def test_files_with_a_wrong_value(key: str, value: Any, tmp_path: Path) -> None:
    """An error of the tree, or a result; never a bare Python error."""
    content = worst().to_dict()
    content[key] = value
    loaded_or_refused(content, tmp_path)


@pytest.mark.nightly
def test_data_frames() -> None:
    frame = throughputs().to_dataframe()
    assert len(frame) == 4
    assert len(worst().to_dataframe()) == 1


def test_results_can_be_hashed_or_say_why_not() -> None:
    """Equal results are one in a set, or a set of results is refused."""
    one = worst()
    two = dataclasses.replace(one)
    with contextlib.suppress(TypeError):
        assert hash(one) == hash(two)


def test_the_spec_of_a_mix_makes_it_again() -> None:
    torus = obliv.torus(3, 3)
    mix = Fraction(1, 3) * obliv.routing("dor", torus) + Fraction(2, 3) * obliv.routing("romm:xy", torus)
    again = obliv.routing(obliv.worst_case(mix).routing, obliv.topology(obliv.worst_case(mix).topology))
    assert obliv.worst_case(again).channel_load == obliv.worst_case(mix).channel_load


@pytest.mark.parametrize(
    ("topology", "routing"),
    [
        ("mesh:3x3", "xy"),
        ("mesh:3x3", "xy_yx"),
        ("mesh:3x3", "dim_order"),
        ("mesh:3x3", "val"),
        ("mesh:3x3", "dor:yx"),
        ("mesh:2x3x2", "dor:order=2-0-1"),
        ("torus:3x3", "romm:yx"),
        ("random-regular:8,3", "ecmp"),
    ],
)
def test_specs_in_results_make_them_again(topology: str, routing: str) -> None:
    result = worst(topology, routing)
    again = worst(result.topology, result.routing)
    assert (again.topology, again.routing) == (result.topology, result.routing)
    assert again.channel_load == result.channel_load
    assert again.permutation == result.permutation


@pytest.mark.parametrize(
    ("topology", "routing"),
    [
        ("mesh:4x4", "dor"),
        ("torus:4x4", "romm"),
        ("mesh:3x3,injection=1/2", "o1turn"),
        ("mesh:3x3,bandwidth=1x1/2", "dor"),
    ],
)
def test_the_pairs_over_the_worst_channel_add_up_to_its_load(topology: str, routing: str) -> None:
    network = obliv.topology(topology)
    for subject in (obliv.routing(routing, network), obliv.routing(routing, network).pair_loads()):
        result = obliv.worst_case(subject)
        pairs = result.crossing_pairs()
        assert list(result.pairs()) == [(pair.source, pair.destination) for pair in pairs]
        assert sum(pair.channel_load for pair in pairs) == result.channel_load
        assert all(pair.channel_load > 0 for pair in pairs)
        assert {pair.source for pair in pairs} <= {network.name_of(node) for node in network.terminals.tolist()}


def test_pairs_need_the_routing(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)))
    result.save(tmp_path / "x.json")
    with pytest.raises(obliv.InputError, match="call worst_case again"):
        obliv.load(tmp_path / "x.json").crossing_pairs()
    with pytest.raises(obliv.InputError, match="exact result"):
        obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)), samples=5).crossing_pairs()


def test_the_worst_traffic_is_shown_by_name(tmp_path: Path) -> None:
    result = obliv.worst_case(obliv.DOR(obliv.mesh(4, 4)))
    data = result.to_dict()
    assert data["names"][:5] == ["(0,0)", "(1,0)", "(2,0)", "(3,0)", "(0,1)"]
    assert [(data["names"][s], data["names"][d]) for s, d in data["crossing"]] == list(result.pairs())
    assert all(data["permutation"][s] == d for s, d in data["crossing"])
    first = ", ".join(f"{s} -> {d}" for s, d in result.pairs())
    assert f"  worst traffic   {first}" in repr(result).splitlines()
    result.save(tmp_path / "x.json")
    again = obliv.load(tmp_path / "x.json")
    assert again == result
    assert repr(again) == repr(result)


def test_only_the_first_pairs_are_listed() -> None:
    result = obliv.worst_case(obliv.DOR(obliv.mesh(9, 9)))
    texts = [text for _, text in result.summary()[-2:]]
    assert texts[0].count("->") == 3
    assert texts[1] == f"and {len(result.crossing) - 3} more pairs over the worst channel"


def test_numbers_need_no_names() -> None:
    data = obliv.worst_case(obliv.DOR(obliv.line(4))).to_dict()
    assert "names" not in data
    assert data["crossing"] == [[0, 2], [1, 3]]


def test_a_new_process_loads_every_kind(tmp_path: Path) -> None:
    """Nothing else has imported the classes of results there."""
    obliv.worst_case("mesh:3x3", "dor").save(tmp_path / "worst.json")
    script = "import sys, obliv; print(obliv.load(sys.argv[1]).kind)"
    words = [sys.executable, "-c", script, str(tmp_path / "worst.json")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "worst\n"


@pytest.mark.parametrize("seed", [7, 2**63 - 1, 2**63, 2**200])
def test_seeds_beyond_64_bits_are_text_in_files(seed: int, tmp_path: Path) -> None:
    result = obliv.average_case("mesh:3x3", "dor", samples=5, rng=seed)
    result.save(tmp_path / "average.json")
    saved = json.loads((tmp_path / "average.json").read_text())
    assert saved["provenance"]["seed"] == (seed if seed < 2**63 else str(seed))
    assert obliv.load(tmp_path / "average.json").provenance.seed == seed
    jsonschema.validate(saved, schemas()["average"])
    saved["provenance"]["seed"] = "seven"
    (tmp_path / "average.json").write_text(json.dumps(saved))
    with pytest.raises(obliv.FileError):
        obliv.load(tmp_path / "average.json")


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (Fraction(2), 2, "200 %"),
        (Fraction(1, 8), 3, "12.5 %"),
        (Fraction(1, 10), 3, "10 %"),
        (Fraction(12345678, 100), 2, "12,345,678 %"),
        (Fraction(1, 10**9), 2, "0.000001 %"),  # not 0
        (Fraction(11, 10**8), 2, "0.000011 %"),
        (Fraction(0), 2, "0 %"),
        (obliv.Estimate(0.0512, 0.001, 10), 3, "5.12 %"),
    ],
)
def test_percentages(share: Fraction | obliv.Estimate, digits: int, text: str) -> None:
    assert percent(share, digits) == text
