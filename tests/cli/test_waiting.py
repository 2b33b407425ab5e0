"""A word on long work that nothing announced."""

from __future__ import annotations

import subprocess
import sys

import pytest

from obliv._util.progress import Cost
from obliv.cli import app as waiting
from obliv.cli.app import Activity


@pytest.mark.parametrize(
    ("activity", "said"),
    [
        (Activity(), "at work: 8 seconds so far; how long the rest takes is not known"),
        (Activity("pair loads", 0.0, 2.0), "pair loads: 8 seconds so far; how long the rest takes is not known"),
        (Activity("channels", 0.2, 5.0), "channels: 20% done, 8 seconds so far, about 12 seconds more"),
        (Activity("channels", 0.2, 5.0, covered=9.0), None),
    ],
)
def test_a_word_where_nothing_covers_the_work(activity: Activity, said: str | None) -> None:
    assert activity.word(8.0) == said
    assert activity.word(8.0) is None
    assert (activity.word(31.0) is None) == (said is not None)
    assert activity.word(130.0) is not None


def test_what_is_announced_covers_twice_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_activity", activity := Activity())
    monkeypatch.setattr("time.process_time", lambda: 3.0)
    waiting.heard(Cost("a network: about 20 seconds", 20.0), 0.0)
    waiting.heard("channels", 0.1)
    waiting.heard("channels", 0.3)
    assert activity == Activity("channels", 0.3, 3.0, 43.0)
    waiting.shown()
    assert activity.covered == 43.0


def test_a_silent_command_speaks() -> None:
    code = """
import sys, time
from obliv import cli
from obliv.cli import app as waiting
from obliv.cli import output

waiting._SECONDS = 0.05

def work(**options):
    output.say_cost("channels", 0.0)
    output.say_cost("channels", 0.5)
    while not waiting._activity.covered and time.process_time() < 20:
        pass
    return 0

cli.main = work
cli.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("obliv: channels: 50% done, a second so far, about a second more")
