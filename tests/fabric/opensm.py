"""OpenSM over ibsim on this machine: tables and scans as the real programs make them, without hardware.

Nothing leaves the machine: ibsim is a process, its clients talk to it by a local socket of their own name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from obliv.fabric.model import NONE, Fabric, Tables

_SHIM = next(
    (str(found) for found in Path("/usr/lib").glob("**/umad2sim/libumad2sim.so")),
    "",
)
_SBIN = "/usr/sbin:/sbin:/usr/bin:/bin"


def where(program: str) -> str | None:
    return shutil.which(program, path=os.environ.get("PATH", "") + ":" + _SBIN)


needs_opensm = pytest.mark.skipif(
    not (_SHIM and all(where(name) for name in ("opensm", "ibsim", "ibnetdiscover"))),
    reason="OpenSM and ibsim are not installed: apt-get install opensm infiniband-diags ibsim-utils ibutils",
)


class Simulator:
    """A running ibsim with its clients' environment; files go to `folder`."""

    def __init__(self, folder: Path, socket: str) -> None:
        self.folder = folder
        self.env = {
            "PATH": os.environ.get("PATH", "") + ":" + _SBIN,
            "LC_ALL": "C",
            "IBSIM_SOCKNAME": socket,
            "OSM_TMP_DIR": str(folder),
            "OSM_CACHE_DIR": str(folder),
        }

    def run(self, *command: str, seconds: float = 300.0) -> str:
        """What a client prints; it is ended after some seconds."""
        program = where(command[0])
        if program is None:
            pytest.skip(f"{command[0]} is not installed")
        return _bounded([program, *command[1:]], {**self.env, "LD_PRELOAD": _SHIM}, self.folder, seconds)

    def opensm(self, *options: str, seconds: float = 300.0) -> str:
        """Run the subnet manager once; the name of the engine that made the tables, as its log says."""
        log = self.folder / "osm.log"
        log.unlink(missing_ok=True)
        self.run(
            "opensm", "-o", "-e", "-D", "0x43", "--dump_files_dir", str(self.folder), "-f", str(log), *options,
            seconds=seconds,
        )  # fmt: skip
        messages = [line for line in log.read_text(errors="replace").splitlines() if "tables configured" in line]
        assert messages, "OpenSM configured no tables: " + log.read_text(errors="replace")[-2000:]
        return messages[-1].partition(": ")[2].partition(" tables configured")[0].split()[-1]

    @contextlib.contextmanager
    def managed(self, *options: str, seconds: float = 120.0) -> Iterator[None]:
        """Have the subnet manager answer questions until the block is left."""
        log = self.folder / "osm.log"
        log.unlink(missing_ok=True)
        program = where("opensm")
        assert program
        process = subprocess.Popen(
            [program, "-e", "-s", "0", "-d2", "-f", str(log), *options],
            env={**self.env, "LD_PRELOAD": _SHIM}, cwd=self.folder, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            limit = time.monotonic() + seconds
            while not log.exists() or "SUBNET UP" not in log.read_text(errors="replace"):
                assert process.poll() is None, "OpenSM ended"
                assert time.monotonic() < limit, "the subnet does not come up"
                time.sleep(0.05)
            yield
        finally:
            _end(process)

    def kept(self, name: str, *command: str) -> Path:
        """What a client prints, in a file of that name."""
        path = self.folder / name
        path.write_text(self.run(*command))
        return path


def meaning(fabric: Fabric, tables: Tables) -> dict[tuple[int, int, int], int]:
    """The port for each switch, port of a host or switch, and offset; nothing of it depends on the LIDs' numbers."""
    found = {}
    for slot in np.flatnonzero(fabric.ports.lid > 0).tolist():
        node = int(fabric.node_of[slot])
        owner = int(fabric.nodes.guid[node]) if fabric.nodes.kind[node] == "switch" else int(fabric.ports.guid[slot])
        for offset in range(1 << int(fabric.ports.lmc[slot])):
            lid = int(fabric.ports.lid[slot]) + offset
            if lid >= tables.out.shape[1]:
                continue
            for row, switch in enumerate(tables.switch.tolist()):
                if tables.out[row, lid] != NONE:
                    found[int(fabric.nodes.guid[switch]), owner, offset] = int(tables.out[row, lid])
    return found


def cabling(fabric: Fabric) -> set[tuple[int, int, int, int]]:
    """The GUIDs (a switch's own, a host's port's) and ports at both ends of every cable."""
    ends = {}
    for slot in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        node = int(fabric.node_of[slot])
        guid = fabric.nodes.guid[node] if fabric.nodes.kind[node] == "switch" else fabric.ports.guid[slot]
        ends[slot] = (int(guid), fabric.port_of(slot))
    return {(*ends[slot], *ends[int(fabric.ports.peer[slot])]) for slot in ends}


def _bounded(command: list[str], env: dict[str, str], folder: Path, seconds: float) -> str:
    """Standard output of a command that is killed, by its own number, when its time is over."""
    with subprocess.Popen(
        command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            pytest.fail(f"{' '.join(command)} took longer than {seconds} s")
    return out.decode("utf-8", "replace")


@contextlib.contextmanager
def simulated(net: Path, folder: Path, *options: str, host: str = "") -> Iterator[Simulator]:
    """Ibsim over a .net file, ended when the block is left."""
    folder.mkdir(exist_ok=True)
    simulator = Simulator(folder, f"obliv-{os.getpid()}-{secrets.token_hex(4)}")
    if host:
        simulator.env["SIM_HOST"] = host
    log = folder / "ibsim.log"
    program = where("ibsim")
    assert program
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [program, "-s", "-n", *options, str(net)],
            env=simulator.env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    try:
        limit = time.monotonic() + 300
        while "simulator ready" not in log.read_text(errors="replace"):
            assert process.poll() is None, "ibsim ended: " + log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < limit, "ibsim did not begin: " + log.read_text(errors="replace")[-2000:]
            time.sleep(0.02)
        yield simulator
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process by its own number."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
