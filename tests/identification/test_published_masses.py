"""Masses of a person compared with published tables."""

from __future__ import annotations

import numpy as np

from solver.identification.published_masses import describe_masses_outside_tables
from solver.rigs import hoap3, human
from solver.values.inertials import InertialParameters


def test_masses_outside_every_table_are_named_with_the_reason() -> None:
    """Tables are inside; a trunk split otherwise is outside, but not its sum; of two sides the worse is named."""
    for tables in ("dumas", "deleva", "winter", "shan"):
        for sex in ("male", "female"):
            rig = human(1.72, 68.0, sex, tables=(tables,))
            assert describe_masses_outside_tables(rig, rig.prior, np.full(15, np.nan)) == {}
    rig = human(1.7, 65.0, "female")
    values = rig.prior.values.copy()
    values[rig.index("pelvis"), 0] += 5.0
    values[rig.index("torso"), 0] -= 5.0
    found = describe_masses_outside_tables(rig, InertialParameters(rig.links, values), np.full(15, 3.0))
    pelvis, torso = found["pelvis"], found["torso"]
    assert "above 18.7 %, the highest (Pavol et al. 2002)" in pelvis
    assert "± 4.6 %, reaches them" in pelvis
    assert "pelvis and torso together are 45.7 %, within 42.5 to 51.8 %" in torso
    values = rig.prior.values.copy()
    values[[rig.index("left_shank"), rig.index("right_shank")], 0] += [1.0, 0.5]
    found = describe_masses_outside_tables(rig, InertialParameters(rig.links, values), np.full(15, np.nan))
    ((link, shank),) = found.items()
    assert link == "left_shank"
    assert "reaches" not in shank
    robot = hoap3()
    assert describe_masses_outside_tables(robot, robot.prior, np.full(len(robot.links), np.nan)) == {}
