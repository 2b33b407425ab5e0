from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="pages are tried with playwright, which is missing")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("pages are tried in Chromium, which is not installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens an address in a new window; nothing may be requested, and nothing may go to the console.

    Its options are those of Playwright's ``new_context``. Requests to the addresses in `allowed` are let through.
    """
    troubles: list[str] = []
    contexts = []

    def opens(address: str, *, allowed: tuple[str, ...] = ("file:", "data:", "about:"), **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # only what hangs takes so long, also on a busy machine
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: None if request.url.startswith(allowed) else troubles.append(f"request: {request.url}"),
        )
        page.goto(address)
        return page

    yield opens
    for context in contexts:
        context.close()
    assert troubles == []
