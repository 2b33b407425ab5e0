"""The real server as a process of its own, on loopback, stopped by its number."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Server:
    process: subprocess.Popen[str]
    address: str

    def children(self) -> list[int]:
        number = self.process.pid
        return [int(n) for n in Path(f"/proc/{number}/task/{number}/children").read_text().split()]

    def stop(self, by: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(by)
        return self.process.wait(20)


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., Server]]:
    """Start ``obliv explore`` with some arguments; what still runs at the end is killed."""
    running: list[tuple[subprocess.Popen[str], threading.Timer]] = []

    def start(*arguments: str) -> Server:
        command = [sys.executable, "-m", "obliv", "explore", *arguments, "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        timer = threading.Timer(1800, process.kill)
        timer.start()
        running.append((process, timer))
        assert process.stdout is not None
        return Server(process, process.stdout.readline().strip())

    yield start
    for process, timer in running:
        process.kill()
        process.communicate()
        timer.cancel()
