"""pyproject.toml -> the oldest versions that it allows, one pinned requirement per line."""

import argparse
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,]+\])?(>=(?P<bound>[\w.]+))?(;.*)?")


def oldest(settings, extra, group):
    """Pin the core dependencies, an extra and a dependency group to their lower bounds."""
    project, groups = settings["project"], settings["dependency-groups"]
    extras = project["optional-dependencies"]
    pins, todo = [], [*project["dependencies"], *extras[extra], *groups[group]]
    for line in todo:  # grows: extras and groups may refer to others
        if isinstance(line, dict):
            todo += groups[line["include-group"]]
            continue
        found = REQUIREMENT.fullmatch(line)
        chosen = found and (found["extras"] or "")
        if found and found["name"] == project["name"]:
            for other in chosen.strip("[]").split(","):
                todo += extras[other]
        elif found and found["bound"]:
            pins.append(f"{found['name']}{chosen}=={found['bound']}")
        else:
            raise ValueError(f"{line!r} in pyproject.toml should have one lower bound: 'name>=1.2'.")
    return pins


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extra", default="all")
    parser.add_argument("--group", default="test")
    arguments = parser.parse_args()
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    pins = oldest(settings, arguments.extra, arguments.group)
    sys.stdout.write("".join(f"{pin}\n" for pin in pins))


if __name__ == "__main__":
    main()
