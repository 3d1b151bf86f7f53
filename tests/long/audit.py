"""Installed packages -> known vulnerabilities: minimum versions, `pip check`, pip-audit if it can run.

python -m tests.long.audit
"""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

from packaging.version import Version

LIST = Path(__file__).with_name("safe-versions.txt")


def least_versions():
    """Library -> (oldest safe version, reason)."""
    found = {}
    for line in LIST.read_text("utf-8").splitlines():
        entry, _, why = line.partition("#")
        if entry.strip():
            name, version = entry.split()
            found[name] = Version(version), why.strip()
    return found


def unsafe():
    """Installed packages with a known vulnerability, one sentence each."""
    found = []
    for name, (least, why) in least_versions().items():
        try:
            installed = Version(metadata.version(name))
        except metadata.PackageNotFoundError:
            continue
        if installed < least:
            found.append(f"{name} {installed} has a known fault ({why}): install {least} or later")
    return found


def main():
    faults = unsafe()
    checked = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    if checked.returncode:
        faults += checked.stdout.splitlines()
    asked = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip_audit",
            "--progress-spinner",
            "off",
            "--timeout",
            "20",
            "--skip-editable",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if "known vulnerabilit" in asked.stdout + asked.stderr and asked.returncode:
        faults += asked.stdout.splitlines()
    elif asked.returncode:
        reason = (asked.stderr.strip() or "it failed").splitlines()[-1]
        sys.stdout.write(
            f"pip-audit could not ask its service ({reason[:150]}): the list of our own it is.\n"
        )
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(least_versions())} libraries on the list, {len(faults)} fault(s).\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
