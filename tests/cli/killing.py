"""Commands that are killed while they write files: at every step of the writing, and after every so many bytes.

A command runs in a fork, which kills itself at one of its operations on files, or which the system kills when a file
grows beyond a limit. Before each run the folder holds an older set of the same files.
"""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from obliv.cli import main

#: Commands that write pictures or several files: the one that writes the older set, and the one that is killed.
WRITERS: dict[str, tuple[str, str]] = {
    "worst svg": ("worst mesh:3x3 dor --plot out.svg", "worst mesh:4x4 romm --plot out.svg"),
    "compare png": ("compare ring:4 dor --plot out.png", "compare ring:5 dor valiant --plot out.png"),
    "failures png": (
        "failures ring:4 ecmp --plot out.png",
        "failures ring:5 ecmp --plot out.png",
    ),
    "collisions svg": (
        "collisions fattree:4,2 shift:2 --flows 2 --plot out.svg",
        "collisions fattree:4,2 shift:3 --flows 2 --plot out.svg",
    ),
    "bufferless svg": ("bufferless butterfly:2 --plot out.svg", "bufferless butterfly:3 --plot out.svg"),
    "plot png": ("plot loads mesh:3x3 dor uniform -o out.png", "plot loads mesh:4x4 dor uniform -o out.png"),
    "report html": ("report old.json -o out.html", "report new.json -o out.html"),
    "fabric generate": (
        "fabric generate fattree:4,2 -o out.net --routing dmodk --tables out.lfts",
        "fabric generate fattree:8,2 -o out.net --routing dmodk --tables out.lfts",
    ),
    "fabric route": (
        "fabric route old.net --engine layered --lanes 2 -o out.lfts --policy out.conf --psl out.psl --net out.net",
        "fabric route new.net --engine layered --lanes 2 -o out.lfts --policy out.conf --psl out.psl --net out.net",
    ),
    "fabric check": (
        "fabric check old.net --junit out.xml --sarif out.sarif -o out.json",
        "fabric check new.net --junit out.xml --sarif out.sarif -o out.json",
    ),
    "fabric job": (
        "fabric job tree.net --lft tree.lfts --hosts few.txt --pattern alltoall --order out.ranks -o out.json",
        "fabric job tree.net --lft tree.lfts --hosts many.txt --pattern alltoall --order out.ranks -o out.json",
    ),
    "export booksim": (
        "export torus:3x3 dor --to booksim -o out.cfg",
        "export torus:4x4 dor --to booksim -o out.cfg",
    ),
    "export booksim-paths": (
        "export mesh:3x3 xy --to booksim-paths -o out.cfg",
        "export mesh:4x3 xy --to booksim-paths -o out.cfg",
    ),
}

_TIME = re.compile(rb'"wall_seconds":\s*[0-9.e-]+')
_OPERATIONS = ("open", "os.rename", "os.remove", "os.link", "os.chmod")


def prepare(folder: Path) -> None:
    """Write what the commands read; the folder is the current one."""
    for words in (
        "fabric generate torus:3x3 -o old.net",
        "fabric generate torus:4x4 -o new.net",
        "fabric generate fattree:4,2 -o tree.net --routing dmodk --tables tree.lfts",
        "worst mesh:3x3 dor -o old.json",
        "worst mesh:4x4 romm -o new.json",
    ):
        silently(words)
    hosts = [f"host({a},{b})\n" for a in range(4) for b in range(2)]
    (folder / "few.txt").write_text("".join(hosts[:5]))
    (folder / "many.txt").write_text("".join(hosts))


def silently(words: str) -> int:
    """Run a command in a fork without its output, and return how the fork ended."""
    return forked(lambda: None, words)


def forked(begin: Callable[[], None], words: str) -> int:
    """Call a function and run a command in a fork; return its status, negative where a signal killed it."""
    pid = os.fork()
    if not pid:
        status = 99
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            begin()
            status = main(words.split())
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def dies_at(folder: Path, number: int, count: list[int] | None = None) -> Callable[[], None]:
    """Return what makes a process kill itself before an operation on a file of a folder."""
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event not in _OPERATIONS or not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        if event == "open" and not _writes(arguments):
            return
        if Path(os.path.abspath(os.fsdecode(arguments[0]))).parent == folder:
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1

    return lambda: sys.addaudithook(hook)


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def dies_after(size: int) -> Callable[[], None]:
    """Return what lets the system kill a process that writes more than so many bytes into a file."""

    def begin() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return begin


def contents(folder: Path) -> dict[str, bytes]:
    """Return what the files of a folder hold, without the times that results state."""
    return {
        path.name: re.sub(rb'"wall_seconds":\s*[0-9.e-]+', b'"wall_seconds":0', path.read_bytes())
        for path in folder.iterdir()
    }


def restore(folder: Path, files: dict[str, bytes]) -> None:
    for name in contents(folder).keys() - files.keys():
        (folder / name).unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def faults(name: str, folder: Path, count: int) -> tuple[list[str], int, int, int]:
    """Kill a command at so many moments; return what went wrong, and counts.

    These are the kills, the drafts that they left, and the sets of which a file had given way, and was left as a draft.
    """
    before, after = WRITERS[name]
    begin = contents(folder)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # not in a fork: forks find everything imported
        assert main(after.split()) in (0, 1), name
    new = contents(folder)
    restore(folder, begin)
    assert silently(before) in (0, 1), name
    old = contents(folder)
    written = sorted(new.keys() - begin.keys())
    assert written == sorted(old.keys() - begin.keys())
    assert any(old[file] != new[file] for file in written)
    chance = random.Random(name)
    operations = 0
    while True:  # one after another, until the command ends by itself
        restore(folder, old)
        if forked(dies_at(folder, operations), after) != -signal.SIGKILL:
            break
        operations += 1
    largest = max(len(new[file]) for file in written)
    moments = [dies_at(folder, k) for k in range(operations)]
    moments += [dies_after(chance.randrange(largest)) for _ in range(count - operations)]
    wrong, kills, drafts, missing = [], 0, 0, 0
    for number, begin_dying in enumerate(moments):
        restore(folder, old)
        status = forked(begin_dying, after)
        kills += status < 0
        left = contents(folder)
        extra = left.keys() - old.keys()
        drafts += len(extra)
        if any(not (file.startswith(".obliv-") and file.endswith(".tmp")) for file in extra):
            wrong.append(f"{name}, {number}: left {sorted(extra)}")
        seen = {file: left[file] for file in written if file in left}
        kept, whole = (all(files[file] == data for file, data in seen.items()) for files in (old, new))
        if not (kept or whole) or (len(seen) < len(written) and not extra):
            state = {file: "old" if left.get(file) == old[file] else "other" for file in written}
            wrong.append(f"{name}, {number} of {operations} operations: {state}")
        missing += len(seen) < len(written)
    restore(folder, begin)
    return wrong, kills, drafts, missing


if __name__ == "__main__":  # python -m tests.cli.killing FOLDER COUNT [NAME ...]
    place = Path(sys.argv[1]).resolve()
    os.chdir(place)
    prepare(place)
    for each in sys.argv[3:] or WRITERS:
        print(each, *faults(each, place, int(sys.argv[2])), flush=True)
