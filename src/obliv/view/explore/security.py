"""The guard of the server: the token of the address, no foreign Host or Origin, and strict headers on every answer."""

from __future__ import annotations

import secrets

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guard", "hosts_of", "new_token"]

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
