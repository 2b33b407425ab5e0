"""Results on standard output; messages and progress on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from obliv._util.files import require_place
from obliv._util.text import plural, printable
from obliv.cli.errors import Stopped, complain
from obliv.cli.options import Format
from obliv.errors import FileError, InputError, Interrupted

__all__ = [
    "answer",
    "csv_text",
    "json_text",
    "kept",
    "page",
    "progress",
    "read_specs",
    "require_outputs",
    "save",
    "say",
    "say_skipped",
    "tell",
]


def read_specs(topology_spec: str, routing_spec: str) -> tuple[Any, Any]:
    """Return the topology and the routing of two specs; their notes go to standard error."""
    import obliv

    topology = obliv.topology(topology_spec)
    for note in topology.notes:
        say(note)
    routing = obliv.routing(routing_spec, topology)
    for note in routing.notes:
        say(note)
    say_skipped(routing)
    return topology, routing


def say_skipped(routing: Any) -> None:
    """Print on standard error how many pairs a routing leaves out, if any."""
    if routing.partial and routing.skipped:
        are = "is" if routing.skipped == 1 else "are"
        say(f"{plural(routing.skipped, 'pair')} whose packets do not arrive {are} left out")


def say(message: str) -> None:
    """Print a message on standard error; control characters in it are escaped."""
    complain(f"obliv: {printable(message)}")


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Show a progress bar with the remaining time on standard error, if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda what, share: None
        return
    import time

    began = time.monotonic()
    bar: Any = None
    task: Any = None

    def step(what: str, share: float) -> None:
        nonlocal bar, task
        if bar is None:
            if time.monotonic() - began < 0.5:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            bar.start()
            task = bar.add_task(what, total=1.0)
        bar.update(task, description=what, completed=share)

    try:
        yield step
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def kept(form: Format, output: Path | None = None) -> Iterator[None]:
    """Print and save the finished part if Ctrl-C interrupts long work."""
    try:
        yield
    except Interrupted as stop:
        answer(stop.so_far, form, output)
        raise Stopped(str(stop)) from None


def require_outputs(*paths: Path | None, inputs: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse outputs that cannot be written, share a name, or would replace an input file."""
    named = [path for path in paths if path is not None]
    for path in named:
        require_place(path)
    real = [path.resolve() for path in named]
    if len(set(real)) < len(real):
        raise FileError("is used for two outputs: choose different files", named[-1])
    for name, _ in inputs:
        if Path(name).resolve() in real:
            raise FileError("is an input file and would be overwritten: choose another file", name)


def save(result: Any, output: Path | None) -> None:
    """Save a result if `output` names a file."""
    if output is None:
        return
    result.save(output)
    proof = getattr(result, "certificate", None) is not None
    say(f"saved in {output}" + (f"; check it with  obliv verify {output}" if proof else ""))


def answer(result: Any, form: Format, output: Path | None = None, hide: Iterable[str] = ()) -> None:
    """Print a result in the requested format, and save it if `output` names a file."""
    save(result, output)
    if form is Format.json:
        whole = result.to_dict()
        for key in hide:
            whole.pop(key, None)
        tell(json_text(whole))
    elif form is Format.csv:
        tell(csv_text(list(result.rows()), result.columns), end="")
    else:
        tell(page(repr(result)))


def tell(text: str, end: str = "\n") -> None:
    """Print an answer; a closed pipe does not change the exit status."""
    if sys.stdout is None:
        raise InputError("the answer cannot be printed: standard output is closed; save it with --output FILE")
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def page(text: str) -> str:
    """Return text with control characters escaped, line by line."""
    return "\n".join(map(printable, text.split("\n")))


def json_text(data: Any) -> str:
    """Return indented JSON; only control characters and lone surrogates are escaped."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return re.sub(r"[^ -~\n]", lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def csv_text(rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return rows as comma-separated values; see :func:`obliv.results.tables.to_csv`."""
    from obliv.results.tables import to_csv

    return to_csv(rows, columns)
