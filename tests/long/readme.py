"""Run the README's Python code and `slfs` commands with the installed package, in the current folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

import slfs

ROOT = Path(__file__).parents[2]


def main():
    if ROOT / "src" in Path(slfs.__file__).parents:
        sys.exit(f"slfs is imported from {slfs.__file__}: run this where the wheel is installed.")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    namespace = {}
    for block in re.findall(r"^```python\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE):
        exec(block, namespace)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(label=y).to_csv("data.csv", index=False)  # the file of the command
    commands = re.findall(r"^slfs .*$", text, flags=re.MULTILINE)
    for command in commands:
        subprocess.run([sys.executable, "-m", *shlex.split(command)], check=True)
    sys.stdout.write(f"slfs {slfs.__version__}: {len(commands)} command(s) and the Python code ran.\n")


if __name__ == "__main__":
    main()
