"""A word on long work: what is done, how far it is, and how long the rest takes by the share that was done."""

from __future__ import annotations

import subprocess
import sys

import pytest

from obliv._util.progress import Note
from obliv.cli import messages
from obliv.cli.messages import Activity

Steps = list[tuple[str, float, float]]  # what is heard, its share, and when


def heard(*steps: tuple[str, float, float]) -> Activity:
    activity = Activity()
    for step in steps:
        activity.hear(*step)
    return activity


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "at work: 8 seconds so far"),
        ([("pair loads", 0.0, 2.0)], "pair loads: 8 seconds so far"),
        ([("loads", 0.0, 3.0), ("channels", 0.2, 4.0)], "channels: 20% done after 8 seconds, about 20 seconds left"),
        # the first step compiles what the others use: a tenth in two seconds
        ([("it", 0.0, 0.0), ("it", 0.1, 6.0), ("it", 0.2, 7.0)], "it: 20% done after 8 seconds, about 16 seconds left"),
        # what was done before, such as the cells in a store, tells nothing
        ([("it", 0.9, 3.0), ("it", 0.95, 7.0)], "it: 95% done after 8 seconds, about 5 seconds left"),
        # other work begins
        (
            [("one", 0.0, 0.0), ("one", 1.0, 4.0), ("two", 0.0, 6.0), ("two", 0.5, 7.0)],
            "two: 50% done after 8 seconds, about 2 seconds left",
        ),
        ([("claim", 0.5, 0.0), ("claim", 1.0, 3.0)], "claim: 8 seconds so far"),
    ],
)
def test_a_word_on_long_work(steps: Steps, said: str) -> None:
    assert heard(*steps).word(8.0) == said


def test_a_word_is_said_after_two_seconds_and_then_after_four_times_as_long() -> None:
    activity = heard(("it", 0.0, 0.0))
    words = [activity.word(quarter / 4) for quarter in range(200)]
    assert [at / 4 for at, word in enumerate(words) if word] == [2, 8, 32]


def test_the_pace_is_that_since_the_last_word() -> None:
    activity = heard(("it", 0.0, 0.0), ("it", 0.5, 1.0))
    assert activity.word(2.0) == "it: 50% done after 2 seconds, about 2 seconds left"
    activity.hear("it", 0.51, 5.0)
    activity.hear("it", 0.52, 6.0)
    assert activity.word(8.0) == "it: 52% done after 8 seconds, about 2 minutes left"  # 0.48 at 0.01 in 3 seconds


def test_a_word_waits_for_the_end_where_that_is_near() -> None:
    activity = heard(("it", 0.0, 0.0), ("it", 0.5, 1.0), ("it", 0.9, 2.0))
    assert activity.word(2.0) is None
    assert activity.word(3.9) is None
    assert activity.word(13.0) == "it: 90% done after 13 seconds, about 3 seconds left"


def test_what_a_bar_shows_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_activity", activity := Activity())
    messages.heard("channels", 0.1)
    messages.shown(1e9)
    assert activity.word(1e8) is None


def test_a_note_is_no_activity(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from obliv.cli.output import progress

    monkeypatch.setattr(messages, "_activity", activity := Activity())
    with progress() as step:
        step("channels", 0.1)
        step(Note("workers have gone"), 0.1)
    assert capsys.readouterr().err == "obliv: workers have gone\n"
    assert activity.what == "channels"


def test_a_silent_command_speaks() -> None:
    code = """
import time
from obliv import cli
from obliv.cli import messages

messages._SECONDS = 0.05

def work(**options):
    messages._activity.covered = time.monotonic() - messages._began + 0.2
    messages.heard("channels", 0.0)
    messages.heard("channels", 0.5)
    covered, end = messages._activity.covered, time.monotonic() + 20
    while messages._activity.covered == covered and time.monotonic() < end:
        time.sleep(0.01)
    return 0

cli.main = work
cli.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("obliv: channels: 50% done after ")
    assert line.endswith(" left")
