"""The server of the page, on the loopback interface only, and the guard of its addresses, origins and headers."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from obliv.errors import InputError
from obliv.explore.question import Question, question_of
from obliv.explore.workers import ServerState, Workers
from obliv.view.interactive.fragment import SCRIPT_FILES, asset
from obliv.view.report import page

# The guard of the server: the token of the address, no foreign Host or Origin, and strict headers on every answer


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: Headers of every answer, refusals included.
HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def new_token() -> str:
    """Return a random token of 256 bits for the address."""
    return secrets.token_urlsafe(32)


def hosts_of(port: int) -> frozenset[str]:
    """Return the values of the Host header that name this server."""
    names = ("127.0.0.1", "localhost")
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


class Guard:
    """Refuse what does not come from the page of this server, whose address begins with the token.

    A page of another site can send requests to a loopback address, and its name can be made to mean that address (DNS
    rebinding). Such requests bear that name in Host, or that site in Origin, and do not know the token.

    Parameters
    ----------
    app : ASGI application
        It sees paths without the token.
    token : str
    hosts : frozenset of str
        The accepted values of Host.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts
        self._once: bytes | None = None

    def once(self) -> str:
        """Return a path that leads to the page a single time.

        A browser is started with its address on the command line, which other users of the machine can see.
        """
        path = new_token()
        self._once = path.encode()
        return path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [pair for pair in message.get("headers", ()) if pair[0].decode("latin-1").lower() not in HEADERS]
                message = {**message, "headers": [*kept, *own]}
            await send(message)

        app, inner = self._inner(scope)
        await app(inner, receive, guarded)

    def _inner(self, scope: Scope) -> tuple[ASGIApp, Scope]:
        """Return who answers a request, and the request without the token."""
        first, slash, path = str(scope["path"])[1:].partition("/")
        name = first.encode("utf-8", "surrogatepass")
        reason = self._refusal(scope)
        if not reason and self._once is not None and secrets.compare_digest(name, self._once):
            self._once = None
            return RedirectResponse(f"/{self._token.decode()}/", 303), scope
        if not reason and not secrets.compare_digest(name, self._token):
            reason = "the address lacks the token that obliv explore printed"
        if reason:
            return PlainTextResponse(f"403 refused: {reason}\n", 403), scope
        if not slash:
            return RedirectResponse(scope["path"] + "/", 308), scope
        return self._app, {**scope, "path": "/" + path, "raw_path": b"/" + path.encode(), "root_path": ""}

    def _refusal(self, scope: Scope) -> str:
        """Return why a request is refused for its headers, nothing where they are accepted."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "the request names another host"
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in headers.get("origin", [])):
            return "the request comes from another site"
        return ""


_LARGEST = 64 * 1024  # bytes of a question
_CONNECTIONS = 64
_PATIENCE, _LOOK = 5.0, 0.25  # seconds for a request to come, and between looks
HOST = "127.0.0.1"


def page_app(token: str, port: int, start: Question, workers: Workers) -> Guard:
    """Return the ASGI application of the page."""
    page, files = _page(start), _files()

    async def index(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return Response("404 not found\n", 404, media_type="text/plain")
        return Response(files[name], media_type=_TYPES[name.rpartition(".")[2]])

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        workers.warm()
        app.state.answers = ServerState(workers)
        try:
            yield
        finally:
            workers.close()

    routes = [
        Route("/", index, methods=["GET"]),
        Route("/ask", _ask, methods=["POST"]),
        Route("/{name}", asset, methods=["GET"]),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts_of(port))


async def _ask(request: Request) -> Response:
    """Answer a question as lines of JSON, each when it is there."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return JSONResponse({"error": "the question is not of the type application/json"}, 415)
    body = b""
    try:
        async with asyncio.timeout(_PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > _LARGEST:
                    return JSONResponse({"error": f"the question has more than {_LARGEST:,} bytes"}, 413)
    except TimeoutError:
        return JSONResponse({"error": f"the question was not complete after {_PATIENCE:g} seconds"}, 408)
    try:
        question = question_of(body)
    except InputError as error:
        return JSONResponse({"error": str(error)}, 400)
    return _Lines(request.app.state.answers.ask(question))


class _Lines(Response):
    """Messages as lines of JSON, sent one by one; where the client goes away, what makes them is closed."""

    def __init__(self, messages: AsyncIterator[dict[str, Any]]) -> None:
        super().__init__(media_type="application/x-ndjson")
        del self.headers["content-length"]
        self._messages = messages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            await self._messages.aclose()  # type: ignore[attr-defined]

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for message in self._messages:
            line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_TYPES = {"css": "text/css", "js": "text/javascript"}
_STYLES = ("report.css", "network.css", "explore.css")


def _files() -> dict[str, bytes]:
    """Return the scripts and styles of the page; nothing else can be asked for."""
    folder = resources.files("obliv.explore").joinpath("assets")
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    files |= {name: asset(name).encode() for name in (*SCRIPT_FILES, "network.css")}
    return files | {"report.css": page.asset("page.css").encode(), "theme.js": page.asset("theme.js").encode()}


def _page(start: Question) -> str:
    shown = {name: value for name, value in vars(start).items() if name not in ("want", "page")}
    template = page.environment("obliv.explore").get_template("explore.html")
    return template.render(start=json.dumps(shown), styles=_STYLES, scripts=("theme.js", *SCRIPT_FILES))


def listen(port: int) -> socket.socket:
    """Return a socket on the loopback interface that listens at a port; 0 is any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(_CONNECTIONS)
    except OSError as error:
        listener.close()
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise InputError.naming(
            "{port}={0} {1}: choose another, or leave it out for a free one", port, reason
        ) from None
    return listener


class _Server(uvicorn.Server):
    """A server that stops at once: open answers do not delay Ctrl-C."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.should_exit = self.force_exit = True


async def _close_silent(server: uvicorn.Server) -> None:
    """Close connections on which no request comes, the oldest ones at once where these are half of what is allowed."""
    since: dict[Any, float] = {}
    while True:
        now = asyncio.get_running_loop().time()
        silent = [one for one in list(server.server_state.connections) if getattr(one, "cycle", None) is None]
        since = {one: since.get(one, now) for one in silent}
        oldest = sorted(silent, key=since.__getitem__)
        many = max(0, len(oldest) - _CONNECTIONS // 2)
        for number, one in enumerate(oldest):
            if (number < many or now - since[one] > _PATIENCE) and one.transport is not None:
                one.transport.close()
        await asyncio.sleep(_LOOK)


def serve(listener: socket.socket, app: Guard, workers: Workers, ready: Callable[[], None]) -> None:
    """Serve the page until a signal comes, then kill the workers; call `ready` once it is being served."""
    config = uvicorn.Config(
        app,
        http="h11",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=1,
        lifespan="on",
        ws="none",
    )
    server = _Server(config)

    async def run() -> None:
        asyncio.get_running_loop().call_soon(ready)
        closing = asyncio.ensure_future(_close_silent(server))
        try:
            await server.serve([listener])
        finally:
            closing.cancel()
            workers.close()  # ends the threads that wait for them

    asyncio.run(run())
