"""The real server: what it prints, how it answers, is replaced and stopped; what the verb refuses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv.cli import main

LONG = {"topology": "torus:64x64", "routing": "valiant", "want": ["worst", "average"], "samples": 10_000_000}


@contextlib.contextmanager
def post(address: str, **question: Any) -> Iterator[HTTPResponse]:
    host, token = re.findall("^http://([^/]*)(/.*/)$", address)[0]
    connection = HTTPConnection(host, timeout=60)
    try:
        connection.request("POST", f"{token}ask", json.dumps(question), {"content-type": "application/json"})
        with connection.getresponse() as answer:
            yield answer
    finally:
        connection.close()


def lines(answer: HTTPResponse) -> Iterator[dict[str, Any]]:
    while line := answer.readline():
        yield json.loads(line)


def gone(number: int) -> bool:
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z"
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_one_server_from_start_to_ctrl_c(start: Callable[..., Any]) -> None:
    server = start("mesh:4x4", "o1turn")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", server.address)
    with post(server.address, page="one", **LONG) as slow:
        assert slow.status == 200
        heard: list[str] = []
        listening = threading.Thread(target=lambda: heard.extend(message["kind"] for message in lines(slow)))
        listening.start()
        with post(server.address, topology="mesh:4x4", routing="o1turn", page="one", want=["worst"]) as quick:
            found = next(message for message in lines(quick) if message["kind"] == "part")
        exact = obliv.worst_case("mesh:4x4", "o1turn").channel_load
        assert found["result"]["channel_load"]["exact"] == str(exact)
        listening.join(20)
        assert heard[-1:] == ["replaced"]
    with post(server.address, page="two", **LONG) as left:  # open when the signal comes
        assert json.loads(left.readline())["kind"] == "progress"
        workers = server.children()
        assert workers
        assert server.stop() == 0
    assert server.process.stdout.read() == ""
    assert "Traceback" not in server.process.stderr.read()
    wait_for(lambda: all(map(gone, workers)), "the workers go on")
    with pytest.raises(OSError), post(server.address):
        pass


@pytest.mark.nightly
def test_own_routings_are_known_to_the_workers(start: Callable[..., Any], tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import obliv\n\n@obliv.register_routing('clockwise')\nclass Clockwise:\n"
        "    def __init__(self, topology):\n        self.topology = topology\n"
        "    def next_hops(self, node, destination):\n        return [2 * node] if node != destination else []\n",
        encoding="utf-8",
    )
    server = start("ring:4", "clockwise", "--import", str(own))

    def told() -> list[dict[str, Any]]:
        with post(server.address, topology="ring:4", routing="clockwise", want=["hops"]) as answer:
            return [message for message in lines(answer) if message["kind"] != "progress"]

    assert told()[0]["result"]["hops"]["exact"] == "3/2"  # 0, 1, 2, 3 hops
    own.write_text(own.read_text("utf-8") + "# another\n", encoding="utf-8")
    with post(server.address, page="x", **LONG) as slow:  # this worker is killed; the next one is started anew
        slow.readline()
    for _ in range(2):
        with post(server.address, page="x", **LONG) as slow:
            slow.readline()
    messages = [message for message in told() if message["kind"] == "error"]
    assert not messages or "has changed since obliv explore was started: start it again" in messages[0]["text"]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_workers_end_with_a_server_that_is_killed(start: Callable[..., Any]) -> None:
    server = start("mesh:4x4", "o1turn")
    with post(server.address, page="one", **LONG) as left:
        assert json.loads(left.readline())["kind"] == "progress"
        workers = server.children()
        server.stop(signal.SIGKILL)
    wait_for(lambda: all(map(gone, workers)), "the workers go on")


def wait_for(true: Callable[[], bool], message: str) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, message
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mesh:4x4", "dro"], "unknown routing 'dro': did you mean dor or romm?"),
        (["mehs:4x4"], "unknown topology 'mehs': did you mean mesh"),
        (["mesh:4x4", "dor", "--traffic", "tornedo"], "unknown traffic 'tornedo': did you mean tornado"),
        (["mesh:4x4", "dor", "--files", "missing.txt"], "missing.txt: file not found"),
        (["--port", "70000"], "70000 is not in the range 0<=x<=65535"),
        (["--port", "-1"], "-1 is not in the range"),
        (["--port", "web"], "not a whole number"),
        (["mesh:4x4", "dor", "ecmp"], "ecmp is a routing, which follows the topology"),
    ],
)
def test_mistakes_on_the_command_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *arguments, "--no-browser"]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_port_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["explore", "mesh:2x2", "dor", "--no-browser", "--port", str(port)]) == 2
    line = f"obliv: --port {port} is in use: choose another, or leave it out for a free one\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize("begun", [b"", b"GET /", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"])
def test_half_open_connections_do_not_lock_the_user_out(start: Callable[..., Any], begun: bytes) -> None:
    """More of them than connections are allowed, from anyone on the machine, who need not know the token."""
    server = start("mesh:2x2", "dor")
    host, page = re.findall("^http://([^/]*)(/.*/)$", server.address)[0]
    with contextlib.ExitStack() as opened:
        for _ in range(3 * 64):
            half = opened.enter_context(socket.create_connection(host.split(":"), timeout=60))
            with contextlib.suppress(OSError):  # closed by the server already
                half.sendall(begun)
        status = 0
        for _ in range(40):
            user = HTTPConnection(host, timeout=60)
            with contextlib.suppress(OSError, HTTPException):
                user.request("GET", page)
                status = user.getresponse().status
            user.close()
            if status == 200:
                break
            time.sleep(0.25)
        assert status == 200
    server.stop()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="every port is allowed here")
def test_a_port_that_is_not_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "mesh:2x2", "dor", "--no-browser", "--port", "1"]) == 2
    assert "port 1 " in capsys.readouterr().err


def test_a_missing_extra() -> None:
    script = "import sys; sys.modules['uvicorn'] = None; from obliv.cli import main; sys.exit(main(['explore']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "this needs uvicorn: install it with uv sync --extra explore in a clone" in done.stderr
    assert done.stderr.count("\n") == 1
