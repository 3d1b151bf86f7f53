"""The site of the documentation: one folder per version, and a list to choose from."""

import functools
import http.server
import importlib.util
import json
import shutil
import threading
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="this copy has no documentation")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
PAGE = """<!DOCTYPE html><html data-content_root="{root}"><body>
<a class="sidebar-brand" href="{root}">slfs</a>
<h1>{title}</h1><script src="{root}_static/versions.js"></script></body></html>"""


@pytest.fixture
def publish(tmp_path):
    """Build a few pages of a version, as Sphinx does, and publish them in ``site``."""
    spec = importlib.util.spec_from_file_location("publish", DOCS / "publish.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def build_and_publish(version, *guides):
        built = tmp_path / "built"
        shutil.rmtree(built, ignore_errors=True)
        for folder in ("_static", "guides", ".doctrees"):
            (built / folder).mkdir(parents=True)
        head = f"# Sphinx inventory version 2\n# Project: slfs\n# Version: {version}\n"
        (built / "objects.inv").write_bytes(head.encode() + b"\x78\x9c\xff")
        (built / ".doctrees" / "environment.pickle").touch()
        shutil.copy(DOCS / "_static" / "versions.js", built / "_static")
        (built / "index.html").write_text(PAGE.format(root="./", title=version))
        for guide in guides:
            page = PAGE.format(root="../", title=f"{guide} in {version}")
            (built / "guides" / f"{guide}.html").write_text(page)
        return module.publish(built, site)

    site = tmp_path / "site"
    site.mkdir()
    return build_and_publish, site


def versions(site):
    entries = json.loads((site / "switcher.json").read_text())
    assert all(entry["url"] == f"../{entry['version']}/" for entry in entries)
    assert all((site / entry["version"] / "index.html").exists() for entry in entries)
    return [entry["name"] for entry in entries]


def test_versions_are_listed_from_the_newest_and_the_start_page_leads_to_it(publish):
    add, site = publish
    assert add("0.2.0.dev0").name == "dev"
    assert versions(site) == ["development"]
    assert "url=dev/" in (site / "index.html").read_text()
    for version, folder in (
        ("0.9.0", "0.9"),
        ("0.10.0", "0.10"),
        ("0.2.0", "0.2"),
        ("0.11.0rc1", "dev"),
    ):
        assert add(version).name == folder
    assert versions(site) == ["0.10 (stable)", "0.9", "0.2", "development"]
    assert "url=0.10/" in (site / "index.html").read_text()
    assert not list(site.rglob(".doctrees"))


def test_a_patch_replaces_the_pages_of_its_minor_version(publish):
    add, site = publish
    add("0.2.0", "removed")
    add("0.2.1", "added")
    assert versions(site) == ["0.2 (stable)"]
    assert "0.2.1" in (site / "0.2" / "index.html").read_text()
    assert [path.name for path in (site / "0.2" / "guides").iterdir()] == ["added.html"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")
def test_a_reader_changes_the_version_and_stays_on_the_page_where_it_exists(publish):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    add, site = publish
    add("0.1.0")
    add("0.2.0", "genes")
    add("0.3.0.dev0", "genes")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    handler = functools.partial(Handler, directory=site)
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        playwright.sync_playwright() as driver,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(10_000)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_url("**/0.2/")
        page.goto(f"http://127.0.0.1:{server.server_port}/0.2/guides/genes.html")
        chosen = page.get_by_label("Version of the documentation")
        chosen.locator("option").first.wait_for(state="attached")  # the list of versions is fetched
        assert chosen.locator("option").all_inner_texts() == ["0.2 (stable)", "0.1", "development"]
        assert chosen.evaluate("list => list.selectedOptions[0].text") == "0.2 (stable)"
        chosen.select_option("development")
        page.wait_for_url("**/dev/guides/genes.html")
        chosen.select_option("0.1")
        page.wait_for_url("**/0.1/")
        browser.close()
        server.shutdown()
