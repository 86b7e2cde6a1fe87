"""The examples in the docstrings of public names, run."""

from __future__ import annotations

import doctest

import pytest

import solver

EXAMPLES = ("InertialParameters", "compare_study", "find_added_load", "find_load", "identify", "identify_study", "load",
            "poses_of", "read_recording", "simulated_robot", "study_motions", "track_study", "write_study")  # fmt: skip
"""Examples on simulated bodies that run within seconds."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    """What a docstring shows happens."""
    value = getattr(solver, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert test.examples
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
