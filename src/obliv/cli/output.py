"""Results on standard output, pictures in files; messages and progress on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from obliv._util.progress import Note
from obliv._util.text import printable
from obliv.cli.messages import Stopped, complain, heard, shown
from obliv.cli.options import FormatOption, Output
from obliv.errors import FileError, InputError, Interrupted, in_one_line

if TYPE_CHECKING:
    import rich.progress

    from obliv.results.base import Result

_TABLES = {".csv", ".md", ".tex", ".txt"}  # endings of files in which one expects the printed table

_BAR = 8.0  # seconds that a bar speaks for itself

CsvTable = tuple[Iterable[Mapping[str, Any]], Sequence[str]]


@dataclass(frozen=True)
class Answer:
    """Where an answer goes: the format on standard output, and the file that keeps the result."""

    output: Output = None
    format: FormatOption = "table"

    def show(self, result: Result, *, hide: Iterable[str] = (), table: CsvTable | None = None) -> None:
        """Save a result if there is a file for it, and print it, even where it cannot be saved.

        JSON lacks the keys in `hide`; CSV has the rows and columns of `table`, by default those of the result.
        """
        with self.anyway(result, hide=hide, table=table):
            self.save(result)
        self.print(result, hide=hide, table=table)

    def save(self, result: Result) -> None:
        """Save a result if there is a file for it."""
        if self.output is not None:
            from obliv.results.base import NOT_VERIFIED

            result.save(self.output)
            how = f" ({NOT_VERIFIED})" if result.provable and NOT_VERIFIED in result.provenance.exactness else ""
            how += f"; check it with  obliv verify {self.output}" if result.provable else ""
            say(f"saved in {self.output}{how}")
            if Path(self.output).suffix.lower() in _TABLES:
                say(f"{self.output} is JSON whatever --format is; for the printed table redirect the output:  > FILE")

    @contextmanager
    def anyway(self, result: Result, *, hide: Iterable[str] = (), table: CsvTable | None = None) -> Iterator[None]:
        """Write files about a result inside a ``with`` statement; if that fails, the result is printed nevertheless."""
        try:
            yield
        except FileError:
            self.print(result, hide=hide, table=table)
            raise

    def print(self, result: Result, *, hide: Iterable[str] = (), table: CsvTable | None = None) -> None:
        """Print a result."""
        if self.format == "json":
            data = result.to_dict()
            for key in hide:
                data.pop(key, None)
            from obliv._util.files import plain

            write(json_text(plain(data)))
        elif self.format == "csv":
            from obliv.results.numbers import to_csv

            write(to_csv(*(table or (result.rows(), result.columns))), end="")
        elif self.format in ("markdown", "latex"):
            from obliv.results.markup import markup

            write(markup(result, self.format), end="")
        else:
            write("\n".join(map(printable, repr(result).split("\n"))))

    @contextmanager
    def best_so_far(self, shaped: Callable[[Any], Result] = lambda result: result) -> Iterator[None]:
        """Print and save the finished part, in another shape if one is given, if Ctrl-C interrupts long work."""
        try:
            yield
        except Interrupted as stop:
            try:
                self.show(shaped(stop.so_far))
            except FileError as error:
                raise Stopped(printable(f"{stop}; {error}")) from None
            raise Stopped(str(stop)) from None
        except KeyboardInterrupt:
            raise Stopped("before there was an answer; no partial file was written") from None


@dataclass(frozen=True)
class ClaimAnswer(Answer):
    """The answer of a verb whose result may have a certificate, which is left out of JSON unless asked for."""

    certificate: Annotated[
        bool, typer.Option("--certificate", help="Include the certificate in the output (JSON).")
    ] = False
    closed: Annotated[
        bool, typer.Option("--closed", help="Save a closed claim, which obliv_check.py checks by itself.")
    ] = False

    def __post_init__(self) -> None:
        if self.closed and self.output is None:
            raise InputError("--closed says in which form a claim is saved: add --output FILE")

    def save(self, result: Result) -> None:
        """Save a result if there is a file for it, as a closed claim if that is asked for."""
        if not self.closed or self.output is None:
            super().save(result)
            return
        import obliv

        checked = obliv.verify(result, budget=float("inf"), close=self.output)
        if not checked.proved:
            failed = next(step for step in checked.checks if step.ok is not True)
            raise InputError(f"no closed claim is saved, as this one is not proved: {failed.check}: {failed.detail}")
        say(f"closed claim saved in {self.output}; check it with  python3 obliv_check.py {self.output}")

    def show_claim(self, result: Result, *, hide: Iterable[str] = ()) -> None:
        """Save and print a result, with its certificate or a hint on how to get it.

        Without the certificate, JSON lacks the keys in `hide` too.
        """
        if self.certificate and self.format != "json":
            say("use --format json or --output FILE to get the certificate")
        self.show(result, hide=() if self.certificate else ("certificate", *hide))


@dataclass(frozen=True)
class Picture:
    """The picture of an answer; ``obliv plot result`` draws a saved one with other looks."""

    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the answer (.png, .svg, .pdf); looks: obliv plot result --help."
        ),
    ] = None

    def require(self) -> None:
        """Refuse a picture in an unknown format or without matplotlib."""
        if self.plot is not None:
            require_picture(self.plot)

    def save(self, draw: Callable[[], Any]) -> None:
        """Draw a picture and write it, if there is a file for it."""
        if self.plot is not None:
            Looks().save(draw, self.plot)


@dataclass(frozen=True)
class Looks:
    """How a picture looks."""

    dark: Annotated[bool, typer.Option("--dark", help="Draw on a dark background.")] = False
    width: Annotated[
        int | None, typer.Option("--width", metavar="PIXELS", help="Width of a PNG; texts stay readable.", min=100)
    ] = None

    def save(self, draw: Callable[[], Any], path: Path) -> None:
        """Draw a picture and write it."""
        from obliv import view

        heard(f"drawing {path}", 0.0)
        with self.drawn():
            view.save(draw(), path)
        say(f"picture saved in {path}")

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw and save pictures with these looks inside a ``with`` statement."""
        from obliv import view
        from obliv.view.saving import drawn_for

        with view.dark() if self.dark else nullcontext(), drawn_for(self.width):
            yield


