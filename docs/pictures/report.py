"""Makes the picture of ``obliv report``: ``python docs/pictures/report.py [STORE]`` (needs Playwright and Chromium)."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import obliv
from obliv import view

HERE = Path(__file__).parent
STUDY = HERE.parents[1] / "examples" / "mesh-routings.study.toml"


def main(folder: Path, store: str = "") -> None:
    """The top of the report of the example of a study."""
    if not store:
        store = str(folder / "meshes.db")
        obliv.study.run(STUDY, store)
    view.write_report(store, folder / "report.html")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1180, "height": 1000}, device_scale_factor=1)
        page.goto((folder / "report.html").as_uri())
        page.wait_for_selector("html[data-proved]")
        page.fill("#filter", "mesh:8x8")
        page.locator("#table thead button", has_text="worst").click()
        page.screenshot(path=HERE / "report.png", clip={"x": 0, "y": 0, "width": 1180, "height": 1080}, full_page=True)
        page.locator("#network").screenshot(path=HERE / "report-network.png")
        chromium.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary), *sys.argv[1:])
