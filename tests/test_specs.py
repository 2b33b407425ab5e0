"""The grammar of specs and the registries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv._util.rationals import fraction
from obliv.errors import SpecError
from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES, Registry, run_files, split_mix


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever these tests register is forgotten after them."""
    for registry in (TOPOLOGIES, ROUTINGS, PATTERNS):
        list(registry)  # built-ins are complete, and stay
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "_names", dict(registry._names))


def test_str_of_an_object_is_a_spec_that_makes_it_again() -> None:
    for spec in [
        "mesh:8x8",
        "torus:9x9",
        "line:9",
        "ring:16",
        "hypercube:6",
        "hyperx:4x4",
        "complete:8",
        "random-regular:n=20,d=3,seed=1",
    ]:
        topology = obliv.topology(spec)
        assert str(topology) == spec
        assert str(obliv.topology(str(topology))) == spec
    torus = obliv.torus(4, 4)
    for spec in ["dor", "dor:yx", "o1turn", "romm", "romm:xy", "valiant", "shortest", "ecmp", "1/3*dor+2/3*romm"]:
        assert str(obliv.routing(spec, torus)) == spec
    for spec in ["uniform", "tornado", "shift:3", "random-permutation:seed=4", "1/2*uniform+1/2*tornado"]:
        assert str(obliv.traffic(spec, torus)) == spec


def test_aliases_resolve_to_their_names() -> None:
    torus = obliv.torus(4, 4)
    assert str(obliv.routing("val", torus)) == "valiant"
    assert str(obliv.routing("dim_order", torus)) == "dor"
    assert str(obliv.routing("xy_yx", torus)) == "o1turn"
    assert str(obliv.traffic("bitcomp", torus)) == "bit-complement"
    assert str(obliv.traffic("randperm:seed=1", torus)) == "random-permutation:seed=1"
    assert str(obliv.traffic("dor-wc", torus)) == "anti-transpose"


def test_case_does_not_matter_but_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for spec, name in [("Mesh:7X6", "mesh:7x6"), ("Random-Regular:N=20,D=3,Seed=1", "random-regular:n=20,d=3,seed=1")]:
        assert str(obliv.topology(spec)) == name
    torus = obliv.torus(4, 4)
    for spec, name in [("XY", "dor"), ("DOR:YX", "dor:yx"), ("Romm:XY", "romm:xy"), ("VAL", "valiant")]:
        assert str(obliv.routing(spec, torus)) == name
    assert str(obliv.traffic("1/2*Uniform+1/2*TORNADO", torus)) == "1/2*uniform+1/2*tornado"
    monkeypatch.chdir(tmp_path)
    Path("Network.TXT").write_text("a b\n")
    assert str(obliv.topology("File:Network.TXT,terminals=all")) == "file:Network.TXT"
    Path("a,Format=b").write_text("a b\n")
    assert str(obliv.topology("file:a,Format=b")) == "file:a,Format=b"


def test_a_name_in_another_case_is_its_own() -> None:
    obliv.register_topology("MESH")(lambda: obliv.ring(3))
    assert obliv.topology("MESH").nodes == 3
    assert obliv.topology("mesh:2x2").nodes == 4
    with pytest.raises(SpecError, match="did you mean"):
        obliv.topology("mEsh:2x2")


def test_mixes() -> None:
    assert split_mix("1/3*dor+2/3*romm") == [(Fraction(1, 3), "dor"), (Fraction(2, 3), "romm")]
    assert split_mix("0.25*a:x=1,y=2 + 0.75*b") == [(Fraction(1, 4), "a:x=1,y=2"), (Fraction(3, 4), "b")]
    assert split_mix("table:a+b*c.txt") is None
    assert split_mix("1/2*table:a+b.txt+1/2*dor") == [(Fraction(1, 2), "table:a+b.txt"), (Fraction(1, 2), "dor")]
    with pytest.raises(SpecError, match="add up"):
        split_mix("1/2*dor")


@given(st.text(max_size=30))
def test_any_text_makes_a_topology_or_one_clear_error(text: str) -> None:
    try:
        obliv.topology(text[:12])
    except obliv.OblivError as error:
        assert isinstance(error, ValueError)


@given(st.text(alphabet="0123456789/.eE+-_ ", max_size=12))
def test_numbers(text: str) -> None:
    try:
        value = fraction(text)
    except SpecError:
        return
    assert value == Fraction(text.strip())


def test_a_number_that_would_never_end_is_refused() -> None:
    with pytest.raises(SpecError):
        fraction("1e999999999")
    with pytest.raises(SpecError):
        fraction("1/000")


