"""The command line: ``obliv VERB ...``, one thin command a verb."""

from __future__ import annotations

import signal
import sys
import warnings
from pathlib import Path

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit status.

    0 it is so, 1 the answer is no, 2 bad usage or bad input (one line on standard error), 130 interrupted.
    """
    from obliv.cli.common import Stopped
    from obliv.errors import OblivError

    words = list(sys.argv[1:] if arguments is None else arguments)
    warnings.filterwarnings("default", category=RuntimeWarning, module="obliv")
    sys.set_int_max_str_digits(0)  # exact numbers may be longer than Python's default allows
    try:
        from obliv.cli.app import app

        words = _imported(words)
        status = app(words, prog_name="obliv", standalone_mode=False)
        if sys.stdout is not None:  # as it is where standard output is closed
            sys.stdout.flush()
        if status == 130:
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except OblivError as error:
        return _refused(str(error))
    except Stopped as stop:
        print(f"\nobliv: interrupted {stop}", file=sys.stderr)
        return 130
    except KeyboardInterrupt:
        print("\nobliv: interrupted; nothing half-done was written, the same command starts again", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: say nothing more
        return 0
    except OSError as error:
        if error.filename is not None:
            return _failed(error)
        return _refused(f"the answer cannot be written: {error.strerror or error}")
    except MemoryError:
        return _refused("the problem does not fit in memory; choose a smaller network")
    except Exception as error:
        if type(error).__name__ == "Abort":
            print("obliv: interrupted", file=sys.stderr)
            return 130
        if not hasattr(error, "format_message"):  # not a complaint about the command line
            return _failed(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 0
        return _refused(f"{error.format_message()}  (obliv --help, obliv VERB --help)")


def run() -> None:
    """The console script; an interrupt that comes before or after the work ends like one that comes during it."""
    status = 130
    try:
        try:
            status = main()
        except KeyboardInterrupt:
            status = 130
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is out: what comes now changes nothing
    except KeyboardInterrupt:  # between the two
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _failed(error: Exception) -> int:
    """What no one foresaw, in a line with its place: a user's own file, or else a fault of ours."""
    import os
    import traceback

    steps = traceback.extract_tb(error.__traceback__)
    for step in reversed(steps):
        if step.filename in _own_files:
            return _refused(f"{step.filename}:{step.lineno}: {type(error).__name__}: {error}")
    if os.environ.get("OBLIV_TRACEBACK"):
        traceback.print_exception(error)
    place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
    return _refused(
        f"a fault of obliv itself: {type(error).__name__} at {place}: {error}; "
        "please report it with the command and its input (OBLIV_TRACEBACK=1 shows all there is)"
    )


_own_files: set[str] = set()


def _refused(message: str) -> int:
    from obliv._util.text import printable

    print("obliv: " + printable(" ".join(message.split())), file=sys.stderr)  # names may hold anything
    return 2


def _imported(words: list[str]) -> list[str]:
    """Run the files that ``--import FILE.py`` names, wherever it stands; what is left of the command line."""
    import runpy

    from obliv.errors import FileError, InputError

    left = []
    pending = iter(words)
    for word in pending:
        if word != "--import" and not word.startswith("--import="):
            left.append(word)
            continue
        name = word.partition("=")[2] or next(pending, "")
        if not name:
            raise InputError("--import needs a file: obliv --import my_routing.py worst ...")
        if not Path(name).is_file():
            raise FileError("there is no such file to import", name)
        _own_files.add(name)
        try:
            runpy.run_path(name, run_name=Path(name).stem)
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = trace.tb_lineno if trace is not None and trace.tb_frame.f_code.co_filename == name else None
            raise FileError(f"{type(error).__name__}: {error}", name, line) from None
    return left
