"""Add the built documentation to a web site that keeps one folder per version.

Run ``make docs``, then ``python docs/publish.py SITE``, where SITE is the folder that is served. All
addresses in it are relative, so that the site can be anywhere.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

BUILT = Path(__file__).parent / "_build" / "html"
RELEASE = re.compile(r"\d+\.\d+")
REDIRECT = """<!DOCTYPE html>
<meta charset="utf-8">
<title>slfs</title>
<meta http-equiv="refresh" content="0; url={0}/">
<a href="{0}/">Documentation of slfs</a>
"""


def publish(built: Path, site: Path) -> Path:
    """Copy a build to the folder of its version, and renew the list of versions and the start page."""
    folder = site / _folder(_version(built))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo*"))
    names = {path.name for path in site.iterdir() if (path / "objects.inv").exists()}
    releases = sorted(filter(RELEASE.fullmatch, names), key=_numbers, reverse=True)
    entries = [{"name": name, "version": name, "url": f"../{name}/"} for name in releases]
    if entries:
        entries[0] |= {"name": f"{releases[0]} (stable)", "preferred": True}
    if "dev" in names:
        entries.append({"name": "development", "version": "dev", "url": "../dev/"})
    (site / "switcher.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    (site / "index.html").write_text(REDIRECT.format(entries[0]["version"]), encoding="utf-8")
    (site / ".nojekyll").touch()  # folders such as _static are served as they are
    return folder


def _version(built: Path) -> str:
    """Return the version that a build describes, from the head of its inventory."""
    with (built / "objects.inv").open("rb") as file:
        head = [next(file).decode() for _ in range(3)]
    return head[2].removeprefix("# Version:").strip()


def _folder(version: str) -> str:
    """Return the folder of a version: 0.2.1 replaces 0.2.0, and there is one version in development."""
    release = RELEASE.match(version)
    return release[0] if release and re.fullmatch(r"[\d.]+", version) else "dev"


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.split(".")]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(f"{publish(BUILT, Path(sys.argv[1]))}\n")