def test_conversion_by_annotation() -> None:
    registry: Registry[object] = Registry("thing", "obliv.nothing", {})

    @registry.register("thing", aliases=("stuff",), example="thing:3,share=1/2")
    def thing(count: int, share: Fraction = Fraction(1), flag: bool = False, *more: int) -> tuple[object, ...]:
        return count, share, flag, more

    @registry.register("file")
    def file(path: Path, mode: str = "r") -> tuple[object, ...]:
        return path, mode

    assert registry.make("thing:3,share=1/2,flag=yes") == (3, Fraction(1, 2), True, ())
    assert registry.make("stuff:3,1/4,no,2x3") == (3, Fraction(1, 4), False, (2, 3))
    assert registry.make("file:a,b=c.txt,mode=w") == (Path("a,b=c.txt"), "w")
    for wrong in (
        "thing",
        "thing:x",
        "thing:3,shape=1",
        "thing:3,share=1,share=2",
        "thing:3,flag=perhaps",
        "thing:1e3",
        "nothing:1",
    ):
        with pytest.raises(SpecError):
            registry.make(wrong)


def test_what_is_registered_without_an_example_shows_the_arguments_it_needs() -> None:
    things: Registry[object] = Registry("topology", "obliv.nothing", {})
    things.register("skips")(lambda nodes, skip, both=True: (nodes, skip, both))
    ways: Registry[object] = Registry("routing", "obliv.nothing", {})
    ways.register("express")(lambda topology: topology)
    assert [entry.example for entry in (*things, *ways)] == ["skips:NODES,SKIP", "express"]
    with pytest.raises(SpecError, match=r"nodes is missing; write for example skips:NODES,SKIP$"):
        things.make("skips")


def test_a_name_that_is_like_no_other_tells_how_to_bring_ones_own() -> None:
    with pytest.raises(SpecError, match=r"known: 2turn, .* and \d+ more; your own: import the file that registers it$"):
        obliv.routing("zzyzx", obliv.mesh(2, 2))
    with pytest.raises(SpecError, match=r"did you mean romm\?$"):
        obliv.routing("rom", obliv.mesh(2, 2))


def test_a_name_cannot_be_taken_twice() -> None:
    registry: Registry[object] = Registry("thing", "obliv.nothing", {})
    registry.register("a", aliases=("b",))(lambda: 1)

    def other() -> int:
        return 2

    with pytest.raises(SpecError, match="taken"):
        registry.register("b")(other)
    with pytest.raises(SpecError, match="not a valid thing name"):
        registry.register("a b")(other)


def test_functions_of_files_that_are_not_registered_under_their_name(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import obliv\n"
        "def unregistered_walk(topology): ...\n"
        "@obliv.register_routing('walk-of-this-test')\n"
        "def registered_walk(topology): ...\n"
    )
    run_files([str(file)])
    with pytest.raises(SpecError, match=r'does not register it: write @obliv.register_routing\("unregistered_walk"\)'):
        obliv.routing("unregistered_walk", "ring:4")
    with pytest.raises(SpecError, match="registers it as walk-of-this-test"):
        obliv.routing("registered_walk", "ring:4")


def test_rooms_can_be_called_whatever_was_imported_before() -> None:
    import obliv.topologies.families.grids as grids

    assert obliv.topology("mesh:2x2").nodes == 4
    assert grids.mesh(2, 2).nodes == 4
    assert set(obliv.__all__) <= set(dir(obliv))
    for name in obliv.__all__:
        assert getattr(obliv, name) is not None


def test_names_of_files_are_told_how_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.net").write_text("")
    with pytest.raises(SpecError, match=r"for a file write file:cluster\.net or fabric:cluster\.net"):
        TOPOLOGIES.find("cluster.net")
    with pytest.raises(
        SpecError, match=r"for a file write (?:far:cluster\.net or lft|lft:cluster\.net or far):cluster\.net or table:"
    ):
        ROUTINGS.find("cluster.net")
    with pytest.raises(SpecError, match=r"did you mean torus|known"):
        TOPOLOGIES.find("toruss")


class Forward(obliv.Routing):
    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], int]]:
        nodes = [(source + hop) % self.topology.nodes for hop in range((destination - source) % self.topology.nodes)]
        yield tuple(int(self.topology.first_channel[node]) for node in nodes), 1


def test_a_routing_without_a_spec_is_called_by_its_class() -> None:
    ring = obliv.ring(5)
    routing = Forward(ring)
    assert repr(routing) == "<Routing Forward on ring:5>"
    assert (0.5 * routing + 0.5 * obliv.DOR(ring)).spec == "1/2*Forward+1/2*dor"
    assert [entry.routing for entry in obliv.compare(ring, routing, "dor").entries] == ["Forward", "dor"]
    obliv.register_routing("forward-in-this-test")(Forward)
    assert obliv.routing("forward-in-this-test", ring).spec == "forward-in-this-test"
    assert ROUTINGS.find("forward-in-this-test").summary == ""  # not the first line of obliv.Routing
