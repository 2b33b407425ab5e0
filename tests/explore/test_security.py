"""Who may talk to the server: the token, Host, Origin, methods, paths, sizes and forms of requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from obliv.explore.question import Question
from obliv.explore.server import HEADERS, hosts_of, new_token, page_app
from obliv.explore.workers import Workers

PORT = 8123
TOKEN = "Qk3-the-same-in-every-process_since-it-names-tests"  # not a new one: workers compare names
JSON = {"content-type": "application/json"}


class NoWorkers:
    """Nothing is computed here."""

    def warm(self) -> None: ...

    def close(self) -> None: ...

    def worker(self) -> Any:
        raise AssertionError("a refused request must not reach a worker")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = page_app(TOKEN, PORT, Question(), cast(Workers, NoWorkers()))
    with TestClient(app, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False) as client:
        yield client


def assert_guarded(answer: Any) -> None:
    for name, value in HEADERS.items():
        assert answer.headers.get_list(name) == [value], name
    assert "set-cookie" not in answer.headers


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/")
    assert page.status_code == 200
    assert "<script>" not in page.text
    assert "style=" not in page.text
    assert " on" + "click" not in page.text
    assert_guarded(page)
    for name, kind in (("explore.js", "text/javascript"), ("network.css", "text/css"), ("report.css", "text/css")):
        asset = client.get(f"/{TOKEN}/{name}")
        assert (asset.status_code, asset.headers["content-type"].partition(";")[0]) == (200, kind)
        assert_guarded(asset)
    assert client.get(f"/{TOKEN}").headers["location"] == f"/{TOKEN}/"
    named = [part.partition('"')[0] for part in page.text.split('src="')[1:] + page.text.split('href="')[1:]]
    assert all(client.get(f"/{TOKEN}/{name}").status_code == 200 for name in named if name[0] not in "#d")


def test_the_policy_is_strict() -> None:
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert (HEADERS["cache-control"], HEADERS["referrer-policy"]) == ("no-store", "no-referrer")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/explore.js",
        "/ask",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}x/",
        f"/{TOKEN[::-1]}/",
        "//",
        f"//{TOKEN}/",
        "/ä/",
        "/%00/",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_the_token_nothing_is_answered(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, f"http://127.0.0.1:{PORT}{path}")
    assert answer.status_code == 403
    assert TOKEN not in answer.text
    assert_guarded(answer)


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"0.0.0.0:{PORT}", "", "[::1]"],
)
def test_a_foreign_host_is_refused(client: TestClient, host: str) -> None:
    """A name of an attacker can be made to mean 127.0.0.1 (DNS rebinding): the browser then sends that name."""
    answer = client.get(f"/{TOKEN}/", headers={"host": host})
    assert answer.status_code == 403
    assert_guarded(answer)


def test_localhost_and_the_standard_port_are_this_server(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/", headers={"host": f"LOCALHOST:{PORT}"}).status_code == 200
    assert "127.0.0.1" in hosts_of(80)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{PORT}",
        f"http://127.0.0.1:{PORT + 1}",
        f"http://localhost:{PORT}",
    ],
)
def test_a_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    for method, path in (("GET", ""), ("POST", "ask"), ("OPTIONS", "ask")):
        answer = client.request(method, f"/{TOKEN}/{path}", headers={"origin": origin} | JSON)
        assert answer.status_code == 403
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_its_own_origin_is_accepted(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/", headers={"origin": f"http://127.0.0.1:{PORT}"}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
@pytest.mark.parametrize("path", ["", "ask", "explore.js"])
def test_other_methods_are_refused(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, f"/{TOKEN}/{path}")
    assert answer.status_code == 405
    assert_guarded(answer)


def test_questions_are_posted_and_pages_are_not(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/ask").status_code == 404
    assert client.post(f"/{TOKEN}/", headers=JSON, content="{}").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["../server.py", "..%2fserver.py", "%2e%2e/%2e%2e/etc/passwd", "page.html", "assets/explore.js", "....//x",
     "a%00.js", "C:%5cwindows%5cwin.ini", "explore.js/", "%2fetc%2fpasswd"],
)  # fmt: skip
def test_only_the_files_of_the_page_are_served(client: TestClient, path: str) -> None:
    answer = client.get(f"http://127.0.0.1:{PORT}/{TOKEN}/{path}")
    assert answer.status_code in (307, 403, 404)  # the client itself removes dots, and the token with them
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_questions_are_small_json_objects_with_known_keys(client: TestClient) -> None:
    def asked(body: str, kind: str = "application/json") -> tuple[int, str]:
        answer = client.post(f"/{TOKEN}/ask", content=body, headers={"content-type": kind})
        assert_guarded(answer)
        return answer.status_code, answer.json()["error"]

    assert asked("x" * 70_000)[0] == 413
    assert asked("{}", "text/plain") == (415, "the question is not of the type application/json")
    assert asked("{}", "application/x-www-form-urlencoded")[0] == 415
    assert asked("topology=mesh") == (400, "the question is not JSON")
    assert asked("[" * 30_000)[0] == 400
    assert asked("[]") == (400, "the question is not a JSON object")
    assert asked('{"topolgy": "mesh:4x4"}') == (400, "unknown key 'topolgy': did you mean topology?")
    assert asked('{"topology": 3}') == (400, "topology is '3': a value like 'mesh:8x8' is needed")
    assert asked('{"largest": 1}')[0] == 400
    assert asked('{"samples": true}')[0] == 400
    assert asked('{"samples": -1}')[0] == 400
    assert asked('{"samples": 1e5}')[0] == 400
    assert asked('{"traffic": "uniform"}')[0] == 400
    assert asked('{"traffic": [["uniform"]]}')[0] == 400
    assert asked(json.dumps({"topology": "m" * 3000})) == (400, "topology has 3,000 letters; up to 2,000 are allowed")
    assert asked(json.dumps({"failed": ["0-1"] * 201}))[0] == 400
    assert asked('{"want": ["wrost"]}') == (400, "unknown part 'wrost': did you mean worst?")


def test_a_start_from_the_command_line_is_text(client: TestClient) -> None:
    evil = '"><script>alert(1)</script>'
    app = page_app(TOKEN, PORT, Question(topology=evil), cast(Workers, NoWorkers()))
    page = TestClient(app, base_url=f"http://127.0.0.1:{PORT}").get(f"/{TOKEN}/").text
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_address_for_the_browser_works_once() -> None:
    app = page_app(TOKEN, PORT, Question(), cast(Workers, NoWorkers()))
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
    path = app.once()
    assert TOKEN not in path
    assert client.get(f"/{path}", headers={"host": "evil.example"}).status_code == 403
    answer = client.get(f"/{path}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/{TOKEN}/")
    assert_guarded(answer)
    assert client.get(f"/{path}").status_code == 403


def test_tokens_are_long_and_new() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert len(new_token()) >= 43
