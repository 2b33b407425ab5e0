"""Failures of links and nodes equal the worst case on the damaged network, named by its spec."""

from __future__ import annotations

from typing import Any

import pytest

import obliv
from obliv.cli import main
from obliv.errors import InputError, Interrupted, RoutingError
from obliv.fabric.outages import every
from obliv.questions import failures as module


@pytest.mark.sampled(6)
@pytest.mark.parametrize("routing", ["ecmp", "shortest", "updown"])
@pytest.mark.parametrize("of", ["links", "nodes"])
def test_every_failure_equals_the_damaged_network(routing: str, of: str) -> None:
    for spec in ("mesh:2x3", "random-regular:8,3,seed=2", "line:3"):
        base = obliv.topology(spec)
        after = obliv.failures(obliv.routing(routing, base), of=of)
        texts = [str(v) for v in range(base.nodes)]
        if of == "links":
            pairs = zip(base.tail.tolist(), base.head.tolist(), strict=True)
            texts = [f"{a}-{b}" for a, b in pairs if a < b]
        rows = []
        for text in texts:
            left = obliv.topology(f"damaged:({spec}),{text},component=largest")
            found = obliv.routing(routing, left)
            n, k = len(base.terminals), len(left.terminals)
            loop = not obliv.deadlock(found, "none").acyclic
            rows.append((loop, n * (n - 1) - k * (k - 1), obliv.worst_case(found, symmetry="off").channel_load))
        assert [row.rank for row in after.failures] == sorted(rows, reverse=True)
        assert after.count == len(texts)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "of", "kinds"),
    [
        ("torus:3x3", "links", 1),
        ("mesh:3x3", "links", 2),
        ("mesh:3x3", "nodes", 3),
        ("torus:3x2", "links", 3),  # of parallel channels the first becomes the first
        ("hypercube:3", "nodes", 1),
        ("line:5", "nodes", 3),
        ("fattree:4,2", "nodes", 3),
    ],
)
def test_failures_that_are_alike_are_solved_once(spec: str, of: str, kinds: int) -> None:
    found, alone = (obliv.failures(spec, "ecmp", of=of, symmetry=symmetry) for symmetry in ("auto", "off"))
    assert (found.orbits, alone.orbits) == (kinds, None)
    assert found.before == alone.before
    rows = [{row.failed: row.rank for row in result.failures} for result in (found, alone)]
    assert rows[0] == rows[1]
    for row in found.failures:  # the channel that is named has that load
        if row.channel:
            text = row.failed.removeprefix("link ").removeprefix("node ").replace(" - ", "-")
            left = obliv.topology(f"damaged:({spec}),{text},component=largest")
            loads = obliv.worst_channels(obliv.routing("ecmp", left)).channels
            assert row.channel_load in {
                each.channel_load for each in loads if left.channel_name(each.channel.id) == row.channel
            }
    assert obliv.failures(spec, "shortest", of=of).orbits is None  # depends on numbers


@pytest.mark.parametrize("options", [{"of": 3}, {"of": "cables"}, {"symmetry": None}, {"symmetry": "on"}])
def test_choices_that_there_are_not_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(obliv.InputError, match="choose"):
        obliv.failures("mesh:2x2", "ecmp", **options)


def test_a_single_failure_needs_no_list() -> None:
    assert obliv.failures("torus:4x4", "ecmp", fail="12") == obliv.failures("torus:4x4", "ecmp", fail=["12"])


def test_what_is_left_may_be_routed_by_another_routing() -> None:
    found = obliv.failures("mesh:3x3", "dor", repair="ecmp")
    anew = obliv.failures("mesh:3x3", "ecmp")
    assert found.failures == anew.failures
    assert (found.repair, found.before.channel_load, found.before.deadlock) == ("ecmp", 2, False)
    assert anew.before.channel_load != 2
    assert found.notes[0].startswith("without a failure ecmp has worst load 7/4 = 1.75: ")
    assert anew.notes == ()
    assert obliv.failures("mesh:3x3", "ecmp", repair="ecmp") == anew
    with pytest.raises(InputError, match="choose ecmp, shortest, updown, valiant"):
        obliv.failures("mesh:3x3", "dor", repair="o1turn")
    with pytest.raises(RoutingError, match=r"as repair='ecmp'$"):
        obliv.failures("mesh:3x3", "dor")


def test_what_cannot_fail_is_refused() -> None:
    with pytest.raises(InputError, match="links or nodes"):
        obliv.failures("mesh:3x3", "ecmp", of="cables")
    with pytest.raises(InputError, match="no link"):
        obliv.failures("mesh:3x3", "ecmp", fail=["0-8"])
    with pytest.raises(RoutingError, match="no coordinates"):
        obliv.failures("mesh:3x3", "dor")


def _interrupted_after(function: Any, calls: int) -> Any:
    """Return a function that works some times and is then interrupted."""
    left = [calls]

    def once(*arguments: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return function(*arguments)

    return once


def test_an_interrupt_keeps_the_failures_that_are_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fabric = obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2)))
    whole = obliv.failures("mesh:2x3", "shortest"), obliv.fabric.failures(fabric, repair="updown")
    anew = module._after, every.after_failure
    for calls in (0, 2):
        monkeypatch.setattr(module, "_after", _interrupted_after(anew[0], calls))
        monkeypatch.setattr(every, "after_failure", _interrupted_after(anew[1], calls))
        expected = Interrupted if calls else KeyboardInterrupt
        for all_of, call in zip(
            whole,
            (
                lambda: obliv.failures("mesh:2x3", "shortest"),
                lambda: obliv.fabric.failures(fabric, repair="updown"),
            ),
            strict=True,
        ):
            with pytest.raises(expected) as stop:
                call()
            if calls:
                part = stop.value.so_far
                assert len(part.failures) == calls
                assert set(part.failures) < set(all_of.failures)
                assert (
                    part.notes[-1] == f"interrupted: {all_of.count - 2} of {all_of.count} failures are not among these"
                )
    monkeypatch.setattr(module, "_after", _interrupted_after(anew[0], 2))
    assert main(["failures", "mesh:2x3", "shortest"]) == 130
    out, err = capsys.readouterr()
    assert "interrupted: 5 of 7 failures are not among these" in out
    assert err == "\nobliv: interrupted after 2 of 7 failures; name the others to go on\n"


def test_what_cannot_be_routed_anew_is_refused_before_anything_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obliv.questions.failures._worst", lambda *_: pytest.fail("the whole network was solved"))
    with pytest.raises(obliv.RoutingError, match="mesh:3x3 without link"):
        obliv.failures("mesh:3x3", "dor")
