"""``obliv explore``: one network live in the browser."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from obliv.cli.messages import shown
from obliv.cli.options import OtherTraffic
from obliv.cli.output import say, write
from obliv.cli.specs import named_traffic
from obliv.errors import FileError, extra

if TYPE_CHECKING:
    from obliv.explore.question import Question


def explore(
    context: typer.Context,
    topology: Annotated[str, typer.Argument(metavar="[TOPOLOGY]", help="The network to begin with.")] = "mesh:8x8",
    routing: Annotated[str, typer.Argument(metavar="[ROUTING]", help="The routing to begin with.")] = "ecmp",
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[TRAFFIC]...", help="Traffic to begin with.", show_default=False)
    ] = None,
    *,
    traffic: OtherTraffic = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--files", metavar="PATH", help="File, or folder of files, that specs in the page may read; repeatable."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of 127.0.0.1 (0 = any that is free).")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Show one network live in the browser while you change it.

    What can be changed is the topology, the routing, the traffic, and which links and nodes have failed.

    The address is printed on standard output; Ctrl-C ends the server.

    Example: obliv explore torus:5x5 romm --traffic tornado
    """
    try:
        from obliv.explore import server
    except ImportError as error:
        raise extra(error.name or "starlette", "explore") from None
    from obliv.explore.question import Question
    from obliv.explore.server import new_token
    from obliv.explore.workers import Setup, Workers

    start = Question(topology, routing, tuple(named_traffic(words, traffic) or ["uniform"]))
    named = _files_of(start)
    for path in files or ():
        if not os.path.exists(path):
            raise FileError("file not found: --files names files and folders that exist", path)
    workers = Workers(Setup(_imports(context), (*map(str, files or ()), *named)))
    listener = server.listen(port)
    token, number = new_token(), listener.getsockname()[1]
    app, site = server.page_app(token, number, start, workers), f"http://127.0.0.1:{number}/"

    def ready() -> None:
        write(f"{site}{token}/")
        say("the page is served on this machine only, until Ctrl-C")
        if browser:
            import webbrowser

            # in a thread, since a browser of the terminal runs until it is left
            threading.Thread(target=webbrowser.open, args=(site + app.once(),), daemon=True).start()

    shown(inf)  # by the page
    server.serve(listener, app, workers, ready)


def _files_of(start: Question) -> list[str]:
    """Return the files that the specs of the command line read; raise what is wrong with these specs."""
    import obliv

    network = obliv.topology(start.topology)
    sources = [*network.sources, *obliv.routing(start.routing, network).sources]
    sources += [source for spec in start.traffic for source in obliv.traffic(spec, network).sources]
    return [path for path, _ in sources]


def _imports(context: typer.Context) -> tuple[tuple[str, str], ...]:
    """Return the files of ``--import`` with their digests."""
    from obliv.study.reading import sha256_of

    files: Sequence[str] = context.meta.get("obliv.imports", ())
    return tuple((str(Path(name).resolve()), sha256_of(name)) for name in files)
