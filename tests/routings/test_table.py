"""Routing tables from files: what is read, and every way to be wrong in one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import examples

import obliv
from obliv.errors import FileError

SQUARE = obliv.build(
    "square", 4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)], labels=("a", "b", "c", "node d")
)


def hops() -> str:
    """Both ways round to the opposite corner, the short way to the others."""
    names = ["a", "b", "c", '"node d"']
    lines = []
    for node in range(4):
        for destination in range(4):
            far = (destination - node) % 4
            nexts = {0: [], 1: [(node + 1) % 4], 3: [(node - 1) % 4], 2: [(node + 1) % 4, (node - 1) % 4]}[far]
            if nexts:
                lines.append(f"hop {names[node]} {names[destination]} " + " ".join(names[v] for v in nexts))
    return "\n".join(lines) + "\n"


def read(tmp_path: Path, text: str) -> obliv.Routing:
    path = tmp_path / "routes.txt"
    path.write_text(text)
    routing: obliv.Routing = obliv.routing(f"table:{path}", SQUARE)
    return routing


def test_a_table_of_next_hops_equals_ecmp(tmp_path: Path) -> None:
    routing = read(tmp_path, "# routes\n\n" + hops())
    loads, wanted = routing.pair_loads(), obliv.ECMP(SQUARE).pair_loads()
    for channel in range(SQUARE.channels):
        one, two = loads.on_channel(channel).toarray(), wanted.on_channel(channel).toarray()
        assert (one * wanted.denominator == two * loads.denominator).all()
    assert routing.sources[0][0].endswith("routes.txt")
    assert obliv.verify(obliv.worst_case(routing, certificate=True)).proved


def test_paths_with_probabilities(tmp_path: Path) -> None:
    lines = []
    for s in range(4):
        for d in range(4):
            if s != d:
                ring = [(s + k) % 4 for k in range((d - s) % 4 + 1)]
                back = [(s - k) % 4 for k in range((s - d) % 4 + 1)]
                names = ["a", "b", "c", '"node d"']
                lines.append("path 2/3 " + " ".join(names[v] for v in ring))
                lines.append("path 1/3 " + " ".join(names[v] for v in back))
    routing = read(tmp_path, "\n".join(lines))
    result = obliv.worst_case(routing, certificate=True)
    # clockwise channel under the shift by three: 3 pairs cross it with 2/3 each
    assert result.channel_load == 2
    assert obliv.verify(result).proved


def test_channels_by_number_and_probabilities(tmp_path: Path) -> None:
    text = hops().replace("hop a c b", "hop a c @0=1/4").replace('@0=1/4 "node d"', '@0=1/4 "node d"=3/4')
    routing = read(tmp_path, text)
    assert isinstance(routing, obliv.HopRouting)
    assert sorted(routing.chances(0, 2)) == [(0, Fraction(1, 4)), (1, Fraction(3, 4))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: "", "the file is empty"),
        (lambda t: "# nothing\n", "holds no routes"),
        (lambda t: t.replace("hop a b b\n", ""), "no route from a to b"),
        (lambda t: t + "hop a b b\n", "line 1 too"),
        (lambda t: t.replace("hop a b b", "hop a b"), ":1: the line is cut short"),
        (lambda t: t.replace("hop a b b", "hop a b c"), "no channel leads from a to c"),
        (lambda t: t.replace("hop a b b", "hop a b x"), "no node 'x'"),
        (lambda t: t.replace("hop a b b", "hop a b b=0.5"), "add up to 1/2"),
        (lambda t: t.replace("hop a b b", "hop a b b=2"), "not a probability"),
        (lambda t: t.replace("hop a b b", "hop a b b=-1"), "not a probability"),
        (lambda t: t.replace("hop a b b", "hop a b b=nan"), "not a probability"),
        (lambda t: t.replace("hop a b b", "hop a b b=1e-400"), "not a probability"),
        (lambda t: t.replace("hop a c b", "hop a c b=1/2"), "some next hops have a probability"),
        (lambda t: t.replace("hop a b b", "hop a b @5"), "channel 5 does not leave a"),
        (lambda t: t.replace("hop a b b", "hop a b @²"), "no node '@²'"),
        (lambda t: t.replace("hop a b b", "hop a b @" + "9" * 5000), "no node '@9999"),
        (lambda t: t.replace("hop a b b", "path 1 a b"), "use one kind in a file"),
        (lambda t: t.replace("hop a b b", "hup a b b"), "start of an entry"),
        (lambda t: "path 1/2 a b\n", "add up to 1/2"),
        (lambda t: "path 1 a c\n", "no channel leads from a to c"),
        (lambda t: "path 1\n", "cut short"),
    ],
)
def test_mistakes(change: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read(tmp_path, change(hops()))  # type: ignore[operator]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "routes.txt" in str(caught.value)


def test_a_loop_is_refused(tmp_path: Path) -> None:
    text = hops().replace("hop a c b", "hop a c b").replace("hop b c c\n", "hop b c a\n")
    routing = read(tmp_path, text)
    with pytest.raises(obliv.RoutingError, match="loop"):
        obliv.worst_case(routing)


@given(data=st.data())
@examples(200)
def test_damaged_files_end_in_one_line(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = hops()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        kind = data.draw(st.sampled_from(["cut", "char", "drop"]))
        if kind == "cut":
            text = text[:at] or "x"
        elif kind == "char":
            text = text[:at] + data.draw(st.characters()) + text[at + 1 :]
        else:
            text = text[:at] + text[at + 1 :] or "x"
    path = tmp_path_factory.mktemp("damaged") / "routes.txt"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        obliv.worst_case(obliv.routing(f"table:{path}", SQUARE))
    except obliv.OblivError as error:
        assert "\n" not in str(error)
