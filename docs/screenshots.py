"""Takes the screenshots of the pages that filterkit makes. Needs Debian's chromium, and playwright (extra test).

python docs/screenshots.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
SAMPLE = ROOT / "arff_samples" / "fortunes.arff"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
SECTIONS = {"plane": "explore-plane.png", "cards": "explore-cards.png"}
WIDTH, HEIGHT = 1240, 860


def take(folder: Path) -> None:
    """Explore a sample, and take a picture of some sections of the page."""
    page = folder / "report.html"
    explore = [sys.executable, "-m", "filterkit", "--positive", "food", "explore", SAMPLE.name]
    subprocess.run([*explore, "shape", "bns", "l2", "-o", page], check=True, cwd=SAMPLE.parent)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        shown = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        shown.goto(page.as_uri())
        for section, name in SECTIONS.items():
            place = shown.locator(f"#{section}")
            place.wait_for()
            box = place.bounding_box()
            assert box is not None
            part: Any = {"x": 0, "y": box["y"], "width": WIDTH, "height": min(box["height"], HEIGHT)}
            shown.screenshot(path=PICTURES / name, full_page=True, clip=part)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        take(Path(folder))
