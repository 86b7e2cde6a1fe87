"""Mutants: one change each, of what a program computes and of nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.mutation import _run, mutants_of

SOURCE = '''"""A docstring with 2 words."""
def area(side: "1 + 1", names: list[int]) -> float:
    """Of 2 sides."""
    if side < 0 and names:
        raise ValueError(f"{side - 1} is below {0 + 1}")
    é = -side
    return é * max(side, 2.5) + names[0].T
'''


def applied(mutant) -> str:  # type: ignore[no-untyped-def]
    return SOURCE[: mutant.start] + mutant.new + SOURCE[mutant.stop :]


def test_a_mutant_is_another_program() -> None:
    """Every mutant can be parsed, and no two of them, nor the source, are the same program."""
    programs = [ast.dump(ast.parse(applied(mutant))) for mutant in mutants_of("area.py", SOURCE)]
    assert len(programs) == len({*programs}) == 8
    assert ast.dump(ast.parse(SOURCE)) not in programs


def test_text_for_people_is_not_changed() -> None:
    """Docstrings, annotations and what is raised are the same in every mutant."""
    for mutant in mutants_of("area.py", SOURCE):
        changed = applied(mutant)
        for part in ('"""Of 2 sides."""', '"1 + 1"', 'f"{side - 1} is below {0 + 1}"'):
            assert part in changed


def test_the_free_size_of_a_shape_only_loses_its_sign() -> None:
    """Any negative size means the same to ``reshape``; as an index it does not."""
    news = [mutant.new for mutant in mutants_of("a.py", "b = a.reshape(n, -1)[-1]")]
    assert sorted(news) == ["(1)", "(1)", "(2)"]


def test_tolerances_of_rounding_errors_stay() -> None:
    """A literal is changed unless it is so small that it can only separate rounding from something else."""
    news = [mutant.new for mutant in mutants_of("a.py", "b = 1e-9 if c else 1e-3")]
    assert news == ["(0.002)"]


def test_only_the_processor_time_of_tests_is_limited(tmp_path: Path) -> None:
    """A program that never ends is stopped; one that waits for longer than the limit ends by itself."""
    assert _run(tmp_path, ["-c", "while True: pass"], 1.0) != 0
    assert _run(tmp_path, ["-c", "import time; time.sleep(1.2)"], 1.0) == 0
