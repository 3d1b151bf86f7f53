"""pyproject.toml -> the oldest versions that it allows, one pinned requirement per line."""

import argparse
import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,]+\])?(>=(?P<bound>[\w.]+))?(;.*)?")


def oldest(project, extra):
    """Pin the core dependencies, and those of an extra, to their lower bounds."""
    pins, todo = [], [*project["dependencies"], *project["optional-dependencies"][extra]]
    for line in todo:  # grows: an extra may refer to others
        found = REQUIREMENT.fullmatch(line)
        extras = found and (found["extras"] or "")
        if found and found["name"] == project["name"]:
            for other in extras.strip("[]").split(","):
                todo += project["optional-dependencies"][other]
        elif found and found["bound"]:
            pins.append(f"{found['name']}{extras}=={found['bound']}")
        else:
            raise ValueError(f"{line!r} in pyproject.toml should have one lower bound: 'name>=1.2'.")
    return pins


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extra", nargs="?", default="test")
    extra = parser.parse_args().extra
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    sys.stdout.write("".join(f"{pin}\n" for pin in oldest(project, extra)))


if __name__ == "__main__":
    main()
