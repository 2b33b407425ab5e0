"""Makes the picture of a notebook: ``python docs/pictures/notebook.py`` (needs Playwright and Chromium)."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import obliv
from obliv.view.interactive.fragment import write_network


def main(folder: Path) -> None:
    """The worst case of ROMM on a small mesh."""
    write_network(obliv.worst_case(obliv.routing("romm", obliv.mesh(5, 5))), folder / "network.html")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 960, "height": 600})
        page.goto((folder / "network.html").as_uri())
        page.get_by_text("channels proved in this page").wait_for()
        page.screenshot(path=Path(__file__).with_name("notebook.png"), full_page=True)
        chromium.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
