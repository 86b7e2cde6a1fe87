"""Mutation test: ``python -m benchmarks mutation [TARGET ...] [--mutants N] [--seed N]``.

A mutant is a copy of the sources with one small change that a programmer could make by mistake: a sign, a factor, a
comparison, a transpose, an index. The tests that execute the changed line run on it, then the others of their files,
whose fixtures may have executed it; a mutant is caught when one of them fails. Everything happens in a clone of the
committed tree without recordings, so the figure says what the tests of a fork can notice. Mutants are drawn at random,
the same ones for the same seed and sources.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit

from .reference import reference_line

TARGETS = {
    "so3": ("solver/base/so3.py", ("tests/test_so3.py", "tests/laws")),
    "dynamics": ("solver/dynamics", ("tests/dynamics", "tests/laws")),
    "identification": ("solver/identification", ("tests/identification",)),
    "centroidal": ("solver/centroidal", ("tests/centroidal",)),
    "formats": ("solver/formats", ("tests/formats",)),
    "storage": ("solver/storage", ("tests/storage", "tests/faults")),
    "plates": ("solver/study/plates", ("tests/study",)),
    "feasibility": ("solver/feasibility", ("tests/feasibility",)),
    "trajectory": ("solver/trajectory", ("tests/trajectory", "tests/dance/authoring")),
    "qp": ("solver/qp", ("tests/qp",)),
    "report": ("solver/report", ("tests/report",)),
    "moments": ("solver/moments", ("tests/moments",)),
    "scene": ("solver/scene", ("tests/scene",)),
    "cli": ("solver/cli", ("tests/cli",)),
    "calibration": ("solver/calibration", ("tests/calibration",)),
    "tracking": ("solver/tracking", ("tests/tracking",)),
    "capture": ("solver/capture", ("tests/capture",)),
    "addon": ("addon", ("tests/addon",)),
}
"""Sources that are changed, and the tests from which those that execute a changed line are taken."""
MUST, AIM = 0.85, 0.95
"""Fraction of mutants that must be caught, and that should be."""
SLOWER, ALLOWANCE = 3.0, 60.0
"""The tests of a mutant are stopped after so many times the processor time that they need without it, and so many
seconds more: a mutant that never ends is noticed, slow tests are not taken for failed ones."""
WAITING = 10.0
"""Tests that wait for something are stopped after so many times that limit by the clock."""
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}

ROUNDING = 1e-6
"""Literals up to this size stay as they are: they are tolerances of rounding errors, which are chosen so that twice the
value makes no difference."""

OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
EXCHANGED = (
    ("min", "max"),
    ("any", "all"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("sin", "cos"),
    ("floor", "ceil"),
)
FUNCTIONS = {a: b for pair in EXCHANGED for a, b in (pair, pair[::-1])}


@dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes:
        path: relative to the root.
        line: counted from 1.
        start, stop: of the replaced text, in characters of the file.
        old, new: the text before and after.
    """

    path: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {' '.join(self.old.split())}  ->  {' '.join(self.new.split())}"


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """All mutants of a file.

    Annotations, docstrings, messages of exceptions, printed text and tolerances of rounding errors stay as they are.
    """
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in _executable(ast.parse(source)):
        for new in _changes(node):
            start = offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
            stop = offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
            text = f"({ast.unparse(new)})"
            yield Mutant(path, node.lineno, start, stop, source[start:stop], text)  # type: ignore[attr-defined]