def require_picture(path: Path) -> None:
    """Refuse a picture in an unknown format or without matplotlib."""
    from obliv import view
    from obliv.view.axes import require_matplotlib

    view.require_format(path)
    require_matplotlib()


def say(message: str) -> None:
    """Print a message on standard error in one short line, without control characters."""
    complain(f"obliv: {in_one_line(message)}")


def _noted(what: str, share: float) -> None:
    if isinstance(what, Note):
        say(what)
    else:
        heard(what, share)


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Take note of the progress of long work, and show a bar on standard error if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _noted
        return
    began = time.monotonic()
    bar: rich.progress.Progress | None = None

    def step(what: str, share: float) -> None:
        nonlocal bar
        if isinstance(what, Note) and bar is not None:
            bar.console.print(f"obliv: {printable(what)}", markup=False, highlight=False)
            return
        _noted(what, share)
        if isinstance(what, Note):
            return
        if bar is None and time.monotonic() - began > 0.5:
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            bar.add_task(what, total=1.0)
        if bar is not None:
            shown(_BAR)
            bar.update(bar.task_ids[0], description=what, completed=share)

    try:
        yield step
    finally:
        if bar is not None:
            bar.stop()


def require_outputs(*paths: Path | None, inputs: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse outputs that cannot be written, share a name, or would replace an input file."""
    named = [path for path in paths if path is not None]
    if named:
        from obliv._util.files import require_place

        for path in named:
            if str(path) == "-":
                raise FileError("not a file name; use --format json to print the answer on standard output", path)
            require_place(path)
    real = [path.resolve() for path in named]
    if len(set(real)) < len(real):
        raise FileError("is used for two outputs: choose different files", named[-1])
    for name, _ in inputs:
        if Path(name).resolve() in real:
            raise FileError("is an input file and would be overwritten: choose another file", name)


def write(text: str, end: str = "\n") -> None:
    """Print an answer; a closed pipe does not change the exit status."""
    if sys.stdout is None:
        raise InputError("the answer cannot be printed: standard output is closed; save it with --output FILE")
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_text(data: Any) -> str:
    """Return indented JSON; only control characters and lone surrogates are escaped, and what cannot be printed."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if "utf" not in encoding.lower():
        return json.dumps(data, indent=2)
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return re.sub(r"[^ -~\n]", lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text)
