"""The examples in the docstrings of public names, run."""

from __future__ import annotations

import doctest
from operator import attrgetter

import pytest

import solver

EXAMPLES = ("InertialParameters", "build_rig", "cohort", "find_load",
            "from_urdf", "hoap3", "hrp2", "human", "identify", "load", "read_recording", "read_rig",
            "track", "write_rig", "centroidal.centroidal_data", "centroidal.estimate_centroidal",
            "dance.human_options", "dance.paper_options", "demo.simulated_robot", "dynamics.wrench_regressor",
            "identification.base_regressor",
            "dynamics.centroidal_momentum", "dynamics.com_trajectory", "dynamics.external_wrench",
            "dynamics.predicted_wrench",
            "identification.find_added_load",
            "identification.null_space", "signals.find_flights", "workflow.identify_motions", "study.joints_of",
            "study.poses_of", "study.track_all")  # fmt: skip
"""Examples on simulated bodies that run within seconds."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    """Examples in docstrings give the output shown."""
    value = attrgetter(name)(solver)
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    assert test.examples
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
