"""Change one thing in a module at a time: do the tests notice?

    python -m tests.long.mutants information network insertion --minutes 30

Every mutant is a fork that has NumPy, scikit-learn and numba imported but nothing of slfs, so it costs
seconds. What survives is printed: each line is a change that no test has noticed. docs/robustness.md
judges them. The kinds of changes are those of mutmut: comparisons, arithmetic, constants, conditions.
"""

import argparse
import ast
import importlib.abc
import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "slfs"
MODULES = {
    "information": (
        "slfs.information",
        ["tests/test_information.py", "tests/test_truth.py", "tests/test_selectors.py"],
    ),
    "network": ("slfs.network", ["tests/test_network.py", "tests/test_interchange.py"]),
    "insertion": ("slfs.selectors.insertion", ["tests/test_ties.py", "tests/test_slfs.py"]),
}
HEAVY = [
    "numba",
    "pandas",
    "networkx",
    "hypothesis",
    "pytest",
    "scipy.stats",
    "sklearn.feature_selection",
]
SLOW = "million or awkward or pgmpy or agrum or bif"

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Div, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.RShift: ast.LShift, ast.LShift: ast.RShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum"}


class Changer(ast.NodeTransformer):
    """Makes the ``wanted``-th change of a tree; counts them all."""

    def __init__(self, wanted):
        self.wanted, self.seen, self.what = wanted, 0, None

    def chosen(self, node, what):
        self.seen += 1
        if self.seen - 1 == self.wanted:
            self.what = f"line {node.lineno}: {what}"
        return self.seen - 1 == self.wanted

    def swap(self, node, operator):
        other = SWAPS.get(type(operator))
        if other and self.chosen(
            node, f"{type(operator).__name__} -> {other.__name__} in {ast.unparse(node)}"
        ):
            return other()
        return operator

    def visit_Compare(self, node):
        node.ops = [self.swap(node, operator) for operator in node.ops]
        return self.generic_visit(node)

    def visit_BinOp(self, node):
        node.op = self.swap(node, node.op)
        return self.generic_visit(node)

    visit_AugAssign = visit_BinOp  # noqa: N815
    visit_BoolOp = visit_BinOp  # noqa: N815

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not | ast.USub) and self.chosen(node, f"bare {ast.unparse(node)}"):
            return self.generic_visit(node.operand)
        return self.generic_visit(node)

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            changed = not value
        elif isinstance(value, int | float):
            changed = value + 1
        elif isinstance(value, str):
            changed = f"X{value}"
        else:
            return node
        return ast.Constant(changed) if self.chosen(node, f"{value!r} -> {changed!r}") else node

    def visit_Attribute(self, node):
        if node.attr in NAMES and self.chosen(node, f"{node.attr} -> {NAMES[node.attr]}"):
            node.attr = NAMES[node.attr]
        return self.generic_visit(node)

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name in NAMES and self.chosen(node, f"{name} -> {NAMES[name]}"):
            node.func.id = NAMES[name]
        return self.generic_visit(node)

    def visit_Continue(self, node):
        return ast.Break() if self.chosen(node, "continue -> break") else node

    def visit_Expr(self, node):
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)  # a docstring

    def leave(self, node):
        return node

    visit_Raise = visit_Import = visit_ImportFrom = leave  # noqa: N815

    def visit_FunctionDef(self, node):
        node.body = [self.visit(statement) for statement in node.body]  # neither types nor decorators
        return node

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def mutant(path, wanted):
    """The changed tree of a module and what was changed; None when there are no more."""
    changer = Changer(wanted)
    tree = ast.fix_missing_locations(changer.visit(ast.parse(path.read_text("utf-8"))))
    return (tree, changer.what) if changer.what else None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a tree."""

    def __init__(self, name, path, tree):
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name, _path, _target=None):
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module):
        exec(compile(self.tree, self.path, "exec"), module.__dict__)


def survives(name, path, tree, tests, seconds):
    """Whether the tests pass in a fork with a changed module."""
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        sys.meta_path.insert(0, Finder(name, path, tree))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", f"not ({SLOW})"]
        options += ["-W", "ignore:Module already imported"]
        os._exit(int(pytest.main([*options, *tests])))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=list(MODULES), metavar="MODULE")
    parser.add_argument("--minutes", type=float, default=60, help="for each module")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th mutant")
    parser.add_argument("--begin", type=int, default=0, help="the first mutant")
    options = parser.parse_args()
    os.environ.setdefault("SLFS_EXAMPLES", "10")
    for heavy in HEAVY:
        importlib.import_module(heavy)
    for short in options.modules:
        name, tests = MODULES[short]
        path = SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py")
        begin, tried, alive = time.monotonic(), 0, []
        whole = ast.parse(path.read_text("utf-8"))
        if not survives(name, path, whole, tests, 600):
            raise SystemExit(f"the tests of {name} fail without any change")
        usual, wanted = time.monotonic() - begin, options.begin
        while time.monotonic() - begin < 60 * options.minutes:
            found = mutant(path, wanted)
            if found is None:
                break
            tree, what = found
            wanted, tried = wanted + options.every, tried + 1
            if survives(name, path, tree, tests, 5 * usual + 10):
                alive.append(what)
                sys.stdout.write(f"{name} survives {what}\n")
                sys.stdout.flush()
        share = 100 * (tried - len(alive)) / max(tried, 1)
        sys.stdout.write(f"{name}: {tried} mutants, {len(alive)} survive, {share:.1f} % killed\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