def main(arguments: list[str]) -> int:
    """Print each surviving mutant and the fraction caught per target; 1 when a target misses the must."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; by default all")
    parser.add_argument("--mutants", type=int, default=20, help="per target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if unknown := [target for target in options.targets if target not in TARGETS]:
        parser.error(f"unknown target {unknown[0]!r}; choose from {', '.join(TARGETS)}")
    print(reference_line())
    root = Path(__file__).resolve().parents[1]
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(root), str(clone)], check=True)
        shutil.copytree(root / "assets", clone / "assets", dirs_exist_ok=True)  # some are built, not committed
        for target in options.targets or TARGETS:
            caught, count = _test_target(clone, target, options.mutants, options.seed)
            print(
                f"{target}: {caught} of {count} caught ({caught / max(count, 1):.0%}; must {MUST:.0%}, aim {AIM:.0%})"
            )
            missed |= caught < MUST * count
    return int(missed)


def _test_target(clone: Path, target: str, number: int, seed: int) -> tuple[int, int]:
    """How many mutants were caught, and how many were run."""
    place, tests = TARGETS[target]
    files = [clone / place] if place.endswith(".py") else sorted((clone / place).rglob("*.py"))
    covering, seconds = _covering_tests(clone, place, tests)
    mutants = [mutant for file in files for mutant in mutants_of(file.relative_to(clone).as_posix(), file.read_text())]
    candidates = [mutant for mutant in mutants if covering.get((mutant.path, mutant.line))]
    print(f"{target}: test functions execute {len(candidates)} of {len(mutants)} possible changes", flush=True)
    drawn = random.Random(f"{target} {seed}").sample(candidates, min(number, len(candidates)))
    caught = 0
    for number, mutant in enumerate(drawn, start=1):
        start, names = time.monotonic(), _with_their_files(covering[mutant.path, mutant.line], seconds)
        if _is_caught(clone, mutant, names, ALLOWANCE + SLOWER * sum(seconds[name] for name in names)):
            caught += 1
        else:
            print(f"  SURVIVED {mutant}  ({time.monotonic() - start:.0f} s; {caught} of {number} caught)", flush=True)
    return caught, len(drawn)


def _covering_tests(
    clone: Path, place: str, tests: Sequence[str]
) -> tuple[dict[tuple[str, int], list[str]], dict[str, float]]:
    """The tests (``file::function``) that execute each line of the target, the quickest first, and their seconds."""
    data, settings, durations = clone / ".coverage", clone / ".coveragerc", clone / "durations.json"
    settings.write_text(
        f"[run]\ndynamic_context = test_function\ninclude = {clone}/{place}{'' if place.endswith('.py') else '/*'}\n"
    )
    plugin = clone / "record_durations.py"
    plugin.write_text(RECORD_DURATIONS)
    done = _run(clone, ["-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}", "-m", "pytest", "-q",
                        "-p", "record_durations", "-p", "no:cacheprovider", *tests], limit=None)  # fmt: skip
    if done != 0:
        raise SystemExit(f"the tests {' '.join(tests)} fail without any change; correct them first")
    seconds: dict[str, float] = json.loads(durations.read_text())
    nodes: dict[str, list[str]] = {}
    for node in seconds:
        path, function = node.split("::", 1)
        nodes.setdefault(f"{Path(path).stem}.{function.replace('::', '.')}", []).append(node)
    covering: dict[tuple[str, int], list[str]] = {}
    database = sqlite3.connect(data)
    query = (
        "select file.path, context.context, line_bits.numbits from line_bits "
        "join file on file.id = line_bits.file_id join context on context.id = line_bits.context_id"
    )
    for path, context, bits in database.execute(query):
        parts = context.split(".")
        found = next((nodes[".".join(parts[k:])] for k in range(len(parts)) if ".".join(parts[k:]) in nodes), [])
        name = Path(path).relative_to(clone).as_posix()
        for byte, value in enumerate(bits):
            for bit in range(8):
                if value >> bit & 1:
                    covering.setdefault((name, 8 * byte + bit), []).extend(found)
    database.close()
    return {line: sorted(set(names), key=seconds.__getitem__) for line, names in covering.items()}, seconds


def _with_their_files(names: Sequence[str], seconds: Mapping[str, float]) -> list[str]:
    """The tests, and after them the others of the same files."""
    files = {name.partition("::")[0] for name in names}
    return list(dict.fromkeys((*names, *(name for name in seconds if name.partition("::")[0] in files))))


def _is_caught(clone: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> bool:
    file = clone / mutant.path
    source = file.read_text()
    file.write_text(source[: mutant.start] + mutant.new + source[mutant.stop :])
    try:
        return _run(clone, ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests], limit) != 0
    finally:
        file.write_text(source)


def _run(clone: Path, arguments: Sequence[str], limit: float | None) -> int:
    """The exit code of this Python in the clone; not 0 when the limit [s of processor time] was reached."""
    try:
        return subprocess.run([sys.executable, *arguments], cwd=clone,
                              env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(clone)},
                              timeout=None if limit is None else WAITING * limit,
                              preexec_fn=None if limit is None else lambda: setrlimit(RLIMIT_CPU, (ceil(limit),) * 2),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1


def _executable(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes whose change can change what a program computes."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
            continue
        if isinstance(tree, ast.FunctionDef | ast.ClassDef) and child in tree.decorator_list:
            continue
        if isinstance(tree, ast.AnnAssign | ast.arg) and child is tree.annotation:
            continue
        if isinstance(tree, ast.FunctionDef) and child is tree.returns:
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        if not _is_free_size(tree, child):
            yield from _executable(child)


def _changes(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions that could stand in place of one by mistake."""
    if (
        isinstance(node, ast.BinOp)
        and type(node.op) in OPERATORS
        and not _is_text(node.left)
        and not _is_text(node.right)
    ):
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Attribute) and node.attr == "T" and isinstance(node.ctx, ast.Load):
        yield node.value
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
        and abs(node.value) > ROUNDING
    ):
        yield ast.Constant(2 * node.value if isinstance(node.value, float) else node.value + 1)
    elif isinstance(node, ast.Call):
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        if name in FUNCTIONS:
            other = FUNCTIONS[name]
            function = (
                ast.Attribute(node.func.value, other, ast.Load())
                if isinstance(node.func, ast.Attribute)
                else ast.Name(other)
            )
            yield ast.Call(function, node.args, node.keywords)


def _is_free_size(call: ast.AST, argument: ast.AST) -> bool:
    """Whether it is the -1 of ``reshape``, for which NumPy takes any negative number."""
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "reshape"
        and isinstance(argument, ast.UnaryOp)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


RECORD_DURATIONS = """
import collections, json, pathlib, time, pytest
seconds = collections.defaultdict(float)

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    start = time.process_time()
    try:
        return (yield)
    finally:
        seconds[item.nodeid.split("[")[0]] += time.process_time() - start

def pytest_sessionfinish(session):
    pathlib.Path("durations.json").write_text(json.dumps(seconds))
"""
"""A plugin of pytest that writes the processor time of each test, parameters added up."""
