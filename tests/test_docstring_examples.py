"""The examples in the docstrings of public names, run."""

from __future__ import annotations

import doctest

import pytest

import solver

EXAMPLES = ("InertialParameters", "base_regressor", "build_rig", "centroidal_data", "centroidal_momentum", "cohort",
            "com_trajectory", "compare", "estimate_centroidal", "estimate_study", "external_wrench",
            "find_added_load", "find_flights", "find_load", "from_urdf", "hoap3", "hrp2", "human", "human_options",
            "identify", "identify_motions", "joints_of", "load", "null_space", "paper_options", "poses_of",
            "predicted_wrench", "read_recording", "read_rig", "simulated_robot",
            "track_all", "track", "write_rig", "write_study")  # fmt: skip
"""Examples on simulated bodies that run within seconds."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    """What a docstring shows happens."""
    value = getattr(solver, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert test.examples
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
