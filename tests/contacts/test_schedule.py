"""Laws of contact schedules: phases are contiguous, feet are planted flat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.base.errors import InvalidValue, UnknownPreset
from solver.contacts.schedule import Phase, Schedule, anchors_at, stance
from solver.options.dances import FOOT_CONFIGURATIONS
from solver.rigs import hoap3, hrp2, human
from solver.skeleton.rig import Rig

RIGS = [hoap3(), hrp2(), human(1.75, 70.0, "male")]


@pytest.mark.parametrize(("second", "word"), [((0.9, 2.0), "overlap"), ((1.1, 2.0), "without a phase")])
def test_phases_neither_overlap_nor_leave_a_gap(second: tuple[float, float], word: str) -> None:
    """Phases that overlap or leave time without a phase are refused, with the times."""
    with pytest.raises(InvalidValue, match=word):
        Schedule((Phase(0.0, 1.0), Phase(*second)))


def test_a_boundary_belongs_to_the_later_phase() -> None:
    """Every time has one phase; the frame on a boundary has the later one, the last frame the last one."""
    schedule = Schedule((Phase(0.0, 1.0), Phase(1.0, 2.0)))
    assert schedule.index_at(np.array([0.0, 0.999, 1.0, 2.0])).tolist() == [0, 0, 1, 1]
    with pytest.raises(InvalidValue, match="outside"):
        schedule.phase_at(2.1)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
@pytest.mark.parametrize("configuration", FOOT_CONFIGURATIONS)
def test_a_stance_is_flat_on_the_ground(rig: Rig, configuration: str) -> None:
    """Every corner of every planted sole is on the ground, in each of the four configurations."""
    for anchor in stance(rig, configuration, ground=0.3):
        np.testing.assert_allclose(anchor.points(rig)[:, 2], 0.3, atol=1e-9)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.name)
def test_right_forward_is_one_step_ahead(rig: Rig) -> None:
    """(17): the first two configurations differ only in the right foot, by the step along x."""
    side = rig.sides
    both, forward = ({a.patch: a for a in stance(rig, name, step=0.1)} for name in ("both", "right_forward"))
    shift = {patch: forward[patch].position - both[patch].position for patch in both}
    np.testing.assert_allclose(shift[side["right"]], [0.1, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(shift[side["left"]], 0.0, atol=1e-12)


def test_errors_list_the_known_names() -> None:
    """Errors of unknown configurations and patches list the known ones; a rig without patches is an error."""
    rig = RIGS[0]
    with pytest.raises(UnknownPreset, match="right_forward"):
        stance(rig, "lotus")
    with pytest.raises(InvalidValue, match="right_sole, left_sole"):
        anchors_at(rig, rig.neutral, ("tail",))
    with pytest.raises(InvalidValue, match="no contact patches"):
        stance(replace(rig, contacts=()), "both")
