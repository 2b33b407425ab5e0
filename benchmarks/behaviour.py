"""What obliv answers today: a recorder of some thousand commands, and what has changed between two records.

    uv run python benchmarks/behaviour.py record FOLDER [--like RECORD] [--only WORD] [--jobs 2] [--slow]
    uv run python benchmarks/behaviour.py compare RECORD RECORD

`record` runs all commands of the docs, the examples in the help and the tables of `behaviour_commands.py`, each in a
process and a folder of its own (those of a page in one folder, one after the other), and writes a text file a command:
output, messages, exit status and written files; times, versions, paths and memory are left out. Two records of a
commit are equal. With `--like` the commands are those of an earlier record, whatever pages say today. `compare` exits
with 1 if there is a difference; each is meant, and in the changelog, or a fault.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import gc
import gzip
import hashlib
import html
import importlib
import json
import os
import pkgutil
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from behaviour_commands import FILES, SETUPS, chains, unused

ROOT = Path(__file__).resolve().parents[1]
LINES = 400  # of an output that are kept; of the others a digest
STOPPED = "stopped: this command takes too long to be recorded"

#: Commands that load what others use.
WARM = [
    "worst torus:4x4 romm",
    "worst mesh:3x3 dor --plot w.svg",
    "throughput mesh:3x3 ecmp uniform",
    "average mesh:3x3 dor --samples 300",
    "compare mesh:3x3 dor --samples 50 --deadlock",
    "deadlock mesh:3x3 romm",
    "failures mesh:3x3 ecmp",
    "collisions fattree:4,2 shift:2",
    "bufferless butterfly:3",
    "bufferless butterfly:3 -a hot-potato",
    "fabric generate fattree:4,2 -o a.net --routing dmodk --tables a.lfts",
    "fabric check a.net --lft a.lfts",
    "fabric worst a.net --lft a.lfts -o c.json",
    "fabric failures a.net --lft a.lfts",
    "fabric shifts a.net --lft a.lfts",
    "fabric route a.net --engine updown -o b.lfts",
    "verify c.json",
]

#: What every command finds in its surroundings, so that runs are alike.
SURROUNDINGS = {
    "PYTHONHASHSEED": "0",
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_COLOR": "1",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "SOURCE_DATE_EPOCH": "0",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorder = verbs.add_parser("record", help="run all commands and write a file a command")
    recorder.add_argument("folder", metavar="FOLDER", type=Path, help="where to write; must not exist")
    recorder.add_argument("--like", metavar="RECORD", type=Path, help="run the commands of this record")
    recorder.add_argument("--only", metavar="WORD", default="", help="only those whose name or command has this word")
    recorder.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    recorder.add_argument("--seconds", type=int, default=30, help="CPU time after which a command is stopped")
    recorder.add_argument("--slow", action="store_true", help="with the blocks of pages that are marked slow")
    comparer = verbs.add_parser("compare", help="print how two records differ")
    comparer.add_argument("first", metavar="RECORD", type=Path)
    comparer.add_argument("second", metavar="RECORD", type=Path)
    comparer.add_argument("--lines", type=int, default=6, help="lines shown of each difference")
    given = parser.parse_args()
    if given.verb == "compare":
        return compare(given.first, given.second, given.lines)
    if any(os.environ.get(name) != value for name, value in SURROUNDINGS.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SURROUNDINGS})
    record(given)
    return 0


# Running.


def record(given: argparse.Namespace) -> None:
    """Run all commands and write the record."""
    began = time.monotonic()
    if given.like:
        kept = json.loads((given.like / "commands.json").read_text(encoding="utf-8"))
        all_chains, setups = kept["chains"], kept["setups"]
    else:
        all_chains, setups = chains(given.slow), SETUPS
        for option in unused(all_chains):
            print(f"no command uses {option}", file=sys.stderr)
    all_chains = [
        chain
        for chain in all_chains
        if given.only in chain["name"] or any(given.only in line for line in chain["commands"])
    ]
    given.folder.mkdir(parents=True)
    kept = {"setups": setups, "chains": all_chains}
    (given.folder / "commands.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        warm(place)
        needed = {chain["setup"] for chain in all_chains} - {""}
        first = [
            {"name": f"setup.{name}", "setup": "", "files": FILES, "commands": setups[name]}
            for name in setups
            if name in needed
        ]
        for batch in (first, all_chains):
            each_forked([lambda chain=chain: run_chain(chain, place, given) for chain in batch], given.jobs)
        used = (place / "seconds.txt").read_text(encoding="utf-8").splitlines()
        used.sort(key=lambda line: -float(line.split()[0]))
    (given.folder / "seconds").write_text("\n".join(used), encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in given.folder.glob("*.txt")]
    stopped = sum(f"\n{STOPPED}" in text for text in texts)
    seconds = time.monotonic() - began
    print(f"{len(texts)} commands in {seconds:.0f} s; {stopped} were stopped after {given.seconds} s of CPU time")


def warm(place: Path) -> None:
    """Import what commands need, and load machine code, before processes fork; no thread may live on.

    Linear programs are left out: their solver keeps threads.
    """
    import matplotlib.pyplot
    import pandas  # noqa: F401

    import obliv
    from obliv.cli import main

    for module in pkgutil.walk_packages(obliv.__path__, "obliv."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    (place / "warm").mkdir()
    os.chdir(place / "warm")
    silent = os.open(os.devnull, os.O_WRONLY)
    streams = [os.dup(1), os.dup(2)]
    for stream in (1, 2):
        os.dup2(silent, stream)
    for line in WARM:
        main(line.split())
    sys.stdout.flush()
    for stream, before in zip((1, 2), streams):
        os.dup2(before, stream)
    matplotlib.pyplot.close("all")
    if len(tasks := list(Path("/proc/self/task").glob("*"))) > 1:
        print(f"{len(tasks)} threads before processes fork", file=sys.stderr)
    gc.collect()
    gc.freeze()


def each_forked(tasks: list[Callable[[], None]], jobs: int) -> None:
    """Run each task in a process of its own, some at a time."""
    running: set[int] = set()
    for number, task in enumerate(tasks):
        while len(running) >= jobs:
            running.discard(os.wait()[0])
        if sys.stderr.isatty():
            print(f"\r{number} of {len(tasks)}", end="", file=sys.stderr, flush=True)
        running.add(forked(task))
    while running:
        running.discard(os.wait()[0])


def forked(task: Callable[[], None]) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if child := os.fork():
        return child
    try:
        task()
        os._exit(0)
    except BaseException:  # whatever it is: no copy of this process may go on
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def run_chain(chain: dict[str, Any], place: Path, given: argparse.Namespace) -> None:
    """Run the commands of a chain in one folder, which is kept if it is a setup of others."""
    folder = place / chain["name"]
    if chain["setup"]:
        shutil.copytree(place / f"setup.{chain['setup']}", folder)
    else:
        folder.mkdir()
    for name, text in ((name, text) for name, text in chain["files"].items() if "#" not in name):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    for number, command in enumerate(chain["commands"]):
        if command.startswith("file "):
            name = command.removeprefix("file ")
            (folder / name).write_text(chain["files"][f"{name}#{number + 1}"], encoding="utf-8")
            continue
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
        said = [place / f"{chain['name']}.{stream}" for stream in ("output", "messages")]
        status = run_command(command, folder, said, given.seconds)
        text = f"$ {command}\n{status}\n"
        for path, title in zip(said, ("output", "messages")):
            text += section(title, plain(path.read_text(encoding="utf-8", errors="backslashreplace"), place))
            path.unlink()
        for path in sorted(folder.rglob("*")):
            passing = "__pycache__" in path.parts or path.name.endswith(("-wal", "-shm"))  # those of SQLite
            if path.is_file() and before.get(path) != path.stat().st_mtime_ns and not passing:
                text += section(f"file {path.relative_to(folder)}", plain(content(path), place))
        if status == STOPPED:
            text = f"$ {command}\n{status}\n"
        number_of = f".{number + 1:03}" if len(chain["commands"]) > 1 else ""
        (given.folder / f"{chain['name']}{number_of}.txt").write_text(text, encoding="utf-8")
    if not chain["name"].startswith("setup."):
        shutil.rmtree(folder)


def section(title: str, text: str) -> str:
    """Return a part of a record, cut where it is long."""
    if not text.strip() and not title.startswith("file"):
        return ""
    lines = text.rstrip("\n").split("\n")
    if len(lines) > LINES:
        rest = "\n".join(lines[LINES:])
        digest = hashlib.sha256(rest.encode()).hexdigest()[:16]
        lines = [*lines[:LINES], f"... {len(lines) - LINES} more lines, {digest}"]
    return "\n".join([f"--- {title}", *lines, ""])


def run_command(command: str, folder: Path, said: list[Path], seconds: int) -> str:
    """Run a command line in a process of its own; return its exit status in words."""

    def task() -> None:
        os.setsid()
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        signal.alarm(60 * seconds)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream, path in zip((1, 2), said):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
        words = shlex.split(command)
        if ">" in words:
            os.dup2(os.open(words[words.index(">") + 1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            words = words[: words.index(">")]
        os._exit(status_of(words))

    child = forked(task)
    _, status, used = os.wait4(child, 0)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # what it may have left running
    code = os.waitstatus_to_exitcode(status)
    with open(folder.parent / "seconds.txt", "a", encoding="utf-8") as times:  # a line at once is written whole
        times.write(f"{used.ru_utime + used.ru_stime:.2f} {command}\n")
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        return STOPPED
    return f"status {code}"


def status_of(words: list[str]) -> int:
    """Run obliv, Python or a session here, and return the exit status."""
    from obliv.cli import run

    sys.argv = words
    status: Any = 0
    try:
        if words[0] == "obliv":
            run()
        elif words[0] == "session":
            session(Path(words[1]).read_text(encoding="utf-8"))
        else:
            sys.path[0] = ""
            sys.argv = words[1:]
            own = words[1] == "-c"
            text = words[2] if own else Path(words[1]).read_text(encoding="utf-8")
            exec(compile(text, "<script>" if own else words[1], "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except Exception as error:
        print(f"{type(error).__module__}.{type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return int(status or 0)


def session(text: str) -> None:
    """Run the statements of Python sessions one by one, and print what they print."""
    import doctest

    names: dict[str, Any] = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(text):
        print(">>>", example.source.rstrip())
        try:
            exec(compile(example.source, "<session>", "single"), names)
        except Exception as error:
            print(f"{type(error).__module__}.{type(error).__name__}: {error}")


# What is written down.


def content(path: Path) -> str:
    """Return what a written file says, as text; of a picture its kind, its texts and about how large it is."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    size = f"about 2^{(len(data) * 2 // 3).bit_length()} bytes"
    kinds = {b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"%PDF": "PDF", b"GIF8": "GIF", b"RIFF": "WebP"}
    for start, kind in kinds.items():
        if data.startswith(start):
            return f"{kind}, {size}"
    if data.startswith(b"SQLite format 3"):
        return stored(path)
    if data.startswith(b"PAR1"):
        import pandas

        return str(pandas.read_parquet(path).to_csv(index=False))
    if b"\0" in data:
        return f"binary, {size}"
    text = data.decode("utf-8", "backslashreplace")
    if re.search(r"<svg\b", text[:1000]):
        shown = re.findall(r"<!--\s*(.*?)\s*-->|<text\b[^>]*>(.*?)</text>", text, re.DOTALL)
        return "\n".join([f"SVG, {size}", *sorted(re.sub(r"<[^>]*>", "", one or two) for one, two in shown)])
    if re.match(r"\s*<!doctype html", text, re.IGNORECASE):
        seen = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        lines = (html.unescape(line).strip() for line in re.sub(r"<[^>]*>", "\n", seen).split("\n"))
        return "\n".join([f"HTML, {size}", *filter(None, lines)])
    if text.startswith(("{", "[")) and text.count("\n") < 5:
        try:
            return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        except ValueError:
            return text
    return text


def stored(path: Path) -> str:
    """Return the rows of an SQLite file without columns that differ from run to run; what is packed is unpacked."""
    varies = {"seconds", "beat", "host", "process", "checksum"}
    lines = []
    with contextlib.closing(sqlite3.connect(path)) as base:
        for (table,) in base.execute("select name from sqlite_master where type = 'table' order by name").fetchall():
            rows = base.execute(f'select * from "{table}"')
            names = [column[0] for column in rows.description]
            lines.append(f"table {table}: {', '.join(names)}")
            lines += sorted(
                "  ".join(unpacked(value) for name, value in zip(names, row) if name not in varies) for row in rows
            )
    return "\n".join(lines)


def unpacked(value: object) -> str:
    if isinstance(value, bytes):
        with contextlib.suppress(zlib.error):
            value = zlib.decompress(value)
        return value.decode("utf-8", "backslashreplace")
    return str(value)


#: What differs from run to run, and what it becomes; a line on standard error that says how long work takes is dropped.
VARIES = [
    (r"\b\d+([.,]\d+)*(e-?\d+)? (ns|µs|ms|s|seconds?|minutes?|min|hours?|h|days?)\b", "TIME"),
    (r"^obliv: .*\b(about TIME|TIME so far).*\n", ""),
    (r"""(seconds\\?["']: ?)[\d.e+-]+""", r"\1TIME"),
    (r"\b\d[\d.]* [kKMGT]i?B\b", "SIZE"),
    (r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "DATE"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\b0x[0-9a-f]{8,12}\b(?=>)", "ADDRESS"),
    (r"""((version|obliv|[Pp]ython|numpy|numba|scipy|networkx)\\?["']?:? ?\\?["']?)\d+(\.\d+)+\w*""", r"\1VERSION"),
]


def plain(text: str, place: Path) -> str:
    """Return a text without what differs from run to run."""
    for path, word in ((place, "TEMP"), (ROOT, "ROOT"), (Path(sys.prefix), "PYTHON"), (Path.home(), "HOME")):
        text = text.replace(str(path), word)
    for pattern, by in VARIES:
        text = re.sub(pattern, by, text, flags=re.MULTILINE)
    return text


# Comparing.


def compare(first: Path, second: Path, lines: int) -> int:
    """Print the differences of two records."""
    names = sorted({path.name for folder in (first, second) for path in folder.glob("*.txt")})
    different = stopped = 0
    for name in names:
        texts = [
            path.read_text(encoding="utf-8") if (path := folder / name).exists() else None for folder in (first, second)
        ]
        if any(text and f"\n{STOPPED}" in text for text in texts):
            stopped += 1
        elif texts[0] != texts[1]:
            different += 1
            print(f"{name}: {(texts[0] or texts[1] or '').splitlines()[0]}")
            show(texts, (first, second), lines)
    print(
        f"{different} of {len(names)} commands differ" + (f"; {stopped} were stopped, not compared" if stopped else "")
    )
    return 1 if different else 0


def show(texts: list[str | None], folders: tuple[Path, Path], lines: int) -> None:
    """Print the first lines of a difference."""
    for text, folder in zip(texts, reversed(folders)):
        if text is None:
            print(f"    only in {folder}")
            return
    delta = difflib.unified_diff(*(text.splitlines() for text in texts if text), n=0, lineterm="")
    shown = [line for line in delta if not line.startswith(("---", "+++", "@@"))]
    for line in shown[:lines]:
        print(f"    {line[:160]}")
    if len(shown) > lines:
        print(f"    ... {len(shown) - lines} more lines")


if __name__ == "__main__":
    raise SystemExit(main())
