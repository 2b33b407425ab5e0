"""A network as a piece of HTML for notebooks: a document of its own in a frame, which contacts nobody."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from obliv._util.files import write_whole
from obliv._util.text import printable
from obliv.errors import TooLargeError
from obliv.view.interactive.assets import asset, script, style
from obliv.view.interactive.payload import Limits, network_payload, untrusted_payload

__all__ = ["document", "fragment", "json_text", "write_network"]

_ROOM = 700_000  # characters of the data in a notebook
_CHANNELS = 4_000  # of a network that is drawn in a notebook
_SECONDS = 20.0  # for all that a loaded result names
_HEIGHTS = (300, 720)  # pixels of the frame
_BODY = "body { margin: 0.4rem; background: light-dark(#fefefe, #10151b); } :root { color-scheme: light dark; }"


def fragment(subject: Any) -> str:
    """Return a frame with a network, its loads and its proof; a line with the reason where there is none.

    Notebooks show it below the table of a topology, a routing or a result. Several frames do not disturb each other:
    each is a document of its own, sandboxed, without access to the notebook and to any network.

    Parameters
    ----------
    subject : Topology, Routing, PairLoads or Result
        What :func:`obliv.view.interactive.payload.network_payload` takes.

    Examples
    --------
    >>> import obliv
    >>> fragment(obliv.mesh(3, 3))[:48]
    '<iframe sandbox="allow-scripts" title="mesh:3x3"'
    """
    try:
        limits = Limits(room=_ROOM // 2, seconds=15.0, channels=_CHANNELS)
        payload = untrusted_payload(subject, limits, _SECONDS, [""])  # files of the current folder
        text = json_text(payload)
        if len(text) > _ROOM:
            raise TooLargeError(f"its drawing takes {len(text) / 1e6:.2g} MB, a notebook shows up to {_ROOM / 1e6:.2g}")
    except Exception as error:  # a picture that fails must not hide the table, whatever a user's own routing does
        reason = printable(str(error) or type(error).__name__)
        return f"<p>The network is not drawn: {html.escape(reason)}</p>"
    title = " on ".join(part for part in (payload["routing"], payload["topology"]) if part)
    page = document([payload], title).replace("&", "&amp;").replace("'", "&#39;")
    look = f"width:100%;height:{_height(payload)}px;border:0"
    label = f'title="{html.escape(printable(title))}"'
    return f'<iframe sandbox="allow-scripts" {label} loading="lazy" style="{look}" srcdoc=\'{page}\'></iframe>'


def write_network(subject: Any, path: str | Path) -> None:
    """Write a network with its loads as a web page that needs no server and contacts nobody.

    Pointing at a channel, or focusing it with the arrow keys, shows its loads, its worst traffic and the pairs that
    cross it. Where the loads of all pairs fit into the page, it checks the proof of the worst case itself.

    Parameters
    ----------
    subject : Topology, Routing, PairLoads or Result
        A network, a routing, or a result about them; small routings get their worst case.
    path : path-like

    Raises
    ------
    TooLargeError
        If the network has more than 20,000 nodes or channels.
    FileError
        If the page cannot be written.

    Examples
    --------
    >>> import obliv
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     obliv.view.write_network(obliv.worst_case("mesh:4x4", "romm"), f"{folder}/romm.html")
    """
    payload = network_payload(subject)
    title = " on ".join(part for part in (payload["routing"], payload["topology"]) if part)
    write_whole(path, document([payload], title).encode())


def document(payloads: list[dict[str, Any]], title: str) -> str:
    """Return a whole page with networks, whose policy allows nothing but its own scripts and style, by their hashes."""
    code, look = f"{script()}\n{asset('boot.js')}", f"{_BODY}\n{style()}"
    policy = f"default-src 'none'; script-src 'sha256-{_hash(code)}'; style-src 'sha256-{_hash(look)}'"
    data = '<script type="application/json"'
    parts = [
        f'<div data-network="network-{k}"></div>{data} id="network-{k}">{json_text(payload)}</script>'
        for k, payload in enumerate(payloads)
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(printable(title))}</title><style>{look}</style></head>"
        f"<body><main>{''.join(parts)}</main><script>{code}</script></body></html>"
    )


def json_text(value: Any) -> str:
    """Return JSON that may stand inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("'", "\\u0027")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _height(payload: dict[str, Any]) -> int:
    """Return the height of a frame, in pixels: that of the picture at the usual width of a notebook, and its lines."""
    x, y = ([float(node[axis]) for node in payload["nodes"]] or [0.0] for axis in ("x", "y"))
    shape = (max(y) - min(y) + 1.2) / (max(x) - min(x) + 1.2)
    least = 805 if payload["crossing"] else _HEIGHTS[0]  # pairs and their matrix stand beside the picture
    return max(least, min(_HEIGHTS[1], round(560 * shape) + 110))
