"""Write the pictures of the report in docs/_static. Needs playwright, chromium and pillow.

Run ``python docs/screenshots.py`` after a change of the report.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer

from slfs import SLFS
from slfs.report import write_report

STATIC = Path(__file__).parent / "_static"


def main() -> None:
    """Fit a selector, write its report and take pictures of three parts."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        selector = SLFS().fit(X, y)
        write_report(selector, report, X=X, y=y, data="Breast cancer")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 640}, reduced_motion="reduce")
        page.goto(report.as_uri())
        _save(page.screenshot(), "report.png")
        _save(page.locator("#size").screenshot(), "report-size.png")
        page.locator(".pick").nth(1).click()
        _save(page.locator("#tree-body").screenshot(), "report-tree.png")
        browser.close()


def _save(picture: bytes, name: str) -> None:
    """Write the upper part of a picture, with few colors, which takes a third of the space."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, 760)))
    image.quantize(256).save(STATIC / name, optimize=True)


if __name__ == "__main__":
    main()
